"""Second derivatives of the equations of constrained dynamics: of their sum with weights, in one recursion.

After Singh, Russell, Wensing, Closed-form second-order partial derivatives of rigid-body inverse dynamics, 2022 (arXiv
2203.01497); contracted with the weights, which leaves matrices where the paper has tensors. Spatial vectors [angular;
linear] in body frames; gravity enters as upward acceleration of the world. Derivatives by q are along the tangents of
joints.

The weights u of joint forces tau, taken as joint velocities, move bodies with w, and u' tau is the sum of their powers
w . f. What joint k changes beyond it (`codegen.recursions.displacements`) is Omega = w x S, Psi and Psidd by its
position, 0, S and dS by its velocity, 0, 0 and S by its acceleration. A joint j before it, or itself, that changes
these by (omega, nu, alpha) changes the derivative of u' tau by k as covectors A . omega + B . nu + G . alpha say: of
composite inertia I, matrices of velocity products C (of v) and W (of w), force f, momentum h of w, and moments
n = sum C' w, A is C Psi + I Psidd + S x* f, B is C' Omega - W Psi + S x* n + 2 Psi x* h, G is I Omega + S x* h; by
velocities and by accelerations accordingly. All B are moments: their linear parts cancel.

Contacts push with K' lam, which f lacks. Weights s of what their rows lack add the momentum -K' s to h, with velocity
products of its own. Rows do not feel gravity g, which is among accelerations: p . g comes back, with p the linear part
of that momentum, and Fall = g x S is what joints change g by.
"""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX, horzcat, vertcat

from codegen.recursions.displacements import displacements
from codegen.recursions.motion import classical, forces
from codegen.recursions.sweeps import add_contact_forces
from codegen.recursions.tree import Tree
from codegen.spatial import Coriolis, Transform, force_cross, motion_cross, skew3, zeros


@dataclass(frozen=True, slots=True)
class Beyond:
    """By positions, velocities and accelerations of joints beyond one: the covectors on what joints before change.

    All 6 x k, and Fq those on gravity; those that vanish are left out.
    """

    dofs: list[int]
    Aq: SX
    Bq: SX
    Gq: SX
    Fq: SX
    Av: SX
    Bv: SX
    Aa: SX

    @classmethod
    def none(cls) -> Beyond:
        """Of no joint."""
        return cls([], *(zeros(6, 0) for _ in range(7)))

    @property
    def parts(self) -> tuple[SX, ...]:
        """All but the joints."""
        return self.Aq, self.Bq, self.Gq, self.Fq, self.Av, self.Bv, self.Aa

    def beside(self, more: Beyond) -> Beyond:
        """These columns, then others."""
        return Beyond(self.dofs + more.dofs, *map(horzcat, self.parts, more.parts))

    def carried(self, X: Transform) -> Beyond:
        """In the frame of the joint's carrier."""
        return Beyond(self.dofs, *map(X.force, self.parts))


