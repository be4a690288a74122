"""Robots with contacts for the bench: the published table's by name, and states at which contacts can be held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codegen.oracle import constrained

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codegen.model import Contact
    from codegen.robot import Robot

    Array = NDArray[np.float64]

_HANDS = tuple(f"{hand}_{finger}tip:3" for hand in ("lh", "rh") for finger in ("ff", "mf", "rf", "lf", "th"))
_TALOS, _ATLAS = ("left_sole_link:6", "right_sole_link:6"), ("l_foot:6", "r_foot:6")
_GO1 = ("FL_foot:3", "FR_foot:3", "RL_foot:3", "RR_foot:3")

SCENARIOS: dict[str, tuple[str, tuple[str, ...]]] = {
    "iiwa H3": ("iiwa", ("lbr_iiwa_link_7:3",)),
    "iiwa H6": ("iiwa", ("lbr_iiwa_link_7:6",)),
    "solo12 F3^2": ("solo12", ("FL_FOOT:3", "FR_FOOT:3")),
    "solo12 F3^4": ("solo12", ("FL_FOOT:3", "FR_FOOT:3", "HL_FOOT:3", "HR_FOOT:3")),
    "go1 F3^4": ("go1", _GO1),
    "talos F6^2": ("talos", _TALOS),
    "talos F6^2 H6^2": ("talos", (*_TALOS, "wrist_left_ft_tool_link:6", "wrist_right_ft_tool_link:6")),
    "atlas_shadow F6^2": ("atlas_shadow", _ATLAS),
    "atlas_shadow F6^2 T3^5": ("atlas_shadow", (*_ATLAS, *_HANDS[:5])),
    "atlas_shadow F6^2 T3^10": ("atlas_shadow", (*_ATLAS, *_HANDS)),
}
"""Name to robot and contacts: points (3) and welds (6) of feet (F), hands (H) and fingertips (T)."""

TRIES = 50  # random states for each that is wanted, before all are taken as they come


@dataclass(frozen=True, slots=True)
class Standing:
    """A state at which the contacts stand still."""

    q: Array
    v: Array


def standing(model: Robot, contacts: Sequence[Contact], rng: np.random.Generator) -> Standing:
    """A random state whose velocity leaves the contacts at rest, and at which no row is almost dependent on others.

    Spatial and classical accelerations of a contact at rest are the same, whichever a peer may hold.
    """
    for _ in range(TRIES):
        q, v, _ = model.random(rng)
        at = constrained.equations(model, q, v, contacts=contacts)
        rank, clear = constrained.rank(at)
        if clear and rank == len(at.J):
            break
    v = rng.standard_normal(model.nv)
    return Standing(q, v - np.linalg.pinv(at.J, rcond=constrained.RANK) @ (at.J @ v))
