"""Count the operations of an algorithm for a robot.

Two counts, always labelled. `written`: the algorithm's expressions as CasADi holds them,
comparable with counts in papers. `emitted`: after the passes, exactly the operators in the C
file. add is additions, subtractions and negations; mul is products; div is divisions and
reciprocals; sqrt, sin and cos stand alone; other is the rest. --without leaves out steps
that only save operations; --stages counts after every one of them.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from codegen.cli.options import (
    add_algorithms,
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
  rigidc count iiwa solo12 -a rnea -a aba --json
  rigidc count my_robot.urdf --floating -a fk --frame left_foot --csv
  rigidc count talos -a aba --stages
"""

HEADER = ("robot", "algorithm", "stage", *KINDS, "total")


def configure(parser: argparse.ArgumentParser) -> None:
    """Robots, algorithms, options, --json, --csv."""
    add_robot(parser, several=True)
    add_algorithms(parser)
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
    work = [(robot, name) for robot in args.robots for name in resolved(args, names, models[robot])]
    rows = []
    for robot, name in each(work, lambda pair: f"{pair[1]} of {models[pair[0]].name}"):
        make = partial(counted, args.stages, models[robot], name, task_options(args, name))
        for stage, found in unless_unsuited(args, name, make) or ():
            rows.append(row(models[robot].name, name, stage, found))
    sys.stdout.write(getattr(Table(HEADER, tuple(rows)), args.form or "text")())
    return 0


def counted(every: bool, robot: Robot, algorithm: str, options: dict[str, Any]) -> list[tuple[str, Count]]:
    """Stages and their counts: as written and as emitted, or after every step and pass."""
    from codegen import api
    from codegen.ir.counting import count
    from codegen.task.stages import stages

    if every:
        return list(stages(api.task(robot, algorithm, **options)))
    graphs = api.graphs(robot, algorithm, **options)
    return [(stage, count(graph)) for stage, graph in zip(("written", "emitted"), graphs, strict=True)]


def row(robot: str, algorithm: str, stage: str, counted: Count) -> tuple[Cell, ...]:
    """One row under `HEADER`."""
    return (robot, algorithm, stage, *(getattr(counted, kind) for kind in KINDS), counted.total)
