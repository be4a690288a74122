"""C that CasADi generates from the algorithms as the papers list them, over dense matrices.

It is compiled with the flags that every build of our own C wants, which suit it better than -O3 does: clang contracts
nothing across CasADi's statements otherwise, and gcc gains nothing by -O3.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import casadi as ca

from codegen.algorithms.published import PUBLISHED
from codegen.compilation.compiler import machine_flags
from codegen.emission.flags import FLAGS
from codegen.tracing.task import Task
from codegen.tracing.trace import casadi_function
from opcount.bench.build_dir import Absent
from opcount.bench.calls import casadi

if TYPE_CHECKING:
    from codegen.model import Contact, Model
    from opcount.bench.build_dir import BuildDir, Compiler
    from opcount.bench.race import Contestant, Scenario

LONGEST = 100_000
"""Operations beyond which a compiler takes too long over one function of straight code."""


def contestants(scenario: Scenario, compiler: Compiler, build_dir: BuildDir) -> tuple[Contestant, ...]:
    """The listing on the scenario, built by one compiler."""
    model, algorithm = scenario.model, scenario.algorithm
    function, text = source(model, algorithm, scenario.contacts, scenario.iterations)
    name = f"{model.name}_{algorithm}_casadi_{compiler.family}"
    library = build_dir.shared(
        name, [compiler.c, "-std=c99", *FLAGS, *machine_flags("native")], {f"{algorithm}.c": text}
    )
    return (casadi(f"CasADi C {compiler.family}", scenario, build_dir.driver(compiler), library, function),)


LISTED = {
    "aba_prox": "prox_ltl",
    "aba_prox_stiff": "prox_ltls",
    "tree_kkt": "prox_kkt",
    "aba_osim": "ltl_osim",
    "caba_osim_swept": "caba_osimf",
}
"""Of algorithms that no paper lists, the listed ones that give the same."""


@lru_cache(maxsize=4)
def source(model: Model, algorithm: str, contacts: tuple[Contact, ...], iterations: int) -> tuple[Any, str]:
    """The casadi.Function and its C; Absent for what no paper lists."""
    listed = LISTED.get(algorithm, algorithm)
    if listed not in PUBLISHED:
        raise Absent(f"no paper lists {algorithm}")
    function = casadi_function(Task(model, listed, contacts=contacts or None, iterations=iterations, tier="published"))
    operations = function.n_instructions() - function.nnz_in() - function.nnz_out()
    if operations > LONGEST:
        raise Absent(
            f"the published {algorithm} of {model.name} has {operations:,} operations, "
            f"more than the {LONGEST:,} that compilers take in one function"
        )
    generator = ca.CodeGenerator(f"{algorithm}.c")
    generator.add(function)
    return function, str(generator.dump())
