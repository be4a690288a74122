"""Doubles as exact rationals of few digits, and rationals as floats."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from sympy import Float, Pow, Rational

MOST_DIGITS = 17  # of a denominator; every double of usual size is nearest to a rational with so many


@lru_cache(maxsize=4096)
def simplest(value: float) -> Fraction:
    """A rational of few digits to which this double is the nearest one: 1/3, 981/100; the double itself if none is."""
    for digits in range(MOST_DIGITS + 1):
        found = Fraction(value).limit_denominator(10**digits)
        if float(found) == value:
            return found
    return Fraction(value)


def rational(value: float) -> Any:
    """The same as a SymPy number."""
    found = simplest(value)
    return Rational(found.numerator, found.denominator)


def with_floats(expression: Any) -> Any:
    """The expression with floats in the place of its fractions, but for exponents."""
    if expression.is_Rational and not expression.is_Integer:
        return Float(expression)
    if not expression.args:
        return expression
    if isinstance(expression, Pow):
        return with_floats(expression.base) ** expression.exp
    return expression.func(*map(with_floats, expression.args))
