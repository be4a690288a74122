"""Show or clear the cache: compiled functions, and operations that were counted.

What is built once is kept in the user's cache directory, addressed by the content of its
source, the compiler and its flags. RIGIDC_CACHE names another directory; clearing it costs
nothing but compiling and counting again.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from codegen.cli.table import Table, plain
from codegen.compilation.storage import COUNTS, PEERS, ZIG

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  rigidc cache
  rigidc cache --clear --counts
  RIGIDC_CACHE=/tmp/rigidc rigidc cache
"""


BESIDE = {COUNTS: "counted operations", ZIG: "what zig keeps", PEERS: "compiled peers of timings"}
"""What folders in the cache folder hold beside builds."""


def configure(parser: argparse.ArgumentParser) -> None:
    """--clear, --counts."""
    parser.add_argument("--clear", action="store_true", help="remove everything that is in the cache")
    parser.add_argument("--counts", action="store_true", help="with --clear: remove the counted operations only")


def run(args: argparse.Namespace) -> int:
    """List the entries, or remove them."""
    from codegen.compilation import cache, storage

    folder = plain(str(storage.folder()))
    own = (COUNTS,) if args.counts else tuple(BESIDE)
    sizes = [f"{storage.size(name) / 1e6:.1f} MB: {BESIDE[name]}" for name in own if storage.size(name)]
    beside = "".join(f"; {size}" for size in sizes)
    if args.clear:
        removed = [] if args.counts else [_builds(cache.clear())]
        storage.remove(COUNTS)
        print(f"removed {'; '.join((*removed, *sizes)) or 'nothing'} from {folder}")
        return 0
    entries = () if args.counts else cache.entries()
    size = sum(entry.size for entry in entries)
    print(f"{folder}: {_builds(len(entries))}, {size / 1e6:.1f} MB{beside}")
    rows = tuple((entry.name, entry.key[:12], round(entry.size / 1e3)) for entry in entries)
    if rows:
        sys.stdout.write(Table(("function", "key", "kB"), rows).text())
    return 0


def _builds(number: int) -> str:
    return f"{number} build{'' if number == 1 else 's'}"
