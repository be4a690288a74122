"""Draw a robot's tree with its joints, coordinates and clusters.

Bodies are listed parents before children. Where one body carries several, the drawing branches;
a single child stands under its parent. `q` and `v` are the elements of the configuration and
velocity vectors that a joint owns; a joint that a loop drives may own none. Bodies that loops tie
move as one cluster, whose number stands beside them and before its loops below. Implicit loops
are solved by a closed form where rigidc finds one, else by Newton's method.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from codegen.cli.options import add_formats, add_robot
from codegen.cli.requests import load
from codegen.cli.table import Cell, Table, as_json, plain
from codegen.model import ScrewJoint

if TYPE_CHECKING:
    import argparse

    from codegen.geometry import Vec3
    from codegen.model import Joint
    from codegen.robot import Robot

EXAMPLES = """\
  rigidc info iiwa
  rigidc info solo12 --frames
  rigidc info my_robot.urdf --floating --json
"""

HEADER = ("body", "joint", "type", "axis", "q", "v", "lower", "upper", "mass")
LOOPS = ("cluster", "loop", "kind", "joints", "independent", "solved by")


def configure(parser: argparse.ArgumentParser) -> None:
    """The robot, --frames, --json."""
    add_robot(parser)
    parser.add_argument("--frames", action="store_true", help="list the named frames too")
    add_formats(parser)


def run(args: argparse.Namespace) -> int:
    """Print the tree, loops, notes, and frames where asked for."""
    robot = load(args, args.robot)
    if args.form == "json":
        sys.stdout.write(as_json(facts(robot)))
        return 0
    print(plain(repr(robot).strip("<>").removeprefix("Robot ")))
    print(f"gravity {_vector(robot.gravity)} m/s^2; source {plain(_source(robot))}\n")
    sys.stdout.write(drawing(robot).text())
    if args.frames:
        frames = [(f.name, body_name(robot, f.body), _vector(f.placement.translation)) for f in robot.frames]
        sys.stdout.write("\n" + Table(("frame", "on body", "at"), tuple(frames)).text())
    if robot.loops:
        number, solved = cluster_numbers(robot), solved_by(robot)
        loops = [
            (
                *(number[node.bodies[0]], loop.name, loop.kind, ", ".join(loop.joints), ", ".join(loop.independent)),
                solved.get(n),
            )
            for node in robot.nodes
            for n, loop in ((n, robot.loops[n]) for n in node.loops)
        ]
        sys.stdout.write("\n" + Table(LOOPS, tuple(loops)).text())
    screws = [body.joint for body in robot.bodies if isinstance(body.joint, ScrewJoint)]
    if screws:
        formulas = tuple((joint.name, joint.turns_by, joint.slides_by) for joint in screws)
        sys.stdout.write("\n" + Table(("screw", "turns by", "slides by"), formulas).text())
    for note in robot.notes:
        print(f"note: {plain(note)}")
    return 0


def drawing(robot: Robot) -> Table:
    """The tree; where there are loops, with the cluster of each body."""
    if not robot.loops:
        return Table(HEADER, rows(robot))
    number, lines = cluster_numbers(robot), rows(robot)
    order = depth_first([body.parent for body in robot.bodies])
    drawn = tuple((lines[b][0], number.get(b), *lines[b][1:]) for b in order)
    return Table((HEADER[0], "cluster", *HEADER[1:]), drawn)


def depth_first(parents: list[int]) -> list[int]:
    """The bodies, each right before those that it carries; a cluster's bodies need not stand so in the model."""
    children: dict[int, list[int]] = {}
    for child, parent in enumerate(parents):
        children.setdefault(parent, []).append(child)
    order, stack = [], children.get(-1, [])[::-1]
    while stack:
        order.append(stack.pop())
        stack += children.get(order[-1], [])[::-1]
    return order


def cluster_numbers(robot: Robot) -> dict[int, int]:
    """For each body that moves in a cluster the number of this one, from 1."""
    tied = [node.bodies for node in robot.nodes if node.loops]
    return {b: number for number, bodies in enumerate(tied, 1) for b in bodies}


