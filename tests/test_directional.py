"""Products of derivatives: against dense derivatives, differences of high order, and each other; compiled, too."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from mechanisms_cases import ALL_TYPES, mechanism
from thorough import besides, chosen

import codegen
from codegen import passes
from codegen.errors import BuildError, RobotError
from codegen.ir.counting import count
from codegen.ir.interpreter import interpret
from codegen.model.contacts import contact_of
from codegen.tracing.directional import axes, signature, traced
from codegen.tracing.form import Form
from codegen.tracing.task import Task

ORDER8 = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0.0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
NEAR = 1e-12


@cache
def graph(task):
    return traced(task)


def call(task, *given):
    """The results of a task's function, without a status."""
    return interpret(graph(task), *given)[: len(signature(task)[1])]


def product(task, kind, *given):
    return call(replace(task, form=Form(kind)), *given)


def drawn(task, seed=0):
    """A valid state as arguments, a direction of each, and weights of the results."""
    rng, model = np.random.default_rng(seed), task.model
    (inputs, outputs), along = task.signature, axes(task)
    given = []
    for port in inputs:
        random = model.random(rng)[0] if along.get(port.name) == ("nq",) else 0.5 * rng.standard_normal(port.shape)
        random = 0.02 * random if port.name == "dt" else random
        given.append(np.abs(random) + 0.5 if port.name in ("mu", "R", "weight") else random)
    tangents = [
        [rng.standard_normal(model.nv if along.get(port.name) == ("nq",) else port.shape) for port in ports]
        for ports in (inputs, outputs)
    ]
    return given, *tangents


def moved(task, given, directions, step):
    """The arguments, so far along their directions; configurations on the manifold."""
    along, move = axes(task), Task(task.model, "integrate")
    return [
        call(move, x, step * dx)[0] if along.get(port.name) == ("nq",) else x + step * dx
        for port, x, dx in zip(task.signature[0], given, directions, strict=True)
    ]


def difference(task, given, directions, step=2e-3):
    """Derivatives of results along directions by differences of eighth order; of configurations their tangents."""
    along, ends = axes(task), call(task, *given)
    found = [np.zeros(task.model.nv if along[port.name] == ("nq",) else port.shape) for port in task.signature[1]]
    for k, weight in enumerate(ORDER8):
        results = call(task, *moved(task, given, directions, (k - 4) * step)) if weight else ()
        for n, (port, y) in enumerate(zip(task.signature[1], results, strict=False)):
            if along[port.name] == ("nq",):
                (y,) = call(Task(task.model, "difference"), ends[n], y)
            found[n] = found[n] + weight / step * y
    return found


def error(found, expected):
    scale = max(1e-3, *(np.abs(y).max(initial=0.0) for y in expected))
    return max(np.abs(x - y).max(initial=0.0) for x, y in zip(found, expected, strict=True)) / scale


def inner(these, those):
    return sum(float(np.sum(x * y)) for x, y in zip(these, those, strict=True))


def agree(task, tolerance=1e-8, seed=0):
    """The directional derivative is that of differences, and the adjoint belongs to it."""
    given, directions, weights = drawn(task, seed)
    along = product(task, "jvp", *given, *directions)
    assert error(along, difference(task, given, directions)) < tolerance
    belongs(task, given, directions, weights, along)


def belongs(task, given, directions, weights, along):
    """w' (J d) = (J' w)' d."""
    gradient = product(task, "vjp", *given, *weights)
    size = sum(float(np.sum(np.abs(x * y))) for x, y in zip(gradient, directions, strict=True))
    near = 1e-10 if task.entry.declares.stiffened else 1e-11  # mu = 1e5 in link inertias rounds off at 2e-11
    assert abs(inner(weights, along) - inner(gradient, directions)) < near * max(size, 1.0)


DENSE = {"rnea": "rnea_derivatives", "aba": "aba_derivatives", "ltl": "aba_derivatives"}


ROBOTS = ("iiwa", "four_bar", "go1", "solo12", "tello_humanoid")


