"""Functions as an optimiser calls them: rigidc's C through CasADi, beside CasADi's own derivatives of the same graph.

Both are the operations as emitted. The peer is what a user of CasADi has: the Jacobian, and the Hessian of a weighted
sum, of an SX function by algorithmic differentiation; in CasADi's virtual machine, and as C that CasADi generates,
built by the same compiler. Where Pinocchio's headers are, so are its own expressions of `rnea` and `aba` over SX. All
are called through CasADi at the same random states, in turns, and must agree. Times are of the processor.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import codegen
from codegen.cli.table import Cell, Table
from codegen.compilation.storage import PEERS, secured
from codegen.errors import BuildError, RobotError
from codegen.ocp.compiled import compiled
from codegen.progress import each, note, shown
from opcount.bench.build_dir import Absent, BuildDir, compilers
from opcount.bench.contact_scenarios import SCENARIOS
from opcount.bench.pinocchio_casadi import expressions
from opcount.bench.race import Contestant, disagreement, pinned, spread, timed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import casadi
    from numpy.typing import NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]

ROWS = ("iiwa aba 2", "go1 aba 2", "go1 rnea 2", "go1 F3^4 pv 1", "talos rnea 1")
"""Robots or robots with contacts, algorithms, and the highest order of their derivatives."""

STATES = 16
NEAR = 1e-7  # relative to the largest entry
LONGEST = 60_000  # instructions of Pinocchio's that are compiled: more take many minutes
CALLED = ("CasADi C", "virtual machine", "Pinocchio C", "its machine")
HEADER = (
    "function",
    "gives",
    "rigidc us",
    *(f"{word}{' ' * n}" for n, p in enumerate(CALLED) for word in (f"{p} us", "times")),
)
BUILDS = ("function", "rigidc s", "CasADi C s", "rigidc kB", "CasADi C kB")
GIVES = ("value", "Jacobian", "Hessian")


@dataclass(frozen=True, slots=True)
class Made:
    """A function and its derivatives up to some order, the seconds that their build took, and the bytes of their C."""

    label: str
    functions: tuple[casadi.Function | None, ...]
    seconds: float
    size: int

    def __str__(self) -> str:
        return f"{self.label}: {len(self.functions)} functions, {self.seconds:.1f} s, {self.size} bytes"


@shown()
def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench; 1 if results disagree, 2 if there is nothing to run."""
    parser = argparse.ArgumentParser(prog="python -m opcount.bench.solvers", description=__doc__)
    parser.add_argument("rows", nargs="*", default=ROWS, help=f"({', '.join(ROWS)})")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="time for each race (1)")
    args = parser.parse_args(argv)
    raced, built, wrong = list[tuple[Cell, ...]](), list[tuple[Cell, ...]](), list[str]()
    try:
        for row in each(args.rows, str):
            peers = made(row)
            name = row.rpartition(" ")[0]
            sizes = (f"{peer.size / 1e3:.0f}" for peer in peers[:2])
            built.append((name, *(f"{peer.seconds:.1f}" for peer in peers[:2]), *sizes))
            for gives, *functions in zip(GIVES, *(peer.functions for peer in peers), strict=False):
                times, apart = race(functions, args.seconds)
                raced.append((name, gives, *times))
                wrong += [f"{gives} of {name}: results differ by {apart:.1g}"] * (apart > NEAR)
    except (BuildError, RobotError, ValueError) as error:
        note(f"bench: {error}")
        return 2
    print(f"{Table(HEADER, tuple(raced)).text()}\n{Table(BUILDS, tuple(built)).text()}")
    print("\n".join([f"medians of the processor's time at {STATES} random states, called through CasADi", *wrong]))
    return 1 if wrong else 0


def made(row: str) -> tuple[Made, ...]:
    """Our functions, and those of CALLED (None where one takes no part); ValueError for a row that is none."""
    what, _, order = row.rpartition(" ")
    robot, _, algorithm = what.rpartition(" ")
    if not robot or order not in ("0", "1", "2"):
        raise ValueError(f"{row!r}: write ROBOT ALGORITHM ORDER, for instance {ROWS[0]!r}")
    name, contacts = SCENARIOS.get(robot, (robot, None))
    model = codegen.load(name)
    with fresh() as folder:
        begun = time.perf_counter()
        ours = codegen.to_casadi(model, algorithm, contacts=contacts, derivatives=int(order))
        first = Made("rigidc", chain(ours, int(order)), time.perf_counter() - begun, written(folder))
    with fresh() as folder:
        begun = time.perf_counter()
        plain = chain(codegen.to_casadi(model, algorithm, contacts=contacts, expand=True), int(order))
        second = Made("C", tuple(map(compiled, plain)), time.perf_counter() - begun, written(folder))
    return first, second, Made("virtual machine", plain, 0.0, 0), *through_pinocchio(model, algorithm, int(order))


