"""Closed forms of implicit loops: found for linkages of every shape, equal to Newton's method, on the guess's side."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import interpreted
import numpy as np
import pytest
from loop_mechanisms import Builder
from mechanisms_cases import pose
from sympy import Eq, Symbol, cos, sin
from thorough import besides

import codegen
from codegen.geometry import Pose, vec3
from codegen.ir.counting import count
from codegen.kinematic_loops.closed_forms import node_forms, solutions
from codegen.oracle import loops as oracle
from codegen.oracle.parameters import with_parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from codegen.model import Model
    from codegen.robot import Robot

    Array = NDArray[np.float64]

FILE = Path(codegen.__file__).with_name("description") / "robots" / "tello_humanoid.json"
STATES = {"interpreted": 20, "compiled": 1000}
CLOSE = 1e-12
Z = (0.0, 0.0, 1.0)


def at(x: float, y: float, z: float = 0.0) -> Pose:
    """A place that is not turned."""
    return Pose(translation=vec3((x, y, z)))


def closing(made: Builder, first: str, second: str, end: Pose, kind: str, independent: str) -> Model:
    """The mechanism with a closure of two links where an end of the first is now."""
    other = made.at[second].inverse() @ made.at[first] @ end
    sides = {
        side: {"link": link, "translation": frame.translation, "rotation": frame.rotation}
        for side, link, frame in (("predecessor", first, end), ("successor", second, other))
    }
    axis = {"axis": Z} if kind == "hinge" else {}
    made.loop("closure", type=kind, independent=[made.joint(independent)], **sides, **axis)
    return made.model("linkage", "fixed", "pinocchio")


def crank_slider(kind: str, driven_by: int) -> Model:
    """A crank, a rod and a slide in a skew plane."""
    made = Builder(0)
    plane = pose(made.rng)
    crank = made.body("base", axis=Z, placement=plane)
    rod = made.body(crank, axis=Z, placement=at(0.2, 0.1, 0.05))
    slide = made.body("base", "prismatic", axis=(1.0, 0.3, 0.0), placement=plane @ at(0.6, 0.0, 0.1))
    return closing(made, rod, slide, at(0.5, -0.1), kind, (crank, rod, slide)[driven_by])


def cylinder(kind: str, driven_by: int) -> Model:
    """An arm that a hydraulic cylinder lifts, in a skew plane."""
    made = Builder(1)
    plane = pose(made.rng)
    arm = made.body("base", axis=Z, placement=plane)
    barrel = made.body("base", axis=Z, placement=plane @ at(0.4, -0.2, 0.1))
    piston = made.body(barrel, "prismatic", axis=(1.0, 0.2, 0.0), placement=at(0.2, 0.05))
    return closing(made, arm, piston, at(0.5, 0.3, 0.02), kind, (arm, barrel, piston)[driven_by])


def welded(driven_by: int) -> Model:
    """A four-bar whose coupler is cut and welded, in a skew plane: three joints follow, through six rows."""
    made = Builder(2)
    plane = pose(made.rng)
    crank = made.body("base", axis=Z, placement=plane)
    coupler = made.body(crank, axis=Z, placement=at(0.2, 0.3, 0.1))
    rocker = made.body("base", axis=Z, placement=plane @ at(0.6, 0.0))
    other = made.body(rocker, axis=Z, placement=at(0.1, 0.4, 0.1))
    return closing(made, coupler, other, at(0.3, 0.05), "weld", (crank, coupler, rocker, other)[driven_by])


def spatial_rod() -> Model:
    """A rod between an arm and what carries it, a ball at one end and two crossing hinges at the other."""
    made = Builder(5)
    arm = made.body("base")
    lever = made.body(arm)
    outer = made.body("base", axis=Z)
    inner = made.body(outer, axis=(0.0, 1.0, 0.0), placement=Pose())
    return closing(made, inner, lever, at(0.6, 0.1, -0.2), "point", lever)


def formulas() -> Model:
    """Three joints that follow by equations in SymPy: a ratio, a sinusoid of a half angle, a product."""
    chain = codegen.load("chain:4,alternate")
    a, b, c, d = (Symbol(name) for name in chain.joint_names)
    stated = [Eq(2 * b + 0.5 * a, 0.3), Eq(3 * sin(c / 2 + 0.4) + cos(c / 2), sin(a) + b), Eq(d * (2 + cos(c)), a)]
    return chain.with_loop("cam", implicit=stated, independent=[str(a)])


def tello_from_links(path: Path) -> Robot:
    """Tello with the links of its differentials as independent joints."""
    text = json.loads(FILE.read_text(encoding="utf-8"))
    for loop in text["loops"]:
        if "differential" in loop["name"]:
            loop["independent"] = [loop["variables"][name] for name in ("q3", "q4")]
            del loop["scale"]
    path.write_text(json.dumps(text), encoding="utf-8")
    return codegen.load(path)


MADE: dict[str, tuple[Callable[[], Model], tuple[str, ...]]] = {
    "crank": (lambda: crank_slider("hinge", 0), ("off line", "on line")),
    "rod": (lambda: crank_slider("point", 1), ("off line", "on line")),
    "slide": (lambda: crank_slider("hinge", 2), ("off rod", "on rod")),
    "arm": (lambda: cylinder("point", 0), ("off line", "on line")),
    "barrel": (lambda: cylinder("hinge", 1), ("off line", "on line")),
    "piston": (lambda: cylinder("hinge", 2), ("off rod", "on rod")),
    "weld": (lambda: welded(0), ("row", "off rod", "on rod")),
    "weld, by the rocker": (lambda: welded(2), ("row", "off rod", "on rod")),
    "spatial rod": (spatial_rod, ("off rod", "off axis", "on rod")),
    "formulas": (formulas, ("row", "row", "row")),
}


CASES = (*MADE, "four_bar", "planar_leg_linkage", "six_bar", "parallel_chain_implicit_d5_l7", "cassie")


@pytest.fixture
def number(request: pytest.FixtureRequest) -> int:
    """How many states."""
    return STATES[request.node.callspec.params["build"]]


@cache
def made(name: str) -> Model:
    """A mechanism by its name."""
    return MADE[name][0]() if name in MADE else codegen.load(name)


def apart(model: Model, rng: np.random.Generator, number: int, most: float = 0.02) -> tuple[Array, Array]:
    """Closed configurations at which loops are regular, and the same with dependent joints moved by so much."""
    q: list[Array] = []
    most_rate = 5 * max(np.abs(oracle.closed(model, model.random(rng)[0]).G).max() for _ in range(3))
    while len(q) < number:
        drawn = model.random(rng)[0]
        if np.abs(oracle.closed(model, drawn).G).max() < most_rate:
            q.append(drawn)
    driven = np.ones(model.nq, bool)
    for position, velocity in zip(model.q_slices, model.v_slices, strict=True):
        driven[position] = velocity.stop == velocity.start
    return np.array(q), np.array(q) + driven * rng.uniform(-most, most, (number, model.nq))


@pytest.mark.parametrize("name", besides(["crank", "arm", "weld", "spatial rod", "formulas"], MADE))
def test_a_form_is_found(name: str) -> None:
    model = made(name)
    (form,) = (form for form in node_forms(model) if form)
    assert tuple(move.how for move in form.moves) == MADE[name][1]
    assert {*solutions(model).values()} == {"closed form"}


@pytest.mark.parametrize(
    "name", ["four_bar", "planar_leg_linkage", "six_bar", "parallel_chain_implicit_d5_l7", "cassie"]
)
def test_linkages_of_bundled_robots_have_closed_forms(name: str) -> None:
    assert {*solutions(codegen.load(name)).values()} == {"closed form"}


def test_differentials_of_two_rotors_that_move_one_link_each_have_closed_forms() -> None:
    robot = codegen.load("tello_humanoid")
    found = {robot.loops[n].name for n, how in solutions(robot).items() if how == "closed form"}
    assert found == {"left-knee-ankle-differential", "right-knee-ankle-differential"}


@pytest.mark.thorough
def test_differentials_have_closed_forms_from_the_side_where_they_are_explicit(tmp_path: Path) -> None:
    robot = tello_from_links(tmp_path / "tello.json")
    assert {*solutions(robot).values()} == {"closed form"}
    agrees(robot, interpreted.build, 10)


def agrees(model: Model, build: Callable[..., Any], number: int) -> None:
    """Whether forms close the loops as Newton's method of the oracle does, and tell of steps that it cannot close."""
    rng = np.random.default_rng(7)
    q, guess = apart(model, rng, number)
    closed, residual = build(model, "project")(guess)
    assert residual.max() < CLOSE
    assert np.abs(closed - q).max() < 1e-8  # which Newton's method closed to so much
    expected = np.array([oracle.project(model, one)[0] for one in guess])
    assert np.abs(closed - expected).max() < CLOSE
    again, left = build(model, "project")(closed)
    assert left.max() < CLOSE
    assert np.abs(again - closed).max() < CLOSE
    dv = 0.02 * rng.standard_normal((number, model.nv))
    ends, status = build(model, "integrate").with_status()(q, dv)
    assert status.sum() <= 0.02 * number
    for one, step, end, told in zip(q, dv, ends, status, strict=True):
        expected = oracle.integrate(model, one, step)
        if told:
            assert oracle.project(model, expected)[1] > 1e-6
        else:
            assert np.abs(end - expected).max() < CLOSE


