"""`python -m opcount.studies [NAME ...]`: print studies, all but the long ones if none is named."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.progress import doing, shown
from opcount.studies import STUDIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.cli.table import Table


@shown()
def main(argv: Sequence[str] | None = None) -> int:
    """Print the studies that the arguments name."""
    args = _arguments(argv)
    names = args.names or [name for name, study in STUDIES.items() if not study.long]
    for n, name in enumerate(names):
        with doing(f"study {name}", n + 1, len(names)):
            table = STUDIES[name].table()
        if args.form in ("text", "markdown"):
            print(f"{'## ' if args.form == 'markdown' else ''}{STUDIES[name]}\n")
        sys.stdout.write(getattr(table, args.form)())
        sys.stdout.write("\n")
        if args.figure and name == "convergence":
            print(_drawn(table, args.figure))
        sys.stdout.flush()
    return 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The studies named, the form to print them in, and the file of a figure."""
    known = "\n".join(f"  {name:12} {study}{' (long)' * study.long}" for name, study in STUDIES.items())
    parser = argparse.ArgumentParser(
        prog="python -m opcount.studies",
        description="Published tables and figures, reproduced.",
        epilog=f"studies:\n{known}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="studies to print (default: all but the long ones)")
    form = parser.add_mutually_exclusive_group()
    for name in ("markdown", "csv", "json"):
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, default="text")
    parser.add_argument("--figure", metavar="FILE", type=Path, help="draw the study of convergence as well")
    args = parser.parse_args(argv)
    unknown = [name for name in args.names if name not in STUDIES]
    if unknown:
        parser.error(f"there is no study {unknown[0]!r}; the studies are {', '.join(STUDIES)}")
    if args.figure and "convergence" not in args.names:
        parser.error("only the study of convergence has a figure; name it")
    return args


def _drawn(table: Table, path: Path) -> str:
    """Draw the figure if matplotlib is there, and say so."""
    try:
        from opcount.studies.figure import draw
    except ModuleNotFoundError:
        return "no figure: matplotlib is not installed"
    draw(table, path)
    return f"wrote {path}"


if __name__ == "__main__":
    sys.exit(main())
