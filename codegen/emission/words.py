"""How C spells sums of vectors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """How C spells the sums of a tile: their type of `width` numbers, how these are set to zero, read and written."""

    type: str
    width: str
    zero: str
    read: str
    write: str

    def __str__(self) -> str:
        return f"sums of {self.type}"