@pytest.mark.parametrize("name", besides(["crank", "arm", "weld", "spatial rod", "formulas", "four_bar"], CASES))
def test_forms_agree_with_newtons_method(build: Callable[..., Any], number: int, name: str) -> None:
    agrees(made(name), build, number)


@pytest.mark.parametrize(("name", "algorithm"), [("four_bar", "project"), ("six_bar", "integrate")])
def test_forms_take_fewer_operations(name: str, algorithm: str) -> None:
    model = codegen.load(name)
    (_, after), (_, before) = (codegen.graphs(model, algorithm, without=out) for out in ((), ("closed_forms",)))
    assert count(after).total < 0.55 * count(before).total


@pytest.mark.parametrize("name", ["six_bar", "planar_leg_linkage"])
def test_two_solutions_are_reached_from_random_guesses(name: str) -> None:
    """They lie on two sides of a singular position, where the determinant of the dependent joints' K vanishes."""
    model, rng = made(name), np.random.default_rng(3)
    project, q = interpreted.build(model, "project"), model.random(3)[0]
    pairs = list(zip(model.q_slices, model.v_slices, strict=True))
    driven = [place.start for place, rate in pairs if rate.stop == rate.start]
    ends = []
    for _ in range(40):
        guess = q.copy()
        guess[driven] = rng.uniform(-np.pi, np.pi, len(driven))
        closed, residual = project(guess)
        assert residual < CLOSE
        assert np.abs(closed - guess).max() < np.pi + CLOSE
        ends.append(np.exp(1j * closed[driven]))
    first = [end for end in ends if np.abs(end - ends[0]).max() < 1e-6]
    others = [end for end in ends if np.abs(end - ends[0]).max() >= 1e-6]
    assert first
    assert others
    assert max(np.abs(end - others[0]).max() for end in others) < 1e-6


