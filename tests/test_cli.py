"""The command line: every command in-process, exit codes, one-sentence errors, machine-readable output."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import codegen
from codegen import pipeline
from codegen.__main__ import main
from codegen.cli import COMMANDS
from codegen.cli import check as check_command
from codegen.cli.bench import spread
from codegen.cli.check import relative_error
from codegen.cli.info import tree
from codegen.cli.progress import progress
from codegen.cli.samples import samples
from codegen.cli.table import Table, plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., str]

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
    <inertia ixx="0.03" iyy="0.04" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="3"/></joint>
</robot>
"""


@pytest.fixture
def rigidc(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs one command line, asserts its exit code, returns what it printed (its sentence if it refused)."""

    def run(*argv: object, code: int = 0) -> str:
        capsys.readouterr()
        try:
            found = main([str(arg) for arg in argv])
        except SystemExit as leaving:
            found = int(leaving.code or 0)
        out, err = capsys.readouterr()
        assert found == code, out + err
        if code == 2:
            assert out == ""
            assert err.startswith("rigidc: ")
            assert err.count("\n") == 1, err
            assert err.endswith("\n")
            return err
        assert err == ""
        return out

    return run


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    """A URDF file with one joint."""
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


# help and usage


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_examples(rigidc: Run, command: str) -> None:
    text = rigidc(command, "--help")
    examples = text.partition("examples:\n")[2].strip().splitlines()
    assert 2 <= len(examples) <= 3
    assert all("rigidc " + command in line for line in examples)
    assert max(map(len, text.splitlines())) <= 100


def test_the_overview_names_every_command(rigidc: Run) -> None:
    text = rigidc("--help")
    assert all(f"\n    {command} " in text for command in COMMANDS)


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["fly"],
        ["check"],
        ["check", "iiwa", "-n", "0"],
        ["check", "iiwa", "-n", "many"],
        ["check", "iiwa", "--seed", "-1"],
        ["bench", "iiwa", "--seconds", "nan"],
        ["info", "iiwa", "--fixed", "--floating"],
        ["info", "iiwa", "--convention", "drake"],
        ["generate", "iiwa", "-o", "somewhere"],
        ["count", "iiwa", "--json", "--csv"],
        ["robots", "--unknown"],
    ],
)
def test_bad_usage_is_one_sentence_and_two(rigidc: Run, argv: list[str]) -> None:
    assert "--help" in rigidc(*argv, code=2)


# robots, info


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


def test_what_does_not_suit_a_robot_is_left_out_unless_it_is_named(
    rigidc: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    common = {name for name, entry in codegen.ALGORITHMS.items() if entry.group == "common"}
    assert main(["count", "four_bar", "--json"]) == 0
    out, err = capsys.readouterr()
    assert {row["algorithm"] for row in json.loads(out)} == common - {"integrate", "difference"}
    assert [line.split(" is left out: ")[0] for line in err.splitlines()] == ["rigidc: integrate", "rigidc: difference"]
    assert main(["generate", "four_bar", "--group", "common", "-o", str(tmp_path / "out")]) == 0
    assert "four_bar_difference.c" not in capsys.readouterr().out
    assert "close it with project" in rigidc("count", "four_bar", "-a", "integrate", code=2)


def test_check_of_a_robot_with_loops_takes_what_is_for_loops_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "four_bar", "-n", "3", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    checked = {row["algorithm"] for row in rows}
    assert {"aba", "project", "projected_rnea", "projection_fd", "lagrange_fd", "projected_osim", "efpa"} <= checked
    assert not {"integrate", "approximate_aba", "pv"} & checked
    assert all(row["passed"] for row in rows)


def test_the_drawing_branches_only_where_the_tree_does() -> None:
    #     0 - 1 - 2      with 3 a second child of 0, 4 below 3, and 5 a sibling of 4
    drawn = tree([-1, 0, 1, 0, 3, 3])
    assert drawn == ["", "├─ ", "│  ", "└─ ", "   ├─ ", "   └─ "]


# convert


def test_convert_writes_a_file_that_reads_back_as_the_same_robot(rigidc: Run, arm: Path) -> None:
    out = arm.with_name("arm.json")
    assert rigidc("convert", arm, "-o", out) == ""
    before, after = codegen.load(str(arm)), codegen.load(str(out))
    assert (after.name, after.bodies, after.frames) == (before.name, before.bodies, before.frames)
    assert rigidc("convert", arm) == out.read_text()
    assert rigidc("convert", "iiwa").startswith("{")


def test_convert_can_free_the_base(rigidc: Run, arm: Path) -> None:
    out = arm.with_name("free.json")
    rigidc("convert", arm, "--floating", "-o", out)
    assert codegen.load(str(out)).floating
    assert not codegen.load(str(arm)).floating


def test_a_failed_conversion_leaves_nothing_behind(rigidc: Run, arm: Path) -> None:
    arm.write_text(ARM.replace('value="2"', 'value="-2"'))
    out = arm.with_name("arm.json")
    assert "upper" in rigidc("convert", arm, "-o", out, code=2)
    assert [path.name for path in arm.parent.iterdir()] == ["arm.urdf"]
    arm.write_text(ARM)
    assert "no such folder" in rigidc("convert", arm, "-o", arm.parent / "missing" / "arm.json", code=2)
    rigidc("convert", arm, "-o", arm.parent, code=2)
    assert [path.name for path in arm.parent.iterdir()] == ["arm.urdf"]


# generate, count


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


def test_generate_refuses_before_it_writes(rigidc: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "no_frame" in rigidc("generate", "iiwa", "-a", "fk", "--frame", "no_frame", "-o", out, code=2)
    assert not out.exists()
    (tmp_path / "file").write_text("kept")
    rigidc("generate", "iiwa", "-a", "rnea", "-o", tmp_path / "file", code=2)
    assert (tmp_path / "file").read_text() == "kept"


def test_count_agrees_with_itself_in_every_form(rigidc: Run) -> None:
    argv = ["count", "iiwa", "chain:3", "-a", "rnea,aba", "-a", "rnea"]
    rows = json.loads(rigidc(*argv, "--json"))
    assert [(row["robot"], row["algorithm"]) for row in rows[::2]] == [
        (codegen.load(robot).name, name) for robot in ("iiwa", "chain:3") for name in ("rnea", "aba")
    ]
    assert {row["stage"] for row in rows} == {"written", "emitted"}
    kinds = ("add", "mul", "div", "sqrt", "sin", "cos", "other")
    assert all(row["total"] == sum(row[kind] for kind in kinds) > 0 for row in rows)
    # gravity does not see a turn about the vertical first axis, and the last link is symmetric about its own; the
    # other five joints need sine and cosine
    assert {(row["sin"], row["cos"]) for row in rows if row["robot"] == "iiwa"} == {(5, 5)}
    rnea = [row for row in rows if row["algorithm"] == "rnea"]
    assert all(emitted["total"] <= written["total"] for written, emitted in zip(rnea[::2], rnea[1::2], strict=True))
    as_csv = list(csv.DictReader(io.StringIO(rigidc(*argv, "--csv"))))
    assert [{key: str(value) for key, value in row.items()} for row in rows] == as_csv
    text = rigidc(*argv)
    assert all(f"{row['total']:,}" in text for row in rows)


def test_a_group_is_all_algorithms_of_a_kind(rigidc: Run) -> None:
    contact = ("--contact", "lbr_iiwa_link_7:3")
    rows = json.loads(rigidc("count", "iiwa", *contact, "--group", "delassus", "-a", "crba", "--json"))
    delassus = [name for name, entry in codegen.ALGORITHMS.items() if entry.group == "delassus"]
    assert [row["algorithm"] for row in rows[::2]] == ["crba", *delassus]
    one, five = (
        json.loads(rigidc("count", "iiwa", *contact, "-a", "constrained_aba", "--iterations", n, "--json"))[1]["total"]
        for n in ("1", "5")
    )
    assert one < five


def test_build_options_reach_the_generator(rigidc: Run) -> None:
    def total(*extra: str) -> int:
        rows: list[dict[str, Any]] = json.loads(rigidc("count", "iiwa", "-a", "rnea", "--json", *extra))
        return int(rows[1]["total"])

    tip = codegen.load("iiwa").tips[0]
    assert total("--external", tip) > total()
    assert total("--parameter", f"payload:{tip}") > total()
    assert total("--floating") > total()


# check, bench, cache


def test_check_passes_on_compiled_code(rigidc: Run) -> None:
    tip = codegen.load("iiwa").tips[0]
    argv = ["check", "iiwa", "-a", "fk,aba", "-n", "5", "--external", tip, "--parameter", "gravity"]
    rows = json.loads(rigidc(*argv, "--json"))
    assert [row["algorithm"] for row in rows] == ["fk", "aba"]
    assert all(row["passed"] and 0 < row["worst error"] <= 1e-10 for row in rows)
    assert "yes" in rigidc(*argv)


def test_check_of_algorithms_with_contacts(rigidc: Run) -> None:
    argv = ["check", "iiwa", "--contact", "lbr_iiwa_link_7:3", "-n", "5", "--json"]
    for extra in (["-a", "pv,constrained_aba", "--parameter", "k"], ["-a", "pv_soft", "--parameter", "R"]):
        assert all(row["passed"] for row in json.loads(rigidc(*argv, *extra)))
    rows = json.loads(rigidc(*argv, "--group", "damped", "--group", "delassus", "--external", "lbr_iiwa_link_3"))
    assert all(0 < row["worst error"] <= row["tolerance"] <= 1e-7 for row in rows)


def test_check_of_contacts_that_repeat_each_other_leaves_out_their_multipliers(rigidc: Run) -> None:
    argv = ["check", "iiwa", *(f"--contact=lbr_iiwa_link_7:{rows}" for rows in (6, 3)), "-n", "3", "--json"]
    (row,) = json.loads(rigidc(*argv, "-a", "constrained_aba"))
    assert row["passed"]


@pytest.mark.parametrize("distortion", [1 + 1e-9, np.nan])
def test_check_fails_on_a_wrong_answer(rigidc: Run, monkeypatch: pytest.MonkeyPatch, distortion: float) -> None:
    build = pipeline.build

    def wrong(*args: Any, **options: Any) -> Any:
        function = build(*args, **options)

        class Wrong:
            inputs = function.inputs

            def __call__(self, *values: Any) -> Any:
                found = function(*values).copy()
                found[-1, 0] *= distortion
                return found

        return Wrong()

    monkeypatch.setattr(pipeline, "build", wrong)
    rows = json.loads(rigidc("check", "iiwa", "-a", "crba", "-n", "3", "--json", code=1))
    assert rows[0]["passed"] is False
    assert "no" in rigidc("check", "iiwa", "-a", "crba", "-n", "3", code=1).splitlines()[1].split()


def test_check_in_single_precision_says_so(rigidc: Run) -> None:
    (row,) = json.loads(rigidc("check", "iiwa", "-a", "rnea", "-n", "5", "--dtype", "float32", "--json"))
    assert 1e-9 < row["worst error"] <= row["tolerance"]
    assert row["tolerance"] == 1e-3


def test_the_error_of_check_is_relative_to_the_largest_entry() -> None:
    assert relative_error(np.array([100.0, 1.5]), np.array([100.0, 1.0])) == pytest.approx(0.005)
    assert relative_error(np.array([1e-3]), np.zeros(1)) == pytest.approx(1e-3)
    assert relative_error(np.array([np.nan]), np.zeros(1)) == np.inf
    assert relative_error(np.zeros(2), np.zeros(3)) == np.inf
    assert relative_error(np.zeros((0, 3)), np.zeros((0, 3))) == 0.0


def test_samples_are_valid_and_repeatable() -> None:
    robot = codegen.load("solo12", base="floating")
    specs = ("gravity", f"payload:{robot.tips[0]}")
    first = samples(robot, ("q", "v", "f_ext"), 2, specs, 4, 1)
    assert [value.shape for value in first] == [(4, robot.nq), (4, robot.nv), (4, 2, 6), (4, 3), (4, 10)]
    assert all(map(np.array_equal, first, samples(robot, ("q", "v", "f_ext"), 2, specs, 4, 1)))
    np.testing.assert_allclose(np.linalg.norm(first[0][:, 3:7], axis=1), 1)
    for mass, *_, xx, yy, zz, xy, xz, yz in first[4]:
        principal = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        assert mass > 0
        assert principal[0] > 0
        assert principal[2] <= principal[0] + principal[1] + 1e-12


def test_bench_reports_ordered_positive_times(rigidc: Run) -> None:
    argv = ["bench", "iiwa", "-a", "rnea", "-n", "16", "--seconds", "0.01"]
    (row,) = json.loads(rigidc(*argv, "--json"))
    for what in ("kernel", "call"):
        assert 0 < row[f"{what} ns p10"] <= row[f"{what} ns median"] <= row[f"{what} ns p90"]
    assert row["kernel ns median"] < row["call ns median"]
    assert "batch of 16" in rigidc(*argv)


def test_a_spread_counts_every_part() -> None:
    slept = spread(lambda: __import__("time").sleep(0.002), 4, 0.01)
    assert 5e5 <= slept.p10 <= slept.median <= slept.p90


def test_cache_lists_and_clears(rigidc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIGIDC_CACHE", str(tmp_path))
    assert rigidc("cache").startswith(str(tmp_path))
    codegen.build(codegen.load("chain:2"), "crba")
    assert ": 1 build," in rigidc("cache").splitlines()[0]
    assert rigidc("cache", "--clear").startswith("removed 1 build")
    assert ": 0 builds," in rigidc("cache")


@pytest.mark.parametrize("compiler", ["no-such-compiler", '"unclosed', "false"])
def test_a_compiler_that_does_not_work_is_named(
    rigidc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str
) -> None:
    monkeypatch.setenv("RIGIDC_CACHE", str(tmp_path))
    monkeypatch.setenv("RIGIDC_CC", compiler)
    assert compiler in rigidc("check", "chain:2", "-a", "crba", code=2)
    assert rigidc("cache").startswith(f"{tmp_path}: 0 builds")


# bad input


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (["info", "iwa"], "iiwa"),
        (["info", "no/such/file.urdf"], "no/such/file.urdf"),
        (["info", "/dev/null"], "/dev/null"),
        (["info", "chain:-3"], "chain"),
        (["count", "iiwa", "-a", "abba"], "abba"),
        (["count", "iiwa", "-a", ""], "rnea"),
        (["count", "iiwa", "-a", "fk", "--frame", "nose"], "nose"),
        (["count", "iiwa", "-a", "aba", "--external", "nose"], "nose"),
        (["count", "iiwa", "-a", "aba", "--parameter", "luck"], "luck"),
        (["count", "iiwa", "-a", "aba", "--parameter", "offset:nose"], "nose"),
    ],
)
def test_what_does_not_exist_is_named_in_one_sentence(rigidc: Run, argv: list[str], named: str) -> None:
    assert named in rigidc(*argv, code=2)


BROKEN = {
    "empty": "",
    "truncated": ARM[: len(ARM) // 2],
    "entity bomb": '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + ARM.replace("arm", "&b;", 1),
    "external entity": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + ARM.replace("arm", "&x;", 1),
    "not a robot": "<html><body/></html>",
    "no links": '<robot name="r"/>',
    "nan": ARM.replace('value="2"', 'value="nan"'),
    "words": ARM.replace('xyz="0 1 0"', 'xyz="up and away"'),
    "zero axis": ARM.replace('xyz="0 1 0"', 'xyz="0 0 0"'),
    "orphan": ARM.replace('<parent link="base"/>', '<parent link="ghost"/>'),
    "self-parent": ARM.replace('<parent link="base"/>', '<parent link="upper"/>'),
    "duplicate": ARM.replace("</robot>", '<link name="upper"/></robot>'),
    "unknown joint": ARM.replace('type="revolute"', 'type="helical"'),
    "escape in a name": ARM.replace('link="base"', 'link="&#10;ghost&#133;"'),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_is_one_sentence_that_names_it(rigidc: Run, arm: Path, what: str) -> None:
    arm.write_text(BROKEN[what])
    sentence = rigidc("info", arm, code=2)
    assert "arm.urdf" in sentence
    assert "root:" not in sentence
    assert sentence.strip().isprintable()


def test_a_binary_file_and_a_folder_are_refused(rigidc: Run, tmp_path: Path) -> None:
    path = tmp_path / "noise.urdf"
    path.write_bytes(bytes(range(256)) * 8)
    assert "noise.urdf" in rigidc("info", path, code=2)
    path.unlink()
    path.mkdir()
    assert "noise.urdf" in rigidc("info", path, code=2)


def test_hostile_names_stay_text(rigidc: Run, arm: Path) -> None:
    name = "a*/ &quot;;\\ %s {0} {{x}} é☃"
    arm.write_text(ARM.replace('name="shoulder"', f'name="{name}"'), encoding="utf-8")
    assert 'a*/ ";\\ %s {0} {{x}} é☃' in rigidc("info", arm)
    assert json.loads(rigidc("info", arm, "--json"))["bodies"][0]["joint"] == 'a*/ ";\\ %s {0} {{x}} é☃'
    rigidc("generate", arm, "-a", "rnea", "-o", arm.parent / "out")
    assert all('*/ "' not in path.read_text() for path in (arm.parent / "out").iterdir())


@pytest.mark.parametrize("character", ["&#10;", "&#x85;", "&#x202e;"])
def test_names_cannot_drive_the_terminal(rigidc: Run, arm: Path, character: str) -> None:
    arm.write_text(ARM.replace('name="shoulder"', f'name="a{character}b"'))
    sentence = rigidc("info", arm, code=2)
    assert "arm.urdf" in sentence
    assert sentence[:-1].isprintable()


# the process


def test_an_interrupt_is_quiet(rigidc: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(check_command, "worst_error", interrupted)
    assert rigidc("check", "iiwa", "-a", "rnea", code=130) == ""


def run_process(*argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "codegen", *argv],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=120,
    )


def test_the_module_runs_as_a_program() -> None:
    done = run_process("count", "iiwa", "-a", "crba", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)[0]["robot"] == "iiwa"
    refused = run_process("info", "nobody")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("rigidc: ")
    assert "Traceback" not in refused.stderr


def test_a_terminal_without_unicode_is_enough() -> None:
    done = run_process("info", "solo12", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_leaves_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "codegen", "robots"],
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
            timeout=120,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_progress_shows_only_to_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen, pipe = Screen(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    assert list(progress([1, 2, 3], str)) == [1, 2, 3]
    assert "2/3" in screen.getvalue()
    assert screen.getvalue().endswith("\r\x1b[K")
    monkeypatch.setattr(sys, "stderr", pipe)
    assert list(progress([1, 2, 3], str)) == [1, 2, 3]
    assert pipe.getvalue() == ""


# tables


def test_tables_in_every_form() -> None:
    table = Table(("name", "n"), (("a|b", 1), ("c\n\x1b[31m", 12345)))
    assert table.text() == "name              n\na|b               1\nc\\n\\x1b[31m  12,345\n"
    assert table.markdown().splitlines()[1:3] == ["| ----------- | -----: |", "| a\\|b        |      1 |"]
    assert table.csv() == 'name,n\na|b,1\n"c\n\x1b[31m",12345\n'
    assert json.loads(table.json()) == [{"name": "a|b", "n": 1}, {"name": "c\n\x1b[31m", "n": 12345}]
    assert Table(("a", "b"), ()).text() == "a  b\n"
    assert json.loads(Table(("x",), ((float("inf"),),)).json()) == [{"x": None}]
    assert plain("é\t☃\u202e") == "é\\t☃\\u202e"
