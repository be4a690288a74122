"""Second derivatives: against CasADi's AD of the same expressions, and against differences of gradients."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from casadi_cases import loaded
from mechanisms_cases import ALL_TYPES, mechanism
from test_directional import ORDER8, call, drawn, error, graph, moved, product
from thorough import besides, chosen

import codegen
from codegen import passes
from codegen.algorithms import ALGORITHMS
from codegen.ir.counting import count
from codegen.model.contacts import contact_of
from codegen.tracing import curvature, directional, equations
from codegen.tracing.chained import chain
from codegen.tracing.form import Form
from codegen.tracing.task import Task
from codegen.tracing.trace import casadi_function, symbols_of

NEAR = 1e-12


def hessians(task, given):
    """The second derivatives of all results by CasADi, at a state of a robot whose tangents are its coordinates."""
    f = casadi_function(task)
    x = [ca.SX.sym(f"x{k}", f.size1_in(k)) for k in range(f.n_in())]
    y, joined = ca.vertcat(*f.call(x)), ca.vertcat(*x)
    H = ca.vertcat(*[ca.hessian(y[k], joined)[0] for k in range(y.size1())])
    n = joined.size1()
    return ca.Function("H", [joined], [H])(np.concatenate([part.ravel() for part in given])).full().reshape(-1, n, n)


@pytest.mark.parametrize(
    ("robot", "algorithm"),
    chosen(lambda *case: case == ("chain:3", "aba"), ("chain:3", "iiwa"), ("rnea", "aba", "ltl")),
)
def test_against_algorithmic_differentiation(robot, algorithm):
    task = Task(codegen.load(robot), algorithm)
    given, directions, weights = drawn(task)
    expected = hessians(task, given)
    (tensor,) = product(task, "tensor", *given)
    assert error([tensor], [expected]) < NEAR
    (H,) = product(task, "hessian", *given, *weights)
    assert error([H], [np.tensordot(weights[0], expected, 1)]) < NEAR
    found = np.concatenate(product(task, "hvp", *given, *weights, *directions))
    assert error([found], [np.tensordot(weights[0], expected, 1) @ np.concatenate(directions)]) < NEAR


def agree(task, near=1e-8, step=2e-3):
    """The Hessian-vector product is that of differences of the gradient, and the Hessian's product with directions."""
    given, directions, weights = drawn(task)
    found = product(task, "hvp", *given, *weights, *directions)
    ends = [
        [weight / step * x for x in product(task, "vjp", *moved(task, given, directions, (k - 4) * step), *weights)]
        for k, weight in enumerate(ORDER8)
        if weight
    ]
    assert error(found, [sum(parts) for parts in zip(*ends, strict=True)]) < near
    return given, directions, weights, found


CASES = [
    ("solo12", "rnea", ()),
    ("four_bar", "aba", ()),
    ("tello_humanoid", "aba", ()),
    ("tello_humanoid", "rnea", ()),
    ("cassie", "aba", ()),
    ("chain:3", "prox_pv", ("link2:x,y",)),
    ("iiwa", "pv", ("lbr_iiwa_link_7:3:kp=20",)),
    ("solo12", "pv_soft", ("FL_FOOT:3",)),
    ("four_bar", "fk", ()),
    ("chain:3", "step", ()),
    ("chain:3", "step_implicit_midpoint", ()),
    ("chain:3", "step_rk4", ()),
    ("solo12", "step", ()),
    ("solo12", "pv_step", ("FL_FOOT:3",)),
    ("chain:3", "pv_step_rk4", ("link2:x,y:kp=20:kd=5",)),
    ("chain:3", "prox_pv_step_implicit_midpoint", ("link2:x,y",)),
    ("four_bar", "step_implicit_midpoint", ()),
    ("four_bar floating", "step", ()),
    ("four_bar floating", "step_rk4", ()),
    ("planar_leg_linkage", "pv_step", ("foot:x",)),
    ("iiwa", "pv_step_implicit_midpoint", ("lbr_iiwa_link_7:3",)),
]


