"""RNEA as published: inverse dynamics.

Featherstone, Rigid Body Dynamics Algorithms, table 5.1 (`ID` of spatial_v2); over clusters C-RNEA, Chignoli et al.
(arXiv 2311.13732). Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.recursions.plain_tree import PlainTree, bias_forces, motion


def rnea(robot: PlainTree, v: SX, a: SX, f_ext: SX) -> SX:
    """Joint forces tau (nv) of the motion (q, v, a) under gravity and external wrenches."""
    X, S, parent, vdot = robot.X, robot.S, robot.parent, robot.tree.split(a)
    at = motion(robot, v)
    f, felt, acceleration, tau = bias_forces(robot, at.v, f_ext), robot.tree.armature_forces(v, a), {-1: robot.a0}, {}
    # root to leaves: accelerations, and the forces that they need
    for i in robot.outwards:
        acceleration[i] = X[i] @ acceleration[parent[i]] + S[i] @ vdot[i] + at.c[i]
        f[i] += robot.I[i] @ acceleration[i]
    # leaves to root: what each joint transmits
    for i in robot.inwards:
        tau[i] = S[i].T @ f[i] + felt[i]
        if parent[i] >= 0:
            f[parent[i]] += X[i].T @ f[i]
    return vertcat(*[tau[i] for i in robot.outwards])
