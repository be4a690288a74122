"""A mutant as files in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mutant:
    """A robot file and what lies beside it."""

    suffix: str
    content: bytes
    beside: dict[str, bytes]
    seed: str


def written(mutant: Mutant, folder: Path) -> Path:
    """The mutant as files in a folder; the path of the robot file."""
    for name, content in mutant.beside.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    path = folder / f"mutant.{mutant.suffix}"
    path.write_bytes(mutant.content)
    return path
