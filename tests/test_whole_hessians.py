"""Whole Hessians by products of matrices and loops: those that expressions give, in C that compilers take."""

from __future__ import annotations

import numpy as np
import pytest
from casadi import DM, SX
from casadi_cases import loaded
from test_derivatives import worst
from thorough import besides

import codegen
from codegen.api import task
from codegen.emission.emit import emit_source
from codegen.ir.counted import counted
from codegen.ir.counting import count
from codegen.ir.graph import Graph
from codegen.ir.interpreter import interpret
from codegen.ir.products import straight_line
from codegen.pipeline import kernel, passed
from codegen.task.header import header
from codegen.tracing import directional
from codegen.tracing.whole_hessians import brackets

TIP, FELT = ("lbr_iiwa_link_7:3",), ("lbr_iiwa_link_7:3:kp=30:kd=5",)
CASES = [
    ("pinocchio spherical revolute", "step_rk4", (), ()),
    ("pinocchio planar screw", "aba", (), ()),
    ("iiwa", "pv", FELT, ()),
    ("four_bar", "step", (), ()),
    ("chain:6", "rnea", (), ()),
    ("iiwa", "pv_step_rk4", TIP, ()),
    ("four_bar floating", "aba", (), ()),
    ("planar_leg_linkage", "prox_pv", ("foot:x",), ()),
    *(("planar_leg_linkage", name, ("foot:x:kp=20:kd=5",), ()) for name in ("pv", "pv_step_rk4")),
    *(("mujoco revolute spherical", name, (), ()) for name in ("aba", "step_rk4")),
    ("iiwa", "ltl", (), ()),
    ("iiwa", "pv_step_rk4", FELT, ()),
    *(("iiwa", name, TIP, ()) for name in ("pv_soft", "prox_pv", "constrained_aba", "prox_kkt", "prox_pv_step")),
    *(("iiwa", name, (), ("inertia:lbr_iiwa_link_7", "gravity")) for name in ("aba", "step_implicit_midpoint")),
    ("go1", "pv", ("FR_foot:3:kp=30:kd=5",), ()),
    ("go1", "step_implicit_midpoint", (), ()),
    ("go1", "pv_step_rk4", ("FR_foot:3", "FL_foot:3:kp=30:kd=5"), ()),
    ("four_bar floating", "step_rk4", (), ()),
    ("chain12_belt", "aba", (), ()),
]


@pytest.mark.parametrize(("robot", "name", "contacts", "parameters"), besides(CASES[:8], CASES))
def test_they_are_those_of_expressions(
    monkeypatch: pytest.MonkeyPatch,
    robot: str,
    name: str,
    contacts: tuple[str, ...],
    parameters: tuple[str, ...],
) -> None:
    """Where tangents do not commute, too: then they are not symmetric."""
    monkeypatch.setattr("codegen.tracing.whole_hessians.LINKED", 1)
    monkeypatch.setattr("codegen.tracing.whole_hessians.PLACED", 1)
    monkeypatch.setattr("codegen.tracing.linked.LINKED", 1)
    asked = task(loaded(robot), name, contacts=contacts or None, parameters=parameters, derivative="hessian")
    (q, v, tau), rng = asked.model.random(1), np.random.default_rng(2)
    known = {"q": q, "v": v, "tau": tau, "dt": np.array([2e-3])}
    inputs, _ = directional.signature(asked)
    given = [known.get(port.name, 0.3 * rng.standard_normal(port.shape)) for port in inputs]
    made = directional.function_of(asked)
    emitted = passed(asked, made)
    assert counted(emitted) == count(straight_line(emitted))
    monkeypatch.setattr("codegen.tracing.directional.by_products", lambda asked: False)
    plain = directional.function_of(asked)
    found, expected = (interpret(straight_line(own), *given) for own in (made, plain))
    found, expected = (x[0] if isinstance(x, tuple) else x for x in (found, expected))
    assert worst([found], [expected]) < 1e-11


def test_tangents_of_joints_of_one_degree_of_freedom_commute() -> None:
    """Those of a floating base turn about its own axes, and carry its velocity along them."""
    weights = np.arange(1.0, 19.0)
    assert not brackets(codegen.load("iiwa"), SX(weights[:7])).nnz()
    A = np.array(DM(brackets(codegen.load("go1"), SX(weights))))
    assert np.array_equal(A, -A.T)
    assert not A[6:].any()
    x, y, z = weights[3:6] / 2  # half of what turning about two axes one after the other, or in turn, differs by
    assert np.array_equal(A[3:6, 3:6], [[0, z, -y], [-z, 0, x], [y, -x, 0]])


