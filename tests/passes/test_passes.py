"""Every pass: what it saves, and that it changes nothing else."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from drawn_graphs import PRODUCTS, graphs
from graph_cases import everything, one_of_each, pendulum
from hypothesis import assume, given, settings
from thorough import besides

import codegen
from codegen import passes
from codegen.ir.counting import count
from codegen.ir.graph import Graph, Port, Value, verify
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST, INPUT
from codegen.passes.list_scheduling import cycles
from codegen.passes.steps import steps_of
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

EXACT = (passes.fold_constants, passes.drop_dead, *passes.ARRANGE)


class Build:
    """A graph written as Python: values are places, results are given at the end."""

    def __init__(self) -> None:
        self.values = [Value(INPUT, port=0, element=k) for k in range(3)]

    def __getattr__(self, op: str) -> object:
        return lambda *args: self._put(Value(op, tuple(args)))

    def const(self, number: float) -> int:
        return self._put(Value(CONST, constant=number))

    def _put(self, value: Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def graph(self, *result: int) -> Graph:
        ports = (Port("x", (3,)),), (Port("y", (len(result),)),)
        return verify(Graph("case", *ports, tuple(self.values), (result,)))


def case(text: str) -> Graph:
    """The graph of an expression list such as 'add(x, neg(y))'; x, y, z are inputs, c(1.0) a constant."""
    b = Build()
    names = {"x": 0, "y": 1, "z": 2, "c": b.const}
    ops = ("add", "sub", "mul", "div", "neg", "inv", "sq", "twice", "sin", "cos", "pow", "sqrt", "fabs", "lt")
    names |= {op: getattr(b, op) for op in (*ops, "if_else_zero", "fmin", "exp")}
    results = eval(f"[{text}]", {}, names)
    return b.graph(*results)


def simplified(graph: Graph, *steps: passes.Pass) -> str:
    """The operations left after the steps, dead values dropped."""
    for step in steps:
        graph = verify(step(graph))
    ops = [v.op for v in passes.drop_dead(graph).values if v.op not in (INPUT, CONST)]
    return " ".join(ops)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("add(x, c(0.0))", ""),
        ("sub(x, c(0.0))", ""),
        ("sub(c(0.0), x)", "neg"),
        ("mul(x, c(1.0))", ""),
        ("mul(c(0.0), x)", ""),
        ("mul(x, c(-1.0))", "neg"),
        ("mul(c(2.0), x)", "twice"),
        ("mul(x, x)", "sq"),
        ("add(x, x)", "twice"),
        ("sub(x, x)", ""),
        ("neg(neg(x))", ""),
        ("div(x, c(1.0))", ""),
        ("div(x, c(-1.0))", "neg"),
        ("div(c(1.0), x)", "inv"),
        ("div(c(0.0), x)", ""),
        ("add(x, neg(y))", "sub"),
        ("add(neg(x), y)", "sub"),
        ("sub(x, neg(y))", "add"),
        ("add(x, c(-3.0))", "sub"),
        ("neg(sub(x, y))", "sub"),
        ("add(mul(neg(x), y), z)", "mul sub"),
        ("sub(z, mul(x, neg(y)))", "mul add"),
        ("mul(neg(x), neg(y))", "mul"),
        ("div(neg(x), neg(y))", "div"),
        ("neg(mul(x, c(3.0)))", "mul"),
        ("mul(neg(x), c(3.0))", "mul"),
        ("sub(neg(x), y)", "add neg"),
        ("mul(twice(x), c(3.0))", "mul"),
        ("twice(mul(x, c(3.0)))", "mul"),
        ("twice(neg(x))", "mul"),
        ("neg(inv(x))", "div"),
        ("cos(neg(x))", "cos"),
        ("add(sin(neg(x)), y)", "sin sub"),
        ("sq(neg(x))", "sq"),
        ("pow(x, c(2.0))", "sq"),
        ("pow(x, c(0.5))", "sqrt"),
        ("pow(x, c(-1.0))", "inv"),
        ("pow(x, c(0.0))", ""),
        ("if_else_zero(c(1.0), x)", ""),
        ("if_else_zero(lt(c(2.0), c(1.0)), x)", ""),
        ("fmin(x, x)", ""),
        ("sin(c(0.5))", ""),
        ("exp(c(1000.0))", "exp"),
    ],
)
def test_constants_and_signs(before: str, after: str) -> None:
    graph = case(before)
    assert simplified(graph, passes.fold_constants) == after
    point = [0.7, -1.3, 0.4]
    np.testing.assert_allclose(
        interpret(passes.fold_constants(graph), point)[0], interpret(graph, point)[0], rtol=1e-15
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("add(mul(x, c(3.0)), mul(x, c(-3.0)))", ""),
        ("add(exp(sub(x, y)), sub(y, x))", "sub exp sub"),
        ("add(mul(x, y), z), sub(z, mul(y, x))", "mul add sub"),
        ("sub(x, y), add(z, sub(y, x))", "sub sub"),
    ],
)
def test_equal_and_opposite_values_meet_while_rules_see_them(before: str, after: str) -> None:
    assert simplified(case(before), passes.fold_constants) == after


def test_shared_negations_are_not_pushed_where_they_would_multiply() -> None:
    b = Build()
    n = b.neg(0)
    graph = b.graph(b.mul(n, 1), b.mul(n, 2), b.exp(n))
    assert simplified(graph, passes.fold_constants) == "neg mul mul exp"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("add(x, y), add(y, x)", "add"),
        ("add(mul(x, y), mul(y, x))", "mul twice"),
        ("mul(sub(x, y), sub(y, x))", "sub sq neg"),
        ("add(mul(x, c(3.0)), mul(x, c(-3.0)))", ""),
        ("sub(x, y), sub(x, z)", "sub sub"),
        ("div(x, y), div(y, x)", "div div"),
        ("sin(x), sin(x), cos(x)", "sin cos"),
    ],
)
def test_what_is_computed_once_is_not_computed_again(before: str, after: str) -> None:
    assert simplified(case(before), passes.fold_constants) == after


def test_constants_with_different_signs_of_zero_stay_apart() -> None:
    graph = case("c(0.0), c(-0.0)")
    kept = passes.drop_dead(passes.fold_constants(graph))
    assert [np.signbit(value.constant) for value in kept.values] == [False, True]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("div(x, z), div(y, z)", "inv mul mul"),
        ("div(x, z), inv(z)", "inv mul"),
        ("div(x, z)", "div"),
        ("div(x, y), div(x, z)", "div div"),
        ("div(x, c(3.0))", "mul"),
        ("div(x, c(0.0))", "div"),
        ("div(x, c(1e-310))", "div"),
        ("mul(x, inv(y))", "div"),
        ("mul(inv(y), x), inv(z)", "div inv"),
    ],
)
def test_reciprocals(before: str, after: str) -> None:
    assert simplified(case(before), passes.share_reciprocals) == after


def test_dead_values_go_and_order_stays() -> None:
    b = Build()
    b.exp(0)
    graph = b.graph(b.sin(2), b.const(3.0))
    kept = passes.drop_dead(graph)
    assert [value.op for value in kept.values] == [INPUT, "sin", CONST]
    assert passes.drop_dead(kept) is kept


def test_sine_and_cosine_stand_together() -> None:
    graph = case("sin(x), sin(y), exp(z), cos(y), cos(x), cos(z)")
    assert simplified(graph, passes.hoist_angles) == "sin cos sin cos cos exp"


def test_angles_come_first_and_angles_of_angles_where_they_are_needed() -> None:
    graph = case("exp(z), cos(sin(add(x, y))), sin(z), sin(sin(add(x, y)))")
    assert simplified(graph, passes.fold_constants, passes.hoist_angles) == "add sin sin exp cos sin"


def _finite(graph: Graph, x: np.ndarray) -> bool:
    return bool(np.isfinite(interpret(everything(graph), x)[0]).all())


@settings(max_examples=150, deadline=None)
@given(graph=graphs())
def test_exact_passes_change_no_bit(graph: Graph) -> None:
    """Every pass alone, on the same graphs."""
    x = np.array([0.73, -1.31, 0.42])
    assume(_finite(graph, x))
    before, cost = interpret(graph, x)[0], count(graph).total
    for step in dict.fromkeys(EXACT):
        after = verify(step(graph))
        np.testing.assert_array_equal(interpret(after, x)[0], before, err_msg=step.__name__)
        assert count(passes.drop_dead(after)).total <= cost, step.__name__


@settings(max_examples=300, deadline=None)
@given(graph=graphs(operations=PRODUCTS))
def test_reciprocals_change_the_last_places_only(graph: Graph) -> None:
    x = np.array([0.73, -1.31, 1.42])
    assume(_finite(graph, x))
    before = interpret(everything(graph), x)[0]
    assume(((abs(before) > 1e-100) & (abs(before) < 1e100) | (before == 0)).all())
    for after in (passes.share_reciprocals(graph), passes.run(graph)):
        np.testing.assert_allclose(interpret(after, x)[0], interpret(graph, x)[0], rtol=1e-10)


def test_what_dead_values_leave_is_simplified() -> None:
    """Doubled twice is times four once nothing else uses the first double."""
    b = Build()
    double = b._put(Value("add", (0, 0)))
    result = b._put(Value("twice", (double,)))
    b._put(Value("acos", (double,)))
    graph = b.graph(result)
    after = passes.run(graph, order=())
    assert count(after).total == 1
    assert passes.run(after, order=()) == after


@settings(max_examples=100, deadline=None)
@given(graph=graphs())
def test_run_reaches_a_fixpoint_and_never_costs(graph: Graph) -> None:
    after = passes.run(graph, order=())
    assert passes.run(after, order=()) == after
    counted = count(passes.run(graph, order=passes.COUNTED))
    assert count(passes.run(graph)) == counted
    assert counted.total <= count(after).total  # less where a negation goes through a sine into a constant
    assert count(after).total <= count(graph).total + count(graph).div


def most_alive(graph: Graph) -> int:
    """How many computed values wait for their last use at the worst moment; results are stored at once."""
    last = {arg: at for at, value in enumerate(graph.values) for arg in value.args}
    alive = [0] * (len(graph.values) + 1)
    for at, value in enumerate(graph.values):
        if value.op not in (INPUT, CONST) and at in last:
            alive[at] += 1
            alive[last[at]] -= 1
    return max(np.cumsum(alive))


@pytest.mark.parametrize(
    ("robot", "algorithm", "part"),
    besides([("go1", "rnea", 0.6)], [("go1", "rnea", 0.6), ("talos", "rnea", 0.5), ("talos", "crba", 0.6)]),
)
def test_lifetimes_get_shorter(robot: str, algorithm: str, part: float) -> None:
    written = codegen.graphs(codegen.load(robot), algorithm)[0]
    before = passes.run(written, order=(passes.chain_sums, passes.hoist_angles))
    after = verify(passes.depth_first(before))
    assert count(after) == count(before)
    assert most_alive(after) <= part * most_alive(before)
    assert sorted(value.op for value in after.values) == sorted(value.op for value in before.values)


@pytest.mark.parametrize(
    ("robot", "algorithm", "part"),
    besides([("go1", "crba", 0.8)], [("go1", "crba", 0.8), ("talos", "crba", 0.5), ("talos", "rnea_derivatives", 0.3)]),
)
def test_matrices_that_are_walked_by_pairs_of_joints_keep_fewer_values(
    monkeypatch: pytest.MonkeyPatch, robot: str, algorithm: str, part: float
) -> None:
    graph = passes.run(codegen.graphs(codegen.load(robot), algorithm)[0], order=passes.COUNTED)
    after = verify(passes.depth_first(graph))
    monkeypatch.setattr(sys.modules["codegen.passes.depth_first"], "_SAVED", 1.0)
    as_written = passes.depth_first(graph)
    assert count(after) == count(as_written)
    assert most_alive(after) <= part * most_alive(as_written)


@pytest.mark.parametrize(
    ("robot", "algorithm", "part"),
    besides([("solo12", "rnea", 0.65)], [("solo12", "rnea", 0.65), ("talos", "rnea", 0.88), ("talos", "crba", 0.93)]),
)
def test_lives_end_as_soon_as_they_can(robot: str, algorithm: str, part: float) -> None:
    written = codegen.graphs(codegen.load(robot), algorithm)[0]
    before = passes.run(written, order=passes.ORDER[:-2])
    after = verify(passes.last_use_first(before))
    assert most_alive(after) <= part * most_alive(before)
    assert sorted(value.op for value in after.values) == sorted(value.op for value in before.values)


def waited(graph: Graph) -> int:
    """Cycles by the model of a processor that begins two steps at a time and looks 160 ahead."""
    steps = steps_of(graph, range(len(graph.values)))
    fused = [4 if len(own) > 1 else 13 if graph.values[own[0]].op == "inv" else 4 for own in steps.members]
    return cycles(steps, fused, range(len(fused)))


@pytest.mark.parametrize(("robot", "algorithm", "part"), [("iiwa", "aba", 0.92)])
def test_what_is_waited_for_longest_comes_first(robot: str, algorithm: str, part: float) -> None:
    written = codegen.graphs(codegen.load(robot), algorithm)[0]
    before = passes.run(written, order=passes.ORDER[:-1])
    after = verify(passes.list_scheduling(before))
    assert waited(after) <= part * waited(before)
    assert most_alive(after) <= 1.5 * most_alive(before)
    assert sorted(value.op for value in after.values) == sorted(value.op for value in before.values)


@pytest.mark.parametrize(("robot", "algorithm"), besides([("iiwa", "crba")], [("talos", "aba"), ("iiwa", "crba")]))
def test_an_order_in_which_little_is_waited_for_stays(robot: str, algorithm: str) -> None:
    """Of many values, because keeping them costs more."""
    graph = codegen.graphs(codegen.load(robot), algorithm)[1]
    assert passes.list_scheduling(graph) is graph


def test_a_chain_that_begins_late_begins_first() -> None:
    b = Build()
    b.values += [Value("mul", (0, 1)) for _ in range(400)]
    chain = 2
    for _ in range(60):
        chain = b._put(Value("mul", (chain, 1)))
    graph = b.graph(*range(3, 403), chain)
    after = passes.list_scheduling(graph)
    assert waited(graph) >= 200 + 4 * 50
    assert waited(after) <= 4 * 60 + 40


def test_the_lives_of_few_values_stay_as_they_are() -> None:
    graph = codegen.graphs(codegen.load("iiwa"), "aba")[1]
    assert passes.last_use_first(graph) is graph


def instructions(graph: Graph) -> int:
    """Operations, of which a processor does an addition and a product for it alone in one."""
    uses = graph.uses()
    fused = sum(
        value.op in ("add", "sub") and any(graph.values[a].op in ("mul", "sq") and uses[a] == 1 for a in value.args)
        for value in graph.values
    )
    return count(graph).total - fused


def longest_path(graph: Graph) -> int:
    depth: list[int] = []
    for value in graph.values:
        depth.append(1 + max(depth[arg] for arg in value.args) if value.args else 0)
    return max(depth)


@pytest.mark.parametrize(
    ("robot", "algorithm", "part"),
    besides([("go1", "aba", 0.93)], [("talos", "aba", 0.93), ("talos_reduced", "rnea", 0.92), ("go1", "aba", 0.93)]),
)
def test_sums_become_multiply_adds(robot: str, algorithm: str, part: float) -> None:
    """Of graphs in which tips turn their axes, not themselves, which leaves more sums of products."""
    unfactored = tuple(step for step in passes.DEFAULT if step is not passes.factor_sums)
    before = passes.run(trace(Task(codegen.load(robot), algorithm, without=("tip_axes",))), unfactored, order=())
    after = verify(passes.chain_sums(before))
    assert count(after).total <= count(before).total
    assert instructions(after) <= part * instructions(before)
    assert longest_path(after) <= longest_path(before)


def test_products_are_added_to_what_is_no_product() -> None:
    graph = case("sub(sub(mul(x, y), mul(y, z)), sub(mul(z, x), x))")
    assert instructions(graph) == 4
    assert instructions(passes.chain_sums(graph)) == 3
    waiting = case("add(add(mul(x, y), mul(y, z)), add(mul(z, x), mul(sin(x), cos(sin(y)))))")
    assert longest_path(passes.chain_sums(waiting)) <= longest_path(waiting)


@settings(max_examples=300, deadline=None)
@given(graph=graphs(operations=("add", "sub", "mul", "sq", "neg")))
def test_sums_change_the_last_places_only(graph: Graph) -> None:
    x = np.array([0.73, -1.31, 1.42])
    after = verify(passes.chain_sums(graph))
    assert count(after).total <= count(graph).total
    before = interpret(everything(graph), x)[0]
    scale = np.abs(before[np.isfinite(before)]).max(initial=1.0)
    assume(scale < 1e100)
    np.testing.assert_allclose(interpret(after, x)[0], interpret(graph, x)[0], rtol=1e-12, atol=1e-12 * scale)


def test_lifetimes_of_a_chain_of_sums() -> None:
    graph = case("add(add(mul(x, y), mul(y, z)), add(mul(z, x), add(sq(x), sq(y))))")
    assert most_alive(passes.depth_first(graph)) == 3


def test_run_on_a_mechanism() -> None:
    before = pendulum()
    after = passes.run(before)
    assert count(after).total < count(before).total
    rng = np.random.default_rng(1)
    q, v = rng.standard_normal((2, 50, 2))
    for a, b in zip(interpret(after, q, v), interpret(before, q, v), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


def test_every_operation_survives() -> None:
    graph = one_of_each()
    for a, b in zip(interpret(passes.run(graph), 0.6, [0.7]), interpret(graph, 0.6, [0.7]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-15)


def test_a_pass_that_breaks_the_graph_is_caught() -> None:
    def broken(graph: Graph) -> Graph:
        return Graph(graph.name, graph.inputs, graph.outputs, graph.values[1:], graph.results)

    with pytest.raises(ValueError, match="pendulum"):
        passes.run(pendulum(), (broken,))
