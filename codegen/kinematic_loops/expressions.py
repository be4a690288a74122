"""Constraint texts as SX: a parser for plain arithmetic, which never evaluates anything as code.

sum = product {("+" | "-") product};  product = sign {("*" | "/") sign};  sign = ["+" | "-"] sign | power
power = atom ["^" sign];  atom = number | variable | "pi" | function "(" sum {"," sum} ")" | "(" sum ")"
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi
from casadi import SX

from codegen.errors import RobotError, shown
from codegen.limits import DEEPEST_FORMULA, LONGEST_FORMULA

FUNCTIONS: dict[str, tuple[int, Callable[..., SX]]] = {
    "sin": (1, casadi.sin),
    "cos": (1, casadi.cos),
    "tan": (1, casadi.tan),
    "sqrt": (1, casadi.sqrt),
    "exp": (1, casadi.exp),
    "atan2": (2, casadi.atan2),
}
_TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|([-+*/^(),]))")


def parse(text: str, variables: Mapping[str, SX]) -> SX:
    """The value of a text in terms of its variables; RobotError says where the text cannot be read."""
    if len(text) > LONGEST_FORMULA:
        raise RobotError(f"the expression {shown(text)} is longer than {LONGEST_FORMULA} characters")
    value, end = _sum(_Reader(text, variables), 0, 0)
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
    variables: Mapping[str, SX]

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

    def finite(self, value: SX, at: int) -> SX:
        """The value; RobotError if it is a constant that is no finite number."""
        if value.is_constant() and not math.isfinite(float(value)):
            raise RobotError(f"the expression {shown(self.text)} has no finite value up to place {at}")
        return value


def _sum(reader: _Reader, at: int, depth: int) -> tuple[SX, int]:
    if depth > DEEPEST_FORMULA:
        raise RobotError(f"the expression {shown(reader.text)} is nested more than {DEEPEST_FORMULA} deep")
    value, at = _product(reader, at, depth)
    while True:
        mark, end = reader.mark(at, "+-")
        if not mark:
            return value, at
        other, at = _product(reader, end, depth)
        value = value + other if mark == "+" else value - other


def _product(reader: _Reader, at: int, depth: int) -> tuple[SX, int]:
    value, at = _sign(reader, at, depth)
    while True:
        mark, end = reader.mark(at, "*/")
        if not mark:
            return value, at
        other, at = _sign(reader, end, depth)
        if mark == "/" and other.is_zero():
            raise RobotError(f"the expression {shown(reader.text)} divides by zero at place {end}")
        value = reader.finite(value * other if mark == "*" else value / other, at)


def _sign(reader: _Reader, at: int, depth: int) -> tuple[SX, int]:
    mark, end = reader.mark(at, "+-")
    if not mark:
        return _power(reader, at, depth)
    if depth > DEEPEST_FORMULA:
        raise RobotError(f"the expression {shown(reader.text)} is nested more than {DEEPEST_FORMULA} deep")
    value, at = _sign(reader, end, depth + 1)
    return (value if mark == "+" else -value), at


def _power(reader: _Reader, at: int, depth: int) -> tuple[SX, int]:
    base, at = _atom(reader, at, depth)
    mark, end = reader.mark(at, "^")
    if not mark:
        return base, at
    exponent, at = _sign(reader, end, depth + 1)
    return reader.finite(base**exponent, at), at


def _atom(reader: _Reader, at: int, depth: int) -> tuple[SX, int]:
    kind, text, end = reader.token(at)
    if kind == "number":
        return reader.finite(SX(float(text)), end), end
    if kind == "name" and text in FUNCTIONS:
        return _call(reader, text, reader.expect(end, "("), depth)
    if kind == "name" and text in reader.variables:
        return reader.variables[text], end
    if kind == "name" and text == "pi":
        return SX(casadi.pi), end
    if kind == "name":
        raise RobotError(
            f"the expression {shown(reader.text)} uses {shown(text)}, which is no variable and no function"
        )
    if kind == "mark" and text == "(":
        value, at = _sum(reader, end, depth + 1)
        return value, reader.expect(at, ")")
    raise RobotError(f"the expression {shown(reader.text)} cannot be read from place {at} on")


def _call(reader: _Reader, name: str, at: int, depth: int) -> tuple[SX, int]:
    arity, function = FUNCTIONS[name]
    arguments = []
    for k in range(arity):
        value, at = _sum(reader, reader.expect(at, ",") if k else at, depth + 1)
        arguments.append(value)
    return reader.finite(function(*arguments), at), reader.expect(at, ")")