def solved_by(robot: Robot) -> dict[int, str]:
    """By numbers of implicit loops, how they are solved."""
    if all(loop.explicit for loop in robot.loops):
        return {}
    from codegen.kinematic_loops.closed_forms import solutions  # symbolic, slow to import, needed by few robots

    return solutions(robot)


def rows(robot: Robot) -> tuple[tuple[Cell, ...], ...]:
    """One row per body, in the order of the coordinates, the tree drawn in the first column."""
    drawn = tree([body.parent for body in robot.bodies])
    return tuple(
        (
            prefix + plain(body.name),
            body.joint.name,
            body.joint.type,
            _vector(body.joint.axis) if body.joint.single_axis else "",
            _span(q),
            _span(v),
            _limit(body.joint.lower),
            _limit(body.joint.upper),
            body.inertia.mass,
        )
        for prefix, body, q, v in zip(drawn, robot.bodies, robot.q_slices, robot.v_slices, strict=True)
    )


def tree(parents: list[int]) -> list[str]:
    """The branches to draw before each body; `parents` come first, -1 is the world.

    Only siblings are set off by a branch: an only child keeps its parent's column, so chains stay narrow.
    """
    children: dict[int, list[int]] = {}
    for child, parent in enumerate(parents):
        children.setdefault(parent, []).append(child)
    prefixes: list[str] = []
    inner = {-1: ""}
    for child, parent in enumerate(parents):
        siblings = children[parent]
        if len(siblings) == 1:
            prefixes.append(inner[parent])
            inner[child] = inner[parent]
        else:
            last = child == siblings[-1]
            prefixes.append(inner[parent] + ("└─ " if last else "├─ "))
            inner[child] = inner[parent] + ("   " if last else "│  ")
    return prefixes


def _formulas(joint: Joint) -> dict[str, str]:
    """Of a screw, the formulas of its motion."""
    return {"turn": joint.turns_by, "slide": joint.slides_by} if isinstance(joint, ScrewJoint) else {}


def facts(robot: Robot) -> dict[str, object]:
    """What `info` says, for machines; limits that are infinite are null."""
    solved = solved_by(robot)
    bodies = [
        {
            "name": body.name,
            "parent": body_name(robot, body.parent),
            "joint": body.joint.name,
            "type": body.joint.type,
            "axis": list(body.joint.axis),
            **_formulas(body.joint),
            "q": [q.start, q.stop],
            "v": [v.start, v.stop],
            "lower": _limit(body.joint.lower),
            "upper": _limit(body.joint.upper),
            "mass": body.inertia.mass,
        }
        for body, q, v in zip(robot.bodies, robot.q_slices, robot.v_slices, strict=True)
    ]
    return {
        "name": robot.name,
        "base": "floating" if robot.floating else "fixed",
        "convention": robot.convention,
        "nq": robot.nq,
        "nv": robot.nv,
        "gravity": list(robot.gravity),
        "digest": robot.digest,
        "bodies": bodies,
        "frames": [{"name": f.name, "body": body_name(robot, f.body)} for f in robot.frames],
        "loops": [
            {
                "name": loop.name,
                "kind": loop.kind,
                "joints": list(loop.joints),
                "independent": list(loop.independent),
                "solved_by": solved.get(n),
            }
            for n, loop in enumerate(robot.loops)
        ],
        "clusters": [
            {
                "bodies": [robot.bodies[b].name for b in node.bodies],
                "independent": [robot.bodies[b].joint.name for b in own],
                "loops": [robot.loops[n].name for n in node.loops],
            }
            for node, own in zip(robot.nodes, robot.velocity_bodies, strict=True)
            if node.loops
        ],
        "notes": list(robot.notes),
    }


def body_name(robot: Robot, index: int) -> str:
    """The name of body `index`; -1 is the world."""
    return robot.bodies[index].name if index >= 0 else "world"


def _vector(values: Vec3) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in values) + ")"


def _span(part: slice) -> str:
    if part.stop - part.start < 2:
        return str(part.start) if part.stop > part.start else ""
    return f"{part.start}..{part.stop - 1}"


def _limit(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _source(robot: Robot) -> str:
    source = robot.source
    return ", ".join(part for part in (source.origin, source.version, source.licence) if part) or "not stated"
