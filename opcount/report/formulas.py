"""Formulas of small robots: closed forms as MathML, which browsers show by themselves, and as LaTeX to copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Symbol, cos, sin, symbols
from sympy.printing.mathml import mathml

from codegen.formulas import symbolic
from codegen.formulas.latex import numbered as numbers_of
from codegen.progress import each
from codegen.robot import load
from opcount.report.elements import code, folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.formulas.expressions import Expressions

ROBOT = "chain:2"
M1, M2, L1, L2, G = symbols("m1 m2 l1 l2 g", positive=True)
PENDULUM = {
    "inertia:link0": (M1, L1, 0, 0),
    "inertia:link1": (M2, L2, 0, 0),
    "offset:link1_joint": (L1, 0, 0),
    "gravity": (G, 0, 0),
}
ABOUT = (
    "A double pendulum of point masses m₁ and m₂ on rods of lengths l₁ and l₂. x points down along gravity g; q₁ is "
    "measured from it, and q₂ from the first rod; s₁₂ is sin(q₁ + q₂). These are our algorithms, simplified by SymPy."
)
SHOWN = ("crba", "minverse", "rnea", "aba")


def formulas(algorithms: Sequence[str] = SHOWN) -> str:
    """A heading, an equation in MathML and its LaTeX for each algorithm, as HTML."""
    robot, parts = load(ROBOT), [f"<p>{ABOUT}</p>"]
    for name in each(algorithms, lambda name: f"formula of {name}"):
        found = symbolic(robot, name, parameters=PENDULUM)
        parts.append(f"<h3>{name}</h3>\n{_equations(found)}")
        parts.append(folded("LaTeX", code(found.latex(short=True))))
    return "\n".join(parts)


def _equations(found: Expressions) -> str:
    """The outputs in MathML: matrices as such, the elements of vectors one by one, coordinates by their numbers."""
    numbered = {
        symbol: Symbol(f"{name}{n}", real=True)
        for name, own in found.symbols.items()
        for n, symbol in enumerate([*own], 1)
    }
    turns = {cos: "c", sin: "s"}
    angles = {symbol: n for n, symbol in enumerate([*found.symbols["q"]], 1)}

    def short(turn: Any) -> Any:
        """s12 for sin(q1 + q2)."""
        return Symbol(f"{turns[turn.func]}{digits}") if (digits := numbers_of(turn.args[0], angles)) else turn

    parts = []
    for name in found:
        whole = found[name].replace(lambda part: part.func in turns, short).subs(numbered)
        if whole.shape[1] == 1:
            parts += [_equation(f"{name}{n}", entry) for n, entry in enumerate(whole, 1)]
        else:
            parts.append(_equation(name, whole))
    return "\n".join(parts)


def _equation(name: str, expression: Any) -> str:
    """One equation; a matrix has borders instead of brackets, which not every font can stretch."""
    left, right = (mathml(side, printer="presentation") for side in (Symbol(name), expression))
    for written, character in (("InvisibleTimes", "&#8290;"), ("ApplyFunction", "&#8289;")):
        right = right.replace(f"&{written};", character)
    right = right.replace("<mo>[</mo><mtable>", "<mtable>").replace("</mtable><mo>]</mo>", "</mtable>")
    return f'<div class="wide"><math display="block"><mrow>{left}<mo>=</mo>{right}</mrow></math></div>'
