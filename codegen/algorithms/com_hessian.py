"""Second derivatives of the weighted centre of mass and of its velocity.

`codegen.recursions.moved_points`, over the changes of `codegen.algorithms.com_derivatives`: these turn with the joints
that carry them. World axes; gravity plays no part. Derivatives by q are along the tangents of joints.
"""

from __future__ import annotations

from casadi import SX, horzsplit

from codegen.algorithms.com_derivatives import changes
from codegen.recursions.moved_points import curvature, displaced, moving
from codegen.recursions.tree import Tree
from codegen.spatial import skew3


def com_hessian(tree: Tree, v: SX, place: SX, rate: SX) -> tuple[SX, SX, SX]:
    """Of the sum with weights of com (3) and vcom (3): by q (nv), and (nv x nv) by q and q, q and v."""
    bodies = moving(tree, v)
    joints, ends = displaced(tree, bodies), [0, *(dofs.stop for dofs in tree.dofs)]
    by_q, J = changes(tree, bodies, joints)
    y = -skew3(rate) @ J
    x = -skew3(place) @ J - skew3(rate) @ by_q
    xs, ys = (horzsplit(whole, ends) for whole in (x, y))
    return (J.T @ place + by_q.T @ rate, *curvature(tree, joints, xs, ys, ys))
