"""Batched rollouts and their gradients in JAX on one core: rigidc's step beside those of MJX, Brax and adam.

All take the same steps of semi-implicit Euler in double precision, without contacts, from the same random states: a
batch by `vmap`, one step after the other by `lax.scan`. The loss is the squared distance of the last states from zero;
gradients are by the first states and by the torques of all steps. `python -m opcount.bench.mpc` sets XLA to one thread.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

import codegen
from codegen.cli.table import Cell, Table
from codegen.errors import RobotError
from codegen.progress import doing, each, note, shown
from opcount.bench.race import Contestant, disagreement, pinned, spread, timed
from opcount.bench.solvers import fresh

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codegen.robot import Robot

DT = 0.005
NEAR = 1e-6  # relative to the largest entry of the last state, or of the gradient; steps multiply round-off
PEERS = {"MJX": "mjx", "Brax": "brax", "adam": "adam"}
HEADER = ("robot", "who", "states/s", "times", "with gradients/s", "times ", "compile s", "with gradients s")


@dataclass(frozen=True, slots=True)
class Rollout:
    """A batch of first states and the torques of all steps (steps x batch x joints)."""

    robot: Robot
    q: Any
    v: Any
    u: Any

    def __str__(self) -> str:
        return f"{self.u.shape[0]} steps of {self.u.shape[1]} states of {self.robot.name}"

    @classmethod
    def random(cls, name: str, steps: int, batch: int) -> Rollout:
        """From random configurations at small velocities."""
        robot, rng = codegen.load(name, convention="mujoco"), np.random.default_rng(0)
        states = [robot.random(rng) for _ in range(batch)]
        q, v = (jax.numpy.array([state[k] for state in states]) for k in (0, 1))
        u = rng.standard_normal((steps, batch, robot.nv - 6 * robot.floating))
        return cls(robot, q, 0.1 * v, jax.numpy.array(u))

    @property
    def states(self) -> int:
        return int(self.u.shape[0] * self.u.shape[1])


@dataclass(frozen=True, slots=True)
class Built:
    """A peer's compiled rollout, and the one with gradients, and the seconds of both compilations."""

    label: str
    value: Contestant
    slope: Contestant
    seconds: tuple[float, float]

    def __str__(self) -> str:
        return f"{self.label}: {self.seconds[0]:.1f} and {self.seconds[1]:.1f} s to compile"


