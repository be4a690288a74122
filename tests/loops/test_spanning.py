"""Derivatives of robots with implicit loops by way of the spanning tree, against AD of inverse dynamics."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from casadi import SX, Function, densify, dot, gradient, hessian, jacobian, vertcat
from casadi_cases import loaded, stretched
from loop_mechanisms import mechanism
from thorough import besides

import codegen
from codegen.api import task
from codegen.tracing.arguments import columns, results
from codegen.tracing.blocks import joined, spans
from codegen.tracing.casadi_operators import direct_operators
from codegen.tracing.differential import raw
from codegen.tracing.differentiated import differentiated
from codegen.tracing.equations import by_motion, forces_of_joints, inverse_of_equations, second_of_equations, unknowns
from codegen.tracing.solutions import contracted
from codegen.tracing.spanning import MOTION, DependentRates, by_joints, by_spanning_tree, joint_rates, slopes

if TYPE_CHECKING:
    from codegen.model import Model
    from codegen.tracing.task import Task

LOOPS = ["four_bar", "six_bar", "planar_leg_linkage", "tello_humanoid", "cassie"]


def symbols_of(asked: Task) -> dict[str, SX]:
    return {port.name: SX.sym(port.name, port.size) for port in asked.signature[0]}


def at_random(robot: codegen.Robot, seed: int, sizes: list[int]) -> list[np.ndarray]:
    """A configuration off the loops, with quaternions of any norm, and others."""
    rng = np.random.default_rng(seed)
    q = robot.random(seed)[0] + rng.normal(scale=0.2, size=robot.nq)
    return [q, *(rng.normal(size=size) for size in sizes)]


@pytest.mark.parametrize("name", besides(LOOPS[:2], LOOPS))
@direct_operators()
def test_derivatives_are_those_of_inverse_dynamics(name: str) -> None:
    """Both orders, by positions that close no loops, too, and by quaternions of any norm."""
    robot = codegen.load(name)
    asked = task(robot, "rnea")
    assert by_spanning_tree(asked)
    x, w = symbols_of(asked), SX.sym("w", robot.nv)
    tau = results(asked, x)["tau"]
    assert isinstance(tau, SX)
    first, second = slopes(asked, x), by_joints(asked, x, w)
    slope = {one: gradient(dot(w, tau), x[one]) for one in MOTION}
    mine = [first[one] for one in MOTION] + [second[pair] for pair in second]
    exact = [jacobian(tau, x[one]) for one in MOTION] + [jacobian(slope[one], x[other]) for one, other in second]
    given = [x[one] for one in MOTION] + [w]
    made, wanted = (Function("f", given, [densify(y) for y in both]) for both in (mine, exact))
    for seed in range(3):
        values = at_random(robot, seed, [robot.nv] * 3)
        for own, other in zip(made(*values), wanted(*values), strict=True):
            scale = 1 + np.abs(np.array(other)).max(initial=0)
            np.testing.assert_allclose(np.array(own) / scale, np.array(other) / scale, rtol=0, atol=1e-10)


@direct_operators()
def test_they_take_fewer_operations() -> None:
    """Of both orders, those of Cassie's joint forces."""
    robot = codegen.load("cassie")
    asked = task(robot, "rnea")
    x, w = symbols_of(asked), SX.sym("w", robot.nv)
    tau = results(asked, x)["tau"]
    by_ad = [jacobian(tau, x["q"]), jacobian(tau, x["v"]), hessian(dot(w, tau), vertcat(*x.values()))[0]]
    first, second = slopes(asked, x), by_joints(asked, x, w)
    made = [first["q"], first["v"], *second.values()]
    sizes = [
        Function("f", [*x.values(), w], both, {"live_variables": False}).n_instructions() for both in (made, by_ad)
    ]
    assert sizes[0] < 0.7 * sizes[1]


@pytest.mark.parametrize(
    ("name", "algorithm", "contacts", "parameters"),
    [
        ("four_bar", "aba", None, ("offset:link2", "gravity")),
        ("planar_leg_linkage", "pv_soft", ("foot:x",), ("R", "k")),
        ("planar_leg_linkage", "pv", ("foot:x:kp=20:kd=5",), ("offset:foot",)),
    ],
)
@direct_operators()
def test_equations_of_motion_are_differentiated_alike(
    name: str, algorithm: str, contacts: tuple[str, ...] | None, parameters: tuple[str, ...]
) -> None:
    """With parameters that loops depend on, and with contacts; the inverse of their matrix, too."""
    asked = task(codegen.load(name), algorithm, contacts=contacts, parameters=parameters)
    x = symbols_of(asked)
    given = columns(asked, x)
    own = raw(asked, [*x.values()])
    (solution,) = own.program.solutions
    u, moved = SX.sym("u", solution.unknown.size1()), {**x, **unknowns(asked, solution)}
    second, balanced = (
        second_of_equations(asked, moved, given, u, solution),
        forces_of_joints(asked, own.program, x),
    )
    assert {*balanced} == {"q", "v"}
    lack = contracted(solution, u)
    mine = [*second.values(), *balanced.values()]
    exact = [jacobian(gradient(lack, moved[one]), moved[other]) for one, other in second]
    exact += [-jacobian(gradient(lack, u), x[one]) for one in balanced]
    inverse = inverse_of_equations(asked, x, given)
    assert (inverse is None) == (algorithm == "pv_soft")
    if inverse is not None:
        mine, exact = [*mine, inverse], [*exact, own.program.solved(solution.multipliers(SX.eye(u.size1())))]
    arguments = vertcat(*x.values(), solution.unknown, u)
    made, wanted = (Function("f", [arguments], [densify(SX(y)) for y in both]) for both in (mine, exact))
    values = np.random.default_rng(4).normal(size=arguments.size1())
    for found, other in zip(made(values), wanted(values), strict=True):
        np.testing.assert_allclose(np.array(found), np.array(other), rtol=1e-9, atol=1e-9)


