"""What approximate inverse dynamics lack on a moving leg (Chignoli et al. 2023, sec. IX-B, Fig. 14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from opcount.studies.swing import ARMATURE, BARE, EXACT, error, swung
from opcount.studies.torques import KNEE, LEG, ROBOT

if TYPE_CHECKING:
    from codegen.tracing.task import Tier


def ankle_error(rotors: bool, share: bool, tier: Tier) -> float:
    """The root mean square error (N m) of a torque, with rotors as armature or without them.

    What the paper says of the ankle is true of the knee of the bundled description. As a `share`, percents of the
    largest torque of the exact algorithm.
    """
    torques = swung(ROBOT, LEG, tier)
    exact, nearly = torques[EXACT][KNEE], torques[ARMATURE if rotors else BARE][KNEE]
    return error(exact, nearly) * (100.0 / float(np.abs(exact).max()) if share else 1.0)
