"""The command line as a process: interrupts, pipes, terminals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from codegen.cli import check as check_command

if TYPE_CHECKING:
    from command_line import Run


def test_an_interrupt_is_quiet(rigidc: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(check_command, "worst_error", interrupted)
    assert rigidc("check", "iiwa", "-a", "rnea", code=130) == ""


def run_process(*argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "codegen", *argv],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=120,
    )


def test_the_module_runs_as_a_program() -> None:
    done = run_process("count", "iiwa", "-a", "crba", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)[0]["robot"] == "iiwa"
    refused = run_process("info", "nobody")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("rigidc: ")
    assert "Traceback" not in refused.stderr


def test_a_terminal_without_unicode_is_enough() -> None:
    done = run_process("info", "solo12", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_leaves_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "codegen", "robots"],
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
            timeout=120,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")
