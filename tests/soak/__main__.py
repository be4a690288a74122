"""Run seeds: every finding is printed, cut down and written; the last line sums up. Exit code 1 if there is any.

  python -m soak --count 500             seeds 0 to 499 (with PYTHONPATH=tests)
  python -m soak --seed 500 --count 500 --compiled 30
  python -m soak --replay build/soak/17.case.json

Each seed has a time limit and each process a limit of memory; a hang, a crash and a lack of memory are findings.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.description import read
from codegen.errors import RobotError
from soak.cases import Case, case, run_of
from soak.shrinking import trouble_of
from soak.working import Worker, started, written

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERY = 20.0  # seconds between two lines of progress where nobody watches


def main() -> int:
    """Seeds, or one case again."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, metavar="START", help="the first seed (0)")
    parser.add_argument("--count", type=int, default=200, metavar="N", help="how many seeds (200)")
    parser.add_argument("--compiled", type=int, default=10, metavar="M", help="how many of them are compiled, too (10)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="J", help="processes (all cores)")
    parser.add_argument("--limit", type=float, default=600.0, metavar="S", help="seconds for one seed (600)")
    parser.add_argument("--memory", type=float, default=4.0, metavar="GB", help="for one process (4)")
    parser.add_argument("--shrink", type=float, default=60.0, metavar="S", help="seconds to cut a finding down (60)")
    parser.add_argument("--out", type=Path, default=Path("build/soak"), metavar="FOLDER", help="for findings")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run one case that was written")
    args = parser.parse_args()
    cache = tempfile.mkdtemp(prefix="rigidc-soak-")
    os.environ.setdefault("RIGIDC_CACHE", cache)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small, and processes many
    try:
        return _replay(args.replay) if args.replay else _soak(args)
    finally:
        shutil.rmtree(cache, ignore_errors=True)


def _replay(path: Path) -> int:
    """One case again, from its file and its robot's."""
    stated = json.loads(path.read_text(encoding="utf-8"))
    robot = read(path.with_name(stated["robot"]))
    again = Case(stated["seed"], robot, stated["convention"], tuple(map(run_of, stated["runs"])))
    trouble = trouble_of(again)
    print(trouble or "nothing is wrong")
    return 1 if trouble else 0


def _soak(args: argparse.Namespace) -> int:
    """All seeds, by several processes."""
    seeds = range(args.seed, args.seed + args.count)
    step = max(1, args.count // args.compiled) if args.compiled else 0
    compiled = {*seeds[:: step or 1][: args.compiled]} if step else set()
    tasks = ((seed, own) for seed in seeds for own in ((False, True) if seed in compiled else (False,)))
    total, done, findings, tally = args.count + len(compiled), 0, 0, Counter[str]()
    start, shown = time.monotonic(), 0.0
    workers = [started(args.memory, args.shrink, args.out) for _ in range(min(args.jobs, total))]
    try:
        for worker in workers:
            _give(worker, tasks)
        while any(worker.task for worker in workers):
            busy = [worker for worker in workers if worker.task]
            ready = wait([worker.pipe for worker in busy], timeout=1.0)
            for n, worker in enumerate(workers):
                if not worker.task:
                    continue
                message = _heard(worker, worker.pipe in ready, args)
                if message is None:
                    continue
                word, text, counts = message
                if word == "found":
                    worker.since = time.monotonic() + args.shrink  # it now cuts the finding down
                    continue
                done, tally = done + 1, tally + counts
                if word != "right":
                    findings += 1
                    _say(f"seed {worker.task[0]}{' compiled' if worker.task[1] else ''}: {text}", True)
                if word == "gone":
                    workers[n] = worker = started(args.memory, args.shrink, args.out)
                _give(worker, tasks)
            if time.monotonic() - shown > (0.2 if sys.stderr.isatty() else EVERY):
                shown = time.monotonic()
                _say(f"[{done}/{total}] {findings} findings, {shown - start:.0f} s")
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.join()
    counts = ", ".join(f"{number:,} {name}" for name, number in sorted(tally.items()))
    _say(f"[{done}/{total}]", True)
    print(
        f"seeds {seeds.start} to {seeds.stop - 1}, {len(compiled)} of them compiled: {findings} findings "
        f"({counts}; {time.monotonic() - start:.0f} s on {len(workers)} processes); go on with --seed {seeds.stop}"
    )
    return 1 if findings else 0


def _say(line: str, stays: bool = False) -> None:
    """A line on stderr, which the next one replaces unless it stays."""
    watched = sys.stderr.isatty()
    sys.stderr.write(f"{chr(13) if watched else ''}{line}{chr(27) + '[K' if watched else ''}")
    sys.stderr.write("\n" if stays or not watched else "")
    sys.stderr.flush()


def _give(worker: Worker, tasks: Iterator[tuple[int, bool]]) -> None:
    """The next task, if there is one."""
    worker.task, worker.since = next(tasks, None), time.monotonic()
    if worker.task:
        worker.pipe.send(worker.task)


def _heard(worker: Worker, ready: bool, args: argparse.Namespace) -> tuple[str, str, Counter[str]] | None:
    """What a worker has to say; if it says nothing for too long, or is no more, that."""
    assert worker.task
    if ready:
        try:
            message: tuple[str, str, Counter[str]] = worker.pipe.recv()
            return message
        except (EOFError, OSError):
            worker.process.join()
            trouble = f"the process died (exit code {worker.process.exitcode})"
    elif time.monotonic() - worker.since < args.limit:
        return None
    else:
        worker.process.kill()
        worker.process.join()
        trouble = f"nothing after {args.limit:g} s"
    try:
        path: object = written(case(*worker.task), trouble, args.out, worker.task[1])
    except RobotError:
        path = "no case"
    return "gone", f"{trouble}: {path}", Counter()


if __name__ == "__main__":
    sys.exit(main())
