"""Derivatives of inverse dynamics along the axes of one frame, by loops over columns: for robots of many joints.

Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS 2018, where all is in the world's
frame; quantities and symbols are those of `codegen.algorithms.rnea_derivatives`. Here the frame is the first body's, if
it carries all others, else the world's. Nothing is carried from body to body then: every column of S, Psi, Psidd, dS,
Fq, Fv and Ga is made by the same function, composites are sums, and Q, V and M are products of a few rows by pairs of
joints of which one carries the other.

A single axis S stands still in both bodies of its joint: Psi = v x S and Psidd = a x S + v x Psi are the same with the
motion of what carries it and with that beyond it, which are apart by multiples of S and Psi. So sums over what carries
a joint and itself are enough, but for joints of several axes, such as a free base.

Spatial vectors [angular; linear]; gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from casadi import DM, SX, Sparsity, diag, horzcat, reshape, sparsify, triu, vec, vertcat

from codegen.recursions.displacements import displacements
from codegen.recursions.motion import classical
from codegen.recursions.panels import Panel, inwards, mapped, outwards
from codegen.recursions.products import Masked, MaskedProduct
from codegen.recursions.sweeps import add_contact_forces
from codegen.recursions.tree import Tree
from codegen.spatial import Coriolis, RigidInertia, Rotation, Transform, Translation, force_cross, motion_cross, zeros


class Place(NamedTuple):
    """Where a body is along the axes of one frame: R turns its axes to these, p is its origin."""

    R: SX
    p: SX

    @property
    def X(self) -> Transform:
        """Motions of that frame in the body's."""
        return Transform((Translation(self.p), Rotation(self.R)))

    def beyond(self, X: Transform) -> Place:
        """Where a frame is that X leads to from the body's."""
        return Place(X.vector(self.R.T).T, self.p + self.R @ X.origin)


def rnea_derivatives_by_columns(
    tree: Tree, v: SX, a: SX, f_ext: SX, lam: SX | None = None
) -> tuple[MaskedProduct, ...]:
    """dtau/dq, dtau/dv and M = dtau/da (nv x nv) at the motion (q, v, a) under gravity and external wrenches.

    Joint axes stand still in their bodies, and every node of the tree is one body. Multipliers lam (m) push, too,
    if they are given.
    """
    place, gravity = places(tree)
    axes, I = horzcat(*[own.columns for own in tree.S]), by_bodies(tree, [part.I.stacked for part in tree.parts])
    R, p = (by_joints(tree, x) for x in ([vec(at.R) for at in place], [at.p for at in place]))
    against = [-f for f in tree.wrenches(f_ext)]
    against = against if lam is None else add_contact_forces(tree, against, lam)
    needed = by_bodies(tree, [at.X.force(f) for at, f in zip(place, against, strict=True)])
    # root to leaves: velocities, then accelerations
    S, vJ = mapped(velocities, axes, R, p, v.T)
    velocity = outwards(tree, vJ, zeros(6))
    turning, aJ = mapped(accelerations, S, velocity, v.T, a.T)
    acceleration = outwards(tree, aJ, vertcat(zeros(3), -gravity))
    # leaves to root: what a joint carries
    carried = [inwards(tree, x) for x in mapped(bodies, I, R, p, velocity, acceleration, needed)]
    armature, moving = horzcat(*[diag(own).T for own in tree.armature]), (velocity, acceleration, turning)
    several = of_several_axes(tree, place, v, a)
    return by_pairs(tree, S, mapped(changes, S, armature, *moving, *several, masses(tree), *carried))


def places(tree: Tree) -> tuple[list[Place], SX]:
    """The places of all bodies, and gravity, in the frame of the first if it carries all others, else the world's."""
    alone, found = in_first_body(tree), [Place(SX.eye(3), zeros(3))]
    # root to leaves: the carrier's place, then the joint's
    for i in tree.outwards:
        moved = found[tree.parent[i] + 1].beyond(tree.parts[i].X)
        found.append(found[0] if alone and i == 0 else moved)
    return found[1:], tree.parts[0].X.vector(tree.gravity) if alone else tree.gravity


def in_first_body(tree: Tree) -> bool:
    """Whether the frame is the first body's."""
    return tree.parent.count(-1) == 1


def by_joints(tree: Tree, columns: Sequence[SX]) -> SX:
    """A panel of columns (r) of joints, each at all columns of its joint."""
    return sparsify(horzcat(*[x for x, S in zip(columns, tree.S, strict=True) for _ in range(S.size)]))


def by_bodies(tree: Tree, columns: Sequence[SX]) -> SX:
    """A panel of columns (r) of bodies, each at the last column of its joint."""
    wide = [horzcat(zeros(x.size1(), S.size - 1), x) for x, S in zip(columns, tree.S, strict=True)]
    return sparsify(horzcat(*wide))


def masses(tree: Tree) -> SX:
    """The mass that each joint carries (1 x nv)."""
    carried = [part.I.m for part in tree.parts]
    for i in tree.inwards:
        if tree.parent[i] >= 0:
            carried[tree.parent[i]] += carried[i]
    return by_joints(tree, carried)


def of_several_axes(tree: Tree, place: Sequence[Place], v: SX, a: SX) -> tuple[SX, SX, SX]:
    """Which columns are the only axis of their joint (1 x nv), and Psi and Psidd of the others (6 x nv)."""
    alone, moved = [S.size == 1 for S in tree.S], displacements(tree, v, a)[2]
    Psi, Psidd = (
        [zeros(6, 1) if one else at.X.back(x) for one, at, x in zip(alone, place, columns, strict=True)]
        for columns in ([own.Psi for own in moved], [own.Psidd for own in moved])
    )
    return by_joints(tree, [*map(SX, alone)]), sparsify(horzcat(*Psi)), sparsify(horzcat(*Psidd))