def through_pinocchio(model: Model, algorithm: str, order: int) -> tuple[Made, Made]:
    """Pinocchio's expressions and CasADi's derivatives of them, as C where they are not too long, and as they are."""
    try:
        value = expressions(model, algorithm, compilers()[-1], BuildDir(secured() / PEERS))
    except Absent as sentence:
        note(f"bench: without Pinocchio through CasADi ({sentence})")
        none = Made("none", (None,) * (order + 1), 0.0, 0)
        return none, none
    plain = chain(value, order)
    with fresh():
        short = tuple(compiled(one) if one.n_nodes() <= LONGEST else None for one in plain)
    return Made("Pinocchio C", short, 0.0, 0), Made("its machine", plain, 0.0, 0)


@contextmanager
def fresh() -> Iterator[Path]:
    """An empty build cache for a while."""
    before = os.environ.get("RIGIDC_CACHE")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ["RIGIDC_CACHE"] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ["RIGIDC_CACHE"]
            os.environ.update({"RIGIDC_CACHE": before} if before else {})


def written(folder: Path) -> int:
    """The bytes of C in a cache."""
    return sum(path.stat().st_size for path in folder.rglob("*.c"))


def chain(function: casadi.Function, order: int) -> tuple[casadi.Function, ...]:
    """A function, its Jacobian, and that of its adjoint, up to an order."""
    found: list[Any] = [function]
    if order > 0:
        found.append(found[0].jacobian())
    if order > 1:
        found.append(found[0].reverse(1).jacobian())
    return tuple(found)


def race(functions: Sequence[casadi.Function | None], seconds: float) -> tuple[tuple[Cell, ...], float]:
    """Microseconds and ratios of functions that are equal (empty for None), and by how much their results differ."""
    rng, first = np.random.default_rng(0), next(filter(None, functions))
    given = [rng.standard_normal((STATES, first.numel_in(n))) for n in range(first.n_in())]
    contestants = {n: contestant(function, given) for n, function in enumerate(functions) if function is not None}
    with pinned():
        readings = timed([*contestants.values()], seconds)
    columns = dict(zip(contestants, readings.T, strict=True))
    cells = [f"{spread(columns[0]).median / 1e3:.3g}"]
    for n in range(1, len(functions)):
        column = columns.get(n)
        cells += (
            ["", ""]
            if column is None
            else [f"{spread(column).median / 1e3:.3g}", f"{spread(column / columns[0]).median:.1f}"]
        )
    ours, *peers = contestants.values()
    return tuple(cells), max(disagreement(peer, ours) for peer in peers)


def contestant(function: casadi.Function, given: Sequence[Array]) -> Contestant:
    """A function at all states in one call: `given` are its arguments as dense columns (states x size)."""
    mapped: Any = function.map(STATES)
    buffer, call = mapped.buffer()
    kept = [np.ascontiguousarray(x[:, function.sparsity_in(n).find()]) for n, x in enumerate(given)]
    results = [np.zeros((STATES, function.nnz_out(n))) for n in range(function.n_out())]
    for n, x in enumerate(kept):
        buffer.set_arg(n, x.reshape(-1).data)
    for n, y in enumerate(results):
        buffer.set_res(n, y.reshape(-1).data)
    call()
    whole = [np.zeros((STATES, function.numel_out(n))) for n in range(function.n_out())]
    for n, y in enumerate(results):
        whole[n][:, function.sparsity_out(n).find()] = y

    def run(rounds: int, _alive: Any = (mapped, buffer, kept, results)) -> float:  # CasADi knows their addresses alone
        call()
        begun = time.process_time_ns()
        for _ in range(rounds):
            call()
        return float(time.process_time_ns() - begun)

    return Contestant(function.name(), run, STATES, np.hstack(whole))


if __name__ == "__main__":
    sys.exit(main())
