"""Arguments that several commands share, and what they mean."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any, TypeVar

from codegen.cli.table import plain
from codegen.errors import RobotError, UnsuitedError
from codegen.progress import note

if TYPE_CHECKING:
    from collections.abc import Callable

    from codegen.robot import Robot

ROBOT = (
    "a bundled robot (`rigidc robots` lists them), a mechanism such as chain:20, or a .urdf, .xml (MJCF) or .json file"
)


T = TypeVar("T")
GROUPS = ("common", "quantities", "derivatives", "steps", "constrained", "delassus", "damped", "loops")


def add_robot(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """The robot, or several, and how its description is read."""
    if several:
        parser.add_argument("robots", metavar="ROBOT", nargs="+", help=ROBOT)
    else:
        parser.add_argument("robot", metavar="ROBOT", help=ROBOT)
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How a description is read: base, convention, order of the coordinates."""
    group = parser.add_argument_group("reading the robot")
    add_base(group)
    add_reduction(group)
    group.add_argument(
        "--convention",
        choices=("pinocchio", "mujoco"),
        default="pinocchio",
        help="quaternion order and base velocity: pinocchio (xyzw; velocities in base axes; the default) "
        "or mujoco (wxyz; linear in world axes, angular in base axes)",
    )
    group.add_argument(
        "--order",
        choices=("file", "name"),
        default="file",
        help="order of the joints that one body carries, and so of the coordinates: as in the file "
        "(the default), or by name",
    )
    group.add_argument(
        "--snap",
        type=tolerance,
        metavar="RAD",
        help="entries of rotations and axes this small (rad) are taken for zero (default 1e-11, which is rounding; "
        "1e-5 takes 1.5708 for a right angle; 0 leaves all numbers but those of rotations that are none)",
    )
    group.add_argument(
        "--with-frame",
        dest="new_frames",
        metavar="NAME=FRAME:X,Y,Z[:ROLL,PITCH,YAW]",
        action="append",
        default=[],
        help="one more frame, so far (m) from a frame of the robot in its axes and turned by these angles (rad, as in "
        "URDF); repeatable",
    )


def add_base(parser: argparse._ActionsContainer) -> None:
    """--floating or --fixed; the description decides where neither is given."""
    base = parser.add_mutually_exclusive_group()
    base.add_argument(
        "--floating",
        dest="base",
        action="store_const",
        const="floating",
        help="let the root body move freely",
    )
    base.add_argument(
        "--fixed",
        dest="base",
        action="store_const",
        const="fixed",
        help="weld the root body, or what floats in the world, to the world where the file puts it",
    )


def add_reduction(parser: argparse._ActionsContainer) -> None:
    """--subtree, --lock and --lock-all-but: less of a robot."""
    parser.add_argument(
        "--subtree",
        metavar="LINK",
        help="only what hangs on a link (any frame), which is the world then, or floats (--floating); or a joint and "
        "what hangs on it",
    )
    parser.add_argument(
        "--lock",
        dest="locked",
        metavar="NAME[=VALUE]",
        action="append",
        default=[],
        help="lock a joint at its position (rad, m; as many numbers as it has in q, with commas between), or where it "
        "is at neutral; what follows it is locked with it; repeatable",
    )
    parser.add_argument(
        "--lock-all-but",
        metavar="NAME[,NAME...]",
        help="lock all joints at neutral but these and what follows them (name floating_base to keep a floating base)",
    )


def add_algorithms(parser: argparse.ArgumentParser, required: bool = False) -> None:
    """The algorithms, repeatable or separated by commas."""
    parser.add_argument(
        "-a",
        "--algorithm",
        dest="algorithms",
        metavar="ALG",
        action="append",
        help="an algorithm, such as rnea, crba or aba; repeat it, or separate several by commas"
        + ("" if required else " (default: all common ones)")
        + "; auto is the cheapest forward dynamics, with the contacts given, if any",
    )
    parser.add_argument(
        "--group",
        dest="groups",
        action="append",
        choices=GROUPS,
        default=[],
        metavar="GROUP",
        help=f"all algorithms of one kind ({', '.join(GROUPS)}); repeatable. constrained, delassus and damped work on "
        "contacts, loops is for robots with loops",
    )
    parser.set_defaults(algorithms_required=required)


