"""Studies of times: what is compiled and compared, never how long it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from opcount.bench import pinocchio_peer
from opcount.bench.build_dir import Absent
from opcount.studies import STUDIES, timed
from opcount.studies.damped_timings import Inverted
from opcount.studies.drawing import records
from opcount.studies.grown import Mechanism
from opcount.studies.growth_timings import Scaled
from opcount.studies.loop_growth import geared
from opcount.studies.loop_growth_timings import TimedChains
from opcount.studies.loop_timings import TimedBeside
from opcount.studies.loops import EXACT, FEET
from opcount.studies.measured import PAPER, Held
from opcount.studies.pareto import Weighed, beats
from opcount.studies.timed import Timing, compiled, rounded, run
from opcount.studies.timings import ALGORITHMS, ROBOTS, THEIRS, Raced

if TYPE_CHECKING:
    from pathlib import Path

SMALL = Held("chain:2", ("tip:3",))


@pytest.fixture(autouse=True)
def in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, no peer that takes minutes to compile, and as few readings as can be."""

    def absent(*_: object) -> None:
        raise Absent("Pinocchio takes no part")

    monkeypatch.setenv("RIGIDC_CACHE", str(tmp_path))
    monkeypatch.setattr(pinocchio_peer, "contestants", absent)
    monkeypatch.setattr(timed, "SECONDS", 0.0)


def test_what_is_compiled_is_timed_and_kept(tmp_path: Path) -> None:
    one = Timing(SMALL, "caba_osim")
    made = compiled([one, one])
    assert made[one].library.is_relative_to(tmp_path / "bench")
    times = run({"caba_osim": one}, made, {"": one})
    assert [*times] == ["caba_osim"]
    assert times["caba_osim"] > 0
    written = made[one].library.stat().st_mtime_ns
    assert compiled([one])[one].library.stat().st_mtime_ns == written


def test_every_robot_has_the_papers_times() -> None:
    assert [*ROBOTS] == [*THEIRS]
    assert all(len(times) == len(ALGORITHMS) for times in THEIRS.values())


def test_rounding_and_the_front() -> None:
    assert rounded(1.23456) == 1.23
    assert rounded(None) is None
    assert beats((1, 1.0), (2, 1.0))
    assert not beats((1, 1.0), (1, 1.0))
    assert not beats((1, 2.0), (2, 1.0))


@pytest.mark.thorough
def test_times_against_size() -> None:
    table = Scaled({"chain": Mechanism(lambda n: Held(f"chain:{n}", ("tip:3",)), (2, 3, 4), ours=3)})()
    found = records(table)
    assert {row["links"] for row in found if row["rigidc"] and row["algorithm"] == "prox_ltl"} == {2, 3}
    assert {row["links"] for row in found if row["rigidc exponent"]} == {3, 4}
    assert all(row["rigidc"] > 0 for row in found if row["algorithm"] in ("constrained_aba", "prox_pv"))


@pytest.mark.thorough
def test_times_with_loops() -> None:
    """Of listings and of ours, beside the paper's; and against the lengths of chains."""
    found = records(TimedBeside({"mini_cheetah": FEET["mini_cheetah"]})())
    assert [row["algorithm"] for row in found] == [name for exact, others in EXACT.items() for name in (exact, *others)]
    assert all(row["published"] > 0 and row["emitted"] > 0 for row in found)
    assert {row["algorithm"] for row in found if row["emitted %"] is None} == {*EXACT}
    assert [row["the paper's time %"] for row in found][:2] == [None, -41.0]
    table = TimedChains({"geared chain": geared}, (2, 3), ("aba", "lagrange_fd"))()
    assert {row["links"] for row in records(table) if row["published exponent"]} == {3}
    assert STUDIES["loop_growth_timings"].figure(table).axes


@pytest.mark.thorough
@pytest.mark.parametrize("study", [Raced, Inverted, Weighed])
def test_tables_and_figures(study: type) -> None:
    table = study({"iiwa H3": PAPER["iiwa H3"]})()
    assert all(row["robot"] == "iiwa H3" and row["machine"] for row in records(table))
    named = next(name for name, one in STUDIES.items() if isinstance(one.table, study))
    assert STUDIES[named].figure(table).axes


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["adjoints", "casadi_directions"])
def test_studies_of_derivatives_time_the_first_robot(name):
    table = STUDIES[name].table(True, None)
    (row,) = table.rows
    assert row[0] == "iiwa"
    assert all(value > 0 for value in row[1:-1])
