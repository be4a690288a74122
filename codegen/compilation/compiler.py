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
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen.compilation import zig
from codegen.compilation.binding import binding
from codegen.emission.flags import FLAGS
from codegen.errors import BuildError
from codegen.progress import doing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codegen.emission.artifact import Artifact
    from codegen.emission.spec import Registers

    Running = tuple[list[str], subprocess.Popen[str]]
    """A command, and its process."""

TARGETS = ("native", "x86-64-v3", "portable")

_SIMD = ("x86_64", "amd64", "aarch64", "arm64")
"""Machines whose processors all have SIMD registers."""

_LINK = ("-shared", "-fPIC")
_X86 = ("x86_64", "amd64", "x64")

_GCC = (
    "-fno-tree-pre",
    "-fno-tree-fre",
    "-fno-tree-dominator-opts",
    "-fno-tree-dse",
    "-fno-tree-ccp",
    "-fno-tree-vrp",
    "-fno-tree-pta",
    "-fno-gcse",
    "-fno-rerun-cse-after-loop",
    "-fno-code-hoisting",
    "-fno-dse",
    "--param=max-cselib-memory-locations=8",
    "--param=max-combine-insns=2",
)
"""What gcc does without: it looks for expressions that occur twice, for constants and for stores that nobody reads,
which the passes of a graph have left none of; makes values live longer where it believes that it found some; and tries
which three or four instructions might be one. That takes up to half of its time."""

_CLANG = ("-mllvm", "-post-RA-scheduler=0")
"""What clang does without: it orders instructions once more after registers are allocated, a fifth of its time on long
functions, which run no faster."""

_LONG = 100_000
"""Characters of C above which clang's -O1 is enough: a fifth to a third less time, for code that is no slower. It
does not unroll the loop over angles, which short functions would miss."""

WHOLE = ("-mprefer-vector-width=512",)
"""Compilers make vectors of 512 bits of loops, too, on AMD's processors. On an Intel Xeon, zeros that clang stored so
made `crba` of Talos take 1.4 times as long. Where C has such vectors itself, its header asks clang for whole ones."""

_ALIGNED = ("-falign-functions=64",)
"""Functions begin where lines of the cache do. Beginning at any multiple of 16 bytes, which is compilers' default, some
take twice as long on AMD's processors."""

AMD = ("-DRIGIDC_512",)
"""Tells C that vectors of 512 bits are fast, as its header finds by itself where the compiler knows of SSE4a; here it
tells what the C will have before a compiler is asked."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A C compiler, the flags that extensions are compiled with, and the processors that these are for."""

    command: tuple[str, ...]
    flags: tuple[str, ...]
    python: str | None
    target: str = "native"

    def __str__(self) -> str:
        mode = "cffi API mode" if self.python else "cffi ABI mode"
        return f"{shlex.join(self.command)} {' '.join(self.flags)} ({mode})"

    @property
    def identity(self) -> str:
        """Which compiler, flags, Python and, where code is for this machine alone, which processor."""
        compiler = Path(self.command[0]).resolve()
        status = compiler.stat()
        cpu = _processor() if self.target == "native" else platform.machine()
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        return f"{compiler} {status.st_size} {status.st_mtime_ns} | {self} | {suffix} | {sys.platform} | {cpu}"

    @property
    def sentence(self) -> str:
        """What a header says about how its sources were compiled; it names no path."""
        words = [Path(self.command[0]).name, *self.command[1:], *self.flags]
        return f"Compiled for {self.target} processors by {' '.join(words)}"

    @property
    def small_vectors(self) -> bool:
        """Whether its C has vectors of a few numbers, by the same conditions as the header of all kernels."""
        return _family(self.command) in ("gcc", "clang", "zig") and platform.machine().lower() in _SIMD

    @property
    def registers(self) -> Registers:
        """What registers hold of doubles, by the same conditions."""
        wide = self.small_vectors and self.target == "native" and _register() == 64
        return "PACKS" if not wide else "EIGHTS" if {*AMD} <= {*self.flags} else "P8"

    @property
    def processor(self) -> tuple[str, ...]:
        """Those of the flags that say which processor it is for."""
        return tuple(flag for flag in self.flags if flag.startswith("-m") and flag != "-mllvm")

    def compiling(self, source: str) -> tuple[str, ...]:
        """Flags of the step that makes an object of this source."""
        short = len(source) <= _LONG or _family(self.command) not in ("clang", "zig")
        return (*self.flags, *(() if short else ("-O1",)), "-Wno-psabi", "-fPIC", "-c")

    @property
    def linking(self) -> tuple[str, ...]:
        """Flags of the step that links."""
        dynamic = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()
        return (*self.flags, *_LINK, *dynamic, *(zig.linking() if _family(self.command) == "zig" else ()))

    def environment(self, work: Path) -> dict[str, str] | None:
        """The variables that the compiler sees (None: ours), for a build that may keep things in the folder `work`."""
        return zig.environment(work) if _family(self.command) == "zig" else None

    def lanes(self, size: int) -> int:
        """How many reals of `size` bytes fill one SIMD register of the target."""
        wide = {"native": _register(), "x86-64-v3": 32, "portable": 16}[self.target]
        return wide // size


