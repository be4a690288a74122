"""The oracle itself: against Pinocchio, against MuJoCo, and against what mechanics says it must obey."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco_peer
import numpy as np
import pinocchio_peer
import pytest
import sympy
from mechanisms_cases import ALL_TYPES, aligned, error, inertia, mechanism, pose, state

import codegen
from codegen.errors import RobotError, UntoldError
from codegen.geometry import Inertia
from codegen.model.contacts import contact_of, whole_tips
from codegen.oracle import ORACLE, constrained, steps, with_parameters
from codegen.oracle.derivatives import analytic, complex_steps, differences, many_differences, of_quadratic
from codegen.oracle.kinematics import motions
from codegen.oracle.rotations import from_vector, matrix, to_vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]

TIGHT = 1e-12
CASES = [
    pytest.param(base, convention, id=f"{base}-{convention}")
    for base in ("fixed", "floating")
    for convention in ("pinocchio", "mujoco")
]
TYPES = (*ALL_TYPES, "planar", "revolute", "spherical", "prismatic", "revolute")


def derivative(curve: Callable[[float], Array], h: float = 2e-3) -> Array:
    """The derivative of a smooth curve at zero, by central differences of order eight."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return sum(c * (curve(k * h) - curve(-k * h)) for k, c in enumerate(weights, 1)) / h  # type: ignore[return-value]


def energy(model: Model, q: Array, v: Array) -> float:
    """Kinetic and potential energy, from velocities of the centres of mass and rotors, and not from M."""
    total = 0.0
    for body, frame, j in zip(model.bodies, motions(model, q, v), model.v_slices, strict=True):
        arm = frame.R @ body.inertia.com
        speed = frame.velocity + np.cross(frame.angular_velocity, arm)
        spin = frame.R.T @ frame.angular_velocity
        total += 0.5 * body.inertia.mass * speed @ speed + 0.5 * spin @ np.array(body.inertia.moment) @ spin
        total -= body.inertia.mass * np.asarray(model.gravity) @ (frame.p + arm)
        total += 0.5 * body.joint.armature * v[j] @ v[j]
    return total


@pytest.mark.parametrize(("base", "convention"), CASES)
def test_velocities_are_derivatives_of_poses(base, convention):
    model = mechanism(TYPES, 1, base=base, convention=convention)
    q, v, _, _ = state(model, 2)
    names = tuple(frame.name for frame in model.frames)

    def pose_at(t: float) -> tuple[Array, Array, Array]:
        return ORACLE["fk"](model, ORACLE["integrate"](model, q, t * v), v, frames=names)

    _, R, velocity = pose_at(0.0)
    linear = derivative(lambda t: pose_at(t)[0])
    spin = derivative(lambda t: pose_at(t)[1]) @ R.swapaxes(1, 2)
    angular = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    assert error(np.hstack([linear, angular]), velocity) < 1e-11
    assert error(spin, -spin.swapaxes(1, 2)) < 1e-11
    assert error(ORACLE["jacobian"](model, q, frames=names) @ v, velocity) < TIGHT


@pytest.mark.parametrize(("base", "convention"), CASES)
def test_accelerations_are_derivatives_of_velocities(base, convention):
    model = mechanism(TYPES, 3, base=base, convention=convention)
    q, v, _, _ = state(model, 4)

    def velocity_at(t: float) -> Array:
        moving = motions(model, ORACLE["integrate"](model, q, t * v), v)
        return np.array([np.append(m.velocity, m.angular_velocity) for m in moving])

    expected = np.array([np.append(m.acceleration, m.angular_acceleration) for m in motions(model, q, v)])
    assert error(derivative(velocity_at), expected) < 1e-11


@pytest.mark.parametrize(("base", "convention"), CASES)
def test_energy_changes_by_the_power_of_the_joints(base, convention):
    model = mechanism(TYPES, 5, base=base, convention=convention, armature=True)
    q, v, _, tau = state(model, 6)
    a = ORACLE["aba"](model, q, v, tau)

    def energy_at(t: float) -> Array:
        return np.array(energy(model, ORACLE["integrate"](model, q, t * v), v + t * a))

    assert abs(derivative(energy_at) - tau @ v) < 1e-11 * np.abs(tau) @ np.abs(v)


