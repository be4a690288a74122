"""The heart: what is emitted computes what the dense oracle computes, robot by robot."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_cases import (
    ALGORITHMS,
    BUNDLED,
    MECHANISMS,
    TOLERANCE,
    WITH_WRENCHES,
    Mechanism,
    Robot,
    inputs,
    model_of,
    worst_error,
)
from mechanisms_cases import aligned, error, mechanism, state
from thorough import chosen, diagonal

import codegen
from codegen.errors import UnsuitedError
from codegen.oracle import ORACLE

SINGLE = 2e-5  # float32 carries 6e-8; forward dynamics loses two digits over these chains
IDENTITY_CASES = (Robot("solo12", "floating", "pinocchio"), *MECHANISMS)


def test_every_oracle_is_put_to_use():
    assert set(ALGORITHMS) == {name for name, entry in codegen.ALGORITHMS.items() if entry.group == "common"}
    assert set(ORACLE) == set(codegen.ALGORITHMS)


SMALL = ("iiwa-fixed-pinocchio", "solo12-floating-pinocchio", "solo12-floating-mujoco")
MORE = {("panda-fixed-mujoco", "minverse"), ("iiwa-floating-pinocchio", "aba"), ("go1-floating-pinocchio", "crba")}


def soon(robot, algorithm):
    return str(robot) in SMALL or (str(robot), algorithm) in MORE


@pytest.mark.parametrize(("robot", "algorithm"), chosen(soon, BUNDLED, ALGORITHMS), ids=str)
def test_bundled_robot(built, robot, algorithm):
    assert worst_error(built(robot, algorithm), model_of(robot), algorithm) < TOLERANCE


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("case", MECHANISMS, ids=str)
def test_every_joint_type_off_its_axes(built, case, algorithm):
    assert worst_error(built(case, algorithm), model_of(case), algorithm) < TOLERANCE


@pytest.mark.parametrize(
    ("case", "algorithm"), diagonal([*MECHANISMS, Robot("solo12", "floating", "mujoco")], WITH_WRENCHES), ids=str
)
def test_external_wrenches(built, case, algorithm):
    """On bodies and tools, twice on one body, and on the root."""
    model = model_of(case)
    names = [frame.name for frame in model.frames if frame.body >= 0]
    external = (names[1], names[0], names[-1], names[len(names) // 2])
    function = built(case, algorithm, external=external)
    assert worst_error(function, model, algorithm, external=external) < TOLERANCE


@pytest.mark.parametrize(
    ("case", "algorithm"),
    chosen(
        lambda case, algorithm: (MECHANISMS.index(case) in (0, 3)) == (algorithm == "fk"),
        MECHANISMS,
        ["fk", "jacobian"],
    ),
    ids=str,
)
def test_chosen_frames(built, case, algorithm):
    """Frames in the order asked for, off the bodies' origins, one of them twice."""
    frames = ("tool4", "tool0", "body3", "tool4")
    function = built(case, algorithm, frames=frames)
    assert worst_error(function, model_of(case), algorithm, frames=frames) < TOLERANCE


PARAMETERS = {
    "payload:tool2": np.array([2.0, 0.1, -0.2, 0.3, 0.05, 0.06, 0.07, 0.01, -0.02, 0.015]),
    "gravity": np.array([1.0, -2.0, 3.0]),
    "offset:joint3": np.array([0.3, 0.4, -0.5]),
    "offset:joint1": np.array([-0.1, 0.7, 0.2]),
    "inertia:body4": np.array([1.5, 0.1, 0.05, -0.2, 0.06, 0.05, 0.04, 0.01, 0.02, -0.01]),
    "payload:body5": np.array([0.3, 0.0, 0.2, 0.1, 0.02, 0.03, 0.04, 0.005, 0.001, 0.002]),
}


@pytest.mark.parametrize(("algorithm", "case"), diagonal(ALGORITHMS[:-2], [MECHANISMS[0], MECHANISMS[3]]), ids=str)
def test_symbolic_parameters(built, case, algorithm):
    model = model_of(case)
    frames = ("tool1", "tool5") if algorithm in ("fk", "jacobian") else ()
    external = ("tool4",) if algorithm in WITH_WRENCHES else ()
    function = built(case, algorithm, frames=frames, external=external, parameters=tuple(PARAMETERS))
    options = {"frames": frames, "external": external, "parameters": PARAMETERS}
    assert worst_error(function, model, algorithm, states=4, **options) < TOLERANCE


def test_a_symbolic_parameter_at_its_own_value_changes_nothing(built):
    case = Mechanism("floating", "pinocchio")
    model = model_of(case)
    function = built(case, "aba", parameters=("gravity", "offset:joint2"))
    q, v, _, tau = state(model, 5)
    offset = np.array(model.bodies[2].placement.translation)
    actual = function(q, v, tau, np.array(model.gravity), offset)
    assert error(actual, ORACLE["aba"](model, q, v, tau)) < TOLERANCE


SINGLE_CASES = [(case, algorithm) for case in (IDENTITY_CASES[0], MECHANISMS[0]) for algorithm in ALGORITHMS]
SOON = (MECHANISMS[0], "rnea"), (MECHANISMS[0], "integrate"), (MECHANISMS[0], "difference")


