"""Parametric mechanisms: chains, geared and belt-driven ones, balanced binary trees, stems, random trees.

`load` takes them by name, with the arguments behind a colon, in this order and the later ones optional:
  chain:N[,AXIS[,SEED]]                       AXIS is z or alternate
  geared_chain:N[,AXIS[,SEED]]
  belt_chain:N[,AXIS[,SEED]]
  binary_tree:DEPTH[,LINKS_PER_BRANCH[,SEED]]
  stem:STEM_LINKS,BRANCHES[,LINKS_PER_BRANCH[,SEED]]
  random_tree:SEED,N
Links are 0.3 m long along their x axis, with generic inertias drawn from the seed.
"""

from __future__ import annotations

import inspect
import itertools
import math
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.description.description import DescribedFrame, DescribedJoint, DescribedLoop, Description, Link
from codegen.description.loops import canonical
from codegen.description.rotations import from_wxyz
from codegen.errors import RobotError
from codegen.geometry import Inertia, Pose, mat3, vec3

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codegen.description.description import Base
    from codegen.geometry import Vec3

JOINT_TYPES = ("revolute", "prismatic", "planar", "spherical", "floating")
MOST_LINKS = 1000
LENGTH = 0.3
GEAR, BELT = 6.0, 0.5
_AXES: dict[str, tuple[Vec3, ...]] = {
    "z": ((0.0, 0.0, 1.0),),
    "alternate": ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0)),
}


def describe_chain(n: int, axis: str = "z", seed: int = 0) -> Description:
    """A serial chain of n revolute links on a fixed base; axes all z, or z and y by turns. Frame `tip`."""
    _check("chain", "n", n, 1, MOST_LINKS)
    if axis not in _AXES:
        raise RobotError(f"chain: the axis is {axis!r}, but must be z or alternate")
    limb = _limb(random.Random(seed), "link", "base", n, _AXES[axis], Pose())
    return _made(_title("chain", n, axis, seed=seed), Link("base"), [limb], "fixed")


def describe_geared_chain(n: int, axis: str = "z", seed: int = 0) -> Description:
    """A chain whose joints are geared to rotors: rotor i hangs on link i's carrier and turns GEAR times as fast."""
    plain = _without_rotors("geared_chain", n, axis, seed)
    rotors = [_rotor(joint, joint) for joint in plain.joints]
    gears = [_gear([joint], [[GEAR]]) for joint in plain.joints]
    return _driven(plain, rotors, gears)


def describe_belt_chain(n: int, axis: str = "z", seed: int = 0) -> Description:
    """A chain whose links are driven in pairs from rotors on the carrier of the first: the second by a belt.

    Rotor 2 of a pair turns by GEAR (BELT q1 + q2). A last link without a partner is geared to its own rotor.
    """
    plain = _without_rotors("belt_chain", n, axis, seed)
    rotors, gears = [], []
    for first, second in itertools.zip_longest(plain.joints[::2], plain.joints[1::2]):
        pair = [first] if second is None else [first, second]
        rotors += [_rotor(joint, first) for joint in pair]
        gears.append(_gear(pair, [[GEAR, 0.0], [GEAR * BELT, GEAR]] if len(pair) == 2 else [[GEAR]]))
    return _driven(plain, rotors, gears)


