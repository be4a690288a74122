"""Quantities that controllers need, and their derivatives: against the dense oracle, Pinocchio, and one another."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pinocchio_peer
import pytest
from mechanisms_cases import ALL_TYPES, error, mechanism, state
from thorough import besides, chosen

import codegen
from codegen.geometry import Inertia, mat3
from codegen.ir.interpreter import interpret
from codegen.oracle import ORACLE
from codegen.oracle.derivatives import differences
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

QUANTITIES = tuple(name for name, entry in codegen.ALGORITHMS.items() if entry.group == "quantities")
CHANGES = ("fk_derivatives", "frame_acceleration_derivatives", "centroidal_derivatives")
MECHANISMS = tuple((base, convention) for base in ("fixed", "floating") for convention in ("pinocchio", "mujoco"))
ROBOTS = ("iiwa", "go1", "mini_cheetah", "six_bar", "planar_leg_linkage")
LARGE = ("four_bar_branch_2_5", "talos")  # differences take minutes
EXACT, DIFFERENCED = 1e-11, 1e-9
SINGLE = 2e-5


@cache
def graph(model, algorithm, **options):
    return trace(Task(model, algorithm, **options))


@cache
def random_mechanism(base, convention):
    return mechanism(ALL_TYPES, 4, base=base, convention=convention, armature=True)


@cache
def behind_a_formula():
    """A robot with armatures whose last joint follows another by a ratio that changes."""
    model = mechanism(("revolute",) * 3, 3, armature=True)
    names = [body.joint.name for body in model.bodies]
    return codegen.Robot.of(model).with_loop("l", explicit={names[2]: f"sin({names[1]}) + 0.3*{names[1]}"})


def drawn(model, seed):
    rng = np.random.default_rng(seed)
    q, v, _ = model.random(rng)
    return q, v, rng.standard_normal(model.nv)


def results(model, algorithm, *given, **options):
    """The outputs of the graph in order, but for a status, from as many of the arguments as it takes."""
    made = graph(model, algorithm, **options)
    return interpret(made, *given[: len(made.inputs)])[: len(codegen.ALGORITHMS[algorithm].outputs)]


def agree(model, algorithm, seed=5, scale=1.0):
    """Outputs equal the oracle's; `scale` is that of results that may vanish."""
    given = drawn(model, seed)
    made = graph(model, algorithm)
    given = given[: len(made.inputs)]
    expected = ORACLE[algorithm](model, *given)
    near = DIFFERENCED if algorithm in (*CHANGES, "coriolis") else EXACT
    for mine, theirs in zip(
        interpret(made, *given), expected if isinstance(expected, tuple) else (expected,), strict=False
    ):
        assert np.abs(mine - theirs).max() < near * max(np.abs(theirs).max(), scale)


@pytest.mark.parametrize(
    ("algorithm", "case"),
    chosen(
        lambda algorithm, case: case == MECHANISMS[1 if algorithm in CHANGES else 3],
        (*QUANTITIES, *CHANGES),
        MECHANISMS,
    ),
)
def test_every_joint_type(algorithm, case):
    """Off axis, with armatures, in both conventions of velocities."""
    agree(random_mechanism(*case), algorithm)


@pytest.mark.parametrize(
    ("algorithm", "robot"),
    besides(
        [(name, "six_bar") for name in (*QUANTITIES, *CHANGES)] + [(name, "iiwa") for name in QUANTITIES],
        [(name, robot) for robot in ROBOTS for name in (*QUANTITIES, *CHANGES)]
        + [(name, robot) for robot in LARGE for name in QUANTITIES],
    ),
)
def test_bundled_robots(algorithm, robot):
    agree(codegen.load(robot), algorithm)


@pytest.mark.parametrize("algorithm", [*QUANTITIES, *CHANGES])
def test_an_armature_behind_a_formula(algorithm):
    agree(behind_a_formula(), algorithm)


def test_inertia_that_the_root_does_not_feel():
    """A body that only spins about a fixed axis: its mass counts for the centre of mass and the potential energy."""
    model = mechanism(("revolute", "revolute"), 11)
    first = replace(model.bodies[0], joint=replace(model.bodies[0].joint, axis=(0.0, 0.0, 1.0)))
    first = replace(first, inertia=Inertia(3.0, (0.0, 0.0, 0.4), mat3(np.diag([0.2, 0.2, 0.1]))))
    for algorithm in ("com", "com_jacobian", "centroidal", "energy", "centroidal_bias"):
        agree(replace(model, bodies=(first, model.bodies[1])), algorithm)


