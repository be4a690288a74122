"""Compilers found, refused and failing."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compilers import COMPILERS
from graph_cases import header, kernel, pendulum, pendulum_by_hand
from thorough import besides, diagonal

import codegen
from codegen.compilation.compiler import WHOLE, compile_extension, machine_flags, module_name, toolchain
from codegen.compilation.runtime import load
from codegen.emission.emit import Style, emit_artifact
from codegen.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codegen.emission.artifact import Artifact

ARTIFACT = emit_artifact(header(), kernel(pendulum()))


@pytest.mark.parametrize(("compiler", "target"), diagonal(COMPILERS, ["native", "portable"]))
def test_every_compiler_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str, target: str) -> None:
    monkeypatch.setenv("RIGIDC_CC", compiler)
    tools = toolchain(target)
    assert tools.command[0].endswith(compiler)
    assert any(flag.endswith("=native") for flag in tools.flags) is (target == "native")
    assert Path(compiler).name in tools.sentence
    assert "/" not in tools.sentence
    artifact, extension = compile_extension([ARTIFACT], tmp_path, tools)
    f = load(artifact, tmp_path / extension)
    q, v = np.array([0.4, 1.1]), np.array([-0.3, 0.2])
    np.testing.assert_allclose(f(q, v).h, pendulum_by_hand(q, v)[1], rtol=1e-14)


@pytest.mark.parametrize("compiler", besides(COMPILERS[:1], COMPILERS))
def test_a_callable_by_a_compiler_of_choice(monkeypatch: pytest.MonkeyPatch, compiler: str) -> None:
    monkeypatch.setenv("RIGIDC_CC", "/no/such/cc")
    f = codegen.build(codegen.load("iiwa"), "fk", compiler=compiler)
    assert f"processors by {compiler} " in dict(f.artifact.files)["iiwa.h"]


def test_rigidc_cc_may_carry_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIGIDC_CC", f"{COMPILERS[0]} -g")
    assert toolchain().command[1:] == ("-g",)


def test_building_says_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    compile_extension([ARTIFACT], tmp_path)
    assert capfd.readouterr() == ("", "")


def test_identities_differ_where_machine_code_may() -> None:
    identities = {toolchain(target, compiler=c).identity for c in COMPILERS for target in ("native", "portable")}
    assert len(identities) == 2 * len(COMPILERS)
    assert toolchain().identity == toolchain().identity


def test_lanes_fill_a_register_of_the_target() -> None:
    assert [toolchain("portable").lanes(size) for size in (8, 4)] == [2, 4]
    assert toolchain("native").lanes(8) in (2, 4, 8)


def test_amds_processors_take_vectors_of_512_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the compiler knows of them, and in loops that have none themselves; Intel's where C has such vectors."""
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    for processor, registers in {
        "AuthenticAMD avx2 avx512f avx512dq": "EIGHTS",
        "AuthenticAMD avx2": "PACKS",
        "GenuineIntel avx2 avx512f avx512dq": "P8",
        "GenuineIntel avx2": "PACKS",
    }.items():
        monkeypatch.setattr("codegen.compilation.compiler._processor", lambda own=processor: own)
        for flag in ("-DRIGIDC_512", *WHOLE):
            assert (flag in machine_flags("native")) is (x86 and registers == "EIGHTS")
        for compiler in COMPILERS if x86 else ():
            assert toolchain(compiler=compiler).registers == registers
            assert {toolchain(target, compiler=compiler).registers for target in ("portable", "x86-64-v3")} == {"PACKS"}


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="vectors of 512 bits are x86-64's")
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_folder_sees_amds_processors_by_what_only_these_have(compiler: str, tmp_path: Path) -> None:
    """A compiler that is older than a processor knows its extensions but not its name.

    Products take registers of 512 bits on all processors that have them, sines and loops on these.
    """
    for name, text in ARTIFACT.files:
        (tmp_path / name).write_text(text, encoding="utf-8")
    real = next(name for name, _ in ARTIFACT.files if name.endswith("_real.h"))
    macro = re.escape(real.removesuffix("_real.h").upper()) + r"_(512|EIGHTS|P8) (\d)"
    wide = ["-mavx512f", "-mavx512dq"]
    for flags, everywhere, products in (
        ([], "0", "0"),
        (wide, "0", "1"),
        ([*wide, "-msse4a"], "1", "1"),
        (["-msse4a"], "0", "0"),
        ([*wide, "-DRIGIDC_512"], "1", "1"),
    ):
        command = [compiler, "-dM", "-E", "-x", "c", *flags, tmp_path / real]
        macros = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        expected = {"512": everywhere, "EIGHTS": everywhere, "P8": products}
        assert dict(re.findall(macro, macros)) == expected, flags