@pytest.mark.parametrize(
    ("robot", "algorithm"),
    chosen(lambda *case: case in (("iiwa", "aba"), ("four_bar", "rnea")), ROBOTS, tuple(DENSE)),
)
def test_against_dense_derivatives(robot, algorithm):
    """J d and J' w, on trees and robots with loops, on a floating base that is described in another frame."""
    model = codegen.load(robot)
    task = Task(model, algorithm)
    given, directions, weights = drawn(task)
    J = interpret(graph(Task(model, DENSE[algorithm])), *given)[:3]
    expected = sum(matrix @ d for matrix, d in zip(J, directions, strict=True))
    assert error(product(task, "jvp", *given, *directions), [expected]) < NEAR
    assert error(product(task, "vjp", *given, *weights), [matrix.T @ weights[0] for matrix in J]) < NEAR


@pytest.mark.parametrize("convention", besides(["mujoco"], ["pinocchio", "mujoco"]))
def test_every_joint_type(convention):
    """Configurations among arguments and results, off axis, in both conventions of velocities."""
    model = mechanism(ALL_TYPES, 4, base="floating", convention=convention, armature=True)
    for algorithm in ("rnea", "fk", "integrate", "difference"):
        agree(Task(model, algorithm))


def test_external_wrenches_and_parameters():
    """Every argument has a direction and a gradient: wrenches, gravity, inertias and offsets, too."""
    model = mechanism(("revolute", "spherical", "prismatic"), 7)
    body, joint = model.bodies[1].name, model.bodies[2].joint.name
    given = {"external": (model.frames[-1].name,), "parameters": ("gravity", f"inertia:{body}", f"offset:{joint}")}
    for algorithm in ("rnea", "aba"):
        agree(Task(model, algorithm, **given))


@pytest.mark.parametrize(
    ("robot", "algorithm"),
    besides(
        [("four_bar", "integrate"), ("four_bar", "lagrange_fd"), ("six_bar", "jacobian")],
        [
            ("four_bar", "integrate"),
            ("four_bar", "lagrange_fd"),
            ("six_bar", "jacobian"),
            ("six_bar", "difference"),
            ("planar_leg_linkage", "projection_fd"),
            ("mini_cheetah", "approximate_aba"),
            ("tello_humanoid", "fk"),
        ],
    ),
)
def test_loops(robot, algorithm):
    """Configurations move on the closed manifold."""
    agree(Task(codegen.load(robot), algorithm))


HELD = [
    ("iiwa", "pv", ("lbr_iiwa_link_7:3:kp=20:kd=5",), ("k",)),
    ("iiwa", "prox_pv", ("lbr_iiwa_link_7:3",), ("mu",)),
    ("iiwa", "pv_soft", ("lbr_iiwa_link_7:6",), ("R",)),
    ("iiwa", "caba_osimf", ("lbr_iiwa_link_7:3",), ()),
    ("solo12", "constrained_aba", ("FL_FOOT:3", "HR_FOOT:3"), ("k",)),
    ("solo12", "pv_early", ("FL_FOOT:3", "HR_FOOT:3"), ("k",)),
    ("solo12", "aba_prox", ("FL_FOOT:3", "HR_FOOT:3:in=base_link"), ()),
    ("mini_cheetah", "tree_kkt", ("FL_foot_contact:3",), ()),
]


@pytest.mark.parametrize(("robot", "algorithm", "texts", "parameters"), besides(HELD[:2], HELD))
def test_constrained_dynamics(robot, algorithm, texts, parameters):
    """Contacts' arguments have directions, too; with mu among them, single steps are differentiated as they are."""
    model = codegen.load(robot)
    contacts = tuple(contact_of(model, text) for text in texts)
    agree(Task(model, algorithm, contacts=contacts, parameters=parameters), 1e-6)


@pytest.mark.thorough
def test_redundant_rows():
    """The equations do not determine the multipliers, then: the iteration is differentiated as it is."""
    model = codegen.load("iiwa")
    contacts = tuple(contact_of(model, text) for text in ("lbr_iiwa_link_7:6", "lbr_iiwa_link_7:3"))
    agree(Task(model, "prox_pv", contacts=contacts), 1e-6)


