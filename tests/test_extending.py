"""A stranger's additions: an algorithm, a joint, a lowering step and a pass, each one definition and a registry line.

Nothing else is touched: no reader of files, no table, no other module.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar
from unittest import mock

import numpy as np
import pytest
from casadi import SX, cos, sin
from thorough import diagonal

import codegen
from codegen import algorithms, joints, lowering
from codegen.__main__ import main
from codegen.algorithms import Algorithm, Tolerance
from codegen.algorithms.efpa import efpa
from codegen.algorithms.rnea import rnea
from codegen.ir.graph import Value
from codegen.ir.interpreter import interpret
from codegen.oracle import ORACLE
from codegen.passes import DEFAULT, run
from codegen.spatial import AxisRotation, Translation, unit_axis, zeros
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

if TYPE_CHECKING:
    from codegen.geometry import Vec3
    from codegen.ir.graph import Graph
    from codegen.lowering import Problem
    from codegen.recursions.tree import Tree
    from codegen.spatial import Step


def gravity_compensation(tree: Tree) -> SX:
    """Joint forces (nv) that hold the robot still."""
    return rnea(tree, zeros(tree.nv), zeros(tree.nv), zeros(0, 6))


def test_an_algorithm() -> None:
    entry = Algorithm(
        "gravity_compensation", gravity_compensation, ("q",), ("tau",), "forces that hold the robot still"
    )
    robot = codegen.load("solo12")
    q, v, _ = robot.random(1)
    with mock.patch.dict(algorithms.ALGORITHMS, {entry.name: entry}):
        _, emitted = codegen.graphs(robot, entry.name)
        compiled = codegen.build(robot, entry.name)(q)
    expected = ORACLE["rnea"](robot, q, 0 * v, 0 * v)
    np.testing.assert_allclose(compiled, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(interpret(emitted, q)[0].ravel().shape, compiled.shape)
    written, _ = codegen.graphs(robot, "rnea")
    assert len(emitted.values) < len(written.values) / 2


def test_an_algorithm_that_competes(capsys: pytest.CaptureFixture[str]) -> None:
    """`auto` considers it, and `check` holds it to its own tolerance."""

    def detour(tree: Tree) -> SX:
        return 2.0 * efpa(tree) - efpa(tree)

    entry = Algorithm("detour", detour, ("q",), ("W",), "W", "delassus", tolerance=Tolerance(1e-6, 1e-2), competes=True)
    robot, contacts = codegen.load("chain:3"), ["link2:3"]
    with mock.patch.dict(algorithms.ALGORITHMS, {entry.name: entry}), mock.patch.dict(ORACLE, detour=ORACLE["efpa"]):
        assert "detour" in str(codegen.auto(robot, "delassus", contacts=contacts))
        assert main(["check", "chain:3", "-a", "detour", "--contact", *contacts, "-n", "3", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["tolerance"] == 1e-6


@dataclass(frozen=True, slots=True)
class Helical:
    """A screw: q turns about `axis` and moves along it by PITCH (m/rad)."""

    axis: Vec3
    convention: str
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    turns_about: ClassVar[int] = 1
    slides_along: ClassVar[int] = 1
    PITCH: ClassVar[float] = 0.2

    def neutral(self) -> np.ndarray:
        return np.zeros(1)

    def random(self, rng: np.random.Generator, lower: float, upper: float) -> np.ndarray:
        return rng.uniform(-1.0, 1.0, 1)

    def transform(self, q: SX) -> tuple[Step, ...]:
        k, sign = unit_axis(self.axis)
        p = SX(3, 1)
        p[k] = sign * self.PITCH * q
        return (Translation(p), AxisRotation(k, cos(q), sign * sin(q)))

    def subspace(self, q: SX) -> SX:
        k, sign = unit_axis(self.axis)
        S = SX(6, 1)
        S[k], S[3 + k] = sign, sign * self.PITCH
        return S

    def drift(self, q: SX, v: SX) -> SX:
        return zeros(3)

    def integrate(self, q: SX, dv: SX) -> SX:
        return q + dv

    def difference(self, q0: SX, q1: SX) -> SX:
        return q1 - q0


SKEW = (0.6, 0.0, 0.8)


def screwed(robot: codegen.Robot, joint: str, axis: Vec3) -> codegen.Robot:
    """The robot with a screw in the place of one hinge."""
    assert joint in robot.joint_names
    bodies = (
        replace(body, joint=replace(body.joint, type="helical", axis=axis)) if body.joint.name == joint else body
        for body in robot.bodies
    )
    return replace(robot, bodies=tuple(bodies))


@pytest.mark.parametrize(
    ("name", "joint", "axis"),
    [("chain:4,alternate,3", "link2_joint", (0.0, 1.0, 0.0)), ("solo12", "FL_HAA", SKEW), ("solo12", "FL_KFE", SKEW)],
)
def test_a_joint(name: str, joint: str, axis: Vec3) -> None:
    with mock.patch.dict(joints.JOINTS, helical=Helical):
        robot = screwed(codegen.load(name), joint, axis)
        q, v, tau = robot.random(2)
        graph = {name: codegen.graphs(robot, name)[1] for name in ("rnea", "aba", "ltl")}
    a = interpret(graph["aba"], q, v, tau)[0]
    np.testing.assert_allclose(interpret(graph["rnea"], q, v, a)[0], tau, rtol=0, atol=1e-10)
    np.testing.assert_allclose(interpret(graph["ltl"], q, v, tau)[0], a, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("joint", "algorithm"),
    diagonal(["FL_HAA", "FL_HFE", "FL_KFE"], ["rnea", "pv_osimr", "pv_early", "aba_prox"]),
)
def test_no_step_of_the_lowering_takes_a_screw_for_a_hinge(joint: str, algorithm: str) -> None:
    options = {"contacts": ["FL_FOOT:3", "HR_FOOT:3"]} if algorithm != "rnea" else {}
    with mock.patch.dict(joints.JOINTS, helical=Helical):
        robot = screwed(codegen.load("solo12"), joint, SKEW)
        all_steps, none = (codegen.graphs(robot, algorithm, **options, without=names)[0] for names in ([], ["all"]))
        state = robot.random(5)[: len(none.inputs)]
    for found, expected in zip(interpret(all_steps, *state), interpret(none, *state), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), SKEW])
def test_the_power_of_a_screw_is_what_energies_gain(axis: Vec3) -> None:
    """Kinetic energy by `crba`, potential energy by the screw's formula in `fk`."""
    with mock.patch.dict(joints.JOINTS, helical=Helical):
        robot = screwed(codegen.load("chain:4,alternate,3"), "link2_joint", axis)
        q, v, tau = robot.random(2)
        links = [body.name for body in robot.bodies]
        graph = {name: codegen.graphs(robot, name)[1] for name in ("aba", "crba")}
        poses, _ = codegen.graphs(robot, "fk", frames=links)
    a = interpret(graph["aba"], q, v, tau)[0].ravel()

    def energy(time: float) -> float:
        at, rate = q + time * (v + time * a / 2), v + time * a
        position, rotation, _ = interpret(poses, at, rate)
        pairs = zip(robot.bodies, position, rotation, strict=True)
        centres = [(body.inertia.mass, p + R @ np.array(body.inertia.com)) for body, p, R in pairs]
        M = interpret(graph["crba"], at)[0]
        return float(rate @ M @ rate) / 2 - sum(mass * float(np.dot(robot.gravity, c)) for mass, c in centres)

    h = 1e-5
    assert (energy(h) - energy(-h)) / (2 * h) == pytest.approx(float(tau @ v), rel=1e-6)


