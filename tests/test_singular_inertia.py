"""Robots whose joint-space inertia matrix is singular wherever they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.api import task
from codegen.errors import UnsuitedError
from codegen.oracle.dynamics import crba

ARM = """<robot name="arm">
  <link name="socket">{}</link>
  <link name="upper">{solid}</link>
  <link name="lower">{solid}</link>
  <joint name="shoulder" type="revolute"><parent link="socket"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="elbow" type="revolute"><parent link="{}"/><child link="lower"/><origin xyz="0.3 0.1 0"/>
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""
SOLID = '<inertial><mass value="1"/><inertia ixx="1" iyy="2" izz="2" ixy="0" ixz="0" iyz="0"/></inertial>'
SOLVED = ("aba", "ltl", "minverse", "aba_derivatives", "rnea_derivatives_ltl", "step_rk4", "ltl_osim", "auto")


def arm(tmp_path: Path, socket: str = "", carrier: str = "upper") -> codegen.Robot:
    """One whose base has no inertia, unless a `socket` is given."""
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.format(socket, carrier, solid=SOLID), encoding="utf-8")
    return codegen.load(path, base="floating")


@pytest.mark.parametrize("algorithm", SOLVED)
def test_a_base_without_inertia_that_carries_one_link(tmp_path: Path, algorithm: str) -> None:
    """It turns one way as its hinge turns the other: what takes M's inverse says so, with the link and the mend."""
    robot = arm(tmp_path)
    assert np.linalg.matrix_rank(crba(task(robot, "crba").model, robot.random(0)[0])) == robot.nv - 1
    says = r"joints 'floating_base' and 'shoulder' can move without moving any; give link 'socket' mass"
    with pytest.raises(UnsuitedError, match=says):
        task(robot, algorithm, **({"contacts": ()} if algorithm == "auto" else {}))


HOLD = ("pv", "prox_pv", "prox_ltl", "prox_kkt", "aba_prox", "tree_kkt", "pv_derivatives", "prox_pv_step", "nsgs")


@pytest.mark.parametrize("algorithm", HOLD)
def test_contacts_do_not_help_what_divides_by_inertias_alone(tmp_path: Path, algorithm: str) -> None:
    with pytest.raises(UnsuitedError, match="can move without moving any"):
        task(arm(tmp_path), algorithm, contacts=["socket"])


@pytest.mark.parametrize("algorithm", ["pv_soft", "constrained_aba", "prox_ltls", "aba_prox_stiff"])
def test_contacts_help_what_adds_them_to_inertias(tmp_path: Path, algorithm: str) -> None:
    """With the base held, the arm accelerates as one that is bolted down, but for what soft contacts give way."""
    robot = arm(tmp_path)
    q, v, tau = robot.random(0)
    q[:7], v[:6], tau[:6] = (0, 0, 0, 0, 0, 0, 1), 0, 0
    held, bolted = codegen.build(robot, algorithm, contacts=["socket"]), codegen.load(tmp_path / "arm.urdf")
    expected = codegen.build(bolted, "aba")(q[7:], v[6:], tau[6:])
    np.testing.assert_allclose(held(q, v, tau).a[6:], expected, rtol=1e-3)


def test_what_takes_no_inverse_has_no_need_of_inertia(tmp_path: Path) -> None:
    for algorithm in ("rnea", "crba", "rnea_derivatives", "energy", "integrate"):
        assert task(arm(tmp_path), algorithm)


def test_other_robots_are_regular(tmp_path: Path) -> None:
    """With inertia, with two links that the base carries, held, or with masses as arguments."""
    for robot in (arm(tmp_path, SOLID), arm(tmp_path, carrier="socket"), codegen.load(tmp_path / "arm.urdf")):
        assert task(robot, "aba")
    assert task(arm(tmp_path), "aba", parameters=("payload:socket",))


def test_a_link_whose_joint_depends_on_the_one_that_moves(tmp_path: Path) -> None:
    """It turns back as far as its gear turns on, so that what it carries stands still."""
    path = tmp_path / "gear.urdf"
    hinge = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/><axis xyz="0 0 1"/>{3}</joint>'
    joints = hinge.format("back", "base", "wheel", '<mimic joint="on" multiplier="-1"/>') + hinge.format(
        "on", "wheel", "plate", ""
    )
    links = f'<link name="base"/><link name="wheel"/><link name="plate">{SOLID}</link>'
    path.write_text(f'<robot name="gear">{links}{joints}</robot>', encoding="utf-8")
    with pytest.raises(UnsuitedError, match="joint 'on' can move without moving any; give link 'wheel' mass"):
        task(codegen.load(path), "aba")


def test_bundled_robots_with_bodies_without_inertia() -> None:
    """Of those with loops, M is that of independent joints."""
    for name in ("planar_leg_linkage", "chain12_geared", "mini_cheetah"):
        assert task(codegen.load(name), "aba")
    with pytest.raises(UnsuitedError, match=r"joints 'floating_base', 'link_1_1' and 'link_2_1' can move without"):
        task(codegen.load("parallel_chain_explicit_d10_l8", base="floating"), "aba")
