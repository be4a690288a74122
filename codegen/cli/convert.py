"""Write a robot as rigidc JSON.

Reads URDF, MJCF or rigidc JSON and writes rigidc's own format, one line per link, joint, frame and
loop constraint, without meshes. The robot is checked first; nothing is written if it cannot be
used. Without -o the text goes to the standard output. With --lock, --lock-all-but or --subtree it
is the reduced robot that is written, one link for each body that still moves.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from codegen.cli.files import write_whole
from codegen.cli.options import ROBOT, add_base, add_reduction
from codegen.cli.requests import reduced

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  rigidc convert my_robot.urdf -o my_robot.json
  rigidc convert scene.xml --floating -o scene.json
  rigidc convert talos --lock gripper_left_joint=0.2 --lock gripper_right_joint -o locked.json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The robot and the file to write."""
    parser.add_argument("robot", metavar="ROBOT", help=ROBOT)
    parser.add_argument("-o", "--output", metavar="FILE", help="the file to write (default: standard output)")
    add_base(parser)
    add_reduction(parser)


def run(args: argparse.Namespace) -> int:
    """Write the JSON."""
    from codegen.description import read, write_json
    from codegen.description.describing import described
    from codegen.description.merge import based
    from codegen.robot import Robot

    description = read(args.robot)
    whole = Robot.assembled(description, args.base)
    left = reduced(args, whole)
    text = write_json(based(description, args.base) if left is whole else described(left))
    if args.output:
        write_whole(args.output, text)
    else:
        sys.stdout.write(text)
    return 0
