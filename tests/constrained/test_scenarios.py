"""Every algorithm with contacts against the oracle: the papers' scenarios, robots with loops, other bases."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scenarios import (
    DELASSUS,
    FINGERED,
    FIXED,
    HARD,
    LOOPED,
    PAPER,
    PRIMAL,
    PUBLISHED,
    TOLERANCE,
    of,
    problem,
    with_corners,
    worst,
)
from thorough import besides, chosen

import codegen
from codegen.ir.interpreter import interpret
from codegen.oracle import constrained

SOON = ("iiwa H6", "solo12 F3^2", "mini_cheetah")
SOME = {  # of the quick algorithms all on the arm, and each on one or two of the others
    "solo12 F3^2": ("pv", "prox_pv", "aba_prox_stiff", "aba_osim", "efpa", "pv_osim", "prox_ltl"),
    "mini_cheetah": ("pv_early", "aba_prox", "tree_kkt", "constrained_aba", "kjr", "pv_osimr", "prox_kkt"),
}
ALL = [*PAPER, *FIXED, *LOOPED]
CASES = besides(SOON, ALL)
FINGERED_CASE = besides([], FINGERED)[1]
RESIDUAL = 1e-8


def held(given, algorithm):
    a, lam = given.solved(algorithm)
    accelerations, multipliers = given.expected()
    assert worst(a, accelerations) < TOLERANCE[algorithm]
    assert worst(lam, multipliers) < TOLERANCE[algorithm]
    drift = np.array([at.drift for at in given.at])
    assert np.abs(given.residual(a)).max() < RESIDUAL * np.abs(drift).max()


def soon(scenario, algorithm):
    return str(scenario) == "iiwa H6" or algorithm in SOME.get(str(scenario), ())


@pytest.mark.parametrize(("scenario", "algorithm"), chosen(soon, ALL, [*HARD, *PUBLISHED]), ids=str)
def test_constrained_dynamics(scenario, algorithm):
    held(of(scenario), algorithm)


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ["pv_early", *PRIMAL, "prox_ltls"])
@pytest.mark.parametrize("scenario", FINGERED, ids=str)
def test_hands_of_twenty_fingers(scenario, algorithm):
    held(of(scenario), algorithm)


@pytest.mark.thorough
def test_the_others_with_all_fingertips():
    for algorithm in ("pv", "prox_pv", "aba_prox", "prox_ltl"):
        held(of(FINGERED[-1]), algorithm)


@pytest.mark.parametrize(("scenario", "algorithm"), chosen(soon, [*ALL, FINGERED[1]], DELASSUS), ids=str)
def test_delassus_matrix(scenario, algorithm):
    given = of(scenario)
    W, *_ = interpret(given.graph(algorithm), given.q)
    assert worst(W, np.array([constrained.delassus(at) for at in given.at])) < 1e-12
    assert np.array_equal(W, np.swapaxes(W, 1, 2))


@pytest.mark.parametrize("scenario", [*CASES, FINGERED_CASE], ids=str)
def test_damped_inverse(scenario):
    """As a matrix, and applied to a vector."""
    given = of(scenario)
    b = np.random.default_rng(6).standard_normal((len(given.q), given.rows))
    names = ("caba_osim", "caba_osim_swept", "caba_osimf")
    matrix, *vectors = (given.graph(algorithm, parameters=("mu",)) for algorithm in names)
    for mu, tolerance in ((1e2, 1e-11), (1e5, 1e-8)):
        expected, mus = np.array([constrained.damped(at, mu) for at in given.at]), np.full(len(given.q), mu)
        inverse, *_ = interpret(matrix, given.q, mus)
        assert worst(inverse, expected) < tolerance
        for vector in vectors:
            applied, *_ = interpret(vector, given.q, b, mus)
            assert worst(applied, np.einsum("nij,nj->ni", expected, b)) < tolerance


@pytest.mark.parametrize("tier", ["published", "written"])
@pytest.mark.parametrize("scenario", [*CASES, FINGERED_CASE], ids=str)
def test_by_products_of_kkt_factors(scenario, tier):
    """The damped inverse, and what it makes of J M^-1: blocks of the dense inverse of the KKT matrix."""
    given, mu = of(scenario), 1e3
    graph = given.graph("kkt_inverse", parameters=("mu",), tier=tier)
    inverse, consistent, *_ = interpret(graph, given.q, np.full(len(given.q), mu))
    damped = np.eye(given.rows) / mu
    dense = np.array([np.linalg.inv(np.block([[-damped, at.J], [at.J.T, at.M]])) for at in given.at])
    assert worst(inverse, -dense[:, : given.rows, : given.rows]) < 1e-9
    assert worst(consistent, dense[:, : given.rows, given.rows :]) < 1e-9
    assert np.array_equal(inverse, np.swapaxes(inverse, 1, 2))


@pytest.mark.parametrize("scenario", besides(SOON[2:], [PAPER[3], PAPER[8], PAPER[9], PAPER[11], LOOPED[0]]), ids=str)
def test_inverses_applied_to_a_vector(scenario):
    given = of(scenario)
    b = np.random.default_rng(6).standard_normal((len(given.q), given.rows))
    x, *_ = interpret(given.graph("pv_osimf"), given.q, b)
    expected = [constrained.damped(at, np.inf) @ each for at, each in zip(given.at, b, strict=True)]
    errors = [worst(x[n : n + 1], np.array(expected[n : n + 1])) for n in range(len(x))]
    assert np.quantile(errors, 0.9) < 1e-10
    assert max(errors) < 1e-6  # a branch alone may be close to singular where the whole robot is not


@pytest.mark.parametrize("scenario", [*CASES, FINGERED_CASE], ids=str)
def test_soft_contacts(scenario):
    given = of(scenario)
    R = 10.0 ** np.random.default_rng(5).uniform(-3.0, 1.0, (len(given.q), given.rows))
    a, lam = given.solved("pv_soft", R, parameters=("R",))
    none = np.zeros(given.rows)
    soft = [constrained.softened(at, tau, none, r) for at, tau, r in zip(given.at, given.tau, R, strict=True)]
    assert worst(a, np.array([x for x, _ in soft])) < 1e-10
    assert worst(lam, np.array([x for _, x in soft])) < 1e-10


@cache
def four_points_per_foot():
    """Two feet on four points each: twelve rows a foot, of which six are independent."""
    model, contacts = codegen.load("atlas"), []
    for foot in ("l_foot", "r_foot"):
        model, corners = with_corners(model, foot)
        contacts += [model.contact(corner, 3) for corner in corners]
    return problem(model, tuple(contacts), 8, redundant=True)


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", DELASSUS)
def test_delassus_matrix_of_four_points_per_foot(algorithm):
    given = four_points_per_foot()
    W, *_ = interpret(given.graph(algorithm), given.q)
    assert worst(W, np.array([constrained.delassus(at) for at in given.at])) < 1e-12


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", [*PRIMAL, "prox_ltls"])
def test_dynamics_of_four_points_per_foot(algorithm):
    """Turning feet make the points contradict one another: their accelerations settle at the least squares."""
    given = four_points_per_foot()
    assert worst(given.solved(algorithm)[0], given.expected()[0]) < TOLERANCE[algorithm]
