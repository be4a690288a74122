"""What the guide says of robots: its table of them, and that its lines on loops do what they say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from guide_pages import PAGES, blocks

import codegen
from codegen.errors import RobotError
from codegen.oracle.loops import closed

if TYPE_CHECKING:
    from pathlib import Path

(URDF_PLUS,) = (block.code for block in blocks("loops", "xml"))
LINK = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'


def test_the_table_of_robots_is_right() -> None:
    rows = [
        line.strip("| ").split(" | ")
        for line in PAGES["robots"].splitlines()
        if re.match(r"\| `\w+` \| (fixed|floating) \|", line)
    ]
    assert [row[0].strip("`") for row in rows] == list(codegen.bundled())
    for name, base, bodies, freedoms, loops in rows:
        robot = codegen.load(name.strip("`"))
        assert (base == "floating", int(bodies), int(freedoms)) == (robot.floating, len(robot.bodies), robot.nv)
        assert loops.split(":")[0] == (str(len(robot.loops)) if robot.loops else "-")


def test_a_geared_robot_takes_five_lines() -> None:
    assert len([line for line in blocks("loops", "python")[0].code.splitlines() if line]) <= 5


def stated(folder: Path, elements: str) -> codegen.Model:
    """The robot of these elements of URDF+, and its links."""
    names = ("base", "crank", "coupler", "rocker", "rotor")
    path = folder / "four_bar.urdf"
    path.write_text(f'<robot name="r">{"".join(map(LINK.format, names))}{elements}</robot>', encoding="utf-8")
    return codegen.load(path, base="fixed")


def test_the_urdf_plus_loads_and_moves_as_it_says(tmp_path: Path) -> None:
    robot = stated(tmp_path, URDF_PLUS)
    assert (robot.nv, [loop.name for loop in robot.loops]) == (1, ["four_bar", "gear"])
    found = closed(robot, robot.random(0)[0]).at
    at = {body.joint.name: float(found[b][0]) for b, body in enumerate(robot.bodies)}
    assert at["rotor_joint"] == pytest.approx(6 * at["crank_joint"])
    crank, coupler = at["crank_joint"], at["crank_joint"] + at["coupler_joint"]
    rocker = at["rocker_joint"]
    end = 0.2 * np.array([np.cos(crank), np.sin(crank)]) + 0.5 * np.array([np.cos(coupler), np.sin(coupler)])
    np.testing.assert_allclose(end, [0.5 + 0.4 * np.cos(rocker), 0.4 * np.sin(rocker)], atol=1e-10)


@pytest.mark.parametrize("elements", ["loop", "coupling"])
@pytest.mark.parametrize("independent", ["true", None])
def test_joints_that_do_not_say_that_they_follow_are_told_how(
    tmp_path: Path, elements: str, independent: str | None
) -> None:
    """Whether they say the contrary or nothing at all."""
    attribute = f' independent="{independent}"' if independent else ""
    other = {"loop": "coupling", "coupling": "loop"}[elements]
    text = re.sub(f"<{other} .*?</{other}>", "", URDF_PLUS, flags=re.DOTALL)
    says = r"""<joint name='crank_joint' independent="true">, and independent="false" on all that follow"""
    with pytest.raises(RobotError, match=says):
        stated(tmp_path, re.sub(' independent="false"', attribute, text))
