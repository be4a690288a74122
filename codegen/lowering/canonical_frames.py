"""The step to canonical link frames (`codegen.model.canonical_frames`): joints move along their bodies' axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.geometry import clean, times
from codegen.model.canonical_frames import canonical
from codegen.spatial import constant

if TYPE_CHECKING:
    from casadi import SX

    from codegen.lowering.problem import Problem
    from codegen.model.canonical_frames import Canonical


def canonical_frames(problem: Problem) -> Problem:
    """The step."""
    return _reframed(problem, True)


def aligned_axes(problem: Problem) -> Problem:
    """The step without its choice of origins; joints have to move along coordinate axes."""
    return _reframed(problem, False)


def _reframed(problem: Problem, slides: bool) -> Problem:
    reframed = canonical(problem.model, {b: joint.pose for b, joint in problem.bodies.bases.items()}, slides)
    return problem.found(
        reframed=reframed,
        joints=tuple(problem.bodies.bases.get(b, joint) for b, joint in enumerate(reframed.model.joints)),
        offsets=tuple(_offset(problem, reframed, b) for b in range(len(reframed.model.bodies))),
    )


def _offset(problem: Problem, reframed: Canonical, b: int) -> SX | None:
    """A symbolic joint offset, carried over to the canonical frames."""
    body = problem.model.bodies[b]
    symbol = problem.request.numbers.get(f"offset:{body.joint.name}")
    if symbol is None:
        return None
    turn = reframed.moves[body.parent].R.T if body.parent >= 0 else np.eye(3)
    slide = reframed.model.bodies[b].placement.p - times(turn, body.placement.p)
    return constant(turn) @ symbol + constant(clean(slide))
