"""Operations against measured time: constrained dynamics as published and as emitted, all compiled in the same way.

An algorithm is on the front of a robot if no other takes fewer operations and less time. Listings of more operations
than compilers take in reasonable time are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.algorithms import ALGORITHMS as REGISTRY
from codegen.cli.table import Cell, Table
from opcount.studies.drawing import SMALL, WORDS, below, beside, canvas, lines, panels
from opcount.studies.measured import PAPER, Case, Held, measure
from opcount.studies.study import Study
from opcount.studies.timed import Timing, compiled, machine, rounded, run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from codegen.tracing.task import Tier
    from opcount.studies.drawing import Record

ROBOTS = {name: PAPER[name] for name in ("iiwa H6", "go1 F3 x4", "talos F6^2")}
ALGORITHMS = tuple(name for name, one in REGISTRY.items() if one.group == "constrained" and name != "pv_soft")
SHOWN: tuple[Tier, ...] = ("published", "emitted")
LONGEST = 24_000


@dataclass(frozen=True, slots=True)
class Weighed:
    """Robots with contacts by names; makes the table of operations and times. Quick is the first robot alone."""

    robots: Mapping[str, Held]

    def __call__(self, quick: bool = False, executor: Executor | None = None) -> Table:
        """One row per robot, algorithm and tier: operations, microseconds, nanoseconds per operation."""
        robots = dict([*self.robots.items()][: 1 if quick else None])
        counts = measure((Case(held, name, SHOWN) for held in robots.values() for name in ALGORITHMS), executor)
        work = {
            (name, algorithm, tier): Timing(held, algorithm, tier)
            for name, held in robots.items()
            for algorithm in ALGORITHMS
            for tier in SHOWN
            if counts[held, algorithm].get(tier, LONGEST) < LONGEST
        }
        made = compiled([*work.values()])
        rows: list[tuple[Cell, ...]] = []
        for name, held in robots.items():
            own = {f"{algorithm} {tier}": one for (robot, algorithm, tier), one in work.items() if robot == name}
            times = run(own, made, {})
            points = {label: (counts[held, one.algorithm][one.tier], times[label]) for label, one in own.items()}
            for label, (count, time) in points.items():
                front = "" if any(beats(other, (count, time)) for other in points.values()) else "yes"
                each = rounded(1e3 * time / count)
                rows.append((name, *label.split(), count, rounded(time), each, front, machine()))
        header = ("robot", "algorithm", "tier", "operations", "microseconds", "ns per operation", "front", "machine")
        return Table(header, tuple(rows))


def beats(one: tuple[int, float], other: tuple[int, float]) -> bool:
    """Whether one takes no more operations and no more time, and less of either."""
    return one != other and one[0] <= other[0] and one[1] <= other[1]


def figure(table: Table) -> Figure:
    """A panel per robot, both axes logarithmic: a line from an algorithm as published to the same as emitted."""
    grouped = panels(table, "robot")
    columns, height = min(2, len(grouped)), (len(grouped) + 1) // 2
    whole = canvas(5.0 * columns, 3.8 * height)
    axes = whole.subplots(height, columns, squeeze=False).ravel()
    for ax in axes[len(grouped) :]:
        ax.remove()
    for (robot, rows), ax in zip(grouped.items(), axes, strict=False):
        ax.set_xscale("log")
        ax.set_yscale("log")
        ends = [_line(ax, rows, name) for name in dict.fromkeys(row["algorithm"] for row in rows)]
        front = sorted((row["operations"], row["microseconds"]) for row in rows if row["front"])
        ax.plot(*zip(*front, strict=True), color="black", linewidth=1.6)
        ax.margins(y=0.25)
        ax.set_title(robot, loc="left", fontsize=WORDS, fontweight="bold")
        ax.set_xlabel("operations", fontsize=WORDS)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter("{x:,g}")
            axis.set_minor_formatter("{x:,g}")
        ax.tick_params(which="both", labelsize=SMALL)
        ax.spines[["top", "right"]].set_visible(False)
        beside(ax, ends)
    whole.supylabel("microseconds", fontsize=WORDS)
    said = "circles: as published; dots: as emitted; black line: the front"
    whole.supxlabel(lines(said, whole) + below(table, "machine"), fontsize=WORDS)
    return whole


def _line(ax: Axes, rows: Sequence[Record], algorithm: str) -> tuple[float, float, str]:
    """The points of an algorithm; where the last one is, and what to write there."""
    own = [row for row in rows if row["algorithm"] == algorithm]
    x, y = [row["operations"] for row in own], [row["microseconds"] for row in own]
    ax.plot(x, y, color="0.75", linewidth=0.8, zorder=1)
    for row in own:
        filled = "black" if row["tier"] == "emitted" else "white"
        ax.plot(row["operations"], row["microseconds"], "o", color="black", markerfacecolor=filled, markersize=4)
    return x[-1], y[-1], algorithm


STUDY = Study(
    "operations against time: constrained dynamics as published and as emitted",
    "",
    Weighed(ROBOTS),
    figure,
    f"Listings of {LONGEST:,} operations or more are left out. Times are of the machine that the last column names.",
)
