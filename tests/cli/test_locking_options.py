"""--lock, --lock-all-but and --subtree, of any command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import codegen

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Run


def test_info_shows_what_is_left(rigidc: Run) -> None:
    options = ("--lock", "gripper_left_joint=0.2", "--lock", "gripper_right_joint")
    text = rigidc("info", "talos", *options)
    assert "43 bodies, nq 49, nv 48" in text
    assert "note: Locked joints: 'gripper_left_joint' at 0.2; 'gripper_right_joint' at 0." in text
    assert "nv 2," in rigidc("info", "iiwa", "--lock-all-but", ",".join(codegen.load("iiwa").joint_names[2:4]))
    assert "nv 14," in rigidc("info", "talos", "--subtree", "arm_left_1_joint")
    assert "floating base, 31 bodies" in rigidc("info", "talos", "--subtree", "torso_2_link", "--floating")
    both = ("--subtree", "torso_2_link", "--lock", "head_1_joint=0.1", "--lock-all-but", "head_2_joint")
    assert "1 bodies, nq 1, nv 1" in rigidc("info", "talos", *both)
    floating = ("--lock", "floating_base=1,2,3,0,0,0,1")
    assert "fixed base" in rigidc("info", "solo12", *floating)


def test_convert_writes_what_is_left(rigidc: Run, tmp_path: Path) -> None:
    out, names = tmp_path / "left.json", [n for n in codegen.load("talos").joint_names if n.startswith("gripper")]
    options = [word for name in names for word in ("--lock", f"{name}=0.1")]
    rigidc("convert", "talos", *options, "-o", out)
    left = codegen.load("talos").lock(dict.fromkeys(names, 0.1))
    again = codegen.load(out)
    assert (again.bodies, again.nodes, again.notes, again.nv) == (left.bodies, left.nodes, left.notes, 36)
    assert set(again.frames) == set(left.frames)
    joint = codegen.load("planar_leg_linkage").joint_names[0]
    rigidc("convert", "planar_leg_linkage", "--lock", joint, "-o", out)
    loop = json.loads(out.read_text())["loops"][0]
    assert loop["kind"] == "closure"
    assert loop["independent"] == list(codegen.load("planar_leg_linkage").lock([joint]).loops[0].independent)


def test_generate_count_and_contacts_take_them(rigidc: Run, tmp_path: Path) -> None:
    options = ("--lock", "link3_joint=0.4")
    rigidc("generate", "chain:4,alternate", "-a", "pv", "--contact", "tip:3", *options, "-o", tmp_path / "c")
    header = (tmp_path / "c" / "chain_4_alternate.h").read_text()
    assert "'link3_joint' at 0.4" in header
    assert "rnea" in rigidc("count", "chain:4", *options, "-a", "rnea")


def test_what_is_misspelled_gets_one_sentence(rigidc: Run) -> None:
    for words, says in (
        (("--lock", "link1_joint=much"), "write NAME, NAME=NUMBER or NAME=NUMBER,NUMBER"),
        (("--lock", "link1_joint=1,2"), "takes 1 number, not 2"),
        (("--lock", "link1_joint=nan"), "not finite"),
        (("--lock", "link9_joint"), "there is no moving joint 'link9_joint'; did you mean"),
        (("--lock", "link1_joint", "--lock", "link1_joint=1"), "given twice"),
        (("--lock-all-but", "link1_joint,x"), "there is no moving joint 'x'"),
        (("--subtree", "nothing"), "there is no frame or joint 'nothing'"),
    ):
        assert says in rigidc("info", "chain:3", *words, code=2)
