"""Formulas of SymPy and CasADi as constraint texts (`codegen.kinematic_loops.expressions`), as a model keeps them.

A text reads back to the same formula: numbers are exact, and what the texts cannot say is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codegen.errors import RobotError
from codegen.kinematic_loops.expressions import FUNCTIONS
from codegen.limits import LONGEST_FORMULA

if TYPE_CHECKING:
    from collections.abc import Sequence


def text_of(formula: Any) -> str:
    """The text of a SymPy expression or a CasADi SX scalar; a text or a number is its own."""
    if isinstance(formula, str):
        return formula
    if isinstance(formula, int | float):
        return repr(float(formula))
    if type(formula).__module__.startswith("casadi"):
        return _casadi(formula)
    if type(formula).__module__.startswith("sympy"):
        return _sympy(formula)
    raise RobotError(f"a constraint must be a text, a SymPy expression or a CasADi SX, not {type(formula).__name__}")


def _short(text: str) -> str:
    if len(text) > LONGEST_FORMULA:
        raise RobotError(f"a constraint is longer than {LONGEST_FORMULA} characters as a text; split it")
    return text


def _sympy(formula: Any) -> str:
    if formula.is_Symbol:
        return str(formula.name)
    if formula.is_Integer:
        return f"({float(formula)!r})"
    if formula.is_Rational:
        return f"({float(formula.p)!r}/{float(formula.q)!r})"
    if formula.is_Float:
        return f"({float(formula)!r})"
    parts = [_sympy(part) for part in formula.args]
    if formula.is_Add:
        return _short(f"({' + '.join(parts)})")
    if formula.is_Mul:
        return _short(f"({'*'.join(parts)})")
    if formula.is_Pow:
        return _short(f"({parts[0]}^{parts[1]})")
    name = type(formula).__name__.lower()
    if name in ("pi", "exp1"):
        return "pi" if name == "pi" else "exp(1)"
    if name in FUNCTIONS:
        return _short(f"{name}({', '.join(parts)})")
    raise RobotError(f"a constraint cannot contain {formula.func.__name__}; use {', '.join(FUNCTIONS)} and + - * / ^")


def _casadi(formula: Any) -> str:
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
            text = symbols[inputs[0]].name()
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
