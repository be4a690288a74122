"""What is known by symmetry of a free base: structural zeros, numbers, and the operations that it spares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from mechanisms_cases import mechanism
from thorough import besides, diagonal

import codegen
from codegen.ir.counting import count
from codegen.ir.graph import Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST
from codegen.ir.products import straight_line
from codegen.ir.sparse import sparse_results
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE
from codegen.recursions import free_base
from codegen.recursions.free_base import is_free
from codegen.tracing.directional import function_of
from codegen.tracing.form import Form
from codegen.tracing.task import Task
from codegen.tracing.trace import problem_of, symbols_of, trace

if TYPE_CHECKING:
    from codegen.recursions.tree import Tree

FEET = ("FL_foot:3", "RR_foot:3")
SEVERAL = (
    FEET,
    ("FL_foot:3:kp=5:kd=3", "RR_foot:3"),
    ("FL_foot:3:in=world", "RR_foot:3"),
    ("FL_foot:3:spatial", "RR_foot:3"),
    ("FL_foot:3",),
)
HELD = ("constrained_aba_derivatives", "pv_derivatives")
CONVENTIONS = ("pinocchio", "mujoco")
LINEAR, ANGULAR = range(3), range(3, 6)


def skew(x):
    return np.cross(np.eye(3), x)


def tree_of(model, algorithm="aba", **options) -> Tree:
    task = Task(model, algorithm, **options)
    return problem_of(task, symbols_of(task.signature[0])).built


def patterns(model, algorithm, **options):
    """By results, where the graph of an algorithm may differ from zero."""
    names = [name for name in Task(model, algorithm, **options).entry.outputs if name[0] in "dM"]
    found = sparse_results(trace(Task(model, algorithm, **options)), names)
    made = (port for port in found.outputs if port.pattern)
    return {port.name: np.array(port.pattern.dense(np.ones(port.size)), bool) for port in made}


def trace_form(task):
    return straight_line(function_of(task))


def results_of(graph):
    return [graph.values[index] for index in graph.results[0]]


def test_accelerations_change_as_the_base_falls_and_glides():
    """Turned, it sees gravity turned; its moving axes take w x v out of its acceleration."""
    model, rng = codegen.load("go1"), np.random.default_rng(3)
    q, v, tau = model.random(rng)
    da_dq, da_dv, *_ = interpret(trace(Task(model, "aba_derivatives")), q, v, tau)
    exact_q, exact_v, *_ = ORACLE["aba_derivatives"](model, q, v, tau)
    x, y, z, w = q[3:7]
    down = [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z]
    expected_q, expected_v = np.zeros((model.nv, 6)), np.zeros((model.nv, 3))
    expected_q[:3, 3:] = skew(-9.81 * np.array(down))
    expected_v[:3] = -skew(v[3:6])
    for found, wanted, exact in ((da_dq[:, :6], expected_q, exact_q), (da_dv[:, :3], expected_v, exact_v)):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13)
        np.testing.assert_allclose(exact[:, : wanted.shape[1]], wanted, rtol=0, atol=1e-8 * np.abs(exact).max())


@pytest.mark.parametrize("robot", besides(["go1"], ["go1", "solo12", "talos", "cassie"]))
def test_structural_zeros(robot):
    """Of a base that is turned, gravity changes the linear acceleration across it; none of the joints'."""
    found = patterns(codegen.load(robot), "aba_derivatives")
    across = np.argwhere(found["da_dq"][:, :6])
    assert {*map(tuple, across)} == {(row, 3 + column) for row in LINEAR for column in LINEAR if row != column}
    assert {*map(tuple, np.argwhere(found["da_dv"][:, :3]))} == {(r, c) for r in LINEAR for c in LINEAR if r != c}
    assert found["da_dq"][:, 6:].any(axis=0).all()


@pytest.mark.parametrize("texts", [FEET, ("FL_foot:6", "FR_foot:6", "RL_foot:6")])
def test_contacts_do_not_see_a_base_glide(texts):
    model = codegen.load("go1")
    contacts = tuple(contact_of(model, text) for text in texts)
    found = patterns(model, "constrained_aba_derivatives", contacts=contacts)
    assert not found["dlam_dv"][:, LINEAR].any()
    assert found["dlam_dq"][:, ANGULAR].any()
    assert not found["da_dv"][3:, LINEAR].any()


@pytest.mark.parametrize(("convention", "algorithm", "texts"), diagonal(CONVENTIONS, HELD, SEVERAL))
def test_numbers_are_the_same(monkeypatch, convention, algorithm, texts):
    """With feedback, axes at rest, spatial accelerations, and of a single contact, all the robot being its limb."""
    model, rng = codegen.load("go1", convention=convention), np.random.default_rng(5)
    task = Task(model, algorithm, contacts=tuple(contact_of(model, text) for text in texts))
    given = [*model.random(rng), *(np.abs(rng.standard_normal(port.shape)) for port in task.signature[0][3:])]
    found = interpret(trace(task), *given)
    monkeypatch.setattr(free_base, "is_free", lambda *_: False)
    for mine, theirs in zip(found, interpret(trace(task), *given), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-11 * np.abs(theirs).max())


