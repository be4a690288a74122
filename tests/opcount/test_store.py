"""Counts that are kept: an interrupted sweep goes on, nothing is counted twice, and another generator counts again."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest

import opcount
from opcount import store
from opcount.studies import measured
from opcount.studies.measured import PAPER, Case, Held, measure

IIWA = PAPER["iiwa H3"]
WORK = [Case(IIWA, name, ("published",)) for name in ("pv_osim", "efpa", "kjr", "ltl_osim")]


class Counting(Executor):
    """Does what it is given at once, and counts it; after `most` it is interrupted."""

    def __init__(self, most=100):
        self.most, self.done = most, 0

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        if self.done == self.most:
            future.set_exception(KeyboardInterrupt())
        else:
            self.done += 1
            future.set_result(function(*args, **kwargs))
        return future


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A store of its own for every test."""
    monkeypatch.setenv("RIGIDC_CACHE", str(tmp_path))


def test_a_second_run_counts_nothing():
    first, second = Counting(), Counting()
    found = measure(WORK, first)
    assert found == measure(WORK, second)
    assert (first.done, second.done) == (4, 0)
    expected = opcount.count(IIWA.model(), "efpa", tier="published", contacts=IIWA.contacts).total
    assert found[IIWA, "efpa"] == {"published": expected}


def test_an_interrupted_run_goes_on(monkeypatch):
    monkeypatch.setattr(measured, "as_completed", list)  # in the order of work
    with pytest.raises(KeyboardInterrupt):
        measure(WORK, Counting(3))
    rest = Counting()
    assert len(measure(WORK, rest)) == 4
    assert rest.done == 1


def test_only_tiers_that_lack_are_counted(monkeypatch):
    asked = []
    real = measured.counts
    monkeypatch.setattr(
        measured, "counts", lambda model, name, tiers, **o: asked.append(tiers) or real(model, name, tiers, **o)
    )
    measure(WORK[:1], Counting())
    totals = measure([(IIWA, "pv_osim")], Counting())[IIWA, "pv_osim"]
    assert asked == [("published",), ("written", "emitted")]
    assert [*totals] == ["published", "written", "emitted"]


def test_another_generator_counts_again(monkeypatch):
    measure(WORK[:1], Counting())
    monkeypatch.setattr(store, "fingerprint", lambda: "another")
    again = Counting()
    measure(WORK[:1], again)
    assert again.done == 1


def test_steps_contacts_and_tiers_are_counted_apart():
    cases = [Case(Held("iiwa", (f"lbr_iiwa_link_7:{rows}",), steps=n), "prox_pv") for rows in (3, 6) for n in (1, 3)]
    found = measure(cases, Counting())
    assert len({total for totals in found.values() for total in totals.values()}) == 12


def test_what_a_robot_does_not_admit_has_no_count():
    first, second = Counting(), Counting()
    for executor in (first, second):
        assert measure([(Held("four_bar", ()), "approximate_aba")], executor) == {
            (Held("four_bar", ()), "approximate_aba"): {}
        }
    assert (first.done, second.done) == (1, 0)


def test_a_damaged_count_is_counted_again(tmp_path):
    measure(WORK[:1], Counting())
    (kept,) = (tmp_path / "counts").iterdir()
    kept.write_text("{", encoding="utf-8")
    again = Counting()
    measure(WORK[:1], again)
    assert again.done == 1
    assert kept.read_text(encoding="utf-8").startswith('{"add"')


def test_any_executor():
    with ThreadPoolExecutor(2) as threads:
        assert measure(WORK[:2], threads) == measure(WORK[:2])


def test_what_is_made_is_kept():
    made = []
    for _ in range(2):
        assert store.opened().made("something", lambda: made.append(1) or {"a": [1.5]}) == {"a": [1.5]}
    assert made == [1]
