"""How long it takes from a model to its callable, by every compiler found here, and how much memory.

Each build has a process and an empty cache of its own, modules and the model loaded. `graph` is tracing and passes,
`whole` all until the callable is there: medians of several builds, in seconds. One core stands for a laptop that has
something else to do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from codegen import api
from codegen.cli.table import Cell, Table
from codegen.progress import each
from opcount.bench.build_dir import compilers
from opcount.studies.accuracy import SCENARIOS
from opcount.studies.measured import Held
from opcount.studies.study import Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opcount.bench.build_dir import Compiler


@dataclass(frozen=True, slots=True)
class Build:
    """What to build: a scenario by name, an algorithm, and whether on one core only."""

    scenario: str
    algorithm: str
    alone: bool = False

    def __str__(self) -> str:
        return f"{self.algorithm} of {self.scenario}{', one core' * self.alone}"

    @property
    def held(self) -> Held:
        """The robot, and its contacts if the name is a scenario's."""
        return SCENARIOS.get(self.scenario, Held(self.scenario, ()))


FINGERS = "atlas_shadow F6^2 T3^10"
HELD = ("constrained_aba", "caba_osim", "efpa", "pv")
BUILDS = (
    *(Build(robot, algorithm) for robot in ("talos", "atlas_shadow") for algorithm in ("rnea", "aba")),
    *(Build(FINGERS, algorithm, alone=True) for algorithm in HELD),
)
RUNS = 5

_PROGRAM = f"import sys; from {__name__} import Build, timed; print(*timed(Build(*sys.argv[1:3], bool(sys.argv[3:]))))"


def table(builds: Sequence[Build] = BUILDS, runs: int = RUNS) -> Table:
    """One row per compiler and build: seconds until the graph and until the callable are there, and MiB at most."""
    rows: list[tuple[Cell, ...]] = []
    work = [(compiler, build) for compiler in compilers() for build in builds]
    for compiler, build in each(work, lambda pair: f"{pair[1]} with {pair[0]}"):
        found = [_apart(build, compiler) for _ in range(runs)]
        graph, whole, memory = (median(column) for column in zip(*found, strict=True))
        cores = 1 if build.alone else os.cpu_count()
        times = round(graph, 2), round(whole, 2), round(memory)
        rows.append((str(compiler), build.scenario, build.algorithm, cores, *times))
    return Table(("compiler", "scenario", "algorithm", "cores", "graph", "whole", "MiB"), tuple(rows))


def _apart(build: Build, compiler: Compiler) -> tuple[float, float, float]:
    """Seconds and MiB of one build in a process of its own."""
    with tempfile.TemporaryDirectory() as cache:
        said = subprocess.run(
            [sys.executable, "-c", _PROGRAM, build.scenario, build.algorithm, *["alone"] * build.alone],
            env={**os.environ, "RIGIDC_CACHE": cache, "RIGIDC_CC": compiler.c, "RIGIDC_PROGRESS": "0"},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    graph, whole, memory = map(float, said.stdout.split())
    return graph, whole, memory


def timed(build: Build) -> tuple[float, float, float]:
    """The same in this process; only the first time in it counts."""
    import resource

    if build.alone and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    robot, contacts = build.held.model(), build.held.contacts
    start = time.perf_counter()
    api.graphs(robot, build.algorithm, contacts=contacts)
    graph = time.perf_counter() - start
    api.build(robot, build.algorithm, contacts=contacts)  # takes the graph that is there
    whole = time.perf_counter() - start
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return graph, whole, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


STUDY = Study(
    "from a model to its callable: seconds and memory",
    "",
    lambda quick, executor: table(BUILDS[: 1 if quick else None], 1 if quick else RUNS),
    long=True,
)
