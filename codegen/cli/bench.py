"""Time compiled algorithms.

`kernel`: nanoseconds per state when the compiled batch entry runs over thousands of states in one
call, so that Python's part in it is small (states fill SIMD lanes); `call`: nanoseconds of one
call from Python on one state with preallocated outputs, checking of the arguments included. One
thread unless --threads says otherwise; states are random and lie in the processor's caches. Each
figure is the median over many repetitions, with the 10th and 90th percentiles; on a machine that
does other work too, compare medians of one run only.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from codegen.cli.options import add_algorithms, add_build, add_formats, add_robot, at_least, seconds
from codegen.cli.requests import algorithms, build_options, load, resolved, unless_unsuited
from codegen.cli.table import Cell, Table, shown_if_ended
from codegen.progress import doing, each

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

EXAMPLES = """\
  rigidc bench talos -a rnea -a aba
  rigidc bench atlas -a aba --dtype float32 --json
  rigidc bench talos -a pv --contact left_sole_link:6 --contact right_sole_link:6
"""

FIGURES = ("median", "p10", "p90")
HEADER = ("robot", "algorithm", *(f"kernel ns {f}" for f in FIGURES), *(f"call ns {f}" for f in FIGURES))
MANY = 4096  # states in one call: a batch is repeated until there are as many
CALLS = 100  # Python calls between two readings of the clock
FEWEST, MOST = 20, 2000  # repetitions


@dataclass(frozen=True, slots=True)
class Spread:
    """Median, 10th and 90th percentile of a time in nanoseconds."""

    median: float
    p10: float
    p90: float

    def __str__(self) -> str:
        return f"{self.median:.0f} ns ({self.p10:.0f}..{self.p90:.0f})"


def configure(parser: argparse.ArgumentParser) -> None:
    """Robots, algorithms, batch size, seconds, build options, --json, --csv."""
    add_robot(parser, several=True)
    add_algorithms(parser)
    parser.add_argument("-n", "--states", type=at_least(1), default=256, metavar="N", help="states in a batch (256)")
    parser.add_argument("--seconds", type=seconds, default=0.5, metavar="S", help="time to spend on each figure (0.5)")
    parser.add_argument(
        "--target",
        choices=("native", "x86-64-v3", "portable"),
        default="native",
        help="processors to compile for: this one (native, the default), all with AVX2, or all of this architecture",
    )
    parser.add_argument("--threads", type=at_least(1), default=1, metavar="N", help="threads that share a batch (1)")
    add_build(parser)
    add_formats(parser, csv=True)


def run(args: argparse.Namespace) -> int:
    """Print the times."""
    names = algorithms(args)
    models = {robot: load(args, robot) for robot in args.robots}
    work = [(robot, name) for robot in args.robots for name in resolved(args, names, models[robot])]
    rows: list[tuple[Cell, ...]] = []
    with shown_if_ended(HEADER, rows, args.form):
        for robot, name in each(work, lambda pair: f"{pair[1]} of {models[pair[0]].name}"):
            options = {**build_options(args, name), "target": args.target}
            measure = partial(times, models[robot], name, args.states, args.seconds, options, args.threads)
            timed = unless_unsuited(args, name, measure)
            if timed is not None:
                figures = [round(getattr(spread, f), 1) for spread in timed for f in FIGURES]
                rows.append((models[robot].name, name, *figures))
    table = Table(HEADER, tuple(rows))
    sys.stdout.write(getattr(table, args.form or "text")())
    if args.form is None:
        threads = "one thread" if args.threads == 1 else f"{args.threads} threads"
        print(f"\nkernel: per state of a batch of {args.states}, repeated, {threads}; call: one state from Python")
    return 0


def times(
    robot: Any, name: str, states: int, duration: float, options: dict[str, Any], threads: int = 1
) -> tuple[Spread, Spread]:
    """Kernel time per state in a batch, and the time of one Python call, both in nanoseconds."""
    import numpy as np

    from codegen import api
    from codegen.cli.samples import arguments

    function = api.build(robot, name, **options).with_status()  # random states may be singular
    _, values = arguments(robot, function, options, states, 0)
    one = [value.astype(options["dtype"]) for value in values]
    single = [value[0].copy() for value in one]
    repeats = -(-MANY // states)
    batch = [np.concatenate([value] * repeats) for value in one]
    batch_out, single_out = function(*batch), function(*single)

    def call_often() -> None:
        for _ in range(CALLS):
            function(*single, out=single_out)

    with doing("timing"):
        kernel = spread(lambda: function(*batch, out=batch_out, threads=threads), states * repeats, duration)
        return kernel, spread(call_often, CALLS, duration)


def spread(work: Callable[[], object], parts: int, duration: float) -> Spread:
    """How long one of `parts` equal parts of `work` takes, repeated for `duration` seconds."""
    import numpy as np

    work()
    readings: list[float] = []
    end = time.perf_counter() + duration
    while len(readings) < FEWEST or (time.perf_counter() < end and len(readings) < MOST):
        start = time.perf_counter_ns()
        work()
        readings.append((time.perf_counter_ns() - start) / parts)
    p10, median, p90 = np.percentile(readings, [10, 50, 90])
    return Spread(float(median), float(p10), float(p90))
