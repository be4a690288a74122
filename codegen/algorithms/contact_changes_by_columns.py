"""How the accelerations that contacts' rows see change with q and v, by loops over columns: for robots of many joints.

A row is a unit force f at a point r of its body, which moves with velocity V and spatial acceleration A; it sees f' A +
l' (w x vr), with l the force without its moment and vr the velocity of r. A joint moves all beyond it as one: seen from
the body, V changes by Psi and A by Psidd with q and by dS with v (`codegen.recursions.displacements`), but for the
velocities in between, of which V x Psi comes. So with g = V x* f, and the change of l' (w x vr) by V,

    d/dq = f' Psidd + g' Psi,    d/dv = f' dS + g' S:

products of twelve rows by columns (Carpentier and Mansard, RSS 2018, sec. III, for rows of contacts). All is along the
axes of one frame, as in `codegen.algorithms.rnea_derivatives_by_columns`. Spatial vectors [angular; linear]; gravity
plays no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from casadi import DM, SX, Sparsity, horzcat, reshape, sparsify, vec, vertcat

from codegen.algorithms.rnea_derivatives_by_columns import (
    Place,
    accelerations,
    by_joints,
    displaced,
    of_several_axes,
    places,
    velocities,
)
from codegen.recursions.panels import mapped, outwards, picked
from codegen.recursions.products import Masked, MaskedProduct
from codegen.recursions.tree import Tree
from codegen.spatial import cross3, force_cross, zeros


def contact_changes_by_columns(tree: Tree, v: SX, a: SX) -> tuple[MaskedProduct, MaskedProduct]:
    """The changes of what rows see (m x nv) by q, along the tangents of joints, and by v.

    Joint axes and rows stand still in their bodies, and every node of the tree is one body.
    """
    place, _ = places(tree)
    axes = horzcat(*[own.columns for own in tree.S])
    R, p = (by_joints(tree, x) for x in ([vec(at.R) for at in place], [at.p for at in place]))
    # root to leaves: velocities, then accelerations
    S, vJ = mapped(velocities, axes, R, p, v.T)
    velocity = outwards(tree, vJ, zeros(6))
    turning, aJ = mapped(accelerations, S, velocity, v.T, a.T)
    several = of_several_axes(replace(tree, gravity=zeros(3)), place, v, a)
    moved = mapped(changed, S, velocity, outwards(tree, aJ, zeros(6)), turning, *several)
    # what rows see of their bodies
    places_of_bodies = [tree.dofs[x.node].stop - 1 for x in tree.contacts for _ in range(x.size)]
    (seen,) = mapped(rows, *rows_of_contacts(tree, place), picked(velocity, places_of_bodies))
    carried = carried_rows(tree)
    by_q, by_v = (MaskedProduct((Masked(seen, x, carried, True),)) for x in moved)
    return by_q, by_v


def contact_jacobian_by_columns(tree: Tree) -> MaskedProduct:
    """J (m x nv): f' S."""
    place, _ = places(tree)
    axes = horzcat(*[own.columns for own in tree.S])
    (S,) = mapped(placed, axes, *(by_joints(tree, x) for x in ([vec(at.R) for at in place], [at.p for at in place])))
    R, p, f, _ = rows_of_contacts(tree, place)
    (F,) = mapped(transmitted, R, p, f)
    return MaskedProduct((Masked(F, S, carried_rows(tree), True),))


def placed(axes: SX, R: SX, p: SX) -> tuple[SX, ...]:
    """S, from a joint's axes in its body."""
    return (Place(reshape(R, 3, 3), p).X.back(axes),)


def transmitted(R: SX, p: SX, f: SX) -> tuple[SX, ...]:
    """A force on a body along the axes of the frame."""
    return (Place(reshape(R, 3, 3), p).X.force(f),)


def rows_of_contacts(tree: Tree, place: Sequence[Place]) -> tuple[SX, SX, SX, SX]:
    """By rows, where their bodies are, R and p, and their forces and points, along the axes of these."""
    held = [contact for contact in tree.contacts for _ in range(contact.size)]
    R, p = (horzcat(*[vec(place[x.body].R) for x in held]), horzcat(*[place[x.body].p for x in held]))
    f, r = horzcat(*[contact.force for contact in tree.contacts]), horzcat(*[x.on_body.origin for x in held])
    return sparsify(R), sparsify(p), f, r


def changed(S: SX, v: SX, a: SX, turning: SX, single: SX, Psi: SX, Psidd: SX) -> tuple[SX, ...]:
    """[Psidd; Psi] and [dS; S] of a joint beyond which bodies move with v and a."""
    Psi, Psidd, dS = displaced(S, v, a, turning, single, Psi, Psidd)
    return vertcat(Psidd, Psi), vertcat(dS, S)


def rows(R: SX, p: SX, f: SX, r: SX, V: SX) -> tuple[SX, ...]:
    """[f; g] of a row, from its force f at r, along the axes of its body."""
    own = Place(reshape(R, 3, 3), p)
    F, at, w = own.X.force(f), own.p + own.R @ r, V[:3]
    turned = cross3(F[3:], w)
    moment = cross3(V[3:] + cross3(w, at), F[3:]) + cross3(at, turned)
    return (vertcat(F, force_cross(V, F) + vertcat(moment, turned)),)


def carried_rows(tree: Tree) -> Sparsity:
    """By rows of contacts, the columns of joints that carry these."""
    found = np.zeros((tree.m, tree.nv), bool)
    for contact in tree.contacts:
        for i in tree.path(contact.node):
            found[contact.rows, tree.dofs[i]] = True
    return Sparsity(sparsify(DM(found)).sparsity())