@shown()
def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench; 1 if results disagree, 2 if a robot is none."""
    parser = argparse.ArgumentParser(prog="python -m opcount.bench.jax_rollouts", description=__doc__)
    parser.add_argument("robots", nargs="*", default=("iiwa", "go1"), help="(iiwa, go1)")
    parser.add_argument("--steps", type=int, default=20, help="of a rollout (20)")
    parser.add_argument("--batch", type=int, default=128, help="states at once (128)")
    parser.add_argument("--seconds", type=float, default=2.0, metavar="S", help="time for each race (2)")
    args = parser.parse_args(argv)
    rows, sentences = list[tuple[Cell, ...]](), list[str]()
    with pinned() as where:
        jax.config.update("jax_enable_x64", True)
        for name in each(args.robots, str):
            try:
                given = Rollout.random(name, args.steps, args.batch)
            except RobotError as error:
                note(f"bench: {error}")
                return 2
            built, absent = contestants(given)
            sentences += absent
            rows += raced(given, built, args.seconds)
            sentences += differences(given, built)
    print(Table(HEADER, tuple(rows)).text())
    print(
        "\n".join(
            [
                f"medians of processor time, {args.steps} steps of {args.batch} states, {where}, JAX {jax.__version__}",
                *sentences,
            ]
        )
    )
    print(f"XLA_FLAGS={os.environ.get('XLA_FLAGS', '')}")
    return 1 if any("differ" in sentence for sentence in sentences) else 0


def contestants(given: Rollout) -> tuple[list[Built], list[str]]:
    """All who take part, ours first, and a sentence for everyone who does not."""
    with fresh():
        found, absent = [built("rigidc", given, ours)], list[str]()
    for label in PEERS:
        one = entered(label, given)
        if isinstance(one, Built):
            found.append(one)
        else:
            absent.append(one)
    return found, absent


def entered(label: str, given: Rollout) -> Built | str:
    """A peer, or why it does not take part. It computes steps again on the way back, which is faster."""
    try:
        step = import_module(f"opcount.bench.{PEERS[label]}_peer").step
        return built(label, given, lambda robot, dt: jax.checkpoint(step(robot, dt)))
    except (ImportError, RobotError) as error:
        return f"{given.robot.name}: without {label} ({error})"


def ours(robot: Robot, dt: float) -> Any:
    """(q, v, u) -> (q, v) by compiled C."""
    step, base = codegen.to_jax(robot, "step"), jax.numpy.zeros(6 * robot.floating)
    return lambda q, v, u: tuple(step(q, v, jax.numpy.concatenate([base, u]), dt))


def built(label: str, given: Rollout, make: Callable[[Robot, float], Any]) -> Built:
    """Compile a step's rollout, and its gradients."""
    with doing(f"{label}: {given}"):
        begun = time.perf_counter()
        step = jax.vmap(make(given.robot, DT))
        value, first = compiled(partial(rolled, step), given)
        middle = time.perf_counter()
        slope, second = compiled(jax.value_and_grad(partial(loss, step), argnums=(0, 1, 2)), given)
    seconds = (middle - begun, time.perf_counter() - middle)
    batch, (_, gradient) = given.q.shape[0], second
    if given.robot.floating:  # peers' gradients by a quaternion that need not be a unit one differ
        gradient = gradient[1:]
    results = [np.hstack([np.moveaxis(x, -2, 0).reshape(batch, -1) for x in part]) for part in (first, gradient)]
    return Built(
        label,
        Contestant(label, value, given.states, results[0]),
        Contestant(label, slope, given.states, results[1]),
        seconds,
    )


def rolled(step: Any, q: Any, v: Any, u: Any) -> tuple[Any, Any]:
    """The last states of a batch."""
    last, _ = jax.lax.scan(lambda state, torques: (step(*state, torques), None), (q, v), u)
    return last[0], last[1]


def loss(step: Any, q: Any, v: Any, u: Any) -> Any:
    """The squared distance of the last states from zero."""
    q, v = rolled(step, q, v, u)
    return (q**2).sum() + (v**2).sum()


def compiled(function: Any, given: Rollout) -> tuple[Callable[[int], float], Any]:
    """A function that is timed, and what it gives."""
    arguments = (given.q, given.v, given.u)
    program = jax.jit(function).lower(*arguments).compile()

    def run(rounds: int) -> float:
        jax.block_until_ready(program(*arguments))
        begun = time.process_time_ns()  # long readings share the core with other programs more than short ones
        for _ in range(rounds):
            jax.block_until_ready(program(*arguments))
        return float(time.process_time_ns() - begun)

    return run, jax.tree.map(np.asarray, program(*arguments))


def raced(given: Rollout, built: Sequence[Built], seconds: float) -> list[tuple[Cell, ...]]:
    """Rows of the table: states a second, and how many times as many ours are."""
    cells: list[list[Cell]] = [[given.robot.name, one.label] for one in built]
    for part in ("value", "slope"):
        readings = timed([getattr(one, part) for one in built], seconds)
        for row, column in zip(cells, readings.T, strict=True):
            row += [f"{1e9 / spread(column).median:.3g}", f"{spread(column / readings[:, 0]).median:.3g}"]
    return [(*row, *(f"{x:.1f}" for x in one.seconds)) for row, one in zip(cells, built, strict=True)]


def differences(given: Rollout, built: Sequence[Built]) -> list[str]:
    """A sentence for each peer whose values or gradients are others."""
    first, *others = built
    pairs = [(one, what, getattr(one, what)) for one in others for what in ("value", "slope")]
    apart = [(one, what, disagreement(found, getattr(first, what))) for one, what, found in pairs]
    return [
        f"{given.robot.name}: {one.label}'s {what} results differ by {error:.1g}"
        for one, what, error in apart
        if not error < NEAR
    ]


if __name__ == "__main__":
    sys.exit(main())
