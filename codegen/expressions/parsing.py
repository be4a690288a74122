"""Formulas as texts: a parser for plain arithmetic, over CasADi's SX or SymPy, which evaluates nothing as code.

sum = product {("+" | "-") product};  product = sign {("*" | "/") sign};  sign = ["+" | "-"] sign | power
power = atom ["^" sign];  atom = number | variable | "pi" | function "(" sum {"," sum} ")" | "(" sum ")"
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi
from casadi import SX

from codegen.errors import RobotError, shown
from codegen.limits import DEEPEST_FORMULA, LONGEST_FORMULA

FUNCTIONS = {"sin": 1, "cos": 1, "tan": 1, "sqrt": 1, "exp": 1, "log": 1, "atan2": 2}
"""How many arguments each function takes."""


@dataclass(frozen=True, slots=True)
class Algebra:
    """What texts are read as: numbers made of their digits, functions, powers, pi; and whether a value is a number."""

    number: Callable[[str], Any]
    functions: Mapping[str, Callable[..., Any]]
    power: Callable[[Any, Any], Any]
    pi: Any
    constant: Callable[[Any], bool]


CASADI = Algebra(
    lambda digits: SX(float(digits)),
    {name: getattr(casadi, name) for name in FUNCTIONS},
    pow,
    SX(casadi.pi),
    lambda value: bool(value.is_constant()),
)
_TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|([-+*/^(),]))")


def parse(text: str, variables: Mapping[str, SX]) -> SX:
    """The value of a text in terms of its variables; RobotError says where the text cannot be read."""
    return SX(read(text, variables, CASADI))


def read(text: str, variables: Mapping[str, Any], algebra: Algebra) -> Any:
    """The same in an algebra."""
    if len(text) > LONGEST_FORMULA:
        raise RobotError(f"the expression {shown(text)} is longer than {LONGEST_FORMULA} characters")
    value, end = _sum(_Reader(text, variables, algebra), 0, 0)
    if text[end:].strip():
        raise RobotError(f"the expression {shown(text)} cannot be read from place {end} on")
    return value


def names(text: str) -> tuple[str, ...]:
    """The names in a text that are neither functions nor pi, in order of appearance."""
    found = (match[2] for match in _TOKEN.finditer(text) if match[2])
    return tuple(dict.fromkeys(name for name in found if name not in FUNCTIONS and name != "pi"))


def substituted(text: str, values: Mapping[str, float]) -> str:
    """The text with numbers in the place of some of its variables."""

    def spelled(match: re.Match[str]) -> str:
        known = match[2] in values and match[2] not in FUNCTIONS
        return f" ({values[match[2]]!r})" if known else match[0]

    return _TOKEN.sub(spelled, text)


@dataclass(frozen=True, slots=True)
class _Reader:
    text: str
    variables: Mapping[str, Any]
    algebra: Algebra

    def token(self, at: int) -> tuple[str, str, int]:
        """The kind and text of the token at a place, and where it ends; kind "" at the end."""
        match = _TOKEN.match(self.text, at)
        if match is None:
            return "", "", at
        kind = ("number", "name", "mark")[match.lastindex - 1 if match.lastindex else 0]
        return kind, match[match.lastindex or 0], match.end()

    def mark(self, at: int, marks: str) -> tuple[str, int]:
        """The mark at a place if it is one of `marks`, else nothing."""
        kind, text, end = self.token(at)
        return (text, end) if kind == "mark" and text in marks else ("", at)

    def expect(self, at: int, mark: str) -> int:
        found, end = self.mark(at, mark)
        if not found:
            raise RobotError(f"the expression {shown(self.text)} lacks a {mark!r} at place {at}")
        return end

    def finite(self, value: Any, at: int) -> Any:
        """The value; RobotError if it is a constant that is no finite number."""
        if self.algebra.constant(value) and not _real(value):
            raise RobotError(f"the expression {shown(self.text)} has no finite value up to place {at}")
        return value


def _real(value: Any) -> bool:
    """Whether a constant is a finite real number."""
    try:
        return math.isfinite(float(value))
    except (TypeError, OverflowError):  # SymPy's complex infinity, and numbers that are not real or too large
        return False


def _sum(reader: _Reader, at: int, depth: int) -> tuple[Any, int]:
    if depth > DEEPEST_FORMULA:
        raise RobotError(f"the expression {shown(reader.text)} is nested more than {DEEPEST_FORMULA} deep")
    value, at = _product(reader, at, depth)
    while True:
        mark, end = reader.mark(at, "+-")
        if not mark:
            return value, at
        other, at = _product(reader, end, depth)
        value = value + other if mark == "+" else value - other


def _product(reader: _Reader, at: int, depth: int) -> tuple[Any, int]:
    value, at = _sign(reader, at, depth)
    while True:
        mark, end = reader.mark(at, "*/")
        if not mark:
            return value, at
        other, at = _sign(reader, end, depth)
        if mark == "/" and reader.algebra.constant(other) and other == 0:
            raise RobotError(f"the expression {shown(reader.text)} divides by zero at place {end}")
        value = reader.finite(value * other if mark == "*" else value / other, at)


def _sign(reader: _Reader, at: int, depth: int) -> tuple[Any, int]:
    mark, end = reader.mark(at, "+-")
    if not mark:
        return _power(reader, at, depth)
    if depth > DEEPEST_FORMULA:
        raise RobotError(f"the expression {shown(reader.text)} is nested more than {DEEPEST_FORMULA} deep")
    value, at = _sign(reader, end, depth + 1)
    return (value if mark == "+" else -value), at


def _power(reader: _Reader, at: int, depth: int) -> tuple[Any, int]:
    base, at = _atom(reader, at, depth)
    mark, end = reader.mark(at, "^")
    if not mark:
        return base, at
    exponent, at = _sign(reader, end, depth + 1)
    return reader.finite(reader.algebra.power(base, exponent), at), at


def _atom(reader: _Reader, at: int, depth: int) -> tuple[Any, int]:
    kind, text, end = reader.token(at)
    if kind == "number":
        return reader.finite(reader.algebra.number(text), end), end
    if kind == "name" and text in FUNCTIONS:
        return _call(reader, text, reader.expect(end, "("), depth)
    if kind == "name" and text in reader.variables:
        return reader.variables[text], end
    if kind == "name" and text == "pi":
        return reader.algebra.pi, end
    if kind == "name":
        raise RobotError(
            f"the expression {shown(reader.text)} uses {shown(text)}, which is no variable and no function"
        )
    if kind == "mark" and text == "(":
        value, at = _sum(reader, end, depth + 1)
        return value, reader.expect(at, ")")
    raise RobotError(f"the expression {shown(reader.text)} cannot be read from place {at} on")


def _call(reader: _Reader, name: str, at: int, depth: int) -> tuple[Any, int]:
    arguments = []
    for k in range(FUNCTIONS[name]):
        value, at = _sum(reader, reader.expect(at, ",") if k else at, depth + 1)
        arguments.append(value)
    return reader.finite(reader.algebra.functions[name](*arguments), at), reader.expect(at, ")")
