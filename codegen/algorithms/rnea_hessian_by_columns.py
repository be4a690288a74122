"""Second derivatives of weighted inverse and constrained dynamics, by loops over columns: for robots of many joints.

Singh, Russell, Wensing, Closed-form second-order partial derivatives of rigid-body inverse dynamics, 2022 (arXiv
2203.01497), contracted with weights; quantities and symbols are those of `codegen.algorithms.rnea_hessian`. All is
along the axes of one frame, as in `codegen.algorithms.rnea_derivatives_by_columns`: nothing is carried from body to
body, and the derivatives are products of a few rows by pairs of joints of which one carries the other.

Spatial vectors [angular; linear]; gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from collections.abc import Sequence

from casadi import SX, horzcat, reshape, triu, vec, vertcat

from codegen.algorithms.contact_changes_by_columns import carried_rows, rows_of_contacts
from codegen.algorithms.rnea_derivatives_by_columns import (
    Place,
    accelerations,
    below,
    by_bodies,
    by_joints,
    displaced,
    masses,
    of_several_axes,
    pairs,
    places,
    velocities,
)
from codegen.algorithms.rnea_hessian import constrained_hessian
from codegen.recursions.motion import classical
from codegen.recursions.panels import Panel, inwards, mapped, outwards
from codegen.recursions.products import Masked, MaskedProduct
from codegen.recursions.sweeps import add_contact_forces
from codegen.recursions.tree import Tree
from codegen.spatial import Coriolis, RigidInertia, cross3, force_cross, motion_cross, zeros


def constrained_hessian_by_columns(
    tree: Tree, v: SX, a: SX, f_ext: SX, lam: SX, u: SX, s: SX
) -> tuple[SX | MaskedProduct, ...]:
    """What `constrained_hessian` gives; of the gradient only what tangents turn with, of joints of several freedoms.

    Every node of the tree is one body.
    """
    place, gravity = places(tree)
    axes, I = horzcat(*[own.columns for own in tree.S]), by_bodies(tree, [part.I.stacked for part in tree.parts])
    R, p = (by_joints(tree, x) for x in ([vec(at.R) for at in place], [at.p for at in place]))
    pushed = add_contact_forces(tree, [-f for f in tree.wrenches(f_ext)], lam)
    needed = by_bodies(tree, [at.X.force(f) for at, f in zip(place, pushed, strict=True)])
    # root to leaves: velocities, also those that weights give, then accelerations
    S, vJ = mapped(velocities, axes, R, p, v.T)
    _, uJ = mapped(velocities, axes, R, p, u.T)
    velocity, virtual = (outwards(tree, x, zeros(6)) for x in (vJ, uJ))
    turning, aJ = mapped(accelerations, S, velocity, v.T, a.T)
    acceleration = outwards(tree, aJ, vertcat(zeros(3), -gravity))
    # leaves to root: what a joint carries
    own = mapped(bodies, I, R, p, velocity, acceleration, virtual, needed, *seen(tree, place, s))
    fall = by_joints(tree, [gravity for _ in tree.outwards]) if tree.contacts else SX(3, tree.nv)
    beyond = [inwards(tree, x) for x in own]
    moving, several = (velocity, acceleration, turning), of_several_axes(tree, place, v, a)
    by_weights = of_several_axes(tree, place, u, zeros(tree.nv))[1]
    changed = mapped(changes, S, *moving, *several, virtual, by_weights, fall, masses(tree), *beyond)
    slope = constrained_hessian(tree, v, a, f_ext, lam, u, s)[0]
    return slope, *by_pairs(tree, S, changed), by_multipliers(tree, place, changed)


def rnea_hessian_by_columns(tree: Tree, v: SX, a: SX, f_ext: SX, u: SX) -> tuple[SX | MaskedProduct, ...]:
    """The same of u' tau: without contacts."""
    return constrained_hessian_by_columns(tree, v, a, f_ext, zeros(tree.m), u, zeros(tree.m))[:5]


def seen(tree: Tree, place: Sequence[Place], s: SX) -> tuple[SX, SX]:
    """By bodies, the momentum of what weighted rows see of them, and its velocity products."""
    momentum, products = ([zeros(rows) for _ in tree.parts] for rows in (6, 12))
    for contact in tree.contacts:
        at, b = place[contact.body], contact.body
        F = at.X.force(-contact.force @ s[contact.rows])
        momentum[b] += F
        products[b] += Coriolis.of_momentum(F, at.p + at.R @ contact.on_body.origin).stacked
    return by_bodies(tree, momentum), by_bodies(tree, products)


