"""The cases of `jax_cases`, in a process of their own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("jax_cases.py")


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="the extra [jax] is not installed")
@pytest.mark.parametrize("wanted", ["not thorough", pytest.param("thorough", marks=pytest.mark.thorough)])
def test_all_cases(wanted: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-m", wanted, str(CASES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CASES.parents[1])
    assert done.returncode == 0, done.stdout
