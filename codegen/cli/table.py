"""Tables of plain text: aligned for people, or Markdown, LaTeX, CSV and JSON for everything else."""

from __future__ import annotations

import csv
import io
import json
import math
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.errors import RobotError
from codegen.progress import note
from codegen.progress import plain as plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Cell = str | int | float | bool | None


@contextmanager
def shown_if_ended(header: tuple[str, ...], rows: Sequence[tuple[Cell, ...]], form: str | None) -> Iterator[None]:
    """When an error or the user ends the work, show on stderr what rows there are; stdout has all or nothing."""
    try:
        yield
    except (RobotError, KeyboardInterrupt):
        if rows and not form:
            note(f"rigidc: found so far:\n{Table(header, tuple(rows)).text().rstrip()}")
        raise


MARKDOWN = str.maketrans({"|": r"\|"})
LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)
"""What stands for characters that a form of table acts upon."""


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Rows under a header; in text, numbers are aligned right and whole ones grouped in thousands."""

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __repr__(self) -> str:
        return f"<Table {' | '.join(self.header)}: {len(self.rows)} rows>"

    def text(self) -> str:
        """Columns aligned by blanks."""
        return "".join(f"{'  '.join(cells).rstrip()}\n" for cells in self._aligned())

    def markdown(self) -> str:
        """A Markdown table."""
        head, *body = self._aligned(MARKDOWN)
        rule = ["-" * (len(cell) - 1) + (":" if right else "-") for cell, right in zip(head, self._right, strict=True)]
        return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, rule, *body))

    def latex(self) -> str:
        """A LaTeX tabular with the rules of booktabs."""
        columns = "".join("r" if right else "l" for right in self._right)
        head, *body = (" & ".join(cells).rstrip() + r" \\" for cells in self._aligned(LATEX))
        lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule"]
        return "\n".join((*lines, r"\end{tabular}", ""))

    def csv(self) -> str:
        """Comma-separated values with a header line; numbers ungrouped."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([self.header, *self.rows])
        return out.getvalue()

    def json(self) -> str:
        """A list with one object per row, keyed by the header; a number that is not finite becomes null."""
        return as_json([dict(zip(self.header, map(_finite, row), strict=True)) for row in self.rows])

    @property
    def _right(self) -> tuple[bool, ...]:
        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.header)
        return tuple(
            any(isinstance(cell, int | float) for cell in column)
            and all(cell is None or isinstance(cell, int | float) for cell in column)
            for column in columns
        )

    def _aligned(self, escapes: Mapping[int, str] | None = None) -> list[list[str]]:
        lines = [[_shown(cell, escapes or {}) for cell in row] for row in (self.header, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return [
            [
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(line, widths, self._right, strict=True)
            ]
            for line in lines
        ]


def as_json(value: object) -> str:
    """`value` as JSON text that ends in a newline; ValueError for a number that is not finite."""
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def _finite(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _shown(cell: Cell, escapes: Mapping[int, str]) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return plain(cell).translate(escapes)