def constrained_hessian(tree: Tree, v: SX, a: SX, f_ext: SX, lam: SX, u: SX, s: SX) -> tuple[SX, SX, SX, SX, SX, SX]:
    """Of u' (tau - J' lam) - s' c, c what rows see, by q (nv), and by q and q, q and v, q and a, v and v (nv x nv), lam
    and q (m x nv); of a tree whose axes do not turn, and contacts whose rows do not turn against bodies.

    By a joint of several degrees of freedom twice, the derivative along a row's of that along a column's.
    """
    X, parent, dofs = tree.X, tree.parent, tree.dofs
    velocity, acceleration, joints = displacements(tree, v, a)
    f = forces(tree, {i: classical(velocity[i], acceleration[i]) for i in tree.outwards}, f_ext)
    f, I, virtual, fall = add_contact_forces(tree, f, lam), [own.parts[0] for own in tree.I], {-1: zeros(6)}, {}
    Omega, Fall, fall[-1] = list[SX](), list[SX](), tree.gravity
    # root to leaves: the motions that weights give, and gravity
    for i, u_i in enumerate(tree.split(u)):
        carrier, fall[i] = X[i] @ virtual[parent[i]], tree.parts[i].X.vector(fall[parent[i]])
        virtual[i] = carrier + joints[i].S @ u_i
        Omega.append(motion_cross(carrier, joints[i].S))
        Fall.append(padded(skew3(fall[i]) @ joints[i].S[:3, :]))
    C, W = ([*(Coriolis.of(b.I, x[i]) for i, b in enumerate(tree.parts)), Coriolis.none()] for x in (velocity, virtual))
    h = [*(b.I @ virtual[i] for i, b in enumerate(tree.parts)), zeros(6)]
    n = [*(C[i].moments(virtual[i]) for i in tree.outwards), zeros(3)]
    p, of_lam = [zeros(3) for _ in h], zeros(tree.m, tree.nv)
    # contact by contact: momentum of what its rows see, then, contact to root, forces of unit multipliers
    for contact in tree.contacts:
        i, seen, felt = contact.node, -contact.force @ s[contact.rows], contact.force
        products = Coriolis.of_momentum(seen, contact.on_body.origin)
        h[i], W[i], p[i] = h[i] + seen, W[i] + products, p[i] + seen[3:]
        n[i] += (2 * force_cross(velocity[i], seen) - products @ velocity[i])[:3]
        for j in tree.path(i):
            of_lam[contact.rows, dofs[j].start : dofs[j].stop] = -felt.T @ Omega[j]
            felt = X[j].force(felt)
    slope, (qq, qv, qa, vv) = zeros(tree.nv), (zeros(tree.nv, tree.nv) for _ in range(4))
    beyond = [Beyond.none() for _ in I]
    # leaves to root: covectors of the joint's own derivatives and of those beyond, and what they say of the joint
    for i in tree.inwards:
        joint, own, om, outer = joints[i], slice(dofs[i].start, dofs[i].stop), Omega[i], beyond[i]
        S, Psi, Psidd, dS = joint.S, joint.Psi, joint.Psidd, joint.dS
        swung = force_cross(S, h[i])
        mine = Beyond(
            list(range(own.start, own.stop)),
            C[i] @ Psi + I[i] @ Psidd + force_cross(S, f[i]),
            padded(C[i].moments(om) + (2 * force_cross(Psi, h[i]) - W[i] @ Psi)[:3, :] - skew3(n[i]) @ S[:3, :]),
            I[i] @ om + swung,
            -padded(skew3(p[i]) @ S[:3, :]),
            C[i] @ S + I[i] @ dS,
            padded((2 * swung - W[i] @ S)[:3, :]),
            I[i] @ S,
        )
        both = mine.beside(outer)
        slope[own] = om.T @ f[i] + Psi[:3, :].T @ n[i] + Psidd.T @ h[i] + Fall[i][:3, :].T @ p[i]
        qq[own, both.dofs] = om.T @ both.Aq + Psi.T @ both.Bq + Psidd.T @ both.Gq + Fall[i].T @ both.Fq
        qv[own, both.dofs] = om.T @ both.Av + Psi.T @ both.Bv
        qa[own, both.dofs] = om.T @ both.Aa
        vv[own, both.dofs] = S.T @ horzcat(mine.Bv - swung, outer.Bv)
        qq[outer.dofs, own], vv[outer.dofs, own] = qq[own, outer.dofs].T, vv[own, outer.dofs].T
        qv[outer.dofs, own] = outer.Bq.T @ S + outer.Gq.T @ dS
        qa[outer.dofs, own] = outer.Gq.T @ S
        b = parent[i]
        beyond[b] = beyond[b].beside(both.carried(tree.parts[i].X))
        f[b], h[b] = f[b] + X[i].force(f[i]), h[b] + X[i].force(h[i])
        n[b], p[b] = n[b] + tree.parts[i].X.outward(n[i]), p[b] + tree.parts[i].X.outward(p[i])
        I[b] += tree.parts[i].X.inertia(I[i])
        C[b], W[b] = C[b] + tree.parts[i].X.inertia(C[i]), W[b] + tree.parts[i].X.inertia(W[i])
    return slope, qq, qv, qa, vv, of_lam


def rnea_hessian(tree: Tree, v: SX, a: SX, f_ext: SX, u: SX) -> tuple[SX, SX, SX, SX, SX]:
    """The same of u' tau: without contacts."""
    return constrained_hessian(tree, v, a, f_ext, zeros(tree.m), u, zeros(tree.m))[:5]


def padded(moments: SX) -> SX:
    """Forces (6 x c) of moments (3 x c) alone."""
    return vertcat(moments, zeros(3, moments.size2()))
