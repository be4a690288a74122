"""Show or clear the cache of compiled functions.

What is built once is kept in the user's cache directory, addressed by the content of its
source, the compiler and its flags. RIGIDC_CACHE names another directory; clearing it costs
nothing but compiling again.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from codegen.cli.table import Table, plain

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  rigidc cache
  rigidc cache --clear
  RIGIDC_CACHE=/tmp/rigidc rigidc cache
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """--clear."""
    parser.add_argument("--clear", action="store_true", help="remove everything that is in the cache")


def run(args: argparse.Namespace) -> int:
    """List the entries, or remove them."""
    from codegen.compilation import cache, storage, zig

    kept = zig.size()
    beside = f", and {kept / 1e6:.0f} MB that zig keeps" if kept else ""
    folder = plain(str(storage.folder()))
    if args.clear:
        print(f"removed {_builds(cache.clear())} from {folder}{beside}")
        return 0
    entries = cache.entries()
    size = sum(entry.size for entry in entries)
    print(f"{folder}: {_builds(len(entries))}, {size / 1e6:.1f} MB{beside}")
    rows = tuple((entry.name, entry.key[:12], round(entry.size / 1e3)) for entry in entries)
    if rows:
        sys.stdout.write(Table(("function", "key", "kB"), rows).text())
    return 0


def _builds(number: int) -> str:
    return f"{number} build{'' if number == 1 else 's'}"
