"""Axes that bodies are described along: fewer operations, and nothing that a user can see of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import interpreted
import numpy as np
import pytest
from casadi import SX, Function, vec
from mechanisms_cases import error, looked_at, mechanism, parallel, state
from thorough import besides, diagonal
from trees import symbolic_tree

import codegen
from codegen.algorithms import ALGORITHMS
from codegen.api import graphs
from codegen.geometry import axis_rotation, axis_turns
from codegen.ir.counting import count
from codegen.ir.interpreter import interpret
from codegen.lowering import LOWERING, Problem, Request
from codegen.lowering.regroup_inertias import regroup_inertias
from codegen.model.canonical_frames import canonical
from codegen.oracle import ORACLE
from codegen.recursions.expansion import entries
from codegen.spatial import AxisRotation

TOLERANCE = 1e-11
COMMON = ("fk", "jacobian", "rnea", "crba", "aba", "ltl", "minverse")


@pytest.mark.parametrize(("algorithm", "base"), diagonal(COMMON, ["fixed", "floating"]))
@pytest.mark.parametrize("seed", besides([1], [1, 2, 3]))
def test_parallel_hinges(algorithm, base, seed):
    model = parallel(base, seed)
    graph = interpreted.graph(model, algorithm)
    for n in range(3):
        q, v, a, tau = state(model, n)
        given = [{"q": q, "v": v, "a": a, "tau": tau}[name] for name in ALGORITHMS[algorithm].inputs if name != "f_ext"]
        found = interpret(graph, *given)
        assert error(found if len(found) > 1 else found[0], ORACLE[algorithm](model, *given)) < TOLERANCE


@pytest.mark.parametrize("base", besides(["floating"], ["fixed", "floating"]))
def test_bodies_that_are_looked_at(base):
    """Frames, wrenches, payloads and contacts on bodies that would otherwise stand aside."""
    model = parallel(base, 4)
    names = looked_at(model)
    assert len(names) > 3
    q, v, a, tau = state(model, 1)
    for algorithm, given in (("fk", (q, v)), ("jacobian", (q,))):
        found = interpret(interpreted.graph(model, algorithm, frames=names), *given)
        expected = ORACLE[algorithm](model, *given, frames=names)
        assert error(found if len(found) > 1 else found[0], expected) < TOLERANCE
    wrenches = np.random.default_rng(0).standard_normal((2, 6))
    load = np.array([2.0, 0.1, -0.2, 0.3, 0.05, 0.06, 0.07, 0.01, -0.02, 0.015])
    for algorithm, last in (("rnea", a), ("aba", tau)):
        options = {"external": names[:2], "parameters": [f"payload:{names[2]}", "offset:joint4"]}
        offset = np.array([0.3, 0.4, -0.5])
        found = interpret(interpreted.graph(model, algorithm, **options), q, v, last, wrenches, load, offset)[0]
        numbers = dict(zip(options["parameters"], (load, offset), strict=True))
        expected = ORACLE[algorithm](model, q, v, last, wrenches, external=names[:2], parameters=numbers)
        assert error(found, expected) < TOLERANCE


@pytest.mark.parametrize(
    ("robot", "algorithm", "saved"),
    besides([("go1", "aba", 0.02)], [("go1", "aba", 0.02), ("talos", "crba", 0.015), ("atlas", "ltl", 0.02)]),
)
def test_parallel_hinges_save_turns(robot, algorithm, saved):
    """Operations as written, with everything else alike."""
    model, entry = codegen.load(robot), ALGORITHMS[algorithm]

    def written(swept):
        given = [SX.sym(name, model.nq if name == "q" else model.nv) for name in entry.inputs if name != "f_ext"]
        tree = symbolic_tree(model, given[0], swept=swept)
        wrenches = [SX(0, 6)] if "f_ext" in entry.inputs else []
        results = entry.run(tree, *given[1:], *wrenches)
        results = results if isinstance(results, tuple) else (results,)
        return Function("f", given, [vec(result) for result in entries(results)]).n_nodes()

    assert written("both") < (1 - saved) * written("forces")


@pytest.mark.parametrize("algorithm", ["rnea", "aba"])
def test_a_tip_is_weighed_along_its_first_moment(algorithm):
    """A pendulum off its axis in every way; it took 13 operations along other axes."""
    assert count(graphs(mechanism(("revolute",), 3), algorithm)[1]).total == 9


@pytest.mark.parametrize(
    ("robot", "algorithm", "saved"),
    besides(
        [("go1", "aba", 30)],
        [("go1", "aba", 30), ("talos", "rnea", 60), ("jvrc1", "rnea", 150), ("mini_cheetah", "aba", 25)],
    ),
)
def test_a_tip_is_turned_by_itself(robot, algorithm, saved):
    """Operations as emitted: shins, grippers, rotors."""
    model = codegen.load(robot)
    found, before = (count(graphs(model, algorithm, without=names)[1]).total for names in ([], ["tip_axes"]))
    assert found <= before - saved


def test_a_zero_product_of_inertia_with_the_axis_stays():
    """Atlas' feet keep it, and turn their axes instead: one way or the other, limbs on both sides alike."""
    for swept, turned in (("both", True), ("inertias", False)):
        parts = symbolic_tree(talos := codegen.load("talos"), SX.sym("q", talos.nq), swept=swept).parts
        steps = {body.name: part.X.steps for body, part in zip(talos.bodies, parts, strict=True)}
        for side in ("left", "right"):
            assert any(isinstance(step, AxisRotation) for step in steps[f"leg_{side}_6_link"]) is not turned
    atlas = codegen.load("atlas")
    parts = symbolic_tree(atlas, SX.sym("q", atlas.nq), swept="both").parts
    for body, part in zip(atlas.bodies, parts, strict=True):
        assert not body.name.endswith("_foot") or isinstance(part.X.steps[-1], AxisRotation)


