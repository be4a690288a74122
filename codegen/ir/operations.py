"""Every operation a graph can hold, in one table: its CasADi opcode, its meaning in NumPy, its class.

The NumPy definition is the reference: the C spelling of every backend must agree with it. Comparisons and
logic yield 1.0 or 0.0, and any number but zero counts as true.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

Kind = Literal["add", "mul", "div", "sqrt", "sin", "cos", "other"]
KINDS: tuple[Kind, ...] = ("add", "mul", "div", "sqrt", "sin", "cos", "other")

CONST = "const"
INPUT = "input"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its name, CasADi opcode names, number of arguments, class, and NumPy meaning."""

    name: str
    opcodes: tuple[str, ...]
    arity: int
    kind: Kind
    numpy: Callable[..., Any]
    commutes: bool = False

    def __str__(self) -> str:
        return f"{self.name}/{self.arity} ({self.kind})"


def _truth(test: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: np.where(test(*args), 1.0, 0.0)


def _remainder(a: float, b: float) -> float:
    return math.remainder(a, b) if math.isfinite(a) and b != 0 else math.nan


def _each(function: Callable[..., float]) -> Callable[..., Any]:
    return np.vectorize(function, otypes=[float])


def _op(name: str, arity: int, kind: Kind, numpy: Callable[..., Any], *, commutes: bool = False) -> Operation:
    return Operation(name, (f"OP_{name.upper()}",), arity, kind, numpy, commutes)


_TABLE = (
    _op("add", 2, "add", np.add, commutes=True),
    _op("sub", 2, "add", np.subtract),
    _op("neg", 1, "add", np.negative),
    _op("mul", 2, "mul", np.multiply, commutes=True),
    _op("sq", 1, "mul", np.square),
    _op("twice", 1, "mul", lambda a: 2.0 * a),
    _op("div", 2, "div", np.divide),
    _op("inv", 1, "div", lambda a: np.divide(1.0, a)),
    _op("sqrt", 1, "sqrt", np.sqrt),
    _op("sin", 1, "sin", np.sin),
    _op("cos", 1, "cos", np.cos),
    _op("tan", 1, "other", np.tan),
    _op("asin", 1, "other", np.arcsin),
    _op("acos", 1, "other", np.arccos),
    _op("atan", 1, "other", np.arctan),
    _op("atan2", 2, "other", np.arctan2),
    _op("sinh", 1, "other", np.sinh),
    _op("cosh", 1, "other", np.cosh),
    _op("tanh", 1, "other", np.tanh),
    _op("asinh", 1, "other", np.arcsinh),
    _op("acosh", 1, "other", np.arccosh),
    _op("atanh", 1, "other", np.arctanh),
    _op("exp", 1, "other", np.exp),
    _op("expm1", 1, "other", np.expm1),
    _op("log", 1, "other", np.log),
    _op("log1p", 1, "other", np.log1p),
    Operation("pow", ("OP_POW", "OP_CONSTPOW"), 2, "other", np.power),
    _op("hypot", 2, "other", np.hypot, commutes=True),
    _op("erf", 1, "other", _each(math.erf)),
    _op("fabs", 1, "other", np.fabs),
    _op("sign", 1, "other", np.sign),
    _op("floor", 1, "other", np.floor),
    _op("ceil", 1, "other", np.ceil),
    _op("fmin", 2, "other", np.fmin),
    _op("fmax", 2, "other", np.fmax),
    _op("fmod", 2, "other", np.fmod),
    _op("remainder", 2, "other", _each(_remainder)),
    _op("copysign", 2, "other", np.copysign),
    _op("lt", 2, "other", _truth(np.less)),
    _op("le", 2, "other", _truth(lambda a, b: ~np.greater(a, b))),  # of no number, too: a status is made of it
    _op("eq", 2, "other", _truth(np.equal), commutes=True),
    _op("ne", 2, "other", _truth(np.not_equal), commutes=True),
    _op("not", 1, "other", _truth(np.logical_not)),
    _op("and", 2, "other", _truth(np.logical_and), commutes=True),
    _op("or", 2, "other", _truth(np.logical_or), commutes=True),
    _op("if_else_zero", 2, "other", lambda test, a: np.where(np.not_equal(test, 0), a, 0.0)),
)

OPERATIONS: dict[str, Operation] = {operation.name: operation for operation in _TABLE}

ARITY: dict[str, int] = {CONST: 0, INPUT: 0} | {op.name: op.arity for op in _TABLE}
