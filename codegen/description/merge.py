"""The moving tree of a description: base chosen, fixed joints merged, bodies numbered depth first.

A body's frame is the moving frame of its joint: the frame of the link that the joint moves, except where a
joint turns about an anchor off that link's origin (MJCF), and for planar joints, whose frame is turned by the
smallest rotation that takes z to the normal of the plane.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from codegen.description import snap as snapping
from codegen.description.description import DescribedJoint
from codegen.description.rotations import from_z
from codegen.geometry import Inertia, Pose

if TYPE_CHECKING:
    from collections.abc import Collection

    from codegen.description.description import Base, Description

Order = Literal["file", "name"]


@dataclass(frozen=True, slots=True)
class Merged:
    """Per body: joint, parent (-1: world), joint frame, inertia (the world's last), rank; per link: body and pose."""

    joints: tuple[DescribedJoint, ...]
    parents: tuple[int, ...]
    placements: tuple[Pose, ...]
    inertias: tuple[Inertia, ...]
    links: dict[str, tuple[int, Pose]]
    ranks: tuple[int, ...]


def based(description: Description, base: Base | None) -> Description:
    """A checked description with another base (None: as it is); "fixed" welds the joints that float in the world."""
    if base != "fixed":
        return replace(description, base=base or description.base)
    still = _still(description)
    floats = [joint.type == "floating" and joint.parent in still for joint in description.joints]
    joints = zip(description.joints, floats, strict=True)
    return replace(description, base=base, joints=tuple(_welded(joint) if weld else joint for joint, weld in joints))


def _still(description: Description) -> set[str]:
    """The links that do not move once joints that float in the world are welded."""
    children: dict[str, list[str]] = {}
    for joint in description.joints:
        if joint.type in ("fixed", "floating"):
            children.setdefault(joint.parent, []).append(joint.child)
    carried = {joint.child for joint in description.joints}
    still = [link.name for link in description.links if link.name not in carried]
    for link in still:  # which grows meanwhile, by the links that this one carries
        still += children.get(link, ())
    return set(still)


def _welded(joint: DescribedJoint) -> DescribedJoint:
    return replace(joint, type="fixed", placement=joint.placement @ joint.home, armature=0.0, home=Pose())


def merge(description: Description, root: str, order: Order, snap: float) -> Merged:
    """The moving tree of a checked description whose root link is `root`; see `assemble` for the options."""
    joints = _rooted(description, root)
    names = [joint.name for joint in joints]
    rank = {name: i for i, name in enumerate(sorted(names) if order == "name" else names)}
    children: dict[str, list[DescribedJoint]] = {}
    for joint in sorted(joints[1:], key=lambda joint: -rank[joint.name]):
        children.setdefault(joint.parent, []).append(joint)
    moving: list[DescribedJoint] = []
    parents: list[int] = []
    placements: list[Pose] = []
    links: dict[str, tuple[int, Pose]] = {}
    stack = [(joints[0], -1, Pose())]
    while stack:
        joint, carrier, pose = stack.pop()
        pose, inside = pose @ snapping.pose(joint.placement, snap), snapping.pose(joint.attachment, snap)
        if joint.type == "fixed":
            pose = snapping.pose(pose @ inside, snap)
        else:
            turn = Pose(from_z(snapping.axis(joint.axis, snap))) if joint.type == "planar" else Pose()
            placements.append(snapping.pose(pose @ turn, snap))
            pose = snapping.pose(turn.inverse() @ inside, snap)
            parents.append(carrier)
            carrier = len(moving)
            moving.append(joint)
        links[joint.child] = (carrier, pose)
        stack += [(child, carrier, pose) for child in children.get(joint.child, ())]
    inertias = _inertias(description, links, len(moving), snap)
    ranks = tuple(rank[joint.name] for joint in moving)
    return Merged(tuple(moving), tuple(parents), tuple(placements), inertias, links, ranks)


def _rooted(description: Description, root: str) -> tuple[DescribedJoint, ...]:
    """The joints, led by one without a parent that carries the root link."""
    joints = description.joints
    below = [joint for joint in joints if joint.parent == root]
    if description.base == "fixed" or any(joint.type == "floating" for joint in below):
        return (DescribedJoint("", "fixed", "", root), *joints)
    name = floating_base({joint.name for joint in joints})
    massless = next(link for link in description.links if link.name == root).inertia == Inertia()
    if root == "world" and massless and len(below) == 1 and below[0].type == "fixed":
        only = below[0]
        free = DescribedJoint(name, "floating", root, only.child, attachment=only.attachment)
        kept = tuple(free if joint is only else joint for joint in joints)
        return (DescribedJoint("", "fixed", "", root), *kept)
    return (DescribedJoint(name, "floating", "", root), *joints)


def floating_base(taken: Collection[str]) -> str:
    """The name of the joint on which a base floats: one that no other joint has."""
    name = "floating_base"
    while name in taken:
        name += "_"
    return name


def _inertias(
    description: Description, links: dict[str, tuple[int, Pose]], bodies: int, snap: float
) -> tuple[Inertia, ...]:
    sums = [Inertia()] * (bodies + 1)
    for link in description.links:
        body, pose = links[link.name]
        if link.inertia != Inertia():
            moved = link.inertia if pose == Pose() else link.inertia.moved(pose)
            sums[body] = sums[body] + moved
    return tuple(snapping.inertia(inertia, snap) for inertia in sums)
