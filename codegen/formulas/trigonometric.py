"""Closed forms: rational functions of symbols, and of sines and cosines of angles, over the rationals.

The sum of the squares of an angle's sine and cosine is one: higher powers of a sine are replaced as they arise. What is
no rational function (a square root, an arc tangent) is a generator of its own, of which only its closed form is known.
The work is bounded by counts of terms, so that what is too large on one machine is so on all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sympy import QQ, Dummy, Rational, S, cos, fraction, sin, together
from sympy.polys.orderings import lex
from sympy.polys.polyerrors import CoercionFailed, GeneratorsError, PolynomialError
from sympy.polys.rings import PolyRing

from codegen.errors import UnsuitedError
from codegen.formulas import readable
from codegen.formulas.meaning import apply, guards, number
from codegen.formulas.numbers import simplest
from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codegen.ir.graph import Graph, Value

MOST_TERMS = 300  # of a numerator or denominator
MOST_IN_ALL = 500  # terms of all outputs
MOST_WORK = 2_000_000  # products of terms
MOST_COMMON = 10_000  # products of terms of a fraction that is reduced
HIGHEST = 8  # power that is multiplied out
BY_ZERO = "divides by zero wherever the robot is"


class NoClosedForm(UnsuitedError):
    """Why there is no formula: words that follow a function's name, and whether it would only be too large."""

    @property
    def large(self) -> bool:
        """Whether there is one that is too large to read."""
        return str(self) != BY_ZERO


class Ratio(NamedTuple):
    """A numerator and a denominator, both polynomials of a field's ring."""

    above: Any
    below: Any


