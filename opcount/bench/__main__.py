"""Time our code against its peers, interleaved in one run on one core, and write what was found.

Peers: Pinocchio's C++ (headers of the `pin` wheel, compiled here with -O3 -march=native; the first time takes
minutes) and C that CasADi generates from a straightforward version. All get the same robot and the same random
states, and must agree before they are timed; one reading is a few passes over the states, timed in C. Whoever is
not installed is left out, and the report says so.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import codegen
from codegen.errors import BuildError, RobotError
from opcount.bench import limits, peers
from opcount.bench.contest import AGREEMENT, Contestant, Scenario, disagreement, pinned, race, scenario
from opcount.bench.report import Report, Result
from opcount.bench.workshop import Compiler, Workshop, compilers, processor_name

if TYPE_CHECKING:
    from collections.abc import Sequence

ROBOTS = ("iiwa", "go1", "talos", "atlas_shadow")

Entry = tuple[str, Scenario, int, list[Contestant]]  # robot, scenario, operations, who takes part


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench; 1 if a peer disagrees with us, 2 if there is nothing to run."""
    args = _arguments(argv)
    tools = compilers()
    if not tools:
        return _refused("no C compiler was found; install clang or gcc, or set RIGIDC_CC to the path of one")
    workshop = Workshop(args.out.absolute() / "work")
    try:
        entries, absent = enter(args.robots, args.algorithms, args.states, tools, workshop)
    except (BuildError, RobotError) as error:
        return _refused(str(error))
    entries, wrong = agreeing(entries)
    with pinned() as place:
        core = limits.core(tools[0], workshop)
        results = tuple(_result(entry, args.seconds) for entry in entries)
    report = Report(results, core, facts(tools, core, place, args.states, args.seconds), (*absent, *wrong))
    print(report.text())
    print("\n".join(report.write(args.out)))
    return 1 if wrong else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m opcount.bench", description=__doc__)
    parser.add_argument("robots", nargs="*", default=ROBOTS, help=f"bundled names or files ({' '.join(ROBOTS)})")
    parser.add_argument("-a", "--algorithms", type=_names, action="extend", help=f"({','.join(peers.ALGORITHMS)})")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="time for each contest (1)")
    parser.add_argument("--states", type=int, default=64, metavar="N", help="random states that calls go round (64)")
    parser.add_argument("--out", type=Path, default=Path("build/bench"), metavar="DIR", help="(build/bench)")
    args = parser.parse_args(argv)
    args.algorithms = args.algorithms or list(peers.ALGORITHMS)
    unknown = [name for name in args.algorithms if name not in peers.ALGORITHMS]
    if unknown:
        parser.error(f"no contest for {', '.join(unknown)}; choose from {', '.join(peers.ALGORITHMS)}")
    if args.seconds < 0 or args.states < 1:
        parser.error("--seconds must not be negative, and --states must be at least 1")
    return args


def _names(text: str) -> list[str]:
    return text.split(",")


def _refused(sentence: str) -> int:
    print(f"bench: {sentence}", file=sys.stderr)
    return 2


def enter(
    robots: Sequence[str], algorithms: Sequence[str], states: int, tools: Sequence[Compiler], workshop: Workshop
) -> tuple[list[Entry], list[str]]:
    """Everything compiled: one entry per robot and algorithm, and who takes no part."""
    entries: list[Entry] = []
    absent: list[str] = []
    for robot in robots:
        model = codegen.load(robot)
        for algorithm in algorithms:
            function = codegen.build(model, algorithm)
            names = tuple(port.name for port in function.inputs)
            contest = scenario(model, algorithm, names, states)
            found, missing = peers.entered(contest, tools, workshop)
            entries.append((model.name, contest, function.count.total, found))
            absent += missing
    return entries, list(dict.fromkeys(absent))


def agreeing(entries: Sequence[Entry]) -> tuple[list[Entry], list[str]]:
    """The entries without those whose results differ from our first, and a sentence on each of these."""
    kept: list[Entry] = []
    wrong: list[str] = []
    for robot, contest, operations, found in entries:
        errors = [disagreement(contestant, found[0]) for contestant in found]
        good = [contestant for contestant, error in zip(found, errors, strict=True) if error <= AGREEMENT]
        kept.append((robot, contest, operations, good))
        first = found[0].label
        wrong += [
            f"{contest.algorithm} of {robot}: {contestant.label} differs from {first} by {error:.1e}: not timed"
            for contestant, error in zip(found, errors, strict=True)
            if not error <= AGREEMENT
        ]
    return kept, wrong


def _result(entry: Entry, seconds: float) -> Result:
    robot, contest, operations, found = entry
    print(f"timing {contest.algorithm} of {robot}", file=sys.stderr, flush=True)
    readings = race(found, seconds)
    labels = tuple(contestant.label for contestant in found)
    sizes = tuple(limits.size(contestant) if contestant.label.startswith("rigidc") else None for contestant in found)
    return Result(robot, contest.algorithm, operations, labels, readings, sizes)


def facts(
    tools: Sequence[Compiler], core: limits.Core | None, place: str, states: int, seconds: float
) -> tuple[tuple[str, str], ...]:
    """What a reader must know about the machine and the run."""
    load = f"; load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        ("machine", f"{processor_name()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"),
        ("core", str(core) if core else "its limits are not measured on this processor"),
        ("compilers", ", ".join(map(str, tools))),
        ("run", f"{place}{load}; {states} random states in turn, {seconds:g} s for each contest, readings interleaved"),
        ("batch", f"all {states} states in one call of the C batch entry, one thread"),
    )


if __name__ == "__main__":
    sys.exit(main())
