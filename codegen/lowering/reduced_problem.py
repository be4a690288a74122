"""The step to the problem that constrained dynamics solve, M y = tau - S' p + J' lam with J y = s.

Everything is measured from the bias motion (`codegen.recursions.motion`), of which gravity and velocities are part: p
are the forces that bodies need for it, s what the contacts' rows lack. Joints whose motion a contact determines are
eliminated (`codegen.elimination.eliminate`), and follow from the solution of what is left.
"""

from __future__ import annotations

from dataclasses import replace

from casadi import SX, vertcat

from codegen.elimination.detect import determined_exactly, determined_in_steps
from codegen.elimination.eliminate import eliminate
from codegen.lowering.problem import Problem
from codegen.recursions.motion import bias_motion, constraint_rhs, forces
from codegen.recursions.reduced_problem import Solution


def reduced_problem(problem: Problem) -> Problem:
    """The step. Where rows have weights, in mu, none determine joints: orthogonal turns would mix them."""
    needs, tree, given = problem.request.needs, problem.built, dict(problem.arguments)
    if not needs.held:
        return problem
    v, tau, k = (given.pop(name) for name in ("v", "tau", "k"))
    a0, motion = bias_motion(tree, v)
    p, s = forces(tree, motion, given.pop("f_ext")), constraint_rhs(tree, motion, k)
    tau_i = dict(enumerate(tree.split(tau - vertcat(*tree.armature_forces(v, a0)))))
    mu = given.get("mu")
    weighted = mu is not None and mu.size1() > 1
    detect = {"exactly": determined_exactly, "in steps": determined_in_steps}.get(needs.held if not weighted else "")
    left = eliminate(tree, p, tau_i, s, detect or (lambda _: {}), mu if needs.stiffened else None)

    def solved(solution: Solution) -> tuple[SX, SX]:
        y, _, lam = left.back_substitute(*solution)
        return a0 + vertcat(*[y[i] for i in tree.outwards]), lam

    if "lam0" in given:
        given["lam0"] = left.reduced_multipliers(given["lam0"])
    own = {"p": left.p, "tau": left.tau, "s": left.s}
    return replace(problem, tree=left.tree, arguments={**own, **given}, solved=solved)
