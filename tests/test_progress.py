"""What stderr shows while something takes its time: no test waits for that time."""

from __future__ import annotations

import io
import multiprocessing
import os
import sys
import threading
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

import codegen
from codegen import pipeline, progress
from codegen.__main__ import main
from codegen.cli import check as check_command
from codegen.compilation.compiler import toolchain
from codegen.progress import doing, each, note, shown
from opcount.bench.build_dir import BuildDir
from opcount.studies.links import every
from opcount.studies.measured import Case, measure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is shown, as soon as it is being done."""
    monkeypatch.setattr(progress, "DELAY", -1.0)
    monkeypatch.setattr(progress, "QUICK", -1.0)
    monkeypatch.setattr(progress, "PACE", -1.0)
    monkeypatch.setattr(progress, "SHARE", -1.0)
    monkeypatch.delenv("RIGIDC_PROGRESS", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def seen(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, work: Callable[[], object]) -> str:
    """What work leaves on stderr, if it is that stream."""
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", stream)
        work()
    return stream.getvalue()


def three() -> None:
    with shown():
        assert list(each((1, 2, 3), "link {}".format)) == [1, 2, 3]


def test_lines_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = seen(monkeypatch, io.StringIO(), three).splitlines()
    assert [line.rpartition(" (")[0] for line in lines] == [f"rigidc: {n} of 3 link {n}" for n in (1, 2, 3)]


def test_one_line_on_a_terminal_which_is_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    text = seen(monkeypatch, Screen(), three)
    assert "\n" not in text
    lines = [line for line in text.split(progress.ERASE) if line]
    assert [line.split("s: ")[1] for line in lines] == [f"{n} of 3 link {n}" for n in (1, 2, 3)]
    assert [line.count("#") for line in lines] == [0, 4, 8]
    assert text.endswith(progress.ERASE)


def test_a_terminal_that_cannot_write_over_a_line_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert seen(monkeypatch, Screen(), three).count("\n") == 3


def test_nothing_shows_while_it_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 3600.0)
    for stream in (Screen(), io.StringIO()):
        assert seen(monkeypatch, stream, three) == ""


def test_the_longer_it_takes_the_fewer_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    for name, value in (("DELAY", 2.0), ("PACE", 5.0), ("SHARE", 0.1), ("OFTEN", 3600.0)):
        monkeypatch.setattr(progress, name, value)

    def work() -> None:
        with shown():
            for now[0] in each(range(1000), str):
                pass

    lines = seen(monkeypatch, io.StringIO(), work).splitlines()
    times = [int(line.split("(")[1].split()[0]) for line in lines]
    assert times[:3] == [2, 7, 12]
    assert all(5 <= later - earlier <= max(5, later / 9 + 1) for earlier, later in pairwise(times))
    assert len(times) < 40


@pytest.mark.parametrize("stream", [Screen, io.StringIO])
def test_zero_switches_it_off(monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO]) -> None:
    monkeypatch.setenv("RIGIDC_PROGRESS", "0")
    assert seen(monkeypatch, stream(), three) == ""


def test_functions_of_python_show_on_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None:
        with doing("aba"):
            pass

    for stream, asked, times in ((Screen, "", 1), (io.StringIO, "", 0), (io.StringIO, "1", 1), (Screen, "0", 0)):
        monkeypatch.setenv("RIGIDC_PROGRESS", asked)
        monkeypatch.setattr(progress, "DELAY", -1.0)
        monkeypatch.setattr(sys, "stderr", stream())
        work()
        assert sys.stderr.getvalue().count("aba") == times  # type: ignore[attr-defined]


def test_parts_stand_behind_what_they_are_parts_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None:
        with shown(), doing("aba of x", 2, 9), doing("aba of x"), doing("compiling\x1b[2J"):
            pass

    last = seen(monkeypatch, io.StringIO(), work).splitlines()[-1]
    assert last.startswith(r"rigidc: 2 of 9 aba of x: compiling\x1b[2J (")


def test_a_note_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None:
        with shown(), doing("aba"):
            note("rigidc: pv is left out")

    text = seen(monkeypatch, Screen(), work)
    assert f"aba{progress.ERASE}rigidc: pv is left out\n" in text
    assert seen(monkeypatch, Screen(), lambda: note("alone")) == "alone\n"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_after_an_error(monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:
    def broken() -> None:
        with shown():
            for n in each((1, 2), str):
                raise error(n)

    def work() -> None:
        with pytest.raises(error):
            broken()

    assert seen(monkeypatch, Screen(), work).endswith(progress.ERASE)
    assert not progress._displays
    assert not [thread for thread in threading.enumerate() if thread.name == "rigidc-progress"]


def test_a_loop_that_an_error_leaves_keeps_no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where nothing is shown around it, and a traceback lives on in an interactive session."""
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", Screen())
        items = each((1, 2), str)
        assert next(items) == 1
        assert not progress._displays


