"""Time our code against its peers, interleaved in one run on one core, and write what was found.

A robot is a bundled name, a file, or a robot with contacts from the published table ("talos F6^2"); --contact holds
frames of any robot. Peers: Pinocchio's C++ (headers of the `pin` wheel, compiled here with -O3 -march=native; the
first time takes minutes) and C that CasADi generates from the papers' listings. All get the same robot and the
same random states, and must agree before they are timed; one reading is a few passes over the states, timed in C.
Whoever is not installed is left out, and the report says so.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import codegen
from codegen.compilation.compiler import TARGETS
from codegen.errors import BuildError, RobotError
from codegen.model import Contact
from codegen.model.contacts import contact_of
from codegen.progress import each, note, shown
from opcount.bench import ours, peers, roofline
from opcount.bench.build_dir import BuildDir, Compiler, compilers, processor_name
from opcount.bench.contact_scenarios import SCENARIOS
from opcount.bench.files import write
from opcount.bench.race import Contestant, Scenario, disagreement, pinned, scenario, timed
from opcount.bench.report import Report, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.robot import Robot

ROBOTS = ("iiwa", "go1", "talos", "atlas_shadow")


@dataclass(frozen=True, slots=True)
class Race:
    """An algorithm of a robot, which the report calls `robot`, with its contacts."""

    robot: str
    model: Robot
    algorithm: str
    contacts: tuple[Contact, ...]
    iterations: int

    def __str__(self) -> str:
        return f"{self.algorithm} of {self.robot}"


Entry = tuple[str, Scenario, int, list[Contestant]]  # robot, scenario, operations, who takes part


@shown()
def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench; 1 if a peer disagrees with us, 2 if there is nothing to run."""
    args = _arguments(argv)
    tools = compilers(args.target)
    if not tools:
        return _refused("no C compiler was found; install clang or gcc, or set RIGIDC_CC to the path of one")
    build_dir = BuildDir(args.out.absolute() / "work")
    try:
        entries, absent = enter(chosen(args), args.states, tools, build_dir)
    except (BuildError, RobotError) as error:
        return _refused(str(error))
    entries, wrong = agreeing(entries)
    with pinned() as place:
        core = roofline.core(tools[0], build_dir)
        timed = each(entries, lambda entry: f"timing {entry[1].algorithm} of {entry[0]}")
        results = tuple(_result(entry, args.seconds) for entry in timed)
    report = Report(results, core, facts(tools, core, place, args.states, args.seconds), (*absent, *wrong))
    print(report.text())
    print("\n".join(write(report, args.out)))
    return 1 if wrong else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m opcount.bench", description=__doc__)
    parser.add_argument(
        "robots",
        nargs="*",
        default=(*ROBOTS, *SCENARIOS),
        help=f"({', '.join((*ROBOTS, *SCENARIOS))})".replace("%", "%%"),
    )
    parser.add_argument(
        "-a",
        "--algorithms",
        type=_names,
        action="extend",
        help=f"({','.join(peers.ALGORITHMS)}; with contacts {','.join(peers.HELD)})",
    )
    parser.add_argument(
        "--contact", action="append", default=[], metavar="FRAME:ROWS", help="hold a frame of the robots"
    )
    parser.add_argument("--iterations", type=int, default=3, metavar="N", help="steps of proximal algorithms (3)")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="time for each race (1)")
    parser.add_argument("--states", type=int, default=64, metavar="N", help="random states that calls go round (64)")
    parser.add_argument(
        "--target", choices=TARGETS, default=TARGETS[0], help="processors that our own C is for (native)"
    )
    parser.add_argument("--out", type=Path, default=Path("build/bench"), metavar="DIR", help="(build/bench)")
    args = parser.parse_args(argv)
    unknown = [name for name in args.algorithms or () if name not in peers.EVERY]
    if unknown:
        parser.error(f"no race for {', '.join(unknown)}; choose from {', '.join(peers.EVERY)}")
    if args.seconds < 0 or args.states < 1 or args.iterations < 1:
        parser.error("--seconds must not be negative, --states and --iterations must be at least 1")
    return args


