"""rigidc bench and rigidc cache, and compilers that do not work."""

from __future__ import annotations

import json
from types import SimpleNamespace
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
    assert "batch of 16" in rigidc(*argv)


def test_bench_takes_contacts(rigidc: Run) -> None:
    argv = ["bench", "chain:3,alternate", "-a", "pv_soft,caba_osim", "--contact", "link2:3", "--seconds", "0.01"]
    rows = json.loads(rigidc(*argv, "--json"))
    assert [row["algorithm"] for row in rows] == ["pv_soft", "caba_osim"]
    assert all(row["kernel ns median"] > 0 and row["call ns median"] > 0 for row in rows)


def test_bench_times_singular_states_too(rigidc: Run) -> None:
    """Rows that are held twice leave `pv` a singular matrix."""
    twice = ("--contact", "link2:3") * 2
    (row,) = json.loads(rigidc("bench", "chain:3,alternate", "-a", "pv", *twice, "--seconds", "0.01", "--json"))
    assert row["kernel ns median"] > 0


def test_a_spread_counts_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock of our own, on which the work takes a microsecond, two, three ..., after once for nothing."""
    now = 0
    durations = iter(range(0, 1_000_000, 1000))

    def work() -> None:
        nonlocal now
        now += next(durations)

    clock = SimpleNamespace(perf_counter=lambda: now / 1e9, perf_counter_ns=lambda: now)
    monkeypatch.setattr("codegen.cli.bench.time", clock)
    found = spread(work, 4, 0.0)
    assert (found.p10, found.median, found.p90) == (725.0, 2625.0, 4525.0)


def test_cache_lists_and_clears(rigidc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIGIDC_CACHE", str(tmp_path))
    assert rigidc("cache").startswith(str(tmp_path))
    codegen.build(codegen.load("chain:2"), "crba")
    assert ": 1 build," in rigidc("cache").splitlines()[0]
    (tmp_path / "counts").mkdir()
    (tmp_path / "counts" / "one").write_bytes(bytes(2_000_000))
    assert "; 2.0 MB: counted operations" in rigidc("cache").splitlines()[0]
    assert rigidc("cache", "--clear", "--counts") == f"removed 2.0 MB: counted operations from {tmp_path}\n"
    assert rigidc("cache", "--clear") == f"removed 1 build from {tmp_path}\n"
    assert ": 0 builds," in rigidc("cache")


@pytest.mark.parametrize("compiler", ["no-such-compiler", '"unclosed', "false"])
def test_a_compiler_that_does_not_work_is_named(
    rigidc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str
) -> None:
    monkeypatch.setenv("RIGIDC_CACHE", str(tmp_path))
    monkeypatch.setenv("RIGIDC_CC", compiler)
    assert compiler in rigidc("check", "chain:2", "-a", "crba", code=2)
    assert rigidc("cache").startswith(f"{tmp_path}: 0 builds")