@pytest.mark.parametrize(("base", "convention"), CASES)
def test_inertia_matrix_is_that_of_the_kinetic_energy(base, convention):
    model = mechanism(TYPES, 7, base=base, convention=convention, armature=True)
    model = with_parameters(model, {"gravity": np.zeros(3)})
    q = state(model, 8)[0]
    left, right = np.random.default_rng(9).standard_normal((2, 12, model.nv))
    mixed = [
        energy(model, q, a + b) - energy(model, q, a) - energy(model, q, b) for a, b in zip(left, right, strict=True)
    ]
    assert error(np.einsum("ki,ij,kj->k", left, ORACLE["crba"](model, q), right), np.array(mixed)) < TIGHT


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("seed", range(3))
def test_oracle_agrees_with_pinocchio(base, seed):
    import pinocchio as pin

    model = mechanism(TYPES, 10 + seed, base=base, armature=True)
    peer = pinocchio_peer.pinocchio_model(model)
    q, v, a, tau = state(model, seed)
    x = pinocchio_peer.positions(model, q)
    names = tuple(frame.name for frame in model.frames)
    fk, J = pinocchio_peer.frame_outputs(peer, names, x, v)
    assert error(ORACLE["fk"](model, q, v, frames=names), fk) < TIGHT
    assert error(ORACLE["jacobian"](model, q, frames=names), J) < TIGHT

    external = ("tool0", "tool4", "body4", f"tool{len(model.bodies) - 1}")
    f_ext = np.random.default_rng(seed).standard_normal((4, 6)) * 10.0
    forces = pinocchio_peer.joint_wrenches(model, external, f_ext)
    expected = pin.rnea(peer, peer.createData(), x, v, a, forces)
    assert error(ORACLE["rnea"](model, q, v, a, f_ext, external=external), expected) < TIGHT
    assert error(ORACLE["rnea"](model, q, v, a), pin.rnea(peer, peer.createData(), x, v, a)) < TIGHT
    expected = pin.aba(peer, peer.createData(), x, v, tau, forces)
    assert error(ORACLE["aba"](model, q, v, tau, f_ext, external=external), expected) < 1e-11
    M = np.triu(pin.crba(peer, peer.createData(), x))
    assert error(ORACLE["crba"](model, q), M + np.triu(M, 1).T) < TIGHT

    end = pin.integrate(peer, x, v)
    moved = ORACLE["integrate"](model, q, v)
    assert error(aligned(model, pinocchio_peer.own_positions(model, end, near=moved), moved), moved) < TIGHT
    other = state(model, seed + 50)[0]
    expected = pin.difference(peer, x, pinocchio_peer.positions(model, other))
    short = ORACLE["difference"](model, q, _nearest_turns(model, other, q))
    assert error(short, expected) < 1e-10


def _nearest_turns(model: Model, q: Array, near: Array) -> Array:
    """q with the angles of planar joints, which Pinocchio knows up to a turn, within pi of `near`."""
    turned = pinocchio_peer.positions(model, q)
    return pinocchio_peer.own_positions(model, turned, near)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("seed", range(3))
def test_oracle_agrees_with_mujoco(base, seed):
    import mujoco

    types = tuple(kind for kind in TYPES if kind != "floating")  # MuJoCo's move freely in the world only
    model = mechanism(types, 20 + seed, base=base, convention="mujoco", armature=True)
    peer = mujoco_peer.mujoco_model(model)
    q, v, _, tau = state(model, seed)
    data = mujoco_peer.at(peer, q, v)
    names = tuple(frame.name for frame in model.frames)
    fk, J = mujoco_peer.frame_outputs(peer, data, names)
    assert error(ORACLE["fk"](model, q, v, frames=names), fk) < TIGHT
    assert error(ORACLE["jacobian"](model, q, frames=names), J) < TIGHT
    assert error(ORACLE["crba"](model, q), mujoco_peer.inertia_matrix(peer, data)) < TIGHT
    assert error(ORACLE["rnea"](model, q, v, np.zeros(model.nv)), data.qfrc_bias) < TIGHT

    external = ("tool0", "tool4", f"tool{len(model.bodies) - 1}")
    f_ext = np.random.default_rng(seed).standard_normal((3, 6)) * 10.0
    data.qfrc_applied[:] = tau + mujoco_peer.applied(peer, data, external, f_ext)
    mujoco.mj_forward(peer, data)
    assert error(ORACLE["aba"](model, q, v, tau, f_ext, external=external), data.qacc) < 1e-10

    end = q.copy()
    mujoco.mj_integratePos(peer, end, v, 1.0)
    moved = ORACLE["integrate"](model, q, v)
    assert error(aligned(model, moved, end), end) < TIGHT
    other, short = state(model, seed + 50)[0], np.zeros(model.nv)
    mujoco.mj_differentiatePos(peer, short, 1.0, q, other)
    assert error(ORACLE["difference"](model, q, other), short) < 1e-11


