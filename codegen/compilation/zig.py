"""zig as a C compiler: clang with the headers and C libraries of many systems, in one wheel (`ziglang`).

`pip install rigidc[zig]` brings it where there is no other compiler. What it keeps lies in rigidc's cache folder.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.compilation import storage

if TYPE_CHECKING:
    from collections.abc import Sequence

BRINGS = "`pip install rigidc[zig]` brings"
"""What refusals say for want of a compiler."""

FLAGS = ("-g0", "-fomit-frame-pointer")
"""What clang does by itself, and zig only when asked to."""


def wheel() -> str | None:
    """The path of zig's program in the installed wheel, if there is one."""
    spec = importlib.util.find_spec("ziglang")
    places = (spec.submodule_search_locations if spec else None) or ()
    return next(filter(None, (shutil.which("zig", path=place) for place in places)), None)


def program() -> str | None:
    """The path of zig: that of the wheel, else one that is installed otherwise."""
    return wheel() or shutil.which("zig")


def meant(words: Sequence[str]) -> bool:
    """Whether the words of a command name zig: `zig`, `/path/zig cc`, `python -m ziglang cc`."""
    return bool(words) and (Path(words[0]).stem == "zig" or [*words[1:3]] == ["-m", "ziglang"])


def command(words: Sequence[str]) -> tuple[str, ...] | None:
    """The command that compiles C, for words that name zig (see `meant`); None if it is not there."""
    by_module = Path(words[0]).stem != "zig"
    found = program() if by_module or words[0] == "zig" else shutil.which(words[0])
    rest = words[3:] if by_module else words[1:]
    return (found, "cc", *(rest[1:] if rest[:1] == ["cc"] else rest)) if found else None


def processor(flags: tuple[str, ...]) -> tuple[str, ...]:
    """clang's flags for a processor in zig's spelling; where there are none, zig would take this very processor."""
    return tuple(flag.replace("x86-64-", "x86_64_") for flag in flags) or ("-mcpu=baseline",)


def version(path: str) -> str:
    """The version of a zig."""
    return subprocess.run([path, "version"], capture_output=True, text=True, check=True).stdout.strip()


def linking() -> tuple[str, ...]:
    """How to link extensions: without parts of a runtime that they never call and that take seconds to make."""
    known = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
    return ("-nostdlib", "-lc") if known else ()


def environment(work: Path) -> dict[str, str]:
    """The environment that zig runs in: what concerns one build goes to the folder `work`, the rest to our cache."""
    return {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(storage.folder() / storage.ZIG), "ZIG_LOCAL_CACHE_DIR": str(work)}
