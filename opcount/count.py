"""The operations of one algorithm for one robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from codegen import api
from codegen.ir.counting import Count
from codegen.ir.counting import count as count_graph
from codegen.robot import load

if TYPE_CHECKING:
    from codegen.model import Model

Stage = Literal["written", "emitted"]
STAGES: tuple[Stage, ...] = ("written", "emitted")


def count(robot: Model | str, algorithm: str, *, stage: Stage = "emitted", **options: Any) -> Count:
    """Operations by class of `algorithm` for a robot, a bundled name or a file.

    `stage` is `written` (the SX of the algorithm, comparable with counts in papers) or `emitted` (after the
    passes: exactly the operators in the C file). `options` are those of `codegen.build`: frames, external,
    parameters. ValueError for another stage; RobotError for a robot or an algorithm that does not exist.
    """
    if stage not in STAGES:
        raise ValueError(f"stage must be one of {', '.join(STAGES)}, not {stage!r}")
    return both(robot, algorithm, **options)[stage]


def both(robot: Model | str, algorithm: str, **options: Any) -> dict[Stage, Count]:
    """The counts of both stages from one tracing; see `count`."""
    model = load(robot) if isinstance(robot, str) else robot
    graphs = api.graphs(model, algorithm, **options)
    return {stage: count_graph(graph) for stage, graph in zip(STAGES, graphs, strict=True)}
