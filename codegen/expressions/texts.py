"""Formulas of SymPy and CasADi as texts (`codegen.expressions.parsing`), as a model keeps them.

A text reads back to the same formula: numbers are exact, and what the texts cannot say is refused.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from codegen.errors import RobotError, shown
from codegen.expressions.parsing import FUNCTIONS
from codegen.limits import LONGEST_FORMULA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

INVERSE = {"asin": "atan2({0}, sqrt(1 - {0}^2))", "acos": "atan2(sqrt(1 - {0}^2), {0})", "atan": "atan2({0}, 1)"}
LONGEST_NUMBER = 1000  # bits of a numerator or denominator: a double has room for 1023
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def text_of(formula: Any, words: Mapping[str, str] | None = None) -> str:
    """The text of a SymPy expression or a CasADi SX scalar; a text or a number is its own.

    `words` are what the text calls symbols whose own names it cannot hold. RobotError for what texts cannot say.
    """
    if isinstance(formula, str):
        return formula
    if isinstance(formula, int | float):
        return repr(float(formula))
    if type(formula).__module__.startswith("casadi"):
        return _casadi(formula, words or {})
    if type(formula).__module__.startswith("sympy"):
        return _sympy(formula, words or {})
    raise RobotError(f"a constraint must be a text, a SymPy expression or a CasADi SX, not {type(formula).__name__}")


def zero_of(formula: Any) -> Any:
    """What vanishes where a formula holds: the difference of the sides of a SymPy equation, or the formula itself."""
    return formula.lhs - formula.rhs if type(formula).__name__ == "Equality" else formula


def words_of(names: Iterable[str]) -> dict[str, str]:
    """By names that are no variables of a text (left-hip, pi), words that are, and are taken by no other name."""
    taken, found = {*names}, dict[str, str]()
    for name in names:
        if not _WORD.fullmatch(name) or name in FUNCTIONS or name == "pi":
            number = len(found)
            while (word := f"x{number}") in taken:
                number += 1
            found[name] = word
            taken.add(word)
    return found


def _short(text: str) -> str:
    if len(text) > LONGEST_FORMULA:
        raise RobotError(f"a constraint is longer than {LONGEST_FORMULA} characters as a text; split it")
    return text


def _sympy(formula: Any, words: Mapping[str, str]) -> str:
    if formula.is_Symbol:
        return words.get(formula.name, str(formula.name))
    if formula.is_Integer:
        return _number(formula)
    if formula.is_Rational and max(abs(formula.p), formula.q).bit_length() > LONGEST_NUMBER:
        return _number(formula)
    if formula.is_Rational:
        return f"({float(formula.p)!r}/{float(formula.q)!r})"
    if formula.is_Float:
        return _number(formula)
    parts = [_sympy(part, words) for part in formula.args]
    if formula.is_Add:
        return _short(f"({' + '.join(parts)})")
    if formula.is_Mul:
        return _short(f"({'*'.join(parts)})")
    if formula.is_Pow and 2 * formula.exp == 1:
        return _short(f"sqrt({parts[0]})")
    if formula.is_Pow:
        return _short(f"({parts[0]}^{parts[1]})")
    name = type(formula).__name__.lower()
    if name in ("pi", "exp1"):
        return "pi" if name == "pi" else "exp(1)"
    if name in FUNCTIONS:
        return _short(f"{name}({', '.join(parts)})")
    if name in INVERSE:
        return _short(INVERSE[name].format(*parts))
    raise RobotError(f"a constraint cannot contain {formula.func.__name__}; use {', '.join(FUNCTIONS)} and + - * / ^")


def _number(value: Any) -> str:
    """A number of SymPy; RobotError if it is none that a double holds."""
    if not math.isfinite(float(value)):
        raise RobotError(f"a constraint has a number that is not finite, or too large: {shown(str(value))}")
    return f"({float(value)!r})"


def _casadi(formula: Any, words: Mapping[str, str]) -> str:
    import casadi

    formula = casadi.SX(formula)
    if formula.numel() != 1:
        raise RobotError(f"a constraint must be one number, not a matrix of shape {formula.shape}")
    symbols = casadi.symvar(formula)
    function = casadi.Function("constraint", symbols, [casadi.densify(formula)])
    spelled: dict[int, str] = {}
    for k in range(function.n_instructions()):
        operation, inputs = function.instruction_id(k), function.instruction_input(k)
        if operation == casadi.OP_OUTPUT:
            return spelled[inputs[0]]
        if operation == casadi.OP_INPUT:
            name = symbols[inputs[0]].name()
            text = words.get(name, name)
        elif operation == casadi.OP_CONST:
            text = f"({function.instruction_constant(k)!r})"
        else:
            text = _short(_spelled(operation, [spelled[i] for i in inputs]))
        spelled[function.instruction_output(k)[0]] = text
    raise AssertionError("a CasADi function ends with its output")


def _spelled(operation: int, parts: Sequence[str]) -> str:
    import casadi

    templates = {
        casadi.OP_ADD: "({0} + {1})",
        casadi.OP_SUB: "({0} - {1})",
        casadi.OP_MUL: "{0}*{1}",
        casadi.OP_DIV: "({0}/{1})",
        casadi.OP_NEG: "(-{0})",
        casadi.OP_SQ: "({0}^2)",
        casadi.OP_TWICE: "(2*{0})",
        casadi.OP_INV: "(1/{0})",
        casadi.OP_POW: "({0}^{1})",
        casadi.OP_CONSTPOW: "({0}^{1})",
    }
    templates |= {getattr(casadi, f"OP_{name.upper()}"): f"{name}({{0}})" for name in FUNCTIONS if name != "atan2"}
    templates[casadi.OP_ATAN2] = "atan2({0}, {1})"
    if operation not in templates:
        raise RobotError(f"a constraint cannot contain this CasADi operation; use {', '.join(FUNCTIONS)} and + - * /")
    return templates[operation].format(*parts)
