"""Functions built at the same time by other processes."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import codegen
from codegen import RobotError, in_parallel
from codegen.compilation import cache

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODULE = "codegen.compilation.in_parallel"


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own, and two processors."""
    monkeypatch.setenv("RIGIDC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys.modules[MODULE], "processors", lambda: 2)


def calls() -> tuple[Callable[[], Any], ...]:
    robot = codegen.load("iiwa")
    return tuple(partial(codegen.build, robot, name) for name in ("rnea", "gravity"))


def refused(*_: Any, **__: Any) -> Any:
    raise AssertionError("not here")


def test_other_processes_build(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as within:
        within.setattr(cache, "_build", refused)
        rnea, gravity = in_parallel(*calls())
    assert (rnea.name, gravity.name) == ("rnea", "gravity")
    robot = codegen.load("iiwa")
    q, v, _ = robot.random(1)
    np.testing.assert_allclose(rnea(q, 0 * v, 0 * v), gravity(q), atol=1e-12)
    monkeypatch.setattr(subprocess, "Popen", refused)
    assert np.array_equal(in_parallel(*calls())[1](q), gravity(q))


def test_one_that_is_absent_is_built_here(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = codegen.load("iiwa")
    codegen.build(robot, "rnea")
    monkeypatch.setattr(sys.modules[MODULE], "_work_off", refused)
    in_parallel(*calls())


def test_what_a_process_cannot_do_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    for nothing in ("false", "no-such-program"):
        monkeypatch.setattr(sys, "executable", nothing)
        assert len(in_parallel(*calls())) == 2
        cache.clear()


def test_errors_are_those_of_the_calls() -> None:
    robot = codegen.load("iiwa")
    with pytest.raises(RobotError, match=r"call 2 cannot be pickled.*functools\.partial"):
        in_parallel(*calls()[:1], lambda: codegen.build(robot, "gravity"))
    with pytest.raises(RobotError, match="no algorithm"):
        in_parallel(partial(codegen.build, robot, "no"), *calls())
