"""`python -m opcount.studies [NAME ...]`: print studies, all of them if none is named."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from opcount.studies import STUDIES

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Print the studies that the arguments name."""
    known = "\n".join(f"  {name:12} {study}" for name, study in STUDIES.items())
    parser = argparse.ArgumentParser(
        prog="python -m opcount.studies",
        description="Published tables and figures, reproduced.",
        epilog=f"studies:\n{known}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="studies to print (default: all)")
    form = parser.add_mutually_exclusive_group()
    for name in ("markdown", "csv", "json"):
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, default="text")
    args = parser.parse_args(argv)
    unknown = [name for name in args.names if name not in STUDIES]
    if unknown:
        parser.error(f"there is no study {unknown[0]!r}; the studies are {', '.join(STUDIES)}")
    for name in args.names or STUDIES:
        table = STUDIES[name].table()
        if args.form in ("text", "markdown"):
            print(f"{'## ' if args.form == 'markdown' else ''}{STUDIES[name]}\n")
        sys.stdout.write(getattr(table, args.form)())
        sys.stdout.write("\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
