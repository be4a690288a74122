"""ABA as published: forward dynamics.

Featherstone, Rigid Body Dynamics Algorithms, table 7.1 (`FDab` of spatial_v2); over clusters C-ABA, Chignoli et al.
(arXiv 2311.13732), Algorithm 1. Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.recursions.plain_sweeps import articulated, inward, outward
from codegen.recursions.plain_tree import PlainTree, bias_forces, motion


def aba(robot: PlainTree, v: SX, tau: SX, f_ext: SX) -> SX:
    """Joint accelerations (nv) under joint forces tau, gravity and external wrenches."""
    at, tau_i = motion(robot, v), robot.joint_forces(v, tau)
    A = articulated(robot, robot.I)
    u, _ = inward(robot, A, bias_forces(robot, at.v, f_ext), at.c, tau_i, robot.inwards)
    y, _ = outward(robot, A, u, at.c, robot.a0, robot.outwards)
    return vertcat(*[y[i] for i in robot.outwards])