@direct_operators()
def test_rates_of_joints_keep_loops_closed() -> None:
    asked = task(codegen.load("four_bar"), "rnea")
    x = symbols_of(asked)
    rates, accelerations, weights = joint_rates(asked, x, SX.sym("w", 1)).solutions
    assert isinstance(rates, DependentRates)
    assert str(rates) == str(accelerations) == str(weights) == "2 rates that loops give"


@pytest.mark.parametrize(("name", "algorithm"), [("iiwa", "aba"), ("chain12_geared", "aba"), ("four_bar", "crba")])
def test_others_have_recursions_or_none(name: str, algorithm: str) -> None:
    asked = task(codegen.load(name), algorithm)
    assert by_spanning_tree(asked) == (name == "four_bar")
    assert inverse_of_equations(asked, {}, []) is None


GRADIENTS = [
    ("four_bar floating", "aba"),
    ("four_bar floating", "step_rk4"),
    ("planar_leg_linkage", "step_rk4"),
    *(("four_bar floating", algorithm) for algorithm in ("rnea", "step", "step_implicit_midpoint")),
    *(("tello_humanoid", algorithm) for algorithm in ("rnea", "aba", "step")),
]


@pytest.mark.parametrize(("name", "algorithm"), besides(GRADIENTS[:3], GRADIENTS))
def test_they_are_those_of_differences(name: str, algorithm: str) -> None:
    """By raw coordinates of a free base, too: quaternions of any norm mean the same in derivatives of either order."""
    against_differences(loaded(name), algorithm)


@pytest.mark.parametrize(
    ("seed", "algorithm"),
    besides([(4, "aba")], [*product(range(8), ("rnea", "aba", "step")), *product(range(0, 8, 2), ("step_rk4",))]),
)
def test_random_mechanisms(seed: int, algorithm: str) -> None:
    """Clusters with explicit and implicit loops, in either convention of free bases."""
    base, convention = "floating" if seed % 2 else "fixed", "mujoco" if seed % 4 == 3 else "pinocchio"
    against_differences(mechanism(seed, 2 + seed % 2, base=base, convention=convention), algorithm)


def against_differences(model: Model, algorithm: str) -> None:
    """A function for CasADi, its Jacobian and its Hessian, each against differences of the one before."""
    asked = task(model, algorithm, iterations=6)
    own, found = differentiated(asked)
    w, place = SX.sym("w", own.y.size1()), spans(own.inputs)
    J, H = joined(found.jacobian(), own.outputs, own.inputs), joined(found.hessian(w), own.inputs, own.inputs)
    f = Function("f", [own.x, w], [dot(w, own.y), J.T @ w, densify(H), found.adjoint(w)])
    rng, h = np.random.default_rng(1), 1e-4
    x = np.concatenate([model.random(1)[0], rng.normal(scale=0.1, size=own.x.size1() - model.nq)])
    x[place["q"]] = stretched(model, x[place["q"]])
    x[place.get("dt", slice(0))] = 0.01
    weights, along = rng.normal(size=w.size1()), rng.normal(size=own.x.size1())
    _, slope, second, adjoint = (np.array(y) for y in f(x, weights))
    ends = [[np.array(y) for y in f(x + k * h * along, weights)[:2]] for k in (-2, -1, 1, 2)]
    value, gradient = ((8 * (c - b) - (d - a)) / (12 * h) for a, b, c, d in zip(*ends, strict=True))
    near(adjoint, slope, 1e-10)
    near(slope.T @ along, value[0], 1e-8)
    near(second @ along, gradient[:, 0], 1e-8)


def near(found: np.ndarray, exact: np.ndarray, error: float) -> None:
    np.testing.assert_allclose(found, exact, rtol=0, atol=error * (1 + np.abs(exact).max()))


def test_second_derivatives_of_motion_are_told_from_zeros() -> None:
    """Blocks of which all elements are stored zeros are none; others than those of equations of motion are found."""
    asked = task(codegen.load("four_bar"), "aba")
    size = asked.model.nq + 3 * asked.model.nv
    second = densify(SX(size, size))
    second[0, 0] = SX.sym("x")
    found = by_motion(asked, SX(size, 1), second)
    assert found is not None
    assert [x.nnz() for x in found] == [0, 1, 0, 0, 0]
    second[-1, -1] = SX.sym("y")
    assert by_motion(asked, SX(size, 1), second) is None
