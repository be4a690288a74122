"""rigidc generate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compilers import COMPILERS, compiled, output

import codegen
from codegen.__main__ import main
from codegen.oracle import ORACLE

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Run


def test_generate_writes_a_folder_once_and_the_same_again_with_force(rigidc: Run, tmp_path: Path) -> None:
    out = tmp_path / "iiwa"
    argv = ["generate", "iiwa", "-a", "rnea", "-a", "crba", "-o", out]
    listed = rigidc(*argv).splitlines()
    first = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert sorted(listed) == sorted(map(str, first))
    assert {path.suffix for path in first} >= {".c", ".h", ".txt"}
    assert "--force" in rigidc(*argv, code=2)
    rigidc(*argv, "--force")
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == first


def test_every_algorithm_takes_the_parameters_that_it_knows(rigidc: Run, tmp_path: Path) -> None:
    asked = ("iiwa", "-a", "aba,constrained_aba,pv_soft", "--parameter", "k", "--parameter", "gravity")
    rigidc("generate", *asked, "--parameter", "mu", "-o", tmp_path)
    text = (tmp_path / "iiwa.h").read_text()
    heads = dict(re.findall(r"(iiwa_\w+)\((const IIWA_REAL[^;]*)\);", text))
    words = {name: re.findall(r"\b(k|mu|gravity)\b", head) for name, head in heads.items()}
    assert words == {
        "iiwa_aba": ["gravity"],
        "iiwa_constrained_aba": ["k", "mu", "gravity"],
        "iiwa_pv_soft": ["k", "gravity"],
    }
    assert len(rigidc("count", *asked).splitlines()) == 7
    assert "'R': aba has no such input" in rigidc("count", "iiwa", "-a", "aba,rnea", "--parameter", "R", code=2)


@pytest.mark.skipif(not COMPILERS, reason="no C compiler")
def test_the_example_calls_contacts_with_arguments_that_make_sense(rigidc: Run, tmp_path: Path) -> None:
    """Targets are rotations, mu and weights are above zero."""
    contact = ("--contact", "FL_FOOT:foot-0.2x0.1:in=world:kp=100:kd=20", "--contact", "HR_FOOT:3:kp=5")
    more = ("--parameter", "mu", "--parameter", "weight", "--parameter", "k")
    rigidc("generate", "solo12", "-a", "constrained_aba", *contact, *more, "-o", tmp_path)
    compiled(COMPILERS[0], tmp_path, "example.c", "solo12_constrained_aba.c", "-lm", "-o", "example")
    printed = [float(line.split("=")[1]) for line in output(tmp_path / "example").splitlines()]
    robot = codegen.load("solo12")
    q, still = robot.neutral(), np.zeros(robot.nv)
    held = tuple(codegen.model.contacts.contact_of(robot, text) for text in contact[1::2])
    targets = {"target_position": np.zeros((2, 3)), "target_rotation": np.stack([np.eye(3)] * 2)}
    wanted, _ = ORACLE["constrained_aba"](robot, q, still, still, contacts=held, parameters=targets)
    np.testing.assert_allclose(printed, wanted, atol=1e-5 * np.abs(wanted).max())


def test_iterations_left_to_the_caller(rigidc: Run, tmp_path: Path) -> None:
    """Algorithms that iterate get the arguments tol and max_iter; those that do not stay as they are."""
    argv = ("generate", "iiwa", "--iterations", "none", "-o", tmp_path, "-a")
    rigidc(*argv, "aba,constrained_aba")
    heads = dict(re.findall(r"(iiwa_\w+)\((const IIWA_REAL[^;]*)\);", (tmp_path / "iiwa.h").read_text()))
    ending = {name: bool(re.search(r"\btol\b.*\bmax_iter\b", head, re.DOTALL)) for name, head in heads.items()}
    assert ending == {"iiwa_aba": False, "iiwa_constrained_aba": True}
    assert "aba does not iterate; leave out the number of iterations" in rigidc(*argv, "aba", "--force", code=2)
    assert "'some' is not a whole number of at least 1, nor none" in rigidc(
        "generate", "iiwa", "-a", "prox_pv", "--iterations", "some", "-o", tmp_path, code=2
    )


def test_force_removes_sources_of_an_earlier_generation_and_nothing_else(rigidc: Run, tmp_path: Path) -> None:
    out = tmp_path / "iiwa"
    rigidc("generate", "iiwa", "-a", "rnea", "-a", "aba", "--lanes", "4", "-o", out)
    # a changed copy, another robot's function, a file that only looks like one, and one that is no file
    (out / "iiwa_aba_tuned.c").write_text((out / "iiwa_aba.c").read_text() + "/* faster */\n")
    (out / "iiwa_left_aba.c").write_text((out / "iiwa_aba.c").read_text())
    (out / "iiwa_crba.c").write_text("/* by hand: crba, the way I like it */\n")
    (out / "iiwa_fk.c").mkdir()
    before = {path.name for path in out.iterdir()}
    listed = rigidc("generate", "iiwa", "-a", "rnea", "-o", out, "--force").splitlines()
    removed = {"iiwa_aba.c", "iiwa_aba_lanes.c", "iiwa_rnea_lanes.c"}
    assert removed <= before
    assert {path.name for path in out.iterdir()} == before - removed
    assert str(out / "iiwa_rnea.c") in listed


def test_a_backend_is_chosen_by_its_name(rigidc: Run, tmp_path: Path) -> None:
    argv = ("generate", "iiwa", "-a", "rnea,crba", "-o", tmp_path / "iiwa", "--backend")
    rigidc(*argv, "c_portable")
    assert {path.name for path in (tmp_path / "iiwa").iterdir()} == {"CMakeLists.txt", "example.c", "iiwa.c", "iiwa.h"}
    assert "'cobol': choose one of c, c_portable" in rigidc(*argv, "cobol", "--force", code=2)
    assert "leave lanes out" in rigidc(*argv, "c_portable", "--lanes", "4", "--force", code=2)


def test_generate_of_a_group_of_which_nothing_suits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    light = tmp_path / "light.urdf"
    links = '<link name="a"/><link name="b"/>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    light.write_text(f'<robot name="light">{links}{joint}</robot>')
    assert main(["generate", str(light), "--group", "delassus", "-o", str(tmp_path / "out")]) == 2
    assert "no algorithm was asked for; name at least one" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_generate_refuses_before_it_writes(rigidc: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "no_frame" in rigidc("generate", "iiwa", "-a", "fk", "--frame", "no_frame", "-o", out, code=2)
    assert not out.exists()
    (tmp_path / "file").write_text("kept")
    rigidc("generate", "iiwa", "-a", "rnea", "-o", tmp_path / "file", code=2)
    assert (tmp_path / "file").read_text() == "kept"