@pytest.mark.parametrize(("base", "convention"), CASES)
@pytest.mark.parametrize("size", [0.0, 1e-200, 1e-12, 1e-7, 1e-3, 0.5, 1.7])
def test_difference_inverts_integrate(base, convention, size):
    model = mechanism(TYPES, 30, base=base, convention=convention)
    q, v, _, _ = state(model, 31)
    dv = size * v / np.abs(v).max()
    back = ORACLE["difference"](model, q, ORACLE["integrate"](model, q, dv))
    assert np.abs(back - dv).max() < 1e-14


@pytest.mark.parametrize("short_of_pi", [1e-3, 1e-9, 1e-14])
def test_difference_is_exact_near_half_a_turn(short_of_pi):
    model = mechanism(("spherical",), 32, base="floating")
    q, v, _, _ = state(model, 33)
    dv = v.copy()
    for turn in (slice(3, 6), slice(6, 9)):
        dv[turn] *= (np.pi - short_of_pi) / np.linalg.norm(v[turn])
    back = ORACLE["difference"](model, q, ORACLE["integrate"](model, q, dv))
    assert np.abs(back - dv).max() < 1e-14


def test_conventions_describe_the_same_robot():
    """One state in both conventions: the same poses, velocities, and power for the same motion."""
    ours = mechanism(("revolute", "spherical", "revolute"), 40, base="floating")
    theirs = mechanism(("revolute", "spherical", "revolute"), 40, base="floating", convention="mujoco")
    q, v, a, _ = state(ours, 41)
    R = ORACLE["fk"](ours, q, v, frames=("body0",))[1][0]
    q2, v2, a2 = q.copy(), v.copy(), a.copy()
    q2[3:7], q2[8:12] = np.roll(q[3:7], 1), np.roll(q[8:12], 1)
    v2[:3] = R @ v[:3]
    a2[:3] = R @ (a[:3] + np.cross(v[3:6], v[:3]))
    tau, tau2 = ORACLE["rnea"](ours, q, v, a), ORACLE["rnea"](theirs, q2, v2, a2)
    assert error(ORACLE["fk"](theirs, q2, v2, frames=("tool3",)), ORACLE["fk"](ours, q, v, frames=("tool3",))) < TIGHT
    assert error(np.append(R.T @ tau2[:3], tau2[3:]), tau) < TIGHT


def test_payload_offset_and_gravity_change_what_they_name():
    model = mechanism(("revolute", "prismatic", "revolute"), 50)
    q, v, a, _ = state(model, 51)
    mass, offset = 2.5, np.array([0.1, -0.2, 0.3])
    point = np.array([mass, *offset, 0, 0, 0, 0, 0, 0], float)
    heavy = ORACLE["crba"](model, q, parameters={"payload:tool2": point})
    position, R, _ = ORACLE["fk"](model, q, v, frames=("tool2",))
    J = ORACLE["jacobian"](model, q, frames=("tool2",))[0]
    arm = R[0] @ offset
    point_J = J[:3] + np.cross(J[3:].T, arm).T
    assert error(heavy, ORACLE["crba"](model, q) + mass * point_J.T @ point_J) < TIGHT

    moved = ORACLE["fk"](model, q, v, frames=("tool2",), parameters={"offset:joint0": np.zeros(3)})
    assert error(moved[0], position - np.array(model.bodies[0].placement.translation)) < TIGHT

    up = np.array([0.3, 0.2, 9.0])
    still = np.zeros(3)
    weight = ORACLE["rnea"](model, q, still, still, parameters={"gravity": up})
    floating = ORACLE["rnea"](model, q, still, still, parameters={"gravity": still})
    assert error(floating, still) < TIGHT
    base = np.linalg.norm(weight)
    assert base > 0.1
    assert a.shape == weight.shape
    with pytest.raises(RobotError, match="names no parameter"):
        ORACLE["crba"](model, q, parameters={"colour": still})


