"""constrainedABA as published.

Sathya and Carpentier 2024 (hal-04443056), Algorithms 1 to 3: the three-sweep algorithm, then reduced two-sweep
iterations over the links that support constraints. Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.recursions.iteration import Iteration
from codegen.recursions.plain_sweeps import Nodes, articulated, inward, outward, stiffened
from codegen.recursions.plain_tree import PlainTree, bias_forces, motion, pushed, seen, wanted
from codegen.spatial import zeros


def constrained_aba(robot: PlainTree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m)."""
    tree, at, tau_i = robot.tree, motion(robot, v), robot.joint_forces(v, tau)
    support, s, A = tree.support, wanted(robot, at.v, k), articulated(robot, stiffened(robot, mu))
    p = pushed(robot, dict(enumerate(bias_forces(robot, at.v, f_ext))), lam0 + mu * s)
    u, _ = inward(robot, A, p, at.c, tau_i, robot.inwards)
    y, a = outward(robot, A, u, at.c, robot.a0, support)

    # Algorithm 2: what the rows lack pushes again
    def step(lam: SX, y: Nodes, a: Nodes) -> tuple[SX, Nodes, Nodes]:
        push = mu * (s - seen(robot, a))
        still = {i: zeros(tree.S[i].size) for i in support}
        forces = pushed(robot, {i: zeros(robot.X[i].size1()) for i in support}, push)
        du, _ = inward(robot, A, forces, (), still, support[::-1])
        dy, da = outward(robot, A, du, (), zeros(6), support)
        return lam + push, {i: y[i] + dy[i] for i in support}, {i: a[i] + da[i] for i in support}

    # Algorithm 3, lines 9 to 11: the links that support no constraint
    def finish(lam: SX, y: Nodes, a: Nodes) -> tuple[SX, SX]:
        rest, _ = outward(robot, A, u, at.c, robot.a0, [i for i in robot.outwards if i not in support], a)
        return vertcat(*[{**y, **rest}[i] for i in robot.outwards]), lam + mu * (s - seen(robot, a))

    start = (lam0, y, {i: a[i] for i in support})
    return Iteration(start, step, lambda _, __, a: s - seen(robot, a), finish)