@pytest.mark.parametrize(("robot", "algorithm", "texts"), besides([CASES[1], CASES[5], CASES[9], CASES[15]], CASES))
def test_against_differences(robot, algorithm, texts):
    """And the whole Hessian of small robots and of robots with loops: equations are differentiated once for all
    directions.
    """
    model = loaded(robot)
    task = Task(model, algorithm, contacts=tuple(contact_of(model, text) for text in texts) or None, iterations=5)
    held = ALGORITHMS[algorithm].group == "constrained" or texts
    given, directions, weights, found = agree(task, 1e-6 if held else 1e-8)
    if robot == "chain:3" or (model.loops and algorithm != "fk"):
        (H,) = product(task, "hessian", *given, *weights)
        along, expected = (np.concatenate([x.ravel() for x in parts]) for parts in (directions, found))
        assert error([H @ along], [expected]) < (1e-8 if held else NEAR)


@pytest.mark.parametrize(
    ("convention", "algorithm"),
    chosen(
        lambda convention, algorithm: convention == "pinocchio" and algorithm != "step",
        ("pinocchio", "mujoco"),
        ("rnea", "integrate", "fk", "com", "step"),
    ),
)
def test_every_joint_type(convention, algorithm):
    """Along tangents that turn with the configuration, of arguments and of results."""
    turns_alike(Task(mechanism(ALL_TYPES, 4, base="floating", convention=convention), algorithm))


def turns_alike(task):
    """The Hessian's product with directions is the Hessian-vector product, which is that of differences."""
    given, directions, weights, found = agree(task)
    (H,) = product(task, "hessian", *given, *weights)
    along, expected = (np.concatenate([x.ravel() for x in parts]) for parts in (directions, found))
    assert error([expected], [H @ along]) < NEAR


@pytest.mark.parametrize(
    ("types", "convention"),
    chosen(
        lambda types, convention: types != ALL_TYPES and convention == "pinocchio",
        (("spherical", "revolute"), ALL_TYPES),
        ("pinocchio", "mujoco"),
    ),
)
def test_forward_dynamics_on_a_floating_base(types, convention):
    """By recursions, or where axes turn (in MuJoCo's convention) by algorithmic differentiation."""
    task = Task(mechanism(types, 4, base="floating", convention=convention), "aba")
    assert curvature.turns_no_axes(task) == (convention == "pinocchio")
    turns_alike(task)


ONE_BY_ONE = 7371
"""Operations of iiwa's by algorithmic differentiation along one direction after the other."""


def test_the_recursion_saves_operations(monkeypatch):
    """Of whole Hessians of inverse dynamics: half of what it takes along one direction after the other, and more."""
    task = Task(codegen.load("iiwa"), "rnea", form=Form("hessian"))
    mine = count(passes.run(directional.traced(task))).total
    monkeypatch.setattr(equations, "turns_no_axes", lambda task: False)
    assert mine < 0.5 * ONE_BY_ONE
    assert mine < 0.6 * count(passes.run(directional.traced(task))).total


MOST = [
    ("iiwa", "rnea", (2460, 3480)),
    ("iiwa", "fk", (2000, 1700)),
    ("iiwa", "com", (970, 840)),
    ("chain:3", "aba", (670, 520)),
    ("go1", "rnea", (7560, 8360)),
    ("iiwa", "aba", (3900, 6250)),
    ("go1", "aba", (12870, 25700)),
]


@pytest.mark.parametrize(("robot", "algorithm", "most"), besides(MOST[:4], MOST))
def test_operations(robot, algorithm, most):
    """Of Hessian-vector products, and of whole Hessians, of inverse and of forward dynamics."""
    task = Task(codegen.load(robot), algorithm)
    for kind, bound in zip(("hvp", "hessian"), most, strict=False):
        assert count(passes.run(graph(replace(task, form=Form(kind))))).total <= bound


