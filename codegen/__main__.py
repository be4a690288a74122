"""The command line: `rigidc`, or `python -m codegen`.

Exit codes: 0 done, 1 a check failed, 2 bad usage or input, 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from codegen.cli import COMMANDS
from codegen.cli.table import plain
from codegen.errors import BuildError, RobotError
from codegen.progress import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
PIPE_CLOSED = 141

EPILOG = """\
examples:
  rigidc robots                                       the robots that come with rigidc
  rigidc info talos                                   its tree, joints and coordinates
  rigidc generate talos -a rnea -a aba -o build/talos C sources, one header, CMakeLists.txt, an example
  rigidc check talos                                  compiled C against the dense oracle

Every command explains itself: rigidc COMMAND --help.
"""


class Parser(argparse.ArgumentParser):
    """Reports bad usage in one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"rigidc: {plain(message)}; `{self.prog} --help` explains\n")


def parser() -> Parser:
    """The whole command line, with one sub-parser for each of `COMMANDS`."""
    top = Parser(
        prog="rigidc",
        description="A robot file in; specialised, verified C99 for its dynamics out.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="store_true", help="print the version and exit")
    commands = top.add_subparsers(metavar="COMMAND", title="commands")
    for name in COMMANDS:
        module = importlib.import_module(f"codegen.cli.{name}")
        summary, _, description = (module.__doc__ or "").partition("\n")
        sub = commands.add_parser(
            name,
            help=summary[0].lower() + summary[1:].rstrip("."),
            description=f"{summary}\n{description}".rstrip(),
            epilog=f"examples:\n{module.EXAMPLES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.configure(sub)
        sub.set_defaults(run=module.run)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `SystemExit` after --help or bad usage."""
    _print_anything()
    command_line = parser()
    args = command_line.parse_args(argv)
    try:
        with shown():
            code = _run(args, command_line)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # whoever read the output has left; the interpreter must not complain when it flushes at exit
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (RobotError, BuildError) as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    return code


def _run(args: argparse.Namespace, command_line: Parser) -> int:
    if args.version:
        from importlib.metadata import version

        print(f"rigidc {version('rigidc')}")
        return 0
    if not hasattr(args, "run"):
        command_line.error(f"name a command: {', '.join(COMMANDS)}")
    code: int = args.run(args)
    return code


def _refuse(sentence: str) -> int:
    print(f"rigidc: {plain(sentence)}", file=sys.stderr)
    return 2


def _print_anything() -> None:
    """Names from a file never fail to print, whatever the terminal's encoding."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
