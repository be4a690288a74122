"""Count the operations of an algorithm for a robot.

Two counts, always labelled. `written`: the algorithm's expressions as CasADi holds them,
comparable with counts in papers. `emitted`: after the passes, exactly the operators in the C
file. add is additions, subtractions and negations; mul is products; div is divisions and
reciprocals; sqrt, sin and cos stand alone; other is the rest.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

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
from codegen.operations import KINDS
from codegen.progress import each

if TYPE_CHECKING:
    import argparse

    from codegen.counting import Count

EXAMPLES = """\
  rigidc count talos -a rnea -a crba -a aba
  rigidc count iiwa solo12 -a aba --json
  rigidc count my_robot.urdf --floating -a fk --frame left_foot --csv
"""

HEADER = ("robot", "algorithm", "stage", *KINDS, "total")


def configure(parser: argparse.ArgumentParser) -> None:
    """Robots, algorithms, options, --json, --csv."""
    add_robot(parser, several=True)
    add_algorithms(parser)
    add_task(parser)
    add_formats(parser, csv=True)


def run(args: argparse.Namespace) -> int:
    """Print the counts."""
    from codegen import pipeline
    from codegen.counting import count

    names = algorithms(args)
    models = {robot: load(args, robot) for robot in args.robots}
    work = [(robot, name) for robot in args.robots for name in resolved(args, names, models[robot])]
    rows = []
    for robot, name in each(work, lambda pair: f"{pair[1]} of {models[pair[0]].name}"):
        make = partial(pipeline.graphs, models[robot], name, **task_options(args, name))
        for stage, graph in zip(("written", "emitted"), unless_unsuited(args, name, make) or (), strict=False):
            rows.append(row(models[robot].name, name, stage, count(graph)))
    sys.stdout.write(getattr(Table(HEADER, tuple(rows)), args.form or "text")())
    return 0


def row(robot: str, algorithm: str, stage: str, counted: Count) -> tuple[Cell, ...]:
    """One row under `HEADER`."""
    return (robot, algorithm, stage, *(getattr(counted, kind) for kind in KINDS), counted.total)
