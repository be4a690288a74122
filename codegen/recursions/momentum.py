"""Composite inertias and the momentum of the robot: the sweeps that algorithms of the whole body share.

Featherstone, Rigid Body Dynamics Algorithms, sec. 2.13 and 6.2; Orin, Goswami and Lee, Centroidal dynamics of a
humanoid robot, 2013. Spatial vectors [angular; linear] in body frames; armatures and gravity play no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.poses import velocities
from codegen.recursions.tree import Tree
from codegen.spatial import RigidInertia, zeros


def composites(tree: Tree) -> dict[int, RigidInertia]:
    """By bodies, the inertia of each and of all that it carries; the whole robot's, in the world, is number -1."""
    (resting,) = tree.I[-1].parts
    assert isinstance(resting, RigidInertia)
    Ic = {-1: resting, **{b: part.I for b, part in enumerate(tree.parts)}}
    # leaves to root, body by body
    for b, part in reversed([*enumerate(tree.parts)]):
        Ic[part.parent] += part.X.inertia(Ic[b])
    return Ic


def centre_of_mass(tree: Tree) -> SX:
    """The centre of mass in the world (3)."""
    whole = composites(tree)[-1]
    return whole.h / whole.m


def momentum(tree: Tree, v: SX) -> SX:
    """The spatial momentum (6) of the robot about the origin of the world, at joint velocity v."""
    velocity = velocities(tree, v)
    h = {-1: zeros(6), **{b: part.I @ velocity[b] for b, part in enumerate(tree.parts)}}
    # leaves to root, body by body
    for b, part in reversed([*enumerate(tree.parts)]):
        h[part.parent] += part.X.force(h[b])
    return h[-1]
