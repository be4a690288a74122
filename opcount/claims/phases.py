"""What claims about a step of an algorithm compare: the operations of some of its phases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from codegen import api
from codegen.task.breakdown import breakdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.tracing.task import Tier
    from opcount.studies.measured import Held


@dataclass(frozen=True, slots=True)
class Part:
    """Phases of an algorithm, named as in its breakdown; what it does not have takes nothing."""

    algorithm: str
    phases: tuple[str, ...]


def beyond(first: Part, second: Part, cases: Sequence[Held], tier: Tier) -> float:
    """By how many percent the first part exceeds the second, mean of the cases."""
    return float(
        np.mean([100.0 * (operations(first, one, tier) / operations(second, one, tier) - 1.0) for one in cases])
    )


@cache
def operations(part: Part, held: Held, tier: Tier) -> int:
    """Operations of a part at a tier."""
    # passes are run on what is written, so that a breakdown as emitted has both
    traced: Tier = "published" if tier == "published" else "emitted"
    found = breakdown(api.task(held.model(), part.algorithm, **held.options, tier=traced))[tier].by("phase")
    return sum(found[phase][-1] for phase in part.phases if phase in found)