def test_a_lowering_step() -> None:
    """One that forgets gravity; it can be left out by its name."""

    def weightless(problem: Problem) -> Problem:
        return replace(problem, model=replace(problem.model, gravity=(0.0, 0.0, 0.0)))

    steps = (lowering.Step(weightless, lowering.unchanged), *lowering.LOWERING)
    robot = codegen.load("iiwa")
    q, v, _ = robot.random(3)
    with mock.patch.object(lowering, "LOWERING", steps):
        floats = trace(Task(robot, "rnea"))
        falls = trace(Task(robot, "rnea", without=("weightless",)))
    assert np.abs(interpret(floats, q, 0 * v, 0 * v)[0]).max() == 0.0
    np.testing.assert_allclose(interpret(falls, q, v, v)[0], ORACLE["rnea"](robot, q, v, v), rtol=0, atol=1e-11)


def test_a_pass() -> None:
    """One that computes differences as sums of negatives."""

    def without_differences(graph: Graph) -> Graph:
        values, moved = [], []
        for value in graph.values:
            args = tuple(moved[arg] for arg in value.args)
            if value.op == "sub":
                values.append(Value("neg", args[1:]))
                args = (args[0], len(values) - 1)
                value = Value("add", args)
            moved.append(len(values))
            values.append(value._replace(args=args))
        results = tuple(tuple(moved[index] for index in result) for result in graph.results)
        return replace(graph, values=tuple(values), results=results)

    robot = codegen.load("iiwa")
    written, _ = codegen.graphs(robot, "crba")
    q = robot.random(4)[0]
    found = run(written, DEFAULT, (without_differences,))
    assert not any(value.op == "sub" for value in found.values)
    np.testing.assert_allclose(interpret(found, q)[0], interpret(written, q)[0], rtol=0, atol=1e-13)
