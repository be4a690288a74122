"""Formulas with their first and second derivatives: differentiated and simplified by SymPy, no part computed twice.

Texts are read as SymPy, never executed. They are simplified and differentiated twice, the common subexpressions of all
of it are removed, and what is left goes back to SX. CasADi differentiates formulas that are too long for that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from casadi import SX, Function, horzcat, jacobian, jtimes, substitute, vertcat

from codegen.errors import RobotError
from codegen.expressions.parsing import parse, read
from codegen.expressions.simplify import algebra, simplified
from codegen.expressions.texts import text_of

VARIABLE = "q"
"""The variable of a joint's formulas."""

LONGEST = 100  # operations of a formula on average: longer ones take SymPy long


class Derivatives(NamedTuple):
    """The values of m formulas of n variables, their slopes (m x n), and along rates the second derivatives (m)."""

    value: SX
    slope: SX
    bend: SX


Derive = Callable[[Sequence[str], Mapping[str, SX], SX], Derivatives]
"""Formulas at values of their variables, and the rates of these: what `derivatives` and `stated` take."""


class _Texts(NamedTuple):
    """Shared parts by names, and the results in terms of these; all by rows."""

    shared: tuple[tuple[str, str], ...]
    value: tuple[str, ...]
    slope: tuple[tuple[str, ...], ...]
    bend: tuple[str, ...]


def curve(text: str, q: SX) -> Derivatives:
    """A formula of one variable at q. RobotError says where a text cannot be read."""
    return derivatives((text,), {VARIABLE: q}, SX(1))


def derivatives(texts: Sequence[str], at: Mapping[str, SX], rates: SX) -> Derivatives:
    """Formulas at values of their variables, which change at constant rates. RobotError as `curve`."""
    symbols = {name: SX.sym(name) for name in at}
    value = vertcat(*[parse(text, symbols) for text in texts])  # refuses what is not finite before SymPy reads it
    short = Function("length", [*symbols.values()], [value]).n_instructions() <= LONGEST * len(texts)
    found = differentiated(tuple(texts), tuple(at)) if short else None
    if found is None:
        return stated(texts, at, rates)
    known = {f"x{k}": value for k, value in enumerate(at.values())}
    known |= {f"rate{k}": SX(rates[k]) for k in range(len(at))}
    for name, part in found.shared:
        known[name] = parse(part, known)
    return Derivatives(
        vertcat(*[parse(text, known) for text in found.value]),
        vertcat(*[horzcat(*[parse(text, known) for text in row]) for row in found.slope]),
        vertcat(*[parse(text, known) for text in found.bend]),
    )


def stated(texts: Sequence[str], at: Mapping[str, SX], rates: SX) -> Derivatives:
    """The same by CasADi, of the formulas as they are."""
    symbols = {name: SX.sym(name) for name in at}
    x, value = vertcat(*symbols.values()), vertcat(*[parse(text, symbols) for text in texts])
    slope = jacobian(value, x)
    return Derivatives(*substitute([value, slope, jtimes(slope @ rates, x, rates)], [x], [vertcat(*at.values())]))


@lru_cache(maxsize=256)
def differentiated(texts: tuple[str, ...], names: tuple[str, ...]) -> _Texts | None:
    """The derivatives as texts, in which variables are x0, x1, ... and their rates rate0, rate1, ...

    None where texts cannot say them (the slope of an absolute value).
    """
    import sympy  # slow to import, and few robots have formulas

    x = [sympy.Symbol(f"x{k}", real=True) for k in range(len(names))]
    rates = [sympy.Symbol(f"rate{k}", real=True) for k in range(len(names))]
    value = [simplified(read(text, dict(zip(names, x, strict=True)), algebra())) for text in texts]
    slope = [[formula.diff(one) for one in x] for formula in value]
    bend = [_second(row, x, rates) for row in slope]
    entries = [*value, *(entry for row in slope for entry in row), *bend]
    shared, left = sympy.cse(entries, sympy.numbered_symbols("shared"))
    try:
        parts, results = [(symbol.name, text_of(part)) for symbol, part in shared], [text_of(part) for part in left]
    except RobotError:
        return None
    m, n = len(value), len(x)
    rows = [tuple(results[m + n * i : m + n * (i + 1)]) for i in range(m)]
    return _Texts(tuple(parts), tuple(results[:m]), tuple(rows), tuple(results[m + m * n :]))


def _second(slope: Sequence[Any], x: Sequence[Any], rates: Sequence[Any]) -> Any:
    """The second derivative along rates of a formula with these slopes: mixed ones once, times two."""
    import sympy

    def row(i: int) -> Any:
        return sympy.Add(*((2 if j > i else 1) * rates[j] * slope[i].diff(x[j]) for j in range(i, len(x))))

    return sympy.Add(*(rates[i] * row(i) for i in range(len(x))))
