"""The programs that come with rigidc are short and run as they are."""

from __future__ import annotations

import runpy

import pytest
from thorough import besides

from codegen.cli.examples import FOLDER, examples

QUICK = ("forward_dynamics",)  # a small robot's; the others build more


@pytest.mark.parametrize("name", besides(QUICK, list(examples())))
def test_it_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", examples())
def test_it_is_short(name: str) -> None:
    assert len((FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 40