def _names(text: str) -> list[str]:
    return text.split(",")


def _refused(sentence: str) -> int:
    note(f"bench: {sentence}")
    return 2


def chosen(args: argparse.Namespace) -> list[Race]:
    """What is asked for: algorithms without contacts of plain robots, and the others of robots with contacts."""
    found: list[Race] = []
    for name in args.robots:
        robot, texts = SCENARIOS.get(name, (name, tuple(args.contact)))
        model = codegen.load(robot)
        label = name if name in SCENARIOS else " ".join((model.name, *texts))
        contacts = tuple(contact_of(model, text) for text in texts)
        if any(contact != Contact(contact.frame, contact.rows) for contact in contacts):
            raise RobotError(f"{label}: the bench holds rows at a frame's origin, in its own axes and without gains")
        found += [
            Race(label, model, algorithm, contacts, args.iterations)
            for algorithm in args.algorithms or (peers.HELD if contacts else peers.ALGORITHMS)
            if bool(contacts) == (algorithm not in peers.FREE)
        ]
    if not found:
        raise RobotError("these algorithms need contacts: name a robot that has some, or add --contact FRAME:ROWS")
    return found


def enter(
    races: Sequence[Race], states: int, tools: Sequence[Compiler], build_dir: BuildDir
) -> tuple[list[Entry], list[str]]:
    """Everything compiled: one entry per race, and who takes no part."""
    entries: list[Entry] = []
    absent: list[str] = []
    for race in each(races, str):
        function = ours.built(race.model, race.algorithm, race.contacts, race.iterations, tools[0])
        names = tuple(port.name for port in function.inputs)
        given = scenario(race.model, race.algorithm, names, states, race.contacts, race.iterations)
        found, missing = peers.entered(given, tools, build_dir)
        entries.append((race.robot, given, function.count.total, found))
        absent += missing
    return entries, list(dict.fromkeys(absent))


def agreeing(entries: Sequence[Entry]) -> tuple[list[Entry], list[str]]:
    """The entries without those whose results differ from our first, and a sentence on each of these."""
    kept: list[Entry] = []
    wrong: list[str] = []
    for robot, race, operations, found in entries:
        errors = [disagreement(contestant, found[0]) for contestant in found]
        good = [contestant for contestant, error in zip(found, errors, strict=True) if error <= race.tolerance]
        kept.append((robot, race, operations, good))
        first = found[0].label
        wrong += [
            f"{race.algorithm} of {robot}: {contestant.label} differs from {first} by {error:.1e}: not timed"
            for contestant, error in zip(found, errors, strict=True)
            if not error <= race.tolerance
        ]
    return kept, wrong


def _result(entry: Entry, seconds: float) -> Result:
    robot, race, operations, found = entry
    readings = timed(found, seconds)
    labels = tuple(contestant.label for contestant in found)
    sizes = tuple(roofline.size(contestant) if contestant.label.startswith("rigidc") else None for contestant in found)
    return Result(robot, race.algorithm, operations, labels, readings, sizes)


def facts(
    tools: Sequence[Compiler], core: roofline.Core | None, place: str, states: int, seconds: float
) -> tuple[tuple[str, str], ...]:
    """What a reader must know about the machine and the run."""
    load = f"; load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        ("machine", f"{processor_name()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"),
        ("core", str(core) if core else "its limits are not measured on this processor"),
        ("compilers", f"{', '.join(map(str, tools))}; rigidc's C is for {tools[0].target}"),
        ("run", f"{place}{load}; {states} random states in turn, {seconds:g} s for each race, readings interleaved"),
        ("one call", "results of every state overwrite those of the one before, as in Pinocchio's data"),
        ("batch", f"all {states} states in one call of the C batch entry, one thread, states in rows (in columns)"),
    )


if __name__ == "__main__":
    sys.exit(main())
