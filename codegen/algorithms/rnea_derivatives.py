"""Derivatives of inverse dynamics: dtau/dq, dtau/dv and M in one recursion.

Singh, Russell, Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra, RA-L 2022
(arXiv 2105.05102); Carpentier and Mansard, RSS 2018. Columns of dtau/dq are along the tangent of each joint, in the
coordinates of its velocity. Spatial vectors [angular; linear] in body frames; gravity enters as upward acceleration of
the world.

With v and a those of what carries a joint, its displacement along S changes velocities beyond it by Psi = v x S, and
accelerations by Psidd = a x S + v x Psi; its velocity changes accelerations by dS = 2 Psi + vJ x S. With I the
composite inertia beyond and C the matrix of velocity products (`codegen.spatial.coriolis`), forces change by
C Psi + I Psidd, C S + I dS, and I S.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from casadi import SX, diagcat, horzcat, jacobian, vertcat

from codegen.recursions.motion import classical, forces
from codegen.recursions.spanning_rates import armature_forces, is_plain, node_rates, spanning_tree
from codegen.recursions.tree import Tree
from codegen.spatial import Coriolis, Transform, force_cross, mirrored, motion_cross, zeros


@dataclass(frozen=True, slots=True)
class Beyond:
    """By velocity coordinates beyond a joint: changes of the force there, Fq by q and Fv by v (6 x k).

    Ga = I S (6 x k) are those by accelerations, Gb the angular rows of C' S (3 x k).
    """

    dofs: list[int]
    Fq: SX
    Fv: SX
    Ga: SX
    Gb: SX

    @classmethod
    def none(cls) -> Beyond:
        """Of no joint."""
        return cls([], zeros(6, 0), zeros(6, 0), zeros(6, 0), zeros(3, 0))

    def beside(self, more: Beyond) -> Beyond:
        """These columns, then others."""
        return Beyond(
            self.dofs + more.dofs,
            horzcat(self.Fq, more.Fq),
            horzcat(self.Fv, more.Fv),
            horzcat(self.Ga, more.Ga),
            horzcat(self.Gb, more.Gb),
        )

    def carried(self, X: Transform) -> Beyond:
        """In the frame of the joint's carrier."""
        return Beyond(self.dofs, X.force(self.Fq), X.force(self.Fv), X.force(self.Ga), X.outward(self.Gb))


def rnea_derivatives(tree: Tree, v: SX, a: SX, f_ext: SX) -> tuple[SX, SX, SX]:
    """dtau/dq, dtau/dv and M = dtau/da (nv x nv) at the motion (q, v, a) under gravity and external wrenches.

    Of a robot with loops, q moves along what these allow.
    """
    return of_tree(tree, v, a, f_ext)[1:] if is_plain(tree) else projected(tree, v, a, f_ext)


def projected(tree: Tree, v: SX, a: SX, f_ext: SX) -> tuple[SX, SX, SX]:
    """The same by way of the spanning tree, whose joint velocities are H v: tau = H' tau_s and armature forces."""
    span, nodes, a_i = spanning_tree(tree), node_rates(tree, v), tree.split(a)
    n, size = sum(S.size for S in span.S), tree.nv
    H, v_s, a_s, v_q, a_q, a_v = zeros(n, size), zeros(n), zeros(n), zeros(n, size), zeros(n, size), zeros(n, size)
    # node by node: rates and accelerations of all joints, and how these change with q and v
    for own, dofs, a_own in zip(nodes, tree.dofs, a_i, strict=True):
        at = own.places
        H[at, dofs], v_s[at], a_s[at] = own.H, own.rates(own.v), own.accelerations(a_own)
        v_q[at, dofs] = own.along(own.rates, own.v)
        a_q[at, dofs] = own.along(own.accelerations, a_own)
        a_v[at, dofs] = jacobian(own.h, own.v)
    tau, Q, V, M = of_tree(span, v_s, a_s, f_ext)
    dq, dv = H.T @ (Q @ H + V @ v_q + M @ a_q), H.T @ (V @ H + M @ a_v)
    # node by node: joint forces that turn with H, and those of armatures
    for i, (own, dofs, a_own) in enumerate(zip(nodes, tree.dofs, a_i, strict=True)):
        dq[dofs, dofs] += own.along(own.joint_forces, tau[own.places])
        dq[dofs, dofs] += own.along(partial(armature_forces, tree, i, own.v), a_own)
        dv[dofs, dofs] += jacobian(armature_forces(tree, i, own.v, zeros(own.v.size1())), own.v)
    return dq, dv, mirrored(H.T @ M @ H) + diagcat(*tree.armature)


