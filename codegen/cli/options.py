"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROBOT = (
    "a bundled robot (`rigidc robots` lists them), a mechanism such as chain:20, or a .urdf, .xml (MJCF) or .json file"
)

GROUPS = ("common", "quantities", "derivatives", "steps", "constrained", "frictional", "delassus", "damped", "loops")


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
        metavar="FRAME[:ROWS][:in=AXES][:kp=N][:kd=N][:friction=N][:spatial]",
        action="append",
        default=[],
        help="a held frame: all of it (6, the default), its origin (3), all but turns about an axis (hinge-y, or "
        "hinge:axis=0,1,-1), the corners of a sole (foot-0.2x0.1, along x and y), or rows by name (x,y,rz); along the "
        "frame's own axes, the world's (in=world) or another frame's (in=FRAME); with gains on errors against target "
        "poses; points with friction break, stick and slip; of the classical acceleration, or with spatial of the "
        "spatial one; repeatable (default: 6 at every tip)",
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
        "simplified_formulas, closed_forms, regroup_inertias, determined_joints, contact_axes, link_axes, tip_axes, "
        "length_units, or all; repeatable",
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
