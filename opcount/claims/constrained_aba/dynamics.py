"""Operations of constrained dynamics, of proximal steps and of phases (sections I, II-F, VIII-B, Fig. 1)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from codegen.tracing.phases import ARTICULATED, FACTORS, FORCES, INERTIA, REST
from opcount.claims.claim import Claim, about, at_least, at_most, undecided
from opcount.claims.mechanisms import SMALL_CHAINS, SMALLEST, go1, humanoids
from opcount.claims.phases import Part, beyond
from opcount.claims.quantities import Array, Computed, Counted, more, percent
from opcount.studies.measured import PAPER, Held

STATED = "Only one side of the comparison is an algorithm here."
GO1, TALOS = PAPER["go1 F3 x4"], PAPER["talos F6^2"]
DYNAMICS = ("constrained_aba", "prox_pv", "prox_ltls", "prox_ltl")
EARLY = (PAPER["iiwa H6"], GO1, TALOS)


def _per_step(held: Held, first: str, second: str) -> Counted:
    """A proximal step of the first algorithm beyond one of the second, percent: half of three steps less one."""

    def step(table: Array) -> float:
        each = (table[1] - table[0]) / 2.0
        return float(100.0 * (each[0] / each[1] - 1.0))

    return Counted((replace(held, steps=1), held), (first, second), step)


def _shorter(table: Array) -> float:
    """The longest chain below which LTL is not dearer than ABA."""
    return next((n for n, row in zip(SMALLEST, table, strict=True) if row[0] > row[1]), SMALLEST[-1])


def _spread(table: Array) -> float:
    """How far the dearest algorithm is beyond the cheapest, percent, mean of the cases."""
    return float(100.0 * (table.max(axis=1) / table.min(axis=1) - 1.0).mean())


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "constrained_aba.ltl_small",
        "I-A",
        "The LTL algorithm is faster than the $O(n)$ algorithms for small robots ($n < 7$) and can be competitive "
        "even for robots as large as quadrupeds ($n = 18$), due to branching in the kinematic tree.",
        "links of the shortest chain on which LTL is dearer than ABA",
        7,
        Counted(SMALL_CHAINS, ("ltl", "aba"), _shorter),
        about(7, within=1, toward=3.5),
        "ABA's first links are cheap where transforms have structure, and few terms are left of M on a short chain.",
    ),
    Claim(
        "constrained_aba.ltl_quadruped",
        "I-A",
        "The LTL algorithm is faster than the $O(n)$ algorithms for small robots ($n < 7$) and can be competitive "
        "even for robots as large as quadrupeds ($n = 18$), due to branching in the kinematic tree.",
        "LTL beyond ABA, percent, Go1",
        None,
        more([Held("go1", ())], "ltl", "aba"),
        at_most(25.0, toward=50.0),
    ),
    Claim(
        "constrained_aba.early_dearer",
        "I-B",
        "Its derivation and implementation are significantly simpler than the existing $O(n+m)$ algorithms like the "
        "PV-early while being more efficient and more generally applicable to singular cases.",
        "PV-early beyond constrainedABA (three steps), percent, mean of iiwa H6, Go1 F3 x4, Talos F6^2",
        None,
        more(EARLY, "pv_early", "constrained_aba"),
        at_least(0.0),
        "It contradicts section IX: three steps cost more than eliminating rows once.",
    ),
    Claim(
        "constrained_aba.early_cheaper",
        "IX",
        "However, we must note that we expect the vanilla PV-early algorithm (without proximal regularization) to "
        "marginally outperform constrainedABA for robots that predominantly possess single DoF joints and no singular "
        "constraints, as it does not require an iterative procedure.",
        "PV-early beyond constrainedABA (three steps), percent, mean of iiwa H6, Go1 F3 x4, Talos F6^2",
        None,
        more(EARLY, "pv_early", "constrained_aba"),
        at_most(0.0),
        "Householder reflections of six rows cost more than two reduced sweeps.",
    ),
    Claim(
        "constrained_aba.prox_overhead",
        "I-B",
        "**The proxPV algorithm:** Revisiting the PV algorithm in the light of proximal-point optimization, we "
        "introduce proxPV that makes the PV algorithm robust to singular cases with minimal computational overhead.",
        "proxPV (three steps) beyond PV, percent, mean of iiwa H6, Go1 F3 x4, Talos F6^2",
        None,
        more(EARLY, "prox_pv", "pv"),
        at_most(10.0, toward=20.0),
    ),
    Claim(
        "constrained_aba.go1_similar",
        "VIII-B, Fig. 1",
        "For the Go1 robot, the operation count of all the algorithms is similar, with constrainedABA requiring "
        "approximately 20% fewer operations than proxLTL.",
        "the dearest of the four algorithms beyond the cheapest, percent, mean of Go1 on one, two and four feet",
        None,
        Counted(go1(), DYNAMICS, _spread),
        at_most(30.0, toward=60.0),
        "Structure makes sweeps cheaper than it makes the factors of M.",
    ),
    Claim(
        "constrained_aba.go1_fewer",
        "VIII-B, Fig. 1",
        "For the Go1 robot, the operation count of all the algorithms is similar, with constrainedABA requiring "
        "approximately 20% fewer operations than proxLTL.",
        "constrainedABA beyond proxLTL, percent, mean of Go1 on one, two and four feet",
        -20.0,
        more(go1(), "constrained_aba", "prox_ltl"),
        about(-20.0, within=5.0, toward=-2.0),
        "Structure makes sweeps cheaper than it makes the factors of M.",
    ),
    Claim(
        "constrained_aba.larger",
        "VIII-B, Fig. 1",
        "For larger robots as well as an increased number of constraints, the lower complexity algorithms clearly "
        "demonstrate their superiority.",
        "proxLTL beyond constrainedABA, percent, least of Talos F6^2 and Atlas F6^2 H6^2",
        None,
        Counted(humanoids(), ("prox_ltl", "constrained_aba"), lambda table: percent(table).min()),
        at_least(25.0, toward=0.0),
    ),
    Claim(
        "constrained_aba.humanoids",
        "IX",
        "The lower-complexity algorithms, constrained-ABA, and proxPV were significantly more efficient than proxLTLs "
        "and proxLTL regarding the number of operations for larger robots like humanoids.",
        "the cheaper of proxLTLs and proxLTL beyond the dearer of constrainedABA and proxPV, percent, least of Talos "
        "and Atlas",
        None,
        Counted(humanoids(), DYNAMICS, lambda t: 100 * (t[:, 2:].min(axis=1) / t[:, :2].max(axis=1) - 1).min()),
        at_least(10.0, toward=0.0),
        "With feet and hands held proxPV factors 24 rows, which proxLTLs does not.",
    ),
    Claim(
        "constrained_aba.steps_primal",
        "VIII-B, Fig. 1",
        "The proximal iterations for constrainedABA and proxLLTs are more expensive than for proxPV and proxLTL "
        "respectively, as the latter two algorithms only solve the smaller dual problem during proximal iterations.",
        "a step of constrainedABA beyond one of proxPV, percent, Talos F6^2",
        None,
        _per_step(TALOS, "constrained_aba", "prox_pv"),
        at_least(0.0),
    ),
    Claim(
        "constrained_aba.steps_dual",
        "VIII-B, Fig. 1",
        "The proximal iterations for constrainedABA and proxLLTs are more expensive than for proxPV and proxLTL "
        "respectively, as the latter two algorithms only solve the smaller dual problem during proximal iterations.",
        "a step of proxLTLs beyond one of proxLTL, percent, Talos F6^2",
        None,
        _per_step(TALOS, "prox_ltls", "prox_ltl"),
        at_least(0.0),
    ),
    Claim(
        "constrained_aba.steps_swept",
        "VIII-B, Fig. 1",
        "ConstrainedABA's proximal iterations are more expensive than that of proxLLTs because the former performs a "
        "reduced backward and forward sweep over all the joints supporting constraints, while proxLLTs computes this "
        "using the constraint Jacobian and Cholesky decomposition of $M_\\mu$.",
        "a step of constrainedABA beyond one of proxLTLs, percent, Talos F6^2",
        None,
        _per_step(TALOS, "constrained_aba", "prox_ltls"),
        at_least(0.0),
        "Solving with M + mu J'J goes through all joints, a reduced sweep only through those that support contacts.",
    ),
    Claim(
        "constrained_aba.steps_early",
        "VIII-B, Fig. 1",
        "Proximal iterations of proxPV and proxLTL should cost the same, but proxPV's proximal iterations are "
        "slightly more expensive because of an implementation detail.",
        "a step of proxPV beyond one of proxLTL, percent, Go1 F3 x4",
        None,
        _per_step(GO1, "prox_pv", "prox_ltl"),
        at_least(0.5, toward=0.0),
        "The detail, elimination at the base, is not part of the listing: then steps cost the same, or rows of one "
        "limb are eliminated together.",
    ),
    *(
        Claim(
            f"constrained_aba.{name}",
            "VIII-B, Fig. 1",
            quote,
            f"{words}, percent, mean of Go1 F3 x4 and Talos F6^2",
            None,
            Computed(words, partial(beyond, first, second, (GO1, TALOS))),
            at_least(0.0),
        )
        for name, words, first, second, quote in (
            (
                "inertias",
                "inertias and bias forces of constrainedABA beyond those of proxPV",
                Part("constrained_aba", (ARTICULATED, FORCES)),
                Part("prox_pv", (ARTICULATED, FORCES)),
                "This operation is more expensive in constrainedABA due to the inertia matrix and constraint forces "
                "updates in Eq. (29).",
            ),
            (
                "stiffer_matrix",
                "stiffened inertias, M + mu J'J and its factors in proxLTLs beyond M and its factors",
                Part("prox_ltls", (ARTICULATED, INERTIA, FACTORS, REST)),
                Part("ltl", (ARTICULATED, INERTIA, FACTORS, REST)),
                "Computing $M_\\mu^{-1}$ is more expensive than $M^{-1}$ due to the JSIM augmentation step in Eq. "
                "(24).",
            ),
        )
    ),
    undecided(
        "constrained_aba.augmented_crba",
        "II-F",
        "This provides a minor speed-up compared to first separately computing $M$ using CRBA and later adding the "
        "$\\mu J_{f_c}^T J_{f_c}$ terms.",
        "CRBA on stiffened inertias, and M + mu J'J",
        STATED,
    ),
)
