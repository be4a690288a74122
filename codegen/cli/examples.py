"""List short programs that use rigidc, or copy one.

Each is a short Python file that runs as it is. Without a name all are listed, with one
line each. With a name the program goes to the standard output, or to the file after -o; a file
that is there already is replaced only with --force.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.cli.files import write_whole
from codegen.cli.table import Table
from codegen.errors import RobotError, shown
from codegen.progress import note

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  rigidc examples
  rigidc examples forward_dynamics -o arm.py
"""

FOLDER = Path(__file__).parents[1] / "examples"

EXTRAS = {
    "differential_leg": "mpc",
    "identification": "control,figures",
    "mpc_arm": "mpc",
    "mpc_humanoid": "mpc",
    "mpc_jump": "mpc",
    "mpc_quadruped": "mpc",
    "whole_body_qp": "control,figures",
}
"""What examples need besides."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The example, the file to write, and --force."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="an example (default: list all)")
    parser.add_argument("-o", "--output", metavar="FILE", help="the file to write (default: standard output)")
    parser.add_argument("--force", action="store_true", help="replace a file that is there already")


def run(args: argparse.Namespace) -> int:
    """List the examples, or copy one."""
    if args.name is None:
        if args.output:
            raise RobotError(f"name the example that is to be written to {args.output}: {', '.join(examples())}")
        sys.stdout.write(Table(("example", "what it shows"), tuple(examples().items())).text())
        return 0
    if args.name not in examples():
        raise RobotError(f"there is no example {shown(args.name)}; choose one of {', '.join(examples())}")
    text = (FOLDER / f"{args.name}.py").read_text(encoding="utf-8")
    if args.output is None:
        sys.stdout.write(text)
    elif Path(args.output).is_file() and not args.force:
        raise RobotError(f"{args.output} is there already; name another file, or replace it with --force")
    else:
        write_whole(args.output, text)
        if args.name in EXTRAS:
            note(f"rigidc: {args.output} needs more than rigidc alone: pip install 'rigidc[{EXTRAS[args.name]}]'")
    return 0


def examples() -> dict[str, str]:
    """The examples by name, each with its first line."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.py"))}
    return {name: (ast.get_docstring(ast.parse(text)) or "").splitlines()[0] for name, text in texts.items()}
