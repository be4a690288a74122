"""Second derivatives of inverse dynamics: of the sum of joint forces with weights, in one recursion.

After Singh, Russell, Wensing, Closed-form second-order partial derivatives of rigid-body inverse dynamics, 2022 (arXiv
2203.01497); contracted with the weights, which leaves matrices where the paper has tensors. Spatial vectors [angular;
linear] in body frames; gravity enters as upward acceleration of the world. Derivatives by q are along the tangents of
joints.

The weights u, taken as joint velocities, move bodies with w, and u' tau is the sum of their powers w . f. What joint k
changes beyond it (`codegen.recursions.displacements`) is Omega = w x S, Psi and Psidd by its position, 0, S and dS by
its velocity, 0, 0 and S by its acceleration. A joint j before it, or itself, that changes these by (omega, nu, alpha)
changes the derivative of u' tau by k as covectors A . omega + B . nu + G . alpha say: of composite inertia I, matrices
of velocity products C (of v) and W (of w), force f, momentum h of w, and moments n = sum C' w, A is
C Psi + I Psidd + S x* f, B is C' Omega - W Psi + S x* n + 2 Psi x* h, G is I Omega + S x* h; by velocities and by
accelerations accordingly.
"""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX, horzcat, vertcat

from codegen.recursions.displacements import displacements
from codegen.recursions.motion import classical, forces
from codegen.recursions.tree import Tree
from codegen.spatial import Coriolis, Transform, force_cross, motion_cross, zeros


@dataclass(frozen=True, slots=True)
class Beyond:
    """By positions, velocities and accelerations of joints beyond one: the covectors on what joints before change.

    All 6 x k; those that vanish are left out.
    """

    dofs: list[int]
    Aq: SX
    Bq: SX
    Gq: SX
    Av: SX
    Bv: SX
    Aa: SX

    @classmethod
    def none(cls) -> Beyond:
        """Of no joint."""
        return cls([], *(zeros(6, 0) for _ in range(6)))

    @property
    def parts(self) -> tuple[SX, ...]:
        """All but the joints."""
        return self.Aq, self.Bq, self.Gq, self.Av, self.Bv, self.Aa

    def beside(self, more: Beyond) -> Beyond:
        """These columns, then others."""
        return Beyond(self.dofs + more.dofs, *map(horzcat, self.parts, more.parts))

    def carried(self, X: Transform) -> Beyond:
        """In the frame of the joint's carrier."""
        return Beyond(self.dofs, *map(X.force, self.parts))


def rnea_hessian(tree: Tree, v: SX, a: SX, f_ext: SX, u: SX) -> tuple[SX, SX, SX, SX, SX]:
    """Of u' tau by q (nv), and (nv x nv) by q and q, q and v, q and a, v and v; of a tree whose axes do not turn.

    By a joint of several degrees of freedom twice, the derivative along a row's of that along a column's.
    """
    X, parent, dofs = tree.X, tree.parent, tree.dofs
    velocity, acceleration, joints = displacements(tree, v, a)
    f = forces(tree, {i: classical(velocity[i], acceleration[i]) for i in tree.outwards}, f_ext)
    I, virtual, Omega = [own.parts[0] for own in tree.I], {-1: zeros(6)}, list[SX]()
    # root to leaves: the motions that weights give
    for i, u_i in enumerate(tree.split(u)):
        carrier = X[i] @ virtual[parent[i]]
        virtual[i] = carrier + joints[i].S @ u_i
        Omega.append(motion_cross(carrier, joints[i].S))
    C, W = ([*(Coriolis.of(b.I, x[i]) for i, b in enumerate(tree.parts)), Coriolis.none()] for x in (velocity, virtual))
    h = [*(b.I @ virtual[i] for i, b in enumerate(tree.parts)), zeros(6)]
    n = [*(C[i].moments(virtual[i]) for i in tree.outwards), zeros(3)]
    slope, (qq, qv, qa, vv) = zeros(tree.nv), (zeros(tree.nv, tree.nv) for _ in range(4))
    beyond = [Beyond.none() for _ in I]
    # leaves to root: covectors of the joint's own derivatives and of those beyond, and what they say of the joint
    for i in tree.inwards:
        joint, own, om, outer = joints[i], slice(dofs[i].start, dofs[i].stop), Omega[i], beyond[i]
        S, Psi, Psidd, dS = joint.S, joint.Psi, joint.Psidd, joint.dS
        swung, moments = force_cross(S, h[i]), padded(n[i])
        mine = Beyond(
            list(range(own.start, own.stop)),
            C[i] @ Psi + I[i] @ Psidd + force_cross(S, f[i]),
            padded(C[i].moments(om)) - W[i] @ Psi + force_cross(S, moments) + 2 * force_cross(Psi, h[i]),
            I[i] @ om + swung,
            C[i] @ S + I[i] @ dS,
            2 * swung - W[i] @ S,
            I[i] @ S,
        )
        both = mine.beside(outer)
        slope[own] = om.T @ f[i] + Psi.T @ moments + Psidd.T @ h[i]
        qq[own, both.dofs] = om.T @ both.Aq + Psi.T @ both.Bq + Psidd.T @ both.Gq
        qv[own, both.dofs] = om.T @ both.Av + Psi.T @ both.Bv
        qa[own, both.dofs] = om.T @ both.Aa
        vv[own, both.dofs] = S.T @ horzcat(mine.Bv - swung, outer.Bv)
        qq[outer.dofs, own], vv[outer.dofs, own] = qq[own, outer.dofs].T, vv[own, outer.dofs].T
        qv[outer.dofs, own] = outer.Bq.T @ S + outer.Gq.T @ dS
        qa[outer.dofs, own] = outer.Gq.T @ S
        p = parent[i]
        beyond[p] = beyond[p].beside(both.carried(tree.parts[i].X))
        f[p], h[p], n[p] = f[p] + X[i].force(f[i]), h[p] + X[i].force(h[i]), n[p] + tree.parts[i].X.outward(n[i])
        I[p] += tree.parts[i].X.inertia(I[i])
        C[p], W[p] = C[p] + tree.parts[i].X.inertia(C[i]), W[p] + tree.parts[i].X.inertia(W[i])
    return slope, qq, qv, qa, vv


def padded(moments: SX) -> SX:
    """Forces (6 x c) of moments (3 x c) alone."""
    return vertcat(moments, zeros(3, moments.size2()))