BOUNDS = [
    ("chain:3", "step", (), (725, 670)),
    ("chain:3", "step_rk4", (), (3140, 5920)),
    ("chain:3", "prox_pv_step_implicit_midpoint", ("link2:x,y",), (4800, 5010)),
    ("iiwa", "step", (), (4040, 7700)),
    ("iiwa", "step_rk4", (), (17830, 75300)),
    ("go1", "step", (), (14960, 68100)),
    ("solo12", "pv_step", ("FL_FOOT:3", "HR_FOOT:3"), (15560, 100200)),
    ("iiwa", "step_implicit_midpoint", (), (14300, 22300)),
]


@pytest.mark.parametrize(("robot", "algorithm", "texts", "most"), besides(BOUNDS[:1], BOUNDS))
def test_operations_of_steps(monkeypatch, robot, algorithm, texts, most):
    """Of straight-line Hessian-vector products and Hessians: no factorisation, and no iteration, is differentiated."""
    monkeypatch.setattr(directional, "by_products", lambda task: False)
    model = codegen.load(robot)
    task = Task(model, algorithm, contacts=tuple(contact_of(model, text) for text in texts) or None)
    for kind, bound in zip(("hvp", "hessian"), most, strict=True):
        assert count(passes.run(graph(replace(task, form=Form(kind))))).total <= bound


@pytest.mark.parametrize(
    ("robot", "algorithm"),
    besides([("chain:3", "step")], [(robot, step) for robot in ("chain:3", "iiwa") for step in ("step", "step_rk4")]),
)
def test_steps_part_by_part_save_operations(monkeypatch, robot, algorithm):
    """Part by part, whole Hessians of steps take four fifths of the operations at most, in straight-line code."""
    monkeypatch.setattr(directional, "by_products", lambda task: False)
    task = Task(codegen.load(robot), algorithm, form=Form("hessian"))
    mine = count(passes.run(directional.traced(task))).total
    monkeypatch.setattr(directional, "is_chain", lambda task: False)
    assert mine < 0.8 * count(passes.run(directional.traced(task))).total


@pytest.mark.parametrize(("texts", "parameters"), [(("link2:x,y", "link2:x"), ()), (("link2:x,y",), ("mu",))])
def test_steps_whose_iterations_are_differentiated(texts, parameters):
    """Hessians and products are those of two iterations, which have not settled, where rows or arguments ask for it."""
    model = codegen.load("chain:3")
    contacts = tuple(contact_of(model, text) for text in texts)
    task = Task(model, "prox_pv_step", contacts=contacts, parameters=parameters, iterations=2)
    given, directions, weights = drawn(task)
    (H,) = product(task, "hessian", *given, *weights)
    found = product(task, "hvp", *given, *weights, *directions)
    along, expected = (np.concatenate([x.ravel() for x in parts]) for parts in (directions, found))
    assert error([H @ along], [expected]) < NEAR


def test_a_chain_prints_its_parts():
    task = Task(codegen.load("chain:3"), "step")
    assert str(chain(task, symbols_of(task.signature[0]))) == "aba -> a; integrate -> q1"


def test_nonzeros():
    """Second derivatives by their nonzeros, and the Hessian of a compiled function."""
    model = codegen.load("chain:2")
    task = Task(model, "rnea")
    given, directions, weights = drawn(task)
    (expected,) = call(replace(task, form=Form("tensor")), *given)
    function = codegen.build(model, "rnea", derivative="tensor", sparse=True)
    pattern = function.pattern("tensor")
    assert pattern.shape == (12, 6)
    np.testing.assert_allclose(pattern.dense(function(*given)), expected.reshape(12, 6), rtol=0, atol=1e-12)
    assert len(pattern.indices) < 30
    rnea = codegen.build(model, "rnea")
    found = rnea.hvp(*given, *weights, *directions)
    assert [port.name for port in rnea.hvp.outputs] == ["dqbar", "dvbar", "dabar"]
    assert error(found, product(task, "hvp", *given, *weights, *directions)) < NEAR
