"""Functions as `codegen.build` gives them, with the interpreter of graphs in the place of the C.

What an algorithm, a loop, a contact or a pass computes is proved on these, on as many robots and states as one likes:
compiling takes several times as long as all that comes before it. That C computes what graphs say is proved apart, on
small robots.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

import codegen
from codegen import passes
from codegen.emission.spec import LoopKernel
from codegen.errors import SingularError
from codegen.ir.counting import count
from codegen.ir.graph import STATUS
from codegen.ir.interpreter import interpret
from codegen.ir.staging import staged
from codegen.task import options as asked
from codegen.task.auto_select import resolved
from codegen.tracing.directional import traced
from codegen.tracing.task import Task
from codegen.tracing.trace import trace, trace_iteration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from codegen.ir.graph import Graph, Port

    Array = NDArray[np.float64]
    Compute = Callable[..., tuple[Array, ...]]

LARGE = 1500  # values of a graph from which on passes take longer than all else; they are proved on their own


@dataclass(frozen=True, slots=True)
class Interpreted:
    """Called as a `runtime.Function` is, with arrays in order; batches of states iterate one by one."""

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
    more |= {"derivative": options.get("derivative", ""), "wrt": options.get("wrt", ())}
    return resolved(asked.task_of(robot, algorithm, **given, **more))


def operations(robot: codegen.Model, algorithm: str, **options: Any) -> int:
    """Operations as written, without the passes that `opcount.count` waits for."""
    return count(trace(task_of(robot, algorithm, **options))).total


@lru_cache(maxsize=40)
def graph_of(task: Task) -> Graph:
    """The graph of a task as it is emitted, a large one as written."""
    return passed(traced(task))


def passed(written: Graph) -> Graph:
    """The graph after the passes, if it is small."""
    return passes.run(written) if len(written.values) < LARGE else written


def graph(robot: codegen.Model, algorithm: str, **options: Any) -> Graph:
    """The graph that `codegen.graphs` gives as emitted, a large one as written."""
    return graph_of(task_of(robot, algorithm, **options))


def build(robot: codegen.Model, algorithm: str, **options: Any) -> Interpreted:
    """The function that `codegen.build` compiles, from the same graphs (large ones as written)."""
    task = task_of(robot, algorithm, **options)
    if task.iterations is None:
        made = LoopKernel(task.algorithm, staged(passed(trace_iteration(task))))
        return Interpreted(made.inputs, made.outputs, partial(iterated, made.graphs))
    found = graph_of(task)
    return Interpreted(found.inputs, found.outputs, partial(interpret, found))


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
