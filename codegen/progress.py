"""Progress on stderr, for work that a person waits for: what is being done, how many are left, and since when.

`doing` and `each` say what is being done, `shown` shows it while its body runs. Nothing is shown for two seconds. On a
terminal one line is written over again and again, and erased at the end; elsewhere there is a line now and then, the
longer it takes the fewer. RIGIDC_PROGRESS=0 shows nothing, RIGIDC_PROGRESS=1 lines for Python's functions too.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import threading
import time
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import TextIO

    Part = tuple[str, int, int]
    """What is being done, its number among others, and how many these are (0 or 1: it is alone)."""

DELAY = 2.0  # seconds for which nothing is shown
OFTEN = 0.5  # seconds between two looks at the clock
QUICK = 0.1  # seconds between two states of a terminal's line, at least
PACE, SHARE = 5.0, 0.1  # seconds between two lines elsewhere, at least, and their part of the time that has passed
WIDTH = 12  # of the bar
KNOWN = 3  # items done before the time that the others take is told from theirs
ERASE = "\r\x1b[K"

T = TypeVar("T")
_screen = threading.Lock()
_displays: list[Display] = []
"""The display that has the screen, if there is one."""


def plain(text: str) -> str:
    """`text` on one line, with every character that a terminal would act upon written as an escape."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class Display:
    """What is being done, on a stream; a thread of its own shows that it goes on. Only its maker adds parts to it."""

    __slots__ = (
        "_counted",
        "_last",
        "_lock",
        "_parts",
        "_rewrites",
        "_since",
        "_stop",
        "_stream",
        "_thread",
        "_up",
        "owner",
    )

    def __init__(self, stream: TextIO, rewrites: bool) -> None:
        """Nothing is being done yet; `rewrites` on a terminal, which can take back what it shows."""
        self.owner = threading.get_ident()
        self._stream, self._rewrites = stream, rewrites
        self._parts: list[Part] = []
        self._counted = (0, 0, 0, 0.0)
        self._since, self._last, self._up = time.monotonic(), -math.inf, False
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def part(self, part: Part) -> Iterator[None]:
        """Meanwhile this is being done, as part of all that has been begun."""
        self._parts.append(part)
        self._wake()
        self.tick()
        try:
            yield
        finally:
            self._parts.remove(part)
            if not self._parts:
                self._clear()

    def tick(self) -> None:
        """Write what is being done, if it is time to."""
        with self._lock:
            parts, now = tuple(self._parts), time.monotonic()
            passed = now - self._since
            pace = QUICK if self._rewrites else max(PACE, SHARE * passed)
            if not parts or passed < DELAY or now - self._last < pace:
                return
            self._last = now
            self._up = self._rewrites
            if self._rewrites:
                line = f"{_bar(parts)}{passed:.0f} s{self._left(parts, now)}: {_words(parts)}"
                self._write(ERASE + line[: shutil.get_terminal_size().columns - 1])
            else:
                self._write(f"rigidc: {_words(parts)} ({passed:.0f} s{self._left(parts, now)})\n")

    def _left(self, parts: Sequence[Part], now: float) -> str:
        """About how long the innermost of those parts will go on that are counted, once some of its items are done."""
        depth, number, total = next(((n, k, of) for n, (_, k, of) in [*enumerate(parts)][::-1] if of > 1), (0, 0, 0))
        if self._counted[:2] != (depth, total) or number < self._counted[2]:
            self._counted = (depth, total, number, now)
        done = number - self._counted[2]
        if not total or done < KNOWN:
            return ""
        left = (now - self._counted[3]) / done * (total - number + 1)
        return f", {left:.0f} s left" if left < 100 else f", {left / 60:.0f} min left"

    def note(self, line: str) -> None:
        """A line that stays, above what is shown."""
        self._clear()
        with self._lock:
            self._write(f"{line}\n")

    def rest(self) -> None:
        """No thread, until more is being done."""
        if self._thread is not None:
            self._stop.set()
            self._thread.join()
            self._thread = None

    def close(self) -> None:
        """Nothing is left on a terminal."""
        self.rest()
        self._clear()

    def _wake(self) -> None:
        if self._thread is None:
            self._stop = threading.Event()
            thread = threading.Thread(target=self._watch, args=(self._stop,), daemon=True, name="rigidc-progress")
            with suppress(RuntimeError):  # no more threads: then there are no signs of life between the steps
                thread.start()
                self._thread = thread

    def _watch(self, stop: threading.Event) -> None:
        while not stop.wait(OFTEN):
            self.tick()

    def _clear(self) -> None:
        with self._lock:
            if self._up:
                self._write(ERASE)
            self._up = False

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # whoever read it has left
            self._stream.write(text)
            self._stream.flush()


