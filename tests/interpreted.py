"""Functions as `codegen.build` gives them, with the interpreter of graphs in the place of the C.

What an algorithm, a loop, a contact or a pass computes is proved on these, on as many robots and states as one likes:
compiling takes several times as long as all that comes before it. That C computes what graphs say is proved apart, on
small robots.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import codegen
from codegen import pipeline
from codegen.choice import resolved
from codegen.counting import count
from codegen.errors import SingularError
from codegen.graph import STATUS
from codegen.interpret import interpret
from codegen.task import Task, trace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from codegen.emission.sheet import Kernel, LoopKernel
    from codegen.graph import Graph, Port

    Array = NDArray[np.float64]
    Compute = Callable[..., tuple[Array, ...]]

LARGE = ("ltl", "minverse")  # of humanoids: passes take ten times as long as all else


@dataclass(frozen=True, slots=True)
class Interpreted:
    """Called as a `codegen.runtime.Function` is, with arrays in order; batches of states iterate one by one."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    compute: Compute
    shown: bool = False

    def with_status(self) -> Interpreted:
        """The same with its status as last result, if it has one."""
        return Interpreted(self.inputs, self.outputs, self.compute, True)

    def __call__(self, *arrays: Any) -> Any:
        results, names = self.compute(*arrays), [port.name for port in self.outputs]
        if STATUS in self.outputs and not self.shown:
            *results, status = results
            if status.any():
                raise SingularError("singular, or loops out of reach", status, named(names, results))
        return named(names, results)


def named(names: Sequence[str], results: Sequence[Array]) -> Any:
    """One result as it is, several by their names."""
    kind = namedtuple("Results", names[: len(results)])  # type: ignore[misc]
    return results[0] if len(results) == 1 else kind(*results)


def task_of(robot: codegen.Model, algorithm: str, **options: Any) -> Task:
    """The task of these options of `codegen.build`; what they say of the C does not matter."""
    given = {name: options.get(name, ()) for name in ("frames", "external", "parameters")}
    more = {"contacts": options.get("contacts"), "iterations": options.get("iterations", 3)}
    return resolved(pipeline._task(robot, algorithm, **given, **more))


def operations(robot: codegen.Model, algorithm: str, **options: Any) -> int:
    """Operations as written, without the passes that `opcount.count` waits for."""
    return count(trace(task_of(robot, algorithm, **options))).total


def build(robot: codegen.Model, algorithm: str, **options: Any) -> Interpreted:
    """The function that `codegen.build` compiles, from graphs as it emits them, or (the largest) as written."""
    task = task_of(robot, algorithm, **options)
    if task.iterations is None:
        made: Kernel | LoopKernel = pipeline.kernel(task)
        return Interpreted(made.inputs, made.outputs, partial(iterated, made.graphs))
    graph = trace(task) if robot.nv > 30 and algorithm in LARGE else pipeline._graphs(task)[1]
    return Interpreted(graph.inputs, graph.outputs, partial(interpret, graph))


def iterated(stages: Sequence[Graph], *arrays: Any) -> tuple[Array, ...]:
    """One state through a function that iterates: its results, the iterations taken, and the residual left."""
    prepare, step, finish = stages
    *given, tolerance, most = arrays
    work, state = interpret(prepare, *given)
    used, (following, residual) = 1, interpret(step, work, state)
    while residual[0] > tolerance and used < most:
        state, used = following, used + 1
        following, residual = interpret(step, work, state)
    results = interpret(finish, work, state)
    own = len(results) - (STATUS in finish.outputs)
    return (*results[:own], np.array(float(used)), residual[0], *results[own:])
