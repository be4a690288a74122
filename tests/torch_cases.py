"""rigidc's C inside PyTorch: values, gradients, batches, compiled graphs, and what is refused.

`test_torch_interface` runs this in a process of its own: PyTorch starts threads, beside which processes must not fork.
"""

from __future__ import annotations

import numpy as np
import pytest

import codegen
from codegen.interfaces.torch import to_torch

torch = pytest.importorskip("torch", reason="the extra [torch] is not installed")


def states(robot, *batch, seed=0):
    rng = np.random.default_rng(seed)
    found = zip(*(robot.random(rng) for _ in range(int(np.prod(batch)))), strict=True)
    return tuple(torch.tensor(np.array(x).reshape(*batch, -1), requires_grad=True) for x in found)


def by_build(robot, algorithm, *given, **options):
    return codegen.build(robot, algorithm, **options)(*(x.detach().numpy() for x in given))


def test_values_and_gradients_of_an_arm():
    arm = codegen.load("iiwa")
    aba, given = to_torch(arm, "aba"), states(arm, 1)
    given = tuple(x[0] for x in given)
    np.testing.assert_allclose(aba(*given).detach(), by_build(arm, "aba", *given), rtol=1e-14)
    found = torch.autograd.functional.jacobian(aba, given)
    for mine, theirs in zip(found, by_build(arm, "aba_derivatives", *given), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())
    small = codegen.load("chain:2")
    assert torch.autograd.gradcheck(to_torch(small, "aba"), states(small, 3))


def test_batches_broadcast():
    arm = codegen.load("iiwa")
    aba, (q, v, tau) = to_torch(arm, "aba"), states(arm, 5, 4)
    np.testing.assert_allclose(aba(q, v, tau).detach(), by_build(arm, "aba", q, v, tau), rtol=1e-13, atol=1e-12)
    shared, turned = tau[0, 0], q.transpose(0, 1)
    found = aba(turned, v[:, 0][None], shared)
    assert found.shape == (4, 5, 7)
    for k in range(4):
        np.testing.assert_allclose(found[k].detach(), aba(q[:, k], v[:, 0], shared).detach(), rtol=1e-13)
    found[:, :, 2].sum().backward()
    minverse = by_build(arm, "minverse", q)
    np.testing.assert_allclose(tau.grad[0, 0], minverse[..., 2].sum((0, 1)), rtol=1e-9)


def test_matrices_keep_their_axes():
    """Several results of several axes, among them rotations, and an argument that is a matrix."""
    arm = codegen.load("iiwa")
    q, v, tau = states(arm, 3)
    found, expected = to_torch(arm, "fk")(q, v), by_build(arm, "fk", q, v)
    assert found._fields == expected._fields
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine.detach(), theirs, atol=1e-14)
    frames = ("lbr_iiwa_link_7", "lbr_iiwa_link_4")
    wrenches = torch.tensor(np.random.default_rng(1).standard_normal((3, 2, 6)), requires_grad=True)
    rnea = to_torch(arm, "rnea", external=frames)
    expected = by_build(arm, "rnea", q, v, tau, wrenches, external=frames)
    np.testing.assert_allclose(rnea(q, v, tau, wrenches).detach(), expected, rtol=1e-12)
    (slope,) = torch.autograd.grad(rnea(q, v, tau, wrenches)[:, 1].sum(), wrenches)
    step = torch.zeros_like(wrenches)
    step[2, 1, 4] = 1.0  # forces are linear in wrenches
    change = rnea(q, v, tau, wrenches + step)[2, 1] - rnea(q, v, tau, wrenches)[2, 1]
    np.testing.assert_allclose(slope[2, 1, 4], change.detach(), rtol=1e-9)


def test_mapped_over_an_axis():
    arm = codegen.load("iiwa")
    aba, (q, v, tau) = to_torch(arm, "aba"), states(arm, 6)
    mapped = torch.vmap(aba, in_dims=(0, 0, None))(q, v, tau[0])
    np.testing.assert_allclose(mapped.detach(), aba(q, v, tau[0]).detach(), rtol=1e-14)
    (slope,) = torch.autograd.grad(mapped[:, 2].sum(), tau)
    np.testing.assert_allclose(slope[0], by_build(arm, "minverse", q)[:, 2].sum(0), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.thorough)])
