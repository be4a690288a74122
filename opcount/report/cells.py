"""Cells of the report: an algorithm of a robot with contacts, its breakdown in all tiers, and its C.

They are kept in the store of counts by content (`opcount.store`), so that an interrupted report goes on.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codegen import api
from codegen.backends import BACKENDS
from codegen.emission.spec import Kernel, Style
from codegen.errors import UnsuitedError
from codegen.ir.counting import Count, count
from codegen.ir.products import straight_line
from codegen.progress import each
from codegen.task.breakdown import BY, labelled
from codegen.task.header import header
from codegen.task.header_notes import folded
from opcount.breakdown import breakdowns
from opcount.report.packing import pack
from opcount.store import opened
from opcount.studies.measured import Case, Held, content, digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Executor

    from codegen.robot import Robot
    from codegen.task.breakdown import By
    from codegen.tracing.task import Tier
    from opcount.store import Store

    Parts = dict[Tier, dict[By, dict[str, list[int]]]]


@dataclass(frozen=True, slots=True)
class Cell:
    """An algorithm of a robot with contacts; `scenario` names both, as in the studies: robot, blank, contacts."""

    scenario: str
    held: Held
    algorithm: str

    def __str__(self) -> str:
        return f"{self.algorithm} of {self.scenario}"

    @property
    def robot(self) -> str:
        """The robot's name."""
        return self.scenario.partition(" ")[0]

    @property
    def contacts(self) -> str:
        """The set of contacts, by a short name."""
        return self.scenario.partition(" ")[2] or "none"

    @property
    def content(self) -> str:
        """All that its breakdown and its C depend on, but for the generator, as text."""
        return f"report {digest(self.held)} {self.algorithm} {self.held.options!r}, packed"


@dataclass(frozen=True, slots=True)
class Found:
    """A cell's operations by tier, by phase, body and class, and by parts of these; and its C, packed."""

    cell: Cell
    parts: Parts
    c: str

    def __str__(self) -> str:
        return f"{self.cell}: {', '.join(f'{tier} {self.total(tier)}' for tier in self.parts)}"

    def total(self, tier: Tier) -> int | None:
        """All operations at a tier; None where the algorithm has no such tier."""
        return sum(row[-1] for row in self.parts[tier]["class"].values()) if tier in self.parts else None

    @property
    def ratio(self) -> float | None:
        """The operations emitted by those published, where a paper lists the algorithm."""
        published, emitted = self.total("published"), self.total("emitted")
        return emitted / published if published and emitted is not None else None


def find(cells: Iterable[Cell], executor: Executor | None = None) -> list[Found]:
    """What there is to say about cells, in their order, without those that a robot does not admit.

    What the store does not have an executor makes: by default a process for each processor.
    """
    store, wanted = opened(), list(cells)
    known = {cell: kept[0] for cell in wanted if (kept := store.kept(cell.content))}
    missing = [cell for cell in wanted if cell not in known]
    if missing:
        with ProcessPoolExecutor(os.cpu_count()) if executor is None else nullcontext(executor) as pool:
            futures = {pool.submit(_made, cell): cell for cell in missing}
            for _, future in zip(each(missing, str), as_completed(futures), strict=True):
                cell = futures[future]
                known[cell] = future.result()
                _keep(store, cell, known[cell])
    return [Found(cell, known[cell]["parts"], known[cell]["c"]) for cell in wanted if known[cell] is not None]


def _keep(store: Store, cell: Cell, made: dict[str, Any] | None) -> None:
    """Keep what was made of a cell, and its counts for studies."""
    store.keep(cell.content, made)
    for tier, own in made["parts"].items() if made else ():
        found = Count(**{kind: row[-1] for kind, row in own["class"].items()})
        store.write(content(Case(cell.held, cell.algorithm), tier), found)


def _made(cell: Cell) -> dict[str, Any] | None:
    """The breakdown and the C of a cell, None if the robot does not admit the algorithm."""
    model = cell.held.model()
    try:
        found = breakdowns(model, cell.algorithm, **cell.held.options)
    except UnsuitedError:
        return None
    parts = {tier: {by: one.by(by) for by in BY} for tier, one in found.items()}
    return {"parts": parts, "c": pack(_c(model, cell))}


def _c(model: Robot, cell: Cell) -> str:
    """The C of a cell, one state at a time, with comments that name phases."""
    task = api.task(model, cell.algorithm, **cell.held.options)
    written, emitted, origins = labelled(task)
    sections = tuple(origin.phase for origin in origins)
    before = count(straight_line(written))
    made = Kernel(straight_line(emitted), task.entry.title, before, folded=folded(task), sections=sections)
    files = BACKENDS["c"].folder(header(model, model.name, (task,)), (made,), Style(), {})
    return next(text for name, text in files.items() if name.endswith(f"_{cell.algorithm}.c"))


def grid(scenarios: dict[str, Held], algorithms: Sequence[str]) -> list[Cell]:
    """Every algorithm of every scenario."""
    return [Cell(name, held, algorithm) for name, held in scenarios.items() for algorithm in algorithms]
