"""Times of compiled C beside Pinocchio's C++, for studies: all of one robot in one run, turn by turn on one core.

`opcount.bench` makes and times them. C is written and compiled once for its content, several functions at a time; times
are measured anew in every run. Times differ from machine to machine, and a busy one makes all of them longer: ratios
are what to compare.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen import api
from codegen.compilation.compiler import toolchain
from codegen.compilation.storage import PEERS, secured
from codegen.errors import RobotError
from codegen.model.contacts import contact_of
from codegen.progress import each
from opcount.bench import pinocchio_peer
from opcount.bench.build_dir import Absent, BuildDir, compilers, processor_name
from opcount.bench.calls import plain
from opcount.bench.race import disagreement, pinned, scenario, timed
from opcount.store import opened
from opcount.studies.measured import Case, content

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codegen.tracing.task import Tier
    from opcount.bench.build_dir import Compiler
    from opcount.bench.race import Contestant, Scenario
    from opcount.studies.measured import Held

STATES, SECONDS = 16, 0.3
OURS, PINOCCHIO = "rigidc", "Pinocchio"
Times = dict[str, float]
"""Microseconds per call, by what was timed."""


@dataclass(frozen=True, slots=True)
class Timing:
    """An algorithm of a robot with contacts as C of a tier, to be timed."""

    held: Held
    algorithm: str
    tier: Tier = "emitted"

    def __str__(self) -> str:
        return f"{self.algorithm} of {self.held}, as {self.tier}"

    def scenario(self, states: int = STATES) -> Scenario:
        """The random states that it is timed on; equal ones for all algorithms of a robot with contacts."""
        model = self.held.model()
        contacts = tuple(contact_of(model, text) for text in self.held.contacts)
        names = tuple(port.name for port in api.task(model, self.algorithm, **self.held.options).signature[0])
        return scenario(model, self.algorithm, names, states, contacts, self.held.steps)


@dataclass(frozen=True, slots=True)
class Compiled:
    """The shared object of a timing, the function's symbol in it and the sizes of its results."""

    library: Path
    symbol: str
    widths: tuple[int, ...]


def compiler() -> Compiler:
    """The compiler of both sides: the first there is. RobotError if there is none."""
    found = compilers()
    if not found:
        raise RobotError("timings need a C compiler; install clang or gcc, or set RIGIDC_CC to the path of one")
    return found[0]


@cache
def machine(peer: bool = True) -> str:
    """What the times are of: processor and compiler, and Pinocchio's version where it takes part."""
    if not peer:
        return f"{processor_name()}, {compiler()}"
    try:
        beside = f"Pinocchio {version('pin')}"
    except PackageNotFoundError:
        beside = "Pinocchio is not installed"
    return f"{processor_name()}, {compiler()}, {beside}"


def compiled(work: Sequence[Timing]) -> dict[Timing, Compiled]:
    """The shared objects of timings, compiled on this machine, which times them: by a process for each processor."""
    unique, tool = list(dict.fromkeys(work)), compiler()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        futures = [pool.submit(_compiled, one, tool) for one in unique]
        found = zip(each(unique, lambda one: f"compiling {one}"), futures, strict=True)
        return {one: future.result() for one, future in found}


def _compiled(one: Timing, tool: Compiler) -> Compiled:
    files, symbol, widths = _source(one)
    command = [tool.c, *toolchain("native", compiler=tool.c).flags]
    library = BuildDir(secured() / PEERS).shared(symbol, command, files, f"{symbol}.c")
    return Compiled(library, symbol, tuple(widths))


def _source(one: Timing) -> tuple[dict[str, str], str, list[int]]:
    """The C of a timing, from the store of counts if it is there; the function's symbol, and sizes of its results."""
    store, model = opened(), one.held.model()
    what = f"source {content(Case(one.held, one.algorithm), one.tier)}"
    kept: Any = next(iter(store.kept(what)), None)
    if kept is None:
        options = {**one.held.options, "tier": one.tier}
        with TemporaryDirectory() as place:
            paths = api.generate(model, [one.algorithm], place, prefix="timed", **options)
            files = {path.name: path.read_text(encoding="utf-8") for path in paths if path.suffix in (".c", ".h")}
        widths = [port.size for port in api.graphs(model, one.algorithm, **options)[1].outputs]  # with a status
        kept = [files, f"timed_{one.algorithm}", widths]
        store.keep(what, kept)
    files, symbol, widths = kept
    return files, symbol, widths


def run(
    ours: Mapping[str, Timing], made: Mapping[Timing, Compiled], peers: Mapping[str, Timing], more: Sequence[str] = ()
) -> Times:
    """Times of our functions, by labels, and of Pinocchio's that do what the timings `peers` do, all in one run.

    Pinocchio's are called as a peer's label and their own, as in "3 cABA"; `more` are further ones by their names in
    the peer's shared object. Who differs from our first after all steps is left out; after fewer all may differ.
    """
    tool, build_dir = compiler(), BuildDir(secured() / PEERS)
    known: dict[str, Contestant] = {}
    for label, one in ours.items():
        own = made[one]
        known[label] = plain(label, one.scenario(), build_dir.driver(tool), own.library, own.symbol, own.widths)
    most = max((one.held.steps for one in peers.values()), default=0)
    for label, one in peers.items():
        given = one.scenario()
        for peer in _peers(given, tool, build_dir, more):
            first = next(own for name, own in known.items() if ours[name].held == one.held)
            if one.held.steps < most or disagreement(peer, first) <= given.tolerance:
                known[f"{label}{peer.label.partition(',')[2]}"] = peer
    with pinned():
        readings = timed([*known.values()], SECONDS)
    return dict(zip(known, (float(x) / 1e3 for x in np.median(readings, axis=0)), strict=True))


def _peers(given: Scenario, tool: Compiler, build_dir: BuildDir, more: Sequence[str]) -> Iterable[Contestant]:
    try:
        return pinocchio_peer.contestants(given, tool, build_dir, tuple(more))
    except Absent:
        return ()


def rounded(time: float | None) -> float | None:
    """A time to three digits."""
    return None if time is None else float(f"{time:.3g}")
