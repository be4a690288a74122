"""Stacked bars of operations by phase, as SVG that reads in grey: every phase has a code, a shade and a pattern."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from codegen.tracing import phases as names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from opcount.report.cells import Found

LOOKS = {
    names.TRANSFORMS: ("X", "#ffffff"),
    names.KINEMATICS: ("kin", "#e6e6e6"),
    names.MOTION: ("v", "#cfe3f2"),
    names.FORCES: ("f", "#f7dcb4"),
    names.ARTICULATED: ("Hᴬ", "#9ecae1"),
    names.INERTIA: ("M", "#d4b9da"),
    names.FACTORS: ("LDL", "#bdbdbd"),
    names.SOLUTION: ("M⁻¹", "#c7e9c0"),
    names.DELASSUS: ("Λ", "#fdae6b"),
    names.RHS: ("k", "#f2f2f2"),
    names.STEPS: ("prox", "#a1d99b"),
    names.MULTIPLIERS: ("λ", "#dadaeb"),
    names.ACCELERATIONS: ("a", "#fee391"),
    names.MOMENTUM: ("h", "#d4e6d4"),
    names.REGRESSOR: ("Y", "#f7cfc4"),
    names.DERIVATIVES: ("∂", "#d9d9d9"),
    names.INTEGRATION: ("∫", "#c4dcdc"),
    names.LOOPS: ("loop", "#eeeeee"),
    names.REST: ("…", "#f5f5f5"),
    names.STATUS: ("!", "#ffffff"),
}
"""What stands in a bar for each phase, and its shade: light enough for dark text, unlike those beside it."""
WIDTH, LEFT, BAR, GAP, SPACE = 960, 190, 15, 2, 9
LETTER = 6.6
"""The width of a letter in a bar, in pixels."""


def legend() -> str:
    """What the codes stand for."""
    items = "".join(
        f'<li><span class="swatch" style="background:{shade}">{code}</span> {escape(phase)}</li>'
        for phase, (code, shade) in LOOKS.items()
    )
    return f'<ul class="legend">{items}</ul>'


def bars(title: str, found: Sequence[Found]) -> str:
    """One bar for every tier of every algorithm, as long as its operations; the numbers stand beside."""
    most = max((one.total(tier) or 0 for one in found for tier in one.parts), default=1) or 1
    scale, at, parts = (WIDTH - LEFT - 70) / most, 4, []
    for one in found:
        middle = at + (len(one.parts) * (BAR + GAP) - GAP) / 2 + 4
        parts.append(f'<text x="0" y="{middle:g}" class="name">{escape(one.cell.algorithm)}</text>')
        for tier, own in one.parts.items():
            inner = _bar({phase: row[-1] for phase, row in own["phase"].items()}, at, scale)
            total = one.total(tier) or 0
            end = LEFT + total * scale + 4
            label = f'<text x="{LEFT - 6}" y="{at + BAR - 4}" class="tier">{tier}</text>'
            number = f'<text x="{end:.1f}" y="{at + BAR - 4}" class="total">{total:,}</text>'
            parts.append(f'<g class="t-{tier}">{label}{inner}{number}</g>')
            at += BAR + GAP
        at += SPACE
    return (
        f'<svg viewBox="0 0 {WIDTH} {at}" role="img" aria-label="{escape(title)}" class="bars">\n'
        + "\n".join(parts)
        + "\n</svg>"
    )


def _bar(counts: Mapping[str, int], at: int, scale: float) -> str:
    """The segments of one bar."""
    x, parts = float(LEFT), []
    for phase, (code, shade) in LOOKS.items():
        width = counts.get(phase, 0) * scale
        if width <= 0:
            continue
        said = f"{phase}: {counts[phase]:,}"
        parts.append(
            f'<rect x="{x:.1f}" y="{at}" width="{width:.1f}" height="{BAR}" fill="{shade}">'
            f"<title>{escape(said)}</title></rect>"
        )
        if width > LETTER * len(code) + 4:
            parts.append(f'<text x="{x + width / 2:.1f}" y="{at + BAR - 4}" class="code">{code}</text>')
        x += width
    return "".join(parts)
