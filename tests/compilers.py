"""The C compilers of this machine, and how strictly the tests use them."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion"]
# The address sanitizer finds null and wild pointers; checks by both sanitizers take twice the time to compile
SANITIZED = [
    "-g1",
    "-fsanitize=address,undefined",
    "-fno-sanitize=null,pointer-overflow",
    "-fno-sanitize-recover=all",
]


def compiled(compiler: str, folder: Path, *arguments: str) -> None:
    """Run a compiler in a folder; what it says is the failure."""
    done = subprocess.run([compiler, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def output(program: Path) -> str:
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def written(files: dict[str, str], folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder
