"""rigidc check, its errors and its random states."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import codegen
from codegen import api
from codegen.__main__ import main
from codegen.cli.answers import _answers
from codegen.cli.check import relative_error
from codegen.cli.samples import samples
from codegen.oracle import ORACLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import Run

COMPILED = api.build
SHORT = "chain:5,alternate"


@pytest.fixture(autouse=True)
def checked(request: pytest.FixtureRequest, build: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is checked is interpreted, too: what the command says does not depend on how it is computed."""
    monkeypatch.setattr(api, "build", build)


def test_check_of_a_robot_with_loops_takes_what_is_for_loops_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "four_bar", "-n", "3", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    checked = {row["algorithm"] for row in rows}
    assert {"aba", "integrate", "project", "projected_rnea", "projection_fd", "lagrange_fd", "efpa"} <= checked
    assert not {"approximate_aba", "pv"} & checked
    assert all(row["passed"] for row in rows)


def test_check_passes_on_compiled_code(rigidc: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "build", COMPILED)
    tip = codegen.load(SHORT).tips[0]
    argv = ["check", SHORT, "-a", "fk,aba", "-n", "5", "--external", tip, "--parameter", "gravity"]
    rows = json.loads(rigidc(*argv, "--json"))
    assert [row["algorithm"] for row in rows] == ["fk", "aba"]
    assert all(row["passed"] and 0 < row["worst error"] <= 1e-10 for row in rows)
    assert "yes" in rigidc(*argv)


def test_check_of_algorithms_with_contacts(rigidc: Run) -> None:
    argv = ["check", SHORT, "--contact", "link4:3", "-n", "5", "--json"]
    for extra in (["-a", "pv,constrained_aba", "--parameter", "k"], ["-a", "pv_soft", "--parameter", "R"]):
        assert all(row["passed"] for row in json.loads(rigidc(*argv, *extra)))
    rows = json.loads(rigidc(*argv, "--group", "damped", "--group", "delassus", "--external", "link0"))
    assert all(0 < row["worst error"] <= row["tolerance"] <= 1e-7 for row in rows)


def test_algorithms_that_compute_the_same_take_the_oracles_answers_from_one_another(rigidc: Run) -> None:
    argv = ["check", SHORT, "--contact", "link4:3", "-n", "4", "--json"]
    for ending in ("", "_derivatives"):
        _answers.cache_clear()
        once = json.loads(rigidc(*argv, "-a", f"prox_pv{ending}"))
        asked = _answers.cache_info().misses
        twice = json.loads(rigidc(*argv, "-a", f"prox_pv{ending},prox_ltl{ending}"))
        assert (_answers.cache_info().misses, twice[0]) == (asked, once[0])
        assert all(0 < row["worst error"] <= row["tolerance"] for row in twice)


def test_check_of_contacts_along_other_axes_with_feedback(rigidc: Run) -> None:
    held = ["--contact", "FL_FOOT:3:in=world:kp=50:kd=10", "--contact", "HR_FOOT:x,z:in=base_link:spatial"]
    argv = ["check", "solo12", *held, "-n", "3", "--json", "-a", "pv_early,prox_pv,efpa"]
    assert all(row["passed"] for row in json.loads(rigidc(*argv)))
    argv = ["check", "solo12", *held, "-n", "3", "--json", "-a", "tree_kkt"]
    names = [word for name in ("k", "kp", "kd", "target_velocity", "weight") for word in ("--parameter", name)]
    assert all(row["passed"] for row in json.loads(rigidc(*argv, *names)))


def test_check_of_contacts_that_repeat_each_other_leaves_out_their_multipliers(rigidc: Run) -> None:
    argv = ["check", "iiwa", *(f"--contact=lbr_iiwa_link_7:{rows}" for rows in (6, 3)), "-n", "3", "--json"]
    (row,) = json.loads(rigidc(*argv, "-a", "constrained_aba"))
    assert row["passed"]


def distorted(build: Callable[..., Any], distortion: float) -> Callable[..., Any]:
    """Functions whose first entry at the last state is off."""

    def wrong(*args: Any, **options: Any) -> Any:
        function = build(*args, **options)

        class Wrong:
            inputs = function.inputs

            def with_status(self) -> Wrong:
                return self

            def __call__(self, *values: Any) -> Any:
                found = function(*values).copy()
                found[-1, 0] *= distortion
                return found

        return Wrong()

    return wrong


@pytest.mark.parametrize("distortion", [1 + 1e-9, np.nan])
def test_check_fails_on_a_wrong_answer(rigidc: Run, monkeypatch: pytest.MonkeyPatch, distortion: float) -> None:
    monkeypatch.setattr(api, "build", distorted(api.build, distortion))
    rows = json.loads(rigidc("check", "iiwa", "-a", "crba", "-n", "3", "--json", code=1))
    assert rows[0]["passed"] is False
    assert "no" in rigidc("check", "iiwa", "-a", "crba", "-n", "3", code=1).splitlines()[1].split()


def test_check_bears_with_an_inertia_matrix_of_bad_condition(
    rigidc: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A tip of a microgram: rounding errors of what is solved with M grow with its condition, those of M do not."""
    heavy, light = (f'<inertial><mass value="{m}"/><origin xyz="0.1 0 0"/></inertial>' for m in ("1", "1e-9"))
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        '<origin xyz="0.3 0 0"/><axis xyz="0 0 1"/></joint>'
        for name, parent, child in (("first", "world", "arm"), ("second", "arm", "tip"))
    )
    links = f'<link name="world"/><link name="arm">{heavy}</link><link name="tip">{light}</link>'
    path = tmp_path / "light_tip.urdf"
    path.write_text(f'<robot name="light_tip">{links}{joints}</robot>')
    monkeypatch.setattr(api, "build", distorted(api.build, 1 + 1e-9))
    rigidc("check", str(path), "-a", "aba,minverse", "-n", "3")
    rigidc("check", str(path), "-a", "rnea", "-n", "3", code=1)


def test_check_in_single_precision_says_so(rigidc: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "build", COMPILED)
    (row,) = json.loads(rigidc("check", SHORT, "-a", "rnea", "-n", "5", "--dtype", "float32", "--json"))
    assert 1e-9 < row["worst error"] <= row["tolerance"]
    assert row["tolerance"] == 1e-3


def test_the_error_of_check_is_relative_to_the_largest_entry() -> None:
    assert relative_error(np.array([100.0, 1.5]), np.array([100.0, 1.0])) == pytest.approx(0.005)
    assert relative_error(np.array([1e-3]), np.zeros(1)) == pytest.approx(1e-3)
    assert relative_error(np.array([1e-9]), np.array([2e-9]), scale=10.0) == pytest.approx(1e-10)
    assert relative_error(np.zeros(1), np.array([1e-3]), scale=10.0) == 1.0
    assert relative_error(np.array([np.nan]), np.zeros(1)) == np.inf
    assert relative_error(np.zeros(2), np.zeros(3)) == np.inf
    assert relative_error(np.zeros((0, 3)), np.zeros((0, 3))) == 0.0


def test_check_of_accelerations_that_contacts_take_away(rigidc: Run) -> None:
    """What is left is rounding beside what there was without contacts, and is held to that."""
    rows = json.loads(
        rigidc("check", "four_bar", "-a", "constrained_aba,aba_prox_stiff", "-n", "10", "--seed", "1", "--json")
    )
    assert all(row["passed"] for row in rows)


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


def test_check_says_which_algorithms_dependent_contacts_do_not_suit(capsys: pytest.CaptureFixture[str]) -> None:
    """A point of a four-bar has one freedom, and three rows."""
    argv = ["check", "four_bar", "--contact", "ee-0:3", "-n", "3", "--group", "constrained", "--group", "damped"]
    assert main([*argv, "--json"]) == 0
    out, err = capsys.readouterr()
    assert all(row["passed"] for row in json.loads(out))
    assert [line.split(" is left out: ")[0] for line in err.splitlines()] == ["rigidc: pv", "rigidc: pv_osimf"]
    assert "the status of pv says that some are left out; hold fewer rows" in err
    assert "rows depend on each other, so that W has no inverse" in err


def test_check_says_that_a_limb_cannot_follow_its_rows_alone(rigidc: Run) -> None:
    """A foot of three joints with six rows: they are independent, as the base moves too."""
    argv = ["check", "solo12", "--contact", "FL_FOOT:6", "-n", "2", "-a"]
    said = rigidc(*argv, "pv_osimf", code=2)
    assert "its block of W is regular, and the status of pv_osimf says that one is not" in said
    assert "depend on each other" not in said
    assert "yes" in rigidc(*argv, "caba_osim_swept")


def test_check_refuses_for_what_was_named_and_leaves_out_what_a_group_brings(
    rigidc: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["check", "four_bar", "--contact", "ee-0:3", "-n", "2", "--group", "constrained"]
    assert main([*argv, "-a", "efpa, aba", "--json"]) == 0
    out, err = capsys.readouterr()
    assert {"efpa", "aba", "prox_pv"} <= {row["algorithm"] for row in json.loads(out)}
    assert err.startswith("rigidc: pv is left out: four_bar: rows of the contacts depend on each other")
    assert "the status of pv says" in rigidc(*argv, "-a", "efpa,pv", "--json", code=2)


def test_steps_of_light_robots_begin_with_moderate_accelerations() -> None:
    """Forces of order one throw feet of seven grams: 1e4 rad/s^2."""
    robot = codegen.load("solo12")
    q, v, tau, _ = samples(robot, ("q", "v", "tau", "dt"), 0, (), 8, 0)
    assert np.abs(ORACLE["aba"](robot, q, v, tau)).max() < 10
    q, v, tau = samples(robot, ("q", "v", "tau"), 0, (), 8, 0)
    assert np.abs(ORACLE["aba"](robot, q, v, tau)).max() > 100


def test_what_was_found_before_an_error_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "four_bar", "--contact", "ee-0:3", "-n", "2", "-a", "efpa,pv"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("rigidc: found so far:\nrobot ")
    assert "\nfour_bar  efpa " in err
    assert err.splitlines()[-1].startswith("rigidc: four_bar: rows of the contacts depend on each other")
