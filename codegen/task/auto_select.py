"""The cheapest algorithm of a group for a robot and its contacts, by the operations of the emitted code.

Their entries say which compete. Published ones that form a matrix are there for comparison, and do not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.algorithms import ALGORITHMS, BEHIND, OPTIONAL
from codegen.errors import RobotError
from codegen.ir.counting import count
from codegen.ir.interpreter import interpret
from codegen.kinematic_loops import states
from codegen.passes import run
from codegen.progress import doing, each
from codegen.tracing.directional import traced
from codegen.tracing.task import Task
from codegen.tracing.trace import check_regular, trace

if TYPE_CHECKING:
    from codegen.ir.graph import Graph

AUTO = "auto"
FREE = "common"  # the group whose competitors hold nothing
HOPELESS = 1.6  # passes never win back this factor in operations as written
STATES, INDEPENDENT = 3, 1e-12  # random states, and below which an eigenvalue of W (scaled to ones) is none


@dataclass(frozen=True, slots=True)
class Candidate:
    """An algorithm with its operations as written and as emitted (None: out of the running as written)."""

    algorithm: str
    written: int
    emitted: int | None


@dataclass(frozen=True, slots=True)
class Choice:
    """The cheapest algorithm, and all that were compared, cheapest first."""

    algorithm: str
    candidates: tuple[Candidate, ...]

    def __str__(self) -> str:
        counts = (f"{c.algorithm} {c.written if c.emitted is None else c.emitted:,}" for c in self.candidates)
        return f"{self.algorithm}, the cheapest of {', '.join(counts)}"


def resolved(task: Task) -> Task:
    """The task itself, or with its algorithm `auto` replaced by the cheapest constrained (or free) dynamics.

    UnsuitedError if it takes the inverse of an M that is singular wherever the robot is.
    """
    chosen = replace(task, algorithm=cheapest(task, "constrained").algorithm) if task.algorithm == AUTO else task
    if chosen.entry.inverts:
        check_regular(chosen)
    return chosen


def stand_in(task: Task) -> Task:
    """A task with the same arguments as the one that `resolved` would give, found at no cost."""
    if task.algorithm != AUTO:
        return task
    return replace(task, algorithm=max(competitors("constrained", task), key=lambda name: len(ALGORITHMS[name].inputs)))


def competitors(group: str, task: Task) -> tuple[str, ...]:
    """The algorithms that compete in a group; of `constrained` without contacts, those of forward dynamics."""
    group = FREE if group == "constrained" and not task.contacts else group
    return tuple(name for name, entry in ALGORITHMS.items() if entry.competes and entry.group == group)


def eligible(task: Task, group: str) -> tuple[str, ...]:
    """Those of them that have the inputs asked for, and need no independent rows if the contacts' depend on each other.

    RobotError for another group, or for inputs that no competitor has.
    """
    groups = dict.fromkeys(entry.group for entry in ALGORITHMS.values() if entry.competes and entry.group != FREE)
    if group not in groups:
        raise RobotError(f"group {group!r}: choose one of {', '.join(groups)}")
    asked = [BEHIND.get(name, name) for name in task.parameters if name in {*OPTIONAL, *BEHIND}]
    if task.iterations is None:  # to be left to the caller, so there must be some
        asked.append("lam0")
    names = tuple(name for name in competitors(group, task) if {*asked} <= {*ALGORITHMS[name].inputs})
    if not names:
        raise RobotError(f"no {group} algorithm has the inputs {', '.join(asked)}; leave out those that it lacks")
    any_rows = tuple(name for name in names if not ALGORITHMS[name].independent)
    return names if any_rows == names or independent(task) else any_rows


def cheapest(task: Task, group: str) -> Choice:
    """The cheapest algorithm of `constrained` or `delassus` for a task, whatever algorithm that names."""
    names = eligible(task, group)
    with doing(f"{AUTO} of {task.model.name}"):
        written = {name: traced(replace(task, algorithm=name)) for name in each(names, "tracing {}".format)}
        counts = {name: count(graph).total for name, graph in written.items()}
        least = min(counts.values())
        emitted = {name: _emitted(written[name], counts[name], least) for name in each(names, "counting {}".format)}
    found = [Candidate(name, counts[name], emitted[name]) for name in names]
    ranked = sorted(found, key=lambda c: (c.emitted is None, c.emitted or c.written))
    return Choice(ranked[0].algorithm, tuple(ranked))


def independent(task: Task) -> bool:
    """Whether the rows of all contacts are independent at a generic configuration."""
    graph = trace(replace(task, algorithm="pv_osim", parameters=task.numbers))
    rng = np.random.default_rng(0)
    for _ in range(STATES):
        given = [rng.uniform(0.5, 1.5, port.shape) for port in graph.inputs[1:]]
        W, *_ = interpret(graph, states.random(task.model, rng)[0], *given)
        sizes = np.sqrt(np.diag(W))
        if sizes.all() and np.linalg.matrix_rank(W / np.outer(sizes, sizes), INDEPENDENT) == len(W):
            return True
    return False


def _emitted(graph: Graph, written: int, least: int) -> int | None:
    return count(run(graph)).total if written <= HOPELESS * least else None
