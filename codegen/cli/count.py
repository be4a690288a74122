"""Count the operations of an algorithm for a robot.

Three tiers, always labelled. `published`: the paper's listing over dense matrices, counted as
papers count. `written`: our algorithm after lowering, as CasADi holds it. `emitted`: after
the passes, exactly the operators in the C file. Without --tier, the last two. add is
additions, subtractions and negations; mul is products; div is divisions and reciprocals;
sqrt, sin and cos stand alone; other is the rest. --without leaves out steps that only save
operations; --stages counts after every one of them; --by says what the operations are for.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from codegen.cli.options import add_algorithms, add_derivatives, add_formats, add_robot, add_task, add_wrt
from codegen.cli.requests import algorithms, load, resolved, task_options, unless_unsuited
from codegen.cli.table import Cell, Table, shown_if_ended
from codegen.ir.operations import KINDS
from codegen.progress import each
from codegen.task.breakdown import Breakdown, breakdown
from codegen.task.options import wrt_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from codegen.ir.counting import Count
    from codegen.robot import Robot
    from codegen.task.breakdown import By

EXAMPLES = """\
  rigidc count talos -a pv_osim --contact left_sole_link:6 --tier published --csv
  rigidc count talos -a aba --stages
  rigidc count talos -a prox_ltl --contact left_sole_link:6 --by phase
"""

HEADER = ("robot", "algorithm", "tier", *KINDS, "total")


def configure(parser: argparse.ArgumentParser) -> None:
    """Robots, algorithms, options, --json, --csv."""
    add_robot(parser, several=True)
    add_algorithms(parser)
    add_derivatives(parser)
    add_wrt(parser)
    add_task(parser)
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--by",
        choices=("phase", "body", "class"),
        help="a row for every phase of the algorithm, body, or class of operations, and its part of all",
    )
    shown.add_argument(
        "--stages",
        action="store_true",
        help="count after every step of the lowering and every pass: what each of them saves",
    )
    add_formats(parser, csv=True)


def run(args: argparse.Namespace) -> int:
    """Print the counts."""
    names = algorithms(args)
    models = {robot: load(args, robot) for robot in args.robots}
    chosen = [(robot, name) for robot in args.robots for name in resolved(args, names, models[robot])]
    work = [(*pair, kind) for pair in chosen for kind in ("", *args.derivatives)]
    rows: list[tuple[Cell, ...]] = []
    with shown_if_ended(header(args.by), rows, args.form):
        for robot, name, kind in each(work, lambda item: f"{_called(*item[1:])} of {models[item[0]].name}"):
            make = partial(counted, args, models[robot], name, kind)
            for tier, found in unless_unsuited(args, name, make) or ():
                rows += rows_of(models[robot].name, _called(name, kind), tier, found, args.by)
    sys.stdout.write(getattr(Table(header(args.by), tuple(rows)), args.form or "text")())
    return 0


def _called(algorithm: str, derivative: str) -> str:
    """The name of an algorithm's function, or of a product of its derivatives."""
    return f"{algorithm}_{derivative}" if derivative else algorithm


def counted(
    args: argparse.Namespace, robot: Robot, algorithm: str, derivative: str = ""
) -> Sequence[tuple[str, Count | Breakdown]]:
    """Tiers and their counts or breakdowns, or stages and counts: after every step and pass."""
    from codegen import api, pipeline
    from codegen.task.stages import stages

    by = wrt_of(algorithm, algorithms(args), args.wrt)
    options = {**task_options(args, algorithm), "derivative": derivative, "wrt": by}
    if args.by:
        tiers = [args.tier] if args.tier else ["written", "emitted"]
        asked = api.task(robot, algorithm, **{**options, "tier": args.tier or "emitted"})
        return [(tier, parts) for tier, parts in breakdown(asked).items() if tier in tiers]
    if args.stages:
        return list(stages(api.task(robot, algorithm, **options)))
    counts = dict(zip(("written", "emitted"), pipeline.counts(api.task(robot, algorithm, **options)), strict=True))
    counts["published"] = counts["written"]  # traced of another listing
    return [(tier, counts[tier]) for tier in ([args.tier] if args.tier else ["written", "emitted"])]


def header(by: By | None = None) -> tuple[str, ...]:
    """The header of a table of counts, or of breakdowns."""
    return (*HEADER[:3], by, *(HEADER[3:] if by != "class" else ("total",)), "percent") if by else HEADER


def rows_of(
    robot: str, algorithm: str, tier: str, found: Count | Breakdown, by: By | None = None
) -> list[tuple[Cell, ...]]:
    """The rows of a count, or one for each part of a breakdown, under `header`."""
    if not isinstance(found, Breakdown):
        return [row(robot, algorithm, tier, found)]
    total = found.count.total
    rows: list[tuple[Cell, ...]] = []
    for part, own in found.by(by or "phase").items():
        rows.append((robot, algorithm, tier, part, *own, round(100 * own[-1] / total, 1)))
    return rows


def row(robot: str, algorithm: str, tier: str, counted: Count) -> tuple[Cell, ...]:
    """One row under `HEADER`."""
    return (robot, algorithm, tier, *(getattr(counted, kind) for kind in KINDS), counted.total)
