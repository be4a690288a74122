"""How compositions of large functions are made of parts: C functions that are called, and loops, whose results the
expressions that come after them take as symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING

from casadi import SX, Function, project

from codegen.costs import CALLED, FACTORED
from codegen.ir.products import TILE
from codegen.recursions.calls import Body, Call, Output
from codegen.recursions.composition import INLINE
from codegen.recursions.factors import LoopedLDL, NumberedLDL
from codegen.recursions.panels import Panel
from codegen.recursions.products import MaskedProduct, leaves, made_in, rebuilt
from codegen.recursions.systems import Factored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.recursions.composition import OfColumns
    from codegen.recursions.factors import Factors
    from codegen.recursions.products import Result


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
    def opened(self) -> tuple[tuple[SX, Result], ...]:
        """Symbols of numbers, and the results that have them, each made of the arguments and of those before it."""
        return tuple(self._opened)

    def once(self, function: OfColumns) -> OfColumns:
        """The same function, a body that is traced at its first call if that is long, and called then."""
        known: list[tuple[Body, tuple[Result, ...]]] = []

        def called(*columns: SX) -> tuple[Result, ...]:
            if not known:
                own = [SX.sym(f"x{k}", column.size1()) for k, column in enumerate(columns)]
                results = function(*own)
                made = tuple(x for x in leaves(results) if not x.is_constant())
                known.append((Body(f"part{len(self._opened)}", (*self.symbols, *own), made), results))
            ((body, results),) = known
            if not self._long(body):
                return function(*columns)
            call = Call(body, (*self.symbols, *columns))
            outputs = {id(x): self._output(call, number) for number, x in enumerate(body.made)}
            constants = {id(x): x for x in leaves(results) if x.is_constant()}
            return rebuilt(results, {**outputs, **constants})

        return called

    def _output(self, call: Call, number: int) -> Result:
        own = Output(call, number)
        return self.numbers(own) if own.shape[1] == 1 else own

    def numbers(self, result: Result) -> SX:
        """Symbols for what a result is, unless it is an expression already, as all is where nothing is called."""
        if isinstance(result, SX):
            return result
        if not self._opened and not any(isinstance(own, OPENED) for own in made_in((result,))):
            return INLINE.numbers(result)
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
        own = self.factors(matrix, part, size)
        return NumberedLDL(own, self.numbers) if isinstance(own, LoopedLDL) else own

    def _long(self, own: Body) -> bool:
        """Whether a function is long, and has matrices wide enough for loops."""
        size = Function("f", [*own.given], [*own.made], {"live_variables": False}).n_instructions()
        least = self.least[all(x.size2() == 1 for x in own.made)]
        return size >= least and all(x.size2() == 1 or x.size2() >= TILE for x in own.made)
