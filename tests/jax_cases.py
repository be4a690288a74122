"""rigidc's C inside JAX: values, gradients, many states at once, and what is refused.

`test_jax_interface` runs this in a process of its own, as JAX starts threads, beside which processes must not fork.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

import codegen
from codegen.interfaces.jax import to_jax

jax = pytest.importorskip("jax", reason="the extra [jax] is not installed")
jax.config.update("jax_enable_x64", True)


def states(robot, count, seed=0):
    rng = np.random.default_rng(seed)
    return tuple(np.array(x) for x in zip(*(robot.random(rng) for _ in range(count)), strict=True))


def test_values_and_jacobians_of_an_arm():
    arm = codegen.load("iiwa")
    aba, derivatives = to_jax(arm, "aba"), codegen.build(arm, "aba_derivatives")
    q, v, tau = arm.random(1)
    np.testing.assert_allclose(aba(q, v, tau), codegen.build(arm, "aba")(q, v, tau), rtol=1e-14)
    found = jax.jacobian(aba, argnums=(0, 1, 2))(q, v, tau)
    for mine, theirs in zip(found, derivatives(q, v, tau), strict=False):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())


def test_forward_mode_of_an_arm():
    arm = codegen.load("iiwa")
    aba, derivatives = to_jax(arm, "aba"), codegen.build(arm, "aba_derivatives")
    q, v, tau = arm.random(1)
    expected = derivatives(q, v, tau)
    for found in (function(aba, argnums=(0, 1, 2))(q, v, tau) for function in (jax.jacfwd, jax.jacrev)):
        for mine, theirs in zip(found, expected, strict=False):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())
    changes = np.random.default_rng(0).standard_normal((3, 7))
    _, along = jax.jit(lambda x, dx: jax.jvp(aba, x, dx))((q, v, tau), tuple(changes))
    sum_of = sum(block @ change for block, change in zip(expected, changes, strict=False))
    np.testing.assert_allclose(along, sum_of, atol=1e-12 * np.abs(sum_of).max())
    _, linear = jax.linearize(aba, q, v, tau)
    np.testing.assert_allclose(linear(*changes), along, rtol=1e-12)
    many = jax.vmap(jax.jacfwd(lambda q: aba(q, v, tau)))(np.stack([q] * 5))
    np.testing.assert_allclose(many, [expected[0]] * 5, atol=1e-12 * np.abs(expected[0]).max())


@pytest.mark.thorough
def test_forward_mode_of_matrices():
    arm = codegen.load("iiwa")
    fk, (q, v, _) = to_jax(arm, "fk"), arm.random(2)
    for mine, theirs in zip(jax.jacfwd(fk)(q, v), jax.jacrev(fk)(q, v), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-14)


def test_gradients_of_a_rollout():
    """Backward through a scan with and without `jax.checkpoint`, against forward mode."""
    arm = codegen.load("chain:2")
    step, (q, v, tau) = to_jax(arm, "step"), states(arm, 3)

    def last(wrapped, tau):
        def move(state, _):
            found = jax.vmap(wrapped, in_axes=(0, 0, 0, None))(*state, tau, 0.01)
            return (found.q_next, found.v_next), None

        return (jax.lax.scan(move, (q, v), None, length=5)[0][0] ** 2).sum()

    plain = jax.jit(jax.grad(lambda tau: last(step, tau)))(tau)
    np.testing.assert_allclose(jax.grad(lambda tau: last(jax.checkpoint(step), tau))(tau), plain, rtol=1e-12)
    np.testing.assert_allclose(jax.jacfwd(lambda tau: last(step, tau))(tau), plain, rtol=1e-10)


def test_many_states_at_once_within_jit():
    arm = codegen.load("iiwa")
    q, v, tau = states(arm, 37)
    aba = to_jax(arm, "aba")
    np.testing.assert_allclose(jax.jit(jax.vmap(aba))(q, v, tau), codegen.build(arm, "aba")(q, v, tau), rtol=1e-14)
    by_tau = jax.jit(jax.grad(lambda tau: jax.vmap(aba)(q, v, tau)[:, 2].sum()))(tau)
    inverse = codegen.build(arm, "minverse")(q)
    np.testing.assert_allclose(by_tau, inverse[:, 2], rtol=1e-10, atol=1e-9)


def test_one_argument_for_all_states():
    arm = codegen.load("iiwa")
    q, v, tau = states(arm, 5)
    many = jax.vmap(to_jax(arm, "rnea"), in_axes=(0, 0, None))(q, v, tau[0])
    np.testing.assert_allclose(many, codegen.build(arm, "rnea")(q, v, tau[0]), rtol=1e-13, atol=1e-12)


@pytest.mark.thorough
def test_matrices_keep_their_axes():
    """Several results of several axes, among them rotations."""
    arm = codegen.load("iiwa")
    q, v, _ = arm.random(2)
    found, expected = to_jax(arm, "fk")(q, v), codegen.build(arm, "fk")(q, v)
    assert found._fields == expected._fields
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-14)
    np.testing.assert_allclose(to_jax(arm, "jacobian")(q), codegen.build(arm, "jacobian")(q), atol=1e-14)


@pytest.mark.thorough
def test_gradients_by_raw_quaternions():
    """Against differences of the same function, which normalises quaternions."""
    robot = codegen.load("go1")
    aba, (q, v, tau) = to_jax(robot, "aba"), robot.random(3)
    gradient = jax.grad(lambda q: aba(q, v, tau)[3])(q)
    for k in range(3, 8):
        step = np.zeros(robot.nq)
        step[k] = 1e-5
        slope = (aba(q + step, v, tau)[3] - aba(q - step, v, tau)[3]) / 2e-5
        np.testing.assert_allclose(gradient[k], slope, rtol=1e-5, atol=1e-4)


@pytest.mark.thorough
def test_constrained_dynamics():
    robot, feet = codegen.load("solo12"), ["FL_FOOT:3", "HR_FOOT:3"]
    solve, (q, v, tau) = to_jax(robot, "prox_pv", contacts=feet), robot.random(4)
    found, expected = solve(q, v, tau), codegen.build(robot, "prox_pv", contacts=feet)(q, v, tau)
    np.testing.assert_allclose(found.lam, expected.lam, rtol=1e-9)
    by_tau = jax.jacobian(lambda tau: solve(q, v, tau).a)(tau)
    inverse = codegen.build(robot, "prox_pv_derivatives", contacts=feet)(q, v, tau).da_dtau
    np.testing.assert_allclose(by_tau, inverse, atol=1e-6 * np.abs(inverse).max())


def test_nothing_is_copied():
    """XLA hands the handler the arguments' own memory, and arrays go to NumPy and back by DLPack as they are."""
    arm = codegen.load("iiwa")
    aba, given = to_jax(arm, "aba"), tuple(map(jax.numpy.asarray, states(arm, 16)))
    text = jax.jit(jax.vmap(aba)).lower(*given).compile().as_text()
    assert text.count("custom-call(") == 1
    assert not any(f" {word}(" in text for word in ("copy", "transpose", "concatenate", "slice", "fusion"))
    views = [np.from_dlpack(x) for x in given]
    assert [x.ctypes.data for x in views] == [x.unsafe_buffer_pointer() for x in given]
    many = codegen.build(arm, "aba")(*given)
    np.testing.assert_allclose(many, jax.vmap(aba)(*given), rtol=1e-14)
    back = jax.dlpack.from_dlpack(many, copy=False) if many.ctypes.data % 64 == 0 else jax.numpy.asarray(many)
    np.testing.assert_array_equal(back, many)


