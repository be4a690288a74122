"""Contacts that break, stick and slip: Coulomb's law by itself, against the oracle, on a slope; their derivatives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from casadi import MX, SX, Function, jacobian
from thorough import besides

import codegen
from codegen.errors import RobotError
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE, constrained, coulomb
from codegen.recursions.coulomb import cone_force

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FEET = ("FL_FOOT:3:in=world:friction=0.7", "FR_FOOT:3:in=world:friction=0", "HL_FOOT:3:friction=1", "HR_FOOT:3")
CASES = {
    "solo12": FEET,
    "iiwa": ("lbr_iiwa_link_7:3:in=world:friction=0.4",),
    "mini_cheetah": ("FL_foot_contact:3:in=world:friction=0.6",),
    "go1": ("FL_foot:3:in=world:friction=0.7:kd=2", "RR_foot:3:in=world:friction=0.7"),
}
LEGGED = {
    "solo12": ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"),
    "go1": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
}


def test_forces_of_a_point_obey_the_law() -> None:
    """However closely motions are coupled; among several solutions both ways find the same."""
    W, c, rng, kinds = SX.sym("W", 3, 3), SX.sym("c", 3), np.random.default_rng(0), set[str]()
    for friction in (0.0, 0.05, 0.5, 1.5):
        force = Function("force", [W, c], [cone_force(W, c, friction)])
        for _ in range(300):
            A = rng.standard_normal((3, 3))
            compliance = (A @ A.T + 0.02 * np.eye(3)) * 10 ** rng.uniform(-3, 3)
            motion = rng.standard_normal(3) * (3, 3, 1)
            found, point = np.array(force(compliance, motion)).ravel(), (_point(friction),)
            scale = np.abs(motion).max()
            assert coulomb.lack(compliance, motion, found, point) < 1e-12 * scale
            expected = coulomb.multipliers(compliance, motion, point)
            np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max(initial=1e-30))
            slides = np.abs(motion + compliance @ found)[:2].max() > 1e-9 * scale
            kinds.add("breaks" if not found.any() else "slides" if slides else "sticks")
    assert kinds == {"breaks", "sticks", "slides"}


def _point(friction: float) -> codegen.Contact:
    return codegen.load("solo12").contact("FL_FOOT", 3, friction=friction)


@pytest.mark.parametrize("name", besides(["iiwa"], CASES))
def test_the_oracle_finds_the_same(build: Callable[..., Any], name: str) -> None:
    robot = codegen.load(name)
    contacts = tuple(contact_of(robot, text) for text in CASES[name])
    f = build(robot, "nsgs", contacts=contacts, iterations=5)
    for seed in range(20):
        q, v, tau = robot.random(seed)
        found, expected = f(q, v, tau), ORACLE["nsgs"](robot, q, v, tau, contacts=contacts)
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9 * max(np.abs(theirs).max(), 1.0))


@pytest.mark.thorough
def test_compiled_and_to_a_tolerance() -> None:
    """The corners of a sole, of which forces are one choice of many, and joint accelerations are not."""
    robot = codegen.load("talos")
    stated: dict[str, Any] = {"axes": "world", "spatial": True, "friction": 0.6}
    soles = [robot.contact(f"{side}_sole_link", "foot-0.2x0.1", **stated) for side in ("left", "right")]
    fd = codegen.build(robot, "nsgs", contacts=soles, iterations=None)
    for seed in range(4):
        q, v, tau = robot.random(seed)
        assert fd(q, v, tau, 1e-6, 100).residual <= 1e-6  # beside accelerations of 1e5
        v = np.zeros(robot.nv)  # at rest classical accelerations are spatial ones
        a, lam, _, residual = fd(q, v, tau, 1e-6, 100)
        assert residual <= 1e-6
        at = constrained.equations(robot, q, v, contacts=soles)
        np.testing.assert_allclose(at.M @ a + at.bias, tau + at.J.T @ lam, rtol=0, atol=1e-9 * np.abs(at.M @ a).max())
        free = at.J @ np.linalg.solve(at.M, tau - at.bias) + at.drift
        assert coulomb.lack(constrained.delassus(at), free, lam, soles) < 1e-5


@pytest.mark.parametrize(
    ("name", "states"), [("go1", 100), *(pytest.param(name, 1000, marks=pytest.mark.thorough) for name in LEGGED)]
)
def test_steps_of_newtons_method_settle_what_sweeps_do_not(build: Callable[..., Any], name: str, states: int) -> None:
    """Where feet are closely coupled by the trunk."""
    robot = codegen.load(name)
    feet = tuple(robot.contact(foot, 3, axes="world", friction=0.7) for foot in LEGGED[name])
    f, rng = build(robot, "nsgs", contacts=feet), np.random.default_rng(0)
    for _ in range(states):
        q, v, tau = robot.random(rng)
        at = constrained.equations(robot, q, v, contacts=feet)
        c = at.J @ np.linalg.solve(at.M, tau - at.bias) + at.drift
        assert coulomb.lack(constrained.delassus(at), c, f(q, v, tau)[1], feet) < 1e-11 * np.abs(c).max()


@pytest.mark.parametrize("name", besides(["iiwa"], CASES))
def test_derivatives(build: Callable[..., Any], name: str) -> None:
    """Of whatever each point does, and of a step of time; the oracle's are by complex steps along that."""
    robot = codegen.load(name)
    contacts = tuple(contact_of(robot, text) for text in CASES[name])
    slopes, step = (build(robot, f"nsgs_{of}derivatives", contacts=contacts) for of in ("", "step_"))
    for seed in range(10):
        q, v, tau = robot.random(seed)
        expected = ORACLE["nsgs_derivatives"](robot, q, v, tau, contacts=contacts)
        for mine, theirs in zip(slopes(q, v, tau), expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9 * max(np.abs(theirs).max(), 1.0))
    expected = ORACLE["nsgs_step_derivatives"](robot, q, v, tau, 1e-2, contacts=contacts)
    for mine, theirs in zip(step(q, v, tau, 1e-2), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())


