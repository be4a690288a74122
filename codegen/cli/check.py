"""Check compiled C against dense NumPy on random states.

Every chosen algorithm is generated, compiled and called on random valid states, and compared
with a dense oracle that shares no mathematics with it. The error of an output is its largest
deviation over its largest entry, state by state (a vanishing output counts absolutely). Exit
code 1 if any error exceeds the tolerance.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from codegen.cli.options import (
    add_algorithms,
    add_build,
    add_formats,
    add_robot,
    algorithms,
    at_least,
    build_options,
    load,
)
from codegen.cli.progress import progress
from codegen.cli.table import Table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from codegen.model import Model

EXAMPLES = """\
  rigidc check talos
  rigidc check iiwa solo12 -a rnea,aba -n 1000 --seed 7
  rigidc check my_robot.urdf --floating -a aba --external left_foot --json
"""

HEADER = ("robot", "algorithm", "states", "worst error", "tolerance", "passed")
TOLERANCE = {"float64": 1e-10, "float32": 1e-3}
NEGLIGIBLE = 1e-12  # an output whose entries all stay below this is held to the tolerance absolutely


def configure(parser: argparse.ArgumentParser) -> None:
    """Robots, algorithms, states, seed, build options, --json."""
    add_robot(parser, several=True)
    add_algorithms(parser)
    parser.add_argument(
        "-n", "--states", type=at_least(1), default=100, metavar="N", help="number of random states (100)"
    )
    parser.add_argument("--seed", type=at_least(0), default=0, help="seed of the random states (0)")
    add_build(parser)
    add_formats(parser)


def run(args: argparse.Namespace) -> int:
    """Print the worst error of every algorithm; 1 if one is too large."""
    names = algorithms(args)
    options = build_options(args)
    tolerance = TOLERANCE[args.dtype]
    models = {robot: load(args, robot) for robot in args.robots}
    work = [(robot, name) for robot in args.robots for name in names]
    rows = []
    for robot, name in progress(work, " ".join):
        error = worst_error(models[robot], name, args.states, args.seed, options)
        rows.append((models[robot].name, name, args.states, error, tolerance, error <= tolerance))
    table = Table(HEADER, tuple(rows))
    sys.stdout.write(table.json() if args.form else table.text())
    return 0 if all(passed for *_, passed in rows) else 1


def worst_error(robot: Model, name: str, states: int, seed: int, options: dict[str, Any]) -> float:
    """The largest relative error of a compiled algorithm over `states` random states; infinite for a NaN."""
    import numpy as np

    from codegen import pipeline
    from codegen.cli.samples import samples
    from codegen.oracle import ORACLE

    function = pipeline.build(robot, name, **options)
    own = [port.name for port in function.inputs]
    own = own[: len(own) - len(options["parameters"])]
    values = samples(robot, own, len(options["external"]), options["parameters"], states, seed)
    values = tuple(value.astype(options["dtype"]) for value in values)
    found = _arrays(function(*values))
    worst = 0.0
    for k in range(states):
        state = [value[k].astype(float) for value in values]
        parameters = dict(zip(options["parameters"], state[len(own) :], strict=True))
        expected = _arrays(
            ORACLE[name](
                robot,
                *state[: len(own)],
                frames=options["frames"],
                external=options["external"],
                parameters=parameters,
            )
        )
        for ours, theirs in zip(found, expected, strict=True):
            worst = max(worst, relative_error(ours[k], np.asarray(theirs)))
    return worst


def relative_error(found: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    """Largest deviation over the largest expected entry; infinite for a NaN or a wrong shape."""
    import numpy as np

    if found.shape != expected.shape or not np.isfinite(found).all():
        return float("inf")
    if not expected.size:
        return 0.0
    peak = float(np.abs(expected).max())
    return float(np.abs(found - expected).max()) / (peak if peak > NEGLIGIBLE else 1.0)


def _arrays(outputs: Any) -> Sequence[NDArray[np.float64]]:
    return outputs if isinstance(outputs, tuple) else (outputs,)