@pytest.mark.parametrize(
    ("case", "algorithm"),
    [pytest.param(*pair, marks=() if pair in SOON else pytest.mark.thorough) for pair in SINGLE_CASES],
    ids=lambda part: str(part),
)
def test_single_precision(case, algorithm):
    model = model_of(case)
    function = codegen.build(model, algorithm, dtype="float32")
    for seed in range(5):
        arguments = [np.asarray(x, np.float32) for x in inputs(model, algorithm, seed)]
        expected = ORACLE[algorithm](model, *arguments)
        actual = function(*arguments)
        outputs = actual if isinstance(actual, tuple) else (actual,)
        assert all(x.dtype == np.float32 for x in outputs)
        if algorithm == "integrate":
            actual = aligned(model, actual, expected)
        assert error(actual, expected) < SINGLE


@pytest.mark.parametrize("case", IDENTITY_CASES, ids=str)
def test_forward_dynamics_inverts_inverse_dynamics(built, case):
    model = model_of(case)
    q, v, a, _ = map(np.stack, zip(*(state(model, seed) for seed in range(5)), strict=True))
    tau = built(case, "rnea")(q, v, a)
    for algorithm in ("aba", "ltl"):
        assert max(map(error, built(case, algorithm)(q, v, tau), a)) < TOLERANCE


@pytest.mark.parametrize("case", IDENTITY_CASES, ids=str)
def test_inverse_inertia_inverts_inertia(built, case):
    model = model_of(case)
    q = np.stack([state(model, seed)[0] for seed in range(5)])
    M, Minv = built(case, "crba")(q), built(case, "minverse")(q)
    for product in M @ Minv:
        assert error(product, np.eye(model.nv)) < TOLERANCE
    assert np.array_equal(M, np.swapaxes(M, 1, 2))
    assert np.array_equal(Minv, np.swapaxes(Minv, 1, 2))


@pytest.mark.parametrize("case", IDENTITY_CASES, ids=str)
def test_jacobian_is_the_velocity_of_fk(built, case):
    model = model_of(case)
    q, v, _, _ = state(model, 6)
    velocity = built(case, "fk")(q, v)[2]
    assert error(built(case, "jacobian")(q) @ v, velocity) < TOLERANCE


ANGLES = (0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-4, 0.0499, 0.0501, 1.0, 3.0, np.pi - 1e-6, np.pi - 1e-14)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("case", MECHANISMS, ids=str)
def test_steps_of_every_size(built, case, angle):
    """Integrate, and difference back: at zero, tiny, where the series ends, near half a turn."""
    model = model_of(case)
    q, v, _, _ = state(model, 8)
    dv = scaled_turns(model, v, angle)
    q1 = built(case, "integrate")(q, dv)
    expected = ORACLE["integrate"](model, q, dv)
    assert np.abs(aligned(model, q1, expected) - expected).max() < 1e-14
    assert np.abs(built(case, "difference")(q, q1) - dv).max() < 1e-13
    assert np.abs(built(case, "difference")(q, flipped(model, q1)) - dv).max() < 1e-13


def scaled_turns(model, v, angle):
    """v with every angular part scaled to a turn by `angle`."""
    dv = v.copy()
    for body, j in zip(model.bodies, model.v_slices, strict=True):
        angular = {
            "revolute": slice(j.start, j.stop),
            "planar": slice(j.start + 2, j.stop),
            "spherical": slice(j.start, j.stop),
            "floating": slice(j.start + 3, j.stop),
        }.get(body.joint.type, slice(0, 0))
        dv[angular] *= angle / max(float(np.linalg.norm(v[angular])), 1e-300)
    return dv


def flipped(model, q):
    """q with every quaternion negated: the same configuration."""
    q = q.copy()
    for body, i in zip(model.bodies, model.q_slices, strict=True):
        if body.joint.type in ("spherical", "floating"):
            q[i.stop - 4 : i.stop] *= -1.0
    return q


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("case", MECHANISMS, ids=str)
def test_nothing_is_undefined_at_the_neutral_configuration_at_rest(built, case, algorithm):
    model = model_of(case)
    q, still = model.neutral(), np.zeros(model.nv)
    count = len(inputs(model, algorithm, 0))
    arguments = (q, q) if algorithm == "difference" else (q, still, still)[:count]
    expected = ORACLE[algorithm](model, *arguments)
    assert error(built(case, algorithm)(*arguments), expected) < TOLERANCE


@pytest.mark.parametrize("algorithm", ["rnea", "crba", "aba", "minverse", "fk"])
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "planar", "spherical", "floating"])
def test_one_joint_alone(build, kind, algorithm):
    """The smallest robots: one body on one joint."""
    model = mechanism((kind,), 90)
    assert worst_error(build(model, algorithm), model, algorithm, states=3) < TOLERANCE


@pytest.mark.parametrize("algorithm", ["aba", "ltl", "minverse"])
def test_a_joint_that_meets_no_inertia_is_named(tmp_path, algorithm):
    """A finger that mimics another, both of no mass (Romeo's): inverse dynamics works, what divides does not."""
    names = ("base", "arm", "finger", "thumb")
    solid = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path = tmp_path / "hand.urdf"
    path.write_text(
        '<robot name="hand">'
        + "".join(f'<link name="{name}">{solid if name == "arm" else ""}</link>' for name in names)
        + "".join(
            f'<joint name="{child}" type="revolute"><parent link="{parent}"/><child link="{child}"/>{more}</joint>'
            for parent, child, more in zip(names, names[1:], ("", "", '<mimic joint="finger"/>'), strict=False)
        )
        + "</robot>",
        encoding="utf-8",
    )
    robot = codegen.load(path)
    assert codegen.graphs(robot, "rnea")[1].outputs[0].size == 2
    with pytest.raises(UnsuitedError, match=r"joint 'finger' can move without moving any; give link 'finger' mass"):
        codegen.graphs(robot, algorithm)
    assert codegen.graphs(robot, algorithm, parameters=("payload:thumb",))[1].results
