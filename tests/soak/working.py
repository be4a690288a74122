"""Processes that run seeds: a process may hang, crash or want too much memory, and only it is lost."""

from __future__ import annotations

import json
import multiprocessing
import resource
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codegen.description import write_json
from soak.cases import Case, case
from soak.shrinking import shrunk, trouble_of
from soak.verdict import judged

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from pathlib import Path

GIGABYTE = 2**30


@dataclass
class Worker:
    """A process that runs one task after another, and since when it has been running the present one."""

    process: multiprocessing.process.BaseProcess
    pipe: Connection
    task: tuple[int, bool] | None = None
    since: float = field(default_factory=time.monotonic)


def started(memory: float, seconds: float, out: Path) -> Worker:
    """A new process, with so much memory (GB), which cuts findings down for so many seconds and writes them."""
    spawning = multiprocessing.get_context("spawn")
    own, other = spawning.Pipe()
    process = spawning.Process(target=_work, args=(other, memory, seconds, out), daemon=True)
    process.start()
    other.close()
    return Worker(process, own)


def _work(pipe: Connection, memory: float, seconds: float, out: Path) -> None:
    """One task after another, until nobody asks any more."""
    limit = int(memory * GIGABYTE)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    while True:
        try:
            seed, compiled = pipe.recv()
        except EOFError:
            return
        tally: Counter[str] = Counter()
        try:
            drawn = case(seed, compiled)
            trouble = _tried(drawn, tally)
            if not trouble:
                pipe.send(("right", "", tally))
                continue
            pipe.send(("found", trouble, tally))
            least = shrunk(drawn, trouble, seconds)
            text = f"{trouble}: {written(least, trouble_of(least) or trouble, out, compiled)}"
        except Exception:
            text = traceback.format_exc()
        pipe.send(("wrong", text, tally))


def _tried(drawn: Case, tally: Counter[str]) -> str:
    """What is wrong with a case; nothing, and the tally of its runs, if it is right."""
    model = drawn.model
    for run in drawn.runs:
        try:
            outcome = judged(model, run)
        except Exception as error:
            return f"{run.algorithm}: {type(error).__name__}: {error}"
        tally += outcome.tally
        if outcome.trouble:
            return f"{run.algorithm}: {outcome.trouble}"
    return ""


def written(least: Case, trouble: str, out: Path, compiled: bool) -> Path:
    """The files of a case: its robot, and what is asked of it."""
    out.mkdir(parents=True, exist_ok=True)
    name = f"{least.seed}{'_compiled' if compiled else ''}"
    robot, path = out / f"{name}.json", out / f"{name}.case.json"
    robot.write_text(write_json(least.description), encoding="utf-8")
    stated: dict[str, Any] = {"robot": robot.name, "trouble": trouble, **least.stated()}
    path.write_text(json.dumps(stated, indent=1) + "\n", encoding="utf-8")
    return path
