"""The cases of `torch_cases`, in a process of their own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from codegen.errors import RobotError
from codegen.interfaces.torch import to_torch

CASES = Path(__file__).with_name("torch_cases.py")


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the extra [torch] is not installed")
@pytest.mark.parametrize("wanted", ["not thorough", pytest.param("thorough", marks=pytest.mark.thorough)])
def test_all_cases(wanted: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-m", wanted, str(CASES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CASES.parents[1])
    assert done.returncode == 0, done.stdout


def test_a_pytorch_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(__version__="2.4.1"))
    with pytest.raises(RobotError, match=r"PyTorch 2.4.1 is too old; pip install rigidc\[torch\] brings 2.5 or newer"):
        to_torch(None, "aba")  # type: ignore[arg-type]


def test_without_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(RobotError, match=r"PyTorch 2.5 or newer is needed .*pip install rigidc\[torch\]"):
        to_torch(None, "aba")  # type: ignore[arg-type]
