"""Loops over columns for small robots, of which no cache holds lanes: what humanoids have, in tests of seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen import pipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest


def small_caches(monkeypatch: pytest.MonkeyPatch, pairs: int) -> Iterator[None]:
    """For a fixture: from so many pairs of joints on."""
    monkeypatch.setattr("codegen.costs.PAIRED", pairs)
    monkeypatch.setattr("codegen.emission.spec.LANES_FIT", 100)
    pipeline._functions.cache_clear()
    yield
    pipeline._functions.cache_clear()
