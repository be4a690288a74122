"""Functions that iterate until their residual is small: the loop around the stages, compiled, in lanes and alone."""

from __future__ import annotations

from functools import cache

import interpreted
import numpy as np
import pytest
from thorough import besides

import codegen
from codegen.compilation.runtime import Function

TOGETHER = True  # one process builds what these tests share
ALGORITHMS = ("constrained_aba", "prox_pv")
FEET = ("FL_FOOT:3", "HR_FOOT:3")


@cache
def iterating(algorithm: str) -> Function:
    return codegen.build(codegen.load("solo12"), algorithm, contacts=FEET, iterations=None)


@pytest.mark.parametrize("algorithm", besides(["constrained_aba"], ALGORITHMS))
def test_it_stops_at_the_tolerance_and_tells_how(algorithm: str) -> None:
    """A tighter tolerance takes more iterations, and the residual told is below it."""
    state = codegen.load("solo12").random(4)
    taken = []
    for tolerance in (1e-2, 1e-6, 1e-11):
        _, _, iterations, residual = iterating(algorithm)(*state, tolerance, 20)
        assert residual <= tolerance
        taken.append(int(iterations))
    assert taken[0] < taken[2] < 20


@pytest.mark.parametrize("algorithm", besides(["constrained_aba"], ALGORITHMS))
def test_the_largest_number_of_iterations_holds(algorithm: str) -> None:
    state = codegen.load("solo12").random(5)
    assert [int(iterating(algorithm)(*state, 0.0, most)[2]) for most in (1, 2, 5)] == [1, 2, 5]


@pytest.mark.parametrize("algorithm", besides(["constrained_aba"], ALGORITHMS))
def test_it_agrees_with_the_unrolled_function(algorithm: str) -> None:
    robot = codegen.load("solo12")
    state = robot.random(6)
    unrolled = interpreted.build(robot, algorithm, contacts=FEET, iterations=4)
    for found, expected in zip(iterating(algorithm)(*state, 0.0, 4)[:2], unrolled(*state), strict=True):
        assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()


@pytest.mark.parametrize("algorithm", besides(["constrained_aba"], ALGORITHMS))
def test_a_state_in_a_batch_iterates_as_it_would_alone(algorithm: str) -> None:
    """Each lane stops by itself, so neighbours do not change a result."""
    robot, function = codegen.load("solo12"), iterating(algorithm)
    states = [np.stack(column) for column in zip(*[robot.random(seed) for seed in range(21)], strict=True)]
    tolerances = 10.0 ** -np.arange(21)
    together = function(*states, tolerances, 6)
    assert len(set(together[2].ravel())) > 1
    for n in range(21):
        alone = function(*[column[n] for column in states], tolerances[n], 6)
        assert alone[2] == together[2][n]
        assert np.abs(alone[0] - together[0][n]).max() < 1e-9 * np.abs(alone[0]).max()


def test_no_number_in_gives_no_endless_loop() -> None:
    q, v, tau = codegen.load("solo12").random(7)
    _, _, iterations, residual = iterating("constrained_aba")(q, np.nan * v, tau, 1e-9, 50)
    assert iterations == 1
    assert np.isnan(residual)


def test_its_c_is_clean_and_builds_alone(tmp_path: object) -> None:
    """The emitted folder holds the loop too."""
    robot = codegen.load("solo12")
    paths = codegen.generate(robot, ["constrained_aba"], f"{tmp_path}/c", contacts=FEET, iterations=None)
    text = next(path for path in paths if path.name == "solo12_constrained_aba.c").read_text()
    assert "while (going_)" in text
    assert "malloc" not in text