@pytest.mark.parametrize(
    ("robot", "saved"), besides([("go1", 15)], [("go1", 15), ("talos", 30), ("atlas_shadow", 150)])
)
def test_mass_goes_outwards_for_a_first_moment(robot, saved):
    """Operations as written of RNEA, whose forces alone it serves."""
    model, entry = codegen.load(robot), ALGORITHMS["rnea"]

    def written(swept):
        given, needs = [SX.sym(name, model.nq if name == "q" else model.nv) for name in "qva"], entry.needs()
        problem = Problem(Request(needs), model, given[0])
        for step in LOWERING:
            regrouping = step.run is regroup_inertias
            asked = Request(replace(needs, swept=swept) if regrouping else needs)
            problem = replace(step.run(replace(problem, request=asked)), request=Request(needs))
        return Function("f", given, [entry.run(problem.built, *given[1:], SX(0, 6))]).n_nodes()

    assert written("forces") <= written("both") - saved


def test_constant_turns_have_length_one():
    """Far beyond rounding: inertias turn by formulas that take it for granted."""
    rng = np.random.default_rng(0)
    for angle in rng.uniform(-np.pi, np.pi, 50):
        turns = axis_turns(np.array(axis_rotation(1, np.cos(angle), np.sin(angle))))
        ((axis, c, s),) = turns
        assert axis == 1
        assert abs(Fraction(c) ** 2 + Fraction(s) ** 2 - 1) < 2e-17
        np.testing.assert_allclose([c, s], [np.cos(angle), np.sin(angle)], rtol=0, atol=1e-14)


def test_long_chains_of_hinges_anywhere():
    """Rounding does not double from joint to joint: 60 links later, frames are still frames, and forces right."""
    model = mechanism(("revolute",) * 60, 1, branching=0.0)
    for body in canonical(model).model.bodies:
        assert np.abs(body.placement.R.T @ body.placement.R - np.eye(3)).max() < 1e-13
        assert sorted(map(abs, body.joint.axis)) == [0.0, 0.0, 1.0]
    q, v, a, _ = state(model, 0)
    (found,) = interpret(interpreted.graph(model, "rnea"), q, v, a)
    assert error(found, ORACLE["rnea"](model, q, v, a)) < TOLERANCE
