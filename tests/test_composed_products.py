"""Products of derivatives of steps with vectors, link by link: those of expressions, in C that compilers take."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from casadi_cases import loaded
from test_derivatives import worst
from thorough import besides

import codegen
from codegen.api import task
from codegen.emission.emit import emit_source
from codegen.ir.counted import counted
from codegen.ir.counting import count
from codegen.ir.interpreter import interpret
from codegen.ir.products import WithProducts, straight_line
from codegen.pipeline import kernel, passed
from codegen.task.header import header
from codegen.tracing import balanced_products, directional

FORMS = ("jvp", "vjp", "hvp")
FELT = ("lbr_iiwa_link_7:3:kp=30:kd=5",)
CASES = [
    ("pinocchio spherical revolute", "step_rk4", ()),
    ("four_bar floating", "step_implicit_midpoint", ()),
    ("iiwa", "pv_step_rk4", FELT),
    ("four_bar floating", "step_rk4", ()),
    ("four_bar", "step", ()),
    ("four_bar", "step_implicit_midpoint", ()),
    *(("mujoco planar spherical", name, ()) for name in ("step_rk4", "step_implicit_midpoint")),
    *(("iiwa", f"prox_pv_step_{name}", FELT) for name in ("rk4", "implicit_midpoint")),
    ("go1", "pv_step", ("FR_foot:3:kp=30", "FL_foot:3")),
    ("go1", "pv_step_implicit_midpoint", ("FR_foot:3:kp=30", "FL_foot:3")),
]


BALANCED = [
    ("iiwa", "pv_step_implicit_midpoint", FELT),
    ("go1", "pv_step_implicit_midpoint", ("FR_foot:3:kp=30", "FL_foot:3")),
    ("iiwa", "prox_pv_step_implicit_midpoint", FELT),
    ("four_bar floating", "pv_step_implicit_midpoint", ("ee-0:3:kp=9",)),
]


@pytest.mark.parametrize(("robot", "name", "contacts"), besides(BALANCED[:1], BALANCED))
def test_hessian_vector_products_by_jacobians(
    monkeypatch: pytest.MonkeyPatch, robot: str, name: str, contacts: tuple[str, ...]
) -> None:
    monkeypatch.setattr("codegen.tracing.balanced_products.PLACED", 1)
    calls = list[object]()
    through = balanced_products.through
    monkeypatch.setattr("codegen.tracing.rooted_products.through", lambda *own: calls.append(own) or through(*own))
    test_they_are_those_of_expressions(monkeypatch, robot, name, contacts)
    assert calls


@pytest.mark.parametrize(("robot", "name", "contacts"), besides(CASES[:3], CASES))
def test_they_are_those_of_expressions(
    monkeypatch: pytest.MonkeyPatch, robot: str, name: str, contacts: tuple[str, ...]
) -> None:
    """Along tangents, also where loops allow few, and with all that is called a function."""
    monkeypatch.setattr("codegen.tracing.composed_products.LINKED", 1)
    for costs in ("CALLED_IN_JACOBIANS", "CALLED_IN_HESSIANS"):
        monkeypatch.setattr(f"codegen.tracing.composed_products.{costs}", (50, 50))
    monkeypatch.setattr("codegen.tracing.link_products.PULLED", 50)
    model = loaded(robot)
    (q, v, tau), rng = model.random(1), np.random.default_rng(2)
    known = {"q": q, "v": v, "tau": tau, "dt": np.array([2e-3])}
    for form in FORMS:
        asked = task(model, name, contacts=contacts or None, derivative=form)
        inputs, _ = directional.signature(asked)
        given = [known.get(port.name, 0.3 * rng.standard_normal(port.shape)) for port in inputs]
        made = directional.function_of(asked)
        assert isinstance(made, WithProducts)
        emitted = passed(asked, made)
        assert counted(emitted) == count(straight_line(emitted))
        with monkeypatch.context() as patch:
            patch.setattr("codegen.tracing.directional.by_parts", lambda asked: False)
            plain = directional.function_of(asked)
        found, expected = (interpret(straight_line(own), *given) for own in (made, plain))
        assert len(found) == len(expected)
        assert worst(found, expected) < 1e-10, form


def test_robots_with_few_joints_have_straight_line_code() -> None:
    asked = [task(codegen.load("iiwa"), "step_rk4", derivative=form) for form in FORMS]
    assert not any(isinstance(directional.function_of(own), WithProducts) for own in asked)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("robot", "name", "form"),
    [
        *product(("talos", "cassie", "atlas_shadow"), ("step", "step_rk4", "step_implicit_midpoint"), FORMS),
    ],
)
def test_their_c_stays_below_two_megabytes(robot: str, name: str, form: str) -> None:
    asked = task(codegen.load(robot), name, derivative=form)
    assert len(emit_source(header(asked.model, "x", (asked,)), kernel(asked))) < 2e6


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("robot", "held"), [("atlas_shadow", ("l_foot:6", "r_foot:6")), ("cassie", ("left-foot:3", "right-foot:3"))]
)
def test_their_c_on_contacts_stays_below_two_megabytes(robot: str, held: tuple[str, ...]) -> None:
    """The longest of all: how gradients of implicit steps on two feet change."""
    asked = task(codegen.load(robot), "pv_step_implicit_midpoint", contacts=held, derivative="hvp")
    assert len(emit_source(header(asked.model, "x", (asked,)), kernel(asked))) < 2e6


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["step_rk4", "step_implicit_midpoint"])
def test_compiled_ones_agree_with_each_other(name: str) -> None:
    """Of Cassie: dy' w = dx' g, and gradients change as their differences do, for a batch of states, too."""
    cassie = codegen.load("cassie")
    jvp, vjp, hvp = (codegen.build(cassie, name, derivative=form) for form in FORMS)
    rng, state = np.random.default_rng(5), cassie.random(6)
    given = (*state, 2e-3)
    weights, (dq, dv, dtau) = rng.standard_normal((2, cassie.nv)), rng.standard_normal((3, cassie.nv))
    directions = (dq, dv, dtau, 0.3)
    change, slope = np.concatenate(jvp(*given, *directions)), [np.ravel(x) for x in vjp(*given, *weights)]
    assert np.isclose(change @ weights.ravel(), np.concatenate(slope) @ np.hstack(directions), rtol=1e-9)
    found = hvp(*given, *weights, *directions)
    states = [np.broadcast_to(x, (3, *np.shape(x))) for x in (*given, *weights, *directions)]
    assert worst([x[1] for x in hvp(*states)], [*found]) < 1e-10
