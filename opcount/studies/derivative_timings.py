"""Times of derivatives: adjoints beside the function itself, and loops over columns beside the recursion.

Each build has an empty cache, so that the seconds from a robot to its callable count all that is done. Calls and states
of a batch are timed in C, by turns with what they are compared with; ratios are what to compare.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from codegen import api
from codegen.cli.table import Cell, Table
from codegen.compilation.compiler import toolchain
from codegen.compilation.storage import PEERS, secured
from codegen.progress import each
from opcount.bench.build_dir import BuildDir, sources_of_batches
from opcount.bench.calls import batch, plain
from opcount.bench.race import Scenario, pinned, timed
from opcount.studies.measured import Held
from opcount.studies.study import Study
from opcount.studies.timed import compiler, machine, rounded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from codegen.compilation.runtime import Function
    from opcount.bench.race import Contestant

ROBOTS = ("iiwa", "go1", "talos", "atlas_shadow")
FORMS = ("", "jvp", "vjp")

HANDS = Held("atlas_shadow", ("l_foot", "r_foot"))
BY_COLUMNS = ("rnea_derivatives", "aba_derivatives", "pv_derivatives")
WAYS: dict[str, tuple[str, ...]] = {"loops": (), "recursion": ("column_loops",)}

STATES, SECONDS = 64, 0.3


@dataclass(frozen=True, slots=True)
class Built:
    """A callable of a robot, and the seconds from the robot to it."""

    held: Held
    function: Function
    seconds: float

    def __str__(self) -> str:
        return f"{self.function.name} in {self.seconds:.1f} s"

    @property
    def megabytes(self) -> float:
        """Of the longest source."""
        return max(len(text) for name, text in self.function.artifact.files if name.endswith(".c")) / 1e6

    def contestants(self) -> tuple[Contestant, Contestant]:
        """Its C, as callables are compiled: one state in a call, and all in one."""
        made, tool, build_dir = self.function.artifact, compiler(), BuildDir(secured() / PEERS)
        command, files = [tool.c, *toolchain(compiler=tool.c).flags], dict(made.files)
        one = build_dir.shared(made.symbol, command, files, f"{made.symbol}.c")
        many = build_dir.shared(f"{made.symbol}_lanes", command, files, *sources_of_batches(files, made.symbol))
        given, widths = (self.scenario(), build_dir.driver(tool)), [port.size for port in made.outputs]
        every = batch(str(self), *given, many, f"{made.symbol}_aos", widths, made.work)
        return plain(str(self), *given, one, made.symbol, widths), every

    def scenario(self) -> Scenario:
        """Random states, directions and weights."""
        model, rng, ports = self.held.model(), np.random.default_rng(0), self.function.inputs
        q = np.stack([model.random(rng)[0] for _ in range(STATES)])
        values = tuple(q if port.name == "q" else rng.standard_normal((STATES, port.size)) for port in ports)
        return Scenario(model, self.function.name, tuple(port.name for port in ports), values, (), self.held.steps)


def built(held: Held, algorithm: str, **options: Any) -> Built:
    """With a cache of its own."""
    with tempfile.TemporaryDirectory() as cache, patch.dict(os.environ, {"RIGIDC_CACHE": cache}):
        start = time.perf_counter()
        function = api.build(held.model(), algorithm, **held.options, **options)
        return Built(held, function, time.perf_counter() - start)


def times(made: Sequence[Built]) -> tuple[list[float], list[float]]:
    """Microseconds of calls and of states of a batch, all by turns."""
    singly, together = zip(*[own.contestants() for own in made], strict=True)
    with pinned():
        found = np.median(timed([*singly, *together], SECONDS), axis=0) / 1e3
    return found[: len(made)].tolist(), found[len(made) :].tolist()


def adjoints(quick: bool = False, _executor: Executor | None = None) -> Table:
    """One row per robot: products of derivatives of aba against aba, operations, calls and states of a batch."""
    rows: list[tuple[Cell, ...]] = []
    for robot in each(ROBOTS[: 1 if quick else None], str):
        made = [built(Held(robot, ()), "aba", derivative=form) for form in FORMS]
        counts = [own.function.count.total for own in made]
        calls, states = times(made)
        ratios = [round(x / own[0], 2) for own in (counts, calls, states) for x in own[1:]]
        rows.append((robot, *map(rounded, (calls[0], states[0])), *ratios, machine(peer=False)))
    names = [f"{form} {what}" for what in ("operations", "call", "batch") for form in FORMS[1:]]
    return Table(("robot", "aba us", "aba us in a batch", *names, "machine"), tuple(rows))


def loops(quick: bool = False, _executor: Executor | None = None) -> Table:
    """Two rows per algorithm: by loops and by recursion, operations, microseconds, seconds of the build, MB of C."""
    rows: list[tuple[Cell, ...]] = []
    for algorithm in each(BY_COLUMNS[: 1 if quick else None], str):
        held = HANDS if algorithm.startswith("pv") else Held(HANDS.robot, ())
        made = [built(held, algorithm, without=without) for without in WAYS.values()]
        for way, own, *found in zip(WAYS, made, *times(made), strict=True):
            size = round(own.seconds, 1), round(own.megabytes, 2)
            rows.append((algorithm, way, own.function.count.total, *map(rounded, found), *size, machine(peer=False)))
    columns = ("algorithm", "way", "operations", "call us", "batch us", "build s", "MB of C", "machine")
    return Table(columns, tuple(rows))


ADJOINTS = Study("directional and adjoint products of aba, times those of aba", "", adjoints, long=True)
LOOPS = Study("derivatives of 84 degrees of freedom by loops over columns and by recursion", "", loops, long=True)
