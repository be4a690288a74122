"""What every step of the lowering and every pass saves: operations after each, the earlier ones in place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ir.counting import Count, count
from codegen.lowering import ALL, checked
from codegen.passes import DEFAULT, ORDER, run
from codegen.tracing.directional import traced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codegen.tracing.task import Task

STATED = "as stated"


def stages(task: Task) -> Iterator[tuple[str, Count]]:
    """Names of stages, and operations after them; first the algorithm as its file states it, on the robot as it is."""
    names = checked((ALL,))
    yield STATED, count(traced(replace(task, without=names)))
    for n, name in enumerate(names, 1):
        left_out = tuple(step for step in names if step in (*task.without, *names[n:]))
        graph = traced(replace(task, without=left_out))
        yield name, count(graph)
    settled = graph
    for n, step in enumerate(DEFAULT, 1):
        settled = run(graph, DEFAULT[:n], ())
        yield step.__name__, count(settled)
    for step in ORDER:
        settled = run(settled, (), (step,))
        yield step.__name__, count(settled)