def test_states_that_are_no_numbers_spoil_no_others():
    arm = codegen.load("iiwa")
    q, v, tau = states(arm, 9)
    q[4] = np.nan
    aba = to_jax(arm, "aba")
    found = np.asarray(jax.jit(jax.vmap(aba))(q, v, tau))
    slope = np.asarray(jax.vmap(jax.grad(lambda q, v, tau: aba(q, v, tau).sum()))(q, v, tau))
    for y in (found, slope):
        np.testing.assert_array_equal(np.isfinite(y).all(1), np.arange(9) != 4)


def test_a_jax_that_is_too_old(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax.ffi", None)
    with pytest.raises(codegen.RobotError, match=r"JAX 0.5 or newer is needed .*pip install rigidc\[jax\]"):
        to_jax(codegen.load("iiwa"), "aba")


def test_what_is_refused(monkeypatch):
    arm = codegen.load("iiwa")
    aba, (q, v, tau) = to_jax(arm, "aba"), arm.random(1)
    with pytest.raises(ValueError, match=r"q has shape \(3,\), not \(7,\)"):
        aba(q[:3], v, tau)
    with pytest.raises(TypeError, match="takes 3 arguments"):
        aba(q, v)
    with pytest.raises(ValueError, match="cannot be differentiated"):
        jax.hessian(lambda q: aba(q, v, tau)[0])(q)
    with pytest.raises(codegen.RobotError, match="there is no algorithm 'abba'"):
        to_jax(arm, "abba")
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(codegen.RobotError, match="single precision"):
            to_jax(arm, "aba")
    finally:
        jax.config.update("jax_enable_x64", True)
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(codegen.RobotError, match=r"pip install rigidc\[jax\]"):
        to_jax(arm, "aba")
