"""Write a folder of C99 that builds by itself.

The folder holds one header for the robot, one source per algorithm, CMakeLists.txt with an
exported target, a pkg-config file and an example. The C is plain C99: no heap, no globals,
every symbol prefixed. Equal input gives equal bytes. Existing files are replaced only with
--force. --backend c_portable writes one source for all algorithms, without extensions of any
compiler.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.cli.options import add_algorithms, add_build, add_derivatives, add_robot, add_wrt
from codegen.cli.requests import algorithms, build_options, load, resolved, task_options, unless_unsuited
from codegen.cli.table import plain
from codegen.errors import RobotError
from codegen.progress import each

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  rigidc generate my_arm.urdf --fixed -a fk --frame tool -o build/arm --prefix arm
  rigidc generate talos -a rnea --library aarch64-linux-gnu --cpu cortex_a72 -o build/talos
  rigidc generate solo12 -a aba --external FL_FOOT --for casadi -o build/solo12 --force
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The robot, algorithms, folder, prefix, --force, libraries."""
    add_robot(parser)
    add_algorithms(parser, required=True)
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder to write")
    parser.add_argument("--prefix", metavar="NAME", help="what every C symbol starts with (default: the robot)")
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace files that are there already, and remove sources that rigidc wrote there for other algorithms",
    )
    parser.add_argument(
        "--lanes",
        type=int,
        choices=(1, 2, 4, 8, 16),
        default=1,
        help="add functions of many states that take so many at a time in SIMD lanes (default: 1, none; GCC or clang)",
    )
    parser.add_argument(
        "--backend",
        metavar="NAME",
        default="c",
        help="what is written: c (the default), made for speed; or c_portable, one source of plain ISO C99 for any "
        "compiler and for reviewers, one state at a time, with the C library's sine and cosine",
    )
    parser.add_argument(
        "--single-header",
        action="store_true",
        help="write one header in place of the folder: declarations, and definitions behind PREFIX_IMPLEMENTATION",
    )
    parser.add_argument(
        "--for",
        dest="interfaces",
        metavar="NAME",
        action="append",
        default=[],
        help="add what a solver calls, with exact derivatives: casadi, for casadi.external; acados, its explicit and "
        "implicit ODEs and discrete dynamics; crocoddyl, a differential action in C++; fatrop, dynamics and "
        "constraints of its stages; jax and torch, functions of batches, which need --lanes; repeatable",
    )
    parser.add_argument(
        "--on-singular",
        choices=("ignore", "fail"),
        default="ignore",
        help="whether CasADi is told that an evaluation failed where a status is not 0 (default: ignore)",
    )
    parser.add_argument(
        "--derivative-order",
        type=int,
        choices=(0, 1, 2),
        help="the highest order of derivatives that solvers get (default: 2, Hessians; for CasADi 0 of functions that "
        "give derivatives themselves)",
    )
    parser.add_argument(
        "--directions",
        type=int,
        choices=(1, 4),
        default=1,
        help="4 adds products of derivatives by four directions at once for CasADi, in SIMD lanes (default: 1)",
    )
    parser.add_argument(
        "--sparse",
        action="store_true",
        help="give matrices over joints or contact rows as their nonzeros, column by column; the header holds the "
        "patterns",
    )
    add_derivatives(parser)
    add_wrt(parser)
    parser.add_argument(
        "--sections", action="store_true", help="comments that say where the phases of algorithms begin"
    )
    add_build(parser, endless=True)
    add_libraries(parser)


def add_libraries(parser: argparse.ArgumentParser) -> None:
    """Libraries beside the C."""
    group = parser.add_argument_group("libraries, cross-compiled by zig (pip install rigidc[zig])")
    group.add_argument(
        "--library",
        metavar="TARGET",
        dest="libraries",
        action="append",
        default=[],
        help="compile the C to lib/TARGET too, for a target by zig's name: aarch64-linux-gnu, x86_64-windows-gnu, "
        "aarch64-macos, ...; may be given several times",
    )
    group.add_argument("--static", action="store_true", help="static libraries (default: shared ones)")
    group.add_argument("--cpu", metavar="NAME", help="for this processor by zig's name: cortex_a72, x86_64_v3, ...")


def run(args: argparse.Namespace) -> int:
    """Write the folder and print the paths written."""
    from codegen import api

    names = algorithms(args)
    robot = load(args, args.robot)
    folder = Path(args.output)
    if not args.force and folder.is_dir() and any(folder.iterdir()):
        raise RobotError(f"{folder} is not empty; name another, or replace its files with --force")
    names = resolved(args, names, robot, iterations=args.iterations)
    if args.groups:
        graphs = partial(api.graphs, robot, dtype=args.dtype)
        make = [(name, partial(graphs, name, **task_options(args, name))) for name in names]
        shown = each(make, lambda pair: f"{pair[0]} of {robot.name}")
        names = [name for name, attempt in shown if unless_unsuited(args, name, attempt)]
    options = {**build_options(args), "iterations": args.iterations, "lanes": args.lanes, "backend": args.backend}
    options |= {"derivatives": args.derivatives, "sparse": args.sparse, "wrt": args.wrt}
    made = {"libraries": args.libraries, "static": args.static, "cpu": args.cpu, "sections": args.sections}
    made |= {"single_header": args.single_header}
    solvers = {
        "interfaces": args.interfaces,
        "derivative_order": args.derivative_order,
        "on_singular": args.on_singular,
        "directions": args.directions,
    }
    paths = api.generate(robot, names, out=folder, prefix=args.prefix, **options, **made, **solvers)
    sys.stdout.writelines(f"{plain(str(path))}\n" for path in paths)
    return 0
