"""No count rises above the committed baseline; and the baseline's own tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import codegen
from opcount import baseline

if TYPE_CHECKING:
    from pathlib import Path

COMMITTED = baseline.read()
COUNTED = tuple(dict.fromkeys(key[:2] for key in COMMITTED))
SMALL = 150
MORE = ("iiwa", "aba"), ("solo12", "rnea"), ("tello_humanoid", "crba"), ("iiwa H6", "constrained_aba")


def soon(robot: str, algorithm: str) -> bool:
    """Whether it is counted by the quick tests too: what is small, and a few others."""
    return (robot, algorithm) in MORE or COMMITTED[robot, algorithm, "written"]["total"] < SMALL


@pytest.mark.parametrize(
    ("robot", "algorithm"),
    [pytest.param(*pair, marks=() if soon(*pair) else pytest.mark.thorough) for pair in COUNTED],
)
def test_no_count_rises(robot: str, algorithm: str) -> None:
    now = baseline.measure_one((robot, algorithm))
    assert {key for key in COMMITTED if key[:2] == (robot, algorithm)} == set(now)
    risen = {key: (COMMITTED[key]["total"], now[key]["total"]) for key in baseline.risen(COMMITTED, now)}
    assert not risen


def test_the_baseline_holds_all_and_nothing_that_is_gone() -> None:
    work = baseline.work()
    assert {*COUNTED} <= {*work}
    new = [pair for pair in work if pair not in COUNTED and baseline.measure_one(pair)]
    assert not new, "`make counts-write` adds them to the baseline"


def test_every_bundled_robot_and_every_algorithm_is_counted() -> None:
    assert {name for name, *_ in COMMITTED} == {*codegen.bundled(), *baseline.SCENARIOS}
    assert {algorithm for _, algorithm, _ in COMMITTED} == set(codegen.ALGORITHMS)


def test_the_file_is_written_as_it_is_read(tmp_path: Path) -> None:
    text = baseline.FILE.read_text(encoding="utf-8")
    assert baseline.written(COMMITTED) == text
    counts = {("r", "a", "emitted"): {"add": 1, "total": 1}, ("r", "b", "emitted"): {"add": 2, "total": 2}}
    (tmp_path / "b.json").write_text(baseline.written(counts))
    assert baseline.read(tmp_path / "b.json") == counts
    assert json.loads(baseline.written({})) == {}


def test_differences_and_rises() -> None:
    before = {("r", "a", "emitted"): {"total": 100}, ("r", "gone", "emitted"): {"total": 5}}
    now = {("r", "a", "emitted"): {"total": 101}, ("r", "new", "emitted"): {"total": 7}}
    assert baseline.differences(before, now).rows == (
        ("r", "a", "emitted", 100, 101, 1, "+1.0"),
        ("r", "gone", "emitted", 5, None, None, None),
        ("r", "new", "emitted", None, 7, None, None),
    )
    assert baseline.risen(before, now) == (("r", "a", "emitted"),)
    assert baseline.risen(now, before) == ()
    assert not baseline.differences(now, now).rows
