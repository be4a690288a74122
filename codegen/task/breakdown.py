"""What the operations of a task are for: by phase of the algorithm, by body, and by class of operation.

Labels are made where the algorithm is traced (`codegen.tracing.provenance`), travel with the values through the passes
(`codegen.ir.graph`), and become section comments of the C. All counts are those of one graph, so the parts of a
breakdown add up to its count. Where equal values of two phases become one, it belongs to the first of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from codegen.garbage import undisturbed
from codegen.ir.counting import Count, added, count_by_label
from codegen.ir.operations import KINDS
from codegen.ir.products import WithProducts, straight_line
from codegen.passes import emitted
from codegen.progress import doing
from codegen.tracing.labelled import trace_labelled
from codegen.tracing.phases import ORDER, ROBOT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.ir.graph import Graph
    from codegen.tracing.provenance import Origin
    from codegen.tracing.task import Task, Tier

By = Literal["phase", "body", "class"]
BY: tuple[By, ...] = ("phase", "body", "class")


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Operations by origin: the phase and the body that they are for. `bodies` has the names of bodies in order."""

    parts: Mapping[Origin, Count]
    bodies: tuple[str, ...]

    def __str__(self) -> str:
        return ", ".join(f"{phase} {row[-1]}" for phase, row in self.by("phase").items())

    @property
    def count(self) -> Count:
        """All operations: the count of the graph."""
        return added(self.parts.values())

    def by(self, what: By) -> dict[str, tuple[int, ...]]:
        """Operations by phase or body: of every class, and all; by class, all. Phases and bodies in order."""
        if what == "class":
            every = self.count
            return {kind: (getattr(every, kind),) for kind in KINDS if getattr(every, kind)}
        found: dict[str, list[Count]] = {}
        for origin, count in self.parts.items():
            found.setdefault(getattr(origin, what), []).append(count)
        names = sorted(found, key=lambda name: self._rank(what, name))
        return {name: _row(added(found[name])) for name in names}

    def _rank(self, what: By, name: str) -> int:
        """The place of a phase or body among others; what is for no single body comes first."""
        if what == "phase":
            return ORDER.index(name)
        places = {ROBOT: -1, **{body: n for n, body in enumerate(self.bodies)}}
        return places.get(name.partition(" + ")[0], len(self.bodies))


def _row(count: Count) -> tuple[int, ...]:
    return (*(getattr(count, kind) for kind in KINDS), count.total)


@lru_cache(maxsize=2)
def labelled(task: Task) -> tuple[Graph | WithProducts, Graph | WithProducts, tuple[Origin, ...]]:
    """What a task computes as written and as emitted, with labels, and what these stand for."""
    with undisturbed(), doing(f"{task.algorithm} of {task.model.name}"):
        with doing("tracing"):
            written, origins = trace_labelled(task)
        with doing("passes"):
            return written, emitted(written) if task.tier == "emitted" else written, origins


def breakdown(task: Task) -> dict[Tier, Breakdown]:
    """The breakdown at the tier of a task, and if it has passes before them, too."""
    written, last, origins = labelled(task)
    bodies = tuple(body.name for body in task.model.bodies)
    graphs: dict[Tier, Graph] = {"written": straight_line(written)} if task.tier == "emitted" else {}
    graphs[task.tier] = straight_line(last)
    return {
        tier: Breakdown({origins[label]: count for label, count in count_by_label(graph).items()}, bodies)
        for tier, graph in graphs.items()
    }