@pytest.mark.parametrize("kind", besides(["prismatic"], ["revolute", "prismatic", "planar", "spherical", "floating"]))
@pytest.mark.parametrize("algorithm", [*QUANTITIES, *CHANGES])
def test_one_joint_alone(algorithm, kind):
    """Where many derivatives vanish."""
    agree(mechanism((kind,), 90), algorithm)


def test_frames_and_wrenches():
    model = random_mechanism("floating", "mujoco")
    q, v, a = drawn(model, 9)
    frames, external = ("tool4", "tool0", "body3", "tool4"), ("tool2", "body5")
    for algorithm in ("jdot_v", "frame_accelerations", "fk_derivatives"):
        given = (q, v, a)[: len(codegen.ALGORITHMS[algorithm].inputs)]
        expected = ORACLE[algorithm](model, *given, frames=frames)
        found = results(model, algorithm, *given, frames=frames)
        for mine, theirs in zip(found, expected if isinstance(expected, tuple) else (expected,), strict=True):
            assert error(mine, theirs) < DIFFERENCED
    f_ext = np.random.default_rng(2).standard_normal((2, 6))
    (found,) = results(model, "bias", q, v, f_ext, external=external)
    assert error(found, ORACLE["bias"](model, q, v, f_ext, external=external)) < EXACT


NUMBERS = {
    "gravity": np.array([1.0, -2.0, 3.0]),
    "payload:tool2": np.array([2.0, 0.1, -0.2, 0.3, 0.05, 0.06, 0.07, 0.01, -0.02, 0.015]),
    "offset:joint1": np.array([-0.1, 0.7, 0.2]),
    "inertia:body4": np.array([1.5, 0.1, 0.05, -0.2, 0.06, 0.05, 0.04, 0.01, 0.02, -0.01]),
}


@pytest.mark.parametrize("algorithm", besides(["com", "energy", "regressor"], QUANTITIES))
def test_parameters(algorithm):
    model = random_mechanism("fixed", "pinocchio")
    q, v, a = drawn(model, 9)
    given = (q, v, a)[: len([name for name in codegen.ALGORITHMS[algorithm].inputs if name != "f_ext"])]
    found = interpret(graph(model, algorithm, parameters=tuple(NUMBERS)), *given, *NUMBERS.values())
    if algorithm == "regressor":  # its columns know no inertias
        expected = ORACLE[algorithm](
            model, *given, parameters={n: x for n, x in NUMBERS.items() if n[:3] in "gravoffs"}
        )
    else:
        expected = ORACLE[algorithm](model, *given, parameters=NUMBERS)
    near = DIFFERENCED if algorithm == "coriolis" else EXACT
    assert error(found if isinstance(expected, tuple) else found[0], expected) < near


@pytest.mark.parametrize("case", besides([1], range(10)))
def test_against_pinocchio(case):
    model = mechanism(ALL_TYPES, 20 + case, base="floating" if case % 2 else "fixed", armature=True)
    peer = pinocchio_peer.pinocchio_model(model)
    data, (q, v, a, _) = peer.createData(), state(model, case)
    x = pinocchio_peer.positions(model, q)
    position, velocity = results(model, "com", q, v)
    assert error(position, pin.centerOfMass(peer, data, x, v)) < EXACT
    assert error(velocity, data.vcom[0]) < EXACT
    assert error(results(model, "com_jacobian", q)[0], pin.jacobianCenterOfMass(peer, data, x)) < EXACT
    h, A = results(model, "centroidal", q, v)
    assert error(A, pin.ccrba(peer, data, x, v)) < EXACT
    assert error(h, data.hg.vector) < EXACT
    pin.dccrba(peer, data, x, v)
    assert error(results(model, "centroidal_bias", q, v)[0], data.dAg @ v) < EXACT
    kinetic, potential = results(model, "energy", q, v)
    M = pin.crba(peer, data, x)  # computeKineticEnergy leaves out armatures of some joints
    assert error(kinetic, v @ (np.triu(M) + np.triu(M, 1).T) @ v / 2) < EXACT
    assert error(potential, pin.computePotentialEnergy(peer, data, x)) < EXACT
    assert error(results(model, "bias", q, v)[0], pin.nonLinearEffects(peer, data, x, v)) < EXACT
    assert error(results(model, "coriolis", q, v)[0], pin.computeCoriolisMatrix(peer, data, x, v)) < EXACT
    assert error(results(model, "gravity", q)[0], pin.computeGeneralizedGravity(peer, data, x)) < EXACT
    assert error(results(model, "regressor", q, v, a)[0], pin.computeJointTorqueRegressor(peer, data, x, v, a)) < EXACT
    found = results(model, "centroidal_derivatives", q, v, a)
    expected = pin.computeCentroidalDynamicsDerivatives(peer, data, x, v, a)
    assert error(found[0], data.dhg.vector) < 1e-10
    for mine, theirs in zip(found[1:], expected, strict=True):
        assert error(mine, theirs) < 1e-10
    assert all(
        error(mine, theirs) < 1e-10
        for mine, theirs in zip(frames_of(model, q, v, a), pinocchio_peer.of_tips(model, peer, x, v, a), strict=True)
    )


