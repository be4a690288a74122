"""What is in the wheel: every package, template and bundled robot, and nothing beside them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import codegen

ROOT = Path(__file__).parents[1]
SOURCES = ("codegen", "opcount", "templates")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in a wheel built from a copy of the sources."""
    copy = tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    build = "import sys, setuptools.build_meta as b; b.build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, "dist"], cwd=copy, check=True, capture_output=True)
    (path,) = (copy / "dist").glob("*.whl")
    return set(zipfile.ZipFile(path).namelist())


def test_everything_in_the_sources_is_in_the_wheel(wheel: set[str]) -> None:
    files = [path for name in SOURCES for path in (ROOT / name).rglob("*") if path.is_file()]
    installed = {
        path.relative_to(ROOT).as_posix().replace("templates/", "codegen/templates/", 1)
        if path.is_relative_to(ROOT / "templates")
        else path.relative_to(ROOT).as_posix()
        for path in files
        if "__pycache__" not in path.parts
    }
    assert installed == {name for name in wheel if ".dist-info/" not in name}
    assert any(name.startswith("codegen/templates/") and name.endswith(".jinja") for name in installed)


def test_nothing_else_is_at_top_level(wheel: set[str]) -> None:
    top = {name.partition("/")[0] for name in wheel}
    assert {name for name in top if not name.endswith(".dist-info")} == {"codegen", "opcount"}
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel)


def test_names_that_are_imported_when_first_used_are_listed() -> None:
    assert {*codegen.__all__} <= {*dir(codegen)}
