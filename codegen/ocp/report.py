"""What the solves of a closed loop were like: lines of a table, and axes of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codegen.ocp.horizon import Spent


def print_table(said: Mapping[str, str]) -> None:
    """A line of each."""
    for what, value in said.items():
        print(f"{what:32}{value}")


def of_solves(solves: Sequence[Spent], period: float, seconds: float) -> dict[str, str]:
    """How many solves there were, how long they took, and how many took longer than a period or failed."""
    functions, total = (1e3 * np.array([getattr(x, name) for x in solves]) for name in ("functions", "total"))
    half, most = np.percentile(total, [50, 99])
    return {
        "solves": f"{len(solves)} in {seconds:.2f} s, {len(solves) / seconds:.1f} Hz",
        "time of a solve": f"median {half:.2f} ms, 99 % {most:.2f} ms, longest {total.max():.2f} ms",
        "of which in functions": f"median {np.median(functions):.2f} ms",
        f"missed deadlines ({1e3 * period:g} ms)": f"{np.sum(total > 1e3 * period)}",
        "failed solves": f"{sum(not x.solved for x in solves)}",
    }


def draw_solves(axis: Any, solves: Sequence[Spent], period: float) -> None:
    """The time of every solve, and of functions in it."""
    names = ("begun", "total", "functions", "solved")
    begun, total, functions, solved = (np.array([getattr(x, name) for x in solves]) for name in names)
    axis.plot(begun, 1e3 * total, "C0.", ms=2, label="a solve")
    axis.plot(begun, 1e3 * functions, "C1.", ms=2, label="functions in it")
    axis.plot(begun[~solved], 1e3 * total[~solved], "kx", ms=8, label=f"failed ({np.sum(~solved)})")
    axis.axhline(1e3 * period, color="k", ls=":", lw=1.2, label="period")
    axis.set(ylabel="time (ms)", xlabel="time (s)", ylim=(0, 1.1e3 * max(*total, period)))


def draw_events(axes: Iterable[Any], pushes: Sequence[float], lasts: float, falls: Sequence[float]) -> None:
    """Pushes as bars, falls as lines, and legends on the right."""
    for axis in axes:
        for number, push in enumerate(pushes):
            axis.axvspan(push, push + lasts, color="C3", alpha=0.3, lw=0, label=None if number else "push")
        for number, fall in enumerate(falls):
            axis.axvline(fall, color="k", lw=2, label=None if number else "fall")
        if axis.get_legend_handles_labels()[0]:
            axis.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")