def frames_of(model, q, v, a):
    """Accelerations of the tips, then derivatives of their velocities and accelerations."""
    by_q, J = results(model, "fk_derivatives", q, v)
    return (
        *results(model, "frame_accelerations", q, v, a),
        *(by_q, J),
        *results(model, "frame_acceleration_derivatives", q, v, a),
    )


MODELS = {
    "every joint type": lambda: random_mechanism("floating", "mujoco"),
    "a formula": behind_a_formula,
    "six_bar": lambda: codegen.load("six_bar"),
}


@pytest.mark.parametrize("name", MODELS)
def test_identities(name):
    """What these quantities are to one another and to inverse dynamics."""
    model = MODELS[name]()
    q, v, a = drawn(model, 12)

    def moved(function):
        """The rate of a function of (q, v) along the motion (q, v, a)."""
        return differences(lambda t: function(ORACLE["integrate"](model, q, t[0] * v), v + t[0] * a), 1)[..., 0]

    tau, bias, gravity = (results(model, *given)[0] for given in (("rnea", q, v, a), ("bias", q, v), ("gravity", q)))
    M, C, J = (results(model, *given)[0] for given in (("crba", q), ("coriolis", q, v), ("jacobian", q)))
    assert error(M @ a + bias, tau) < EXACT
    assert error(C @ v + gravity, bias) < EXACT
    still = [moved(lambda q, v: ORACLE["crba"](model, q))]
    assert error(C + C.T, still[0]) < DIFFERENCED
    assert error(results(model, "energy", q, v)[0], v @ M @ v / 2) < EXACT
    power = moved(lambda q, v: np.array(sum(ORACLE["energy"](model, q, v))))
    assert error(power, tau @ v) < DIFFERENCED
    (jdot_v,) = results(model, "jdot_v", q, v)
    (acceleration,) = results(model, "frame_accelerations", q, v, a)
    assert error(J @ a + jdot_v, acceleration) < EXACT
    assert error(moved(lambda q, v: ORACLE["fk"](model, q, v)[2]), acceleration) < DIFFERENCED
    (h, A), (rate,) = results(model, "centroidal", q, v), results(model, "centroidal_bias", q, v)
    hdot, _, _, _, again = results(model, "centroidal_derivatives", q, v, a)
    assert error(A @ a + rate, hdot) < EXACT
    assert error(again, A) < EXACT
    assert error(moved(lambda q, v: ORACLE["centroidal"](model, q, v)[0]), hdot) < DIFFERENCED
    mass = sum(body.inertia.mass for body in model.bodies)
    assert error(mass * results(model, "com_jacobian", q)[0], A[:3]) < EXACT
    assert error(mass * results(model, "com", q, v)[1], h[:3]) < EXACT


@pytest.mark.parametrize("name", MODELS)
def test_inverse_dynamics_are_linear_in_inertial_parameters(name):
    """tau = Y pi + what armatures need, which is what is left of a robot whose bodies have no inertia."""
    model = MODELS[name]()
    light = replace(model, bodies=tuple(replace(body, inertia=Inertia()) for body in model.bodies))
    for seed in range(3):
        q, v, a = drawn(model, seed)
        (Y,), (tau,) = results(model, "regressor", q, v, a), results(model, "rnea", q, v, a)
        assert error(Y @ codegen.inertial_parameters(model), tau - ORACLE["rnea"](light, q, v, a)) < EXACT


def test_a_link_whose_frame_is_not_the_joints():
    """Inertial parameters are in the frame that the joint moves, wherever the frame of the link's name is."""
    model = random_mechanism("fixed", "pinocchio")
    tools = {frame.body: frame.placement for frame in model.frames if frame.name.startswith("tool")}
    frames = (replace(frame, placement=tools[frame.body]) for frame in model.frames)
    agree(replace(model, frames=tuple(frames)), "regressor")


