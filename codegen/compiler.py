"""Compilers, and the shared objects they make.

An extension holds a kernel and its loop over states. Where Python's headers are present it is a cffi
extension module (API mode); where they are not, the same C is a plain shared object that cffi opens (ABI
mode).
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.errors import BuildError

if TYPE_CHECKING:
    from codegen.artifact import Artifact

_COMMON = (
    "-std=c99",
    "-O2",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fno-tree-slp-vectorize",
)
_LINK = ("-shared", "-fPIC")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A C compiler and the flags that extensions are compiled with."""

    command: tuple[str, ...]
    flags: tuple[str, ...]
    python: str | None

    def __str__(self) -> str:
        mode = "cffi API mode" if self.python else "cffi ABI mode"
        return f"{shlex.join(self.command)} {' '.join(self.flags)} ({mode})"

    @property
    def identity(self) -> str:
        """Which compiler, flags, Python and, where code is for this machine alone, which processor."""
        compiler = Path(self.command[0]).resolve()
        status = compiler.stat()
        cpu = _processor() if "-march=native" in self.flags else platform.machine()
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        return f"{compiler} {status.st_size} {status.st_mtime_ns} | {self} | {suffix} | {sys.platform} | {cpu}"


@lru_cache(maxsize=1)
def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            first = file.read(16384).split("\n\n")[0]
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    wanted = ("model name", "flags", "Features", "CPU part", "CPU implementer", "isa")
    return " ".join(sorted(line for line in first.splitlines() if line.split("\t")[0].strip() in wanted))


def toolchain(*, portable: bool = False, compiler: str | None = None, api: bool = True) -> Toolchain:
    """The compiler of this machine: `compiler`, else RIGIDC_CC, else clang, gcc or cc, whichever comes first.

    `portable` leaves out -march=native. `api=False` asks for ABI mode even where Python's headers are.
    BuildError if there is no compiler.
    """
    command = _command(compiler or os.environ.get("RIGIDC_CC", ""))
    flags = _COMMON if portable else (*_COMMON, "-march=native")
    include = sysconfig.get_paths()["include"]
    return Toolchain(command, flags, include if api and Path(include, "Python.h").is_file() else None)


def _command(asked: str) -> tuple[str, ...]:
    if asked:
        try:
            words = shlex.split(asked)
        except ValueError:  # a quotation that does not close
            words = []
        found = shutil.which(words[0]) if words else None
        if not found:
            raise BuildError(f"the C compiler {asked!r} was not found; set RIGIDC_CC to one that is installed")
        return (found, *words[1:])
    for name in ("clang", "gcc", "cc"):
        found = shutil.which(name)
        if found:
            return (found,)
    raise BuildError("no C compiler was found; install clang or gcc, or set RIGIDC_CC to the path of one")


def compile_extension(artifact: Artifact, folder: Path, tools: Toolchain | None = None) -> str:
    """Compile an artifact's sources in `folder`; the file name of the extension there.

    BuildError, with the first error and the path of the full log, if the compiler fails.
    """
    tools = tools or toolchain()
    for name, text in artifact.files:
        (folder / name).write_text(text, encoding="utf-8")
    sources = [name for name, _ in artifact.files if name.endswith(".c")]
    flags = [*tools.flags]
    if tools.python:
        module = module_name(artifact)
        _write_module(artifact, module, folder / f"{module}.c")
        _run(
            tools,
            ["-O1", *_LINK, f"-I{tools.python}", "-c", f"{module}.c", "-o", f"{module}.o"],
            folder,
            artifact,
        )
        target = module + str(sysconfig.get_config_var("EXT_SUFFIX"))
        sources.append(f"{module}.o")
    else:
        target = f"{artifact.symbol}.so"
    dynamic = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    _run(tools, [*flags, *_LINK, *dynamic, *sources, "-lm", "-o", target], folder, artifact)
    return target


def module_name(artifact: Artifact) -> str:
    """The extension module's name: its own for every content, so that two builds never share one."""
    content = "".join(text for _, text in artifact.files)
    return f"_rigidc_{hashlib.sha256(content.encode()).hexdigest()[:16]}"


def _write_module(artifact: Artifact, module: str, path: Path) -> None:
    import cffi

    ffi = cffi.FFI()
    ffi.cdef(artifact.declarations)
    ffi.set_source(module, artifact.declarations, compiler_verbose=0)
    ffi.emit_c_code(str(path))


def _run(tools: Toolchain, arguments: list[str], folder: Path, artifact: Artifact) -> None:
    command = [*tools.command, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        log = _log(shlex.join(command) + "\n" + done.stderr + done.stdout)
        lines = done.stderr.splitlines()
        said = next((line for line in lines if "error" in line), lines[0] if lines else "it said nothing")
        raise BuildError(
            f"{artifact.name}: {tools.command[0]} failed with {said.strip()!r}; the full log is in {log}, "
            "and RIGIDC_CC chooses another compiler"
        )


def _log(text: str) -> str:
    handle, path = tempfile.mkstemp(prefix="rigidc-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return path
