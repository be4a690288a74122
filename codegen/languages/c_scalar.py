"""C99 on scalars of one real type: how a literal and each operation are spelled."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from codegen.errors import RobotError
from codegen.ir.operations import OPERATIONS

# {0}, {1}: operands (names, elements or literals, never longer expressions); {f}: suffix of libm's functions;
# 0, 1 and 2 are written through {zero}, {one} and {two}.
_SPELLING = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "neg": "-{0}",
    "mul": "{0}*{1}",
    "sq": "{0}*{0}",
    "twice": "{two}*{0}",
    "div": "{0}/{1}",
    "inv": "{one}/{0}",
    "sign": "({0} > {zero} ? {one} : ({0} < {zero} ? -{one} : {0}))",
    "lt": "(R)({0} < {1})",
    "le": "(R)!({0} > {1})",
    "eq": "(R)({0} == {1})",
    "ne": "(R)({0} != {1})",
    "not": "(R)({0} == {zero})",
    "and": "(R)({0} != {zero} && {1} != {zero})",
    "or": "(R)({0} != {zero} || {1} != {zero})",
    "if_else_zero": "({0} != {zero} ? {1} : {zero})",
    "fmax": "({0} >= {1} || {1} != {1} ? {0} : {1})",
}


def _template(name: str, arity: int) -> str:
    """The spelling of an operation; what is not in the table is a function of <math.h> by the same name."""
    arguments = ", ".join(f"{{{k}}}" for k in range(arity))
    return _SPELLING.get(name, f"{name}{{f}}({arguments})")


@dataclass(frozen=True, slots=True)
class Scalar:
    """One real type of C: its name, the suffix of its functions and literals, its NumPy dtype."""

    real: str
    suffix: str
    dtype: str

    def __str__(self) -> str:
        return f"C99 scalar {self.real}"

    def literal(self, number: float) -> str:
        """The shortest literal that reads back as exactly this number (rounded to the real type first).

        RobotError if the number is beyond the range of the real type.
        """
        with np.errstate(over="ignore"):
            rounded = np.dtype(self.dtype).type(number)
        if not math.isfinite(rounded):
            raise RobotError(f"the constant {number!r} does not fit in a {self.real}; generate for float64")
        text = f"{rounded!s}{self.suffix}"
        return f"({text})" if text.startswith("-") else text

    def spellings(self) -> dict[str, str]:
        """For each operation a format string whose slots are its operands."""
        words = {"f": self.suffix, "zero": f"0.0{self.suffix}", "one": f"1.0{self.suffix}"}
        words["two"] = f"2.0{self.suffix}"
        operands = ("{0}", "{1}")
        return {name: _template(name, op.arity).format(*operands, **words) for name, op in OPERATIONS.items()}


FLOAT64 = Scalar("double", "", "float64")
FLOAT32 = Scalar("float", "f", "float32")