@lru_cache(maxsize=1)
def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            first = file.read(16384).split("\n\n")[0]
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    wanted = ("vendor_id", "model name", "flags", "Features", "CPU part", "CPU implementer", "isa")
    return " ".join(sorted(line for line in first.splitlines() if line.split("\t")[0].strip() in wanted))


def extensions() -> set[str]:
    """This processor's extensions, by their names in /proc/cpuinfo; none where there is no such file."""
    return set(_processor().split()) if Path("/proc/cpuinfo").exists() else set()


def _register() -> int:
    """Bytes of this processor's SIMD registers, as far as it tells."""
    features = _processor().split()
    return 64 if {"avx512f", "avx512dq"} <= set(features) else 32 if "avx2" in features else 16


def toolchain(target: str = "native", *, compiler: str | None = None, api: bool = True) -> Toolchain:
    """The compiler of this machine: `compiler`, else RIGIDC_CC, else clang, gcc, cc or zig's wheel, the first there is.

    `target` says where the code runs: `native` on this processor, `x86-64-v3` on all with AVX2, `portable` on all
    of this architecture. `api=False` asks for ABI mode even where Python's headers are. BuildError if there is no
    compiler, or if the target is unknown here.
    """
    command = _command(compiler or os.environ.get("RIGIDC_CC", ""))
    family, machine = _family(command), machine_flags(target)
    own = {"gcc": _GCC, "clang": _CLANG, "zig": zig.FLAGS}.get(family, ())
    machine = zig.processor(machine) if family == "zig" else machine
    aligned = _ALIGNED if family and platform.machine().lower() in _X86 else ()
    include = sysconfig.get_paths()["include"]
    python = include if api and Path(include, "Python.h").is_file() else None
    return Toolchain(command, ("-std=c99", *FLAGS, *own, *aligned, *machine), python, target)


def _family(command: Sequence[str]) -> str:
    """`clang`, `gcc`, `zig` or neither, by the name of the compiler or of the file that it leads to."""
    if zig.meant(command):
        return "zig"
    names = f"{Path(command[0]).name} {Path(command[0]).resolve().name}"
    clang = "clang" in names or sys.platform == "darwin"
    return "clang" if clang else "gcc" if "gcc" in names else ""


def machine_flags(target: str) -> tuple[str, ...]:
    """The flags that select a target on this machine's architecture."""
    x86 = platform.machine().lower() in _X86
    if target == "native":
        amd = (*WHOLE, *AMD) if _register() == 64 and "AuthenticAMD" in _processor() else ()
        return ("-march=native", *amd) if x86 else ("-mcpu=native",)
    if target == "x86-64-v3" and x86:
        return ("-march=x86-64-v3",)
    if target != "portable":
        known = TARGETS if x86 else [name for name in TARGETS if not name.startswith("x86")]
        raise BuildError(f"target {target!r}: choose one of {', '.join(known)}")
    return ()


def _command(asked: str) -> tuple[str, ...]:
    if asked:
        try:
            words = shlex.split(asked)
        except ValueError:  # a quotation that does not close
            words = []
        if zig.meant(words):
            command = zig.command(words)
        else:
            found = shutil.which(words[0]) if words else None
            command = (found, *words[1:]) if found else None
        if not command:
            mend = f"{zig.BRINGS} it" if zig.meant(words) else "name one that is installed (compiler=, or RIGIDC_CC)"
            raise BuildError(f"the C compiler {asked!r} was not found; {mend}")
        return command
    for name in ("clang", "gcc", "cc"):
        found = shutil.which(name)
        if found:
            return (found,)
    brought = zig.command(["zig"]) if zig.wheel() else None
    if brought is None:
        raise BuildError(
            f"no C compiler was found; {zig.BRINGS} one, or install clang or gcc, or set RIGIDC_CC to the path of one"
        )
    return brought


