"""Graphs: read from CasADi, verified, interpreted, counted."""

from __future__ import annotations

from dataclasses import replace

import casadi
import numpy as np
import pytest
from graph_cases import one_of_each, pendulum, pendulum_by_hand
from work import calls

from codegen.errors import RobotError
from codegen.ir.counting import Count, count
from codegen.ir.graph import Graph, Port, Value, from_casadi, verify
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST, INPUT, OPERATIONS

LIVE = {"live_variables": False}


def test_pendulum_means_what_it_says() -> None:
    q, v = np.array([0.3, -1.2]), np.array([0.7, 2.0])
    for got, wanted in zip(interpret(pendulum(), q, v), pendulum_by_hand(q, v), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-14)


def test_what_is_read_of_the_inputs() -> None:
    """The second of four elements is named and not used, the third is a result, of the other input nothing is."""
    values = tuple(Value(INPUT, port=0, element=element) for element in (1, 2, 3))
    ports = Port("q", (4,)), Port("v", (2,))
    graph = Graph("some", ports, (Port("a", (2,)),), (*values, Value("neg", (2,))), ((1, 3),))
    assert [list(elements) for elements in graph.read()] == [[2, 3], []]


def test_interpret_broadcasts_batches() -> None:
    q = np.linspace(-1, 1, 12).reshape(2, 3, 2)
    v = np.array([[0.1, 0.2]])
    M, h = interpret(pendulum(), q, v)
    assert M.shape == (2, 3, 2, 2)
    assert h.shape == (2, 3, 3)
    np.testing.assert_allclose(h[1, 2], pendulum_by_hand(q[1, 2], v[0])[1], rtol=1e-14)


@pytest.mark.parametrize("point", [(0.3, 0.8), (0.9, -0.4), (0.2, 0.2), (0.5, 0.0)])
def test_every_operation_means_what_casadi_means(point: tuple[float, float]) -> None:
    """CasADi's own virtual machine against the NumPy definitions, for every SX operation there is."""
    x = casadi.SX.sym("x", 2)
    a, b = x[0], x[1]
    two = ["atan2", "hypot", "fmin", "fmax", "fmod", "remainder", "copysign"]
    one = [
        "sqrt",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "atanh",
        "exp",
    ]
    one += ["expm1", "log", "log1p", "erf", "fabs", "sign", "floor", "ceil"]
    terms = [a + b, a - b, -a, a * b, a * a, 2 * a, a / (b + 3), 1 / a, casadi.acosh(a + 1), a < b, a <= b]
    terms += [a == b, a != b, casadi.logic_not(b), casadi.logic_and(a, b), casadi.logic_or(a, b), a**3.5]
    terms += [casadi.if_else(a < b, a, b), a**b]
    terms += [getattr(casadi, name)(a) for name in one] + [getattr(casadi, name)(a, b) for name in two]
    function = casadi.Function("f", [x], [casadi.vertcat(*terms)], LIVE)
    graph = from_casadi(function, (Port("x", (2,)),), (Port("y", (len(terms),)),), "each")
    assert {value.op for value in graph.values} >= set(OPERATIONS) - {"sub"}
    np.testing.assert_allclose(interpret(graph, point)[0], np.array(function(point)).ravel(), rtol=1e-13)


def test_structural_zeros_and_constants_are_results() -> None:
    x = casadi.SX.sym("x", 2)
    column = casadi.SX(4, 1)
    column[1], column[3] = x[1], 5.0
    graph = from_casadi(casadi.Function("f", [x], [column], LIVE), (Port("x", (2,)),), (Port("y", (2, 2)),), "f")
    np.testing.assert_array_equal(interpret(graph, [7.0, 8.0])[0], [[0.0, 8.0], [0.0, 5.0]])


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        (lambda x: casadi.vertcat(casadi.erfinv(x[0]), x[1]), "OP_ERFINV"),
        (lambda x: casadi.vertcat(x[0] + casadi.inf, x[1]), "not finite"),
        (lambda x: x[0], "not the columns"),
    ],
)
def test_what_cannot_be_generated_is_named(terms: object, said: str) -> None:
    x = casadi.SX.sym("x", 2)
    function = casadi.Function("f", [x], [terms(x)], LIVE)  # type: ignore[operator]
    with pytest.raises(RobotError, match=said):
        from_casadi(function, (Port("x", (2,)),), (Port("y", (2,)),), "f")


