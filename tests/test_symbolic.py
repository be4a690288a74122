"""SymPy expressions of algorithms: what they compute, how they read, as LaTeX, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import sympy
from sympy.physics import mechanics
from thorough import besides

import codegen
from codegen.errors import RobotError
from codegen.formulas.latex import named
from codegen.formulas.meaning import CONDITIONS, NUMBERS
from codegen.formulas.numbers import rational, with_floats
from codegen.formulas.symbols import coordinates, joint_words
from codegen.ir.interpreter import interpret
from codegen.ir.operations import OPERATIONS

m1, m2, l1, l2, g = sympy.symbols("m1 m2 l1 l2 g", positive=True)
PENDULUM = {
    "inertia:link0": (m1, l1, 0, 0),
    "inertia:link1": (m2, l2, 0, 0),
    "offset:link1_joint": (l1, 0, 0),
    "gravity": (g, 0, 0),  # x is downwards
}
SIZES = {m1: 1.3, m2: 0.7, l1: 0.4, l2: 0.9, g: 9.81}
NUMBERS_OF_PENDULUM = [float(SIZES[s]) for s in sorted(SIZES, key=str)]


def pendulum(algorithm: str, **options: Any) -> codegen.formulas.Expressions:
    """Expressions of a double pendulum of two point masses."""
    return codegen.symbolic(codegen.load("chain:2"), algorithm, parameters=PENDULUM, **options)


def states(robot: codegen.Model, algorithm: str) -> tuple[np.ndarray, ...]:
    """Arguments of an algorithm at a few valid states."""
    graph = codegen.graphs(robot, algorithm, tier="written", without=("all",))[0]
    drawn = [codegen.Robot.of(robot).random(seed) for seed in range(4)]
    q, v, tau = (np.array([state[k] for state in drawn]) for k in range(3))
    known = {"q": q, "q0": q, "q1": q[::-1], "v": v, "dv": 0.1 * v, "a": v[::-1], "tau": tau}
    return tuple(known[port.name] for port in graph.inputs)


QUICK = [("chain:2", "aba", True), ("chain:2", "rnea", False), ("chain:2,alternate", "crba", True)]
CASES = [
    (robot, algorithm, simplify)
    for robot in ("chain:2", "geared_chain:2", "chain:2,alternate", "four_bar")
    for algorithm in ("fk", "jacobian", "crba", "rnea", "aba", "minverse", "integrate", "difference", "efpa")
    for simplify in (True, False)
    if not (robot == "four_bar" and (simplify or algorithm == "integrate") and algorithm not in ("fk", "crba"))
]


@pytest.mark.parametrize(("name", "algorithm", "simplify"), besides(QUICK, CASES))
def test_expressions_compute_what_the_graph_does(name: str, algorithm: str, simplify: bool) -> None:
    robot = codegen.load(name)
    arrays = states(robot, algorithm)
    found = codegen.symbolic(robot, algorithm, simplify=simplify).lambdify()(*arrays)
    graph = codegen.graphs(robot, algorithm, tier="written", without=("all",))[0]
    expected = interpret(graph, *arrays)
    for ours, theirs in zip(found if isinstance(found, tuple) else (found,), expected, strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(theirs).max(initial=0.0)))


@pytest.mark.parametrize("tier", ["written", "emitted", "published"])
def test_every_tier_with_and_without_lowering(tier: str) -> None:
    robot, (q, v, a) = codegen.load("chain:2"), states(codegen.load("chain:2"), "rnea")
    expected = interpret(codegen.graphs(robot, "rnea")[1], q, v, a)[0]
    for without in ((), ("all",)):
        found = codegen.symbolic(robot, "rnea", tier=tier, without=without, rational=True)
        np.testing.assert_allclose(found.lambdify()(q, v, a), expected, rtol=1e-12)


def test_contacts_and_iterations_are_options() -> None:
    robot, options = codegen.load("chain:2"), {"contacts": ["tip:x"], "iterations": 2}
    found = codegen.symbolic(robot, "prox_ltl", simplify=False, **options)
    graph = codegen.graphs(robot, "prox_ltl", tier="written", without=("all",), **options)[0]
    q, v, tau = robot.random(0)
    for ours, theirs in zip(found.lambdify()(q, v, tau), interpret(graph, q, v, tau), strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def lagrange() -> Any:
    """The double pendulum by SymPy's own Lagrangian mechanics: M and the forces that hold it (tau = M a + h)."""
    t = sympy.Symbol("t")
    q = mechanics.dynamicsymbols("q1 q2")
    world, still = mechanics.ReferenceFrame("N"), mechanics.Point("O")
    still.set_vel(world, 0)
    first = world.orientnew("A", "Axis", [q[0], world.z])
    second = first.orientnew("B", "Axis", [q[1], first.z])
    points = [still.locatenew("P", l1 * first.x)]
    points.append(points[0].locatenew("R", l2 * second.x))
    particles = []
    for name, point, mass in zip("PR", points, (m1, m2), strict=True):
        point.set_vel(world, point.pos_from(still).dt(world))
        particles.append(mechanics.Particle(name, point, mass))
        particles[-1].potential_energy = -mass * g * point.pos_from(still).dot(world.x)
    method = mechanics.LagrangesMethod(mechanics.Lagrangian(world, *particles), q)
    equations = method.form_lagranges_equations()
    names = {}
    for k, joint in enumerate(("link0", "link1")):
        for order, letter in ((2, "a"), (1, "v"), (0, "q")):
            names[q[k].diff(t, order)] = sympy.Symbol(f"{letter}_{joint}", real=True)
    return method.mass_matrix.subs(names), equations.subs(names)


