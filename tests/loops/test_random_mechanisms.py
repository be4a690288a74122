"""Every algorithm on random mechanisms with nested and branching clusters, against the dense oracle."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import interpreted
import loop_mechanisms
import numpy as np
import pytest
from loop_mechanisms import MODULES, Builder, mechanism
from mechanisms_cases import error
from thorough import besides, chosen

import codegen
from codegen.cli.samples import samples
from codegen.ir.interpreter import interpret
from codegen.oracle import ORACLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from codegen.model import Model

TOLERANCE = 1e-9
MAIN = ("rnea", "aba", "crba", "minverse", "efpa")
SIDE = ("fk", "jacobian", "ltl", "project", "projected_rnea", "projection_fd", "lagrange_fd", "projected_osim")
SEEDS = range(8)


def compare(model: Model, algorithm: str, states: int = 3, **options: tuple[str, ...]) -> None:
    """The emitted graph and the oracle on random states."""
    graph = interpreted.graph(model, algorithm, **options)
    specs, external = options.get("parameters", ()), options.get("external", ())
    held = tuple(model.contact(frame) for frame in options.get("contacts", model.tips))
    own = [port.name for port in graph.inputs][: len(graph.inputs) - len(specs)]
    values = samples(model, own, len(external), specs, states, 1)
    found = interpret(graph, *values)
    for k in range(states):
        state = [value[k] for value in values]
        parameters = dict(zip(specs, state[len(own) :], strict=True))
        given = {"contacts": held, "external": external, "parameters": parameters}
        expected = ORACLE[algorithm](model, *state[: len(own)], **given)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for ours, theirs in zip(found, expected, strict=False):  # a status has no counterpart
            deviation = np.abs(ours[k] - theirs).max() if algorithm == "project" else error(ours[k], theirs)
            assert deviation < TOLERANCE


@cache
def random_model(seed: int, modules: int = 5) -> Model:
    """Bases and conventions by turns."""
    base, convention = ("fixed", "floating")[seed % 2], ("pinocchio", "mujoco")[seed // 2 % 2]
    return mechanism(seed, modules, base=base, convention=convention)  # type: ignore[arg-type]


@pytest.mark.thorough
def test_the_mechanisms_are_nested_and_branched() -> None:
    models = [random_model(seed) for seed in SEEDS]
    assert max(len(node.bodies) for model in models for node in model.nodes) >= 7
    assert max(len(node.loops) for model in models for node in model.nodes) >= 3
    carriers = [{model.bodies[b].parent for b in range(len(model.bodies))} for model in models]
    shared = [
        len(carriers[n].intersection(node.bodies) - {model.bodies[b].parent for b in node.bodies}) > 1
        for n, model in enumerate(models)
        for node in model.nodes
        if node.loops
    ]
    assert any(shared), "no cluster has children on several of its bodies"


@pytest.mark.parametrize(
    ("seed", "algorithm"),
    besides([(0, "rnea"), (6, "aba"), (2, "crba"), (0, "minverse"), (4, "efpa"), (7, "crba")], [*product(SEEDS, MAIN)]),
)
def test_dynamics_with_wrenches_everywhere(seed: int, algorithm: str) -> None:
    model = random_model(seed)
    tools = tuple(frame.name for frame in model.frames if frame.name.startswith("tool") and frame.body >= 0)
    options = {"rnea": {"external": tools}, "aba": {"external": tools}, "efpa": {"contacts": (tools[2], tools[-1])}}
    compare(model, algorithm, **options.get(algorithm, {}))


@pytest.mark.parametrize("algorithm", besides(["fk", "ltl", "lagrange_fd"], SIDE))
@pytest.mark.parametrize("seed", besides([0], SEEDS[::3]))
def test_the_other_algorithms(seed: int, algorithm: str) -> None:
    compare(random_model(seed), algorithm)


@cache
def alone(module: Callable[[Builder], None]) -> Model:
    """A robot with loops of one kind."""
    made = Builder(7)
    module(made)
    return made.model(module.__name__, "floating", "pinocchio")


def soon(module: Callable[[Builder], None], algorithm: str) -> bool:
    """Forward dynamics and what closes loops; steps in a few cases."""
    return algorithm in ("aba", "project") or module.__name__ in ("four_bar", "gear", "mimics")


@pytest.mark.parametrize(
    ("module", "algorithm"),
    chosen(soon, MODULES, ["rnea", "aba", "project", "integrate", "difference"]),
    ids=lambda part: getattr(part, "__name__", part),
)
def test_each_kind_of_loop_alone(module: Callable[[Builder], None], algorithm: str) -> None:
    compare(alone(module), algorithm)


@pytest.mark.parametrize("seed", besides([2], [2, 5]))
def test_payloads_offsets_and_gravity_as_arguments(seed: int) -> None:
    model = random_model(seed)
    tied = [b for node in model.nodes if node.loops for b in node.bodies]
    rotor, joint = model.bodies[tied[1]], model.bodies[tied[-1]].joint.name
    first = model.bodies[tied[0]].name
    specs = ("gravity", f"payload:{rotor.name}", f"payload:{first}", f"inertia:{first}", f"offset:{joint}")
    for algorithm in ("rnea", "aba", "crba"):
        compare(model, algorithm, parameters=specs)


@pytest.mark.parametrize("convention", besides(["mujoco"], ["pinocchio", "mujoco"]))
def test_a_floating_base_inside_a_cluster(convention: codegen.model.Convention) -> None:
    """A walker whose foot is pinned to the world: the loop spans the whole robot and its free joint."""
    made = Builder(1)
    root = leg = made.body("base", "floating")
    for _ in range(4):
        leg = made.body(leg)
    made.body(root)
    made.close(leg, "base", "point")
    model = made.model("pinned", "fixed", convention)
    assert [len(node.bodies) for node in model.nodes] == [5, 1]
    assert "j0" in model.loops[0].independent
    for algorithm in ("rnea", "aba", "crba", "minverse", "efpa", "lagrange_fd"):
        compare(model, algorithm)


@pytest.mark.parametrize("algorithm", besides(["rnea"], ["rnea", "aba"]))
def test_compiled_with_every_function_of_the_texts(algorithm: str) -> None:
    made = Builder(4)
    for module in (loop_mechanisms.expression, loop_mechanisms.four_bar, loop_mechanisms.expression):
        module(made)
    model = made.model("cams", "fixed", "pinocchio")
    function = codegen.build(model, algorithm)
    for seed in range(10):
        state = model.random(seed)
        assert error(function(*state), ORACLE[algorithm](model, *state)) < TOLERANCE
