"""Libraries of an emitted folder, for any machine from any machine: cross-compiled by zig."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen.compilation import zig
from codegen.compilation.compiler import failure
from codegen.emission.flags import FLAGS
from codegen.emission.folder import LIBRARIES, MARK, about_library
from codegen.errors import BuildError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TARGET = re.compile(r"[a-z][a-z0-9_]{0,31}(-[a-z][a-z0-9_]{0,31}(\.[a-z0-9_]{1,16}){0,3}){1,2}")
_PROCESSOR = re.compile(r"[a-z0-9_]{1,64}([+-][a-z0-9_]{1,64}){0,64}")
_APPLE = ("macos", "ios", "tvos", "visionos", "watchos")


@dataclass(frozen=True, slots=True)
class Library:
    """What a library is for: zig's name of a target and of a processor there, and whether it is linked statically."""

    target: str
    static: bool
    cpu: str
    program: str

    def __str__(self) -> str:
        return f"{'static' if self.static else 'shared'} library for {self.target} ({self.cpu})"

    @property
    def compiler(self) -> tuple[str, ...]:
        """The command that compiles C for the target."""
        return (self.program, "cc", "-target", self.target, f"-mcpu={self.cpu}", "-std=c99", *FLAGS, *zig.FLAGS)

    @property
    def system(self) -> str:
        """The operating system, without its version."""
        return self.target.split("-")[1].partition(".")[0]

    def name(self, prefix: str) -> str:
        """The library's file name, as linkers on its system look for it."""
        if self.static:
            return f"lib{prefix}.a"
        if self.system == "windows":
            return f"{prefix}.dll"
        return f"lib{prefix}.{'dylib' if self.system in _APPLE else 'so'}"


def library(target: str, *, static: bool = False, cpu: str | None = None) -> Library:
    """A library for a target by zig's name (`aarch64-linux-gnu`), and a processor (default: all of the target's).

    BuildError if zig is not installed, or knows no such target or processor.
    """
    program = zig.program()
    if program is None:
        raise BuildError(f"zig, which compiles libraries for other machines, was not found; {zig.BRINGS} it")
    found = Library(target, bool(static), cpu or "baseline", program)
    if not _TARGET.fullmatch(target) or not _known(Library(target, False, "baseline", program)):
        raise BuildError(
            f"library target {shown(target)}: zig has none of this name, or no C library for it; "
            "name one as aarch64-linux-gnu, x86_64-windows-gnu or aarch64-macos are named"
        )
    if not _PROCESSOR.fullmatch(found.cpu) or not _known(found):
        raise BuildError(
            f"cpu {shown(found.cpu)}: zig knows no such processor of {target}; its names are written with _, "
            "as cortex_a72 and x86_64_v3 are"
        )
    return found


def _known(wanted: Library) -> bool:
    """Whether zig compiles for this target and processor; it takes milliseconds."""
    with tempfile.TemporaryDirectory(prefix="rigidc-") as name:
        Path(name, "tried.c").write_text("#include <math.h>\n", encoding="utf-8")
        return _run([*wanted.compiler, "-c", "tried.c", "-o", "tried.o"], Path(name)).returncode == 0


def compiled(wanted: Library, prefix: str, files: Mapping[str, str]) -> dict[str, str | bytes]:
    """The library of a folder's files, and what says how it was made, by their paths in the folder.

    For Windows a library to link with (`.lib`) is beside a DLL. BuildError, with the first error and the path of the
    full log, if it cannot be compiled.
    """
    sources = [name for name in files if name.startswith(f"{prefix}_") and name.endswith(".c")]
    with tempfile.TemporaryDirectory(prefix="rigidc-") as folder:
        work = Path(folder)
        for name, text in files.items():
            (work / name).write_text(text, encoding="utf-8")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            anywhere = () if wanted.system == "windows" else ("-fPIC",)  # there code may lie anywhere as it is
            steps = [[*wanted.compiler, *anywhere, "-c", name, "-o", f"{name}.o"] for name in sources]
            done = list(pool.map(lambda step: _run(step, work), steps))
        made = work / "made"
        made.mkdir()
        done.append(_run(_joining(wanted, prefix, sources, work), work))
        _check(wanted, done)
        contents: dict[str, str | bytes] = {path.name: path.read_bytes() for path in sorted(made.iterdir())}
    contents[about_library(prefix)] = _about(wanted, prefix, files)
    return {f"{LIBRARIES}/{wanted.target}/{name}": content for name, content in contents.items()}


def _joining(wanted: Library, prefix: str, sources: Sequence[str], work: Path) -> list[str]:
    """The command that makes a library of objects, in the folder `made`."""
    name = wanted.name(prefix)
    objects, result = [f"{source}.o" for source in sources], f"made/{name}"
    if wanted.static:
        return [wanted.program, "ar", "rcs", result, *objects]
    link = [*wanted.compiler, "-s", "-shared", *objects, "-lm", "-o", result]
    if wanted.system == "windows":
        (work / f"{prefix}.def").write_text(_exports(name, sources), encoding="utf-8")
        return [*link, f"{prefix}.def", f"-Wl,--out-implib,made/{prefix}.lib"]
    if wanted.system in _APPLE:
        return [*link, f"-Wl,-install_name,@rpath/{name}"]
    return [*link, f"-Wl,-soname,{name}"]


def _exports(name: str, sources: Sequence[str]) -> str:
    """The functions of these sources as those that a DLL exports; without a list it would export C's own as well."""
    functions = []
    for stem in (source.removesuffix(".c") for source in sources):
        lanes = stem.removesuffix("_lanes")
        functions += [stem] if lanes == stem else [f"{lanes}_aos", f"{lanes}_soa"]
    lines = "".join(f"    {function}\n    {function}_incref\n" for function in functions)
    return f"LIBRARY {name}\nEXPORTS\n{lines}"


def _about(wanted: Library, prefix: str, files: Mapping[str, str]) -> str:
    content = re.findall(r'_CONTENT "(\w+)"', files[f"{prefix}.h"])
    how = " ".join(("zig", *wanted.compiler[1:]))
    return (
        f"{MARK}. {prefix}: {wanted}.\nContent: {' '.join(content)} (as in the header)\n"
        f"Compiled by {how}\nzig is version {zig.version(wanted.program)}\n"
    )


def _run(command: Sequence[str], work: Path) -> subprocess.CompletedProcess[str]:
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    kept = zig.environment(work / "kept")
    return subprocess.run(command, cwd=work, env=kept, text=True, errors="replace", check=False, **pipes)


def _check(wanted: Library, done: Sequence[subprocess.CompletedProcess[str]]) -> None:
    for process in done:
        if process.returncode:
            raise BuildError(f"{wanted}: {failure(process.args, process.stdout)}")
