"""The moving tree of a description: base chosen, fixed joints merged, bodies numbered depth first.

A body's frame is the moving frame of its joint: the frame of the link that the joint moves, except where a
joint turns about an anchor off that link's origin (MJCF), and for planar joints, whose frame is turned by the
smallest rotation that takes z to the normal of the plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from codegen.description import snap as snapping
from codegen.description.description import DescribedJoint
from codegen.description.rotations import from_z
from codegen.geometry import Inertia, Pose

if TYPE_CHECKING:
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


def merge(description: Description, root: str, base: Base | None, order: Order, snap: float) -> Merged:
    """The moving tree of a checked description whose root link is `root`; see `assemble` for the options."""
    joints = _rooted(description, root, base)
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
        welded = base == "fixed" and carrier < 0 and joint.type == "floating"
        if joint.type == "fixed" or welded:
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


def _rooted(description: Description, root: str, base: Base | None) -> tuple[DescribedJoint, ...]:
    """The joints, led by one without a parent that carries the root link."""
    joints = description.joints
    below = [joint for joint in joints if joint.parent == root]
    floats = (base or description.base) == "floating"
    if not floats or any(joint.type == "floating" for joint in below):
        return (DescribedJoint("", "fixed", "", root), *joints)
    taken = {joint.name for joint in joints}
    name = "floating_base"
    while name in taken:
        name += "_"
    massless = next(link for link in description.links if link.name == root).inertia == Inertia()
    if root == "world" and massless and len(below) == 1 and below[0].type == "fixed":
        only = below[0]
        free = DescribedJoint(name, "floating", root, only.child, attachment=only.attachment)
        kept = tuple(free if joint is only else joint for joint in joints)
        return (DescribedJoint("", "fixed", "", root), *kept)
    return (DescribedJoint(name, "floating", "", root), *joints)


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
