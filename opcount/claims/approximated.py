"""What approximate inverse dynamics lack on a moving leg (Chignoli et al. 2023, sec. IX-B, Fig. 14).

One leg of the MIT Humanoid swings by the same sine at every joint; the rest of the robot stands still.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from codegen import api
from codegen.ir.interpreter import interpret
from codegen.lowering.reflect_rotors import independent
from codegen.robot import load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.model import Model
    from codegen.tracing.task import Tier

    Array = NDArray[np.float64]

ROBOT, ANKLE = "mit_humanoid", "left_ankle_link"
LEG = ("left_hip", "left_knee", "left_ankle")
AMPLITUDE, FREQUENCY = 0.5, 1.5  # rad, 1/s
TIMES = 200  # of one period


def ankle_error(rotors: bool, share: bool, tier: Tier) -> float:
    """The root mean square error (N m) of the ankle's torque, with rotors as armature or without them.

    As a `share`, percents of the largest torque of the exact algorithm.
    """
    model = load(ROBOT)
    q, v, a, joint = _swing(model)
    exact = _torques(model, "rnea", tier, q, v, a)[:, joint]
    if rotors:
        nearly = _torques(model, "approximate_rnea", tier, q, v, a)[:, joint]
    else:
        nearly = _torques(_bare(model), "rnea", tier, q, v, a)[:, joint]
    error = float(np.sqrt(np.square(nearly - exact).mean()))
    return 100.0 * error / float(np.abs(exact).max()) if share else error


def _swing(model: Model) -> tuple[Array, Array, Array, int]:
    """Positions, velocities and accelerations over one period, and where the ankle is among the velocities."""
    moving = [b for b, body in enumerate(model.bodies) if _swings(model, b) and body.joint.name.startswith(LEG)]
    ankle = next(b for b in moving if model.bodies[b].joint.name == ANKLE)
    phase = 2.0 * np.pi * np.arange(TIMES) / TIMES
    rate = 2.0 * np.pi * FREQUENCY
    q = np.tile(load(ROBOT).neutral(), (TIMES, 1))
    v, a = np.zeros((TIMES, model.nv)), np.zeros((TIMES, model.nv))
    for b in moving:
        place = model.v_slices[b].start
        q[:, model.q_slices[b].start] = AMPLITUDE * np.sin(phase)
        v[:, place] = AMPLITUDE * rate * np.cos(phase)
        a[:, place] = -AMPLITUDE * rate * rate * np.sin(phase)
    return q, v, a, model.v_slices[ankle].start


def _swings(model: Model, b: int) -> bool:
    """Whether a body hangs on an independent joint of one degree of freedom."""
    place = model.v_slices[b]
    return bool(place.stop - place.start == 1)


def _bare(model: Model) -> Model:
    """The tree of the independent joints without what their loops drive."""
    tree = independent(model)
    return replace(tree, bodies=tuple(replace(body, joint=replace(body.joint, armature=0.0)) for body in tree.bodies))


def _torques(model: Model, algorithm: str, tier: Tier, q: Array, v: Array, a: Array) -> Array:
    graph = api.graphs(model, algorithm, tier=tier)[1]
    return interpret(graph, q, v, a)[0]
