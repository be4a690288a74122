"""What README.md says: its table of robots, and that its lines on robots with loops run as written."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.errors import RobotError
from codegen.oracle.loops import closed

TEXT = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
ON_LOOPS = TEXT.split("## Robots with loops")[1].split("\n## ")[0]
LOOPS = re.findall(r"```python\n(.*?)```", ON_LOOPS, re.DOTALL)
(URDF_PLUS,) = re.findall(r"```xml\n(.*?)```", ON_LOOPS, re.DOTALL)
LINK = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'


def test_the_table_of_robots_is_right() -> None:
    rows = [
        line.strip("| ").split(" | ")
        for line in TEXT.splitlines()
        if re.match(r"\| `\w+` \| (fixed|floating) \|", line)
    ]
    assert [row[0].strip("`") for row in rows] == list(codegen.bundled())
    for name, base, bodies, freedoms, loops in rows:
        robot = codegen.load(name.strip("`"))
        assert (base == "floating", int(bodies), int(freedoms)) == (robot.floating, len(robot.bodies), robot.nv)
        assert loops.split(":")[0] == (str(len(robot.loops)) if robot.loops else "-")


@pytest.mark.parametrize("n", range(len(LOOPS)))
def test_the_lines_on_loops_run(n: int) -> None:
    exec("import codegen\n" + LOOPS[n], {})


def test_a_geared_robot_takes_five_lines() -> None:
    assert len([line for line in LOOPS[0].splitlines() if line]) <= 5


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
