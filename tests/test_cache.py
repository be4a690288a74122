"""The build cache: hits, damage, races, and folders that others can write to."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from graph_cases import header, kernel, pendulum, pendulum_by_hand
from thorough import besides

import codegen
from codegen.compilation import cache
from codegen.compilation.compiler import toolchain
from codegen.emission.emit import emit_artifact
from codegen.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codegen.compilation.runtime import Function
    from codegen.emission.artifact import Artifact

Q, V = np.array([0.3, -1.2]), np.array([0.7, 2.0])
H = pendulum_by_hand(Q, V)[1]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RIGIDC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Maker:
    """Makes the pendulum and remembers how often."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> Iterator[Artifact]:
        self.calls += 1
        yield emit_artifact(header(), kernel(pendulum()))


def works(f: Function) -> bool:
    return np.allclose(f(Q, V).h, H, rtol=1e-13)


def test_the_second_time_nothing_is_made(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Maker()
    first = cache.cached("pendulum", make)
    monkeypatch.setattr(cache, "compile_extension", None)
    second = cache.cached("pendulum", make)
    assert make.calls == 1
    assert works(first)
    assert works(second)
    assert second.artifact == first.artifact
    assert root.stat().st_mode & 0o777 == 0o700


def test_what_is_asked_decides(root: Path) -> None:
    make = Maker()
    cache.cached("one", make)
    cache.cached("two", make)
    cache.cached("one", make, toolchain("portable"))
    assert make.calls == 3
    tools = toolchain()
    cache.cached("one", make, replace(tools, flags=(*tools.flags, "-DOTHER")))
    assert make.calls == 4
    assert len(cache.entries()) == 4


def test_entries_and_clear(root: Path) -> None:
    assert cache.entries() == ()
    assert cache.clear() == 0
    cache.cached("pendulum", Maker())
    (entry,) = cache.entries()
    assert (entry.name, entry.request) == ("arm_pendulum", "pendulum")
    assert entry.size == sum(path.stat().st_size for path in (root / entry.key).iterdir())
    assert entry.key[:12] in str(entry)
    (root / ".tmp-abandoned").mkdir()
    (root / "of mine").write_text("stays")
    assert cache.clear() == 1
    assert [path.name for path in root.iterdir()] == ["of mine"]


SWEEP = """
import sys; sys.path[:0] = sys.argv[2:]
from pathlib import Path
from codegen.compilation.build_lock import sweep
sweep(Path(sys.argv[1]))
"""


def _damage(place: Path, how: str) -> None:
    extension = next(path for path in place.iterdir() if path.suffix == ".so")
    meta = place / "meta.json"
    target, data = {
        "truncated extension": (extension, extension.read_bytes()[:1000]),
        "other extension": (extension, extension.read_bytes()[:-1] + b"?"),
        "changed source": (place / "arm_pendulum.c", b"int x;"),
        "truncated facts": (meta, meta.read_bytes()[:-20]),
        "changed facts": (meta, meta.read_bytes().replace(b'"float64"', b'"float32"')),
        "empty facts": (meta, b"[]"),
    }[how]
    # A new file: the old one may be mapped into this process.
    target.unlink()
    target.write_bytes(data)


@pytest.mark.parametrize(
    "how",
    besides(
        ["other extension", "changed facts"],
        [
            "truncated extension",
            "other extension",
            "changed source",
            "truncated facts",
            "changed facts",
            "empty facts",
        ],
    ),
)
def test_damage_is_found_and_repaired(root: Path, how: str) -> None:
    make = Maker()
    cache.cached("pendulum", make)
    (entry,) = cache.entries()
    _damage(root / entry.key, how)
    assert works(cache.cached("pendulum", make))
    assert works(cache.cached("pendulum", make))
    assert make.calls == 2
    assert [path.name for path in root.iterdir()] == [entry.key]


def test_a_missing_file_is_found_and_repaired(root: Path) -> None:
    make = Maker()
    cache.cached("pendulum", make)
    (entry,) = cache.entries()
    (root / entry.key / "arm.h").unlink()
    assert works(cache.cached("pendulum", make))
    assert make.calls == 2


def test_a_failed_build_leaves_nothing(root: Path) -> None:
    def broken() -> Iterator[Artifact]:
        (made,) = Maker()()
        yield replace(made, files=(*made.files[:1], ("arm_pendulum.c", "#error on purpose\n"), *made.files[2:]))

    with pytest.raises(BuildError, match="on purpose"):
        cache.cached("pendulum", broken)
    assert list(root.iterdir()) == []


def test_a_build_removes_what_a_killed_one_left(root: Path) -> None:
    for name, age in ((".tmp-old", 7200), (".tmp-young", 600)):
        (root / name).mkdir(parents=True, mode=0o700)
        (root / name / "arm.c").write_text("int x;")
        os.utime(root / name, (time.time() - age,) * 2)
    cache.cached("pendulum", Maker())
    assert sorted(path.name for path in root.glob(".tmp-*")) == [".tmp-young"]


def test_a_build_leaves_alone_what_another_one_works_in(root: Path) -> None:
    kept = []

    def slow() -> Iterator[Artifact]:
        (work,) = root.glob(".tmp-*")
        os.utime(work, (0, 0))
        here = str(Path(__file__).resolve().parents[1])
        subprocess.run([sys.executable, "-c", SWEEP, str(root), here], check=True)
        kept.append(work.is_dir())
        yield from Maker()()

    assert works(cache.cached("pendulum", slow))
    assert kept == [True]


def test_a_folder_that_others_can_write_to_is_refused(root: Path) -> None:
    root.mkdir()
    root.chmod(0o777)
    with pytest.raises(BuildError, match="can be written by others"):
        cache.cached("pendulum", Maker())


def test_a_folder_that_cannot_be_made_is_reported(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root.write_text("a file")
    with pytest.raises(BuildError, match="set RIGIDC_CACHE to another one"):
        cache.cached("pendulum", Maker())


def test_where_the_folder_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RIGIDC_CACHE", str(tmp_path))
    assert cache.folder() == tmp_path
    monkeypatch.delenv("RIGIDC_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "rigidc"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.folder().is_relative_to(Path.home())


RACE = """
import sys; turns, *sys.path[:0] = sys.argv[1:]
import numpy as np
from graph_cases import header, kernel, pendulum, pendulum_by_hand
from codegen.compilation.cache import cached
from codegen.emission.emit import emit_artifact
q, v = np.array([0.3, -1.2]), np.array([0.7, 2.0])
print("ready", flush=True)
sys.stdin.readline()
for turn in range(int(turns)):
    f = cached(f"race {turn}", lambda: [emit_artifact(header(), kernel(pendulum()))])
    assert np.allclose(f(q, v).h, pendulum_by_hand(q, v)[1])
print("done")
"""


@pytest.mark.parametrize(("processes", "turns"), besides([(2, 2)], [(2, 2), (3, 3)]))
def test_processes_may_build_the_same_at_once(root: Path, processes: int, turns: int) -> None:
    here = Path(__file__).resolve().parent
    command = [sys.executable, "-c", RACE, str(turns), str(here), str(here.parent)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    racers = [subprocess.Popen(command, text=True, env=dict(os.environ), **pipes) for _ in range(processes)]  # type: ignore[call-overload]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    for racer in racers:
        printed, errors = racer.communicate(timeout=120)
        assert (printed, racer.returncode) == ("done\n", 0), errors
    assert len(cache.entries()) == turns
    assert not [path for path in root.iterdir() if path.name.startswith(".tmp")]


def test_the_fingerprint_is_of_the_whole_generator() -> None:
    root = Path(codegen.__file__).parent
    found = {path.relative_to(root).as_posix() for path in cache.sources()}
    assert {"algorithms/rnea.py", "passes/factors.py", "spatial/solve.py", "emission/emit.py", "__init__.py"} <= found
    assert not any(path.startswith("..") for path in found)


def test_the_fingerprint_is_stable() -> None:
    before = cache.fingerprint()
    cache.fingerprint.cache_clear()
    assert cache.fingerprint() == before


def test_the_fingerprint_covers_the_whole_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    read, real = set(), Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.add(path) or real(path))
    cache.fingerprint.cache_clear()
    cache.fingerprint()
    assert {*Path(codegen.__file__).parent.rglob("*.py")} <= read
