"""rigidc bench and rigidc cache, and compilers that do not work."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import codegen
from codegen.cli.bench import spread

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Run


def test_bench_reports_ordered_positive_times(rigidc: Run) -> None:
    argv = ["bench", "iiwa", "-a", "rnea", "-n", "16", "--seconds", "0.01"]
    (row,) = json.loads(rigidc(*argv, "--json"))
    for what in ("kernel", "call"):
        assert 0 < row[f"{what} ns p10"] <= row[f"{what} ns median"] <= row[f"{what} ns p90"]
    assert row["kernel ns median"] < row["call ns median"]
    assert "batch of 16" in rigidc(*argv)


def test_bench_takes_contacts(rigidc: Run) -> None:
    argv = ["bench", "iiwa", "-a", "pv_soft,caba_osim", "--contact", "lbr_iiwa_link_7:3", "--seconds", "0.01"]
    rows = json.loads(rigidc(*argv, "--json"))
    assert [row["algorithm"] for row in rows] == ["pv_soft", "caba_osim"]
    assert all(0 < row["kernel ns median"] < row["call ns median"] for row in rows)


def test_bench_times_singular_states_too(rigidc: Run) -> None:
    """Rows that are held twice leave `pv` a singular matrix."""
    twice = ("--contact", "lbr_iiwa_link_7:3") * 2
    (row,) = json.loads(rigidc("bench", "iiwa", "-a", "pv", *twice, "--seconds", "0.01", "--json"))
    assert row["kernel ns median"] > 0


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
