"""One build cache for the whole test run, graphs that tests share, and functions that are interpreted or compiled.

Set RIGIDC_CACHE to keep the builds between runs.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import compiled_cases
import interpreted
import pytest
from hypothesis import HealthCheck, settings

import codegen
from codegen import pipeline

settings.register_profile("rigidc", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # no clocks
settings.load_profile("rigidc")

if TYPE_CHECKING:
    from collections.abc import Callable

GRAPHS = 40  # kept by each process: the tests of one robot come one after the other
BUILDS = {"interpreted": interpreted.build, "compiled": codegen.build}

_made: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    """Runs before pytest-xdist starts its workers, which inherit the environment."""
    if "RIGIDC_CACHE" not in os.environ:
        _made.append(tempfile.mkdtemp(prefix="rigidc-tests-"))
        os.environ["RIGIDC_CACHE"] = _made[0]
    os.environ["RIGIDC_PROGRESS"] = "0"  # what a slow machine would add to stderr
    if sys.platform == "linux":
        os.environ.setdefault("MUJOCO_GL", "egl")  # whoever imports it first
    pipeline.graphs = lru_cache(maxsize=GRAPHS)(pipeline.graphs.__wrapped__)


def pytest_unconfigure(config: pytest.Config) -> None:
    for folder in _made:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["interpreted", pytest.param("compiled", marks=pytest.mark.thorough)])
def build(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`codegen.build`, by the interpreter of graphs and (thorough) by a compiler."""
    return BUILDS[request.param]


@pytest.fixture
def built(build: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a case of `compiled_cases`: a function of the case, the algorithm and the options of `build`."""

    def made(case: compiled_cases.Robot | compiled_cases.Mechanism, algorithm: str, **options: Any) -> Any:
        return compiled_cases.built(build, case, algorithm, **options)

    return made


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of one robot go to one process (`--dist loadgroup`), so that nothing is traced or compiled twice.

    So do those of a file that says so by TOGETHER.
    """
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        for case in parameters.values():
            if type(case).__module__ in ("compiled_cases", "scenarios"):
                item.add_marker(pytest.mark.xdist_group(str(case)))
        if isinstance(item, pytest.Function) and getattr(item.module, "TOGETHER", False):
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))