def test_sparse_inputs_and_mx_functions_are_refused() -> None:
    x = casadi.SX.sym("x", casadi.Sparsity.unit(3, 1))
    with pytest.raises(RobotError, match="dense"):
        from_casadi(casadi.Function("f", [x], [x[1]], LIVE), (Port("x", (3,)),), (Port("y", (1,)),), "f")
    m = casadi.MX.sym("m", 3)
    with pytest.raises(RobotError, match="SX"):
        from_casadi(casadi.Function("f", [m], [m]), (Port("x", (3,)),), (Port("y", (3,)),), "f")


def test_a_function_with_live_variables_is_refused() -> None:
    x = casadi.SX.sym("x")
    with pytest.raises(ValueError, match="again"):
        from_casadi(casadi.Function("f", [x], [casadi.sin(casadi.cos(x))]), (Port("x", ()),), (Port("y", ()),), "f")


GOOD = Graph(
    "good",
    (Port("x", (2,)),),
    (Port("y", (1,)),),
    (Value(INPUT, port=0, element=1), Value(CONST, constant=2.0), Value("mul", (0, 1))),
    ((2,),),
)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"values": (Value("sin", (0,)),)}, "not there yet"),
        ({"values": (*GOOD.values[:2], Value("mul", (0, 2)))}, "not there yet"),
        ({"values": (*GOOD.values[:2], Value("mul", (0, -1)))}, "not there yet"),
        ({"values": (*GOOD.values[:2], Value("mul", (0,)))}, "no operation"),
        ({"values": (*GOOD.values[:2], Value("frobnicate", (0, 1)))}, "no operation"),
        ({"values": (Value(INPUT, port=1, element=0), *GOOD.values[1:])}, "outside"),
        ({"values": (Value(INPUT, port=0, element=2), *GOOD.values[1:])}, "outside"),
        ({"values": (GOOD.values[0], Value(CONST, constant=float("nan")), GOOD.values[2])}, "constant nan"),
        ({"values": (GOOD.values[0], Value(CONST, constant=float("inf")), GOOD.values[2])}, "constant inf"),
        ({"results": ((3,),)}, "no value"),
        ({"results": ((-1,),)}, "no value"),
        ({"results": ((2, 2),)}, "do not fill"),
        ({"results": ()}, "do not fill"),
        ({"outputs": (Port("x", (1,)),)}, "same name"),
        ({"inputs": (Port("x", (-2,)),)}, "outside|negative"),
    ],
)
def test_verify_finds_what_is_wrong(broken: dict[str, object], said: str) -> None:
    assert verify(GOOD) is GOOD
    with pytest.raises(ValueError, match=said):
        verify(replace(GOOD, **broken))


def test_everything_prints_in_one_line() -> None:
    graph = pendulum()
    assert repr(graph).startswith("<Graph pendulum: (q[2], v[2]) -> (M[2, 2], h[3]), ")
    texts = [repr(graph), str(count(graph)), str(graph.inputs[0]), *map(str, graph.values)]
    texts += [str(operation) for operation in OPERATIONS.values()]
    assert all(text and "\n" not in text for text in texts)
    assert str(Count(add=2, cos=1)) == "3 operations (add 2, cos 1)"


def test_counts_by_class() -> None:
    counted = count(one_of_each())
    assert (counted.add, counted.mul, counted.div) == (3, 3, 2)
    assert (counted.sqrt, counted.sin, counted.cos) == (1, 1, 1)
    assert counted.total == len(OPERATIONS)
    assert count(GOOD) == Count(mul=1)


def test_work_grows_with_the_size_of_a_function() -> None:
    """Twice the operations, twice the calls; a handful for each."""

    def work(size: int) -> int:
        x = casadi.SX.sym("x", 30)
        terms = [x[k] for k in range(30)]
        for k in range(size):
            a, b = terms[-1 - k % 7], terms[-1 - k % 29]
            terms.append(a * b if k % 2 else a - 1.5 * b)
        function = casadi.Function("f", [x], [casadi.vertcat(*terms)], LIVE)
        graphs: list[Graph] = []
        ports = (Port("x", (30,)),), (Port("y", (len(terms),)),)
        made = calls(lambda: graphs.append(from_casadi(function, *ports, "f")))
        assert count(graphs[0]).total > size
        return made

    short, long = work(5_000), work(10_000)
    assert long < 2.1 * short
    assert long < 40 * 10_000
