"""Figures of tables: bars and lines that read without colours, what they stand for written beside them.

Matplotlib is loaded by the first figure, and needed for nothing else (extra `figures`).
"""

from __future__ import annotations

import io
import math
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codegen.errors import RobotError
from codegen.tracing.task import TIERS
from opcount.studies.measured import fitted_sizes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from codegen.cli.table import Table

Record = dict[str, Any]
FORMATS = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""The files of a figure, and what of their metadata would differ from day to day."""

SMALL, WORDS = 7.0, 8.0  # points
LETTER, PANEL = 0.044, 3.6  # inches: the width of a small letter, and that of a panel of bars
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (3, 3)))
MARKERS = "osD^vPX*"
HATCH = "//////"


def canvas(width: float, height: float) -> Figure:
    """An empty figure of this size in inches; RobotError where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise RobotError("figures need matplotlib, which is not installed; pip install 'rigidc[figures]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def svg(figure: Figure, name: str) -> str:
    """A figure as SVG to put into a page, where its identifiers begin with a name: equal figures are equal texts."""
    from matplotlib import rc_context

    out = io.StringIO()
    with rc_context({"svg.hashsalt": "rigidc", "hatch.linewidth": 0.5, "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata=FORMATS["svg"], bbox_inches="tight")
    text = out.getvalue()[out.getvalue().index("<svg") :]
    return re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{name}-", text)


def saved(figure: Figure, stem: Path) -> list[Path]:
    """The files that a figure is written to: equal figures are equal files."""
    from matplotlib import rc_context

    paths = [stem.with_name(f"{stem.name}.{ending}") for ending in FORMATS]
    with rc_context({"svg.hashsalt": "rigidc", "hatch.linewidth": 0.5}):
        for path, metadata in zip(paths, FORMATS.values(), strict=True):
            figure.savefig(path, dpi=200, metadata=metadata)
    return paths


def records(table: Table) -> list[Record]:
    """The rows of a table by its header."""
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def panels(table: Table, column: str) -> dict[str, list[Record]]:
    """The rows of a table by what stands in a column."""
    found: dict[str, list[Record]] = {}
    for record in records(table):
        found.setdefault(str(record[column]), []).append(record)
    return found


@dataclass(frozen=True, slots=True)
class Bars:
    """A panel for each robot, and in it for each algorithm one bar per tier, its number at its end.

    `part` heads the columns of what is hatched: that much of a bar is what the words say. `mark` is a column whose
    numbers are marked on the bars of one of the tiers, by number. Tiers may be other columns, operations a `unit`.
    Factors in the column `ratio` stand behind the last numbers, the first text in the column `about` stands below.
    """

    part: str = ""
    words: str = ""
    mark: str = ""
    panel: str = "robot"
    bar: str = "algorithm"
    tiers: tuple[str, ...] = ("published", "emitted")
    columns: int = 3
    unit: str = "operations"
    marked: int = 0
    ratio: str = ""
    about: str = ""

    def _words_part(self, group: Sequence[Record], explained: bool) -> float:
        """The part of a panel's width that the longest words beside bars take."""
        said_there = max(map(len, map(said, self.tiers))) if explained and len(self.tiers) > 1 else 0
        letters = 7 + said_there + 13 * bool(self.ratio) + 9 * bool(self.mark)
        bars = max(len(str(record[self.bar])) for record in group)
        return min(LETTER * letters / (PANEL - LETTER * (bars + 6)), 0.7)

    def __call__(self, table: Table) -> Figure:
        """The figure."""
        grouped = panels(table, self.panel)
        for name, group in grouped.items():
            grouped[name] = [record for record in group if any(record[tier] is not None for tier in self.tiers)]
        rows = math.ceil(len(grouped) / self.columns)
        bars = max(map(len, grouped.values()))
        figure = canvas(PANEL * min(self.columns, len(grouped)), rows * (0.45 + 0.15 * bars * (len(self.tiers) + 0.6)))
        axes = figure.subplots(rows, min(self.columns, len(grouped)), squeeze=False).ravel()
        for n, ((title, group), ax) in enumerate(zip(grouped.items(), axes, strict=False)):
            self._panel(ax, group, explained=n == 0)
            ax.set_title(title, loc="left", fontsize=WORDS, fontweight="bold")
        for ax in axes[len(grouped) :]:
            ax.remove()
        marked = any(record.get(self.mark) is not None for record in records(table))
        remarks = [f"hatched: {self.words}"] * bool(self.words) + [f"diamonds: {self.mark}"] * marked
        figure.supxlabel(lines("; ".join((self.unit, *remarks)), figure) + below(table, self.about), fontsize=WORDS)
        return figure

    def _panel(self, ax: Axes, group: Sequence[Record], explained: bool) -> None:
        most = max(
            record[column] or 0 for record in group for column in (*self.tiers, *([self.mark] * bool(self.mark)))
        )
        for place, record in enumerate(group):
            self._bars(ax, place, record, explained and place == 0 and len(self.tiers) > 1)
        ax.set_yticks(range(len(group)), [record[self.bar] for record in group], fontsize=SMALL)
        ax.set_ylim(len(group) - 0.4, -0.6)
        ax.set_xlim(0, most / (1 - self._words_part(group, explained)))
        ax.set_xticks([])
        ax.tick_params(length=0)
        ax.spines[["top", "right", "bottom"]].set_visible(False)

    def _bars(self, ax: Axes, place: int, record: Record, explained: bool) -> None:
        for k, tier in enumerate(self.tiers):
            if (count := record[tier]) is not None:
                y = place + (k - (len(self.tiers) - 1) / 2) * 0.38
                self._bar(ax, y, count, record.get(f"{tier}, {self.part}"), k)
                mark = record.get(self.mark) if k == self.marked else None
                if mark is not None:
                    ax.plot(mark, y, "D", color="black", markersize=3, zorder=3)
                words, beyond = shown(count) + said(tier) * explained, (mark or 0) > count
                if mark is not None:  # the number of what stands next to the words comes first
                    words = f"{shown(mark)}; bar {words}" if beyond else f"{words}; \N{BLACK DIAMOND} {shown(mark)}"
                if k == len(self.tiers) - 1 and record.get(self.ratio):
                    words += f" ({shown(record[self.ratio])} times)"
                end = mark if mark and beyond else count
                ax.annotate(words, (end, y), (5, 0), textcoords="offset points", va="center", fontsize=SMALL)

    def _bar(self, ax: Axes, y: float, count: float, part: float | None, tier: int) -> None:
        colour = ("white", "0.75", "0.45")[tier if len(self.tiers) > 2 else 2 * tier]
        style: dict[str, Any] = {"height": 0.34, "facecolor": colour, "edgecolor": "black", "linewidth": 0.6}
        ax.barh(y, count - (part or 0), **style)
        if part:
            ax.barh(y, part, left=count - part, hatch=HATCH, **style)


def shown(number: float) -> str:
    """A number beside a bar: whole, or to three digits."""
    return (
        f"{number:,}" if isinstance(number, int) else f"{number:,.{max(0, 2 - math.floor(math.log10(number or 1)))}f}"
    )


def lines(text: str, figure: Figure) -> str:
    """A text on as many lines as it takes below a figure."""
    return "\n".join(textwrap.wrap(text, int(15 * figure.get_figwidth())))


def said(column: str) -> str:
    """What is written behind the first number of a column."""
    return f" as {column}" if column in TIERS else f" {column}"


def below(table: Table, column: str) -> str:
    """The first text of a column, on a line of its own."""
    return f"\n{records(table)[0][column]}" if column and table.rows else ""


@dataclass(frozen=True, slots=True)
class Growth:
    """Operations against size, both logarithmic: a panel for each mechanism and tier, a line for each algorithm.

    Beside a line stand its algorithm and its exponent, fitted to the sizes under its grey band; or, if `linear`, on
    linear axes, its slope. Tiers, `unit` and `about` are as those of `Bars`.
    """

    size: str
    panel: str = "mechanism"
    line: str = "algorithm"
    tiers: tuple[str, ...] = ("published", "emitted")
    linear: bool = False
    unit: str = "operations"
    about: str = ""

    def __call__(self, table: Table) -> Figure:
        """The figure."""
        grouped = panels(table, self.panel)
        lines = dict.fromkeys(str(record[self.line]) for record in records(table))
        figure = canvas(4.6 * len(self.tiers), 2.8 * len(grouped))
        axes = figure.subplots(len(grouped), len(self.tiers), squeeze=False, sharey="row")
        for (title, group), row in zip(grouped.items(), axes, strict=True):
            ends = [self._panel(ax, group, tier, [*lines]) for tier, ax in zip(self.tiers, row, strict=True)]
            for tier, ax, own in zip(
                self.tiers, row, ends, strict=True
            ):  # once the limits, which they share, are known
                beside(ax, own)
                ax.set_title(f"{title},{said(tier)}", loc="left", fontsize=WORDS, fontweight="bold")
                ax.set_xlabel(self.size, fontsize=WORDS)
            row[0].set_ylabel(self.unit, fontsize=WORDS)
        if self.about:
            figure.supxlabel(below(table, self.about).strip(), fontsize=WORDS)
        return figure

    def _panel(
        self, ax: Axes, group: Sequence[Record], tier: str, lines: Sequence[str]
    ) -> list[tuple[float, float, str]]:
        """Lines, and where they end with what to write there."""
        own: dict[str, list[Record]] = {}
        for record in group:
            if record[tier] is not None:
                own.setdefault(record[self.line], []).append(record)
        ends = [self._line(ax, lines.index(name), found, tier) for name, found in own.items()]
        for axis in (ax.set_xscale, ax.set_yscale):
            axis("linear" if self.linear else "log")
        if self.linear:
            ax.set_ylim(bottom=0)
            ax.yaxis.set_major_formatter("{x:,.0f}")
        self._frame(ax, sorted({record[self.size] for record in group if record[tier] is not None}))
        return ends

    def _line(self, ax: Axes, n: int, own: Sequence[Record], tier: str) -> tuple[float, float, str]:
        """The n-th line; where it ends, and what to write there."""
        x, y = [record[self.size] for record in own], [record[tier] for record in own]
        style: dict[str, Any] = {"linestyle": DASHES[n % len(DASHES)], "marker": MARKERS[n % len(MARKERS)]}
        filled = "white" if n % 2 else "black"
        ax.plot(x, y, color="black", linewidth=1.0, markersize=3.5, markerfacecolor=filled, **style)
        name, fit = own[-1][self.line], own[-1].get(f"{tier} {'slope' if self.linear else 'exponent'}")
        if fit is None:
            return x[-1], y[-1], name
        self._band(ax, x[-fitted_sizes(len(x)) :], y[-1], fit)
        return x[-1], y[-1], f"{name}  {self._words(fit)}"

    def _band(self, ax: Axes, fitted: Sequence[float], last: float, fit: float) -> None:
        """What the fit says, through the last count."""
        end = fitted[-1]
        band = [last + fit * (x - end) if self.linear else last * (x / end) ** fit for x in fitted]
        ax.plot(fitted, band, color="0.8", linewidth=5, zorder=0)

    def _words(self, fit: float) -> str:
        return f"${fit:+,.0f}\\,n$" if self.linear else f"$n^{{{fit:.2f}}}$"

    def _frame(self, ax: Axes, sizes: Sequence[int]) -> None:
        ticks = [size for n, size in enumerate(sizes) if n % math.ceil(len(sizes) / 6) == 0 or size == sizes[-1]]
        ax.set_xticks(ticks, [f"{size:g}" for size in ticks], fontsize=SMALL)
        ax.set_xticks([], minor=True)
        ax.tick_params(axis="y", which="both", labelsize=SMALL)
        ax.grid(axis="y", color="0.9", linewidth=0.5)
        ax.spines[["top", "right"]].set_visible(False)


def beside(ax: Axes, ends: Sequence[tuple[float, float, str]]) -> None:
    """Words to the right of axes, one for the end of each line, none over another."""
    if not ends:
        return
    scaled, back = (math.log, math.exp) if ax.get_yscale() == "log" else (float, float)
    low, high = (scaled(limit) for limit in ax.get_ylim())
    height = 72 * ax.bbox.height / ax.figure.dpi  # points
    ordered = sorted(ends, key=lambda end: end[1])
    heights = spread([scaled(y) for _, y, _ in ordered], 1.25 * WORDS * (high - low) / height)
    for (x, y, words), at in zip(ordered, heights, strict=True):
        ax.annotate(
            words,
            (x, y),
            (1.05, back(at)),
            textcoords=ax.get_yaxis_transform(),
            fontsize=WORDS,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": "0.6",
                "linewidth": 0.5,
                "shrinkA": 0,
                "shrinkB": 3,
                "relpos": (0.0, 0.5),  # from the middle of the left edge: through no other words
            },
        )


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Rising places moved apart to at least a gap, groups of them about their means."""
    groups: list[list[float]] = []  # of places that touch
    for place in places:
        groups.append([place])
        while len(groups) > 1 and _top(groups[-2], gap) + gap > _bottom(groups[-1], gap):
            groups[-2:] = [groups[-2] + groups[-1]]
    return [_bottom(group, gap) + gap * n for group in groups for n in range(len(group))]


def _bottom(group: Sequence[float], gap: float) -> float:
    return sum(group) / len(group) - gap * (len(group) - 1) / 2


def _top(group: Sequence[float], gap: float) -> float:
    return _bottom(group, gap) + gap * (len(group) - 1)
