"""PV-early as published: multipliers are eliminated as soon as a joint couples to them, in O(n + m).

Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676); Sathya and Carpentier 2024 (hal-04443056), sec. VII. At a
joint with y = K S, an orthogonal Q turns the rows so that Q y = [R; 0]: the first ones have multipliers
(R D^-1 R')^-1 (s - K a), which stiffens the parent, and the others go on. The constraints must be independent. Gravity
enters as upward acceleration of the world.
"""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX, vertcat

from codegen.recursions.plain_tree import PlainTree, bias_forces, motion, wanted
from codegen.spatial import LDL, Reflections, ldl, mirrored, reflections, semidefinite_ldl, zeros


@dataclass(frozen=True, slots=True)
class EarlyElimination:
    """At one joint: Q, and of the rows that it eliminates K1 (on the parent), s1 and R D^-1 R'.

    The rows that go on are `kept` among those of the parent.
    """

    Q: Reflections
    K1: SX
    s1: SX
    yields: LDL
    kept: slice

    def multipliers(self, a: SX, lam: SX) -> SX:
        """Multipliers of all rows at the joint, from the parent's acceleration and its multipliers."""
        return self.Q.back(vertcat(self.yields.solve(self.s1 - self.K1 @ a), lam[self.kept, :]))


def pv_early(robot: PlainTree, v: SX, tau: SX, f_ext: SX, k: SX) -> tuple[SX, SX]:
    """Joint accelerations (nv) and multipliers (m)."""
    X, S, parent, at, tau_i = robot.X, robot.S, robot.parent, motion(robot, v), robot.joint_forces(v, tau)
    IA, pA, wants = [*robot.I], bias_forces(robot, at.v, f_ext), wanted(robot, at.v, k)
    K = {-1: zeros(0, 6), **{i: zeros(0, X_i.size1()) for i, X_i in enumerate(X)}}
    s = {i: zeros(0) for i in K}
    for link in robot.held:
        K[link.node], s[link.node] = link.K, wants[link.rows]
    U, D, y, u, gone = {}, {}, {}, {}, {}
    # leaves to root: ABA, with the rows that the subtree still wants held
    for i in robot.inwards:
        U[i], p = IA[i] @ S[i], parent[i]
        D[i] = ldl(mirrored(S[i].T @ U[i]) + robot.armature[i])
        y[i], u[i] = S[i].T @ K[i].T, tau_i[i] - S[i].T @ pA[i]
        felt = (K[i] - D[i].solve(y[i]).T @ U[i].T) @ X[i]
        left = s[i] - K[i] @ (at.c[i] + S[i] @ D[i].solve(u[i] - U[i].T @ at.c[i]))
        Q, R = reflections(y[i].T)
        n, felt, left = R.size1(), Q.rows(felt), Q.rows(left)
        kept = slice(K[p].size1(), K[p].size1() + felt.size1() - n)
        gone[i] = EarlyElimination(Q, felt[:n, :], left[:n, :], semidefinite_ldl(mirrored(R @ D[i].solve(R.T))), kept)
        K[p], s[p] = vertcat(K[p], felt[n:, :]), vertcat(s[p], left[n:, :])
        if p >= 0:
            Ia, stiffness = mirrored(IA[i] - D[i].solve(U[i].T).T @ U[i].T), gone[i].yields.solve(felt[:n, :]).T
            IA[p] += mirrored(X[i].T @ Ia @ X[i]) + mirrored(stiffness @ felt[:n, :])
            pA[p] += X[i].T @ (pA[i] + Ia @ at.c[i] + U[i] @ D[i].solve(u[i])) - stiffness @ left[:n, :]
    a, lam, qdd = {-1: robot.a0}, {-1: zeros(K[-1].size1())}, {}
    # root to leaves: multipliers, then accelerations
    for i in robot.outwards:
        lam[i] = gone[i].multipliers(a[parent[i]], lam[parent[i]])
        a[i] = X[i] @ a[parent[i]] + at.c[i]
        qdd[i] = D[i].solve(u[i] + y[i] @ lam[i] - U[i].T @ a[i])
        a[i] += S[i] @ qdd[i]
    found = zeros(robot.tree.m)
    for link in robot.held:
        found[link.rows] = lam[link.node][: len(link.rows), :]
    return vertcat(*[qdd[i] for i in robot.outwards]), found
