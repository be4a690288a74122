"""zig as a compiler: how it is found and told what to do, by a program in its place, and (where it is) itself."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.__main__ import main
from codegen.compilation import cache, storage, zig
from codegen.compilation.compiler import toolchain
from codegen.compilation.library import library
from codegen.emission.flags import FLAGS
from codegen.errors import BuildError, RobotError
from codegen.oracle import ORACLE

needs_zig = pytest.mark.skipif(not zig.wheel(), reason="needs the wheel ziglang")
EMULATOR = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
ROBOT = codegen.load("chain:2")
PREFIX = "chain_2_z"

# Writes what it was asked for, or refuses what is called unknown. If it is told to break, it does so when it links.
IN_PLACE = """#!/bin/sh
echo "$@" >> {log}
result= next=
for word; do
    case "$next" in -o|rcs) result=$word;; esac
    case "$word" in *unknown*) echo "error: no such thing" >&2; exit 1;; esac
    case "$word" in -Wl,--out-implib,*) echo imports > "${{word#-Wl,--out-implib,}}";; esac
    case "$word" in version) echo 1.2.3;; esac
    next=$word
done
case "$result" in made/*) test ! -e {log}.broken || {{ echo 'error: cannot link' >&2; exit 1; }};; esac
test -z "$result" || echo "made by $*" > "$result"
"""


@pytest.fixture
def in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the place of zig, in a wheel of its own; the file in which it writes how it was called."""
    wheel, log = tmp_path / "wheel" / "ziglang", tmp_path / "log"
    wheel.mkdir(parents=True)
    log.touch()
    (wheel / "__init__.py").touch()
    (wheel / "zig").write_text(IN_PLACE.format(log=log))
    (wheel / "zig").chmod(0o755)
    monkeypatch.syspath_prepend(str(wheel.parent))
    monkeypatch.delitem(sys.modules, "ziglang", raising=False)
    monkeypatch.delenv("RIGIDC_CC", raising=False)
    return log


def test_zig_is_taken_where_nothing_else_is(in_place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    tools = toolchain()
    assert tools.command == (str(in_place.parent / "wheel" / "ziglang" / "zig"), "cc")
    assert tools.sentence.startswith("Compiled for native processors by zig cc -std=c99 -O2 ")
    assert str(in_place.parent / "wheel") in tools.identity
    (tmp_path / "gcc").write_text("#!/bin/sh\n")
    (tmp_path / "gcc").chmod(0o755)
    assert toolchain().command == (str(tmp_path / "gcc"),)


@pytest.mark.parametrize("asked", ["zig", "zig cc", "python3 -m ziglang cc", "{}", "{} cc"])
def test_zig_may_be_asked_for(in_place: Path, asked: str) -> None:
    program = str(in_place.parent / "wheel" / "ziglang" / "zig")
    assert toolchain(compiler=asked.format(program) + " -g").command == (program, "cc", "-g")


def test_zig_is_told_which_processor(in_place: Path) -> None:
    """Else it takes this very one; and it spells them its own way."""
    assert toolchain("portable", compiler="zig").processor == ("-mcpu=baseline",)
    assert toolchain(compiler="zig").processor[0].endswith("=native")
    assert zig.processor(("-march=x86-64-v3",)) == ("-march=x86_64_v3",)


def test_what_zig_keeps_lies_in_our_cache(in_place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIGIDC_CACHE", str(tmp_path / "cache"))
    seen = toolchain(compiler="zig").environment(tmp_path / "work")
    assert seen is not None
    assert (seen["ZIG_GLOBAL_CACHE_DIR"], seen["ZIG_LOCAL_CACHE_DIR"]) == (
        str(tmp_path / "cache" / "zig"),
        str(tmp_path / "work"),
    )
    (storage.secured() / "zig").mkdir()
    (storage.folder() / "zig" / "kept").write_bytes(bytes(1000))
    assert storage.size("zig") == 1000
    assert cache.clear() == 0
    assert list(storage.folder().iterdir()) == []


def test_no_compiler_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RIGIDC_CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(zig, "wheel", lambda: None)
    for ask in (toolchain, lambda: toolchain(compiler="zig"), lambda: library("aarch64-linux-gnu")):
        with pytest.raises(BuildError, match=r"was found|was not found") as caught:
            ask()
        assert "`pip install rigidc[zig]` brings" in str(caught.value)


@pytest.mark.parametrize(
    "target", ["", "aarch64", "../../home", "a-b/c", "-o-x", "x86_64-linux\n", "a" * 999 + "-linux"]
)
def test_targets_that_are_none_are_not_shown_to_zig(in_place: Path, target: str) -> None:
    with pytest.raises(BuildError, match=r"^library target .*: zig has none of this name") as caught:
        library(target)
    assert len(str(caught.value)) < 400
    assert in_place.read_text() == ""


@pytest.mark.parametrize("cpu", ["unknown", "cortex a72", "../x", "-v"])
def test_unknown_targets_and_processors(in_place: Path, cpu: str) -> None:
    with pytest.raises(BuildError, match="'x86_64-linux-unknown': zig has none"):
        library("x86_64-linux-unknown", cpu="x86_64_v3")
    with pytest.raises(BuildError, match="zig knows no such processor of aarch64-linux-gnu"):
        library("aarch64-linux-gnu", cpu=cpu)


@pytest.mark.parametrize(
    ("target", "shared"),
    [
        ("aarch64-linux-gnu.2.28", "libarm.so"),
        ("x86_64-windows-gnu", "arm.dll"),
        ("x86_64-windows.win10-gnu", "arm.dll"),
        ("aarch64-macos.11.0", "libarm.dylib"),
        ("arm-linux-gnueabihf", "libarm.so"),
    ],
)
def test_libraries_are_named_as_on_their_system(in_place: Path, target: str, shared: str) -> None:
    assert [library(target, static=static).name("arm") for static in (False, True)] == [shared, "libarm.a"]


def tree(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if "lib/" in path.as_posix()}


def test_libraries_lie_in_the_folder(in_place: Path, tmp_path: Path) -> None:
    """Later ones take the place of earlier ones; files of others stay."""
    out = tmp_path / "out"
    targets = ["aarch64-linux-gnu", "x86_64-windows-gnu"]
    listed = codegen.generate(ROBOT, ["fk", "rnea"], out, lanes=2, libraries=targets, cpu="best")
    linux, windows = (f"lib/{target}" for target in targets)
    made = {f"{linux}/lib{PREFIX}.so", *(f"{windows}/{PREFIX}.{end}" for end in ("dll", "lib"))}
    about = {f"{folder}/{PREFIX}.txt" for folder in (linux, windows)}
    assert tree(out) == made | about | {linux, windows}
    assert made | about <= {path.relative_to(out).as_posix() for path in listed}
    content = (out / f"{PREFIX}.h").read_text().split('_CONTENT "')[1][:64]
    assert content in (out / linux / f"{PREFIX}.txt").read_text()
    compiled = [line for line in in_place.read_text().splitlines() if " -c " in line and "tried" not in line]
    assert len(compiled) == 10
    assert all(line.count(" ".join(FLAGS)) == 1 and "-mcpu=best" in line for line in compiled)
    (out / windows / "notes").write_text("kept")
    codegen.generate(ROBOT, ["fk"], out, libraries=targets[:1], static=True)
    assert tree(out) == {linux, windows, f"{windows}/notes", f"{linux}/lib{PREFIX}.a", f"{linux}/{PREFIX}.txt"}
    codegen.generate(ROBOT, ["fk"], out)
    assert tree(out) == {windows, f"{windows}/notes"}


def test_a_library_of_others_stays(in_place: Path, tmp_path: Path) -> None:
    own = tmp_path / "out" / "lib" / "aarch64-linux-gnu" / f"lib{PREFIX}.so"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"mine")
    with pytest.raises(RobotError, match=r"so was not generated by rigidc"):
        codegen.generate(ROBOT, ["fk"], tmp_path / "out", libraries=["aarch64-linux-gnu"])
    codegen.generate(ROBOT, ["fk"], tmp_path / "out")
    assert own.read_bytes() == b"mine"


def test_a_library_that_fails_leaves_nothing(
    in_place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(logs))
    in_place.with_suffix(".broken").touch()
    before = set(tmp_path.iterdir())
    argv = ["generate", "chain:2", "-a", "fk", "-o", str(tmp_path / "out"), "--library", "x86_64-macos"]
    assert main(argv) == 2
    said = capsys.readouterr().err
    assert "shared library for x86_64-macos (baseline): " in said
    assert "'error: cannot link'; the full log is in " in said
    assert said.count("\n") == 1
    assert set(tmp_path.iterdir()) == before
    assert [path.suffix for path in logs.iterdir()] == [".log"]


def test_what_concerns_libraries_needs_one(tmp_path: Path) -> None:
    for options in ({"static": True}, {"cpu": "cortex_a72"}):
        with pytest.raises(RobotError, match="name the target of one"):
            codegen.generate(ROBOT, ["fk"], tmp_path / "out", **options)
    with pytest.raises(RobotError, match="libraries must be a list of names"):
        codegen.generate(ROBOT, ["fk"], tmp_path / "out", libraries="aarch64-linux-gnu")
    assert not (tmp_path / "out").exists()


@needs_zig
def test_a_callable_by_zig() -> None:
    f = codegen.build(ROBOT, "rnea", compiler="zig")
    assert " by zig cc " in f.header
    states = [ROBOT.random(k) for k in range(9)]
    q, v, a = (np.array(column) for column in zip(*states, strict=True))
    exact = ORACLE["rnea"](ROBOT, q, v, a)
    np.testing.assert_allclose(f(q, v, a), exact, atol=1e-12)
    np.testing.assert_allclose(f(q[0], v[0], a[0]), exact[0], atol=1e-12)


def machine(content: bytes) -> tuple[str, int]:
    """The format of a library, and its number for the processor."""
    if content[:4] == b"\x7fELF":
        return "ELF", struct.unpack_from("<H", content, 18)[0]
    if content[:2] == b"MZ":
        (place,) = struct.unpack_from("<I", content, 0x3C)
        return "PE", struct.unpack_from("<H", content, place + 4)[0]
    assert struct.unpack_from("<I", content)[0] == 0xFEEDFACF
    return "Mach-O", struct.unpack_from("<I", content, 4)[0]


@needs_zig
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("target", "number"),
    [
        ("aarch64-linux-gnu", ("ELF", 183)),
        ("arm-linux-gnueabihf", ("ELF", 40)),
        ("x86_64-windows-gnu", ("PE", 0x8664)),
        ("aarch64-macos", ("Mach-O", 0x0100000C)),
    ],
)
def test_libraries_for_others(tmp_path: Path, target: str, number: tuple[str, int]) -> None:
    paths = codegen.generate(ROBOT, ["rnea"], tmp_path, lanes=2, libraries=[target])
    (path,) = (path for path in paths if path.suffix in (".so", ".dll", ".dylib"))
    content = path.read_bytes()
    assert machine(content) == number
    for function in (f"{PREFIX}_rnea", f"{PREFIX}_rnea_aos", f"{PREFIX}_rnea_soa"):
        assert f"{function}\0".encode() in content
    assert str(tmp_path).encode() not in content
    codegen.generate(ROBOT, ["rnea"], tmp_path, lanes=2, libraries=[target])
    assert path.read_bytes() == content
    codegen.generate(ROBOT, ["rnea"], tmp_path, lanes=2, libraries=[target], static=True)
    assert (path.parent / f"lib{PREFIX}.a").read_bytes()[:8] == b"!<arch>\n"
    assert not path.exists()


@needs_zig
@pytest.mark.thorough
@pytest.mark.skipif(not EMULATOR, reason="no emulator for aarch64")
def test_a_static_library_runs_on_aarch64(tmp_path: Path) -> None:
    target = "aarch64-linux-musl"
    codegen.generate(ROBOT, ["rnea"], tmp_path, libraries=[target], static=True, cpu="cortex_a53")
    library_there = f"lib/{target}/lib{PREFIX}.a"
    command = [str(zig.program()), "cc", "-target", target, "-O2", "-static", "example.c", library_there, "-lm"]
    kept = zig.environment(tmp_path / "kept")
    subprocess.run([*command, "-o", "example"], cwd=tmp_path, env=kept, check=True)
    done = subprocess.run([str(EMULATOR), str(tmp_path / "example")], capture_output=True, text=True, check=True)
    printed = [float(line.split("=")[1]) for line in done.stdout.splitlines()]
    still = np.zeros(ROBOT.nv)
    np.testing.assert_allclose(printed, ORACLE["rnea"](ROBOT, ROBOT.neutral(), still, still), atol=1e-10)
