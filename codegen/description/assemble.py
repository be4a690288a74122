"""Description -> Model: checked, merged into a moving tree, loops clustered, every link kept as a frame."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING

from codegen.description import snap as snapping
from codegen.description.clusters import nodes
from codegen.description.description import SCALAR_JOINTS
from codegen.description.files import shown
from codegen.description.loops import resolve
from codegen.description.merge import based, merge
from codegen.description.snap import SNAP
from codegen.description.validate import check, check_bodies, listed, weightless
from codegen.errors import RobotError
from codegen.geometry import Inertia, Pose
from codegen.joints import SLIDE, TURN
from codegen.limits import LARGEST
from codegen.model import Body, Frame, Joint, Model, ScrewJoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.description.description import Base, DescribedJoint, Description
    from codegen.description.merge import Merged, Order
    from codegen.model import Convention, Loop

NEAR = 1e-5  # rad; an angle that was meant to be a right one, stated as 1.5708 or 3.1416, is not farther off


def assemble(
    description: Description,
    base: Base | None = None,
    convention: Convention = "pinocchio",
    order: Order = "file",
    snap: float = SNAP,
    gravity: Sequence[float] | None = None,
) -> Model:
    """The model of a description.

    `base` None keeps what the description says; "floating" puts a floating joint under the root link (under
    the only child of an empty root called "world"); "fixed" welds the joints that float in the world, where
    the file puts them. `order` "file" keeps the document's order of joints, "name" sorts children by joint
    name. `snap` is the tolerance of `codegen.description.snap`; `gravity` (m/s^2) replaces the description's.
    Raises RobotError, in one sentence, on anything that cannot be used.
    """
    _check_options(base, convention, order, snap)
    if gravity is not None:
        description = replace(description, gravity=_three(gravity))
    root, notes = check(description)
    description = based(description, base)
    loops = resolve(description)
    tree = merge(description, root, order, snap)
    together = [(link, tree.inertias[tree.links[link.name][0]]) for link in description.links]
    check_bodies(description.where or description.name, together)
    sequence, clustered = nodes(tree.parents, _ties(description, loops, tree), tree.ranks)
    number = {old: new for new, old in enumerate(sequence)} | {-1: -1}
    model = Model(
        name=description.name,
        bodies=tuple(_body(tree, old, number, snap) for old in sequence),
        nodes=clustered,
        frames=_frames(description, tree, number, snap),
        loops=loops,
        gravity=description.gravity,
        convention=convention,
        source=description.source,
        notes=tuple(dict.fromkeys((*description.notes, *notes, *_remarks(description, tree)))),
    )
    return _checked(description.where or description.name, model) if loops else model


def _checked(where: str, model: Model) -> Model:
    """The model, the loops found to determine what they should; independent joints chosen where none are named."""
    from codegen.description.locking import settled
    from codegen.kinematic_loops.independent_joints import (
        completed,  # symbolic, and so slow to import; most robots have no loops
    )

    try:
        return completed(settled(model))
    except RobotError as error:
        raise RobotError(f"{where}: {str(error).removeprefix(f'{model.name}: ')}") from None


def _check_options(base: str | None, convention: str, order: str, snap: float) -> None:
    choices: tuple[tuple[str, str | None, tuple[str | None, ...]], ...] = (
        ("base", base, (None, "fixed", "floating")),
        ("convention", convention, ("pinocchio", "mujoco")),
        ("order", order, ("file", "name")),
    )
    for name, value, allowed in choices:
        if value not in allowed:
            raise RobotError(f"{name}={value!r} is not known; use one of {', '.join(map(repr, allowed))}")
    if not isinstance(snap, Real) or not 0.0 <= snap <= 1e-3:
        raise RobotError(f"snap={snap!r} must be a tolerance from 0 (off) to 0.001")


def _three(gravity: Sequence[float]) -> tuple[float, float, float]:
    """Gravity as it was given, if it can be one."""
    try:
        x, y, z = map(float, gravity)
    except (TypeError, ValueError):
        x = y = z = math.inf
    if not all(abs(number) <= LARGEST for number in (x, y, z)):
        raise RobotError(f"gravity={repr(gravity)[:80]} must be three finite numbers, in m/s^2, such as (0, 0, -9.81)")
    return x, y, z


def _ties(description: Description, loops: Sequence[Loop], tree: Merged) -> list[list[int]]:
    """The bodies that each loop ties."""
    body = {joint.name: i for i, joint in enumerate(tree.joints)}
    ties = []
    for loop in loops:
        still = [name for name in loop.joints if name not in body]
        if still:
            raise RobotError(
                f"{description.where or description.name}: loop {shown(loop.name)} ties joint "
                f"{shown(still[0])}, which does not move; let it move or remove the loop"
            )
        ties.append([body[name] for name in loop.joints])
    return ties


def _body(tree: Merged, old: int, number: Mapping[int, int], snap: float) -> Body:
    stated = tree.joints[old]
    return Body(
        name=stated.child,
        parent=number[tree.parents[old]],
        joint=_joint(stated, snap),
        placement=tree.placements[old],
        inertia=tree.inertias[old],
    )


def _joint(stated: DescribedJoint, snap: float) -> Joint:
    """Joints with several coordinates have no axis; a planar joint's normal is z by construction."""
    if stated.type not in SCALAR_JOINTS:
        return Joint(stated.name, stated.type, armature=stated.armature)
    limits = (stated.lower, stated.upper, stated.velocity, stated.effort)
    numbers = (stated.name, stated.type, snapping.axis(stated.axis, snap), *limits, stated.armature)
    if stated.type == "screw":
        return ScrewJoint(*numbers, stated.turn or TURN, stated.slide or SLIDE)
    return Joint(*numbers)