def test_inertias_add_and_move_as_pinocchio_says():
    """The numeric geometry that the oracle shares with the descriptions."""
    rng = np.random.default_rng(60)
    first, second, place = inertia(rng), inertia(rng), pose(rng)
    expected = pinocchio_peer.inertia(first) + pinocchio_peer.se3(place).act(pinocchio_peer.inertia(second))
    total = first + second.moved(place)
    assert total.mass == pytest.approx(expected.mass, rel=1e-14)
    assert error(np.array(total.com), expected.lever) < 1e-14
    assert error(np.array(total.moment), expected.inertia) < 1e-14
    assert first + Inertia() == first


@pytest.mark.parametrize(("base", "convention"), CASES)
def test_many_states_at_once_are_the_same_one_by_one(base, convention):
    model = mechanism(TYPES, 11, base=base, convention=convention, armature=True)
    q, v, a, tau = (np.stack(column) for column in zip(*(state(model, seed) for seed in range(4)), strict=True))
    wrenches, external = np.random.default_rng(12).standard_normal((4, 2, 6)), ("tool1", "tool3")
    for name, inputs in (
        ("rnea", (q, v, a, wrenches)),
        ("aba", (q, v, tau, wrenches)),
        ("minverse", (q,)),
        ("fk", (q, v)),
        ("integrate", (q, v)),
        ("difference", (q, q[::-1])),
        ("energy", (q, v)),
        ("centroidal", (q, v)),
        ("jdot_v", (q, v)),
        ("pv", (q, v, tau, wrenches)),
    ):
        options = {"external": external} if len(inputs) == 4 else {}
        if name == "pv":
            options["contacts"] = whole_tips(model)[:1]
        together = ORACLE[name](model, *inputs, **options)
        for n in range(4):
            alone = ORACLE[name](model, *(x[n] for x in inputs), **options)
            part = tuple(x[n] for x in together) if isinstance(together, tuple) else together[n]
            assert error(part, alone) < TIGHT


