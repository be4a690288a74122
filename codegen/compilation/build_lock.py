"""Folders in which builds are under way: locked while their process lives, removed once it has left them behind."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator

UNFINISHED = ".tmp-"
OLD = 3600.0  # seconds; a younger folder may belong to a process that has not locked it yet


@contextmanager
def begun(root: Path) -> Iterator[Path]:
    """A new folder to build in, which is gone in the end unless it was moved away."""
    work = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=root))
    lock = _lock(work)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def sweep(root: Path) -> None:
    """Remove old folders that no living process has locked; a killed one's locks are gone with it."""
    for place in root.glob(f"{UNFINISHED}*"):
        lock = _lock(place) if _old(place) else None
        if lock is not None:
            shutil.rmtree(place, ignore_errors=True)
            os.close(lock)


def _old(place: Path) -> bool:
    try:
        return time.time() - place.stat().st_mtime > OLD
    except OSError:  # another process has removed it
        return False


def _lock(place: Path) -> int | None:
    """A handle that holds the lock of a folder; None if another process has it, or where there are no such locks."""
    if sys.platform == "win32":
        return None
    try:
        handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle
