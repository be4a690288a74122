"""Systems of equations as loops over rows, and over the columns of their right sides."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from codegen.emission.text import render
from codegen.ir.systems import eliminations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from codegen.ir.systems import SolvedSystem


@dataclass(frozen=True, slots=True)
class Elimination:
    """The loops of one system; `left` are the columns that every row's elimination meets."""

    product: SolvedSystem
    left: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        return str(self.product)

    @property
    def products(self) -> tuple[SolvedSystem, ...]:
        """What they make."""
        return (self.product,)

    @property
    def taken(self) -> dict[str, str]:
        """The ports that they read, by the names of their arguments."""
        return dict(zip(("matrix", "right", "plus"), self.product.takes, strict=False))

    @property
    def made(self) -> dict[str, str]:
        """The ports that they write, by the names of their arguments."""
        return {"to": self.product.port.name, "work": self.product.work.name}

    def reads(self) -> Iterator[tuple[str, Sequence[int], Sequence[int]]]:
        """What they read of matrices."""
        rows, columns = (range(size) for size in self.product.port.shape)
        yield from ((name, rows, rows if name == self.product.matrix else columns) for name in self.product.takes)

    def lines(self, real: str, one: str) -> tuple[str, ...]:
        """The lines of their C function on this type, with what C calls one."""
        rows, columns = self.product.port.shape
        text = render(
            "system.jinja",
            real=real,
            one=one,
            rows=rows,
            columns=columns,
            plus=bool(self.product.plus),
            starts=[*accumulate((len(own) for own in self.left), initial=0)],
            left=[c for own in self.left for c in own] or [0],
        )
        return tuple(line for line in text.splitlines() if line)


def elimination(product: SolvedSystem, pattern: NDArray) -> Elimination:  # type: ignore[type-arg]
    """The loops of a system whose matrix has this pattern."""
    return Elimination(product, tuple(map(tuple, eliminations(pattern))))
