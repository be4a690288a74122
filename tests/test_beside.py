"""Calls that another process makes meanwhile."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

import codegen
from codegen.compilation.beside import beside
from codegen.oracle import ORACLE

if TYPE_CHECKING:
    from pathlib import Path

MODULE = "codegen.compilation.beside"


@pytest.fixture(autouse=True)
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processors."""
    monkeypatch.setattr(f"{MODULE}.processors", lambda: 2)


def test_another_process_makes_a_call() -> None:
    with beside(os.getpid) as number:
        assert number() != os.getpid()
    with beside(partial(operator.pow, 2, 100_000)) as number:  # more than a pipe holds
        assert number() == 2**100_000


def test_it_is_made_once_and_may_be_asked_for_again() -> None:
    with beside(partial(operator.pow, 2, 10)) as number:
        assert (number(), number()) == (1024, 1024)


def test_nothing_is_left_of_a_call_that_nobody_wants() -> None:
    found = list[subprocess.Popen[bytes]]()
    popen = subprocess.Popen

    class Watched(popen):  # type: ignore[type-arg,valid-type,misc]
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, **options)
            found.append(self)

    with pytest.MonkeyPatch.context() as within:
        within.setattr(subprocess, "Popen", Watched)
        with pytest.raises(KeyError), beside(partial(time.sleep, 60)):
            raise KeyError
    assert found[0].returncode is not None


def test_what_it_cannot_do_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the errors of the call, and where there is no other processor, or a program that is not Python."""
    with beside(partial(int, "x")) as number, pytest.raises(ValueError, match="invalid literal"):
        number()
    for nothing in ("", "/no/such/python", "/bin/false"):
        monkeypatch.setattr(sys, "executable", nothing)
        with beside(os.getpid) as number:
            assert number() == os.getpid()
    monkeypatch.undo()
    monkeypatch.setattr(f"{MODULE}.processors", lambda: 1)
    with beside(os.getpid) as number:
        assert number() == os.getpid()


def test_functions_of_humanoids_are_built_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops over columns come from there, for one state; many have straight-line code."""
    monkeypatch.setenv("RIGIDC_CACHE", str(tmp_path))
    monkeypatch.setattr("codegen.pipeline._in_vectors.__code__", (lambda _: 1 / 0).__code__)  # not here
    robot = codegen.load("chain:26")
    f, states = codegen.build(robot, "rnea_derivatives"), [robot.random(seed) for seed in range(3)]
    assert "_map_0" in f.source
    many = f(*map(np.array, zip(*states, strict=True)))
    for k, state in enumerate(states):
        for one, batch, theirs in zip(f(*state), many, ORACLE["rnea_derivatives"](robot, *state), strict=True):
            np.testing.assert_allclose(one, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())
            np.testing.assert_allclose(batch[k], theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())