def test_a_stream_that_has_gone_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    seen(monkeypatch, Gone(), three)
    closed = Screen()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    three()
    monkeypatch.setattr(sys, "stderr", None)
    three()


def test_a_thread_shows_that_long_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    written = threading.Event()

    class Watched(io.StringIO):
        def write(self, text: str) -> int:
            if threading.current_thread().name == "rigidc-progress":
                written.set()
            return super().write(text)

    monkeypatch.setattr(progress, "OFTEN", 0.001)

    def work() -> None:
        with shown(), doing("compiling"):
            assert written.wait(60)

    assert "compiling" in seen(monkeypatch, Watched(), work)


def test_other_threads_and_processes_are_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None:
        with shown(), doing("mine"):
            thread = threading.Thread(target=three)
            thread.start()
            thread.join()

    assert "link" not in seen(monkeypatch, io.StringIO(), work)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of POSIX")
def test_a_fork_finds_no_thread_and_its_child_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    with shown(), doing("before"):
        context = multiprocessing.get_context("fork")
        process = context.Process(target=three)
        process.start()
        process.join()
        assert process.exitcode == 0
        assert not [thread for thread in threading.enumerate() if thread.name == "rigidc-progress"]
        with doing("after"):
            assert [thread for thread in threading.enumerate() if thread.name == "rigidc-progress"]
    err = capfd.readouterr().err
    assert "before: after" in err
    assert "link" not in err


def test_a_command_says_how_many_are_left(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    command = ("count", "iiwa", "-a", "rnea,crba", "--json")
    assert main(command) == 0
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert any(line.startswith("rigidc: 2 of 2 crba of iiwa") for line in lines)
    assert any(line.startswith("rigidc: reading iiwa") for line in lines)
    monkeypatch.setenv("RIGIDC_PROGRESS", "0")
    assert main(command) == 0
    assert capsys.readouterr() == (out, "")


def test_a_refusal_is_the_last_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> float:
        raise codegen.RobotError("no")

    monkeypatch.setattr(check_command, "worst_error", refused)
    text = seen(monkeypatch, Screen(), lambda: main(["check", "iiwa", "-a", "rnea"]))
    assert text.endswith(f"{progress.ERASE}rigidc: no\n")


def test_generating_and_choosing_show_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    robot = codegen.load("chain:2")

    def work() -> None:
        codegen.generate(robot, ["rnea", "auto"], tmp_path)

    pipeline.graphs.cache_clear()  # graphs that another test asked for would be there at once
    monkeypatch.setenv("COLUMNS", "200")
    text = seen(monkeypatch, Screen(), work)
    for words in ("auto of chain_2_z", "1 of 2 tracing aba", "1 of 2 rnea of", "passes"):
        assert words in text


def test_a_study_counts_what_its_processes_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")

    def work() -> None:
        with shown(), doing("study links", 1, 8):
            measure(Case(every(n), "pv_osim") for n in (2, 3))

    text = seen(monkeypatch, Screen(), work)
    for n, links in ((1, 3), (2, 2)):  # the longest one first
        assert f"1 of 8 study links: {n} of 2 pv_osim of chain:{links},alternate, contacts: {links}" in text


def test_the_bench_says_what_it_compiles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def work() -> None:
        with shown():
            BuildDir(tmp_path).shared("peer", [*toolchain().command], {"peer.c": "int one = 1;\n"})

    assert seen(monkeypatch, io.StringIO(), work).startswith("rigidc: compiling peer (")
