"""`python -m opcount.studies [NAME ...]`: the command `rigidc study` by itself."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from codegen.cli import study
from codegen.errors import RobotError
from codegen.progress import shown

if TYPE_CHECKING:
    from collections.abc import Sequence


@shown()
def main(argv: Sequence[str] | None = None) -> int:
    """Print or draw the studies that the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m opcount.studies", description=study.__doc__)
    study.configure(parser)
    try:
        return study.run(parser.parse_args(argv))
    except RobotError as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())
