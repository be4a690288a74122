"""The cheapest algorithm of a group for a robot and its contacts, by the operations of the emitted code.

`prox_ltl`, `prox_ltls`, `prox_kkt` and `ltl_osim` are there for comparison and do not compete: `aba_prox`,
`aba_prox_stiff`, `tree_kkt` and `aba_osim` do the same without forming a matrix.
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
from codegen.tracing.task import Task, trace

if TYPE_CHECKING:
    from codegen.ir.graph import Graph

AUTO = "auto"
FREE = ("aba", "ltl")  # forward dynamics that hold nothing
DIRECT = ("pv", "pv_early")  # these need independent rows
HARD = (*DIRECT, "prox_pv", "constrained_aba", "aba_prox", "aba_prox_stiff", "tree_kkt")
DELASSUS = ("pv_osimr", "pv_osim", "efpa", "kjr", "aba_osim")
CANDIDATES = {"constrained": HARD, "delassus": DELASSUS}
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
    """The task itself, or with its algorithm `auto` replaced by the cheapest constrained (or free) dynamics."""
    return replace(task, algorithm=cheapest(task, "constrained").algorithm) if task.algorithm == AUTO else task


def stand_in(task: Task) -> Task:
    """A task with the same arguments as the one that `resolved` would give, found at no cost."""
    return replace(task, algorithm="prox_pv" if task.contacts else FREE[0]) if task.algorithm == AUTO else task


def cheapest(task: Task, group: str) -> Choice:
    """The cheapest algorithm of `constrained` or `delassus` for a task, whatever algorithm that names.

    Forward dynamics without contacts choose between `aba` and `ltl`. The direct algorithms compete only if the rows of
    all contacts are independent at a generic configuration. RobotError for another group, or for inputs
    that no candidate has.
    """
    if group not in CANDIDATES:
        raise RobotError(f"group {group!r}: choose one of {', '.join(CANDIDATES)}")
    names = FREE if group == "constrained" and not task.contacts else CANDIDATES[group]
    asked = [BEHIND.get(name, name) for name in task.parameters if name in {*OPTIONAL, *BEHIND}]
    if task.iterations is None:  # to be left to the caller, so there must be some
        asked.append("lam0")
    names = tuple(name for name in names if all(option in ALGORITHMS[name].inputs for option in asked))
    if not names:
        raise RobotError(f"no {group} algorithm has the inputs {', '.join(asked)}; leave out those that it lacks")
    if names[0] in DIRECT and not independent(task):
        names = tuple(name for name in names if name not in DIRECT)
    with doing(f"{AUTO} of {task.model.name}"):
        written = {name: trace(replace(task, algorithm=name)) for name in each(names, "tracing {}".format)}
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
