"""Projection of a configuration on the loops: Newton's method on the dependent joints, a fixed number of steps.

With phi(x) = 0 the implicit constraints of a node and K their Jacobian (Featherstone, Rigid Body Dynamics
Algorithms, sec. 8.11): dr_d = -K_d^-1 phi, moved along each joint's own manifold. Gravity plays no part.
"""

from __future__ import annotations

from collections.abc import Callable

from casadi import SX, Function, sqrt, sumsqr, vertcat

from codegen.kinematic_loops.constraints import Spanning
from codegen.recursions.tree import Tree
from codegen.spatial import zeros

STEPS = 8


def project(tree: Tree) -> tuple[SX, SX]:
    """The closed configuration (nq), and the norm of phi that is left (m, rad); independent joints stay."""
    return closed(tree, tree.q)


def closed(tree: Tree, q: SX, last: Callable[[SX], SX] = lambda moves: moves) -> tuple[SX, SX]:
    """The same from any configuration q (nq); `last` may change what the dependent joints of a node move last."""
    q, residuals = SX(q), [zeros(0)]
    for i, own in enumerate(tree.spanning):
        if not own.constraints.dependent:
            continue
        moves = -own.Kd.solve(own.phi)
        step, end = (
            Function("step", [own.constraints.x], [_moved(tree, i, own, dr), own.constraints.phi])
            for dr in (moves, last(moves))
        )
        places = [tree.model.q_slices[b] for b in tree.model.position_bodies[i]]
        place = slice(places[0].start, places[-1].stop)
        for taken in (*[step] * (STEPS - 1), end):
            q[place] = taken(q[place])[0]
        residuals.append(step(q[place])[1])
    return q, sqrt(sumsqr(vertcat(*residuals)))


def _moved(tree: Tree, i: int, own: Spanning, dr: SX) -> SX:
    """The position coordinates of node i after its dependent joints have moved by dr."""
    moves = zeros(own.constraints.T.size2())
    moves[list(own.constraints.dependent)] = dr
    after, at = [], 0
    for b in tree.model.position_bodies[i]:
        joint = tree.parts[b].joint
        after.append(joint.integrate(tree.parts[b].q, moves[at : at + joint.nv]))
        at += joint.nv
    return vertcat(*after)