def test_inertial_parameters_are_pinocchios():
    model = random_mechanism("fixed", "pinocchio")
    peer = pinocchio_peer.pinocchio_model(model)
    expected = np.concatenate([inertia.toDynamicParameters() for inertia in [*peer.inertias][1:]])
    assert error(codegen.inertial_parameters(model), expected) < EXACT


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_robot_with_other_inertial_parameters(base):
    """Those of another robot of the same joints make its inverse dynamics."""
    model = codegen.Robot.of(random_mechanism(base, "pinocchio"))
    pi = codegen.inertial_parameters(model) * 1.5
    other = model.with_inertial_parameters(pi)
    assert error(codegen.inertial_parameters(other), pi) < EXACT
    assert {(body.joint, body.placement) for body in other.bodies} == {
        (body.joint, body.placement) for body in model.bodies
    }
    q, v, a = drawn(model, 4)
    light = model.with_inertial_parameters(0.0 * pi)  # armatures are left
    (Y,), (tau,) = results(model, "regressor", q, v, a), results(other, "rnea", q, v, a)
    assert error(Y @ pi, tau - ORACLE["rnea"](light, q, v, a)) < EXACT


@pytest.mark.parametrize(
    ("entry", "value", "words"),
    [
        (None, 0.0, r"have shape \(69,\); give 70 finite numbers"),
        (3, np.nan, "give 70 finite numbers"),
        (10, -0.5, "body lbr_iiwa_link_2 would have the mass -0.5"),
        (10, 0.0, "body lbr_iiwa_link_2 would have the mass 0"),
        (16, -1.0, "body lbr_iiwa_link_2 would have the negative principal moment"),
    ],
)
def test_inertial_parameters_of_no_body_are_refused(entry, value, words):
    model = codegen.load("iiwa")
    pi = codegen.inertial_parameters(model)
    if entry is None:
        pi = pi[1:]
    else:
        pi[entry] = value
    with pytest.raises(codegen.RobotError, match=words):
        model.with_inertial_parameters(pi)


@pytest.mark.parametrize(
    ("robot", "number"),
    besides(
        [("iiwa", 43), ("solo12", 94), ("four_bar", 8)], [("iiwa", 43), ("solo12", 94), ("four_bar", 8), ("talos", 318)]
    ),
)
def test_base_parameters(robot, number):
    """As many as the literature has for an arm on its foot; ten of a floating base, and seven of every hinge."""
    model = codegen.load(robot)
    base, pi = codegen.base_parameters(model), codegen.inertial_parameters(model)
    assert len(base.columns) == number
    assert str(base) == f"{number} base parameters of {len(pi)} inertial parameters"
    assert base.text(0).startswith(base.names[base.columns[0]])
    for seed in range(3):
        (Y,) = results(model, "regressor", *drawn(model, 100 + seed))
        assert error(Y[:, base.columns] @ base.combinations @ pi, Y @ pi) < EXACT
        assert error(Y[:, base.columns] @ base.combinations, Y) < 1e-7


@pytest.mark.parametrize("algorithm", besides(["centroidal"], (*QUANTITIES, *CHANGES)))
def test_compiled(algorithm):
    """In both types of numbers, with outputs by name."""
    model, entry = codegen.load("iiwa"), codegen.ALGORITHMS[algorithm]
    given = drawn(model, 3)[: len([name for name in entry.inputs if name != "f_ext"])]
    expected = ORACLE[algorithm](model, *given)
    double, single = (codegen.build(model, algorithm, dtype=dtype) for dtype in ("float64", "float32"))
    if len(entry.outputs) > 1:
        assert double(*given)._fields == entry.outputs
        expected = expected[: len(entry.outputs)]
    found, short = double(*given), single(*(np.asarray(x, np.float32) for x in given))
    assert error(tuple(found) if isinstance(expected, tuple) else found, expected) < DIFFERENCED
    assert error(tuple(short) if isinstance(expected, tuple) else short, expected) < SINGLE


ANCHORED = """<mujoco><worldbody><body name="arm" pos="0 0 1"><joint name="hinge" axis="0 1 0" pos="0.1 0.2 0.3"/>
<inertial mass="2" pos="0.3 0 0.1" diaginertia="0.2 0.3 0.4"/></body></worldbody></mujoco>"""


def test_an_inertia_as_an_argument_is_in_the_frame_that_the_joint_moves(tmp_path):
    """As that of the model is: here the body's own frame is elsewhere."""
    pytest.importorskip("mujoco")
    path = tmp_path / "arm.xml"
    path.write_text(ANCHORED, encoding="utf-8")
    robot = codegen.load(path)
    body, (q, v, a) = robot.bodies[0], robot.random(1)
    I = np.array(body.inertia.moment)  # noqa: E741
    own = [body.inertia.mass, *body.inertia.com, *np.diag(I), I[0, 1], I[0, 2], I[1, 2]]
    _, plain = codegen.graphs(robot, "rnea")
    _, given = codegen.graphs(robot, "rnea", parameters=("inertia:arm",))
    assert np.allclose(interpret(given, q, v, a, own)[0], interpret(plain, q, v, a)[0], rtol=1e-12)