def compile_extension(drafts: Iterable[Artifact], folder: Path, tools: Toolchain | None = None) -> tuple[Artifact, str]:
    """Compile an extension in `folder`: the whole artifact, whose files are there then, and the extension's file name.

    Of the drafts of an artifact the last is whole. They differ in the kernel's own source: what else there is gets
    compiled while later ones are being made. BuildError, with the first error and the path of the full log, if the
    compiler fails.
    """
    tools, coming = tools or toolchain(), iter(drafts)
    first = next(coming)
    kernel, *others = [name for name, _ in first.files if name.endswith(".c")]
    target = f"{first.symbol}.so"
    with ExitStack() as stack:
        ahead = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder)))
        start = partial(_start, stack, tools.command, tools.environment(ahead / "kept"))
        _write_files(first, ahead)
        texts = dict(first.files)
        running = [start([*tools.compiling(texts[name]), name], f"{name}.o", ahead) for name in others]
        if tools.python:
            module = module_name(first)
            _write_module(first, module, ahead / f"{module}.c")
            flags = ("-O1", *tools.processor, "-fPIC", "-D_CFFI_NO_LIMITED_API", f"-I{tools.python}", "-c")
            running.append(start([*flags, f"{module}.c"], f"{module}.c.o", ahead))
            target = module + str(sysconfig.get_config_var("EXT_SUFFIX"))
        with doing("writing C"):
            *_, artifact = first, *coming
        _write_files(artifact, folder)
        with doing("compiling"):
            flags = tools.compiling(dict(artifact.files)[kernel])
            running.append(start([*flags, kernel], f"{ahead.name}/{kernel}.o", folder))
            _finish(running, artifact)
            objects = [str(path) for path in sorted(ahead.glob("*.o"))]
            _finish([start([*tools.linking, *objects, "-lm"], target, folder)], artifact)
    return artifact, target


def _write_files(artifact: Artifact, folder: Path) -> None:
    for name, text in artifact.files:
        (folder / name).write_text(text, encoding="utf-8")


def module_name(artifact: Artifact) -> str:
    """The extension module's name: its own for every content, so that two builds never share one."""
    content = "".join(text for _, text in artifact.files)
    return f"_rigidc_{hashlib.sha256(content.encode()).hexdigest()[:16]}"


def _write_module(artifact: Artifact, module: str, path: Path) -> None:
    import cffi

    declarations, source = binding(artifact)
    ffi = cffi.FFI()
    ffi.cdef(declarations)
    ffi.set_source(module, source, compiler_verbose=0)
    ffi.emit_c_code(str(path))


def _start(
    stack: ExitStack,
    compiler: Sequence[str],
    environment: Mapping[str, str] | None,
    step: Sequence[str],
    result: str,
    folder: Path,
) -> Running:
    """The compiler at work in a folder; leaving the stack waits for it."""
    command = [*compiler, *step, "-o", result]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "env": environment}
    return command, stack.enter_context(subprocess.Popen(command, cwd=folder, text=True, errors="replace", **pipes))


def _finish(running: Sequence[Running], artifact: Artifact) -> None:
    """Wait for all of them."""
    said = [process.communicate()[0] for _, process in running]
    for (command, process), text in zip(running, said, strict=True):
        if process.returncode:
            raise BuildError(f"{artifact.name}: {failure(command, text)}, and RIGIDC_CC chooses another compiler")


def failure(command: Sequence[str], text: str) -> str:
    """What a compiler that failed said: its first error, and where all of it is."""
    log = _log(shlex.join(command) + "\n" + text)
    lines = text.splitlines()
    line = next((line for line in lines if "error" in line), lines[0] if lines else "it said nothing")
    return f"{command[0]} failed with {line.strip()!r}; the full log is in {log}"


def _log(text: str) -> str:
    handle, path = tempfile.mkstemp(prefix="rigidc-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return path
