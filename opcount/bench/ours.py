"""Our own part: one state per call, and all states in one call, in SIMD lanes: states in rows, or in columns.

The C of a callable takes part as callables are compiled, an emitted folder as its user would compile it, and what has
zeros among its results without storing them, too, as Pinocchio: with results that are zero at first, and sparse ones.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import codegen
from codegen.compilation.compiler import machine_flags, toolchain
from codegen.ir.names import identifier
from opcount.bench.build_dir import sources_of_batches
from opcount.bench.calls import batch, plain

if TYPE_CHECKING:
    from codegen.compilation.runtime import Function
    from codegen.model import Contact, Model
    from opcount.bench.build_dir import BuildDir, Compiler
    from opcount.bench.race import Contestant, Scenario


def contestants(scenario: Scenario, compiler: Compiler, build_dir: BuildDir) -> tuple[Contestant, ...]:
    """Our callables, those that store no zeros where results have any, and our emitted folders, by one compiler."""
    return (
        *callables(scenario, compiler, build_dir),
        *preset(scenario, compiler, build_dir),
        *sparse(scenario, compiler, build_dir),
        *folders(scenario, compiler, build_dir),
    )


def callables(scenario: Scenario, compiler: Compiler, build_dir: BuildDir) -> tuple[Contestant, ...]:
    """The text of our callables for one compiler, compiled with the flags of our callables."""
    function = built(scenario.model, scenario.algorithm, scenario.contacts, scenario.iterations, compiler)
    return _of(function, scenario, compiler, build_dir)


def preset(scenario: Scenario, compiler: Compiler, build_dir: BuildDir) -> tuple[Contestant, ...]:
    """One state a call of the same C, which leaves zeros of results to its caller; nothing where there are none."""
    made = built(scenario.model, scenario.algorithm, scenario.contacts, scenario.iterations, compiler).artifact
    files, macro = dict(made.files), f"{identifier(scenario.model.name).upper()}_ZEROS_PRESET"
    if macro not in files[f"{identifier(scenario.model.name)}.h"]:
        return ()
    name = f"{scenario.model.name}_{scenario.algorithm}_{compiler.family}_preset"
    command = [compiler.c, *toolchain(compiler.target, compiler=compiler.c).flags, f"-D{macro}"]
    library, widths = build_dir.shared(name, command, files, f"{made.symbol}.c"), [port.size for port in made.outputs]
    given = scenario, build_dir.driver(compiler), library, made.symbol, widths
    return (plain(f"rigidc {compiler.family}, zeros preset", *given),)


def sparse(scenario: Scenario, compiler: Compiler, build_dir: BuildDir) -> tuple[Contestant, ...]:
    """The same of callables that give nonzeros, which are compared as matrices; none where results have no zeros."""
    given = scenario.model, scenario.algorithm, scenario.contacts, scenario.iterations
    function = built(*given, compiler, sparse=True)
    pattern, outputs = function.outputs[0].pattern, function.outputs
    if not pattern or all(port.pattern is None or port.pattern.nnz == prod(port.pattern.shape) for port in outputs):
        return ()
    found = _of(function, scenario, compiler, build_dir, "sparse")[:2]
    return tuple(replace(one, results=pattern.dense(one.results).reshape(len(one.results), -1)) for one in found)


def _of(
    function: Function, scenario: Scenario, compiler: Compiler, build_dir: BuildDir, kind: str = ""
) -> tuple[Contestant, ...]:
    """One state a call, and batches in rows and in columns, of a callable of this kind.

    Scalar code and lanes lie in shared objects of their own, so that the size of the one is not that of both.
    """
    made, words = function.artifact, [kind] * bool(kind)
    name = "_".join((scenario.model.name, scenario.algorithm, compiler.family, *words))
    command = [compiler.c, *toolchain(compiler.target, compiler=compiler.c).flags]
    files, label = dict(made.files), f"rigidc {compiler.family}"
    scalar = build_dir.shared(name, command, files, f"{made.symbol}.c")
    lanes = build_dir.shared(f"{name}_lanes", command, files, *sources_of_batches(files, made.symbol))
    widths = [port.size for port in made.outputs]
    given = scenario, build_dir.driver(compiler)
    batches = {"batch": ("aos", False), "columns": ("soa", True)}
    return (
        plain(", ".join((label, *words)), *given, scalar, made.symbol, widths),
        *(
            batch(
                f"{label}, {' '.join((*words, way))}",
                *given,
                lanes,
                f"{made.symbol}_{end}",
                widths,
                made.work,
                columns=x,
            )
            for way, (end, x) in batches.items()
        ),
    )


FOLDER = " folder"
"""In the labels of emitted folders, which are else those of callables."""


def folders(scenario: Scenario, compiler: Compiler, build_dir: BuildDir) -> tuple[Contestant, ...]:
    """An emitted folder, compiled with -O2 for the processor and nothing else."""
    made = built(scenario.model, scenario.algorithm, scenario.contacts, scenario.iterations, compiler).artifact
    files = _emitted(scenario, made.lanes)
    name, label = f"{scenario.model.name}_{scenario.algorithm}_{compiler.family}_folder", f"rigidc {compiler.family}"
    command = [compiler.c, "-O2", *machine_flags(compiler.target)[:1]]
    scalar = build_dir.shared(name, command, files, f"{made.symbol}.c")
    lanes = build_dir.shared(f"{name}_lanes", command, files, *sources_of_batches(files, made.symbol))
    widths = [port.size for port in made.outputs]
    work = sum(map(int, re.findall(r"_WORK (\d+)$", "\n".join(files.values()), re.MULTILINE)))
    given = scenario, build_dir.driver(compiler)
    return (
        plain(f"{label}{FOLDER}", *given, scalar, made.symbol, widths),
        batch(f"{label}{FOLDER}, batch", *given, lanes, f"{made.symbol}_aos", widths, work),
    )


def _emitted(scenario: Scenario, lanes: int) -> dict[str, str]:
    """The sources of the folder of one algorithm, by name."""
    with tempfile.TemporaryDirectory() as place:
        paths = codegen.generate(
            scenario.model,
            [scenario.algorithm],
            place,
            contacts=scenario.contacts or None,
            iterations=scenario.iterations,
            lanes=lanes,
        )
        return {path.name: path.read_text(encoding="utf-8") for path in paths if path.suffix in (".c", ".h")}


def built(
    model: Model,
    algorithm: str,
    contacts: tuple[Contact, ...],
    iterations: int,
    compiler: Compiler,
    *,
    sparse: bool = False,
) -> Function:
    """Our callable."""
    return codegen.build(
        model,
        algorithm,
        contacts=contacts,
        iterations=iterations,
        target=compiler.target,
        compiler=compiler.c,
        sparse=sparse,
    )