def _without_rotors(kind: str, n: int, axis: str, seed: int) -> Description:
    _check(kind, "n", n, 1, MOST_LINKS // 2)
    return replace(describe_chain(n, axis, seed), name=_title(kind, n, axis, seed=seed))


def _rotor(driven: DescribedJoint, beside: DescribedJoint) -> tuple[Link, DescribedJoint]:
    """A rotor for a joint, turning about the same direction; it hangs where the joint `beside` it does."""
    name = driven.name.replace("_joint", "_rotor")
    link = Link(name, Inertia(0.1, (0.0, 0.0, 0.0), mat3(np.diag([2e-4, 2e-4, 1e-4]))))
    return link, replace(driven, name=f"{name}_joint", parent=beside.parent, child=name, placement=beside.placement)


def _gear(driving: Sequence[DescribedJoint], matrix: list[list[float]]) -> DescribedLoop:
    """Rotor positions from the joints that they drive."""
    names = [joint.name for joint in driving]
    rotors = [name.replace("_joint", "_rotor_joint") for name in names]
    data = {"independent": names, "dependent": rotors, "matrix": matrix}
    return DescribedLoop(f"{names[0]}_gear", "linear", canonical(data))


def _driven(
    plain: Description, rotors: Sequence[tuple[Link, DescribedJoint]], gears: Sequence[DescribedLoop]
) -> Description:
    return replace(
        plain,
        links=(*plain.links, *(link for link, _ in rotors)),
        joints=(*plain.joints, *(joint for _, joint in rotors)),
        loops=tuple(gears),
    )


def describe_binary_tree(depth: int, links_per_branch: int = 3, seed: int = 0) -> Description:
    """A balanced binary tree of 2^depth - 1 branches on a fixed base; frames `tip0`, ... at the leaves.

    Each branch is a chain of links with axes z and y by turns; its last link carries two branches.
    """
    _check("binary_tree", "depth", depth, 1, 9)
    _check("binary_tree", "links_per_branch", links_per_branch, 1, MOST_LINKS)
    _check("binary_tree", "number of links", (2**depth - 1) * links_per_branch, 1, MOST_LINKS)
    draw = random.Random(seed)
    limbs = [_limb(draw, "b1_", "base", links_per_branch, _AXES["alternate"], Pose())]
    for branch in range(2, 2**depth):
        start = Pose(translation=(LENGTH, -0.1 if branch % 2 else 0.1, 0.0))
        carrier = limbs[branch // 2 - 1].tip
        limbs.append(_limb(draw, f"b{branch}_", carrier, links_per_branch, _AXES["alternate"], start))
    title = _title("binary_tree", depth, links_per_branch, seed=seed)
    return _made(title, Link("base"), limbs, "fixed")


def describe_stem(stem_links: int, branches: int, links_per_branch: int = 7, seed: int = 0) -> Description:
    """A stem with so many branches on either end; the stem's first link floats. Frames `tip0`, `tip1`, ...

    With one branch it is a serial chain whose floating link is inside it. Axes are z and y by turns.
    """
    _check("stem", "stem_links", stem_links, 1, MOST_LINKS)
    _check("stem", "branches", branches, 1, MOST_LINKS)
    _check("stem", "links_per_branch", links_per_branch, 1, MOST_LINKS)
    _check("stem", "number of links", stem_links + 2 * branches * links_per_branch, 1, MOST_LINKS)
    draw = random.Random(seed)
    root = Link("stem", _inertia(draw))
    limbs = []
    if stem_links > 1:
        start = Pose(translation=(LENGTH, 0.0, 0.0))
        limbs.append(_limb(draw, "stem", "stem", stem_links - 1, _AXES["alternate"], start))
    head = limbs[0].tip if limbs else "stem"
    for name, carrier, x, z in (("near", "stem", 0.0, 0.1), ("far", head, LENGTH, -0.1)):
        for branch in range(branches):
            start = Pose(translation=(x, 0.1 * (branch + 1), z))
            axes = _AXES["alternate"]
            limbs.append(_limb(draw, f"{name}{branch}_", carrier, links_per_branch, axes, start))
    return _made(_title("stem", stem_links, branches, links_per_branch, seed=seed), root, limbs, "floating")


def describe_random_tree(seed: int, n: int, types: Sequence[str] = JOINT_TYPES, floating: bool = False) -> Description:
    """A random tree of n joints, their types taken in turn from `types`; on a floating base if asked for.

    Axes, placements and inertias are generic; every body has a frame `toolI` off its origin.
    """
    _check("random_tree", "n", n, 1, MOST_LINKS)
    draw = random.Random(seed)
    links: list[Link] = [Link("base", _inertia(draw) if floating else Inertia())]
    joints: list[DescribedJoint] = []
    for i in range(n):
        parent = links[-1 - int(draw.random() * min(len(links), 3))].name
        kind = types[i % len(types)]
        axis = vec3([draw.uniform(0.2, 1.0) * draw.choice((-1.0, 1.0)) for _ in range(3)])
        links.append(Link(f"body{i}", _inertia(draw)))
        bounds = (-2.5, 2.5) if kind in ("revolute", "prismatic") else (-math.inf, math.inf)
        joints.append(DescribedJoint(f"joint{i}", kind, parent, f"body{i}", _pose(draw), axis, Pose(), *bounds))
    frames = tuple(DescribedFrame(f"tool{i}", f"body{i}", _pose(draw)) for i in range(n))
    return Description(
        name=f"random_tree_{seed}_{n}",
        links=tuple(links),
        joints=tuple(joints),
        frames=frames,
        base="floating" if floating else "fixed",
    )


KINDS: dict[str, Callable[..., Description]] = {
    "chain": describe_chain,
    "geared_chain": describe_geared_chain,
    "belt_chain": describe_belt_chain,
    "binary_tree": describe_binary_tree,
    "stem": describe_stem,
    "random_tree": describe_random_tree,
}


def parse(name: str) -> Description:
    """The mechanism of a name such as "chain:20"; RobotError states the grammar if the name breaks it."""
    kind, _, rest = name.partition(":")
    maker = KINDS[kind]
    # The arguments that a name can give are those with numbers or words for values.
    parameters = [p for p in inspect.signature(maker).parameters.values() if p.name not in ("types", "floating")]
    words = rest.split(",") if rest else []
    needed = sum(p.default is inspect.Parameter.empty for p in parameters)
    if not needed <= len(words) <= len(parameters):
        grammar = ",".join(p.name if p.default is inspect.Parameter.empty else f"[{p.name}]" for p in parameters)
        raise RobotError(f"the mechanism {name!r} must be written {kind}:{grammar}")
    values = [word if p.name == "axis" else _whole(name, p.name, word) for p, word in zip(parameters, words)]  # noqa: B905
    return maker(*values)


def _whole(name: str, parameter: str, word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 9):
        raise RobotError(f"the mechanism {name!r}: {parameter} must be a whole number, not {word!r}")
    return int(word)


def _check(kind: str, parameter: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise RobotError(f"{kind}: {parameter} is {value}, but must be from {low} to {high}")


@dataclass(frozen=True, slots=True)
class _Limb:
    """A chain of links, and the joints that carry them."""

    links: tuple[Link, ...]
    joints: tuple[DescribedJoint, ...]

    @property
    def tip(self) -> str:
        return self.links[-1].name


def _limb(draw: random.Random, prefix: str, carrier: str, count: int, axes: tuple[Vec3, ...], start: Pose) -> _Limb:
    """A chain of `count` revolute links on a carrier, the first joint at `start`."""
    links = tuple(Link(f"{prefix}{i}", _inertia(draw)) for i in range(count))
    joints = []
    for i, link in enumerate(links):
        place = Pose(translation=(LENGTH, 0.0, 0.0)) if i else start
        axis = axes[i % len(axes)]
        joints.append(DescribedJoint(f"{link.name}_joint", "revolute", carrier, link.name, place, axis))
        carrier = link.name
    return _Limb(links, tuple(joints))


def _made(name: str, root: Link, limbs: Sequence[_Limb], base: Base) -> Description:
    """The mechanism of a root and its limbs, with a frame at the end of every limb that carries no other."""
    carriers = {limb.joints[0].parent for limb in limbs}
    tips = [limb.tip for limb in limbs if limb.tip not in carriers]
    names = ["tip"] if len(tips) == 1 else [f"tip{i}" for i in range(len(tips))]
    end = Pose(translation=(LENGTH, 0.0, 0.0))
    return Description(
        name=name,
        links=(root, *(link for limb in limbs for link in limb.links)),
        joints=tuple(joint for limb in limbs for joint in limb.joints),
        frames=tuple(DescribedFrame(frame, link, end) for frame, link in zip(names, tips, strict=True)),
        base=base,
    )


def _title(*parts: str | int, seed: int) -> str:
    """The robot's name: kind, sizes, and the seed where it is not zero."""
    return "_".join(map(str, (*parts, seed) if seed else parts))


def _inertia(draw: random.Random) -> Inertia:
    """A generic inertia: that of four point masses at random places, so that some solid has it."""
    places = [[draw.uniform(0.0, LENGTH), draw.uniform(-0.1, 0.1), draw.uniform(-0.1, 0.1)] for _ in range(4)]
    total = Inertia()
    for place in places:
        total = total + Inertia(draw.uniform(0.2, 1.0), vec3(place))
    return total


def _pose(draw: random.Random) -> Pose:
    """A generic placement of the size of a limb."""
    turn = from_wxyz([draw.uniform(0.1, 1.0) * draw.choice((-1.0, 1.0)) for _ in range(4)])
    return Pose(turn, vec3([draw.uniform(-0.5, 0.5) for _ in range(3)]))
