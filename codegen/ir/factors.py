"""Symmetric systems of equations by steps that loops take: the factors of a matrix, and what is solved by them.

A = L D L' from the first row to the last. An array of factors has L' above its diagonal and D^-1 on it; the rest means
nothing. All entries of A count as numbers: where a constraint system is large, its matrix has hardly any zeros.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from codegen.ir.graph import Value
from codegen.ir.operations import CONST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.ir.graph import Port

    Pattern = NDArray[np.bool_]

Way = Literal["forward", "scale", "backward"]


@dataclass(frozen=True, slots=True)
class Vanishing:
    """Pivots vanish that are at most a `part` of a size, that at a port of this name or else the trace of the matrix.

    They become larger by `huge`; `status` is how many these are.
    """

    status: Port
    part: float
    huge: float
    size: str = ""

    def __str__(self) -> str:
        return f"pivots of {self.part} of {self.size or 'the trace'} vanish"

    def renamed(self, now: Callable[[str], str]) -> Vanishing:
        """The same with other names of ports."""
        status = replace(self.status, name=now(self.status.name))
        return replace(self, status=status, size=self.size and now(self.size))


@dataclass(frozen=True, slots=True)
class FactoredMatrix:
    """port = the factors of a symmetric matrix, by the name of its port."""

    port: Port
    matrix: str
    vanishing: Vanishing | None = None
    symmetric: bool = False

    def __str__(self) -> str:
        return f"{self.port} = factors of {self.matrix}"

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of what it takes."""
        return (self.matrix, self.vanishing.size) if self.vanishing and self.vanishing.size else (self.matrix,)

    @property
    def ports(self) -> tuple[Port, ...]:
        """What it makes."""
        return (self.port, self.vanishing.status) if self.vanishing else (self.port,)

    def renamed(self, now: Callable[[str], str]) -> FactoredMatrix:
        """The same with other names of ports."""
        own, vanishing = replace(self.port, name=now(self.port.name)), self.vanishing
        return replace(self, port=own, matrix=now(self.matrix), vanishing=vanishing and vanishing.renamed(now))

    def patterns(self) -> dict[str, Pattern]:
        """Where what it makes may differ from zero."""
        found = {self.port.name: np.triu(np.ones(self.port.shape, bool))}
        return found | ({self.vanishing.status.name: np.ones((), bool)} if self.vanishing else {})

    def entries(self, values: list[Value], zero: int, known: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
        """The values of what it makes, by ports; they are appended to the others."""
        n, vanishing, tests = self.port.shape[0], self.vanishing, list[int]()
        H = [[*known[self.matrix][r * n : (r + 1) * n]] for r in range(n)]

        def put(op: str, *args: int) -> int:
            values.append(Value(op, args))
            return len(values) - 1

        def constant(number: float) -> int:
            values.append(Value(CONST, constant=number))
            return len(values) - 1

        one, huge, least = constant(1.0), zero, zero
        if vanishing:
            size = known[vanishing.size][0] if vanishing.size else H[0][0]
            for r in range(1, 1 if vanishing.size else n):
                size = put("add", size, H[r][r])
            least, huge = put("mul", constant(vanishing.part), size), constant(vanishing.huge)
        for k in range(n):
            if vanishing:
                tests.append(put("le", H[k][k], least))
                H[k][k] = put("add", H[k][k], put("mul", huge, tests[-1]))
            H[k][k] = put("div", one, H[k][k])
            for i in range(k + 1, n):
                factor = put("mul", H[k][i], H[k][k])
                for j in range(i, n):
                    H[i][j] = put("sub", H[i][j], put("mul", factor, H[k][j]))
                H[k][i] = factor
        found = {self.port.name: tuple(H[r][c] if r <= c else zero for r in range(n) for c in range(n))}
        if vanishing:
            status = tests[0]
            for test in tests[1:]:
                status = put("add", status, test)
            found[vanishing.status.name] = (status,)
        return found


@dataclass(frozen=True, slots=True)
class Substitution:
    """port = L^-1 B, D^-1 B or L'^-1 B, of factors and B by the names of their ports; of 1 if B has none.

    With the other sign if `negative`, which only D^-1 B may have.
    """

    port: Port
    factors: str
    right: str
    way: Way
    negative: bool = False
    symmetric: bool = False

    def __str__(self) -> str:
        made = {"forward": "L^-1", "scale": "-D^-1" if self.negative else "D^-1", "backward": "L'^-1"}
        return f"{self.port} = {made[self.way]} {self.right or '1'} of {self.factors}"

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of what it takes."""
        return (self.factors, self.right) if self.right else (self.factors,)

    def renamed(self, now: Callable[[str], str]) -> Substitution:
        """The same with other names of ports."""
        port = replace(self.port, name=now(self.port.name))
        return replace(self, port=port, factors=now(self.factors), right=self.right and now(self.right))

    def given(self, known: Mapping[str, Pattern]) -> Pattern:
        """Where B may differ from zero."""
        return known[self.right] if self.right else np.eye(self.port.shape[0], dtype=bool)

    def pattern(self, known: Mapping[str, Pattern]) -> Pattern:
        """Where it may differ from zero."""
        B = self.given(known)
        if self.way == "scale":
            return B
        if self.way == "forward":
            return np.logical_or.accumulate(B, axis=0)
        return np.logical_or.accumulate(B[::-1], axis=0)[::-1]

    def entries(self, values: list[Value], zero: int, known: Mapping[str, Sequence[int]]) -> tuple[int, ...]:
        """Row by row the values of its entries, appended to the others."""
        n, columns = self.port.shape
        F = known[self.factors]

        def put(op: str, *args: int) -> int:
            values.append(Value(op, args))
            return len(values) - 1

        if self.right:
            absent = {index for index in known[self.right] if values[index] == Value(CONST)}
            x = [[zero if e in absent else e for e in known[self.right][r * columns :][:columns]] for r in range(n)]
        else:
            values.append(Value(CONST, constant=1.0))
            x = [[len(values) - 1 if r == c else zero for c in range(n)] for r in range(n)]
        if self.way == "scale":
            scales = [put("neg", F[r * n + r]) if self.negative else F[r * n + r] for r in range(n)]
            x = [[e if e == zero else put("mul", scale, e) for e in row] for scale, row in zip(scales, x, strict=True)]
            return tuple(e for row in x for e in row)
        forward = self.way == "forward"
        for i in range(n) if forward else reversed(range(n)):
            for k in range(i) if forward else range(i + 1, n):
                factor = F[k * n + i] if forward else F[i * n + k]
                for c, e in enumerate(x[k]):
                    if e != zero:
                        term = put("mul", factor, e)
                        x[i][c] = put("neg", term) if x[i][c] == zero else put("sub", x[i][c], term)
        return tuple(e for row in x for e in row)
