"""A shared library of the sources of an emitted folder, for this machine."""

from __future__ import annotations

import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen.compilation.compiler import failure
from codegen.errors import BuildError
from codegen.progress import doing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.compilation.compiler import Toolchain


CPLUSPLUS = ("-x", "c++", "-std=c++17")


def compile_library(
    name: str,
    files: Mapping[str, str],
    folder: Path,
    tools: Toolchain,
    cplusplus: Sequence[str] = (),
    needed: Sequence[str] = (),
    c: Sequence[str] = (),
) -> str:
    """Write texts into a folder and make `name`.so of all C and C++ among them; the library's file name.

    `c` and `cplusplus` are further flags for sources in either, `needed` the paths of shared libraries that these call.

    BuildError, with the first error and the path of the full log, if the compiler fails.
    """
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    kinds = {path: tuple(c) for path in files if path.endswith(".c")}
    kinds |= {path: (*CPLUSPLUS, *cplusplus) for path in files if path.endswith(".cpp")}

    def run(command: list[str]) -> None:
        done = subprocess.run(command, cwd=folder, check=False, **pipes)
        if done.returncode:
            raise BuildError(f"{name}: {failure(command, done.stdout)}, and RIGIDC_CC chooses another compiler")

    with doing("compiling"), tempfile.TemporaryDirectory(dir=folder) as own:
        pipes["env"] = tools.environment(Path(own))
        steps = [
            [*tools.command, *tools.compiling(files[source]), *own, source, "-o", f"{source}.o"]
            for source, own in kinds.items()
        ]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(run, steps))
        libraries, objects = (
            [*needed, *["-lstdc++"] * any(path.endswith(".cpp") for path in kinds)],
            [f"{path}.o" for path in kinds],
        )
        run([*tools.command, *tools.linking, *objects, *libraries, "-lm", "-o", f"{name}.so"])
    return f"{name}.so"
