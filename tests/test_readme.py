"""What README.md says: its table of robots, and that its lines on robots with loops run as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import codegen

TEXT = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
LOOPS = re.findall(r"```python\n(.*?)```", TEXT.split("## Robots with loops")[1].split("\n## ")[0], re.DOTALL)


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
