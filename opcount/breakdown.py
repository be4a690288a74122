"""What the operations of one algorithm for one robot are for, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codegen import api
from codegen.cli.count import header, rows_of
from codegen.cli.table import Table
from codegen.robot import load
from codegen.task.breakdown import BY, Breakdown, By
from codegen.task.breakdown import breakdown as parts_of
from opcount.count import tiers_of

if TYPE_CHECKING:
    from codegen.model import Model
    from codegen.tracing.task import Tier


def breakdown(
    robot: Model | str, algorithm: str, by: By = "phase", *, tier: Tier | None = None, **options: Any
) -> Table:
    """Operations of `algorithm` by `phase`, `body` or `class`, at one tier or all that it has; see `opcount.count`.

    The rows of a tier add up to its count. ValueError for another `by`; RobotError as `opcount.count`.
    """
    if by not in BY:
        raise ValueError(f"by must be one of {', '.join(BY)}, not {by!r}")
    model = load(robot) if isinstance(robot, str) else robot
    found = breakdowns(model, algorithm, **options)
    rows = [rows_of(model.name, algorithm, one, parts, by) for one, parts in found.items() if tier in (None, one)]
    return Table(header(by), tuple(row for own in rows for row in own))


def breakdowns(model: Model, algorithm: str, **options: Any) -> dict[Tier, Breakdown]:
    """The breakdowns of all tiers that an algorithm has."""
    found: dict[Tier, Breakdown] = {}
    for tier in ("published", "emitted"):
        if tier in tiers_of(algorithm):
            found |= parts_of(api.task(model, algorithm, **options, tier=tier))
    return found