class Trigonometric:
    """The ring of polynomials in given symbols and up to so many functions, and ratios of its elements."""

    def __init__(self, symbols: Sequence[Any], functions: int) -> None:
        self.spare = [Dummy(f"f{n}") for n in range(2 * functions)]
        self.ring = PolyRing([*symbols, *self.spare], QQ, lex)
        self.place = {symbol: n for n, symbol in enumerate(self.ring.symbols)}
        self.meaning: dict[int, Any] = {self.place[symbol]: symbol for symbol in symbols}
        self.angles: dict[int, tuple[int, Any]] = {}  # by places of sines, those of their cosines, and angles
        self.known: dict[Any, tuple[int, int]] = {}
        self.work = 0

    def constant(self, value: float) -> Ratio:
        """A number."""
        found = simplest(value)
        return Ratio(self.ring(QQ(found.numerator, found.denominator)), self.ring.one)

    def of(self, expression: Any) -> Ratio:
        """A SymPy expression; whole as a generator if it is no rational function of the symbols."""
        above, below = fraction(together(expression))
        try:
            return Ratio(self.ring.from_expr(above), self.ring.from_expr(below))
        except (ValueError, CoercionFailed, GeneratorsError, PolynomialError):
            return self._generator(expression)

    def _generator(self, expression: Any) -> Ratio:
        """A new generator that stands for an expression."""
        place = self.place[self.spare.pop()]
        self.meaning[place] = expression
        return Ratio(self.ring.gens[place], self.ring.one)

    # arithmetic

    def add(self, a: Ratio, b: Ratio) -> Ratio:
        """a + b."""
        if a.below == b.below:
            return self._reduced(Ratio(a.above + b.above, a.below))
        common = self._common(a.below, b.below)
        left, right = b.below.exquo(common), a.below.exquo(common)
        above = self._product(a.above, left) + self._product(b.above, right)
        return self._reduced(Ratio(above, self._product(a.below, left)))

    def sub(self, a: Ratio, b: Ratio) -> Ratio:
        """a - b."""
        return self.add(a, self.neg(b))

    def neg(self, a: Ratio) -> Ratio:
        """-a."""
        return Ratio(-a.above, a.below)

    def twice(self, a: Ratio) -> Ratio:
        """2 a."""
        return Ratio(2 * a.above, a.below)

    def mul(self, a: Ratio, b: Ratio) -> Ratio:
        """A product; factors that cancel go first."""
        a, b = self._reduced(Ratio(a.above, b.below)), self._reduced(Ratio(b.above, a.below))
        return self._reduced(Ratio(self._product(a.above, b.above), self._product(a.below, b.below)))

    def sq(self, a: Ratio) -> Ratio:
        """A square."""
        return self.mul(a, a)

    def inv(self, a: Ratio) -> Ratio:
        """A reciprocal."""
        if not a.above:
            raise NoClosedForm(BY_ZERO)
        return Ratio(a.below, a.above)

    def div(self, a: Ratio, b: Ratio) -> Ratio:
        """A quotient."""
        return self.mul(a, self.inv(b))

    def power(self, a: Ratio, exponent: int) -> Ratio:
        """A whole power."""
        result = Ratio(self.ring.one, self.ring.one)
        for _ in range(abs(exponent)):
            result = self.mul(result, a)
        return result if exponent >= 0 else self.inv(result)

    def _product(self, a: Any, b: Any) -> Any:
        """The product of two polynomials, squares of sines replaced."""
        self._bounded(len(a) * len(b))
        result = a * b
        for place, (cosine, _) in self.angles.items():
            if any(powers[place] > 1 for powers in result):
                result = self._without_squares(result, place, cosine)
        self._bounded(len(result))
        if len(result) > MOST_TERMS:
            raise NoClosedForm(f"has more than {MOST_TERMS:,} terms")
        return result

    def _without_squares(self, polynomial: Any, sine: int, cosine: int) -> Any:
        """The polynomial with 1 - cos^2 in the place of sin^2."""
        ring, result = self.ring, self.ring.zero
        square = 1 - ring.gens[cosine] ** 2
        higher: dict[int, dict[Any, Any]] = {}
        for powers, coefficient in polynomial.items():
            left = (*powers[:sine], powers[sine] % 2, *powers[sine + 1 :])
            higher.setdefault(powers[sine] // 2, {})[left] = (
                higher.get(powers[sine] // 2, {}).get(left, 0) + coefficient
            )
        for power, terms in higher.items():
            self._bounded(len(terms) * (power + 1))
            result += ring.from_dict(terms) * square**power
        return result

    def _bounded(self, products: int) -> None:
        self.work += products
        if self.work > MOST_WORK:
            raise NoClosedForm(f"takes more than {MOST_WORK:,} products of terms")

    def _common(self, a: Any, b: Any) -> Any:
        """The greatest common divisor of two polynomials, or one where it would take long to find."""
        if a.is_ground or b.is_ground or len(a) * len(b) > MOST_COMMON:
            return self.ring.one
        self._bounded(10 * len(a) * len(b))
        return a.gcd(b)

    def _reduced(self, a: Ratio) -> Ratio:
        """The same ratio without common factors; a denominator that is a number is one."""
        if a.below == 1:
            return a
        if not a.above:
            return Ratio(self.ring.zero, self.ring.one)
        common = self._common(a.above, a.below)
        above, below = (a.above, a.below) if common == 1 else (a.above.exquo(common), a.below.exquo(common))
        scale = below.LC if not below.is_ground else below.coeff(1)
        return Ratio(above.quo_ground(scale), below.quo_ground(scale))

    # functions

    def sin(self, a: Ratio) -> Ratio:
        """The sine of an angle."""
        return self._turned(a)[0]

    def cos(self, a: Ratio) -> Ratio:
        """The cosine of an angle."""
        return self._turned(a)[1]

    def _turned(self, a: Ratio) -> tuple[Ratio, Ratio]:
        """Sine and cosine of an angle: two generators, of which one angle has the same always."""
        backwards = bool(a.above) and a.above.LC < 0
        a = self.neg(a) if backwards else a
        key = (a.above, a.below)
        if key not in self.known:
            angle = self.expression(a)
            sine, cosine = (self.place[self.spare.pop()] for _ in range(2))
            self.meaning |= {sine: sin(angle), cosine: cos(angle)}
            self.angles[sine] = (cosine, angle)
            self.known[key] = (sine, cosine)
        made = [Ratio(self.ring.gens[place], self.ring.one) for place in self.known[key]]
        return (self.neg(made[0]), made[1]) if backwards else (made[0], made[1])

    def function(self, op: str, args: Sequence[Any]) -> Any:
        """Any other operation: a generator, or a condition."""
        if op == "pow" and isinstance(args[1], Ratio) and args[1].above.is_ground and args[1].below == 1:
            exponent = Rational(str(args[1].above.coeff(1)))
            if exponent.is_Integer and abs(exponent) <= HIGHEST:
                return self.power(args[0], int(exponent))
        found = apply(op, [self.expression(arg) if isinstance(arg, Ratio) else arg for arg in args])
        return found if found.is_Boolean else self.of(found) if found.is_number else self._generator(found)

    def expression(self, a: Ratio) -> Any:
        """The ratio as a SymPy expression that is short to read."""
        above, below = (readable.expression(dict(part), self.meaning, self.angles) for part in (a.above, a.below))
        return above / below if below != S.One else above


ARITHMETIC = ("add", "sub", "neg", "mul", "sq", "twice", "div", "inv", "sin", "cos")


def closed_forms(graph: Graph, given: Mapping[tuple[int, int], Any]) -> list[tuple[Any, ...]]:
    """The outputs of a graph without dead values, flat, as closed forms; `given` are its inputs by port and element.

    NoClosedForm where these would be beyond reading.
    """
    functions = sum(value.op not in (CONST, INPUT, *ARITHMETIC[:-2]) for value in graph.values)
    read = {(value.port, value.element) for value in graph.values if value.op == INPUT}
    symbols = sorted({symbol for key in read for symbol in given[key].free_symbols}, key=str)
    field, known = Trigonometric(symbols, functions + len(read)), list[Any]()
    for value in graph.values:
        known.append(_closed(field, graph.values, value, known, given))
    _check_readable([known[index] for result in graph.results for index in result])
    return [tuple(_shown(field, known[index]) for index in result) for result in graph.results]


def _check_readable(results: Sequence[Any]) -> None:
    """NoClosedForm if all results together have too many terms."""
    terms = sum(len(part) for result in results if isinstance(result, Ratio) for part in result)
    if terms > MOST_IN_ALL:
        raise NoClosedForm(f"has more than {MOST_IN_ALL:,} terms")


def _closed(
    field: Trigonometric, values: Sequence[Value], value: Value, known: Sequence[Any], given: Mapping[Any, Any]
) -> Any:
    """One value of a graph: a ratio or a condition."""
    if value.op == CONST:
        return field.constant(value.constant)
    if value.op == INPUT:
        return field.of(given[value.port, value.element])
    if guards(value, values):
        return field.constant(0.0)
    args = [known[arg] for arg in value.args]
    if value.op in ARITHMETIC:
        operation: Callable[..., Ratio] = getattr(field, value.op)
        return operation(*[arg if isinstance(arg, Ratio) else field.of(number(arg)) for arg in args])
    return field.function(value.op, args)


def _shown(field: Trigonometric, value: Any) -> Any:
    return field.expression(value) if isinstance(value, Ratio) else number(value)
