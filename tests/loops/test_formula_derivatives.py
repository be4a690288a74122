"""Formulas of loops: SymPy's value, slopes and second derivatives, against the complex step, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from casadi import (
    OP_CONST,
    OP_COS,
    OP_INPUT,
    OP_OUTPUT,
    OP_SIN,
    SX,
    Function,
    cse,
    jacobian,
    jtimes,
    vertcat,
    vertsplit,
)

import codegen
from codegen.expressions.derivatives import derivatives, differentiated
from codegen.expressions.parsing import parse
from codegen.oracle import texts as oracle_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXTS = (
    ("x + 2*y - z/3",),
    ("sin(x + y) - cos(x - y + 0.3)*sin(x) + cos(pi/9)*sin(y + 2*pi/15)", "x*y*z"),
    ("(1 + 0.1*(x + y)^4)^3 - z^2",),
    ("sqrt(1 + 0.7317263548129371^2)*atan2(y, 3 + x) + exp(-x)*tan(0.1*z)",),
    ("2^x*log(2 + y*y) - z^1.5", "x^200"),
    ("sqrt(x^2) - y*z",),
    (" + ".join(f"{k}.1*sin(x/{k} + z)*cos(y/{k})" for k in range(1, 40)),),
)
AT = np.array([0.4, -0.3, 0.7])
RATES = np.array([0.9, 1.3, -0.8])


def value(text: str, x: np.ndarray) -> complex:
    return complex(oracle_texts.value(text, dict(zip("xyz", x, strict=True))))


@pytest.mark.parametrize("texts", TEXTS, ids=lambda texts: texts[0][:30])
def test_derivatives(texts: Sequence[str]) -> None:
    x, rates = SX.sym("x", 3), SX.sym("r", 3)
    found = Function("found", [x, rates], [*derivatives(texts, dict(zip("xyz", vertsplit(x), strict=True)), rates)])
    h = 1e-5

    def slopes(at: np.ndarray) -> np.ndarray:
        return np.array([[value(text, at + 1e-30j * one).imag / 1e-30 for one in np.eye(3)] for text in texts])

    bend = (slopes(AT + h * RATES) - slopes(AT - h * RATES)) @ RATES / (2 * h)
    expected = [value(text, AT + 0j).real for text in texts], slopes(AT), bend
    for got, wanted, bound in zip(found(AT, RATES), expected, (1e-13, 1e-12, 1e-7), strict=True):
        atol = bound * np.abs(wanted).max()
        np.testing.assert_allclose(np.array(got), np.reshape(wanted, got.shape), rtol=0, atol=atol)


def test_what_texts_cannot_say_is_casadis() -> None:
    assert differentiated(("sqrt(x^2)",), ("x",)) is None
    assert differentiated(("x^2",), ("x",)) is not None


def operations(x: SX, rates: SX, values: Sequence[SX]) -> tuple[int, int]:
    """Operations without constants, and those that are sines and cosines."""
    function = Function("f", [x, rates], cse([*values]))
    kinds = [function.instruction_id(k) for k in range(function.n_instructions())]
    own = [kind for kind in kinds if kind not in (OP_CONST, OP_INPUT, OP_OUTPUT)]
    return len(own), sum(kind in (OP_SIN, OP_COS) for kind in own)


@pytest.mark.parametrize(("loop", "part"), [("left-hip-differential", 0.7), ("left-knee-ankle-differential", 1.1)])
def test_sympy_saves_operations(loop: str, part: float) -> None:
    """Against CasADi's derivatives of the text, its common subexpressions removed too. A sine is worth ten others."""
    (own,) = [one for one in codegen.load("tello_humanoid").loops if one.name == loop]
    names, texts = [*own.stated["variables"]], own.stated["implicit"]
    x, rates = SX.sym("x", len(names)), SX.sym("r", len(names))
    at = dict(zip(names, vertsplit(x), strict=True))
    phi = vertcat(*[parse(text, at) for text in texts])
    plain = operations(x, rates, [phi, jacobian(phi, x), jtimes(jacobian(phi, x) @ rates, x, rates)])
    ours = operations(x, rates, derivatives(texts, at, rates))
    assert ours[0] < part * plain[0]
    assert ours[0] + 9 * ours[1] < 0.75 * (plain[0] + 9 * plain[1])