def test_compiled_graphs(backend):
    """The whole graph, with nothing left to Python."""
    arm = codegen.load("iiwa")
    aba, (q, v, tau) = to_torch(arm, "aba"), states(arm, 6)

    def loss(q, v, tau):
        return (aba(q, v, torch.sin(tau)) ** 2).sum()

    compiled = torch.compile(loss, backend=backend, fullgraph=True)
    compiled(q, v, tau).backward()
    (expected,) = torch.autograd.grad(loss(q, v, tau), tau)
    np.testing.assert_allclose(compiled(q, v, tau).detach(), loss(q, v, tau).detach(), rtol=1e-13)
    np.testing.assert_allclose(tau.grad, expected, rtol=1e-12, atol=1e-9)


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # which PyTorch itself causes, and would hide
@pytest.mark.thorough
def test_pytorchs_own_checks_of_operators(monkeypatch):
    robot, operators = codegen.load("chain:2"), []
    register = torch.library.custom_op

    def noted(*names, **options):
        operators.append(register(*names, **options))
        return operators[-1]

    monkeypatch.setattr(torch.library, "custom_op", noted)
    to_torch(robot, "rnea")
    value, adjoint = operators
    torch.library.opcheck(value, states(robot, 3))
    torch.library.opcheck(adjoint, tuple(x.detach() for x in (*states(robot, 3), states(robot, 3)[2])))


@pytest.mark.thorough
def test_constrained_dynamics():
    robot, feet = codegen.load("solo12"), ["FL_FOOT:3", "HR_FOOT:3"]
    solve, (q, v, tau) = to_torch(robot, "pv", contacts=feet), states(robot, 2)
    found, expected = solve(q, v, tau), by_build(robot, "pv", q, v, tau, contacts=feet)
    np.testing.assert_allclose(found.lam.detach(), expected.lam, rtol=1e-9)
    (slope,) = torch.autograd.grad(found.lam[1, 2], tau)
    inverse = by_build(robot, "pv_derivatives", q, v, tau, contacts=feet).dlam_dtau
    np.testing.assert_allclose(slope[1], inverse[1, 2], atol=1e-8 * np.abs(inverse).max())
    assert not slope[0].any()


def test_nothing_is_copied(monkeypatch):
    """The C reads and writes the memory of tensors: rows that lie apart, and one state for all, too."""
    arm = codegen.load("iiwa")
    aba, (q, v, tau) = to_torch(arm, "aba"), (x.detach() for x in states(arm, 12))
    expected = by_build(arm, "aba", q[::3], v[::3], tau[:1])
    with monkeypatch.context() as patched:
        for name in ("contiguous", "clone", "copy_", "to", "double"):
            patched.setattr(torch.Tensor, name, lambda self, *args, **kwargs: pytest.fail("a copy"))
        found = aba(q[::3], v[::3], tau[0])
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    place = torch.empty(12, 7, dtype=torch.float64)
    address = place.data_ptr()
    assert codegen.build(arm, "aba")(q, v, tau, out=place) is place
    assert place.data_ptr() == address == np.from_dlpack(place).ctypes.data
    np.testing.assert_allclose(place, aba(q, v, tau), rtol=1e-13)


def test_arrays_of_jax_by_dlpack():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    arm = codegen.load("iiwa")
    given = [jax.numpy.asarray(x.detach().numpy().copy()) for x in states(arm, 8)]
    tensors = [torch.from_dlpack(x) for x in given]
    assert [x.data_ptr() for x in tensors] == [x.unsafe_buffer_pointer() for x in given]
    found = to_torch(arm, "aba")(*tensors)
    np.testing.assert_allclose(found, codegen.build(arm, "aba")(*given), rtol=1e-13)


def test_states_that_are_no_numbers_spoil_no_others():
    arm = codegen.load("iiwa")
    aba, (q, v, tau) = to_torch(arm, "aba"), states(arm, 9)
    with torch.no_grad():
        q[4] = torch.nan
    found = aba(q, v, tau)
    (slope,) = torch.autograd.grad(found.sum(), v)
    for y in (found.detach(), slope):
        np.testing.assert_array_equal(np.isfinite(y.numpy()).all(1), np.arange(9) != 4)


def test_what_is_refused():
    arm = codegen.load("iiwa")
    aba, (q, v, tau) = to_torch(arm, "aba"), states(arm, 2)
    with pytest.raises(ValueError, match=r"q must end in shape \(7,\), not be of \(2, 3\)"):
        aba(q[:, :3], v, tau)
    with pytest.raises(TypeError, match=r"q is torch.float32; .* hand over x.double\(\)"):
        aba(q.float(), v, tau)
    with pytest.raises(TypeError, match="takes 3 arguments"):
        aba(q, v)
    with pytest.raises(codegen.RobotError, match="there is no algorithm 'abba'"):
        to_torch(arm, "abba")
