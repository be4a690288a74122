"""Constants in graphs that are called: what all calls are given as constants."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from codegen.ir.calls import GraphCall
from codegen.ir.counted import counted
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST, INPUT
from codegen.ir.products import MatrixProduct, WithProducts, straight_line
from codegen.ir.propagated import propagated
from codegen.passes import emitted, run


def example(second: float, *, product: bool = False) -> WithProducts:
    """y = f(a) and z = f(b) with f(p) = p0 p1 + p2, of a = [x, 1, x] and b = [x, second, x]; or b is a product."""
    x, one, other, zero = (
        Value(INPUT, port=0, element=0),
        Value(CONST, constant=1.0),
        Value(CONST, constant=second),
        Value(CONST),
    )
    ports = (Port("a", (3,)), Port("b", (3,)), Port("left", (3, 1)), Port("right", (1, 1)))
    results = ((0, 1, 0), (0, 2, 0), (0, 3, 0), (0,))
    given = [Value(INPUT, port=0, element=k) for k in range(3)]
    body = Graph(
        "f",
        (Port("p", (3,)),),
        (Port("r", (1,)),),
        (*given, Value("mul", (0, 1)), Value("add", (3, 2))),
        ((4,),),
    )
    y, z = Port("y", (1,)), Port("z", (1,))
    steps = (GraphCall(body, ("a",), (y,)), GraphCall(body, ("c" if product else "b",), (z,)))
    own = (MatrixProduct(Port("c", (3, 1)), "left", "right"),) if product else ()
    graph = Graph("g", (Port("x", (1,)),), ports, (x, one, other, zero), results)
    return WithProducts(graph, (*own, *steps), (y, z))


@pytest.mark.parametrize(
    ("function", "multiplied"),
    [(example(1.0), True), (example(3.0), False), (example(0.0, product=True), False)],
)
def test_constants_of_all_calls_are_known(function: WithProducts, multiplied: bool) -> None:
    """x times one is x then."""
    told = propagated(function)
    assert (told is not function) is multiplied
    assert [value.op for value in told.called[0].values].count(CONST) == multiplied
    for own in (told, emitted(function)):
        assert interpret(straight_line(own), np.array([1.5])) == interpret(straight_line(function), np.array([1.5]))
    made = emitted(function)
    assert isinstance(made, WithProducts)
    assert counted(made).mul == counted(function).mul - 2 * multiplied


def test_zeros_of_products_are_known() -> None:
    """A call that is given a product has no product of its zero, and counts are those of straight-line code."""
    function = example(0.0, product=True)
    last = WithProducts(function.graph, (function.products[0], function.products[2]), function.outputs[1:])
    told = propagated(last).after(partial(run, order=()))
    assert counted(last).mul == 3
    assert counted(told).mul == 2
    assert counted(told) == counted(straight_line(told))
    assert propagated(told) is told
