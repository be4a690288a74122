"""Constraint texts for the oracle: their value, at complex numbers too, by precedence climbing."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from codegen.errors import RobotError
from codegen.oracle.rotations import turned

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Value = complex | NDArray[np.complex128]

_WORDS = re.compile(r"\s*(\d*\.?\d+(?:[eE][+-]?\d+)?\.?|\d+\.(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|\S)")
_STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
_SIGN = 3  # a sign binds more than a product and less than a power


def value(text: str, variables: Mapping[str, Value]) -> Value:
    """The text's value. Complex variables carry a direction in tiny imaginary parts (the complex step).

    Variables may be arrays, all of one shape: many values at once.
    """
    words = _WORDS.findall(text)
    words.reverse()
    found = _climb(words, variables, 0)
    if words:
        raise RobotError(f"the expression {text!r} does not end where it should")
    return found


def _climb(words: list[str], variables: Mapping[str, Value], least: int) -> Value:
    """The value of the words up to the first operator weaker than `least`; takes them off the end of the list."""
    word = words.pop()
    if word in ("+", "-"):
        operand = _climb(words, variables, _SIGN)
        left = operand if word == "+" else -operand
    elif word == "(":
        left = _climb(words, variables, 0)
        words.pop()
    elif words and words[-1] == "(":
        left = _call(word, words, variables)
    elif word in variables:
        left = variables[word] + 0j
    else:
        left = complex(math.pi if word == "pi" else float(word))
    while words and _STRENGTH.get(words[-1], -1) >= max(least, 1):
        operator = words.pop()
        strength = _STRENGTH[operator]
        right = _climb(words, variables, _SIGN if operator == "^" else strength + 1)
        left = _combined(operator, left, right)
    return left


def _call(name: str, words: list[str], variables: Mapping[str, Value]) -> Value:
    words.pop()
    arguments = [_climb(words, variables, 0)]
    while words.pop() == ",":
        arguments.append(_climb(words, variables, 0))
    if name == "atan2":
        return np.asarray(turned(*map(np.asarray, arguments)), np.complex128)
    functions = {"sin": np.sin, "cos": np.cos, "tan": np.tan, "sqrt": np.sqrt, "exp": np.exp, "log": np.log}
    return functions[name](arguments[0])


def _combined(operator: str, left: Value, right: Value) -> Value:
    if operator == "^":
        if isinstance(right, complex) and right.imag == 0.0 and right.real.is_integer():
            whole = int(right.real)
            return math.prod([left] * abs(whole), start=1.0 + 0j) ** (-1 if whole < 0 else 1)
        return np.exp(right * np.log(left))
    if operator == "*":
        return left * right
    if operator == "/":
        return left / right
    return left + right if operator == "+" else left - right
