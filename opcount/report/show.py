"""The report written: what is in it, quick or whole, and the file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.algorithms import ALGORITHMS
from codegen.errors import RobotError
from codegen.progress import doing, each, note
from opcount.claims import CLAIMS, PAPERS
from opcount.claims.evaluation import evaluate
from opcount.claims.expected import read
from opcount.report import page
from opcount.report.cells import Cell, find, grid
from opcount.report.differences import differences
from opcount.report.formulas import SHOWN, formulas
from opcount.report.page import Section
from opcount.studies import STUDIES
from opcount.studies.measured import PAPER, Held

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Executor

    from opcount.claims.evaluation import Finding

UNHELD = ("rnea", "crba", "aba", "ltl", "minverse")
HELD = tuple(name for name, one in ALGORITHMS.items() if one.group in ("constrained", "delassus", "damped"))
ABOUT = (
    "Operations of rigid-body dynamics algorithms on the papers' robots and contacts, in three tiers: as published "
    "(the papers' listings), as written (our algorithms after lowering) and as emitted (the C). An operation is any "
    "instruction but an input, an output or a constant."
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a report is of: robots with contacts, algorithms without contacts and with them, studies, and formulas.

    `quick` takes quick studies, and the verdicts on claims that tests keep instead of evaluating claims.
    """

    scenarios: Mapping[str, Held]
    unheld: tuple[str, ...] = UNHELD
    held: tuple[str, ...] = HELD
    studies: tuple[str, ...] = tuple(name for name, study in STUDIES.items() if not study.long)
    formulas: tuple[str, ...] = SHOWN
    quick: bool = False

    def __str__(self) -> str:
        return f"report of {len(self.cells)} cells and {len(self.studies)} studies"

    @property
    def cells(self) -> list[Cell]:
        """Every algorithm of every robot."""
        robots = dict.fromkeys(held.robot for held in self.scenarios.values())
        unheld = grid({robot: Held(robot, ()) for robot in robots}, self.unheld)
        return [*unheld, *grid(dict(self.scenarios), self.held)]


WHOLE = Plan(PAPER)
QUICK = Plan(
    {"iiwa H3": PAPER["iiwa H3"]},
    held=("pv", "pv_early", "prox_pv", "constrained_aba", "prox_ltl", "ltl_osim", "kjr", "efpa", "pv_osim", "pv_osimr"),
    studies=("delassus", "direct"),
    formulas=("crba", "rnea"),
    quick=True,
)


def write(out: str | Path = "report.html", plan: Plan = WHOLE, executor: Executor | None = None) -> Path:
    """Write the page of a plan; the path. RobotError, before any work, if the folder is not there.

    What has been counted stays in the store if the rest fails, and the file is written whole or not at all.
    """
    path = Path(out)
    if not path.parent.is_dir():
        raise RobotError(f"there is no folder {path.parent}; make it, or name another place for the report")
    text = html(plan, executor)
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
    return path


def html(plan: Plan, executor: Executor | None = None) -> str:
    """The page of a plan."""
    with doing("breakdowns", 1, 4):
        found = find(plan.cells, executor)
    with doing("studies", 2, 4):
        shown = each(plan.studies, str)
        studies = "\n".join(page.study(name, STUDIES[name].table(plan.quick, executor)) for name in shown)
    with doing("claims", 3, 4):
        claims = page.claims({} if plan.quick else _by_paper(evaluate([*CLAIMS.values()], executor)), read())
    with doing("formulas", 4, 4):
        equations = formulas(plan.formulas)
    sections = (
        Section("tiers", "Tiers, and what makes the difference", differences()),
        Section("phases", "Operations by phase", page.phases(found)),
        Section("best", "How far emitted operations are below published ones", page.best(found)),
        Section("authors", "Published operations beside the authors' programs", page.authors(found)),
        Section("cells", "Every algorithm of every robot", page.cells(found)),
        Section("figures", "Where the papers' figures are", page.figures(plan.studies)),
        Section("studies", "The papers' tables and figures", studies),
        Section("claims", "The papers' claims", claims),
        Section("formulas", "Formulas", equations),
    )
    return page.page(sections, page.filters(found), ABOUT)


def _by_paper(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    return {key: [finding for finding in findings if finding.claim.paper == key] for key in PAPERS}


def show(out: Path, quick: bool) -> int:
    """Write the quick or the whole report and say where it is."""
    path = write(out, QUICK if quick else WHOLE)
    note(f"wrote {path} ({path.stat().st_size / 1e6:.1f} MB)")
    return 0
