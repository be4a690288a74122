"""The step that closes loops: all joints of a node in terms of its own coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.expressions.derivatives import stated
from codegen.kinematic_loops.closure import closings, independent_rows
from codegen.kinematic_loops.constraints import constraints, free, spanning
from codegen.spatial import Transform, placement_steps

if TYPE_CHECKING:
    from casadi import SX

    from codegen.expressions.derivatives import Derive
    from codegen.kinematic_loops.constraints import Spanning
    from codegen.lowering.problem import Problem


def loop_closure(problem: Problem) -> Problem:
    """The step, with formulas as they are stated."""
    return closed(problem, stated)


def closed(problem: Problem, derive: Derive) -> Problem:
    """The problem with its loops closed; `derive` differentiates formulas."""
    nodes = range(len(problem.canonical.model.nodes))
    return problem.found(spanning=tuple(_spanning(problem, i, derive) for i in nodes))


def _spanning(problem: Problem, i: int, derive: Derive) -> Spanning:
    """The joints of node i."""
    inner, moves = problem.canonical
    node, places = inner.nodes[i], [inner.q_slices[b] for b in inner.position_bodies[i]]
    if not node.loops:
        return free(inner.joints[node.bodies[0]], problem.q[places[0]])

    def transform(b: int, at: SX) -> Transform:
        steps = placement_steps(inner.bodies[b].placement, problem.bodies.offsets[b])
        return Transform(steps + problem.bodies.joints[b].transform(at))

    tied = constraints(inner, i, problem.q[places[0].start : places[-1].stop], transform, moves, derive)
    closing = closings(problem.model)[i]
    return spanning(tied, independent_rows(problem.model)[i], closing.lengths if closing else ())
