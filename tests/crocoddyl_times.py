"""Times of one action's calc and calcDiff: through `to_crocoddyl`, by Crocoddyl's own, and of our functions alone.

`python tests/crocoddyl_times.py` in an environment with Crocoddyl prints the table of the guide's page on it.
"""

from __future__ import annotations

import timeit

import crocoddyl
from test_crocoddyl_interface import FEET, SOLES, Problem, peer

import codegen

CASES = {"iiwa": {}, "solo12": {"frames": FEET}, "talos": {"frames": SOLES, "rows": 6}}
TURNS = 3  # that ours and theirs take


def microseconds(call) -> float:
    """The least of 25 readings."""
    return min(timeit.repeat(call, number=20, repeat=25)) / 20 * 1e6


def of_action(action, x, u) -> list[float]:
    """Those of calc and of calcDiff."""
    data = action.createData()
    action.calc(data, x, u)
    return [microseconds(lambda: action.calc(data, x, u)), microseconds(lambda: action.calcDiff(data, x, u))]


def of_functions(action, x, u) -> list[float]:
    """Those of the compiled value and of its derivatives."""
    data, dynamics = action.createData(), action.dynamics
    action.calc(data, x, u)
    calls = (dynamics.value, dynamics.derivatives)
    return [microseconds(lambda call=call: call(*data.arguments)) for call in calls]


def main() -> None:
    print(f"Crocoddyl {crocoddyl.__version__}, microseconds of calc and calcDiff")
    for name, options in CASES.items():
        made = Problem(peer(name), **options)
        ours, theirs, point, least = made.ours(codegen.load(name)), made.theirs(), made.point(0), {}
        for _ in range(TURNS):
            turn = {"to_crocoddyl": of_action(ours, *point), "Crocoddyl's own": of_action(theirs, *point)}
            turn["functions"] = of_functions(ours, *point)
            least = {label: list(map(min, times, least.get(label, times))) for label, times in turn.items()}
        for label, (calc, slopes) in least.items():
            print(f"{name:8}{label:18}{calc:8.1f}{slopes:8.1f}")


if __name__ == "__main__":
    main()