def _words(parts: Sequence[Part]) -> str:
    """Parts, the outermost first; one that says the same as that around it is left out."""
    said = [
        f"{number} of {total} {plain(what)}" if total > 1 else plain(what)
        for n, (what, number, total) in enumerate(parts)
        if n == 0 or what != parts[n - 1][0]
    ]
    return ": ".join(said)


def _bar(parts: Sequence[Part]) -> str:
    """How far the outermost of those parts is that are counted."""
    for _, number, total in parts:
        if total > 1:
            return f"[{('#' * (WIDTH * (number - 1) // total)).ljust(WIDTH, '.')}] "
    return ""


@contextmanager
def shown(lines: bool = True) -> Iterator[None]:
    """Meanwhile stderr shows what is being done: on a terminal, and if `lines`, in files and pipes too.

    Nothing changes within another `shown`, in other threads meanwhile, or in processes that this one started.
    """
    stream, asked = sys.stderr, os.environ.get("RIGIDC_PROGRESS", "")
    terminal = _is_terminal(stream)
    wanted = stream is not None and asked != "0" and (terminal or lines or asked == "1")
    if not wanted or _started_by_another() or not _screen.acquire(blocking=False):
        yield
        return
    display = Display(stream, terminal)
    _displays.append(display)
    try:
        yield
    finally:
        _displays.clear()
        display.close()
        _screen.release()


@contextmanager
def doing(what: str, number: int = 0, total: int = 0) -> Iterator[None]:
    """Meanwhile this is being done, as one of `total` if there are several; shown on a terminal, if nowhere else."""
    with shown(lines=False), _part((what, number, total)):
        yield


def each(work: Sequence[T], describe: Callable[[T], str]) -> Iterator[T]:
    """Every item of `work` in turn, being done until the next one is asked for; seen within `shown` or `doing` only.

    A loop that is left by an exception leaves its iterator open for as long as the traceback lives.
    """
    for n, item in enumerate(work):
        with _part((describe(item), n + 1, len(work))):
            yield item


def _part(part: Part) -> AbstractContextManager[None]:
    """Meanwhile this is being done, if this thread has the screen."""
    mine = (display for display in _displays if display.owner == threading.get_ident())
    return next((display.part(part) for display in mine), nullcontext())


def note(line: str) -> None:
    """A line on stderr, in place of what is shown there."""
    for display in _displays:
        display.note(line)
    if not _displays:
        sys.stderr.write(f"{line}\n")


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether this is a terminal on which a line can be written over."""
    try:
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):  # no real file, or a closed one
        return False


def _started_by_another() -> bool:
    """Whether this is one of many processes at work for another one, which has the screen."""
    processes = sys.modules.get("multiprocessing.process")  # not imported where there are none
    return processes is not None and processes.parent_process() is not None


def _rest() -> None:
    for display in _displays:
        display.rest()


if hasattr(os, "register_at_fork"):  # threads do not live on in a fork; the parent's starts again with the next part
    os.register_at_fork(before=_rest, after_in_child=_displays.clear)
