"""Orders of growth in links, rows and limbs, and growth of chains and binary trees (sections I-A to VI, Fig. 3)."""

from __future__ import annotations

from opcount.claims.claim import Claim, at_least, at_most
from opcount.claims.mechanisms import CHAINS, FREE_CHAINS, LIMBS, POINTED, TREE_LINKS, TREES
from opcount.claims.quantities import Counted, grows, slope
from opcount.studies.measured import Held

SWITCHES = "No one polynomial: which products are formed first is chosen by their cost, and changes with the size."


def _degree(id: str, place: str, quote: str, words: str, sizes: str, algorithm: str, order: int) -> Claim:
    """The growth of an algorithm with chains (their ends held, or every link), or with the links held of one chain."""
    cases, what = GROWTH[sizes]
    return Claim(
        id,
        place,
        quote,
        f"degree of {words} in {what}",
        order,
        grows(cases, algorithm),
        at_most(order),
        SWITCHES,
    )


GROWTH: dict[str, tuple[tuple[Held, ...], str]] = {
    "n": (CHAINS, "the links of a chain with its end held (6 to 16)"),
    "free": (FREE_CHAINS, "the links of a chain (6 to 16)"),
    "points": (POINTED, "the links of a chain, every one held by a point (4 to 12)"),
    "limbs": (LIMBS, "the limbs of a floating base, each with three joints and three rows (2 to 10)"),
}


_BOTH = (
    "Addressing this issue, a recent work [13] provides an accessible and expository derivation of the PV algorithm "
    "along with two original extensions, namely, PV-soft"
)
_STIFF = (
    "This formulation, which we will call proxLTLs, is interesting as $M_\\mu$ can be efficiently computed with a "
    "small modification to the CRBA (see Section II-F) and efficiently factorized using the LTL algorithm, leading to "
    "an algorithm that has a lower computational complexity of $O(nd^2 + md)$, which is significantly faster than the "
    "$O(nd^2 + m^2d + md^2 + m^3)$ complexity of the proxLTL algorithm."
)
_CHAINS = (
    "As expected, we observe a linear increase in computational cost for constrainedABA and proxPV and a superlinear "
    "increase for the proxLTL algorithm as the number of links increases."
)
_FAVOURABLE = (
    "This is because its complexity for the favorable binary tree example is $O(n \\log_2^2(n) + md)$ linearly, and "
    "it benefits from the efficient vectorized implementation of LTL [20] in the PINOCCHIO library."
)
_POORLY = "Both proxPV and proxLTL scale poorly due to their cubic complexity w.r.t. to the number of constraints."
_LOGARITHM = "From 21 to 45 links the square of the logarithm still counts."
_CUBES = "At 24 rows the cubes of them are not yet most of it."

