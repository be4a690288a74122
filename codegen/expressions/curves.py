"""Formulas of one variable q with their derivatives: differentiated and simplified by SymPy, no part computed twice.

A text is read as SymPy, never executed. It is differentiated twice and simplified, its common subexpressions are
removed, and what is left goes back to SX.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from casadi import SX

from codegen.expressions.parsing import FUNCTIONS, Algebra, parse, read
from codegen.expressions.texts import text_of

VARIABLE = "q"
LONGEST = 100  # operations of what is simplified: longer formulas take SymPy long
EXACT = 1000  # bits of exact powers of numbers


class Curve(NamedTuple):
    """A formula's value, slope and curvature at q."""

    value: SX
    slope: SX
    bend: SX


def curve(text: str, q: SX) -> Curve:
    """A formula and its first and second derivative at q. RobotError says where a text cannot be read."""
    shared, results = differentiated(text)
    known = {VARIABLE: q}
    for name, part in shared:
        known[name] = parse(part, known)
    return Curve(*(parse(result, known) for result in results))


@lru_cache(maxsize=256)
def differentiated(text: str) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Shared parts by names, and the formula with two derivatives of these, as texts."""
    parse(text, {VARIABLE: SX.sym(VARIABLE)})  # what is not finite is refused here, before SymPy makes exact numbers
    import sympy  # slow to import, and few robots have formulas in joints

    q = sympy.Symbol(VARIABLE, real=True)
    formula = read(text, {VARIABLE: q}, algebra())
    results = [simplified(formula), simplified(formula.diff(q)), simplified(formula.diff(q, 2))]
    shared, left = sympy.cse(results, sympy.numbered_symbols("shared"))
    return tuple((symbol.name, text_of(part)) for symbol, part in shared), tuple(map(text_of, left))


def simplified(formula: Any) -> Any:
    """The formula in SymPy's simplest form, or as it is where it is too long to look for that or gets no shorter."""
    import sympy

    if sympy.count_ops(formula) > LONGEST:
        return formula
    return min(formula, sympy.simplify(formula), key=sympy.count_ops)


@lru_cache(maxsize=1)
def algebra() -> Algebra:
    """SymPy's numbers and functions."""
    import sympy

    def power(base: Any, exponent: Any) -> Any:
        if base.is_Rational and exponent.is_Rational and exponent.q == 1:
            exact = abs(exponent) * (int(base.p).bit_length() + int(base.q).bit_length()) < EXACT
            return base**exponent if exact else sympy.Float(base) ** exponent
        return base**exponent

    return Algebra(
        sympy.Rational,
        {name: getattr(sympy, name) for name in FUNCTIONS},
        power,
        sympy.pi,
        lambda value: bool(value.is_number),
    )