def _frames(description: Description, tree: Merged, number: Mapping[int, int], snap: float) -> tuple[Frame, ...]:
    """Every link as a frame, in the order of the file, then the frames that the file declares."""
    frames = []
    for link in description.links:
        body, pose = tree.links[link.name]
        frames.append(Frame(link.name, number[body], pose))
    for stated in description.frames:
        body, pose = tree.links[stated.link]
        placed = snapping.pose(pose @ snapping.pose(stated.placement, snap), snap)
        frames.append(Frame(stated.name, number[body], placed))
    return tuple(frames)


def _remarks(description: Description, tree: Merged) -> list[str]:
    """What the merged tree leaves out or cannot accelerate by itself."""
    remarks = []
    still = [link.name for link in description.links if tree.links[link.name][0] < 0 and link.inertia != Inertia()]
    if still:
        remarks.append(f"The inertia of what does not move is ignored: {listed(still)}.")
    carrying = set(tree.parents)
    for i, (joint, inertia) in enumerate(zip(tree.joints, tree.inertias[:-1], strict=True)):
        if inertia == Inertia() and i not in carrying and not joint.armature:
            remarks.append(weightless(joint.child))
    rounded = [joint.name for joint, pose in zip(tree.joints, tree.placements, strict=True) if _rounded(joint, pose)]
    if rounded:
        remarks.append(
            f"Within {NEAR:g} rad of right angles, as 1.5708 is: {listed(rounded)}; snap={NEAR:g} "
            f"(--snap {NEAR:g}) takes them for right ones, which saves operations."
        )
    return remarks


def _rounded(joint: DescribedJoint, placement: Pose) -> bool:
    """Whether angles of a joint were probably meant to be right ones: they are, but for some 1e-6 rad."""
    turns = [snapping.rotation(placement.rotation, tolerance) for tolerance in (NEAR, SNAP)]
    axes = [snapping.axis(joint.axis, tolerance) for tolerance in (NEAR, SNAP) if joint.type in SCALAR_JOINTS]
    return turns[0] != turns[1] or axes[:1] != axes[1:]
