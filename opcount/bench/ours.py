"""Our own part: one state per call, and all states in one call, in SIMD lanes: states in rows, or in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import codegen
from codegen.compiler import toolchain
from opcount.bench.calls import batch, plain

if TYPE_CHECKING:
    from codegen.model import Contact, Model
    from codegen.runtime import Function
    from opcount.bench.contest import Contestant, Scenario
    from opcount.bench.workshop import Compiler, Workshop


def contestants(scenario: Scenario, compiler: Compiler, workshop: Workshop) -> tuple[Contestant, ...]:
    """The text of our callables for one compiler, compiled with the flags of our callables.

    Scalar code and lanes lie in shared objects of their own, so that the size of the one is not that of both.
    """
    made = built(scenario.model, scenario.algorithm, scenario.contacts, scenario.iterations, compiler).artifact
    name = f"{scenario.model.name}_{scenario.algorithm}_{compiler.family}"
    command = [compiler.c, *toolchain(compiler.target, compiler=compiler.c).flags]
    files, label = dict(made.files), f"rigidc {compiler.family}"
    scalar = workshop.shared(name, command, files, f"{made.symbol}.c")
    lanes = workshop.shared(f"{name}_lanes", command, files, f"{made.symbol}_lanes.c")
    widths = [port.size for port in made.outputs]
    given = scenario, workshop.driver(compiler)
    return (
        plain(label, *given, scalar, made.symbol, widths),
        batch(f"{label}, batch", *given, lanes, f"{made.symbol}_aos", widths, made.work),
        batch(f"{label}, columns", *given, lanes, f"{made.symbol}_soa", widths, made.work, columns=True),
    )


def built(model: Model, algorithm: str, contacts: tuple[Contact, ...], iterations: int, compiler: Compiler) -> Function:
    """Our callable."""
    return codegen.build(
        model, algorithm, contacts=contacts, iterations=iterations, target=compiler.target, compiler=compiler.c
    )
