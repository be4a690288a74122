"""Loops over columns: whether they are to make derivatives of a robot with many joints, in place of straight-line code.

They take more operations, but short code: what limits straight-line code of many joints is fetching its instructions.
With small vectors that pays sooner than in lanes, or with one number at a time.
Nothing is carried from joint to joint then, and bodies keep the axes along which their inertias are constant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.costs import FRICTIONAL, looped_by_columns, looped_in_vectors

if TYPE_CHECKING:
    from codegen.lowering.problem import Problem
    from codegen.model import Model


def column_loops(problem: Problem) -> Problem:
    """The problem, for loops over columns if the algorithm has them, they suit the robot, and they pay."""
    needs = problem.request.needs
    rows = sum(len(own.rows) * (1 if own.friction is None else FRICTIONAL) for own in problem.contacts)
    pairs = _pairs(problem.canonical.model)
    if not (needs.by_columns and _suits(problem) and looped_by_columns(pairs, rows, needs.small_vectors)):
        return problem
    request = replace(problem.request, needs=replace(needs, swept="inertias"))
    return replace(problem, request=request, by_columns=True)


def _suits(problem: Problem) -> bool:
    """Whether axes and contacts' rows stand still in their bodies, with no loops, and results are the robot's own."""
    joints, at = problem.bodies.joints, problem.positions
    still = all(joint.subspace(at[b]).is_constant() for b, joint in enumerate(joints))
    own = all(contact.axes in ("", contact.frame.name) for contact in problem.contacts)
    return still and own and not problem.canonical.model.loops and not problem.restores


def differs_in_vectors(model: Model) -> bool:
    """Whether C with small vectors may have loops over columns, and other C of the same function has none."""
    return not model.loops and looped_in_vectors(_pairs(model))


def _pairs(model: Model) -> int:
    """Pairs of degrees of freedom of which one carries the other."""
    pairs, carriers = 0, dict[int, int]({-1: 0})
    for b, (body, own) in enumerate(zip(model.bodies, model.v_slices, strict=True)):
        size = own.stop - own.start
        pairs += carriers[body.parent] * size
        carriers[b] = carriers[body.parent] + size
    return pairs
