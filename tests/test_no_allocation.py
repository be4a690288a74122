"""Generated C allocates no memory and makes no system call: the linker's view of what its objects need from outside."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from thorough import besides

import codegen
from codegen.compilation.compiler import toolchain

if TYPE_CHECKING:
    from pathlib import Path

MATHEMATICS = {"sin", "cos", "sincos", "tan", "asin", "acos", "atan", "atan2", "sqrt", "exp", "log", "pow", "cbrt"}
COPIES = {"memset", "memcpy", "memmove"}  # what compilers make of loops
STACK = {"__stack_chk_fail", "_GLOBAL_OFFSET_TABLE_"}

CASES = {
    "solvers": ("chain:2", ["aba", "step"], {"interfaces": ["casadi", "acados", "fatrop"], "derivative_order": 1}),
    "iterations": ("chain:2", ["prox_pv"], {"contacts": "x,z", "iterations": None}),
    "loops": ("four_bar", ["project", "rnea"], {}),
    "lanes": ("chain:2", ["rnea"], {"lanes": 4}),
}
"""Robots, algorithms and options: Newton's method, iterations until they settle, loops over states, interfaces."""


@pytest.mark.skipif(shutil.which("nm") is None, reason="there is no nm, which lists what objects need")
@pytest.mark.parametrize("case", besides([case for case in CASES if case != "solvers"], CASES))
def test_objects_need_mathematics_alone(case: str, tmp_path: Path) -> None:
    robot, algorithms, options = CASES[case]
    model = codegen.load(robot)
    if "contacts" in options:
        options = options | {"contacts": [f"{model.tips[0]}:{options['contacts']}"]}
    codegen.generate(model, algorithms, tmp_path, **options)
    tools, objects = toolchain(), []
    for source in sorted(tmp_path.glob("*.c")):
        if source.name != "example.c":
            objects.append(str(source.with_suffix(".o")))
            subprocess.run(
                [*tools.command, *tools.flags, "-c", source.name, "-o", objects[-1]], cwd=tmp_path, check=True
            )
    found = subprocess.run(["nm", *objects], capture_output=True, text=True, check=True).stdout
    symbols = [line.split()[-2:] for line in found.splitlines() if len(line.split()) > 1]
    needed, own = ({name for kind, name in symbols if (kind == "U") == outside} for outside in (True, False))
    assert len(objects) > 1
    assert needed - own <= MATHEMATICS | COPIES | STACK