def bodies(I: SX, R: SX, p: SX, v: SX, a: SX, w: SX, needed: SX, momentum: SX, products: SX) -> tuple[SX, ...]:
    """Of a body the inertia but for its mass, what it has of C and W, the force that it needs, with `needed` besides,
    and the momentum of w, with what rows see, also apart without moments; then moments C' w.
    """
    own, seen = Place(reshape(R, 3, 3), p).X.inertia(RigidInertia.unstacked(I)), Coriolis.unstacked(products)
    at, C = classical(v, a), Coriolis.of(own, v)
    W, f = Coriolis.of(own, w) + seen, own.force(at.w, at.wdot, at.Omega, at.ac) + needed
    n = C.moments(w) + (2 * force_cross(v, momentum) - seen @ v)[:3]
    apart = (momentum[3:],) if momentum.nnz() else ()
    return own.moments, C.stacked, W.stacked, f, own @ w + momentum, n, *apart


def changes(
    S: SX,
    v: SX,
    a: SX,
    turning: SX,
    single: SX,
    Psi: SX,
    Psidd: SX,
    w: SX,
    Omega: SX,
    fall: SX,
    m: SX,
    *beyond: SX,
) -> tuple[SX, ...]:
    """Rows that are multiplied by pairs of joints, of which one carries bodies of mass m, and moves with v, a and w.

    Of one that carries what it changes, of one that is carried the covectors on that, by positions, then by a position
    and a velocity of either, and a position and an acceleration of either; last by velocities, of one joint apart.
    """
    I, C, W = RigidInertia.of_moments(m, beyond[0]), Coriolis.unstacked(beyond[1]), Coriolis.unstacked(beyond[2])
    f, h, n, *apart = beyond[3:]
    Psi, Psidd, dS = displaced(S, v, a, turning, single, Psi, Psidd)
    Omega = single * motion_cross(w, S) + Omega
    turn, swung = S[:3], force_cross(S, h)
    Aq, Av, Aa = C @ Psi + I @ Psidd + force_cross(S, f), C @ S + I @ dS, I @ S
    Bq = C.moments(Omega) + (2 * force_cross(Psi, h) - W @ Psi)[:3] + cross3(turn, n)
    Bv, Gq = (2 * swung - W @ S)[:3], I @ Omega + swung
    falls, pulled = [cross3(fall, turn) for _ in apart], [cross3(turn, p) for p in apart]
    positions = vertcat(Omega, Psi[:3], Psidd, *falls), vertcat(Aq, Bq, Gq, *pulled)
    mixed = vertcat(Omega, Psi[:3]), vertcat(Av, Bv), vertcat(turn, dS), vertcat(Bq, Gq)
    return *positions, *mixed, Omega, Aa, Gq, turn, Bv, vertcat(Bv - swung[:3], -swung[3:])


def by_pairs(tree: Tree, S: Panel, changed: Sequence[Panel]) -> tuple[MaskedProduct, ...]:
    """By positions, and by positions and velocities, positions and accelerations, and velocities."""
    by_q, q, by_v, v, of_v, carrying, Omega, Aa, Gq, turn, Bv, own = changed
    joint, carries = pairs(tree)
    upper, lower = joint + carries, below(carries)
    qq, qv, qa = (
        MaskedProduct((Masked(*above, upper, True), Masked(*under, lower, True)))
        for above, under in (((by_q, q), (q, by_q)), ((by_v, v), (carrying, of_v)), ((Omega, Aa), (Gq, S)))
    )
    within = (Masked(S, own, triu(joint), True),) if joint.nnz() else ()
    return qq, qv, qa, MaskedProduct((*within, Masked(turn, Bv, carries, True)), symmetric=True)


def by_multipliers(tree: Tree, place: Sequence[Place], changed: Sequence[Panel]) -> SX | MaskedProduct:
    """By multipliers and positions: they push bodies that weights move."""
    if not tree.m:
        return SX(0, tree.nv)
    (F,) = mapped(against, *rows_of_contacts(tree, place)[:3])
    return MaskedProduct((Masked(F, changed[6], carried_rows(tree), True),))


def against(R: SX, p: SX, f: SX) -> tuple[SX, ...]:
    """A force of the opposite direction to that on a body, along the axes of the frame."""
    return (-Place(reshape(R, 3, 3), p).X.force(f),)