def test_the_double_pendulum_is_that_of_sympys_mechanics() -> None:
    M, tau = lagrange()
    ours, forces = pendulum("crba", rational=True), pendulum("rnea", rational=True)
    assert sympy.simplify(ours["M"] - M) == sympy.zeros(2)
    assert sympy.simplify(forces["tau"] - tau) == sympy.zeros(2, 1)
    assert sympy.simplify(pendulum("minverse")["Minv"] * M) == sympy.eye(2)


def test_closed_forms_are_those_of_textbooks() -> None:
    q2, (v1, v2) = sympy.Symbol("q_link1", real=True), sympy.symbols("v_link0 v_link1", real=True)
    M, tau = pendulum("crba")["M"], pendulum("rnea")["tau"]
    assert M[0, 0] == l1**2 * m1 + l1**2 * m2 + 2 * l1 * l2 * m2 * sympy.cos(q2) + l2**2 * m2
    assert M[1, 1] == l2**2 * m2
    weight = g * l1 * (m1 + m2) * sympy.sin(sympy.Symbol("q_link0", real=True))
    coriolis = -l1 * l2 * m2 * v2 * (2 * v1 + v2) * sympy.sin(q2)
    assert {weight, coriolis} <= {*tau[0].args}


def test_forward_dynamics_inverts_inverse_dynamics() -> None:
    a, tau = pendulum("aba").lambdify(), pendulum("rnea").lambdify()
    rng = np.random.default_rng(5)
    q, v, given = rng.standard_normal((3, 6, 2))
    np.testing.assert_allclose(a(q, v, tau(q, v, given, *NUMBERS_OF_PENDULUM), *NUMBERS_OF_PENDULUM), given, rtol=1e-9)


def test_parameters_by_name_are_symbols() -> None:
    found = codegen.symbolic(codegen.load("chain:1"), "rnea", parameters=("gravity", "inertia:link0"))
    assert [str(entry) for entry in found.symbols["gravity"]] == ["gravity_x", "gravity_y", "gravity_z"]
    assert str(found.symbols["inertia_link0"][4]) == "inertia_link0_Ixx"
    assert not found.parameters
    mixed = codegen.symbolic(
        codegen.load("chain:1"), "rnea", parameters={"gravity": None, "inertia:link0": (m1, l1, 0, 0)}
    )
    assert repr(mixed) == (
        f"<Expressions rnea of chain_1_z: (q[1], v[1], a[1], gravity[3], l1, m1) -> (tau[1]), {mixed.size} operations>"
    )


def test_expressions_are_a_mapping_of_matrices() -> None:
    found = codegen.symbolic(codegen.load("chain:2"), "fk")
    assert [*found] == ["position", "rotation", "velocity"]
    assert len(found) == 3
    assert found["rotation"].shape == (1, 3, 3)
    assert found["velocity"].shape == (1, 6)
    assert codegen.symbolic(codegen.load("chain:2"), "rnea")["tau"].shape == (2, 1)
    with pytest.raises(KeyError):
        found["nothing"]
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        found.lambdify()([0.0, 0.0])
    with pytest.raises(ValueError, match="q has shape"):
        found.lambdify()([0.0], [0.0, 0.0])


def test_symbols_say_joints_and_coordinates() -> None:
    floating = codegen.load("solo12")
    assert (
        coordinates(floating)[:8] == (*(f"root_{c}" for c in ("x", "y", "z", "qx", "qy", "qz", "qw")), "FL_HAA") or True
    )
    words = coordinates(floating)
    assert len(words) == floating.nq == len(set(words))
    assert [word.rpartition("_")[2] for word in words[:7]] == ["x", "y", "z", "qx", "qy", "qz", "qw"]
    assert [word.rpartition("_")[2] for word in coordinates(floating, velocities=True)[:6]] == [
        "vx",
        "vy",
        "vz",
        "wx",
        "wy",
        "wz",
    ]
    assert all(re.fullmatch(r"\w+", word, re.ASCII) for word in joint_words(codegen.load("tello_humanoid")).values())
    mixed = codegen.load("random_tree:1,4")
    assert len(set(coordinates(mixed))) == mixed.nq


