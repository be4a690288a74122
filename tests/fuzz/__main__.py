"""`python -m fuzz --seed START --count N --jobs J`: so many mutants from that number on; exit code 1 on findings.

Every mutant is a function of its number, so that a run goes on where another ended (`--seed`). Findings are made
small and kept in build/fuzz, under their number and what is wrong.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections import Counter
from pathlib import Path

from fuzz.mutants import mutant
from fuzz.pool import Outcome, Pool
from fuzz.shrink import shrunk

EVERY = 10.0  # s between lines of progress
SHRUNK = 2  # findings of one kind that are made small


def main() -> int:
    options = _options()
    print(f"fuzz: mutants {options.seed} to {options.seed + options.count - 1}, {options.jobs} processes")
    pool, spare = Pool(options.jobs), Pool(1)
    counts: Counter[str] = Counter()
    found: Counter[str] = Counter()
    start = said = time.monotonic()
    try:
        for first in pool.outcomes((number, None) for number in range(options.seed, options.seed + options.count)):
            outcome = first
            if outcome.what == "time-out":  # a machine that sleeps, or is too busy, is no fault of the mutant
                (outcome,) = spare.outcomes([(outcome.number, None)])
            counts[outcome.details if not outcome.what else "finding"] += 1
            if outcome.what:
                found[outcome.what] += 1
                if found[outcome.what] <= SHRUNK:
                    _keep(outcome, spare, options.out)
            if time.monotonic() - said > EVERY:
                said = time.monotonic()
                _progress(sum(counts.values()), options.count, said - start, sum(found.values()))
    except KeyboardInterrupt:
        print("fuzz: interrupted; go on with a later --seed", file=sys.stderr)
    finally:
        pool.close()
        spare.close()
    done = sum(counts.values())
    took = time.monotonic() - start
    print(
        f"fuzz: {done} mutants ({counts['loaded']} load, {counts['refused']} are refused) in {took:.0f} s; "
        f"{sum(found.values())} findings; next --seed {options.seed + done}"
    )
    for what, times in found.most_common():
        print(f"  {times} x {what}")
    return 1 if found or done < options.count else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Load mutants of robot files.")
    parser.add_argument("--seed", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--count", type=int, default=10_000, help="how many mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"), help="where findings go")
    return parser.parse_args()


def _keep(outcome: Outcome, pool: Pool, out: Path) -> None:
    """Write a finding down, made small, with the files that lie beside it."""
    small = shrunk(mutant(outcome.number), outcome.what, pool)
    word = re.sub(r"\W+", "-", outcome.what)[:60].strip("-")
    folder = out / f"{outcome.number}-{word}" if small.beside else out
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{outcome.number}-{word}.{small.suffix}"
    path.write_bytes(small.content)
    for name, content in small.beside.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    path.with_suffix(".txt").write_text(f"{outcome.what}\n{outcome.details}\n", encoding="utf-8", errors="replace")
    print(f"fuzz: mutant {outcome.number} (of {small.seed}): {outcome.what}; see {path}", flush=True)


def _progress(done: int, count: int, seconds: float, findings: int) -> None:
    rate = done / seconds
    left = (count - done) / max(rate, 1e-9)
    print(
        f"fuzz: {done} of {count}, {rate:.0f} a second, {left:.0f} s left, {findings} findings",
        file=sys.stderr,
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
