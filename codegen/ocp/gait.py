"""Gaits: which feet are held when, and how high the others are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codegen.errors import RobotError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Model

GAITS = {
    "stand": (1.0, (0.0, 0.0, 0.0, 0.0)),
    "trot": (0.6, (0.0, 0.5, 0.5, 0.0)),
    "pace": (0.6, (0.0, 0.5, 0.0, 0.5)),
    "bound": (0.6, (0.0, 0.0, 0.5, 0.5)),
    "walk": (0.8, (0.0, 0.5, 0.75, 0.25)),
}
"""Part of the period for which a foot is held, and phases of the feet: front right and left, rear right and left."""


@dataclass(frozen=True, slots=True)
class Gait:
    """A periodic schedule of `feet` (frames); times are in seconds, lengths in metres.

    From `start` on, foot i is held while ((time - start) / period + phases[i]) modulo 1 is below `duty`. Then it swings
    up to `clearance` and back, with a velocity of zero at both ends. RobotError for impossible numbers.
    """

    feet: tuple[str, ...]
    period: float
    duty: float
    phases: tuple[float, ...]
    clearance: float = 0.08
    start: float = 0.0

    def __post_init__(self) -> None:
        if len(self.phases) != len(self.feet) or len(set(self.feet)) != len(self.feet):
            raise RobotError(f"gait: {len(self.phases)} phases for the feet {', '.join(self.feet)}; give each foot one")
        if not (0 < self.duty <= 1 and 0 < self.period < np.inf and 0 <= self.clearance < np.inf):
            raise RobotError(f"gait: {self}: period > 0, 0 < duty <= 1 and clearance >= 0 are needed")
        if not np.isfinite([*self.phases, self.start]).all():
            raise RobotError(f"gait: phases {self.phases} and start {self.start:g} must be finite numbers")

    @classmethod
    def named(cls, name: str, robot: Model, feet: tuple[str, ...], **options: float) -> Gait:
        """A gait of GAITS for four feet of a robot: front right and left, rear right and left.

        `options` are fields of a gait (`period` is 0.5 s if left out). RobotError for an unknown gait, a frame that the
        robot does not have, or one that cannot move: on the ground, or on a leg whose joints are all locked.
        """
        if name not in GAITS:
            raise RobotError(f"gait {name!r}: choose one of {', '.join(GAITS)}")
        for foot in feet:
            body = robot.frame(foot).body
            if body < 0 or robot.bodies[body].joint.type == "floating":
                raise RobotError(f"gait: {foot!r} of {robot.name} cannot move; choose frames of moving bodies as feet")
        duty, phases = GAITS[name]
        return cls(feet, **{"period": 0.5, "duty": duty, "phases": phases, **options})  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"{', '.join(self.feet)}: period {self.period:g} s, duty {self.duty:g}, clearance {self.clearance:g} m"

    def held(self, times: ArrayLike) -> NDArray[np.bool_]:
        """Whether each foot is held (times x feet)."""
        return self._swung(times) < 0

    def height(self, times: ArrayLike) -> NDArray[np.float64]:
        """How far each foot is above where it is held (times x feet, m)."""
        return self.schedule(times)[1]

    def rate(self, times: ArrayLike) -> NDArray[np.float64]:
        """The rate of the height (times x feet, m/s)."""
        return self.schedule(times)[2]

    def schedule(self, times: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
        """Whether each foot is held, its height and the rate of it."""
        swung = self._swung(times)
        angle = np.pi * np.maximum(swung, 0)
        fast = self.clearance * np.pi / ((1 - self.duty) * self.period or 1.0)
        return swung < 0, self.clearance * np.sin(angle) ** 2, fast * np.sin(2 * angle)

    def _swung(self, times: ArrayLike) -> NDArray[np.float64]:
        """The part of a swing that is over, and -1 where a foot is held (times x feet)."""
        time = np.asarray(times, dtype=np.float64)[..., None] - self.start
        phase = (time / self.period + np.array(self.phases)) % 1
        swinging = (phase >= self.duty) & (time >= 0)
        return np.where(swinging, (phase - self.duty) / (1 - self.duty or 1.0), -1.0)
