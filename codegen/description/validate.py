"""The checks that every description passes, whatever its format: names, numbers, the tree, the inertias."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from codegen.description.description import JOINT_TYPES, SCALAR_JOINTS
from codegen.description.files import shown
from codegen.description.rotations import check_rotation
from codegen.description.snap import GYRATION
from codegen.errors import RobotError
from codegen.geometry import Pose
from codegen.joints import SLIDE, TURN
from codegen.limits import (
    LARGEST,
    LONGEST_NAME,
    MOST_FORMULAS,
    MOST_FRAMES,
    MOST_JOINTS,
    MOST_LINKS,
    MOST_LOOPS,
    SMALLEST,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from codegen.description.description import DescribedJoint, Description, Link
    from codegen.geometry import Inertia

_TOLERANCE = 1e-9


def check(description: Description) -> tuple[str, list[str]]:
    """The name of the root link, and notes on what is odd; RobotError on what cannot be used."""
    where = description.where or description.name
    _check_counts(where, description)
    _check_names(where, description)
    root = _check_tree(where, description)
    for joint in description.joints:
        _check_joint(where, joint)
    for frame in description.frames:
        _check_pose(f"{where}: frame {shown(frame.name)}", frame.placement)
    _check_finite(f"{where}: gravity", description.gravity)
    thin = [link.name for link in description.links if _check_inertia(where, link.name, link.inertia)]
    return root, [f"No solid has such moments of inertia: {listed(thin)}."] if thin else []


def _check_counts(where: str, description: Description) -> None:
    moving = sum(joint.type != "fixed" for joint in description.joints)
    for count, most, kind in (
        (len(description.links), MOST_LINKS, "links"),
        (len(description.joints), MOST_LINKS, "joints"),
        (moving, MOST_JOINTS, "moving joints"),
        (len(description.frames), MOST_FRAMES, "frames"),
        (len(description.loops), MOST_LOOPS, "loops"),
    ):
        if count > most:
            raise RobotError(f"{where}: {count} {kind} are more than the {most} that rigidc takes")
    if sum(len(joint.turn) + len(joint.slide) for joint in description.joints) > MOST_FORMULAS:
        raise RobotError(f"{where}: its joints' formulas have more than {MOST_FORMULAS} characters; shorten them")


def listed(names: Sequence[str]) -> str:
    """Some names as words: the first five, and how many more there are."""
    return ", ".join(map(shown, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _check_names(where: str, description: Description) -> None:
    _check_name(where, "robot", description.name)
    kinds: tuple[tuple[str, Iterable[str]], ...] = (
        ("link", (link.name for link in description.links)),
        ("joint", (joint.name for joint in description.joints)),
        ("loop", (loop.name for loop in description.loops)),
    )
    for kind, names in kinds:
        for name, times in Counter(names).items():
            _check_name(where, kind, name)
            if times > 1:
                raise RobotError(f"{where}: {times} {kind}s are called {shown(name)}; give each its own name")
    frames = Counter(link.name for link in description.links) + Counter(f.name for f in description.frames)
    for frame in description.frames:
        _check_name(where, "frame", frame.name)
        if frames[frame.name] > 1:
            raise RobotError(
                f"{where}: the frame name {shown(frame.name)} is taken by another frame or link; choose another"
            )


def _check_name(where: str, kind: str, name: str) -> None:
    if not name:
        raise RobotError(f"{where}: a {kind} has an empty name; give it one")
    if len(name) > LONGEST_NAME:
        raise RobotError(f"{where}: the {kind} name {shown(name)} is longer than {LONGEST_NAME} characters; shorten it")
    if not name.isprintable():
        raise RobotError(f"{where}: the {kind} name {shown(name)} has unprintable characters; rename it")


def _check_tree(where: str, description: Description) -> str:
    links = {link.name for link in description.links}
    if not links:
        raise RobotError(f"{where}: there are no links; a robot has at least one")
    children: dict[str, list[str]] = {}
    above: dict[str, str] = {}
    for joint in description.joints:
        _check_ends(where, joint, links)
        if joint.child in above:
            raise RobotError(
                f"{where}: link {shown(joint.child)} is the child of two joints, {shown(above[joint.child])} "
                f"and {shown(joint.name)}; state the second as a loop"
            )
        above[joint.child] = joint.name
        children.setdefault(joint.parent, []).append(joint.child)
    for frame in description.frames:
        if frame.link not in links:
            raise RobotError(
                f"{where}: frame {shown(frame.name)} is on the unknown link {shown(frame.link)}; "
                "name a link of this file"
            )
    roots = [link.name for link in description.links if link.name not in above]
    if len(roots) > 1:
        raise RobotError(f"{where}: there are {len(roots)} root links, {listed(roots)}; connect them to one")
    reached, stack = set(), roots[:]
    while stack:
        link = stack.pop()
        reached.add(link)
        stack += children.get(link, [])
    if len(reached) < len(links):
        stray = next(link.name for link in description.links if link.name not in reached)
        raise RobotError(f"{where}: link {shown(stray)} hangs on a cycle of joints; cut it and state a loop")
    return roots[0]


def _check_ends(where: str, joint: DescribedJoint, links: Collection[str]) -> None:
    for role, link in (("parent", joint.parent), ("child", joint.child)):
        if link not in links:
            raise RobotError(
                f"{where}: joint {shown(joint.name)} has the unknown {role} link {shown(link)}; "
                "name a link of this file"
            )


def _check_joint(where: str, joint: DescribedJoint) -> None:
    words = f"{where}: joint {shown(joint.name)}"
    if joint.type not in JOINT_TYPES:
        raise RobotError(f"{words} has the unknown type {shown(joint.type)}; use one of {', '.join(JOINT_TYPES)}")
    _check_pose(words, joint.placement)
    _check_pose(words, joint.attachment)
    _check_pose(f"{words}, home", joint.home)
    if joint.home != Pose() and joint.type != "floating":
        raise RobotError(f"{words} has a home, which only floating joints have; remove it")
    if joint.type in (*SCALAR_JOINTS, "planar"):
        _check_finite(f"{words}, axis", joint.axis)
        if not any(abs(x) > 1e-9 for x in joint.axis):
            raise RobotError(f"{words} has a zero axis; state the direction of its motion")
    if joint.type == "screw":
        check_screw(words, joint.turn or TURN, joint.slide or SLIDE)
    elif joint.turn or joint.slide:
        raise RobotError(f"{words} has formulas, which only screws have; make it one, or remove turn and slide")
    if not joint.lower <= joint.upper:
        raise RobotError(f"{words} has a lower limit {joint.lower!r} above its upper limit {joint.upper!r}; swap them")
    if joint.lower == math.inf or joint.upper == -math.inf:
        raise RobotError(f"{words} has limits from {joint.lower} to {joint.upper}, with nothing between; correct them")
    _check_finite(f"{words}, limits", (x for x in (joint.lower, joint.upper) if not math.isinf(x)))
    _check_finite(f"{words}, armature", (joint.armature,))
    _check_not_tiny(f"{words}, armature", joint.armature)
    if joint.armature < 0.0:
        raise RobotError(f"{words} has a negative armature; state zero or more")


def check_screw(words: str, turn: str, slide: str) -> None:
    """RobotError for formulas of a screw that cannot be read, and for those that are not a joint's."""
    from casadi import SX, jacobian  # slow to import, and few robots have formulas in joints

    from codegen.expressions.derivatives import VARIABLE
    from codegen.expressions.parsing import parse

    q = SX.sym(VARIABLE)
    try:
        angle, along = (parse(text, {VARIABLE: q}) for text in (turn, slide))
    except RobotError as error:
        raise RobotError(f"{words}: {error} (the coordinate is called {VARIABLE})") from None
    if not jacobian(jacobian(angle, q), q).is_zero():
        raise RobotError(f"{words}: its turn {shown(turn)} is not linear in {VARIABLE}; take the angle as {VARIABLE}")
    if jacobian(angle, q).is_zero() and jacobian(along, q).is_zero():
        raise RobotError(f"{words} does not move with {VARIABLE}; let turn or slide depend on it, or make it fixed")


