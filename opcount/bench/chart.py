"""The bar chart of the guide's page on speed, drawn from the tables on that page.

    python -m opcount.bench.chart

writes `codegen/guide/images/speed.svg` again. It is plain SVG, so that it stays small and the same on every machine.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import codegen

GUIDE = Path(codegen.__file__).parent / "guide"
PAGE, PICTURE = GUIDE / "speed.md", GUIDE / "images" / "speed.svg"
SHOWN = ("rnea", "aba")
COLOURS = {"one call": "#1b6e3c", "batch of 64": "#7fbf96"}

LEFT, BAR, GAP, WIDTH, HEAD, SCALE = 165, 13, 10, 640, 58, 10.0  # pixels; SCALE of a factor of one


@dataclass(frozen=True, slots=True)
class Factors:
    """How many times as fast as Pinocchio one algorithm of one robot is, by clang: a call, and a state of a batch."""

    robot: str
    algorithm: str
    call: float
    batch: float


def factors(page: str) -> tuple[Factors, ...]:
    """Those of the first two tables of a page, of a call and of a batch: robots by algorithms, `clang / gcc`."""
    call, batch = map(entries, re.findall(r"(?:^\|.*\|\n)+", page, re.MULTILINE)[:2])
    return tuple(Factors(*key, call[key], batch[key]) for key in call if key[1] in SHOWN)


def entries(table: str) -> dict[tuple[str, str], float]:
    """The first number of each entry of a table in Markdown, by row and column."""
    names, _, *rows = [[cell.strip(" `") for cell in line[1:-1].split("|")] for line in table.splitlines()]
    return {
        (row[0], name): float(entry.split("/")[0])
        for row in rows
        for name, entry in zip(names[1:], row[1:], strict=True)
    }


def drawn(found: tuple[Factors, ...]) -> str:
    """The chart as SVG: two bars for each robot and algorithm, and a line where Pinocchio stands."""
    group = 2 * BAR + GAP
    height = HEAD + group * len(found) + 12
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        '<text x="12" y="20" font-size="14">Times as fast as Pinocchio (Intel Xeon with AVX-512, clang 14)</text>',
    ]
    for n, (label, colour) in enumerate(COLOURS.items()):
        lines.append(f'<rect x="{LEFT + 120 * n}" y="32" width="12" height="12" fill="{colour}"/>')
        lines.append(f'<text x="{LEFT + 120 * n + 18}" y="42">{label}</text>')
    for n, one in enumerate(found):
        top = HEAD + group * n
        lines.append(f'<text x="{LEFT - 8}" y="{top + BAR + 4}" text-anchor="end">{one.robot} {one.algorithm}</text>')
        for k, (value, colour) in enumerate(zip((one.call, one.batch), COLOURS.values(), strict=True)):
            y, length = top + BAR * k, SCALE * value
            lines.append(f'<rect x="{LEFT}" y="{y}" width="{length:g}" height="{BAR - 1}" fill="{colour}"/>')
            lines.append(f'<text x="{LEFT + length + 5:g}" y="{y + 10}" font-size="11">{value:g}</text>')
    at = LEFT + SCALE
    lines.append(f'<path d="M{at:g} {HEAD - 6}V{height - 8}" stroke="#c0392b" stroke-dasharray="4 3"/>')
    lines.append(f'<text x="{at + 280:g}" y="42" fill="#c0392b">dashed: Pinocchio (1)</text>')
    return "\n".join([*lines, "</svg>", ""])


def main() -> int:
    """Write the picture."""
    PICTURE.write_text(drawn(factors(PAGE.read_text(encoding="utf-8"))), encoding="utf-8")
    print(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
