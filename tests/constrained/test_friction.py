"""Contacts that break, stick and slip: Coulomb's law by itself, against the oracle, on a slope, and what is refused."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from casadi import SX, Function
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


@pytest.mark.parametrize("name", besides(["solo12", "iiwa"], CASES))
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
        assert fd(q, v, tau, 1e-6, 1000).residual <= 1e-6  # beside accelerations of 1e5
        v = np.zeros(robot.nv)  # at rest classical accelerations are spatial ones
        a, lam, _, residual = fd(q, v, tau, 1e-6, 1000)
        assert residual <= 1e-6
        at = constrained.equations(robot, q, v, contacts=soles)
        np.testing.assert_allclose(at.M @ a + at.bias, tau + at.J.T @ lam, rtol=0, atol=1e-9 * np.abs(at.M @ a).max())
        free = at.J @ np.linalg.solve(at.M, tau - at.bias) + at.drift
        assert coulomb.lack(constrained.delassus(at), free, lam, soles) < 1e-5


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
    with pytest.raises(RobotError, match="nsgs has no derivatives"):
        codegen.build(robot, "nsgs", contacts=[slippery], derivative="vjp")
    with pytest.raises(RobotError, match="friction needs the rows x,y,z of points"):
        robot.contact("FL_FOOT", 6, friction=0.7)
    for wrong in (-1.0, math.inf, "much", [0.7, 0.7]):
        with pytest.raises(RobotError, match="friction must be a number of at least zero"):
            robot.contact("FL_FOOT", 3, friction=wrong)  # type: ignore[arg-type]
