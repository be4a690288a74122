"""Compilers of this machine and the shared objects made with them, kept in a folder by their content."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.progress import doing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE = Path(__file__).parent
SHARED = ("-shared", "-fPIC")


class Absent(Exception):
    """A peer that cannot take part; the message is the sentence that says why."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler and its C++ sibling ("" if there is none), what they call themselves, and what our C is for."""

    family: str
    c: str
    cxx: str
    version: str
    target: str = "native"

    def __str__(self) -> str:
        return f"{self.family} {self.version}"


def compilers(target: str = "native") -> tuple[Compiler, ...]:
    """The newest clang and the newest gcc on the path, or the one compiler that RIGIDC_CC names."""
    asked = os.environ.get("RIGIDC_CC", "").split()
    found = [_compiler(asked[0])] if asked else [_compiler(_newest(family)) for family in ("clang", "gcc")]
    return tuple(replace(compiler, target=target) for compiler in found if compiler)


def _newest(family: str) -> str:
    """`clang` or `clang-19`, whichever is newer; the plain name if the versions are equal."""
    names = {name for folder in os.get_exec_path() if os.path.isdir(folder) for name in os.listdir(folder)}
    numbered = [name for name in names if re.fullmatch(rf"{family}-\d+", name)]
    candidates = [family, *sorted(numbered, key=lambda name: -int(name.split("-")[1]))]
    return max(filter(shutil.which, candidates), key=_major, default="")


def _major(command: str) -> int:
    return int(re.split(r"\D", _said(command, "-dumpversion"), maxsplit=1)[0] or 0)


def _compiler(command: str) -> Compiler | None:
    path = shutil.which(command) if command else None
    if not path:
        return None
    family = "clang" if "clang" in _said(path, "--version").splitlines()[0] else "gcc"
    plus = re.sub(r"(clang|gcc)(-\d+)?$", lambda m: {"clang": "clang++", "gcc": "g++"}[m[1]] + (m[2] or ""), path)
    cxx = shutil.which(plus) if plus != path else None
    return Compiler(family, path, cxx or "", _said(path, "-dumpfullversion", "-dumpversion").strip())


def _said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return done.stdout or " "


def sources_of_batches(files: Mapping[str, str], symbol: str) -> tuple[str, ...]:
    """What has the functions of many states of a symbol, and that of one state if these call it state by state."""
    lanes, one = f"{symbol}_lanes.c", f"{symbol}.c"
    return (lanes, one) if re.search(rf"\b{symbol}\(", files[lanes]) else (lanes,)


@dataclass(frozen=True, slots=True)
class BuildDir:
    """Makes shared objects in a folder, once for every content and command."""

    folder: Path

    def shared(
        self, name: str, command: Sequence[str], files: Mapping[str, str], *sources: str, about: str = ""
    ) -> Path:
        """The shared object that `command` makes of `files` (name to text): of all of them, or of `sources`.

        `about` is whatever else the result depends on. Absent, with the first error, if it does not compile.
        """
        sources = sources or tuple(files)
        content = repr((sorted(files.items()), command, sources, about, _said(command[0], "--version"), _processor()))
        place = self.folder / f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
        target = place / f"{name}.so"
        if target.exists():
            return target
        place.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            (place / file).write_text(text, encoding="utf-8")
        line = [*command, *SHARED, *sources, "-lm", "-o", "making"]
        with doing(f"compiling {name}"):
            done = subprocess.run(line, cwd=place, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            errors = [text for text in done.stderr.splitlines() if "error" in text] or ["it said nothing"]
            raise Absent(f"{name} does not compile with {command[0]}: {errors[0].strip()[:200]}")
        os.replace(place / "making", target)
        return target

    def driver(self, compiler: Compiler) -> ctypes.CDLL:
        """The loop that times plain C functions."""
        text = (HERE / "driver.c").read_text(encoding="utf-8")
        return ctypes.CDLL(str(self.shared("driver", [compiler.c, "-O2"], {"driver.c": text})))


def _processor() -> str:
    """The processor's name and features: what -march=native depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return "".join(dict.fromkeys(line for line in lines if line.startswith(("model name", "flags", "Features"))))


def processor_name() -> str:
    """The processor as it calls itself."""
    found = re.search(r"model name\s*: ([^\n]*?)(flags|Features|$)", _processor())
    return found[1].strip() if found else platform.processor() or platform.machine()
