"""Pieces of HTML: text that is safe, tables whose rows filters know, and what is folded away until it is opened."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from codegen.tracing.task import TIERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codegen.cli.table import Cell, Table

KEYS = ("robot", "algorithm", "contacts")
"""Columns that filters go by."""


def text(cell: Cell) -> str:
    """A cell as text for HTML, numbers grouped in thousands."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.4g}" if isinstance(cell, float) else escape(cell)


def table(content: Table, caption: str = "") -> str:
    """A table with a header; rows carry the robot, algorithm and contacts that they are about, columns their tier."""
    columns = list(zip(*content.rows, strict=True)) or [()] * len(content.header)
    classes = [_classes(name, column) for name, column in zip(content.header, columns, strict=True)]
    header = "".join(
        f'<th scope="col"{own}>{escape(name)}</th>' for name, own in zip(content.header, classes, strict=True)
    )
    rows = []
    for row in content.rows:
        keys = {name: str(cell) for name, cell in zip(content.header, row, strict=True) if name in KEYS}
        cells = "".join(f"<td{own}>{text(cell)}</td>" for cell, own in zip(row, classes, strict=True))
        rows.append(f"<tr{data(keys)}>{cells}</tr>")
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    body = "\n".join(rows)
    return f'<div class="wide"><table>{title}<thead><tr>{header}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def data(keys: Mapping[str, str]) -> str:
    """Attributes that filters go by, as text that follows the name of an element."""
    return "".join(f' data-{name}="{escape(value)}"' for name, value in keys.items())


def folded(summary: str, content: str) -> str:
    """What is shown once a reader opens it; both are HTML."""
    return f"<details><summary>{summary}</summary>\n{content}\n</details>"


def code(source: str) -> str:
    """A program's text."""
    return f'<pre tabindex="0"><code>{escape(source)}</code></pre>'


def packed_code(packed: str) -> str:
    """A program's text, packed: the page's script unpacks it once a reader opens what it is folded into."""
    return f'<pre tabindex="0" data-packed="{packed}"><code>Unpacking this needs JavaScript.</code></pre>'


def choice(name: str, label: str, values: Iterable[str]) -> str:
    """A filter: one of these values, or all."""
    options = "".join(f'<option value="{escape(value)}">{escape(value)}</option>' for value in values)
    return f'<label>{escape(label)} <select id="by-{name}"><option value="">all</option>{options}</select></label>'


def listed(items: Sequence[tuple[str, str]]) -> str:
    """A list of names and what is said of them."""
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(said)}</dd>" for name, said in items) + "</dl>"


def _classes(name: str, column: Sequence[Cell]) -> str:
    """Columns of numbers are aligned right; those of a tier can be hidden."""
    numbers = any(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in column)
    found = ["number"] * numbers + [f"t-{name}"] * (name in TIERS)
    return f' class="{" ".join(found)}"' if found else ""