@pytest.mark.parametrize("convention", besides(["mujoco"], CONVENTIONS))
def test_compiled_c_against_the_oracle(convention):
    """On two feet, one state at a time and several."""
    model, rng = codegen.load("go1", convention=convention), np.random.default_rng(4)
    contacts = tuple(contact_of(model, text) for text in FEET)
    function, states = codegen.build(model, "pv_derivatives", contacts=FEET), [model.random(rng) for _ in range(3)]
    many = function(*(np.array(x) for x in zip(*states, strict=True)))
    for n, state in enumerate(states):
        exact = ORACLE["pv_derivatives"](model, *state, contacts=contacts)
        for one, several, theirs in zip(function(*state), many, exact, strict=False):
            for mine in (one, several[n]):
                np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-8 * np.abs(theirs).max())


@pytest.mark.parametrize(("algorithm", "texts"), [("aba_derivatives", ()), ("pv_derivatives", FEET)])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_it_spares_operations(monkeypatch, convention, algorithm, texts):
    """Eight percent and more of what a quadruped takes; linear velocities of MuJoCo's are along axes at rest."""
    model = codegen.load("go1", convention=convention)
    task = Task(model, algorithm, contacts=tuple(contact_of(model, text) for text in texts) or None)
    after = count(trace(task)).total
    monkeypatch.setattr(free_base, "is_free", lambda *_: False)
    before = count(trace(task)).total
    assert after < (0.92 if convention == "pinocchio" else 0.96) * before


@pytest.mark.parametrize("algorithm", ["aba_derivatives", "step_derivatives"])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_against_differences(convention, algorithm):
    model, rng = mechanism(("floating", "revolute", "spherical", "prismatic"), 3, convention=convention), np.random
    q, v, tau = model.random(rng.default_rng(7))
    more = [0.01] if algorithm == "step_derivatives" else []
    found = interpret(trace(Task(model, algorithm)), q, v, tau, *more)
    expected = ORACLE[algorithm](model, q, v, tau, *more)
    for mine, theirs in zip(found, expected, strict=False):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-8 * np.abs(theirs).max())


@pytest.mark.parametrize("algorithm", besides(["aba"], ["aba", "step"]))
def test_hessians_know_it_too(monkeypatch, algorithm):
    """A tenth of the operations; the gradient by how the base is turned changes by that alone."""
    model, rng = codegen.load("go1"), np.random.default_rng(2)
    task = Task(model, algorithm, form=Form("hessian"))
    given = [*model.random(rng), *([np.array([0.01])] if algorithm == "step" else [])]
    after = trace_form(task)
    given += [rng.standard_normal(port.size) for port in after.inputs[len(given) :]]
    monkeypatch.setattr(free_base, "is_free", lambda *_: False)
    before = trace_form(task)
    assert count(after).total < 0.93 * count(before).total
    mine, theirs = (interpret(own, *given)[0] for own in (after, before))
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())
    if algorithm == "aba":
        turned = np.argwhere(np.reshape([own != Value(CONST) for own in results_of(after)], mine.shape)[3:6])
        assert {*turned[:, 1].tolist()} == {3, 4, 5}


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_several_free_bases(tmp_path, convention):
    """Two robots in one file, without influence on each other."""
    pytest.importorskip("mujoco")
    inertial = '<inertial pos="0.1 0.05 0" mass="2" diaginertia="0.1 0.2 0.25"/>'
    link = f'<body pos="0 0.2 0"><joint type="hinge" axis="0 1 0"/>{inertial}</body>'
    bases = "".join(f'<body name="{name}"><freejoint/>{inertial}{link}</body>' for name in "ab")
    (tmp_path / "two.xml").write_text(f"<mujoco><worldbody>{bases}</worldbody></mujoco>")
    model = codegen.load(tmp_path / "two.xml", convention=convention)
    q, v, tau = model.random(np.random.default_rng(6))
    found = interpret(trace(Task(model, "aba_derivatives")), q, v, tau)
    for mine, theirs in zip(found, ORACLE["aba_derivatives"](model, q, v, tau), strict=False):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())
    zeros = patterns(model, "aba_derivatives")
    for first in (0, 7):
        assert zeros["da_dv"][:, first : first + 3].sum() == (6 if convention == "pinocchio" else 0)


def test_only_what_moves_freely_in_the_world_is_a_free_base():
    """Not one with armature, whose rotors gravity does not take along, nor joints that a base carries."""
    model = codegen.load("go1")
    tree = tree_of(model)
    assert [is_free(tree, i) for i in tree.outwards] == [True] + [False] * (len(tree) - 1)
    assert not any(is_free(tree_of(codegen.load("iiwa")), i) for i in range(7))
    heavy = mechanism(("floating", "revolute"), 3, armature=True)
    assert not is_free(tree_of(heavy), 0)