def _check_finite(words: str, values: Iterable[float]) -> None:
    for value in values:
        if not abs(value) <= LARGEST:
            raise RobotError(f"{words}: the number {value!r} is not finite or beyond {LARGEST:g}; correct it")


def _check_not_tiny(words: str, value: float) -> None:
    if 0.0 < abs(value) < SMALLEST:
        raise RobotError(f"{words}: {value!r} is neither zero nor at least {SMALLEST:g}; correct it")


def _check_pose(words: str, pose: Pose) -> None:
    _check_finite(words, pose.translation)
    for row in pose.rotation:
        _check_finite(words, row)
    check_rotation(words, pose.R)


def _check_inertia(where: str, name: str, inertia: Inertia) -> bool:
    """Whether the moments break the triangle inequality, which is odd but usable."""
    words = f"{where}: link {shown(name)}"
    _check_finite(words, (inertia.mass, *inertia.com, *(x for row in inertia.moment for x in row)))
    if inertia.mass < 0.0:
        raise RobotError(f"{words} has the negative mass {inertia.mass!r}; state zero or more")
    _check_not_tiny(f"{words}, mass", inertia.mass)
    if not inertia.mass:  # beside a mass they are rounding noise
        _check_not_tiny(f"{words}, moments of inertia", float(np.abs(inertia.moment).max()))
    low, middle, high = (float(x) for x in np.linalg.eigvalsh(inertia.moment))
    return low + middle < high * (1.0 - 1e-6) - inertia.mass * GYRATION**2


def check_bodies(where: str, stated: Sequence[tuple[Link, Inertia]]) -> None:
    """RobotError on a link's negative moment of inertia, unless the links that it is welded to make up for it.

    `stated` has every link, and the inertia of all links that move as one body with it.
    """
    for link, body in stated:
        lows = [float(np.linalg.eigvalsh(inertia.moment)[0]) for inertia in (link.inertia, body)]
        rooms = [_TOLERANCE * np.trace(inertia.moment) + inertia.mass * GYRATION**2 for inertia in (link.inertia, body)]
        if all(low < -max(room, 0.0) for low, room in zip(lows, rooms, strict=True)):
            raise RobotError(
                f"{where}: link {shown(link.name)} has an inertia with the negative principal moment {lows[0]:.6g}; "
                "correct it"
            )


def weightless(body: str) -> str:
    """The note on a body that moves without inertia."""
    return f"Body {shown(body)} moves without inertia; forward dynamics is singular there."
