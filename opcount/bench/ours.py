"""Our own part: the generated folder compiled as it stands, one state per call, and the callable on batches."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import codegen
from codegen.cli.samples import samples
from codegen.compiler import toolchain
from opcount.bench.calls import plain
from opcount.bench.contest import Contestant
from opcount.bench.workshop import environment

if TYPE_CHECKING:
    from opcount.bench.contest import Scenario
    from opcount.bench.workshop import Compiler, Workshop

BATCH = 1024
"""States in one call of the batch column: long enough that Python's part of the call is small."""


def single(scenario: Scenario, compiler: Compiler, workshop: Workshop) -> Contestant:
    """One state per call of the C function, compiled with the flags that our callables are compiled with."""
    model, algorithm = scenario.model, scenario.algorithm
    prefix = f"bench_{model.name}"
    with tempfile.TemporaryDirectory() as folder:
        written = codegen.generate(model, [algorithm], Path(folder, "generated"), prefix=prefix)
        files = {path.name: path.read_text(encoding="utf-8") for path in written if path.suffix in (".c", ".h")}
    del files["example.c"]
    flags = toolchain(compiler=compiler.c).flags
    library = workshop.shared(f"{model.name}_{algorithm}_{compiler.family}", [compiler.c, *flags], files)
    symbol = next(Path(name).stem for name in files if name.endswith(f"_{algorithm}.c"))
    width = codegen.build(model, algorithm).outputs[0].size
    return plain(f"rigidc {compiler.family}", scenario, workshop.driver(compiler), library, symbol, width)


def batch(scenario: Scenario, compiler: Compiler) -> Contestant:
    """Many states per call of the callable, with preallocated results; Python's part is counted."""
    with environment("RIGIDC_CC", compiler.c):
        function = codegen.build(scenario.model, scenario.algorithm)
    first = scenario.inputs
    more = samples(scenario.model, scenario.names, 0, (), BATCH - len(first[0]), 1)
    arrays = [np.ascontiguousarray(np.concatenate(pair)) for pair in zip(first, more, strict=True)]
    out = function(*arrays)

    def run(rounds: int) -> float:
        function(*arrays, out=out)
        start = time.perf_counter_ns()
        for _ in range(rounds):
            function(*arrays, out=out)
        return float(time.perf_counter_ns() - start)

    results = np.array(out).reshape(BATCH, -1)[: scenario.states].copy()
    return Contestant(f"rigidc {compiler.family}, batch", run, BATCH, results)
