"""The dual problem of constrained dynamics by the Popov-Vereshchagin sweeps, as Algorithm 4 states it.

Sathya and Carpentier 2024 (hal-04443056). Over matrices (`codegen.recursions.plain_tree`); gravity enters as upward
acceleration of the world.
"""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX, vertcat

from codegen.recursions.plain_sweeps import Nodes, PlainJoints, PlainRows, articulated, inward, outward, propagated
from codegen.recursions.plain_tree import PlainMotion, PlainTree, bias_forces, motion, wanted
from codegen.spatial import zeros


@dataclass(frozen=True, slots=True)
class PlainDual:
    """L lam = s over the rows of all contacts; and what the second forward sweep needs."""

    robot: PlainTree
    at: PlainMotion
    A: PlainJoints
    rows: PlainRows
    u: Nodes
    L: SX
    s: SX

    def accelerations(self, lam: SX) -> SX:
        """Joint accelerations (nv) under multipliers lam (m): lines 17 to 19."""
        robot, rows = self.robot, self.rows
        u = {i: u_i + rows.y[i] @ lam[list(rows.numbers[i])] if i in rows.y else u_i for i, u_i in self.u.items()}
        y, _ = outward(robot, self.A, u, self.at.c, robot.a0, robot.outwards)
        return vertcat(*[y[i] for i in robot.outwards])


def popov_vereshchagin(robot: PlainTree, v: SX, tau: SX, f_ext: SX, k: SX) -> PlainDual:
    """Lines 1 to 11: L, and s, what contacts' rows lack at zero multipliers."""
    m, at, tau_i, A = robot.tree.m, motion(robot, v), robot.joint_forces(v, tau), articulated(robot, robot.I)
    u, pA = inward(robot, A, bias_forces(robot, at.v, f_ext), at.c, tau_i, robot.inwards)
    rows, s = propagated(robot, A), wanted(robot, at.v, k)
    # contacts to root: what velocity products and joint forces do along the rows
    for i in reversed(robot.tree.support):
        free = A.D[i].solve(tau_i[i] - robot.S[i].T @ (pA[i] + A.IA[i] @ at.c[i]))
        s[list(rows.numbers[i])] -= rows.K[i] @ (at.c[i] + robot.S[i] @ free)
    K, L = rows.at(-1, m)
    return PlainDual(robot, at, A, rows, u, L, s - K @ robot.a0 + zeros(m))
