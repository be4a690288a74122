"""Reproduce tables and figures of the papers.

Without a NAME, lists the studies; `all` stands for all but the long ones. Counts are of the
papers' listings (published), of our algorithms (written) and of the C (emitted). What has been
counted is kept in the cache folder, so that an interrupted study goes on where it stopped.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  rigidc study
  rigidc study stems --quick --figures build/figures
  rigidc study delassus --latex
"""

FORMS = ("markdown", "latex", "csv", "json")
PROGRAM = "opcount.studies.show"
"""The studies stand above this package, which only calls them by name."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Names, --quick, --figures, and the form of the tables."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="studies, or `all`")
    parser.add_argument("--quick", action="store_true", help="fewer robots and shorter chains: seconds")
    parser.add_argument(
        "--figures", metavar="DIR", type=Path, help="write tables (all forms) and figures (PNG, SVG, PDF) to a folder"
    )
    group = parser.add_mutually_exclusive_group()
    for form in FORMS:
        group.add_argument(f"--{form}", dest="form", action="store_const", const=form, help=f"print {form}")
    parser.set_defaults(form="text")


def run(args: argparse.Namespace) -> int:
    """Print the studies, and draw them if asked to."""
    code: int = import_module(PROGRAM).show(args.names, args.form, args.quick, args.figures)
    return code
