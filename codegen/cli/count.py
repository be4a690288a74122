"""Count the operations of an algorithm for a robot.

Three tiers, always labelled. `published`: the paper's listing over dense matrices, counted as
papers count. `written`: our algorithm after lowering, as CasADi holds it. `emitted`: after
the passes, exactly the operators in the C file. Without --tier, the last two. add is
additions, subtractions and negations; mul is products; div is divisions and reciprocals;
sqrt, sin and cos stand alone; other is the rest. --without leaves out steps that only save
operations; --stages counts after every one of them.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from codegen.cli.options import (
    add_algorithms,
    add_derivatives,
    add_formats,
    add_robot,
    add_task,
    algorithms,
    load,
    resolved,
    task_options,
    unless_unsuited,
)
from codegen.cli.table import Cell, Table
from codegen.ir.operations import KINDS
from codegen.progress import each

if TYPE_CHECKING:
    import argparse

    from codegen.ir.counting import Count
    from codegen.robot import Robot

EXAMPLES = """\
  rigidc count my_robot.urdf --floating -a fk --frame left_foot --csv
  rigidc count talos -a pv_osim --contact left_sole_link:6 --tier published
  rigidc count talos -a aba --stages
"""

HEADER = ("robot", "algorithm", "tier", *KINDS, "total")


def configure(parser: argparse.ArgumentParser) -> None:
    """Robots, algorithms, options, --json, --csv."""
    add_robot(parser, several=True)
    add_algorithms(parser)
    add_derivatives(parser)
    add_task(parser)
    parser.add_argument(
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
    rows = []
    for robot, name, kind in each(work, lambda item: f"{_called(*item[1:])} of {models[item[0]].name}"):
        make = partial(counted, args, models[robot], name, kind)
        for tier, found in unless_unsuited(args, name, make) or ():
            rows.append(row(models[robot].name, _called(name, kind), tier, found))
    sys.stdout.write(getattr(Table(HEADER, tuple(rows)), args.form or "text")())
    return 0


def _called(algorithm: str, derivative: str) -> str:
    """The name of an algorithm's function, or of a product of its derivatives."""
    return f"{algorithm}_{derivative}" if derivative else algorithm


def counted(args: argparse.Namespace, robot: Robot, algorithm: str, derivative: str = "") -> list[tuple[str, Count]]:
    """Tiers and their counts, or stages and theirs: after every step and pass."""
    from codegen import api
    from codegen.ir.counting import count
    from codegen.task.stages import stages

    options = {**task_options(args, algorithm), "derivative": derivative}
    if args.stages:
        return list(stages(api.task(robot, algorithm, **options)))
    graphs = dict(zip(("written", "emitted"), api.graphs(robot, algorithm, **options), strict=True))
    graphs["published"] = graphs["written"]  # traced of another listing
    return [(tier, count(graphs[tier])) for tier in ([args.tier] if args.tier else ["written", "emitted"])]


def row(robot: str, algorithm: str, tier: str, counted: Count) -> tuple[Cell, ...]:
    """One row under `HEADER`."""
    return (robot, algorithm, tier, *(getattr(counted, kind) for kind in KINDS), counted.total)