def velocities(axes: SX, R: SX, p: SX, rate: SX) -> tuple[SX, ...]:
    """S, from a joint's axes in its body, and what it adds to the velocity beyond it."""
    S = Place(reshape(R, 3, 3), p).X.back(axes)
    return S, S * rate


def accelerations(S: SX, v: SX, rate: SX, vdot: SX) -> tuple[SX, ...]:
    """How axes turn with the body beyond their joint, which moves with v, and what they add to accelerations."""
    turning = motion_cross(v, S)
    return turning, S * vdot + turning * rate


def displaced(S: SX, v: SX, a: SX, turning: SX, single: SX, Psi: SX, Psidd: SX) -> tuple[SX, SX, SX]:
    """Psi, Psidd and dS of a joint beyond which bodies move with v and a. Of several axes the first two are known."""
    by_one_axis = motion_cross(a, S) + motion_cross(v, turning)
    Psi = single * turning + Psi
    return Psi, single * by_one_axis + Psidd, turning + Psi


def bodies(I: SX, R: SX, p: SX, v: SX, a: SX, needed: SX) -> tuple[SX, ...]:
    """The inertia of a body but for its mass, what it has of C, and the force that it needs, with `needed` besides."""
    own = Place(reshape(R, 3, 3), p).X.inertia(RigidInertia.unstacked(I))
    at = classical(v, a)
    return own.moments, Coriolis.of(own, v).stacked, own.force(at.w, at.wdot, at.Omega, at.ac) + needed


def changes(
    S: SX, armature: SX, v: SX, a: SX, turning: SX, single: SX, Psi: SX, Psidd: SX, m: SX, moments: SX, C: SX, f: SX
) -> tuple[SX, ...]:
    """Rows that are multiplied by pairs of joints, of which one carries bodies of mass m, and moves with v and a.

    Fq, Fv, Ga and [Gb; Ga] are those of a joint that is carried, [Psi; Psidd] and [S; dS] of one that carries. Before
    them come Fq as the joint itself feels it, and its own inertia, S' Ga and its armature.
    """
    inertia, coriolis = RigidInertia.of_moments(m, moments), Coriolis.unstacked(C)
    Psi, Psidd, dS = displaced(S, v, a, turning, single, Psi, Psidd)
    own, Fv, Ga = coriolis @ Psi + inertia @ Psidd, coriolis @ S + inertia @ dS, inertia @ S
    Fq, G = own + force_cross(S, f), vertcat(coriolis.moments(S), Ga)
    return own, S.T @ Ga + armature, Fq, Fv, Ga, G, vertcat(Psi[:3], Psidd), vertcat(S[:3], dS)


def by_pairs(tree: Tree, S: Panel, changed: Sequence[Panel]) -> tuple[MaskedProduct, ...]:
    """Q, V and M: what each joint feels of those that it carries, and these of it."""
    own, inertia, Fq, Fv, Ga, G, P, dS = changed
    joint, carries = pairs(tree)
    Q, V = (
        MaskedProduct((*felt(tree, S, mine, joint), *felt(tree, S, F, carries), Masked(G, x, below(carries), True)))
        for mine, F, x in ((own, Fq, P), (Fv, Fv, dS))
    )
    upper = triu(joint) + carries
    if not any(x.nnz() for x in tree.armature):
        return Q, V, MaskedProduct(felt(tree, S, Ga, upper), symmetric=True)
    diagonal = Masked(SX.ones(1, tree.nv), inertia, Sparsity.diag(tree.nv), True)
    return Q, V, MaskedProduct((diagonal, *felt(tree, S, Ga, below(upper).T)), symmetric=True)


def felt(tree: Tree, S: Panel, F: Panel, where: Sparsity) -> tuple[Masked, ...]:
    """S' F at these places. Axes of a free base are those of its own frame: it feels F as it is."""
    base = tree.S[0].columns
    if not (in_first_body(tree) and base.nnz() == base.size2() == 6):
        return (Masked(S, F, where, True),)
    axes, rows, none = horzcat(base, SX(6, tree.nv - 6)), SX(Sparsity(where)), SX(*where.shape)
    first, others = vertcat(rows[:6, :], none[6:, :]), vertcat(none[:6, :], rows[6:, :])
    parts = Masked(axes, F, first.sparsity(), True), Masked(S, F, others.sparsity(), True)
    return tuple(part for part in parts if part.mask.nnz())


def pairs(tree: Tree) -> tuple[Sparsity, Sparsity]:
    """By rows: columns of the same joint, if it has several; of joints that it carries, and itself if alone."""
    joint, carries = (np.zeros((tree.nv, tree.nv), bool) for _ in range(2))
    for i in tree.outwards:
        (joint if tree.S[i].size > 1 else carries)[tree.dofs[i], tree.dofs[i]] = True
        for carrier in tree.path(i)[1:]:
            carries[tree.dofs[carrier], tree.dofs[i]] = True
    return Sparsity(sparsify(DM(joint)).sparsity()), Sparsity(sparsify(DM(carries)).sparsity())


def below(upper: Sparsity) -> Sparsity:
    """The transpose of an upper triangle, without the diagonal."""
    return triu(upper, False).T
