"""A whole MPC loop beside Crocoddyl's: one problem, the same cost, closed loop against MuJoCo with pushes."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.cli.table import Cell, Table
from codegen.progress import doing, note, shown
from opcount.bench import balance, balance_crocoddyl, balance_ours
from opcount.bench.race import pinned

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NEAR = 1e-6  # of costs, and of states (m, rad, and so on) after many iterations
ITERATIONS = 60
CONTROLLERS: dict[str, Callable[[], Any]] = {
    "Crocoddyl, FDDP": partial(balance_crocoddyl.Controller, ours=False),
    "its FDDP, our actions": partial(balance_crocoddyl.Controller, ours=True),
    "codegen.ocp, Riccati": balance_ours.Controller,
}
HEADER = ("loop", "step ms", "99 %", "steps/s", "missed", "failed", "error mm", "recovered", "falls", "cost")


@shown()
def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench; 1 if solutions differ."""
    parser = argparse.ArgumentParser(prog="python -m opcount.bench.balance_loop", description=__doc__)
    parser.add_argument("--pushes", type=int, default=20, help="of the trunk (20)")
    parser.add_argument("--speed", type=float, default=0.8, help="by which one changes the velocity, m/s (0.8)")
    args = parser.parse_args(argv)
    with pinned() as where:
        controllers: dict[str, Any] = {}
        for name, make in CONTROLLERS.items():
            with doing(name):
                controllers[name] = make()
        costs, sentences = compared(controllers)
        rows = list[tuple[Cell, ...]]()
        for name, controller in controllers.items():
            with doing(f"closed loop by {name}"):
                rows.append(row(name, balance.closed_loop(controller, args.pushes, args.speed), costs[name]))
    print(Table(HEADER, tuple(rows)).text())
    print(
        f"Solo12 on four feet, {balance.NODES} nodes of {1e3 * balance.STEP:g} ms, {1 / balance.PERIOD:g} Hz wanted, "
        f"{args.pushes} pushes of {args.speed:g} m/s; {where}"
    )
    for sentence in sentences:
        note(f"bench: {sentence}")
    return 1 if sentences else 0


def compared(controllers: dict[str, Any]) -> tuple[dict[str, float], list[str]]:
    """Crocoddyl's cost of everyone's solution from a state off the reference, and a sentence for what differs."""
    q, v = balance.rest().copy(), np.zeros(balance.robot().nv)
    q[:3] += [0.01, -0.02, 0.01]
    v[:6] = [0.6, -0.4, 0.1, 0.3, -0.2, 0.2]
    first, sentences, costs = next(iter(controllers.values())), list[str](), dict[str, float]()
    for name, controller in controllers.items():
        x, u = controller.converged(0.0, q, v, ITERATIONS)
        costs[name], gap = first.cost(x, u), first.gap(x, u)
        least = next(iter(costs.values()))
        if not abs(costs[name] - least) < NEAR * least:
            sentences.append(f"{name}: a cost of {costs[name]:.9g}, not {least:.9g}")
        if not gap < NEAR:
            sentences.append(f"{name}: states are {gap:.1g} from those that its torques lead to")
    return costs, sentences


def row(name: str, run: balance.Run, cost: float) -> tuple[Cell, ...]:
    """A row of the table."""
    times = run.milliseconds
    half, most = np.percentile(times, [50, 99])
    missed, failed = int(np.sum(times > 1e3 * balance.PERIOD)), sum(not one.solved for one in run.spent)
    return (
        name,
        *(f"{x:.2f}" for x in (half, most)),
        f"{len(run.spent) / run.seconds:.0f}",
        missed,
        failed,
        f"{1e3 * np.sqrt(np.mean(run.errors**2)):.1f}",
        f"{run.recovered} of {run.pushes}",
        run.falls,
        f"{cost:.8f}",
    )


if __name__ == "__main__":
    sys.exit(main())
