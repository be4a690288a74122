"""rigidc robots and rigidc info."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import codegen
from codegen.cli.info import tree

if TYPE_CHECKING:
    from command_line import Run


def test_robots_lists_what_load_knows(rigidc: Run) -> None:
    listed = json.loads(rigidc("robots", "--json"))
    assert [row["name"] for row in listed] == list(codegen.description.bundled())
    for row in listed:
        if row["name"] in ("iiwa", "solo12", "four_bar"):
            robot = codegen.load(row["name"])
            assert (row["nv"], row["bodies"], row["loops"]) == (robot.nv, len(robot.bodies), len(robot.loops))
    assert all(row["licence"] and row["source"] for row in listed)
    text = rigidc("robots").splitlines()
    assert text[0].split()[:3] == ["name", "base", "bodies"]
    assert len(text) == len(listed) + 1


def test_info_shows_tree_coordinates_and_frames(rigidc: Run) -> None:
    robot = codegen.load("solo12", base="floating")
    text = rigidc("info", "solo12", "--floating", "--frames")
    assert "floating base" in text
    assert "0..6" in text
    assert all(name in text for name in (*robot.joint_names, *(frame.name for frame in robot.frames)))
    assert text.count("├─") == 3
    assert text.count("└─") == 1


def test_info_as_json_is_the_model(rigidc: Run) -> None:
    robot = codegen.load("panda", base="floating", convention="mujoco")
    facts = json.loads(rigidc("info", "panda", "--floating", "--convention", "mujoco", "--json"))
    assert (facts["nq"], facts["nv"], facts["convention"]) == (robot.nq, robot.nv, "mujoco")
    assert facts["digest"] == robot.digest
    assert [body["joint"] for body in facts["bodies"]] == list(robot.joint_names)
    assert [body["q"] for body in facts["bodies"]] == [[s.start, s.stop] for s in robot.q_slices]
    assert facts["bodies"][0]["parent"] == "world"


def test_frames_may_be_added(rigidc: Run) -> None:
    turned = ("--with-frame", "tool=lbr_iiwa_link_7:0,-.1,2e-1:0.5,0,-1", "--with-frame", "tip=tool:0,0,1")
    robot = codegen.load("iiwa").with_frame("tool", "lbr_iiwa_link_7", (0.0, -0.1, 0.2), (0.5, 0.0, -1.0))
    facts = json.loads(rigidc("info", "iiwa", *turned, "--json"))
    assert facts["digest"] == robot.with_frame("tip", "tool", (0.0, 0.0, 1.0)).digest


def test_info_of_a_robot_with_loops(rigidc: Run) -> None:
    lines = rigidc("info", "chain12_belt").splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("body"))
    # drawn depth first: the second link of a belt pair under the first, and the next pair under it
    assert [line.split()[:3] for line in lines[start + 1 : start + 5]] == [
        ["├─", "link-A-0", "1"],
        ["│", "link-B-0", "1"],
        ["│", "├─", "link-A-1"],
        ["│", "│", "link-B-1"],
    ]
    loops = next(n for n, line in enumerate(lines) if line.startswith("cluster  loop"))
    assert lines[loops + 2].split() == [
        "2",
        "cluster-1",
        "linear",
        "link-A-1,",
        "link-B-1,",
        "rotor-A-1,",
        "rotor-B-1",
        "link-A-1,",
        "link-B-1",
    ]
    facts = json.loads(rigidc("info", "chain12_belt", "--json"))
    assert [len(cluster["bodies"]) for cluster in facts["clusters"]] == [4] * 6
    assert facts["clusters"][0]["independent"] == ["link-A-0", "link-B-0"]
    rotors = [body["v"] for body in facts["bodies"] if "rotor" in body["name"]]
    assert all(start == stop for start, stop in rotors)


def test_the_drawing_branches_only_where_the_tree_does() -> None:
    #     0 - 1 - 2      with 3 a second child of 0, 4 below 3, and 5 a sibling of 4
    drawn = tree([-1, 0, 1, 0, 3, 3])
    assert drawn == ["", "├─ ", "│  ", "└─ ", "   ├─ ", "   └─ "]
