"""Counts by content: what was counted once is read again while robot, task and generator are the same.

A count, or what else takes long, is a file in the folder `counts` of the user's cache folder (RIGIDC_CACHE names
another). Its name is a hash of what it is of, as text in which the robot stands by its digest, and of the source text
of `codegen`.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen.compilation.cache import PACKAGE, fingerprint
from codegen.compilation.storage import COUNTS, secured
from codegen.ir.counting import Count

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of counts; `source` is the hash of what counted them."""

    folder: Path
    source: str

    def read(self, what: str) -> tuple[Count | None, ...]:
        """The count, None if the robot does not admit the algorithm; an empty tuple if it is not there, or damaged."""
        try:
            return tuple(None if kept is None else Count(**kept) for kept in self.kept(what))
        except TypeError:
            return ()

    def write(self, what: str, count: Count | None) -> None:
        """Keep a count, as `keep` does."""
        self.keep(what, None if count is None else asdict(count))

    def kept(self, what: str) -> tuple[Any, ...]:
        """What JSON has kept; an empty tuple if it is not there, or damaged."""
        try:
            return (json.loads(self._place(what).read_text(encoding="utf-8")),)
        except (OSError, ValueError):
            return ()

    def keep(self, what: str, value: Any) -> None:
        """Keep what JSON can: whole, or, where nothing can be written, not at all."""
        with suppress(OSError):
            handle, name = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(value, file)
            os.replace(name, self._place(what))

    def made(self, what: str, make: Callable[[], Any]) -> Any:
        """What JSON has kept, else what `make` gives, which is then kept."""
        for kept in self.kept(what):
            return kept
        value = make()
        self.keep(what, value)
        return value

    def _place(self, what: str) -> Path:
        return self.folder / hashlib.sha256(f"{what}\0{self.source}".encode()).hexdigest()


def opened() -> Store:
    """The user's store, its folder made if need be; BuildError if others could write to the cache folder."""
    folder = secured() / COUNTS
    folder.mkdir(mode=0o700, exist_ok=True)
    return Store(folder, fingerprint())


@cache
def content() -> str:
    """A hash of this package's source text and of the bundled robots: for what names neither a task nor a robot."""
    files = [*sorted(Path(__file__).parent.rglob("*.py")), *sorted(PACKAGE.rglob("*.json"))]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()
