"""The committed counts: what every algorithm costs, for every bundled robot and for the papers' robots with contacts.

`python -m opcount.baseline` prints what has changed against baseline.json and exits with 1 if a total rose;
`--write` writes today's counts. A test holds every total to the committed one.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.algorithms import ALGORITHMS
from codegen.cli.table import Cell, Table
from codegen.description import bundled
from codegen.errors import UnsuitedError
from codegen.ir.operations import KINDS
from codegen.progress import each, shown
from codegen.robot import load
from opcount.count import counts, tiers_of
from opcount.studies.measured import PAPER, Held

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codegen.algorithms.entry import Algorithm

FILE = Path(__file__).with_name("baseline.json")
HEADER = ("robot", "algorithm", "tier", "baseline", "now", "change", "percent")

SLIPPING = {
    "solo12 friction": Held("solo12", tuple(f"{leg}_FOOT:3:in=world:friction=0.7" for leg in ("FL", "FR", "HL", "HR")))
}
"""Robots whose contacts break, stick and slip."""

SCENARIOS = {
    **PAPER,
    "mini_cheetah F3^4": Held("mini_cheetah", tuple(f"{leg}_foot_contact:3" for leg in ("FL", "FR", "HL", "HR"))),
    "tello_humanoid F6^2": Held("tello_humanoid", ("left-foot:6", "right-foot:6")),
    **SLIPPING,
}
"""Robots with contacts by names: the papers', two that have loops as well, and those that may slip."""

DERIVED = {
    "quantities": (("iiwa", "go1"), ()),
    "derivatives": (("iiwa", "go1"), ("iiwa H3",)),
    "steps": (("iiwa",), ("iiwa H3",)),
}
"""By groups, robots of which they are counted, and robots with contacts: small ones, as passes take long."""

Key = tuple[str, str, str]  # robot or scenario, algorithm, tier
Counts = dict[Key, dict[str, int]]  # operations by class, and their total


def work() -> tuple[tuple[str, str], ...]:
    """What is counted: algorithms without contacts for bundled robots, and those with contacts for scenarios, by names.

    What serves loops alone is counted for robots that have them.
    """
    groups = {name: {"common", "loops"} if load(name).loops else {"common"} for name in bundled()}
    held = {"constrained", "delassus", "damped"}
    groups |= {name: {"frictional"} if name in SLIPPING else held for name in SCENARIOS}
    derived = [entry for entry in ALGORITHMS.values() if entry.group in DERIVED]
    return tuple(
        (name, algorithm)
        for name, wanted in groups.items()
        for algorithm, entry in ALGORITHMS.items()
        if entry.group in wanted
    ) + tuple((name, entry.name) for entry in derived for name in _small(entry))


def _small(entry: Algorithm) -> Iterable[str]:
    """Of which robots, or robots with contacts, derivatives, steps and quantities are counted."""
    return SLIPPING if entry.breaks else DERIVED[entry.group]["k" in entry.inputs]


def read(file: Path = FILE) -> Counts:
    """The counts in a baseline file."""
    content = json.loads(file.read_text(encoding="utf-8"))
    return {
        (robot, algorithm, tier): counted
        for robot, algorithms in content.items()
        for algorithm, tiers in algorithms.items()
        for tier, counted in tiers.items()
    }


def written(measured: Mapping[Key, Mapping[str, int]]) -> str:
    """The text of a baseline file: one line per robot, algorithm and tier, so that differences read well."""
    robots: dict[str, dict[str, list[str]]] = {}
    for (robot, algorithm, tier), by_class in measured.items():
        lines = robots.setdefault(robot, {}).setdefault(algorithm, [])
        lines.append(f"      {json.dumps(tier)}: {json.dumps(by_class)}")
    blocks = [
        f"  {json.dumps(robot)}: {{\n"
        + ",\n".join(f"    {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n    }" for name, lines in inner.items())
        + "\n  }"
        for robot, inner in robots.items()
    ]
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def measure(pairs: Iterable[tuple[str, str]]) -> Counts:
    """Today's counts of pairs as `work` has them, in the order given, on all processors."""
    measured: Counts = {}
    chosen = list(pairs)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(measure_one, chosen)
        for _, part in zip(each(chosen, lambda pair: f"{pair[1]} of {pair[0]}"), found, strict=True):
            measured.update(part)
    return measured


def measure_one(pair: tuple[str, str]) -> Counts:
    """Today's counts of one robot or scenario and algorithm in all tiers; none if they do not suit each other."""
    robot, algorithm = pair
    held = SCENARIOS.get(robot, Held(robot, ()))
    try:
        found = counts(held.model(), algorithm, tiers_of(algorithm), contacts=held.contacts or None)
    except UnsuitedError:
        return {}
    return {
        (robot, algorithm, tier): {**{kind: getattr(counted, kind) for kind in KINDS}, "total": counted.total}
        for tier, counted in found.items()
    }


def differences(before: Counts, now: Counts) -> Table:
    """The totals that differ; a row with an empty cell is new, or gone."""
    rows: list[tuple[Cell, ...]] = []
    for key in dict.fromkeys((*before, *now)):
        old, new = (known[key]["total"] if key in known else None for known in (before, now))
        if old is None or new is None:
            rows.append((*key, old, new, None, None))
        elif old != new:
            rows.append((*key, old, new, new - old, f"{100 * (new - old) / max(old, 1):+.1f}"))
    return Table(HEADER, tuple(rows))


def risen(before: Counts, now: Counts) -> tuple[Key, ...]:
    """What costs more operations than the baseline allows."""
    return tuple(key for key in now if key in before and now[key]["total"] > before[key]["total"])


@shown()
def main(argv: Sequence[str] | None = None) -> int:
    """Compare with the baseline, or write it."""
    parser = argparse.ArgumentParser(prog="python -m opcount.baseline", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write today's counts to baseline.json")
    args = parser.parse_args(argv)
    before = read() if FILE.exists() else {}
    now = measure(work())
    changed = differences(before, now)
    if args.write:
        FILE.write_text(written(now), encoding="utf-8")
    print(changed.text() if changed.rows else f"no change in {len(now)} counts")
    return 1 if risen(before, now) and not args.write else 0


if __name__ == "__main__":
    sys.exit(main())
