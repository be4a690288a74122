"""The C of one generated source: how literals, operations and angles are spelled for scalars and lanes alike.

Sums, products and quotients are operators, which C has for numbers and for vectors. Everything else is a small
function that `real.h.jinja` makes from the scalar spelling and that treats every lane by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from codegen.ir.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.languages.c_scalar import Scalar

TRIG = ("fast", "libm")
OPERATORS = frozenset(("add", "sub", "neg", "mul", "sq", "twice", "div", "inv"))


@lru_cache(maxsize=8)
def _spellings(scalar: Scalar) -> dict[str, str]:
    return scalar.spellings()


@dataclass(frozen=True, slots=True)
class Language:
    """The scalar type, the prefix of all names, whose sine and cosine (`fast`: own, or `libm`), and where results are.

    They may be `in_place`, where arguments are, and wait then until all arguments are read.
    """

    scalar: Scalar
    prefix: str
    trig: str = "fast"
    in_place: bool = True

    def __str__(self) -> str:
        return f"{self.scalar}, {self.trig} angles, names {self.prefix}_*"

    @property
    def own_angles(self) -> bool:
        """Whether sines and cosines are taken together, in arrays."""
        return self.trig == "fast"

    def everywhere(self, operand: str, literal: bool) -> str:
        """An operand as a T: a literal becomes one number in every lane."""
        return f"ALL({operand})" if literal else operand

    def spell(self, op: str, operands: Sequence[str], literals: Sequence[bool]) -> str:
        """An operation on operands, some of which may be literals."""
        if all(literals) or op not in OPERATORS:
            operands = [self.everywhere(text, literal) for text, literal in zip(operands, literals, strict=True)]
        if op in OPERATORS:
            return _spellings(self.scalar)[op].format(*operands)
        return f"{self.prefix}_{op}({', '.join(operands)})"

    def helper(self, op: str) -> str:
        """The lines that make the function of an operation which is no operator."""
        upper, suffix = self.prefix.upper(), self.scalar.suffix
        before = f"{upper}_NO_ERRNO(sqrt{suffix})\n" if op == "sqrt" else ""
        macro = "BINARY" if OPERATIONS[op].arity == 2 else "UNARY"
        body = _spellings(self.scalar)[op].format("x", "y")
        return f"{before}{upper}_{macro}({self.prefix}_{op}, {body})"
