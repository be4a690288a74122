"""Formulas simplified by SymPy: angles that are sums taken apart, polynomials of sines and cosines in Horner's form."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations
from typing import TYPE_CHECKING, Any

from codegen.expressions.parsing import FUNCTIONS, Algebra

if TYPE_CHECKING:
    from collections.abc import Callable

TURN = 10  # operations that a sine or cosine is worth
EXACT = 1000  # bits of exact powers of numbers
DIGITS = 30  # of numbers that are no fractions, such as cos(pi/9)
STEEPEST = 8  # degree of polynomials that are multiplied out
ORDERS = 4  # generators of which all orders are tried


@lru_cache(maxsize=1)
def algebra() -> Algebra:
    """SymPy's numbers and functions; what is no fraction, such as sqrt(2), becomes one of many digits.

    SymPy would look for closed forms of such numbers otherwise, for minutes and gigabytes.
    """
    import sympy

    def function(name: str) -> Callable[..., Any]:
        return lambda *arguments: _fraction(getattr(sympy, name), *arguments)

    def power(base: Any, exponent: Any) -> Any:
        if base.is_Rational and exponent.is_Integer:
            exact = abs(exponent) * (int(base.p).bit_length() + int(base.q).bit_length()) < EXACT
            return base**exponent if exact else sympy.Float(base) ** exponent
        return _fraction(sympy.Pow, base, exponent)

    return Algebra(
        sympy.Rational,
        {name: function(name) for name in FUNCTIONS},
        power,
        sympy.pi,
        lambda value: bool(value.is_number),
    )


def _fraction(function: Any, *arguments: Any) -> Any:
    """A function's value, of numbers as a fraction."""
    import sympy

    if not all(argument.is_number for argument in arguments):
        return function(*arguments)
    return sympy.Rational(str(sympy.N(function(*arguments, evaluate=False), DIGITS)))


def simplified(formula: Any) -> Any:
    """The shortest form that is found."""
    import sympy

    forms = [formula, horner(formula), horner(apart(formula))]
    return min(*forms, *map(sympy.simplify, forms[:1] if len(formula.free_symbols) == 1 else ()), key=cost)


def cost(formula: Any) -> int:
    """Operations, in which the same sine or cosine counts once."""
    import sympy

    return int(sympy.count_ops(formula)) + TURN * len(formula.atoms(sympy.sin, sympy.cos))


def apart(formula: Any) -> Any:
    """Sines and cosines of a + b + number by those of a and b, where these are angles too; numbers as fractions."""
    import sympy

    turns = {turn: turn.args[0].as_independent(*formula.free_symbols, as_Add=True) for turn in _turns(formula)}
    angles = sorted({angle for _, angle in turns.values()}, key=str)
    sums = {a + sign * b: (a, sign * b) for a, b in permutations(angles, 2) for sign in (1, -1)}
    taken = {}
    for turn, (number, angle) in turns.items():
        shorter = all(sympy.count_ops(part) < sympy.count_ops(angle) for part in sums.get(angle, (angle,)))
        parts = {sympy.Dummy(real=True): part for part in (sums[angle] if shorter else (angle,))}
        taken[turn] = sympy.expand_trig(turn.func(sympy.Add(number, *parts))).xreplace(parts)
    return formula.xreplace(taken).replace(_irrational, lambda one: sympy.Rational(str(sympy.N(one, DIGITS))))


def _turns(formula: Any) -> list[Any]:
    import sympy

    return sorted((turn for turn in formula.atoms(sympy.sin, sympy.cos) if turn.free_symbols), key=str)


def _irrational(part: Any) -> bool:
    return bool(part.is_number and not part.is_Rational and part.is_finite and part.is_real)


def horner(formula: Any) -> Any:
    """A polynomial of sines, cosines and symbols in Horner's form, in the order of these that makes it shortest.

    What is no polynomial stays as it is.
    """
    import sympy

    names = {turn: sympy.Dummy(str(turn), real=True) for turn in _turns(formula)}
    named = formula.xreplace(names)
    generators = sorted(named.free_symbols, key=str)
    if not named.is_polynomial(*generators) or _degree(named) > STEEPEST:
        return formula
    orders = permutations(generators) if len(generators) <= ORDERS else [tuple(generators)]
    forms = [sympy.horner(sympy.expand(named), *order) for order in orders]
    return min(forms, key=sympy.count_ops).xreplace({symbol: turn for turn, symbol in names.items()})


def _degree(polynomial: Any) -> int:
    """At most the degree of a polynomial that is not multiplied out."""
    if polynomial.is_Pow:
        return _degree(polynomial.base) * int(polynomial.exp)
    parts = map(_degree, polynomial.args)
    return max(parts, default=int(polynomial.is_Symbol)) if not polynomial.is_Mul else sum(parts)
