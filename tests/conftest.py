"""One build cache for the whole test run, shared by all its processes and gone afterwards.

Set RIGIDC_CACHE to keep the builds between runs.
"""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest

_made: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    """Runs before pytest-xdist starts its workers, which inherit the environment."""
    if "RIGIDC_CACHE" not in os.environ:
        _made.append(tempfile.mkdtemp(prefix="rigidc-tests-"))
        os.environ["RIGIDC_CACHE"] = _made[0]


def pytest_unconfigure(config: pytest.Config) -> None:
    for folder in _made:
        shutil.rmtree(folder, ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of one robot go to one process (`--dist loadgroup`), so that no function is compiled twice."""
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        for case in parameters.values():
            if type(case).__module__ == "compiled_cases":
                item.add_marker(pytest.mark.xdist_group(str(case)))
