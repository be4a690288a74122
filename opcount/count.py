"""The operations of one algorithm for one robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codegen import api, pipeline
from codegen.algorithms.published import PUBLISHED
from codegen.ir.counting import Count
from codegen.robot import load
from codegen.tracing.task import TIERS, Tier

if TYPE_CHECKING:
    from collections.abc import Collection

    from codegen.model import Model

OURS: tuple[Tier, ...] = ("written", "emitted")


def count(robot: Model | str, algorithm: str, *, tier: Tier = "emitted", **options: Any) -> Count:
    """Operations by class of `algorithm` for a robot, a bundled name or a file.

    `tier` is `published` (the paper's listing over matrices, by the papers' counting rules), `written` (our algorithm
    after lowering) or `emitted` (after the passes, too: exactly the operators in the C file). `options` are those of
    `codegen.build`: frames, external, parameters. ValueError for another tier; RobotError for a robot or an algorithm
    that does not exist, or that no paper lists.
    """
    if tier not in TIERS:
        raise ValueError(f"tier must be one of {', '.join(TIERS)}, not {tier!r}")
    return counts(robot, algorithm, (tier,), **options)[tier]


def tiers_of(algorithm: str) -> tuple[Tier, ...]:
    """The tiers of an algorithm: as published only where a paper lists it."""
    return TIERS if algorithm in PUBLISHED else OURS


def counts(robot: Model | str, algorithm: str, tiers: Collection[Tier] = OURS, **options: Any) -> dict[Tier, Count]:
    """The counts of several tiers, of ours from one tracing; see `count`."""
    model, found = load(robot) if isinstance(robot, str) else robot, dict[Tier, Count]()

    def of(tier: Tier) -> tuple[Count, Count]:
        return pipeline.counts(api.task(model, algorithm, **options, tier=tier))

    if "published" in tiers:
        found["published"] = of("published")[0]
    if "emitted" not in tiers and "written" in tiers:
        found["written"] = of("written")[0]
    if "emitted" in tiers:
        found |= {tier: own for tier, own in zip(OURS, of("emitted"), strict=True) if tier in tiers}
    return found