CLAIMS: tuple[Claim, ...] = (
    _degree(
        "constrained_aba.ltl_order",
        "I-A",
        "However, branching in kinematic trees induces sparsity in the JSIM, which can be exploited by the Cholesky "
        "decomposition (LTL algorithm) developed in [15] with $O(nd^2)$ complexity, where $d$ is the depth of the "
        "kinematic tree.",
        "LTL (on chains d = n)",
        "free",
        "ltl",
        3,
    ),
    _degree(
        "constrained_aba.aba_order",
        "I-A",
        "The first $O(n)$ complexity unconstrained forward dynamics algorithm, where $n$ is the degrees of freedom "
        "(DoF) of the robot, was proposed by Vereshchagin in [7], but was unknown in west for decades.",
        "ABA",
        "free",
        "aba",
        1,
    ),
    *(
        _degree(f"constrained_aba.{algorithm}_order_{sizes}", place, quote, words, sizes, algorithm, order)
        for algorithm, words, place, orders, quote in (
            (
                "pv",
                "PV",
                "II-G",
                {"n": 1, "limbs": 3},
                "It is a low-complexity counterpart to Featherstone's LTL algorithm, with a $O(n + m^2 d + m^3)$ "
                "complexity.",
            ),
            ("pv_soft", "PV-soft", "I-A", {"n": 1, "limbs": 1}, _BOTH),
            ("pv_early", "PV-early", "I-A", {"n": 1, "limbs": 1}, _BOTH),
            (
                "constrained_aba",
                "constrainedABA, three steps",
                "IV-D",
                {"n": 1, "limbs": 1, "points": 1},
                "In practice, this brings the total computational complexity of constrainedABA to $O(m+n)$.",
            ),
            (
                "prox_ltl",
                "proxLTL, three steps",
                "II-B",
                {"limbs": 3, "points": 3},
                "However, as mentioned in Section I-A, this approach is computationally expensive with a total "
                "computational complexity of $O(nd^2 + m^2d + md^2 + m^3)$, where $d$ is the depth of the kinematic "
                "tree, $n$ the number of joints and $m$ is the number of constraints.",
            ),
            ("prox_ltls", "proxLTLs, three steps", "II-D", {"limbs": 1, "points": 3}, _STIFF),
            (
                "ltl_osim",
                "LTL-OSIM",
                "I-A",
                {"n": 3, "points": 3},
                "The main bottleneck in the joint-space constraint dynamics algorithms [19], [20] is the computation "
                "and factorization of the Delassus matrix [22], [23], also known as the inverse operational space "
                "inertia (OSIM) matrix [24], which itself has a computational complexity of $O(nd^2 + m^2d + m^3)$ "
                "[19].",
            ),
            (
                "kjr",
                "KJR",
                "I-A",
                {"n": 1, "points": 3},
                "One of the first such algorithms was the Kreutz-Jain-Rodriguez (KJR) algorithm [25], which used a "
                "three-sweep computation structure similar to ABA to achieve $O(n+m^2d+m^3)$.",
            ),
            (
                "efpa",
                "EFPA",
                "I-A",
                {"n": 1, "points": 2},
                "A further improvement on this propagation-based algorithm was proposed in EFPA [26] using extended "
                "force propagators (EFP) [27] to achieve a lower complexity of $O(n+md+m^3)$.",
            ),
            (
                "pv_osimr",
                "PV-OSIMr",
                "VI",
                {"n": 1, "limbs": 2, "points": 2},
                "Between the two options, we select the PV-OSIMr algorithm due to its lower computational complexity "
                "of $O(n + m^2)$ compared to $O(m + md + m^2)$ of EFPA.",
            ),
            (
                "caba_osim",
                "cABA-OSIM",
                "VI",
                {"n": 1, "limbs": 2, "points": 2},
                "Since the inertia augmentation and the evaluation of Eq. (40) require at most $O(m^2)$ number of "
                "additional operations, the total complexity of cABA-OSIM is $O(n + m^2)$.",
            ),
            (
                "caba_osimf",
                "cABA-OSIMf",
                "VI-B",
                {"limbs": 1},
                "Combining this cost for all branches yields the $O(n)$ complexity for computing the right-hand size "
                "of Eq. (41).",
            ),
        )
        for sizes, order in orders.items()
    ),
    *(
        _degree(f"constrained_aba.chain_{algorithm}", "VIII-B, Fig. 3 a, b", _CHAINS, words, "n", algorithm, 1)
        for algorithm, words in (("constrained_aba", "constrainedABA"), ("prox_pv", "proxPV"))
    ),
    Claim(
        "constrained_aba.chain_prox_ltl",
        "VIII-B, Fig. 3 a, b",
        _CHAINS,
        "degree of proxLTL in the links of a chain with its end held (6 to 16)",
        3,
        grows(CHAINS, "prox_ltl"),
        at_least(2),
    ),
    *(
        Claim(
            f"constrained_aba.tree_{algorithm}",
            "VIII-B, Fig. 3 c, d",
            quote,
            f"exponent of {words} from 21 to 45 links of a binary tree, its tips held by points",
            number,
            Counted(TREES, (algorithm,), lambda table: slope(TREE_LINKS, table[:, 0])),
            judged,
            reason,
        )
        for algorithm, words, number, judged, reason, quote in (
            (
                "constrained_aba",
                "constrainedABA",
                1.0,
                at_most(1.1, toward=1.2),
                "",
                "As expected, we observe constrainedABA to scale linearly.",
            ),
            ("prox_ltls", "proxLTLs", 1.0, at_most(1.35, toward=1.6), _LOGARITHM, _FAVOURABLE),
            ("prox_pv", "proxPV", None, at_least(1.5, toward=1.2), _CUBES, _POORLY),
            ("prox_ltl", "proxLTL", None, at_least(1.5, toward=1.2), _CUBES, _POORLY),
        )
    ),
)
