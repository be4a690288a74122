"""What a study is: data that becomes a table, and a figure drawn from the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from matplotlib.figure import Figure

    from codegen.cli.table import Table


@dataclass(frozen=True, slots=True)
class Study:
    """What a study shows, from where, and how.

    `table` makes the table: quick or whole, and by which executor (None: a process for each processor). `figure` draws
    it. `note` says what the table leaves out. One has to ask for a study that is `long`.
    """

    title: str
    place: str
    table: Callable[[bool, Executor | None], Table]
    figure: Callable[[Table], Figure] | None = None
    note: str = ""
    long: bool = False

    def __str__(self) -> str:
        return f"{self.title} ({self.place})" if self.place else self.title