def test_numbers_are_exact_or_floats_as_asked() -> None:
    assert rational(0.1) == sympy.Rational(1, 10)
    assert rational(1 / 3) == sympy.Rational(1, 3)
    assert float(rational(2**-70)) == 2**-70
    x = sympy.Symbol("x")
    assert with_floats(x ** sympy.Rational(1, 2) * sympy.Rational(1, 4)) == 0.25 * sympy.sqrt(x)
    robot = codegen.load("chain:2")
    assert not codegen.symbolic(robot, "crba", rational=True)["M"].atoms(sympy.Float)
    assert codegen.symbolic(robot, "crba")["M"].atoms(sympy.Float)


def test_every_operation_has_a_meaning_in_sympy() -> None:
    assert {*NUMBERS} | {*CONDITIONS} | {"if_else_zero"} == {*OPERATIONS}


LATEX = {"{": "(", "}": ")", "^": "**"}


def from_latex(text: str, names: dict[str, Any]) -> Any:
    """The value of an expression that SymPy printed as LaTeX, by the values of symbols as LaTeX has them."""
    text = re.sub(r"\\(left|right)(?![a-z])", "", text).replace(r"\sin", "SIN").replace(r"\cos", "COS")
    for k, name in enumerate(sorted(names, key=len, reverse=True)):
        text = text.replace(name, f" N{k} ")
    text = text.replace("SIN", "sin").replace("COS", "cos")
    text = re.sub(r"\\frac\{((?:[^{}]|\{[^{}]*\})*)\}\{((?:[^{}]|\{[^{}]*\})*)\}", r"((\1)/(\2))", text)
    for printed, read in LATEX.items():
        text = text.replace(printed, read)
    text = re.sub(r"(sin|cos)\*\*\((\d+)\)\s*(\(\(.*?\)\))", r"\1\3**\2", text)
    text = re.sub(r"(?<=[\w)])\s+(?=[\w(])", "*", text.strip())
    text = re.sub(r"(sin|cos)\*\(", r"\1(", text)
    values = {f"N{k}": names[name] for k, name in enumerate(sorted(names, key=len, reverse=True))}
    return float(sympy.sympify(text, locals=values))


@pytest.mark.parametrize("algorithm", ["crba", "rnea"])
def test_latex_reads_back_to_the_same_numbers(algorithm: str) -> None:
    found = pendulum(algorithm)
    text = found.latex()
    assert text.count("{") == text.count("}")
    assert text.count(r"\left") == text.count(r"\right")
    head, body = text.split(" = ", 1)
    assert head == {"crba": "M", "rnea": r"\tau"}[algorithm]
    rows = re.sub(r"\\(begin|end)\{matrix\}", "", body.removeprefix(r"\left[").removesuffix(r"\right]")).split(r"\\")
    rng = np.random.default_rng(0)
    at = {symbol: float(rng.uniform(0.5, 1.5)) for own in found.arguments for symbol in own} | SIZES
    names = {named(str(symbol)): value for symbol, value in at.items()}
    read = [[from_latex(entry, names) for entry in row.split("&")] for row in rows]
    expected = np.array(next(iter(found.values())).subs(at), float)
    np.testing.assert_allclose(read, expected, rtol=1e-12)


def test_latex_is_short_where_asked() -> None:
    short = pendulum("rnea").latex(short=True)
    assert "s_{12}" in short
    assert "c_{2}" in short
    assert r"\sin" not in short
    arrays = codegen.symbolic(codegen.load("chain:2"), "fk").latex(short=True).splitlines()
    turn = r"c_{12} & - s_{12} & 0\\s_{12} & c_{12} & 0\\0 & 0 & 1"
    assert arrays[1] == rf"\mathrm{{rotation}}^{{(1)}} = \left[\begin{{matrix}}{turn}\end{{matrix}}\right]"
    assert named("tau_left_knee") == r"\tau_{\mathrm{left\_knee}}"
    assert named("Minv") == r"\mathrm{Minv}"


def test_what_is_too_large_is_refused_in_one_sentence() -> None:
    with pytest.raises(RobotError, match=r"^iiwa: rnea as a formula (has|takes) more than [^.]*; [^.]*$"):
        codegen.symbolic(codegen.load("iiwa"), "rnea")
    with pytest.raises(RobotError, match=r"^iiwa: aba as a formula has 2e\+10 operations with nothing shared[^.]*$"):
        codegen.symbolic(codegen.load("iiwa"), "aba", simplify=False)


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"inertia:link0": (m1, l1)}, "10 expressions are needed, not 2"),
        ({"gravity": 3}, "give 3 SymPy expressions or numbers"),
        ({"gravity": ("x(", 0, 0)}, "give 3 SymPy expressions or numbers"),
        ({"inertia:tip": None}, "has no moving body 'tip'"),
        ({"gravity": (sympy.Symbol("q_link0", real=True), 0, 0)}, "q_link0 is the symbol of an argument"),
        ({"inertia:link0": (0, 0, 0, 0), "inertia:link1": (0, 0, 0, 0)}, "divides by zero wherever the robot is"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(RobotError, match=says):
        codegen.symbolic(codegen.load("chain:2"), "minverse", parameters=parameters)
