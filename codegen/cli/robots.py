"""List the robots that come with rigidc.

Each can be named wherever a command asks for a robot. The licence is that of the description
which the numbers were taken from; `source` says where that is (in full with --json or --csv).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from codegen.cli.options import add_formats
from codegen.cli.table import Table

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  rigidc robots
  rigidc robots --json
"""

SHORT = 60  # characters of a source that the table shows; --json and --csv have them all
HEADER = ("name", "base", "bodies", "nv", "loops", "licence", "source")


def configure(parser: argparse.ArgumentParser) -> None:
    """--json and --csv."""
    add_formats(parser, csv=True)


def run(args: argparse.Namespace) -> int:
    """Print one row per bundled robot."""
    table = robots()
    if args.form is None:
        table = Table(HEADER, tuple((*row[:-1], _short(str(row[-1]))) for row in table.rows))
    sys.stdout.write(getattr(table, args.form or "text")())
    return 0


def robots() -> Table:
    """The bundled robots: base, number of bodies, degrees of freedom, loops and provenance."""
    from codegen.description import bundled
    from codegen.robot import load

    rows = []
    for name in bundled():
        robot = load(name)
        base = "floating" if robot.floating else "fixed"
        source = " ".join(part for part in (robot.source.origin, robot.source.version) if part)
        numbers = (len(robot.bodies), robot.nv, len(robot.loops))
        rows.append((name, base, *numbers, robot.source.licence, source))
    return Table(HEADER, tuple(rows))


def _short(text: str) -> str:
    return text if len(text) <= SHORT else f"{text[: SHORT - 3]}..."
