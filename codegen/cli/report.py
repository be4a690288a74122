"""Write one HTML page with tables, figures, claims, breakdowns, formulas and C.

The page holds all that it shows and opens from disk. What has been counted is kept in the cache
folder, so that an interrupted report goes on where it stopped. Figures need matplotlib.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  rigidc report --quick
  rigidc report --out build/report.html
"""

PROGRAM = "opcount.report.show"
"""The report stands above this package, which only calls it by name."""


def configure(parser: argparse.ArgumentParser) -> None:
    """--quick and --out."""
    parser.add_argument("--quick", action="store_true", help="one robot and two studies: under a minute")
    parser.add_argument("--out", metavar="FILE", type=Path, default=Path("report.html"), help="default: report.html")


def run(args: argparse.Namespace) -> int:
    """Write the page."""
    code: int = import_module(PROGRAM).show(args.out, args.quick)
    return code