def test_joints_stay_on_their_side_and_turn_on_as_a_crank_goes_round() -> None:
    """A crank turns three times; what follows neither jumps to the other solution nor back by a turn."""
    chain = codegen.load("chain:2,alternate")
    a, b = (Symbol(name) for name in chain.joint_names)
    model = chain.with_loop("cam", implicit=[Eq(sin(b - a), 0.5 * cos(a))], independent=[str(a)])
    integrate, q = interpreted.build(model, "integrate"), interpreted.build(model, "project")(np.zeros(2))[0]
    start = q[1]
    for _ in range(300):
        q = integrate(q, np.array([6 * np.pi / 300]))
    np.testing.assert_allclose(q - [0.0, start], 6 * np.pi, atol=1e-9)


def test_out_of_reach_moves_nothing_and_the_status_tells() -> None:
    chain = codegen.load("chain:2,alternate")
    a, b = (Symbol(name) for name in chain.joint_names)
    model = chain.with_loop("cam", implicit=[Eq(sin(b), 2 * sin(a))], independent=[str(a)])
    integrate = interpreted.build(model, "integrate").with_status()
    q = interpreted.build(model, "project")(np.array([0.5, 1.0]))[0]
    for far, singular in ((0.01, 0), (0.1, 1), (2.0, 1), (2.3, 0)):  # sin(a) is above one half in between
        end, status = integrate(q, np.array([far]))
        assert status == singular
        assert np.isfinite(end).all()
        if singular:
            rate = oracle.closed(model, q).G @ np.array([far])
            np.testing.assert_allclose(end, q + rate, atol=1e-12)
    _, residual = interpreted.build(model, "project")(np.array([1.0, 1.5]))
    assert residual > 0.1


def test_where_lengths_are_arguments_newtons_method_stays() -> None:
    model, longer = codegen.load("four_bar"), np.array([0.55, 0.02, 0.0])
    project = interpreted.build(model, "project", parameters=("offset:link2",))
    guess = model.random(2)[0]
    closed, residual = project(guess, longer)
    assert residual < CLOSE
    np.testing.assert_allclose(
        closed, oracle.project(with_parameters(model, {"offset:link2": longer}), guess)[0], atol=CLOSE
    )


def test_headers_tell_how_loops_are_closed(tmp_path: Path) -> None:
    model = codegen.load("four_bar")
    for out, words in (((), "closed form: cluster-0."), (("closed_forms",), "Newton's method: cluster-0.")):
        codegen.generate(model, ["project"], tmp_path, without=out)
        text = (tmp_path / "four_bar.h").read_text().replace("\n *", "")
        assert f"Functions that close loops do so by {words}" in text
    codegen.generate(model, ["rnea"], tmp_path)
    assert "do so by" not in (tmp_path / "four_bar.h").read_text()
