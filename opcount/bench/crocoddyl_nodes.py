"""One node of an optimal control problem, calc and calcDiff: rigidc's C beside Crocoddyl's own action, in one thread.

All compute the accelerations and forces of a robot with contacts, their derivatives, and costs on the state and the
control. Ours is called as functions alone from C, without costs; through `codegen.to_crocoddyl` from Python, whose
action is Python or C++; and as an action in C++ from C++.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import crocoddyl
import numpy as np

import codegen
from codegen.cli.table import Cell, Table
from codegen.compilation.compiler import toolchain
from codegen.progress import each, note, shown
from opcount.bench.build_dir import Absent, BuildDir, compilers
from opcount.bench.calls import plain
from opcount.bench.crocoddyl_actions import Node
from opcount.bench.crocoddyl_program import measured
from opcount.bench.race import Contestant, Scenario, disagreement, pinned, spread, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codegen.compilation.runtime import Function
    from codegen.robot import Robot

NEAR = 1e-9
HEADER = ("node", "called", "calc us", "calcDiff us", "Crocoddyl's calc", "its calcDiff", "times")


@dataclass(frozen=True, slots=True)
class Case:
    """A bundled robot, whose joints with these words in their names are locked but for some, and the frames held."""

    robot: str
    frames: tuple[str, ...] = ()
    rows: int = 3
    locked: str = ""
    kept: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.robot}, {len(self.frames)} contacts"

    def loaded(self) -> Robot:
        robot = codegen.load(self.robot)
        names = [name for name in robot.joint_names if self.locked in name and name not in self.kept]
        return robot.lock(names) if self.locked else robot


HANDS = ("gripper_left_joint", "gripper_right_joint")
CASES = {
    "iiwa": Case("iiwa"),
    "solo12 F3^4": Case("solo12", ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")),
    "talos(38) F6^2": Case("talos", ("left_sole_link", "right_sole_link"), 6, "gripper", HANDS),
}


@shown()
def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench; 1 if results disagree, 2 for a node that is none."""
    parser = argparse.ArgumentParser(prog="python -m opcount.bench.crocoddyl_nodes", description=__doc__)
    parser.add_argument("nodes", nargs="*", default=[*CASES], help=f"({', '.join(CASES)})")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="time for each race (1)")
    args = parser.parse_args(argv)
    rows, sentences = list[tuple[Cell, ...]](), list[str]()
    for name in each(args.nodes, str):
        if name not in CASES:
            note(f"bench: there is no node {name!r}; choose of {', '.join(CASES)}")
            return 2
        case = CASES[name]
        robot = case.loaded()
        with tempfile.TemporaryDirectory() as folder:
            for called, times, error in raced(Node(robot, case.frames, case.rows), args.seconds, Path(folder)):
                rows.append(row(name, called, times))
                sentences += [f"{name}, {called}: results differ by {error:.1g}"] * (not error < NEAR)
            if case.frames:
                try:
                    place = Path(folder) / "program"
                    error, *times = measured(robot, case.frames, case.rows, place, compiler=compilers()[0].c)
                    rows.append(row(name, "action in C++", times))
                    sentences += [f"{name} in C++: results differ by {error:.1g}"] * (not error < NEAR)
                except Absent as sentence:
                    sentences.append(f"{name}: without C++ ({sentence})")
    print(Table(HEADER, tuple(rows)).text())
    print("\n".join([f"medians, from C++ least of 200; Crocoddyl {crocoddyl.__version__}, one thread", *sentences]))
    return 1 if any("differ" in sentence for sentence in sentences) else 0


def row(name: str, called: str, times: Sequence[float]) -> tuple[Cell, ...]:
    """Times of ours and theirs, and how many times as fast a calc with a calcDiff is."""
    ours, theirs = sum(times[:2]), sum(times[2:])
    return (name, called, *(f"{time:.3g}" for time in times), f"{theirs / ours:.1f}")


def raced(parts: Node, seconds: float, folder: Path) -> list[tuple[str, list[float], float]]:
    """How ours is called, microseconds of ours and theirs, and how far results differ."""
    parts.cost("state", crocoddyl.ResidualModelState(parts.state, parts.nu), 0.1)
    parts.cost("control", crocoddyl.ResidualModelControl(parts.state, parts.nu), 1e-3)
    ours, native, theirs, (x, u) = parts.ours(), parts.ours(cplusplus=True), parts.theirs(), parts.point()
    contestants = list[Contestant]()
    for action in (ours, native, theirs):
        data = action.createData()
        for call in (action.calc, action.calcDiff):
            call(data, x, u)
            found = [getattr(data, name) for name in (("xout",) if call == action.calc else ("Fx", "Fu", "Lx", "Lxx"))]
            contestants.append(contestant(partial(call, data, x, u), found))
        if action is ours:
            given = data.arguments
    functions = [
        in_c(function, parts.robot, given, BuildDir(folder))
        for function in (ours.dynamics.value, ours.dynamics.derivatives)
    ]
    with pinned():  # but not while compilers run
        readings = timed([*contestants, *functions], seconds) / 1e3
    us = [spread(column).median for column in readings.T]
    apart = [max(disagreement(contestants[n + k], contestants[4 + k]) for k in range(2)) for n in (0, 2)]
    return [
        ("functions in C", us[6:] + us[4:6], disagreement(functions[0], contestants[4])),
        ("to_crocoddyl", us[:2] + us[4:6], apart[0]),
        ("its cplusplus=True", us[2:6], apart[1]),
    ]


def in_c(function: Function, robot: Robot, given: Sequence[Any], build_dir: BuildDir) -> Contestant:
    """The C of a function at one state, called from C."""
    compiler, made = compilers()[0], function.artifact
    command = [compiler.c, *toolchain(compiler.target, compiler=compiler.c).flags]
    library = build_dir.shared(made.symbol, command, dict(made.files), f"{made.symbol}.c")
    names = tuple(port.name for port in made.inputs)
    at = Scenario(robot, made.symbol, names, tuple(np.array(x, ndmin=2) for x in given))
    return plain("C", at, build_dir.driver(compiler), library, made.symbol, [port.size for port in made.outputs])


def contestant(call: Callable[[], Any], found: Sequence[Any]) -> Contestant:
    """A call from Python, and its results in one row."""

    def run(rounds: int) -> float:
        call()
        begun = time.perf_counter_ns()
        for _ in range(rounds):
            call()
        return float(time.perf_counter_ns() - begun)

    return Contestant("", run, 1, np.hstack([np.ravel(x) for x in found])[None] if found else np.zeros((1, 0)))


if __name__ == "__main__":
    sys.exit(main())
