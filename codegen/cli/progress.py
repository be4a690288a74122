"""A progress bar on stderr, for work that a person waits for: nothing is written where nobody
watches.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

from codegen.cli.table import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

WIDTH = 24
T = TypeVar("T")


def progress(work: Sequence[T], describe: Callable[[T], str]) -> Iterator[T]:
    """Each item of `work` in turn, with a bar that names it; one item needs no bar."""
    if len(work) < 2 or not sys.stderr.isatty():
        yield from work
        return
    try:
        for done, item in enumerate(work):
            bar = ("#" * (WIDTH * done // len(work))).ljust(WIDTH, ".")
            _show(f"[{bar}] {done + 1}/{len(work)} {plain(describe(item))[:50]}")
            yield item
    finally:
        _show("")


def _show(line: str) -> None:
    sys.stderr.write(f"\r\x1b[K{line}")
    sys.stderr.flush()
