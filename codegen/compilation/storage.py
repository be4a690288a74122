"""The user's cache folder: where it is, and that nobody else can plant code in it."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from pathlib import Path

from codegen.errors import BuildError

COUNTS, ZIG, PEERS = BESIDE = ("counts", "zig", "bench")
"""Folders of the cache folder beside builds: operations counted, what zig keeps, and compiled peers of timings."""


def size(name: str) -> int:
    """Bytes of the files in a folder of the cache folder; none if it is not there."""
    return sum(path.stat().st_size for path in (folder() / name).rglob("*") if path.is_file())


def remove(name: str) -> None:
    """Delete a folder of the cache folder."""
    shutil.rmtree(folder() / name, ignore_errors=True)


def folder() -> Path:
    """The user's cache folder: RIGIDC_CACHE, else the platform's place for caches. It may not exist yet."""
    if os.environ.get("RIGIDC_CACHE"):
        return Path(os.environ["RIGIDC_CACHE"]).expanduser().absolute()
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"]).absolute() / "rigidc"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "rigidc"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "rigidc" / "cache"
    return Path.home() / ".cache" / "rigidc"


def secured() -> Path:
    """The folder, made if need be; BuildError if it cannot be made, or if others could plant code in it."""
    root = folder()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = root.stat()
    except OSError as error:
        raise BuildError(
            f"the cache folder {root} cannot be made ({error.strerror}); set RIGIDC_CACHE to another one"
        ) from None
    if os.name == "posix" and (status.st_uid not in (os.geteuid(), 0) or status.st_mode & stat.S_IWOTH):
        raise BuildError(
            f"the cache folder {root} can be written by others; make it your own (chmod 700), "
            "or set RIGIDC_CACHE to one that is"
        )
    return root
