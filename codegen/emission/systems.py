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

    from codegen.emission.factors import LoopWords
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
        return dict(self.product.arguments)

    @property
    def made(self) -> dict[str, str]:
        """The ports that they write, by the names of their arguments."""
        return dict(zip(("to", "work", "status"), (port.name for port in self.product.ports), strict=False))

    def reads(self) -> Iterator[tuple[str, Sequence[int], Sequence[int]]]:
        """What they read of matrices."""
        rows, columns = (range(size) for size in self.product.port.shape)
        read = {"matrix": (rows, rows), "right": (rows, columns), "plus": (rows, columns), "from": ([0], [0])}
        yield from ((name, *read[argument]) for argument, name in self.product.arguments)

    def lines(self, word: LoopWords) -> tuple[str, ...]:
        """The lines of their C function in these words."""
        (rows, columns), vanishing = self.product.port.shape, self.product.vanishing
        text = render(
            "system.jinja",
            word=word,
            part=vanishing.part if vanishing else 0.0,
            huge=vanishing.huge if vanishing else 0.0,
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