def of_tree(tree: Tree, v: SX, a: SX, f_ext: SX) -> tuple[SX, SX, SX, SX]:
    """tau, dtau/dq, dtau/dv and M of a tree whose joint axes stand still in their bodies."""
    X, parent, dofs, S = tree.X, tree.parent, tree.dofs, [S.columns for S in tree.S]
    velocity, acceleration = {-1: zeros(6)}, {-1: vertcat(zeros(3), -tree.gravity)}
    carried, at = {}, {}
    # root to leaves: velocities and accelerations, of what carries a body and of the body
    for i, (v_i, a_i) in enumerate(zip(tree.split(v), tree.split(a), strict=True)):
        carrier, vJ = X[i] @ velocity[parent[i]], S[i] @ v_i
        carried[i] = carrier, X[i] @ acceleration[parent[i]], vJ
        velocity[i] = carrier + vJ
        acceleration[i] = carried[i][1] + S[i] @ a_i + motion_cross(carrier, vJ)
        at[i] = classical(velocity[i], acceleration[i])
    f, I = forces(tree, at, f_ext), [own.parts[0] for own in tree.I]
    C = [*(Coriolis.of(part.I, velocity[b]) for b, part in enumerate(tree.parts)), Coriolis.none()]
    Q, V, M = (zeros(tree.nv, tree.nv) for _ in range(3))
    tau: dict[int, SX] = {}
    beyond: list[Beyond] = [Beyond.none() for _ in I]
    # leaves to root: changes of what each joint transmits, by the joints beyond it and by its own
    for i in tree.inwards:
        (carrier, moved, vJ), own = carried[i], slice(dofs[i].start, dofs[i].stop)
        Psi = motion_cross(carrier, S[i])
        Psidd, dS = motion_cross(moved, S[i]) + motion_cross(carrier, Psi), 2 * Psi + motion_cross(vJ, S[i])
        outer = beyond[i]
        Q[outer.dofs, own] = outer.Gb.T @ Psi[:3, :] + outer.Ga.T @ Psidd
        V[outer.dofs, own] = outer.Gb.T @ S[i][:3, :] + outer.Ga.T @ dS
        outer = Beyond(
            list(range(own.start, own.stop)),
            C[i] @ Psi + I[i] @ Psidd,
            C[i] @ S[i] + I[i] @ dS,
            I[i] @ S[i],
            C[i].moments(S[i]),
        ).beside(outer)
        Q[own, outer.dofs], V[own, outer.dofs], M[own, outer.dofs] = (
            S[i].T @ F for F in (outer.Fq, outer.Fv, outer.Ga)
        )
        M[own, own] += tree.armature[i]
        tau[i] = S[i].T @ f[i]
        outer.Fq[:, : S[i].size2()] += force_cross(S[i], f[i])
        beyond[parent[i]] = beyond[parent[i]].beside(outer.carried(tree.parts[i].X))
        f[parent[i]] += X[i].force(f[i])
        I[parent[i]] += tree.parts[i].X.inertia(I[i])
        C[parent[i]] += tree.parts[i].X.inertia(C[i])
    return vertcat(*[tau[i] for i in tree.outwards]), Q, V, mirrored(M)
