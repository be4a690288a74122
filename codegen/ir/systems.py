"""Square systems of equations that loops solve, by Gauss's elimination with the sparsity of a tree's matrices.

Rows go from the last to the first, none is exchanged, and zeros stay zeros as far as the pattern of the matrix, made
symmetric, allows (`codegen.spatial.eliminate`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.graph import Value
from codegen.ir.operations import CONST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.ir.factors import Vanishing
    from codegen.ir.graph import Port

    Pattern = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SolvedSystem:
    """port = plus + matrix^-1 right, each by the name of its port; `work` is an array for the factors of the matrix.

    Pivots may be `vanishing`, of either sign, beside a size at a port.
    """

    port: Port
    work: Port
    matrix: str
    right: str
    plus: str = ""
    vanishing: Vanishing | None = None
    symmetric: bool = False

    def __str__(self) -> str:
        return f"{self.port} = {self.plus + ' + ' if self.plus else ''}{self.matrix}^-1 @ {self.right}"

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of what it takes."""
        return tuple(name for _, name in self.arguments)

    @property
    def arguments(self) -> tuple[tuple[str, str], ...]:
        """The same by what they are."""
        size = self.vanishing.size if self.vanishing else ""
        named = {"matrix": self.matrix, "right": self.right, "plus": self.plus, "from": size}
        return tuple(pair for pair in named.items() if pair[1])

    @property
    def ports(self) -> tuple[Port, ...]:
        """What it makes, the array for its factors with it."""
        return (self.port, self.work, self.vanishing.status) if self.vanishing else (self.port, self.work)

    def renamed(self, now: Callable[[str], str]) -> SolvedSystem:
        """The same with other names of ports."""
        port, work = (replace(own, name=now(own.name)) for own in (self.port, self.work))
        vanishing = self.vanishing and self.vanishing.renamed(now)
        return SolvedSystem(port, work, now(self.matrix), now(self.right), self.plus and now(self.plus), vanishing)

    def patterns(self) -> dict[str, Pattern]:
        """Where what it makes may differ from zero: anywhere."""
        return {port.name: np.ones(port.shape, bool) for port in self.ports}

    def entries(self, values: list[Value], zero: int, known: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
        """The values of what it makes, row by row and by ports, but the factors; they are appended to the others."""

        def put(op: str, *args: int) -> int:
            values.append(Value(op, args))
            return len(values) - 1

        def constant(number: float) -> int:
            values.append(Value(CONST, constant=number))
            return len(values) - 1

        def less(x: int, factor: int, y: int) -> int:
            if zero in (factor, y):
                return x
            term = put("mul", factor, y)
            return put("neg", term) if x == zero else put("sub", x, term)

        rows, columns = self.port.shape
        absent = {index for name in self.takes for index in known[name] if values[index] == Value(CONST)}
        H, x, plus = (
            [
                [zero if index in absent else index for index in known[name][r * size : (r + 1) * size]]
                for r in range(rows)
            ]
            if name
            else []
            for name, size in ((self.matrix, rows), (self.right, columns), (self.plus, columns))
        )
        left = eliminations(np.array([[index != zero for index in row] for row in H]))
        inverse, tests, one, huge, least = [zero] * rows, list[int](), constant(1.0), zero, zero
        if self.vanishing:
            huge = constant(self.vanishing.huge)
            least = put("mul", constant(self.vanishing.part), known[self.vanishing.size][0])
        for r in reversed(range(rows)):
            if self.vanishing:
                tests.append(put("le", put("fabs", H[r][r]), least))
                H[r][r] = put("add", H[r][r], put("mul", huge, tests[-1]))
            inverse[r] = put("div", one, H[r][r])
            for up in left[r]:
                factor = put("mul", H[up][r], inverse[r]) if H[up][r] != zero else zero
                x[up] = [less(y, factor, z) for y, z in zip(x[up], x[r], strict=True)]
                for c in left[r]:
                    H[up][c] = less(H[up][c], factor, H[r][c])
        for r in range(rows):
            for c in left[r]:
                x[r] = [less(y, H[r][c], z) for y, z in zip(x[r], x[c], strict=True)]
            x[r] = [y if y == zero else put("mul", inverse[r], y) for y in x[r]]
        if plus:
            x = [[_sum(put, zero, y, z) for y, z in zip(*pair, strict=True)] for pair in zip(plus, x, strict=True)]
        found = {self.port.name: tuple(index for row in x for index in row)}
        if self.vanishing:
            found[self.vanishing.status.name] = (reduce(partial(put, "add"), tests),)
        return found


def _sum(put: Callable[..., int], zero: int, y: int, z: int) -> int:
    return z if y == zero else y if z == zero else put("add", y, z)


def eliminations(pattern: Pattern) -> list[list[int]]:
    """Of every row, the columns before its own that are not zero when its turn to be eliminated comes."""
    whole = pattern | pattern.T
    left = [{c for c in range(r) if whole[r, c]} for r in range(len(whole))]
    for r in reversed(range(len(left))):
        for up in left[r]:
            left[up] |= {c for c in left[r] if c < up}
    return [sorted(own) for own in left]
