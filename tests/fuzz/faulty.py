"""A stand-in for `fuzz.trial` that fails as its files say: what becomes of a child with a library that crashes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from fuzz.files import Mutant


def outcome(number: int, given: Mutant, folder: Path) -> tuple[str, str]:
    if b"crash" in given.content:
        os.abort()
    if b"memory" in given.content:
        try:
            bytearray(64 * 2**30)
        except MemoryError:
            return "memory", ""
    return "", "loaded"
