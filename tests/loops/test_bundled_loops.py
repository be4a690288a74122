"""The bundled robots with loops, compiled: many states against identities, some against the dense oracle."""

from __future__ import annotations

import numpy as np
import pytest
from mechanisms_cases import error

import codegen
from codegen.interpret import interpret
from codegen.oracle import ORACLE
from codegen.oracle.loops import closed

CONFIGURATIONS, STATES = 100, 1000
NAMES = tuple(name for name in codegen.bundled() if codegen.load(name).loops)
IMPLICIT = tuple(name for name in NAMES if any(not loop.explicit for loop in codegen.load(name).loops))


@pytest.mark.parametrize("name", NAMES)
def test_forward_undoes_inverse_dynamics_and_the_oracle_agrees(name: str) -> None:
    model = codegen.load(name)
    rng = np.random.default_rng(1)
    q = np.repeat([model.random(rng)[0] for _ in range(CONFIGURATIONS)], STATES // CONFIGURATIONS, axis=0)
    v, a = rng.standard_normal((2, STATES, model.nv))
    rnea, aba, crba = (codegen.build(model, algorithm) for algorithm in ("rnea", "aba", "crba"))
    tau, M = rnea(q, v, a), crba(q)
    peak = np.maximum(np.abs(a).max(axis=1), np.abs(aba(q, v, 0 * a)).max(axis=1))
    assert (np.abs(aba(q, v, tau) - a).max(axis=1) < 1e-8 * peak).all()
    needed = tau - rnea(q, v, 0 * a)
    assert (np.abs(np.einsum("kij,kj->ki", M, a) - needed).max(axis=1) < 1e-9 * np.abs(tau).max(axis=1)).all()
    assert (np.linalg.eigvalsh(M)[:, 0] > 0.0).all()
    for k in range(0, STATES, STATES // 5):
        assert error(tau[k], ORACLE["rnea"](model, q[k], v[k], a[k])) < 1e-10
        assert error(M[k], ORACLE["crba"](model, q[k])) < 1e-10
        assert error(aba(q[k], v[k], a[k]), ORACLE["aba"](model, q[k], v[k], a[k])) < 1e-10


@pytest.mark.parametrize("name", NAMES)
def test_random_states_close_the_loops_and_neutral_is_regular(name: str) -> None:
    model = codegen.load(name)
    for q in (model.neutral(), *(model.random(seed)[0] for seed in range(20))):
        robot = closed(model, q)
        residual = np.concatenate([tie.residual(robot.at).real for tie in robot.tied])
        assert np.abs(residual).max() < 1e-11
        assert np.abs(robot.G).max() < 1e3
    v, a = np.ones(model.nv), np.zeros(model.nv)
    assert np.isfinite(ORACLE["rnea"](model, model.neutral(), v, a)).all()


@pytest.mark.parametrize("name", IMPLICIT)
def test_projection_closes_what_is_a_little_open(name: str) -> None:
    model = codegen.load(name)
    project = codegen.build(model, "project")
    rng = np.random.default_rng(3)
    q = np.stack([model.random(rng)[0] for _ in range(60)])
    own = np.zeros(model.nq, bool)
    for position, velocity in zip(model.q_slices, model.v_slices, strict=True):
        own[position] = velocity.stop > velocity.start
    guess = q + np.where(own, 0.0, rng.uniform(-0.02, 0.02, q.shape))
    closed_q, residual = project(guess)
    assert residual.max() < 1e-12
    assert (closed_q[:, own] == q[:, own]).all()
    np.testing.assert_allclose(closed_q, q, atol=1e-8)
    again, left = project(closed_q)
    assert left.max() < 1e-12
    np.testing.assert_allclose(again, closed_q, atol=1e-12)


def test_projection_leaves_a_robot_without_implicit_loops_alone() -> None:
    model = codegen.load("mini_cheetah")
    q = model.random(0)[0]
    projected, residual = codegen.build(model, "project")(q)
    assert (projected == q).all()
    assert residual == 0.0


@pytest.mark.parametrize("name", ["chain12_belt", "mini_cheetah", "jvrc1"])
def test_approximations_agree_with_their_definition(name: str) -> None:
    model = codegen.load(name)
    for algorithm in ("approximate_rnea", "approximate_aba", "approximate_efpa"):
        state = model.random(2)[: 1 if algorithm.endswith("efpa") else 3]
        function = codegen.graphs(model, algorithm)[1]
        assert error(interpret(function, *state)[0], ORACLE[algorithm](model, *state)) < 1e-10


def test_approximations_are_refused_where_nothing_is_geared() -> None:
    with pytest.raises(codegen.RobotError, match="no constant gear ratios"):
        codegen.graphs(codegen.load("four_bar"), "approximate_aba")
