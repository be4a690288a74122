"""Feet and posture of a quadruped with legs of three joints, for those that a file does not state."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from codegen.api import build
from codegen.errors import RobotError
from codegen.ocp.peers import peer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codegen.robot import Robot

BENT, NEAR = 0.75, 1e-3
"""How far a foot is below its hip, in parts of the leg's length, and how exactly its place is met (m)."""
STARTS = (0.7, -0.7), (1.4, -1.4)
"""Angles of hip and knee that the search begins with (rad)."""


def quadruped_feet(robot: Robot) -> tuple[str, ...]:
    """Frames at the ends of four legs: front right and left, rear right and left (x is ahead, y to the left).

    RobotError for a robot whose floating base does not carry four chains of three joints, and nothing else that moves.
    """
    legs = _legs(robot)
    places = [robot.bodies[hip].placement.p for hip, *_ in legs]
    ahead = sorted(range(4), key=lambda leg: -places[leg][0])
    order = (leg for pair in (ahead[:2], ahead[2:]) for leg in sorted(pair, key=lambda leg: places[leg][1]))
    return tuple(_end(robot, legs[leg][-1]) for leg in order)


def quadruped_stance(robot: Robot, feet: Sequence[str]) -> NDArray[np.float64]:
    """Angles of the twelve joints, in their order, with each foot below the second joint of its leg.

    The first joint of a leg is where it is at neutral, or nearly. Of two ways to bend a knee the limits of the joints
    leave one; otherwise knees are behind. RobotError if a leg does not reach.
    """
    legs = {leg[-1]: leg for leg in _legs(robot)}
    chains = [legs[robot.frame(foot).body] for foot in feet if robot.frame(foot).body in legs]
    if len(chains) != 4:
        raise RobotError(f"{robot.name}: one foot at the end of each leg is needed, not {', '.join(feet)}")
    hips, knees = ([robot.bodies[leg[k]].name for leg in chains] for k in (1, 2))
    frames, still = build(robot, "fk", frames=(*feet, *hips, *knees)), np.zeros(robot.nv)
    low, high = (np.array([getattr(body.joint, side) for body in robot.bodies[1:]]) for side in ("lower", "upper"))
    low, high = np.maximum(low, -np.pi), np.minimum(high, np.pi)
    own = np.array([[body - 1 for body in leg] for leg in chains])

    def places(angles: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = frames(np.concatenate([rest[:-12], angles]), still).position.reshape(3, 4, 3)
        return found

    rest = robot.neutral()
    foot, hip, knee = places(rest[-12:])
    length = np.linalg.norm(foot - knee, axis=1) + np.linalg.norm(knee - hip, axis=1)
    best, behind = np.zeros(12), np.full(4, np.inf)
    for start in product(*STARTS):
        angles = np.zeros(12)
        angles[own[:, 1]], angles[own[:, 2]] = start
        angles = np.clip(angles, low + 1e-6, high - 1e-6)

        def error(angles: NDArray[np.float64]) -> NDArray[np.float64]:
            at, above, _ = places(angles)
            wanted = np.stack([above[:, 0], foot[:, 1], above[:, 2] - BENT * length], axis=1)
            found: NDArray[np.float64] = (at - wanted).ravel()
            return found

        angles = peer("scipy.optimize").least_squares(error, angles, bounds=(low, high)).x
        missed = np.linalg.norm(error(angles).reshape(4, 3), axis=1) > NEAR
        _, above, knee = places(angles)
        back = np.where(missed, np.inf, knee[:, 0] - above[:, 0])
        for leg in np.flatnonzero(back < behind - NEAR):
            best[own[leg]], behind[leg] = angles[own[leg]], back[leg]
    if not np.isfinite(behind).all():
        raise RobotError(f"{robot.name}: no angles were found with every foot below its hip; state those to stand in")
    return best


def _legs(robot: Robot) -> list[tuple[int, int, int]]:
    """Bodies of each leg; RobotError if there are not four of three joints."""
    parents = [body.parent for body in robot.bodies]
    found = [(parents[parents[foot]], parents[foot], foot) for foot in range(len(parents)) if foot not in parents]
    hinges = all(body.joint.type == "revolute" for body in robot.bodies[1:])
    if not robot.floating or len(parents) != 13 or any(parents[hip] != 0 for hip, *_ in found) or not hinges:
        raise RobotError(f"{robot.name}: a floating base and four legs of three hinges are needed")
    return found


def _end(robot: Robot, body: int) -> str:
    """The frame of a body that is farthest from its joint."""
    own = [frame for frame in robot.frames if frame.body == body]
    return max(own, key=lambda frame: float(np.linalg.norm(frame.placement.p))).name
