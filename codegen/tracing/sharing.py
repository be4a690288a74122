"""How compositions of large functions are made of parts: C functions that are called, and loops, whose results the
expressions that come after them take as symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING

from casadi import SX, Function, project, vec

from codegen.costs import AWAITED, CALLED, CALLED_IN_HESSIANS, CALLED_IN_JACOBIANS, FACTORED, SOLVED
from codegen.ir.products import TILE
from codegen.recursions.calls import Body, Call, Output
from codegen.recursions.composition import INLINE
from codegen.recursions.factors import LoopedLDL, NumberedLDL
from codegen.recursions.panels import Panel
from codegen.recursions.products import MaskedProduct, leaves, made_in, rebuilt, substituted
from codegen.recursions.systems import Factored, Solved

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codegen.recursions.composition import Divided, OfColumns, Parts
    from codegen.recursions.factors import Factors
    from codegen.recursions.products import Result
    from codegen.tracing.stages import Opened


OPENED = Panel | Factored | Output
"""What is no expression: results with some are opened."""


class Sharing:
    """Parts of a function of these symbols of its arguments; what is called has so many operations at `least`.

    The second number is that of parts without matrices.
    """

    def __init__(self, symbols: Sequence[SX], least: tuple[int, int] = CALLED) -> None:
        self.symbols = tuple(symbols)
        self.least = least
        self._opened: list[tuple[SX, Result]] = []

    @property
    def opened(self) -> Opened:
        """Symbols of numbers, and the results that have them, each made of the arguments and of those before it."""
        return tuple(self._opened)

    def once(self, function: Divided, least: int | None = None) -> OfColumns:
        """The same function, a body that is traced at its first call if that is long, and called then.

        Loops within it are made at every call, of what the body has made. It is long with so many operations at
        `least`, if they are given.
        """
        known: list[tuple[bool, Body, Opened, tuple[Result, ...]]] = []

        def called(*columns: SX) -> tuple[Result, ...]:
            if not known:
                body, opened, results = self._traced(function, columns)
                known.append((self._long(body, least), body, opened, results))
            ((long, body, opened, results),) = known
            return self._called(body, opened, results, columns) if long else function(self, *columns)

        return called

    def _called(
        self, body: Body, opened: Opened, results: tuple[Result, ...], columns: Sequence[SX]
    ) -> tuple[Result, ...]:
        """The results of a call. First loops within it are opened, then what it makes that is too narrow for loops."""
        numbers, loops = _named(x for x, _ in opened), tuple(loop for _, loop in opened)
        call = Call(body, (*self.symbols, *columns, *numbers))
        outputs = {id(x): Output(call, number) for number, x in enumerate(body.made)}
        inner = {id(x) for x in leaves(loops)}
        last = {key: own for key, own in outputs.items() if key not in inner and own.shape[1] < TILE}
        named = dict(zip(last, _named(last.values()), strict=True))
        constants = {id(x): x for x in leaves((*loops, *results)) if x.is_constant()}
        made = rebuilt((*loops, *results), {**outputs, **named, **constants})
        self._opened += [*zip(numbers, made, strict=False), *((named[key], own) for key, own in last.items())]
        return tuple(map(self._narrow, made[len(loops) :]))

    def apart(self, symbols: Sequence[SX]) -> Sharing:
        """Parts of a function of these symbols, whose results may then be wanted elsewhere."""
        return Sharing(symbols, self.least)

    def at(
        self, apart: Parts, results: tuple[Result, ...], symbols: Sequence[SX], columns: Sequence[SX]
    ) -> tuple[Result, ...]:
        """Results made of parts `apart` and of these symbols, at these columns; loops within them are made here."""
        numbers, loops = _named(x for x, _ in apart.opened), tuple(own for _, own in apart.opened)
        old, new = (*symbols, *(vec(x) for x, _ in apart.opened)), (*columns, *map(vec, numbers))
        made = substituted((*loops, *results), old, new)
        self._opened += zip(numbers, made, strict=False)
        return made[len(loops) :]

    def _traced(self, function: Divided, columns: Sequence[SX]) -> tuple[Body, Opened, tuple[Result, ...]]:
        """A function of columns like these: its body, what loops make, and the results."""
        own = [SX.sym(f"x{k}", column.size1()) for k, column in enumerate(columns)]
        within = self.apart((*self.symbols, *own))
        results = function(within, *own)
        made = leaves((*(loop for _, loop in within.opened), *results))
        numbers = tuple(vec(symbols.T) for symbols, _ in within.opened)
        given = (*within.symbols, *numbers)
        body = Body(f"part{len(self._opened)}", given, tuple(x for x in made if not x.is_constant()), len(numbers))
        return body, within.opened, results

    def _narrow(self, own: Result) -> Result:
        """A matrix of few columns that a call makes as symbols, for expressions."""
        return self.numbers(own) if isinstance(own, Output) and own.shape[1] < TILE else own

    def numbers(self, result: Result) -> SX:
        """Symbols for what a result is, unless it is an expression already, as all is where nothing is called."""
        if isinstance(result, SX):
            return result
        if not self._opened and not any(isinstance(own, OPENED) for own in made_in((result,))):
            return INLINE.numbers(result)
        symbols = next((known for known, own in self._opened if own is result), None)
        if symbols is None:
            symbols = SX.sym("opened", *result.shape)
            self._opened.append((symbols, result))
        return project(symbols, result.pattern) if isinstance(result, MaskedProduct) else symbols

    def many(self, rows: int) -> bool:
        """Whether loops are to make what belongs to so many rows of contacts."""
        return rows >= FACTORED

    def factors(self, matrix: Result, part: float = 0.0, size: SX | None = None) -> Factors:
        """The factors of a symmetric matrix; with a `part`, semidefinite ones."""
        if not self.many(matrix.shape[0]):
            return INLINE.factors(matrix, part, size)
        return LoopedLDL(Factored(matrix, part, size))

    def ldl(self, matrix: SX, part: float = 0.0, size: SX | None = None) -> Factors | NumberedLDL:
        """The same for expressions."""
        if matrix.shape[0] < AWAITED:
            return INLINE.ldl(matrix, part, size)
        return NumberedLDL(LoopedLDL(Factored(matrix, part, size)), self.numbers)

    def solved(self, system: Solved) -> Result:
        """The solution of a system: entry by entry where it is small."""
        return INLINE.solved(system) if system.shape[0] < SOLVED else system

    def _long(self, own: Body, least: int | None) -> bool:
        """Whether a function is long."""
        size = Function("f", [*own.given], [*own.made], {"live_variables": False}).n_instructions()
        if least is None:
            least = self.least[all(x.size2() == 1 for x in own.made)]
        return size >= least


def for_solvers(order: int) -> Sharing:
    """Parts of a function with derivatives of this order that a solver takes."""
    return Sharing((), CALLED_IN_HESSIANS if order > 1 else CALLED_IN_JACOBIANS)


def _named(matrices: Iterable[Result]) -> list[SX]:
    """Symbols for the numbers of matrices."""
    return [SX.sym("opened", *matrix.shape) for matrix in matrices]