@pytest.mark.thorough
def test_derivatives_of_many_points() -> None:
    """Eight of Talos: a loop solves for changes of forces. They are those at the solution, from which they start."""
    robot = codegen.load("talos")
    ends = (("", "sole_link"), ("leg_", "4_link"), ("gripper_", "base_link"), ("arm_", "4_link"))
    frames = [f"{limb}{side}_{end}" for limb, end in ends for side in ("left", "right")]
    contacts = tuple(robot.contact(frame, 3, friction=0.7) for frame in frames)
    slopes = codegen.build(robot, "nsgs_derivatives", contacts=contacts, parameters=("lam0",))
    settled = codegen.build(robot, "nsgs", contacts=contacts, iterations=20)
    for seed in range(5):
        q, v, tau = robot.random(seed)
        expected = ORACLE["nsgs_derivatives"](robot, q, v, tau, contacts=contacts)
        for mine, theirs in zip(slopes(q, v, tau, lam0=settled(q, v, tau).lam), expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())


@pytest.mark.parametrize("friction", [0.5, None])
def test_directions_in_which_nothing_moves(build: Callable[..., Any], friction: float | None) -> None:
    """An arm in a plane, whose tip stays in it: W has a row of zeros. A tip that is held is held along the others."""
    robot = codegen.load("chain:2")
    held, left = (robot.contact("tip", 3, friction=friction),), (robot.contact("tip", "x,y"),)
    for name, same, results in (("nsgs", "pv", 1), ("nsgs_derivatives", "pv_derivatives", 3)):
        f = build(robot, name, contacts=held).with_status()
        for seed in range(3):
            state = robot.random(seed)
            expected = (
                ORACLE[name](robot, *state, contacts=held) if friction else ORACLE[same](robot, *state, contacts=left)
            )
            for mine, theirs in zip(f(*state)[:results], expected, strict=False):
                np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-10 * max(np.abs(theirs).max(), 1.0))


@pytest.mark.thorough
def test_products_of_derivatives(build: Callable[..., Any]) -> None:
    """Those of the matrices; by what rows want and by a gain, too."""
    robot, rng = codegen.load("iiwa"), np.random.default_rng(0)
    asked: dict[str, Any] = {"contacts": [robot.contact("lbr_iiwa_link_7", 3, friction=0.4)], "parameters": ["k", "kd"]}
    slopes = build(robot, "nsgs_derivatives", **asked, wrt=["k", "kd"])
    ahead, back = (build(robot, "nsgs", **asked, derivative=kind) for kind in ("jvp", "vjp"))
    for seed in range(3):
        state = (*robot.random(seed), rng.standard_normal(3), rng.uniform(0, 20, 3))
        found = slopes(*state)
        J = np.block([[*found[:3], found[6], found[8]], [*found[3:6], found[7], found[9]]])
        ways, weights = ([rng.standard_normal(n) for n in sizes] for sizes in ((7, 7, 7, 3, 3), (7, 3)))
        scale = 1e-12 * np.abs(J).max() * 10
        np.testing.assert_allclose(np.hstack(ahead(*state, *ways)), J @ np.hstack(ways), rtol=0, atol=scale)
        np.testing.assert_allclose(np.hstack(back(*state, *weights)), np.hstack(weights) @ J, rtol=0, atol=scale)
    step, product = build(robot, "nsgs_step_derivatives", **asked), build(robot, "nsgs_step", **asked, derivative="vjp")
    q, v, tau, k, kd = state
    A, B = step(q, v, tau, 1e-2, k, kd)
    w = rng.standard_normal(14)
    found = np.hstack(product(q, v, tau, 1e-2, k, kd, w[:7], w[7:])[:3])
    np.testing.assert_allclose(found, w @ np.hstack([A, B]), rtol=0, atol=1e-12 * np.abs(A).max() * 10)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["nsgs", "nsgs_derivatives"])