STEPS = [
    ("iiwa", "step", ()),
    ("solo12", "step", ()),
    ("iiwa", "step_rk4", ()),
    ("four_bar", "step_implicit_midpoint", ()),
    ("chain:3", "prox_pv_step_implicit_midpoint", ("link2:x,y",)),
    ("chain:3", "pv_step_rk4", ("link2:x,y:kp=20:kd=5",)),
    ("solo12", "pv_soft_step", ("FL_FOOT:3", "HR_FOOT:3")),
]


@pytest.mark.parametrize(("robot", "algorithm", "texts"), besides(STEPS[:1] + STEPS[4:5], STEPS))
def test_steps(robot, algorithm, texts):
    """The dynamics at every stage, and the equation of an implicit step, by the implicit function theorem."""
    model = codegen.load(robot)
    contacts = tuple(contact_of(model, text) for text in texts)
    agree(Task(model, algorithm, contacts=contacts or None, iterations=5), 1e-7)


COSTS = [
    ("iiwa", "aba", (), 2.4),
    ("iiwa", "prox_pv", ("lbr_iiwa_link_7:3",), 2.15),
    ("iiwa", "step_implicit_midpoint", (), 1.45),
    ("go1", "constrained_aba", ("FL_foot:3", "FR_foot:3", "RL_foot:3", "RR_foot:3"), 2.25),
    ("go1", "step", (), 2.3),
]


@pytest.mark.parametrize(("robot", "algorithm", "texts", "most"), besides(COSTS[:2], COSTS))
def test_products_of_what_solves_equations_cost_little(robot, algorithm, texts, most):
    """By the implicit function theorem, in parts of the function's own operations."""
    model = codegen.load(robot)
    task = Task(model, algorithm, contacts=tuple(contact_of(model, text) for text in texts) or None)
    plain, jvp, vjp = (count(passes.run(graph(replace(task, form=Form(kind))))).total for kind in ("", "jvp", "vjp"))
    assert vjp <= most * plain
    assert jvp <= (most + 0.05) * plain


def test_compiled():
    """C for one state and batches, in both types; built when first used, once."""
    model = mechanism(("spherical", "revolute"), 3)
    aba = codegen.build(model, "aba")
    task = Task(model, "aba")
    states = [drawn(task, seed) for seed in range(5)]
    given, directions, weights = (
        [np.stack(row) for row in zip(*part, strict=True)] for part in zip(*states, strict=True)
    )
    (along,) = product(task, "jvp", *given, *directions)
    gradient = product(task, "vjp", *given, *weights)
    assert error([aba.jvp(*given, *directions)], [along]) < NEAR
    assert error([aba.jvp(*(x[0] for x in (*given, *directions)))], [along[0]]) < NEAR
    assert error(aba.vjp(*given, *weights), gradient) < NEAR
    assert aba.vjp is aba.vjp
    assert [port.name for port in aba.vjp.outputs] == ["qbar", "vbar", "taubar"]
    again = pickle.loads(pickle.dumps(aba.vjp))
    assert error(again(*given, *weights), gradient) < NEAR
    single = codegen.build(model, "aba", dtype="float32", derivative="vjp")
    assert error(single(*(x.astype(np.float32) for x in (*given, *weights))), gradient) < 1e-3


def test_status():
    """A product shows its status where its function does."""
    model = codegen.load("four_bar")
    rnea = codegen.build(model, "rnea").with_status()
    assert [port.name for port in rnea.outputs] == ["tau", "status"]
    assert [port.name for port in rnea.jvp.outputs] == ["dtau", "status"]


def test_refusals():
    model = codegen.load("four_bar")
    with pytest.raises(RobotError, match="choose one of jvp, vjp"):
        codegen.build(model, "rnea", derivative="third")
    with pytest.raises(RobotError, match="its residual has no derivative"):
        codegen.build(model, "project", derivative="jvp")
    with pytest.raises(
        RobotError, match="the tensor of aba would have 1,125,000 elements, more than 300,000; take the"
    ):
        codegen.build(codegen.load("talos"), "aba", derivative="tensor")
    with pytest.raises(RobotError, match="fixed number of iterations"):
        codegen.graphs(codegen.load("iiwa"), "prox_pv", iterations=None, derivative="vjp")
    with pytest.raises(BuildError, match="rnea_jvp is no algorithm"):
        _ = codegen.build(model, "rnea", derivative="jvp").jvp
