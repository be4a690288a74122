"""Derivatives of the centre of mass and of its velocity.

`codegen.recursions.moved_points`: bodies are points at their centres of mass, weighted by their masses. World axes;
columns by q are along the tangents of joints, whose axes stand still in their bodies. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.momentum import composites
from codegen.recursions.moved_points import Displaced, Moving, displaced, moving
from codegen.recursions.tree import Tree
from codegen.spatial import cross3, skew3, zeros


def com_derivatives(tree: Tree, v: SX) -> tuple[SX, SX]:
    """dvcom/dq and J_com = dcom/dq = dvcom/dv (3 x nv)."""
    bodies = moving(tree, v)
    return changes(tree, bodies, displaced(tree, bodies))


def changes(tree: Tree, bodies: dict[int, Moving], joints: list[Displaced]) -> tuple[SX, SX]:
    """The same, of what is known of bodies and joints."""
    m, h, p, mass = [part.I.m for part in tree.parts], list[SX](), list[SX](), composites(tree)[-1].m
    by_q, J = zeros(3, tree.nv), zeros(3, tree.nv)
    # body by body: its part of the mass, of the first moment and of the momentum
    for b, part in enumerate(tree.parts):
        m[b] /= mass
        h.append(bodies[b].pose.E.T @ (part.I.h / mass) + m[b] * bodies[b].r)
        p.append(m[b] * bodies[b].u + cross3(bodies[b].w, h[b]))
    # leaves to root: those of all that a joint carries, and how it changes them
    for b, part in reversed([*enumerate(tree.parts)]):
        own, dofs = joints[b], tree.dofs[b]
        J[:, dofs] = m[b] * own.s - skew3(h[b]) @ own.omega
        by_q[:, dofs] = m[b] * own.sigma - skew3(h[b]) @ own.psi - skew3(p[b]) @ own.omega
        if part.parent >= 0:
            m[part.parent] += m[b]
            h[part.parent] += h[b]
            p[part.parent] += p[b]
    return by_q, J
