"""What arguments that several commands share ask for: a robot, algorithms, and their options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from codegen.cli.table import plain
from codegen.errors import RobotError, UnsuitedError
from codegen.progress import note

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from codegen.robot import Robot

T = TypeVar("T")


def load(args: argparse.Namespace, robot: str) -> Robot:
    """The robot called `robot`, read as the arguments say."""
    from codegen.robot import load as read

    snap = {} if args.snap is None else {"snap": args.snap}
    model = reduced(args, read(robot, args.base, args.convention, args.order, **snap))
    for text in args.new_frames:
        model = _with_frame(model, text)
    return model


def reduced(args: argparse.Namespace, robot: Robot) -> Robot:
    """The robot, less what the arguments of `add_reduction` take away: a subtree first, then joints."""
    if args.subtree is not None:
        robot = robot.subtree(args.subtree, args.base or "fixed")
    locked: dict[str, list[float] | None] = {}
    for name, values in (_locked(robot, text) for text in args.locked):
        if name in locked:
            raise RobotError(f"--lock {name!r} is given twice; leave one out")
        locked[name] = values
    robot = robot.lock(locked)
    if args.lock_all_but is not None:
        names = args.lock_all_but
        robot = robot.lock_all_but(*([names] if names in robot.joint_names else names.split(",")))
    return robot


def _locked(robot: Robot, text: str) -> tuple[str, list[float] | None]:
    """A joint and the positions at which a text locks it (None: where it is at neutral)."""
    name, equals, values = text.rpartition("=")
    if not equals or text in robot.joint_names:
        return text, None
    try:
        return name, [float(value) for value in values.split(",")]
    except ValueError:
        raise RobotError(f"--lock {text!r}: write NAME, NAME=NUMBER or NAME=NUMBER,NUMBER,...") from None


_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_TRIPLE = f"({_NUMBER},{_NUMBER},{_NUMBER})"
_FRAME = re.compile(f"([^=]*)=(.*?):{_TRIPLE}(?::{_TRIPLE})?")


def _with_frame(model: Robot, text: str) -> Robot:
    """The robot with the frame that a text states; RobotError if it states none."""
    found = _FRAME.fullmatch(text)
    if not found:
        raise RobotError(f"frame {text!r}: write NAME=FRAME:X,Y,Z or NAME=FRAME:X,Y,Z:ROLL,PITCH,YAW")
    name, on, *numbers = found.groups(default="0,0,0")
    xyz, rpy = ([float(number) for number in part.split(",")] for part in numbers)
    return model.with_frame(name, on, xyz, rpy)


def algorithms(args: argparse.Namespace, robot: Robot | None = None) -> list[str]:
    """The chosen algorithms in the order given; RobotError for a name unknown.

    If none was chosen, the common ones, and where `robot` has loops, those that are for loops and the Delassus ones.
    """
    from codegen.algorithms import ALGORITHMS
    from codegen.task.auto_select import AUTO

    chosen = _named(args)
    for name in chosen:
        if name not in (*ALGORITHMS, AUTO):
            known = ", ".join(ALGORITHMS)
            raise RobotError(f"there is no algorithm {name!r}; the algorithms are {known}")
    usual = ["common", "loops", "delassus"] if robot is not None and robot.loops else ["common"]
    groups = args.groups if chosen or args.groups or args.algorithms_required else usual
    chosen += [name for group in groups for name, entry in ALGORITHMS.items() if entry.group == group]
    if not chosen:
        raise RobotError(
            "name an algorithm with --algorithm, or a kind of them with --group; see rigidc COMMAND --help"
        )
    return list(dict.fromkeys(chosen))


def resolved(args: argparse.Namespace, names: list[str], robot: Robot, **own: Any) -> list[str]:
    """The algorithms, with the one that `auto` takes for the robot in its place; `own` are options of the command."""
    from codegen.api import auto
    from codegen.task.auto_select import AUTO

    if AUTO not in names:
        return names
    options = {**task_options(args, AUTO), **own}
    del options["frames"], options["tier"]
    taken = auto(robot, **options).algorithm
    return list(dict.fromkeys(taken if name == AUTO else name for name in names))


def _named(args: argparse.Namespace) -> list[str]:
    """The algorithms named with -a."""
    return [name.strip() for names in args.algorithms or () for name in names.split(",")]


def unless_unsuited(args: argparse.Namespace, name: str, work: Callable[[], T], *, beside: bool = False) -> T | None:
    """What `work` returns; None, with a line on stderr, if it does not suit the robot and -a does not name it.

    What comes beside an algorithm that is named, as a product of its derivatives, is left out, too.
    """
    from codegen.algorithms import ALGORITHMS

    try:
        return work()
    except UnsuitedError as refusal:
        named = name in _named(args) or (args.algorithms and ALGORITHMS[name].group not in args.groups)
        if named and not beside:  # or `auto` took it
            raise
        note(f"rigidc: {name} is left out: {plain(str(refusal))}")
        return None


def task_options(args: argparse.Namespace, name: str | None = None) -> dict[str, Any]:
    """The options of `codegen.graphs` that the arguments of `add_task` state, for one of the algorithms or for all."""
    from codegen.algorithms import concerning

    return {
        "frames": tuple(args.frames),
        "external": tuple(args.external),
        "parameters": concerning(name, algorithms(args), args.parameters) if name else tuple(args.parameters),
        "contacts": tuple(args.contacts) or None,
        "iterations": args.iterations or 3,
        "without": [name for names in args.without for name in names.split(",")],
        "tier": args.tier or "emitted",
    }


def build_options(args: argparse.Namespace, name: str | None = None) -> dict[str, Any]:
    """The options of `codegen.build` that the arguments of `add_build` state, for one of the algorithms or for all."""
    return {**task_options(args, name), "dtype": args.dtype, "trig": args.trig}