def add_task(parser: argparse.ArgumentParser, endless: bool = False) -> argparse._ArgumentGroup:
    """What an algorithm is asked for: frames, external wrenches, symbolic parameters; `endless`: it may iterate on."""
    group = parser.add_argument_group("what is generated")
    group.add_argument(
        "--frame",
        dest="frames",
        metavar="NAME",
        action="append",
        default=[],
        help="a frame for fk, jacobian and the like; repeatable (default: the frames of the last bodies)",
    )
    group.add_argument(
        "--external",
        metavar="FRAME",
        action="append",
        default=[],
        help="a frame on which an external wrench [force; moment] acts; repeatable",
    )
    group.add_argument(
        "--parameter",
        dest="parameters",
        metavar="SPEC",
        action="append",
        default=[],
        help="what stays an argument: gravity, payload:FRAME, inertia:BODY, offset:JOINT; of contacts k, mu, lam0, "
        "R, weight, kp, kd, target_velocity; repeatable",
    )
    group.add_argument(
        "--contact",
        dest="contacts",
        metavar="FRAME[:ROWS][:in=AXES][:kp=N][:kd=N][:spatial]",
        action="append",
        default=[],
        help="a held frame: all of it (6, the default), its origin (3), all but turns about an axis (hinge-y, or "
        "hinge:axis=0,1,-1), the corners of a sole (foot-0.2x0.1, along x and y), or rows by name (x,y,rz); along the "
        "frame's own axes, the world's (in=world) or another frame's (in=FRAME); with gains on errors against target "
        "poses; of the classical acceleration, or with spatial of the spatial one; repeatable (default: 6 at every "
        "tip)",
    )
    group.add_argument(
        "--iterations",
        type=steps if endless else at_least(1),
        default=3 if endless else None,
        metavar="N",
        help="steps of proximal algorithms (3), or none: the arguments tol and max_iter of their functions end them"
        if endless
        else "steps of proximal algorithms (3; check: 5)",
    )
    group.add_argument(
        "--without",
        metavar="STEP[,STEP...]",
        action="append",
        default=[],
        help="steps of the lowering to leave out, which save operations: reroot, base_frame, canonical_frames, "
        "closed_forms, regroup_inertias, determined_joints, contact_axes, link_axes, tip_axes, length_units, or all; "
        "repeatable",
    )
    group.add_argument(
        "--tier",
        choices=("published", "written", "emitted"),
        help="the paper's listing as it stands, our algorithm without passes, or with them (default: emitted; count: "
        "the last two)",
    )
    return group


def add_build(parser: argparse.ArgumentParser, endless: bool = False) -> None:
    """What is generated: the options of `add_task`, the scalar type, and whose sine and cosine it takes."""
    group = add_task(parser, endless)
    group.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="scalar type")
    group.add_argument(
        "--trig",
        choices=("fast", "libm"),
        default="fast",
        help="sine and cosine: inline, at most 1 ulp off (fast, the default), or the C library's (libm)",
    )


def add_derivatives(parser: argparse.ArgumentParser) -> None:
    """--derivative: products beside each algorithm."""
    parser.add_argument(
        "--derivative",
        dest="derivatives",
        choices=("jvp", "vjp", "hvp", "hessian", "tensor"),
        action="append",
        default=[],
        help="also a product of the derivatives of every algorithm: directional (jvp), adjoint (vjp), "
        "Hessian-vector (hvp), or second derivatives of a weighted sum (hessian) or of all results (tensor); "
        "repeatable",
    )


def add_wrt(parser: argparse.ArgumentParser) -> None:
    """--wrt: further arguments that functions of derivatives differentiate by."""
    parser.add_argument(
        "--wrt",
        action="append",
        default=[],
        metavar="ARGUMENT",
        help="an argument that functions of derivatives differentiate by besides the state (k, R, kp, kd, weight, "
        "target_position, f_ext, gravity, inertia:BODY); repeatable",
    )


def add_formats(parser: argparse.ArgumentParser, csv: bool = False) -> None:
    """--json, and --csv where it makes sense."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--json", dest="form", action="store_const", const="json", help="print JSON")
    if csv:
        group.add_argument("--csv", dest="form", action="store_const", const="csv", help="print CSV")


def at_least(least: int) -> Callable[[str], int]:
    """The type of an argument that is a whole number not below `least`."""

    def whole(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return number

    return whole


def steps(text: str) -> int | None:
    """The type of an argument that is a number of iterations, or the word none."""
    try:
        return None if text == "none" else at_least(1)(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, nor none") from None


def seconds(text: str) -> float:
    """The type of an argument that is a time, up to an hour."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0, up to 3600")
    return number


def tolerance(text: str) -> float:
    """The type of an argument that is an angle (rad) from 0 to 0.001."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1e-3:
        raise argparse.ArgumentTypeError(f"{text!r} is not an angle (rad) from 0 to 0.001")
    return number


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


def unless_unsuited(args: argparse.Namespace, name: str, work: Callable[[], T]) -> T | None:
    """What `work` returns; None, with a line on stderr, if it does not suit the robot and -a does not name it."""
    from codegen.algorithms import ALGORITHMS

    try:
        return work()
    except UnsuitedError as refusal:
        if name in _named(args) or (args.algorithms and ALGORITHMS[name].group not in args.groups):  # or `auto` took it
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
