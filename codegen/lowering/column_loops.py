"""Loops over columns: whether they are to make derivatives of a robot with many joints, in place of straight-line code.

They take more operations, but short code: what limits straight-line code of many joints is fetching its instructions.
Nothing is carried from joint to joint then, and bodies keep the axes along which their inertias are constant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.costs import looped_by_columns

if TYPE_CHECKING:
    from codegen.lowering.problem import Problem


def column_loops(problem: Problem) -> Problem:
    """The problem, for loops over columns if the algorithm has them, they suit the robot, and they pay."""
    needs = problem.request.needs
    rows = sum(len(contact.rows) for contact in problem.contacts)
    if not (needs.by_columns and _suits(problem) and looped_by_columns(_pairs(problem), rows)):
        return problem
    request = replace(problem.request, needs=replace(needs, swept="inertias"))
    return replace(problem, request=request, by_columns=True)


def _suits(problem: Problem) -> bool:
    """Whether axes and contacts' rows stand still in their bodies, with no loops, and results are the robot's own."""
    joints, at = problem.bodies.joints, problem.positions
    still = all(joint.subspace(at[b]).is_constant() for b, joint in enumerate(joints))
    own = all(contact.axes in ("", contact.frame.name) for contact in problem.contacts)
    return still and own and not problem.canonical.model.loops and not problem.restores


def _pairs(problem: Problem) -> int:
    """Pairs of degrees of freedom of which one carries the other."""
    pairs, carriers = 0, dict[int, int]({-1: 0})
    for b, (body, joint) in enumerate(zip(problem.canonical.model.bodies, problem.bodies.joints, strict=True)):
        pairs += carriers[body.parent] * joint.nv
        carriers[b] = carriers[body.parent] + joint.nv
    return pairs
