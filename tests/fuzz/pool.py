"""Child processes that try mutants, limited in memory and time, and replaced when they die."""

from __future__ import annotations

import multiprocessing
import os
import resource
import tempfile
import time
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fuzz.files import Mutant

MEMORY = 3 * 2**30  # bytes of address space of a child
PATIENCE = 60.0  # s for one mutant
LIFE = 2000  # mutants that one child tries


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a mutant: `what` is wrong ("" if nothing is), and the details ("refused" or "loaded")."""

    number: int
    what: str
    details: str


@dataclass(slots=True)
class _Child:
    process: Any
    pipe: Connection
    job: tuple[int, Mutant | None] | None = None
    since: float = 0.0
    tried: int = 0


@dataclass(slots=True)
class Pool:
    """So many children, each of which tries so many mutants in its life; `trial` is the module that says how."""

    jobs: int
    life: int = LIFE
    trial: str = "fuzz.trial"
    children: list[_Child] = field(default_factory=list)

    def outcomes(self, work: Iterable[tuple[int, Mutant | None]]) -> Iterator[Outcome]:
        """What comes of every mutant, given by its number or itself, in the order in which they are done."""
        queue = iter(work)
        self.children = self.children or [_started(self.trial) for _ in range(self.jobs)]
        busy = [child for child in self.children if _fed(child, queue)]
        while busy:
            wait([child.pipe for child in busy], timeout=1.0)
            for child in list(busy):
                outcome = _heard(child)
                if outcome is None:
                    continue
                yield outcome
                if not child.process.is_alive() or child.tried >= self.life:
                    _ended(child)
                    fresh = _started(self.trial)
                    self.children[self.children.index(child)] = fresh
                    busy[busy.index(child)] = child = fresh
                if not _fed(child, queue):
                    busy.remove(child)

    def close(self) -> None:
        """End all children."""
        for child in self.children:
            _ended(child)
        self.children = []


def _fed(child: _Child, queue: Iterator[tuple[int, Mutant | None]]) -> bool:
    child.job = next(queue, None)
    if child.job is None:
        return False
    child.since = time.monotonic()
    child.pipe.send(child.job)
    return True


def _heard(child: _Child) -> Outcome | None:
    """What a child says, or what its silence means; None while it is at work."""
    assert child.job is not None
    number = child.job[0]
    if child.pipe.poll():
        try:
            child.tried += 1
            return Outcome(number, *child.pipe.recv())
        except (EOFError, ConnectionError):
            child.process.join(10.0)
            return Outcome(number, f"crash ({child.process.exitcode})", "")
    if time.monotonic() - child.since > PATIENCE:
        _ended(child)
        return Outcome(number, "time-out", f"more than {PATIENCE:g} s")
    return None


def _started(trial: str) -> _Child:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_work, args=(there, trial), daemon=True)
    process.start()
    there.close()
    return _Child(process, here)


def _ended(child: _Child) -> None:
    child.process.kill()
    child.process.join(10.0)
    child.pipe.close()


def _work(pipe: Connection, trial: str) -> None:
    """A child's life: mutants in, findings out. What libraries print goes nowhere."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    tried = import_module(trial)  # after the limits are set
    while True:
        try:
            number, given = pipe.recv()
        except EOFError:
            return
        with tempfile.TemporaryDirectory(prefix="rigidc-fuzz-") as folder:
            os.chdir(folder)
            pipe.send(tried.outcome(number, given, Path(folder)))
            os.chdir("/")
