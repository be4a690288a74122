"""Constraints stated in Python: texts, SymPy and CasADi say the same; texts mean what SymPy says they mean."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
import pytest
import sympy

import codegen
from codegen.errors import RobotError
from codegen.expressions.parsing import names, parse
from codegen.expressions.texts import text_of
from codegen.oracle import ORACLE
from codegen.oracle.texts import value

if TYPE_CHECKING:
    from collections.abc import Callable

TEXTS = (
    "1 + 2*x - y/4",
    "-x^2 + (-x)^2 + 2^-x",
    "2^3^0.5*x",
    "x - y - 1 - (x - (y - 1))",
    "x/y/2*3",
    "--x + +y",
    "sin(x)*cos(y) - tan(x/3)*exp(-y) + sqrt(x^2 + 1)",
    "atan2(y, x) + atan2(-y, -x - 0.5)",
    "pi*1e-2*x + .5 + 3.",
    "sin(cos(sin(x))) ^ 3",
)
AT = {"x": 0.7, "y": 1.3}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_mean_what_sympy_and_the_oracle_say(text: str) -> None:
    x, y = casadi.SX.sym("x"), casadi.SX.sym("y")
    f = casadi.Function("f", [x, y], [parse(text, {"x": x, "y": y})])
    stated = sympy.sympify(text.replace("^", "**"), locals={"x": sympy.Symbol("x"), "y": sympy.Symbol("y")})
    expected = float(stated.subs(AT).evalf())
    assert float(f(*AT.values())) == pytest.approx(expected, rel=1e-13)
    assert value(text, AT).real == pytest.approx(expected, rel=1e-13)
    slope = float(sympy.diff(stated, "x").subs(AT).evalf())
    assert value(text, {**AT, "x": 0.7 + 1e-30j}).imag / 1e-30 == pytest.approx(slope, rel=1e-12)


@pytest.mark.parametrize("text", TEXTS)
def test_sympy_and_casadi_formulas_become_texts(text: str) -> None:
    x, y = casadi.SX.sym("x"), casadi.SX.sym("y")
    expected = value(text, AT).real
    symbolic = sympy.sympify(text.replace("^", "**"), locals={"x": sympy.Symbol("x"), "y": sympy.Symbol("y")})
    for formula in (symbolic, parse(text, {"x": x, "y": y})):
        assert value(text_of(formula), AT).real == pytest.approx(expected, rel=1e-13)
    assert names(text) == tuple(name for name in dict.fromkeys(c for c in text if c in "xy") if name in names(text))


def test_what_texts_cannot_say_is_refused() -> None:
    x = sympy.Symbol("x")
    for formula, says in (
        (sympy.sinh(x), "cannot contain sinh"),
        (sympy.Piecewise((x, x > 0), (0, True)), "cannot contain"),
        (casadi.fmax(casadi.SX.sym("x"), 1), "cannot contain this CasADi operation"),
        (casadi.SX.sym("x", 2), "must be one number"),
        ([1], "must be a text"),
    ):
        with pytest.raises(RobotError, match=says):
            text_of(formula)


def test_inverse_functions_and_roots_of_sympy_become_texts() -> None:
    x = sympy.Symbol("x")
    for formula in (sympy.asin(x), sympy.acos(-x), sympy.atan(2 * x), sympy.sqrt(x + 1), 1 / sympy.sqrt(x)):
        assert value(text_of(formula), {"x": 0.7}).real == pytest.approx(float(formula.subs(x, 0.7)), rel=1e-13)
    assert text_of(sympy.sqrt(x)) == "sqrt(x)"


def test_symbols_may_have_any_joint_s_name(build: Callable[..., Any]) -> None:
    """Names that no text can hold: with a minus sign, of a function, and a word that stands in for another."""
    chain = codegen.load("chain:3")
    called = dict(zip(chain.joint_names, ("left-hip", "sin", "x0"), strict=True))
    bodies = tuple(replace(b, joint=replace(b.joint, name=called[b.joint.name])) for b in chain.bodies)
    chain = replace(chain, bodies=bodies)
    hip, knee = sympy.symbols("left-hip x0", real=True)
    robots = [
        chain.with_loop("cam", explicit={"sin": 2 * hip + sympy.sin(knee)}),
        chain.with_loop("cam", explicit={"sin": 2 * casadi.SX.sym("left-hip") + casadi.sin(casadi.SX.sym("x0"))}),
        chain.with_loop("cam", explicit={"sin": "2*a + sin(b)"}, variables={"a": "left-hip", "b": "x0"}),
    ]
    q, v, tau = robots[2].random(1)
    for robot in robots:
        expected = ORACLE["aba"](robots[2], q, v, tau)
        np.testing.assert_allclose(build(robot, "aba")(q, v, tau), expected, rtol=1e-11)


def test_an_implicit_formula_may_be_an_equation() -> None:
    first, second = (sympy.Symbol(name) for name in codegen.load("chain:3").joint_names[:2])
    stated = codegen.load("chain:3").with_loop("follow", implicit=[sympy.Eq(sympy.sin(first), 2 * second)])
    q = stated.random(3)[0]
    assert math.sin(q[0]) == pytest.approx(2 * q[1], abs=1e-12)
    with pytest.raises(RobotError, match="cannot contain Equality"):
        codegen.load("chain:3").with_loop("follow", explicit={"link0_joint": sympy.Eq(second, 0)})


def geared(formula: object) -> codegen.Model:
    """A chain of four, the last joint driven by the first two."""
    chain = codegen.load("chain:4,alternate")
    return chain.with_loop("cam", explicit={"link3_joint": formula}, variables={"a": "link0_joint", "b": "link1_joint"})


def test_the_three_ways_of_stating_a_formula_make_one_robot(build: Callable[..., Any]) -> None:
    text = "0.5*sin(a) + 2*b"
    a, b = sympy.symbols("a b")
    sa, sb = casadi.SX.sym("a"), casadi.SX.sym("b")
    robots = [geared(text), geared(sympy.sin(a) / 2 + 2 * b), geared(0.5 * casadi.sin(sa) + 2 * sb)]
    q, v, tau = robots[0].random(1)
    for robot in robots:
        assert (robot.nq, robot.nv, [len(node.bodies) for node in robot.nodes]) == (3, 3, [4])
        found = build(robot, "aba")(q, v, tau)
        np.testing.assert_allclose(found, ORACLE["aba"](robots[0], q, v, tau), rtol=1e-11)


def test_implicit_formulas_choose_or_take_their_independent_joints() -> None:
    chain = codegen.load("chain:3")
    formula = "sin(link0_joint) - 2*link1_joint"
    chosen = chain.with_loop("follow", implicit=[formula])
    taken = chain.with_loop("follow", implicit=[formula], independent=["link1_joint"], scale=[0.5])
    assert chosen.loops[0].independent == ("link0_joint",)
    assert taken.loops[0].independent == ("link1_joint",)
    q, v, a = taken.random(2)
    # the rate of link1 is half of the first velocity; that of link0 follows
    rates = taken_rates(taken, q, v)
    assert rates[1] == pytest.approx(v[0] / 2)
    assert math.cos(q[0]) * rates[0] == pytest.approx(2 * rates[1])
    np.testing.assert_allclose(codegen.build(taken, "rnea")(q, v, a), ORACLE["rnea"](taken, q, v, a), rtol=1e-10)


def taken_rates(model: codegen.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The rates of all joints, through the Jacobian of the frames: angular velocities about z, summed."""
    _, _, velocity = codegen.build(model, "fk", frames=("link0", "link1", "link2"))(q, v)
    return np.diff(velocity[:, 5], prepend=0.0)


def test_a_new_loop_gathers_and_renumbers_bodies() -> None:
    tree = codegen.load("binary_tree:2,2")
    tied = tree.with_loop("tie", explicit={"b3_1_joint": "b2_0_joint"})
    assert [len(node.bodies) for node in tied.nodes] == [1, 1, 3, 1]
    assert {body.name for body in tied.bodies} == {body.name for body in tree.bodies}
    with pytest.raises(RobotError, match="choose a new printable name"):
        tied.with_loop("tie", implicit=["b1_0_joint"])
    with pytest.raises(RobotError, match="uses 'nothing', which is no variable"):
        tied.with_loop("other", explicit={"b1_0_joint": "nothing"})
    with pytest.raises(RobotError, match="unknown joint 'zz'"):
        tied.with_loop("other", explicit={"zz": "b1_0_joint"})
    with pytest.raises(RobotError, match="needs either 'explicit' or 'implicit'"):
        tied.with_loop("other")
