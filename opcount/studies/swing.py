"""Joint forces of a moving leg by inverse dynamics: exact, with rotors as armature, and without rotors.

Chignoli et al. 2023, sec. IX-B, Fig. 14. A leg swings by the same sine at every joint; the rest of the robot stands
still. Results are those of the C, whose graphs are interpreted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen import api
from codegen.ir.interpreter import interpret
from codegen.robot import load
from opcount.store import opened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.model import Model
    from codegen.tracing.task import Tier

    Array = NDArray[np.float64]

EXACT, ARMATURE, BARE = ALGORITHMS = ("rnea", "approximate_rnea", "unconstrained_rnea")
AMPLITUDE, FREQUENCY = 0.5, 1.5  # rad, 1/s
TIMES = 200  # of one period


def swung(robot: str, leg: tuple[str, ...], tier: Tier = "emitted") -> dict[str, dict[str, Array]]:
    """By algorithms and by the leg's joints: joint forces (N m) at equal times of one period.

    The joints are the independent ones whose names begin with one of `leg`.
    """
    what = f"swing {load(robot).digest} {leg!r} {tier} {AMPLITUDE} {FREQUENCY} {TIMES}"
    forces = opened().made(what, lambda: _swung(robot, leg, tier))
    return {name: {joint: np.array(tau) for joint, tau in joints.items()} for name, joints in forces.items()}


def _swung(robot: str, leg: tuple[str, ...], tier: Tier) -> dict[str, dict[str, list[float]]]:
    """The same as lists."""
    model = load(robot)
    names = _moving(model, leg)
    places = {name: place.start for name, place in zip(model.joint_names, model.v_slices, strict=True)}
    forces = {name: _forces(model, name, tier, *_swing(model, names)) for name in ALGORITHMS}
    return {name: {joint: tau[:, places[joint]].tolist() for joint in names} for name, tau in forces.items()}


def error(exact: Array, nearly: Array) -> float:
    """The root mean square difference over time."""
    return float(np.sqrt(np.square(nearly - exact).mean()))


def _moving(model: Model, leg: tuple[str, ...]) -> list[str]:
    """The independent joints of one degree of freedom whose names begin so."""
    pairs = zip(model.joint_names, model.v_slices, strict=True)
    return [name for name, place in pairs if place.stop - place.start == 1 and name.startswith(leg)]


def _swing(model: Model, names: list[str]) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations over one period."""
    phase = 2.0 * np.pi * np.arange(TIMES) / TIMES
    rate = 2.0 * np.pi * FREQUENCY
    q = np.tile(load(model.name).neutral(), (TIMES, 1))
    v, a = np.zeros((TIMES, model.nv)), np.zeros((TIMES, model.nv))
    for name, at, place in zip(model.joint_names, model.q_slices, model.v_slices, strict=True):
        if name in names:
            q[:, at.start] = AMPLITUDE * np.sin(phase)
            v[:, place.start] = AMPLITUDE * rate * np.cos(phase)
            a[:, place.start] = -AMPLITUDE * rate * rate * np.sin(phase)
    return q, v, a


def _forces(model: Model, algorithm: str, tier: Tier, q: Array, v: Array, a: Array) -> Array:
    return interpret(api.graphs(model, algorithm, tier=tier)[1], q, v, a)[0]