def test_single_precision(name: str) -> None:
    robot = codegen.load("solo12")
    contacts = [contact_of(robot, text) for text in FEET]
    exact, single = (codegen.build(robot, name, contacts=contacts, dtype=dtype) for dtype in ("float64", "float32"))
    for seed in range(20):
        state = robot.random(seed)
        for mine, theirs in zip(single(*(x.astype(np.float32) for x in state)), exact(*state), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-3 * max(np.abs(theirs).max(), 1.0))


@pytest.mark.thorough
def test_in_casadi() -> None:
    robot = codegen.load("iiwa")
    held = [robot.contact("lbr_iiwa_link_7", 3, axes="world", friction=0.4)]
    f = codegen.to_casadi(robot, "nsgs", contacts=held, derivatives=1)
    symbols = [MX.sym(name, size) for name, size in zip(f.name_in(), map(f.size1_in, range(3)), strict=True)]
    J = Function("J", symbols, [jacobian(y, x) for y in f(*symbols) for x in symbols])
    at = robot.random(3)
    expected = codegen.build(robot, "nsgs_derivatives", contacts=held)(*at)
    for mine, theirs in zip(J(*at), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-11 * np.abs(theirs).max())


@pytest.mark.parametrize(("degrees", "friction"), [(20, 0.5), (40, 0.5), (40, 0.0)])
def test_a_block_on_a_slope(tmp_path: Path, degrees: float, friction: float) -> None:
    """Compiled C: at rest where the slope is below the angle of friction, else sliding at g (sin - friction cos)."""
    robot = codegen.load(_block(tmp_path)).with_frame("slope", "block", rpy=(0, math.radians(degrees), 0))
    held = robot.contact("slope", 3, friction=friction)
    fd = codegen.build(robot, "nsgs", contacts=[held])
    a, lam = fd(robot.neutral(), np.zeros(3), np.zeros(3))
    down = np.array([math.cos(math.radians(degrees)), 0, -math.sin(math.radians(degrees))])
    rate = 9.81 * max(0.0, math.sin(math.radians(degrees)) - friction * math.cos(math.radians(degrees)))
    np.testing.assert_allclose(a, rate * down, atol=1e-12)
    assert lam[2] == pytest.approx(2 * 9.81 * math.cos(math.radians(degrees)))
    a, lam = fd(robot.neutral(), np.zeros(3), [0, 0, 30])
    np.testing.assert_allclose(a, [0, 0, 15 - 9.81])  # lifted
    assert not lam.any()


def _block(folder: Path) -> Path:
    """A block of 2 kg that slides along x, y and z."""
    links = "".join(
        f'<link name="{name}"><inertial><mass value="{mass}"/></inertial></link>'
        for name, mass in (("world", 0), ("x", 0), ("y", 0), ("block", 2))
    )
    joints = "".join(
        f'<joint name="j{n}" type="prismatic"><parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>'
        '<limit lower="-9" upper="9"/></joint>'
        for n, (parent, child, axis) in enumerate(
            (("world", "x", "1 0 0"), ("x", "y", "0 1 0"), ("y", "block", "0 0 1"))
        )
    )
    path = folder / "block.urdf"
    path.write_text(f'<robot name="block">{links}{joints}</robot>')
    return path


def test_texts_say_it_and_read_back() -> None:
    robot = codegen.load("solo12")
    contact = robot.contact("FL_FOOT", "foot-0.2x0.1", axes="world", kd=20, friction=0.7)
    assert str(contact) == "FL_FOOT:foot-0.2x0.1:in=world:kd=20:friction=0.7"
    assert contact_of(robot, str(contact)) == contact


def test_what_is_refused() -> None:
    robot = codegen.load("solo12")
    slippery = robot.contact("FL_FOOT", 3, friction=0.7)
    with pytest.raises(RobotError, match=r"prox_pv holds the contact FL_FOOT:3:friction=0\.7 whatever .* take nsgs"):
        codegen.build(robot, "prox_pv", contacts=[slippery])
    for second in ("hvp", "hessian", "tensor"):
        with pytest.raises(RobotError, match="nsgs has no second derivatives"):
            codegen.build(robot, "nsgs", contacts=[slippery], derivative=second)
    with pytest.raises(RobotError, match=r"nsgs has no second derivatives.*derivatives=1"):
        codegen.to_casadi(robot, "nsgs", contacts=[slippery])
    with pytest.raises(RobotError, match="friction needs the rows x,y,z of points"):
        robot.contact("FL_FOOT", 6, friction=0.7)
    for wrong in (-1.0, math.inf, "much", [0.7, 0.7]):
        with pytest.raises(RobotError, match="friction must be a number of at least zero"):
            robot.contact("FL_FOOT", 3, friction=wrong)  # type: ignore[arg-type]
