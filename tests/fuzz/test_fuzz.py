"""The fuzzer itself: its seeds load, mutants depend on their number alone, findings are found and made small."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from fuzz.files import Mutant, written
from fuzz.mutants import mutant
from fuzz.pool import Pool
from fuzz.seeds import seeds
from fuzz.shrink import shrunk
from fuzz.trial import finding

if TYPE_CHECKING:
    from pathlib import Path


def test_all_seeds_load_and_can_be_used(tmp_path: Path) -> None:
    for seed in seeds():
        path = written(Mutant(seed.suffix, seed.text.encode(), seed.beside, seed.name), tmp_path)
        assert finding(path) == ("", "loaded"), seed.name


def test_mutants_depend_on_their_number_alone() -> None:
    assert [mutant(n) for n in range(60)] == [mutant(n) for n in range(60)]
    assert len({mutant(n).content for n in range(200)}) > 190


def test_a_few_mutants_leave_nothing_to_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tried = [finding(written(mutant(n), tmp_path)) for n in range(1000, 1060)]
    assert {what for what, _ in tried} == {""}
    assert {details for _, details in tried} == {"refused", "loaded"}


@pytest.mark.skipif(os.name != "posix", reason="children are limited by setrlimit")
def test_crashes_are_findings_and_shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '{"a": [1, 2, {"crash": true}], "b": {"c": [3, 4]}, "d": "e"}'
    pool = Pool(1, life=3, trial="fuzz.faulty")
    try:
        (outcome,) = pool.outcomes([(7, Mutant("json", text.encode(), {}, "x"))])
        assert (outcome.number, outcome.what) == (7, "crash (-6)")
        small = shrunk(Mutant("json", text.encode(), {}, "x"), outcome.what, pool)
        assert small.content == b"crash"
        outcomes = list(pool.outcomes((n, Mutant("json", b"", {}, "x")) for n in range(8)))
        assert [outcome.number for outcome in outcomes] == list(range(8))
        (outcome,) = pool.outcomes([(8, Mutant("json", b"memory", {}, "x"))])
        assert outcome.what == "memory"
    finally:
        pool.close()
