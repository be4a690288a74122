"""Who takes part in a contest: one function per peer, from a scenario and a compiler to contestants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opcount.bench import casadi_peer, ours, pinocchio_peer
from opcount.bench.workshop import Absent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from opcount.bench.contest import Contestant, Scenario
    from opcount.bench.workshop import Compiler, Workshop

    Entry = Callable[[Scenario, Compiler, Workshop], tuple[Contestant, ...]]

ALGORITHMS = ("rnea", "crba", "aba", "ltl", "minverse")

OURS: dict[str, Entry] = {
    "rigidc": lambda scenario, compiler, workshop: (ours.single(scenario, compiler, workshop),),
    "rigidc, batch": lambda scenario, compiler, workshop: (ours.batch(scenario, compiler),),
}
PEERS: dict[str, Entry] = {
    "Pinocchio": pinocchio_peer.contestants,
    "CasADi C": lambda scenario, compiler, workshop: (casadi_peer.contestant(scenario, compiler, workshop),),
}

# What a comparison compares, where it is not obvious.
NOTES = {
    "crba": "Pinocchio writes the upper triangle of M, rigidc and the CasADi C the whole matrix.",
    "ltl": "Pinocchio: nonLinearEffects, crba, cholesky::decompose and cholesky::solve.",
    "minverse": "Pinocchio writes the upper triangle of the inverse, rigidc and the CasADi C the whole matrix.",
}


def entered(
    scenario: Scenario, compilers: Sequence[Compiler], workshop: Workshop
) -> tuple[list[Contestant], list[str]]:
    """All who take part, ours first, and a sentence for everyone who does not."""
    found: list[Contestant] = []
    absent: list[str] = []
    for entries in (OURS, PEERS):
        for enter in entries.values():
            for compiler in compilers:
                try:
                    found.extend(enter(scenario, compiler, workshop))
                except Absent as sentence:
                    absent.append(str(sentence))
    return found, list(dict.fromkeys(absent))