def test_differences_of_fast_rotors_and_at_kinks() -> None:
    """A rotor that turns 60 times as fast takes shorter steps; so does a kink, if it is not too close."""
    rates = np.array([1.0, 60.0])
    found = differences(lambda d: np.sin(0.3 + rates * d), 2)
    np.testing.assert_allclose(found, np.diag(rates * np.cos(0.3)), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(of_quadratic(lambda d: (1.0 + d) ** 2, 1), [[2.0]], rtol=1e-12)
    np.testing.assert_allclose(differences(lambda d: np.abs(d + 3e-3), 1), [[1.0]], rtol=1e-9)
    for offset in (1e-4, 1e-3):
        with pytest.raises(UntoldError, match="too close to a singular"):
            differences(lambda d, offset=offset: np.abs(d + offset), 1)  # type: ignore[misc]
    rows = many_differences(lambda points: np.sin(0.3 + points * rates), 2)
    np.testing.assert_allclose(rows, found, rtol=1e-12, atol=1e-12)
    with pytest.raises(UntoldError, match="too close to a singular"):
        many_differences(lambda points: np.abs(points + 1e-3), 1)


@pytest.mark.parametrize(("base", "convention"), CASES[1:3])
def test_complex_steps_are_what_differences_come_near_to(base, convention):
    model = mechanism(ALL_TYPES, 13, base=base, convention=convention, armature=True)
    q, v, a, _ = state(model, 14)
    wrenches, options = np.random.default_rng(15).standard_normal((2, 6)), {"external": ("tool1", "tool3")}
    by_q = differences(
        lambda d: ORACLE["rnea"](model, ORACLE["integrate"](model, q, d), v, a, wrenches, **options), model.nv
    )
    by_v = of_quadratic(lambda d: ORACLE["rnea"](model, q, v + d, a, wrenches, **options), model.nv)
    found = ORACLE["rnea_derivatives"](model, q, v, a, wrenches, **options)
    for mine, theirs in zip(found, (by_q, by_v, ORACLE["crba"](model, q)), strict=True):
        assert error(mine, theirs) < 1e-11
    types = ("planar", "spherical") if base == "fixed" else ("revolute",)
    small = mechanism(types, 13, base=base, convention=convention)
    q, v, _, tau = state(small, 14)
    for name, integrator in steps.STEPS.items():

        def step(q: Array, v: Array, tau: Array, integrator: steps.Step = integrator) -> tuple[Array, Array]:
            return integrator(small, lambda q, v: ORACLE["aba"](small, q, v, tau), q, v, 1e-3)

        exact, near = (steps.derivatives(step, small, q, v, tau, fine) for fine in (True, False))
        assert [error(mine, theirs) < 1e-10 for mine, theirs in zip(exact, near, strict=True)] == [True, True], name


@pytest.mark.parametrize(("base", "convention"), CASES[1:3])
@pytest.mark.parametrize("of", ["pv", "pv_soft"])
def test_so_they_are_with_contacts(base, convention, of, monkeypatch):
    """On a hinge and a point that are led to targets, and on two welds of one body that give way."""
    model = mechanism(TYPES, 16, base=base, convention=convention)
    (q, v, _, tau), rng = state(model, 17), np.random.default_rng(18)
    texts = ("tool4:6", "tool4:6") if of == "pv_soft" else ("tool2:x,y,z:kp=20:kd=5", "tool5:3:kp=10")
    contacts = tuple(contact_of(model, text) for text in texts)
    targets = {
        "target_position": rng.standard_normal((2, 3)),
        "target_rotation": np.stack([matrix(x / np.linalg.norm(x)) for x in rng.standard_normal((2, 4))]),
        "target_velocity": rng.standard_normal((2, 6)),
        "R": np.full(12, 0.1),
    }
    parameters = {name: x for name, x in targets.items() if (name == "R") == (of == "pv_soft")}
    assert constrained.smooth(of, model, q, contacts)
    found = ORACLE[f"{of}_derivatives"](model, q, v, tau, contacts=contacts, parameters=parameters)
    monkeypatch.setattr(constrained, "smooth", lambda *_: False)
    near = ORACLE[f"{of}_derivatives"](model, q, v, tau, contacts=contacts, parameters=parameters)
    for mine, theirs in zip(found, near, strict=True):
        assert error(mine, theirs) < 1e-9


def test_rows_that_depend_on_each_other_take_differences() -> None:
    model = mechanism(("revolute", "spherical", "revolute"), 3, base="floating")
    q, tip = state(model, 4)[0], contact_of(model, f"{model.tips[0]}:6")
    assert constrained.smooth("pv", model, q, (tip,))
    assert not constrained.smooth("pv", model, q, (tip, tip))
    assert constrained.smooth("pv_soft", model, q, (tip, tip))
    assert not constrained.smooth("pv", codegen.load("four_bar"), codegen.load("four_bar").neutral(), ())


def test_complex_steps_do_without_differences() -> None:
    """Where they turn very fast, and at the place from which a rotation is measured."""
    found = complex_steps(lambda d: np.sin(0.3 + 1e6 * d), 1)
    np.testing.assert_allclose(found, [[1e6 * np.cos(0.3)]], rtol=1e-15)
    turned = complex_steps(lambda d: np.stack([to_vector(from_vector(x)) for x in d]), 3)
    np.testing.assert_allclose(turned, np.eye(3), rtol=1e-15)
    chain = codegen.load("chain:3")
    assert not analytic(chain.with_screw("link1_joint", slide=0.1 * sympy.Symbol("q")))
    assert not analytic(codegen.load("four_bar"))
    assert analytic(mechanism(TYPES, 3))


def test_derivatives_of_steps_near_singular_states() -> None:
    """A function of the configuration that turns faster than any difference tells."""
    model = mechanism(("revolute",), 3)
    q, v, tau = np.zeros(1), np.ones(1), np.zeros(1)

    def step(q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        return q, v + np.sqrt(np.abs(q - 1e-4)) + tau

    with pytest.raises(UntoldError, match="too close to a singular"):
        steps.derivatives(step, model, q, v, tau, exact=False)
