"""Sweeps over a Dask client's executor: local processes here, a cluster elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from opcount.studies import STUDIES
from opcount.studies.measured import Held, measure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor
    from pathlib import Path

distributed = pytest.importorskip("distributed", reason="needs dask.distributed (pip install rigidc[dask])")
pytestmark = [pytest.mark.thorough, pytest.mark.filterwarnings("default")]


@pytest.fixture
def executor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Executor]:
    """That of a client of two local processes, with an empty store of counts."""
    monkeypatch.setenv("RIGIDC_CACHE", str(tmp_path))
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=str(tmp_path / "dask"),
    )
    with cluster, distributed.Client(cluster) as client:
        yield client.get_executor()


def test_a_client_counts_as_processes_do(executor: Executor) -> None:
    work = [(Held("iiwa", ("lbr_iiwa_link_7:3",)), name) for name in ("pv", "pv_osim", "kjr")]
    found = measure(work, executor)
    assert all({*totals} == {"published", "written", "emitted"} for totals in found.values())
    assert measure(work, None) == found  # from the store: nothing is counted twice


def test_a_study_runs_on_a_client(executor: Executor) -> None:
    table = STUDIES["chains"].table(True, executor)
    assert len(table.rows) == 12
    assert table == STUDIES["chains"].table(True, None)
