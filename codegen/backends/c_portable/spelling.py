"""How a literal and each operation are spelled, in one real type."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.ir.operations import ARITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.languages.c_scalar import Scalar

TRUTHS = frozenset(("lt", "le", "eq", "ne", "not", "and", "or"))
"""Operations that give one or zero."""

# {0}, {1}: operands; {true0}, {true1}: whether they hold; the numbers 0, 1 and 2 are {zero}, {one} and {two}.
_SPELLING = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "neg": "-{0}",
    "mul": "{0} * {1}",
    "sq": "{0} * {0}",
    "twice": "{two} * {0}",
    "div": "{0} / {1}",
    "inv": "{one} / {0}",
    "sign": "({0} > {zero}) ? {one} : (({0} < {zero}) ? -{one} : {0})",
    "lt": "({0} < {1}) ? {one} : {zero}",
    "le": "({0} > {1}) ? {zero} : {one}",
    "eq": "({0} == {1}) ? {one} : {zero}",
    "ne": "({0} != {1}) ? {one} : {zero}",
    "not": "{true0} ? {zero} : {one}",
    "and": "({true0} && {true1}) ? {one} : {zero}",
    "or": "({true0} || {true1}) ? {one} : {zero}",
    "if_else_zero": "{true0} ? {1} : {zero}",
}


@dataclass(frozen=True, slots=True)
class Words:
    """The words of C for one real type."""

    scalar: Scalar

    def __str__(self) -> str:
        return f"C99 on {self.real}"

    @property
    def real(self) -> str:
        """The type."""
        return self.scalar.real

    def literal(self, number: float) -> str:
        """The shortest literal with a decimal point that reads back as exactly this number, in brackets if negative.

        RobotError if the number is beyond the range of the type.
        """
        return re.sub(r"(?<![\d.])(\d+)(?=e)", r"\1.0", self.scalar.literal(number))

    def expression(self, op: str, operands: Sequence[str], truths: Sequence[bool]) -> str:
        """An operation on names and literals; `truths` tells which of them are one or zero."""
        if op not in _SPELLING:
            arguments = ", ".join(operands[: ARITY[op]])
            return f"{op}{self.scalar.suffix}({arguments})"
        tests = {f"true{k}": self._test(*pair) for k, pair in enumerate(zip(operands, truths, strict=True))}
        numbers = {"zero": self.literal(0.0), "one": self.literal(1.0), "two": self.literal(2.0)}
        return _SPELLING[op].format(*operands, **tests, **numbers)

    def _test(self, operand: str, truth: bool) -> str:
        """Whether a number counts as true; one and zero are told apart without asking for equality."""
        return f"({operand} > {self.literal(0.5)})" if truth else f"({operand} != {self.literal(0.0)})"