BOUNDS = [
    ("chain:5", "step_implicit_midpoint", 8_050),
    ("chain:5", "step_rk4", 31_100),
    ("iiwa", "step_implicit_midpoint", 25_700),
    ("iiwa", "step_rk4", 94_500),
    ("go1", "step_implicit_midpoint", 232_100),
]


@pytest.mark.parametrize(("robot", "name", "most"), besides(BOUNDS[:1], BOUNDS))
def test_operations(robot: str, name: str, most: int) -> None:
    """Of RK4 they are a quarter more than those of straight-line code, in half its time: tiles multiply zeros, too."""
    asked = task(codegen.load(robot), name, derivative="hessian")
    assert counted(passed(asked, directional.function_of(asked))).total <= most


@pytest.mark.parametrize(("robot", "name"), [("chain:4", "step_rk4"), ("chain:6", "step"), ("iiwa", "aba")])
def test_robots_with_few_joints_have_straight_line_code(robot: str, name: str) -> None:
    assert isinstance(directional.function_of(task(codegen.load(robot), name, derivative="hessian")), Graph)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("robot", "name", "contacts"),
    [
        *(("go1", name, ()) for name in ("aba", "step_rk4", "step_implicit_midpoint")),
        *(("talos", name, ()) for name in ("rnea", "aba", "ltl", "step", "step_rk4", "step_implicit_midpoint")),
        *(("talos", name, ("left_sole_link:6", "right_sole_link:6")) for name in ("pv", "prox_pv", "pv_step_rk4")),
        *((robot, "step", ()) for robot in ("cassie", "tello_humanoid")),
        *(("cassie", name, ("left-foot:3", "right-foot:3")) for name in ("pv", "pv_step")),
        *(("atlas_shadow", name, ()) for name in ("rnea", "aba", "step", "step_rk4")),
    ],
)
def test_their_c_stays_below_two_megabytes(robot: str, name: str, contacts: tuple[str, ...]) -> None:
    asked = task(codegen.load(robot), name, contacts=contacts or None, derivative="hessian")
    assert len(emit_source(header(asked.model, "x", (asked,)), kernel(asked))) < 2e6


COMPILED = [
    ("pinocchio spherical", "step_implicit_midpoint"),
    *((robot, "step_rk4") for robot in ("pinocchio spherical", "go1")),
]


@pytest.mark.parametrize(("robot", "name"), besides(COMPILED[:1], COMPILED))
def test_compiled_ones_are_how_gradients_change(robot: str, name: str) -> None:
    """For one state and for a batch, dense and sparse: against products along every direction."""
    model = loaded(robot)
    dense, sparse = (codegen.build(model, name, derivative="hessian", sparse=own) for own in (False, True))
    change = codegen.build(model, name, derivative="hvp")
    rng, (q, v, tau) = np.random.default_rng(3), model.random(4)
    given = (q, v, tau, 2e-3, *rng.standard_normal((2, model.nv)))
    H, n = dense(*given), 3 * model.nv + 1
    directions = np.split(np.eye(n), [model.nv, 2 * model.nv, 3 * model.nv], axis=1)
    columns = [change(*given, *(part[k] for part in directions)) for k in range(n)]
    assert worst([H], [np.array([np.concatenate([np.ravel(x) for x in own]) for own in columns]).T]) < 1e-9
    states = [np.broadcast_to(x, (3, *np.shape(x))) for x in given]
    assert worst([dense(*states)], [np.broadcast_to(H, (3, n, n))]) < 1e-11
    assert worst([sparse.pattern("hessian").dense(sparse(*given))], [H]) < 1e-11


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["aba", "pv"])
def test_compiled_ones_of_cassie_are_its_products(name: str) -> None:
    """Which go along directions, and solve by the algorithm itself; on two points, too."""
    cassie, feet = codegen.load("cassie"), ("left-foot:3", "right-foot:3") if name == "pv" else None
    whole, change = (codegen.build(cassie, name, contacts=feet, derivative=own) for own in ("hessian", "hvp"))
    rng = np.random.default_rng(3)
    directions, sizes = rng.normal(size=(3, cassie.nv)), [cassie.nv, *([6] if feet else [])]
    given = (*cassie.random(4), *map(rng.standard_normal, sizes))
    assert worst([np.concatenate(change(*given, *directions))], [whole(*given) @ directions.ravel()]) < 1e-10