def test_gcc_looks_for_less(tmp_path: Path) -> None:
    """`cc` is told by what it leads to; an unknown compiler gets no flags of gcc's."""
    for name, own in (("gcc-12", True), ("clang-14", False), ("strange", False)):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
        (tmp_path / "cc").unlink(missing_ok=True)
        (tmp_path / "cc").symlink_to(tmp_path / name)
        wanted = own and sys.platform != "darwin"
        assert ("-fno-tree-pre" in toolchain(compiler=str(tmp_path / "cc")).flags) is wanted


def test_clang_spends_less_on_long_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    long, short = 200_000 * " ", "int x;"
    for compiler in COMPILERS:
        monkeypatch.setenv("RIGIDC_CC", compiler)
        flags = [[flag for flag in toolchain().compiling(text) if flag.startswith("-O")] for text in (short, long)]
        assert flags == [["-O2"], ["-O2", "-O1"] if "clang" in compiler else ["-O2"]]


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(BuildError, match="'pentium': choose one of native, "):
        toolchain("pentium")


def test_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RIGIDC_CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("codegen.compilation.zig.wheel", lambda: None)
    with pytest.raises(BuildError, match="install clang or gcc"):
        toolchain()


def test_a_compiler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIGIDC_CC", "/no/such/cc")
    with pytest.raises(BuildError, match="'/no/such/cc' was not found"):
        toolchain()


def test_a_compiler_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\necho 'note: hello' >&2\necho 'arm.c:1: error: no such luck' >&2\nexit 1\n")
    broken.chmod(0o755)
    logs = tmp_path / "logs"
    logs.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(logs))
    with pytest.raises(BuildError, match=r"'arm.c:1: error: no such luck'; the full log is in .*\.log") as caught:
        compile_extension([ARTIFACT], tmp_path, toolchain(compiler=str(broken)))
    assert "\n" not in str(caught.value)
    (log,) = logs.iterdir()
    assert str(log) in str(caught.value)
    assert "note: hello" in log.read_text()


def test_what_drafts_share_is_compiled_while_later_ones_are_made(tmp_path: Path) -> None:
    log, folder = tmp_path / "log", tmp_path / "built"
    log.touch()
    folder.mkdir()
    compiler = tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {toolchain().command[0]} "$@"\n')
    compiler.chmod(0o755)
    (header_file, (kernel_file, text), *others), whole = ARTIFACT.files, f"/* whole */\n{ARTIFACT.source}"

    def drafts() -> Iterator[Artifact]:
        yield ARTIFACT
        for _ in range(6000):
            if "arm_pendulum_lanes.c.o" in log.read_text():
                break
            time.sleep(0.01)
        else:
            pytest.fail("no compiler was started before the last draft")
        assert f"{kernel_file}.o" not in log.read_text()
        yield replace(ARTIFACT, files=(header_file, (kernel_file, whole), *others))

    artifact, extension = compile_extension(drafts(), folder, toolchain(compiler=str(compiler)))
    assert artifact.source == (folder / kernel_file).read_text() == whole != text
    assert log.read_text().count("-c arm_pendulum_lanes.c") == 1
    assert sorted(path.name for path in folder.iterdir()) == sorted([extension, *(name for name, _ in artifact.files)])
    q, v = np.array([0.4, 1.1]), np.array([-0.3, 0.2])
    np.testing.assert_allclose(load(artifact, folder / extension)(q, v).h, pendulum_by_hand(q, v)[1], rtol=1e-14)


def test_a_draft_that_cannot_be_finished_leaves_nothing(tmp_path: Path) -> None:
    def drafts() -> Iterator[Artifact]:
        yield ARTIFACT
        raise BuildError("no more")

    with pytest.raises(BuildError, match="no more"):
        compile_extension(drafts(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_modules_are_named_by_content() -> None:
    other = emit_artifact(header(), kernel(pendulum()), Style("float32"))
    assert module_name(ARTIFACT) == module_name(ARTIFACT) != module_name(other)
    assert os.sep not in module_name(ARTIFACT)
