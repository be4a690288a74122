"""Projection of a configuration on the loops: by their closed forms, or Newton's method on the dependent joints.

With phi(x) = 0 the implicit constraints of a node and K their Jacobian (Featherstone, Rigid Body Dynamics
Algorithms, sec. 8.11): dr_d = -K_d^-1 phi, a fixed number of steps, moved along each joint's own manifold. Closed forms
(`codegen.kinematic_loops.angle_equations`) stay on the guess's side of singular positions. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, sqrt, substitute, sumsqr, vertcat

from codegen.kinematic_loops.constraints import Spanning
from codegen.recursions.tree import Tree
from codegen.spatial import divisor, zeros

STEPS = 8
SMALL = 1e-4  # rad, m: from here the step is right to the square of this


def project(tree: Tree) -> tuple[SX, SX]:
    """The closed configuration (nq), and the norm of phi that is left (m, rad); independent joints stay."""
    return closed(tree, tree.q)


def closed(tree: Tree, q: SX, told: bool = False) -> tuple[SX, SX]:
    """The same from any configuration q (nq).

    Where no solution is found, `told` leaves out the last move of the node's dependent joints, and the status tells.
    """
    q, residuals = SX(q), [zeros(0)]
    for i, own in enumerate(tree.spanning):
        if not own.constraints.dependent:
            continue
        places = [tree.model.q_slices[b] for b in tree.model.position_bodies[i]]
        place = slice(places[0].start, places[-1].stop)
        q[place] = _by_form(own, q[place], told) if own.form else _by_newton(tree, i, q[place], told)
        residuals.append(substitute(own.constraints.phi.value, own.constraints.x, q[place]))
    return q, sqrt(sumsqr(vertcat(*residuals)))


def _by_form(own: Spanning, guess: SX, told: bool) -> SX:
    """The closed position coordinates of a node by its closed form."""
    assert own.form is not None
    motion, room = own.form.motion(own.constraints.x, own.constraints.phi.value, guess)
    return guess + (motion / divisor(SX(1), room, 0) if told else motion)


def _by_newton(tree: Tree, i: int, x: SX, told: bool) -> SX:
    """The closed position coordinates of node i by Newton's method from a guess x."""
    own = tree.spanning[i]
    moves = -own.Kd.solve(own.phi.value)
    last = moves / divisor(SX(1), SX(SMALL**2), sumsqr(moves)) if told else moves
    step, end = (_moved(tree, i, own, dr) for dr in (moves, last))
    for taken in (*[step] * (STEPS - 1), end):
        x = substitute(taken, own.constraints.x, x)
    return x


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
