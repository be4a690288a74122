"""Values that called graphs take of earlier ones, in the place of making them again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import codegen
from codegen.api import task
from codegen.interfaces.casadi_functions import exported
from codegen.ir import reused as module
from codegen.ir.calls import GraphCall
from codegen.ir.counted import counted
from codegen.ir.graph import Graph, Port, Value, verify
from codegen.ir.interpreter import interpret
from codegen.ir.operations import INPUT
from codegen.ir.products import WithProducts, straight_line
from codegen.ir.reused import reused
from codegen.passes import emitted

X = np.array([0.4, -1.3, 0.7, 0.2, 1.1, -0.6])


def example() -> WithProducts:
    """r = f(a) and z = g(w, a, r), then the same of b: f = exp(s) of s = sin(a0 a1 + a2), and g = (s + r) w + s^2."""

    def given(*sizes: int) -> list[Value]:
        return [Value(INPUT, port=k, element=n) for k, size in enumerate(sizes) for n in range(size)]

    f = Graph(
        "f",
        (Port("p", (3,)),),
        (Port("r", (1,)), Port("more", (2,))),
        (
            *given(3),
            *(Value("mul", (0, 1)), Value("add", (3, 2)), Value("sin", (4,))),
            *(Value("exp", (5,)), Value("cos", (6,)), Value("add", (5, 6))),
        ),
        ((6,), (7, 8)),
    )
    g = Graph(
        "g",
        (Port("w", (1,)), Port("p", (3,)), Port("r", (1,))),
        (Port("z", (1,)),),
        (
            *given(1, 3, 1),
            *(Value("mul", (2, 1)), Value("add", (3, 5)), Value("sin", (6,))),
            *(Value("add", (4, 7)), Value("mul", (8, 0)), Value("sq", (7,)), Value("add", (9, 10))),
        ),
        ((11,),),
    )
    ports = tuple(Port(name, (3,)) for name in ("a", "b"))
    own = Graph("own", (Port("x", (6,)),), (*ports, Port("w", (1,))), tuple(given(6)), ((0, 1, 2), (3, 4, 5), (5,)))
    calls = list[GraphCall]()
    for name in "ab":
        made = Port(f"r{name}", (1,)), Port(f"m{name}", (2,))
        calls += [GraphCall(f, (name,), made), GraphCall(g, ("w", name, made[0].name), (Port(f"z{name}", (1,)),))]
    return WithProducts(own, tuple(calls), (Port("za", (1,)), Port("zb", (1,))))


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few operations are worth it."""
    monkeypatch.setattr(module, "LEAST", 1)
    monkeypatch.setattr(module, "SHARE", 1)


def test_later_calls_take_what_earlier_ones_make() -> None:
    """Of products in whichever order, and what is made of what the first call makes."""
    function = example()
    taken = reused(function)
    first, second = taken.called
    assert str(next(module._reuses(function, function.called[1]))) == "g takes 2 values of f"
    assert [(port.name, port.size) for port in (*first.outputs[2:], *second.inputs[3:])] == [("out2", 2), ("in3", 2)]
    assert [own.takes[-1] for own in taken.products if isinstance(own, GraphCall) and own.graph is second] == [
        "ra_2",
        "rb_2",
    ]
    for graph in taken.called:
        verify(graph)
    before, after = (emitted(own) for own in (function, taken))
    for x, y in zip(*(interpret(straight_line(own), X) for own in (function, after)), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-15)
    assert counted(emitted(taken)) == counted(before)
    assert counted(function).total - counted(before).total >= 2 * 4


def test_all_later_calls_have_to_find_them() -> None:
    """What is computed of other numbers is another value, and so is what no earlier call made."""
    function = example()
    *others, last = function.products
    assert isinstance(last, GraphCall)
    twice = reused(replace(function, products=(*others, replace(last, takes=("w", "a", "ra")))))
    assert [own.takes[-1] for own in twice.products if isinstance(own, GraphCall)][-1] == "ra_2"
    for takes in (("w", "a", "rb"), ("w", "ma", "rb")):
        alone = replace(function, products=(*others, replace(last, takes=takes)))
        assert reused(alone) is alone


def test_few_values_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    function = example()
    monkeypatch.setattr(module, "SHARE", 9)
    assert reused(function) is function


def test_hessians_of_steps_take_what_their_jacobians_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of Go1 by RK4: what dynamics at each stage and their second derivatives begin with."""
    monkeypatch.undo()
    asked = task(codegen.load("go1"), "step_rk4")
    found = list[int]()
    for way in (lambda function: function, reused):
        monkeypatch.setattr("codegen.passes.reused", way)
        (own,) = exported(asked, 2, ("jac_adj1_",))
        found.append(counted(own.sparse.function).total)
    before, after = found
    assert before - after > 14_000
