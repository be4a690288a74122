"""Who takes part in a race: one function per peer, from a scenario and a compiler to contestants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.algorithms import ALGORITHMS as REGISTRY
from opcount.bench import casadi_peer, ours, pinocchio_peer
from opcount.bench.build_dir import Absent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from opcount.bench.build_dir import BuildDir, Compiler
    from opcount.bench.race import Contestant, Scenario

    Entry = Callable[[Scenario, Compiler, BuildDir], tuple[Contestant, ...]]

ALGORITHMS = ("rnea", "crba", "aba", "ltl", "minverse")
HELD = ("constrained_aba", "caba_osim")
DERIVATIVES = ("rnea_derivatives", "aba_derivatives")
FREE = (*ALGORITHMS, *DERIVATIVES)
"""What is raced on robots without contacts."""
EVERY = (
    *FREE,
    *(name for name, entry in REGISTRY.items() if entry.group in ("constrained", "delassus", "damped")),
    *(name for name, entry in REGISTRY.items() if "dlam_dq" in entry.outputs),
)

PEERS: dict[str, Entry] = {
    "rigidc": ours.contestants,
    "Pinocchio": pinocchio_peer.contestants,
    "CasADi C": casadi_peer.contestants,
}

# What a comparison compares, where it is not obvious.
NOTES = {
    "crba": "Pinocchio writes the upper triangle of M, rigidc and the CasADi C the whole matrix.",
    "ltl": "Pinocchio: nonLinearEffects, crba, cholesky::decompose and cholesky::solve.",
    **dict.fromkeys(
        (name for name, entry in REGISTRY.items() if entry.group == "constrained"),
        "the same steps for all, at mu = 1e5; compared by the accelerations.",
    ),
    "caba_osim": "Pinocchio writes the upper triangle; its PV sweep is mended (it overwrote inertias).",
    "rnea_derivatives": "Pinocchio writes the upper triangle of M, rigidc the whole matrix; compared by dtau/dq.",
    "aba_derivatives": "Pinocchio writes the upper triangle of M^-1, rigidc the whole matrix; compared by da/dq.",
    **dict.fromkeys(
        (name for name, entry in REGISTRY.items() if "dlam_dq" in entry.outputs),
        "Pinocchio: constraintDynamics and computeConstraintDynamicsDerivatives; compared by da/dq.",
    ),
    "minverse": "Pinocchio writes the upper triangle of the inverse, rigidc and the CasADi C the whole matrix.",
}


def entered(
    scenario: Scenario, compilers: Sequence[Compiler], build_dir: BuildDir
) -> tuple[list[Contestant], list[str]]:
    """All who take part, ours first, and a sentence for everyone who does not."""
    found: list[Contestant] = []
    absent: list[str] = []
    for enter in PEERS.values():
        for compiler in compilers:
            more, sentence = _tried(enter, scenario, compiler, build_dir)
            found += more
            absent += [sentence] if sentence else []
    return found, list(dict.fromkeys(absent))


def _tried(
    enter: Entry, scenario: Scenario, compiler: Compiler, build_dir: BuildDir
) -> tuple[tuple[Contestant, ...], str]:
    try:
        return enter(scenario, compiler, build_dir), ""
    except Absent as sentence:
        return (), str(sentence)
