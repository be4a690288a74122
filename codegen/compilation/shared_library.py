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
    from collections.abc import Mapping

    from codegen.compilation.compiler import Toolchain


def compile_library(name: str, files: Mapping[str, str], folder: Path, tools: Toolchain) -> str:
    """Write texts into a folder and make `name`.so of all C among them; the library's file name.

    BuildError, with the first error and the path of the full log, if the compiler fails.
    """
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    sources = [path for path in files if path.endswith(".c")]

    def run(command: list[str]) -> None:
        done = subprocess.run(command, cwd=folder, check=False, **pipes)
        if done.returncode:
            raise BuildError(f"{name}: {failure(command, done.stdout)}, and RIGIDC_CC chooses another compiler")

    with doing("compiling"), tempfile.TemporaryDirectory(dir=folder) as own:
        pipes["env"] = tools.environment(Path(own))
        flags = [*tools.command, *tools.flags, "-Wno-psabi", "-fPIC", "-c"]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(run, [[*flags, source, "-o", f"{source}.o"] for source in sources]))
        run([*tools.command, *tools.linking, *(f"{source}.o" for source in sources), "-lm", "-o", f"{name}.so"])
    return f"{name}.so"
