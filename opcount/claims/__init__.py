"""What the papers claim, and what our counts and numbers say to it: one file per paper, and this registry.

`python -m opcount.claims [ID ...]` evaluates them. Every claim is quoted with its place, and judged on each tier: as
published (the paper's listing), as written (our algorithm after lowering) and as emitted (the C).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from opcount.claims import constrained_aba, contact_rich, proximal_slides, pv_osimr, recursive_loops

if TYPE_CHECKING:
    from opcount.claims.claim import Claim

__all__ = ["CLAIMS", "PAPERS", "Paper"]


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper's title, the name of the file that holds its text, and its claims."""

    title: str
    text: str
    claims: tuple[Claim, ...]

    def __str__(self) -> str:
        return self.title


PAPERS: dict[str, Paper] = {
    name: Paper(paper.TITLE, paper.TEXT, paper.CLAIMS)
    for name, paper in (
        ("pv_osimr", pv_osimr),
        ("constrained_aba", constrained_aba),
        ("recursive_loops", recursive_loops),
        ("contact_rich", contact_rich),
        ("proximal_slides", proximal_slides),
    )
}
CLAIMS: dict[str, Claim] = {claim.id: claim for paper in PAPERS.values() for claim in paper.claims}
