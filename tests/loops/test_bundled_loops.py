"""The bundled robots with loops: many states (compiled, a thousand) against the dense oracle, and identities."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import interpreted
import numpy as np
import pytest
from mechanisms_cases import error
from reference_cases import reference
from thorough import besides, chosen

import codegen
from codegen.description import read, write_json
from codegen.ir.interpreter import interpret
from codegen.lowering.differentials import geared
from codegen.oracle import ORACLE
from codegen.oracle.loops import closed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MAIN = ("aba", "rnea", "crba", "efpa")
STATES, BATCH = {"interpreted": 20, "compiled": 1000}, 100  # random states, and how many the oracle takes at a time
TOLERANCE = 1e-10
EXPLICIT = ("chain12_belt", "chain12_geared", "jvrc1", "mini_cheetah", "mit_humanoid", "parallel_chain_explicit_d10_l8")
IMPLICIT = (
    "four_bar",
    "four_bar_branch_2_5",
    "parallel_chain_implicit_d5_l7",
    "planar_leg_linkage",
    "six_bar",
    "tello_humanoid",
)
NAMES = tuple(sorted((*EXPLICIT, *IMPLICIT)))
LARGE = ("four_bar_branch_2_5", "jvrc1", "mit_humanoid", "tello_humanoid")
SMALL = tuple(name for name in NAMES if name not in LARGE)


@pytest.fixture
def number(request: pytest.FixtureRequest) -> int:
    """How many states: of what is interpreted fewer, since drawing them takes longest."""
    return STATES[request.node.callspec.params["build"]]


@cache
def states(name: str, number: int) -> tuple[Array, Array, Array]:
    """Valid random q (number, nq), v and a, or tau (number, nv)."""
    model, rng = codegen.load(name), np.random.default_rng(1)
    drawn = [model.random(rng) for _ in range(number)]
    q, v, a = (np.stack(column) for column in zip(*drawn, strict=True))
    return q, v, a


def errors(found: Array, expected: Array) -> Array:
    """State by state the largest deviation over the largest expected entry."""
    axes = tuple(range(1, expected.ndim))
    assert found.shape == expected.shape
    return np.asarray(np.abs(found - expected).max(axis=axes) / np.abs(expected).max(axis=axes))


@pytest.mark.thorough
def test_all_robots_with_loops_are_here() -> None:
    loops = {name: codegen.load(name).loops for name in codegen.bundled()}
    assert {name for name in loops if loops[name]} == {*NAMES, "cassie"}
    assert tuple(name for name in NAMES if all(loop.explicit for loop in loops[name])) == EXPLICIT


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", [*MAIN, "projection_fd", "lagrange_fd"])
def test_cassie_agrees_with_the_oracle(algorithm: str) -> None:
    model, rng = codegen.load("cassie"), np.random.default_rng(0)
    held = {"contacts": (model.contact("left-foot", 6),)} if algorithm == "efpa" else {}
    graph = interpreted.graph(model, algorithm, **held)
    for _ in range(10):
        q, v, tau = model.random(rng)
        state = {"q": q, "v": v, "tau": tau, "a": rng.standard_normal(model.nv)}
        given = [state[port.name] for port in graph.inputs]
        assert error(interpret(graph, *given)[0], ORACLE[algorithm](model, *given, **held)) < TOLERANCE


def soon(name: str, algorithm: str) -> bool:
    """Each small robot by one algorithm or two."""
    k, n = SMALL.index(name) if name in SMALL else -1, MAIN.index(algorithm)
    return k >= 0 and n in (k % len(MAIN), (k + 2) % len(MAIN) if name.startswith("four_bar") else -1)


@pytest.mark.parametrize(("name", "algorithm"), chosen(soon, NAMES, MAIN))
def test_many_states_agree_with_the_oracle(build: Callable[..., Any], name: str, algorithm: str, number: int) -> None:
    model = codegen.load(name)
    held = reference(name).contacts[:1] if algorithm == "efpa" else ()
    inputs = states(name, number)[: 3 if algorithm in ("rnea", "aba") else 1]
    found = build(model, algorithm, contacts=held)(*inputs)
    for k in range(0, number, BATCH):
        part = slice(k, k + BATCH)
        expected = ORACLE[algorithm](model, *(x[part] for x in inputs), contacts=held)
        assert isinstance(expected, np.ndarray)
        assert errors(found[part], expected).max() < TOLERANCE


@pytest.mark.parametrize("name", besides(["four_bar", "mini_cheetah"], NAMES))
def test_forward_undoes_inverse_dynamics(build: Callable[..., Any], name: str, number: int) -> None:
    q, v, a = states(name, number)
    rnea, aba, crba = (build(codegen.load(name), algorithm) for algorithm in ("rnea", "aba", "crba"))
    tau, M = rnea(q, v, a), crba(q)
    peak = np.maximum(np.abs(a).max(axis=1), np.abs(aba(q, v, 0 * a)).max(axis=1))
    assert (np.abs(aba(q, v, tau) - a).max(axis=1) < 1e-8 * peak).all()
    needed = tau - rnea(q, v, 0 * a)
    assert (np.abs(np.einsum("kij,kj->ki", M, a) - needed).max(axis=1) < 1e-9 * np.abs(tau).max(axis=1)).all()
    assert (np.linalg.eigvalsh(M)[:, 0] > 0.0).all()


@pytest.mark.parametrize("name", besides(SMALL, NAMES))
def test_random_states_close_the_loops_and_neutral_is_regular(name: str) -> None:
    model = codegen.load(name)
    for q in (model.neutral(), *(model.random(seed)[0] for seed in range(20))):
        robot = closed(model, q)
        residual = np.concatenate([tie.residual(robot.at).real for tie in robot.tied])
        assert np.abs(residual).max() < 1e-11
        assert np.abs(robot.G).max() < 1e3
    v, a = np.ones(model.nv), np.zeros(model.nv)
    assert np.isfinite(ORACLE["rnea"](model, model.neutral(), v, a)).all()


@pytest.mark.parametrize("name", besides(["four_bar", "planar_leg_linkage", "six_bar"], IMPLICIT))
def test_projection_closes_what_is_a_little_open(build: Callable[..., Any], name: str) -> None:
    model = codegen.load(name)
    project = build(model, "project")
    rng = np.random.default_rng(3)
    q = np.stack([model.random(rng)[0] for _ in range(60)])
    own = np.zeros(model.nq, bool)
    for position, velocity in zip(model.q_slices, model.v_slices, strict=True):
        own[position] = velocity.stop > velocity.start
    guess = q + np.where(own, 0.0, rng.uniform(-0.02, 0.02, q.shape))
    closed_q, residual = project(guess)
    assert residual.max() < 1e-12
    assert (closed_q[:, own] == q[:, own]).all()
    np.testing.assert_allclose(closed_q, q, atol=1e-8)
    again, left = project(closed_q)
    assert left.max() < 1e-12
    np.testing.assert_allclose(again, closed_q, atol=1e-12)


@pytest.mark.parametrize("name", besides(IMPLICIT[::3], IMPLICIT))
def test_steps_keep_loops_closed_and_are_undone_by_differences(build: Callable[..., Any], name: str) -> None:
    model = codegen.load(name)
    integrate, difference = build(model, "integrate"), build(model, "difference")
    for seed in range(20):
        q, v, _ = model.random(seed)
        end = integrate(q, 0.02 * v)
        robot = closed(model, end)
        assert np.abs(np.concatenate([tie.residual(robot.at).real for tie in robot.tied])).max() < 1e-12
        np.testing.assert_allclose(difference(q, end), 0.02 * v, atol=1e-13)
        start, rates = closed(model, q), closed(model, q).G @ v
        slope = (integrate(q, 1e-5 * v) - integrate(q, -1e-5 * v)) / 2e-5
        for b, (place, span) in enumerate(zip(model.q_slices, start.tree.v_slices, strict=True)):
            if model.joints[b].nq == 1 and place.stop > place.start:
                np.testing.assert_allclose(slope[place], rates[span], rtol=1e-6, atol=1e-6)


def test_projection_leaves_a_robot_without_implicit_loops_alone(build: Callable[..., Any]) -> None:
    model = codegen.load("mini_cheetah")
    q = model.random(0)[0]
    projected, residual = build(model, "project")(q)
    assert (projected == q).all()
    assert residual == 0.0


@pytest.mark.parametrize("name", besides(["mini_cheetah"], ["mini_cheetah", "chain12_belt", "jvrc1", "tello_humanoid"]))
def test_approximations_agree_with_their_definition(name: str) -> None:
    model = codegen.load(name)
    for algorithm in ("approximate_rnea", "approximate_aba", "approximate_efpa", "unconstrained_rnea"):
        state = model.random(2)[: 1 if algorithm.endswith("efpa") else 3]
        held = {"contacts": reference(name).contacts} if algorithm.endswith("efpa") else {}
        function = interpreted.graph(model, algorithm, **held)
        assert error(interpret(function, *state)[0], ORACLE[algorithm](model, *state, **held)) < 1e-10


def chain_of(path: Path, gears: dict[str, tuple[str, float]]) -> codegen.Model:
    """A chain of four links, some of whose joints follow others, each by a loop of its own."""
    data = json.loads(write_json(read("chain:4,alternate")))
    data["loops"] = [
        {"name": name, "kind": "linear", "dependent": [name], "independent": [leader], "matrix": [[ratio]]}
        for name, (leader, ratio) in gears.items()
    ]
    path.write_text(json.dumps(data), encoding="utf-8")
    return codegen.load(path)


@pytest.mark.parametrize("algorithm", ["approximate_rnea", "approximate_aba", "approximate_efpa"])
def test_gears_behind_gears_are_felt_through_both(tmp_path: Path, algorithm: str) -> None:
    *_, a, b, c = codegen.load("chain:4").joint_names
    behind = chain_of(tmp_path / "behind.json", {b: (a, 2.0), c: (b, -1.5)})
    beside = chain_of(tmp_path / "beside.json", {b: (a, 2.0), c: (a, -3.0)})
    held = {"contacts": [behind.contact("link1")]} if algorithm == "approximate_efpa" else {}
    graph, rng = interpreted.graph(beside, algorithm, **held), np.random.default_rng(0)
    states = [rng.standard_normal(port.shape) for port in graph.inputs]
    found, expected = (interpret(interpreted.graph(robot, algorithm, **held), *states) for robot in (behind, beside))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[0], ORACLE[algorithm](behind, *states, **held), rtol=1e-9, atol=1e-9)


def test_approximations_are_refused_where_nothing_is_geared() -> None:
    with pytest.raises(codegen.RobotError, match="no constant gear ratios"):
        codegen.graphs(codegen.load("four_bar"), "approximate_aba")
    with pytest.raises(codegen.RobotError, match="is on a rotor, which the approximate algorithms leave out"):
        codegen.graphs(codegen.load("tello_humanoid"), "approximate_efpa")


def test_a_differential_is_a_gear_with_the_ratios_that_it_has_at_the_neutral_configuration() -> None:
    model = codegen.load("tello_humanoid")
    q, v = model.neutral(), np.random.default_rng(0).standard_normal(model.nv)
    gears, B = geared(model)
    bodies, rates = {body.joint.name: b for b, body in enumerate(model.bodies)}, closed(model, q).G @ v
    assert sum(loop.kind == "linear" for loop in gears.loops) == len(gears.loops)
    for loop in gears.loops:
        driven = [bodies[name] for name in loop.independent]
        places = [closed(model, q).tree.v_slices[b].start for b in driven]
        np.testing.assert_allclose((B @ v)[[gears.v_slices[b].start for b in driven]], rates[places], atol=1e-12)


def test_unconstrained_dynamics_of_a_linkage_are_those_of_its_first_link() -> None:
    model = codegen.load("four_bar")
    state = (*model.random(0)[:2], np.ones(1))
    found = interpret(interpreted.graph(model, "unconstrained_rnea"), *state)[0]
    assert error(found, ORACLE["unconstrained_rnea"](model, *state)) < 1e-12
