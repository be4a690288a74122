"""What every operation of a graph means in SymPy, and a graph as SymPy expressions, operation by operation.

Comparisons and logic are SymPy's, and become one or zero where numbers are made of them. `remainder` rounds halves up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy
from sympy import Eq, Ge, Integer, Le, Lt, Ne, Piecewise, S

from codegen.formulas.numbers import rational
from codegen.ir.operations import CONST, INPUT
from codegen.spatial.solve import HUGE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codegen.ir.graph import Graph, Value


def number(x: Any) -> Any:
    """One or zero for a condition; a number is its own."""
    return Piecewise((S.One, x), (S.Zero, True)) if x.is_Boolean else x


def condition(x: Any) -> Any:
    """Whether a number is not zero; a condition is its own."""
    return x if x.is_Boolean else Ne(x, 0)


def _truncated(x: Any) -> Any:
    return sympy.sign(x) * sympy.floor(sympy.Abs(x))


def _with_sign(a: Any, b: Any) -> Any:
    return sympy.Abs(a) * Piecewise((S.One, Ge(b, 0)), (-S.One, True))


NUMBERS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "neg": lambda a: -a,
    "mul": lambda a, b: a * b,
    "sq": lambda a: a**2,
    "twice": lambda a: 2 * a,
    "div": lambda a, b: a / b,
    "inv": lambda a: 1 / a,
    "sqrt": sympy.sqrt,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "asin": sympy.asin,
    "acos": sympy.acos,
    "atan": sympy.atan,
    "atan2": sympy.atan2,
    "sinh": sympy.sinh,
    "cosh": sympy.cosh,
    "tanh": sympy.tanh,
    "asinh": sympy.asinh,
    "acosh": sympy.acosh,
    "atanh": sympy.atanh,
    "exp": sympy.exp,
    "expm1": lambda a: sympy.exp(a) - 1,
    "log": sympy.log,
    "log1p": lambda a: sympy.log(1 + a),
    "pow": lambda a, b: a**b,
    "hypot": lambda a, b: sympy.sqrt(a**2 + b**2),
    "erf": sympy.erf,
    "fabs": sympy.Abs,
    "sign": sympy.sign,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "fmin": sympy.Min,
    "fmax": sympy.Max,
    "fmod": lambda a, b: a - b * _truncated(a / b),
    "remainder": lambda a, b: a - b * sympy.floor(a / b + S.Half),
    "copysign": _with_sign,
    "lt": Lt,
    "le": Le,
    "eq": Eq,
    "ne": Ne,
}
"""Operations on numbers."""

CONDITIONS: dict[str, Callable[..., Any]] = {"not": sympy.Not, "and": sympy.And, "or": sympy.Or}
"""Operations on conditions."""


def apply(op: str, args: Sequence[Any]) -> Any:
    """The SymPy expression of one operation on SymPy expressions."""
    if op == "if_else_zero":
        return Piecewise((number(args[1]), condition(args[0])), (S.Zero, True))
    if op in CONDITIONS:
        return CONDITIONS[op](*map(condition, args))
    return NUMBERS[op](*map(number, args))


def guards(value: Value, values: Sequence[Value]) -> bool:
    """Whether a value is what `codegen.spatial` adds to a divisor that may vanish: nothing at regular states."""
    return value.op == "mul" and any(abs(values[arg].constant) == HUGE for arg in value.args)


def evaluated(graph: Graph, given: Mapping[tuple[int, int], Any]) -> list[tuple[Any, ...]]:
    """The outputs of a graph, flat, as SymPy expressions of its inputs; `given` are these by port and element."""
    known: list[Any] = []
    for value in graph.values:
        if value.op == CONST:
            known.append(rational(value.constant))
        elif value.op == INPUT:
            known.append(given[value.port, value.element])
        elif guards(value, graph.values):
            known.append(Integer(0))
        else:
            known.append(apply(value.op, [known[arg] for arg in value.args]))
    return [tuple(number(known[index]) for index in result) for result in graph.results]
