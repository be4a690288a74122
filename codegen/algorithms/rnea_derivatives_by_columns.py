"""Derivatives of inverse dynamics along the axes of one frame, by loops over columns: for robots of many joints.

Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS 2018, where all is in the world's
frame; quantities and symbols are those of `codegen.algorithms.rnea_derivatives`. Here the frame is the first body's, if
it carries all others, else the world's. Nothing is carried from body to body then: every column of S, Psi, Psidd, dS,
Fq, Fv and Ga is made by the same function, composites are sums, and Q, V and M are products of a few rows by pairs of
joints of which one carries the other.

Spatial vectors [angular; linear]; gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from casadi import DM, SX, Sparsity, diag, horzcat, reshape, sparsify, triu, vec, vertcat

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
    velocity, v0 = outwards(tree, vJ, zeros(6))
    Psi, aJ = mapped(accelerations, S, v0, v.T, a.T)
    acceleration, a0 = outwards(tree, aJ, vertcat(zeros(3), -gravity))
    # leaves to root: what a joint carries
    carried = [inwards(tree, x) for x in mapped(bodies, I, R, p, velocity, acceleration, needed)]
    armature = horzcat(*[diag(own).T for own in tree.armature])
    return by_pairs(tree, S, mapped(changes, S, armature, Psi, velocity, v0, a0, *carried))


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


def velocities(axes: SX, R: SX, p: SX, rate: SX) -> tuple[SX, ...]:
    """S, from a joint's axes in its body, and what it adds to the velocity beyond it."""
    S = Place(reshape(R, 3, 3), p).X.back(axes)
    return S, S * rate


def accelerations(S: SX, v0: SX, rate: SX, vdot: SX) -> tuple[SX, ...]:
    """Psi, and what joints add to accelerations beyond them, where their carriers have velocity v0."""
    Psi = motion_cross(v0, S)
    return Psi, S * vdot + Psi * rate


def bodies(I: SX, R: SX, p: SX, v: SX, a: SX, needed: SX) -> tuple[SX, ...]:
    """The inertia of a body, what it has of C, and the force that it needs, with what is needed besides."""
    own = Place(reshape(R, 3, 3), p).X.inertia(RigidInertia.unstacked(I))
    at = classical(v, a)
    return own.stacked, Coriolis.of(own, v).stacked, own.force(at.w, at.wdot, at.Omega, at.ac) + needed


def changes(S: SX, armature: SX, Psi: SX, v: SX, v0: SX, a0: SX, I: SX, C: SX, f: SX) -> tuple[SX, ...]:
    """Rows that are multiplied by pairs of joints, of which one moves with v0 and a0 before it and with v beyond.

    Fq, Fv, Ga and [Gb; Ga] are those of a joint that is carried, [Psi; Psidd] and [S; dS] of one that carries. Before
    them come Fq as the joint itself feels it, and its own inertia, S' Ga and its armature.
    """
    inertia, coriolis = RigidInertia.unstacked(I), Coriolis.unstacked(C)
    Psidd, dS = motion_cross(a0, S) + motion_cross(v0, Psi), motion_cross(v0 + v, S)
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
