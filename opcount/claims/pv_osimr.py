"""The claims of Sathya, Decre, Swevers 2023, PV-OSIMr (arXiv 2310.03676).

The formulas of its text are lost in the copy that quotes are taken from, and stand in `compared` instead.
"""

from __future__ import annotations

from opcount.claims.claim import Claim, Judged, about, at_least, exactly, undecided
from opcount.claims.mechanisms import (
    HAND,
    ONE_HAND,
    ROOTED,
    ROOTS,
    STANDING,
    WELDED,
    go1,
    humanoids,
    stem,
)
from opcount.claims.quantities import Array, Counted, grows, more, percent, slope
from opcount.studies.measured import PAPER

TITLE = "Sathya, Decré, Swevers 2023: PV-OSIMr (arXiv 2310.03676)"
TEXT = "sathya_2023_pv_osimr.txt"

POINTS, SOLES = PAPER["atlas 4x3D per foot"], PAPER["atlas F6^2"]
HANDED = (ONE_HAND, STANDING)
HUMANOIDS = "Talos F6^2 and Atlas F6^2 H6^2"
THREE = ("efpa", "pv_osim", "pv_osimr")
SHORT_STEMS = tuple(stem(links, branches) for links, branches in ((6, 1), (14, 1), (6, 2), (14, 2), (6, 4)))
SAME = Judged(-1.0, 1.0, -5.0, 5.0)
STEPS = (2, 3, 4, 6, 8, 12)


def _steps(branches: int) -> tuple[tuple[int, int], ...]:
    return tuple((links, branches) for links in (4, 8))


def _per_link(first: str, second: str, *numbers: int) -> Counted:
    """What a link of the stem costs more in the first algorithm than in the second (percent), where it is least."""
    cases = tuple(stem(links, branches, 1) for number in numbers for links, branches in _steps(number))

    def least(table: Array) -> float:
        each = table[1::2] - table[::2]
        return float(percent(each).min())

    return Counted(cases, (first, second), least)


def _crossing(table: Array) -> float:
    """The length of the longest stem on which PV-OSIM (first) is not dearer than PV-OSIMr."""
    return max((links for links, row in zip(STEPS, table, strict=True) if row[0] <= row[1]), default=0)


def _exponent(algorithm: str) -> Counted:
    return Counted(ROOTED, (algorithm,), lambda table: slope([k * k for k in ROOTS], table[:, 0]))


def _least_of_others(table: Array) -> float:
    """By how many percent the cheapest other one exceeds the last column, where it is least."""
    return float(100.0 * (table[:, :-1].min(axis=1) / table[:, -1] - 1.0).min())


_CHAIN = (
    "In this case (), both EFPA and PV-OSIMr have the same asymptotic complexity and scale quadratically with , while "
    "PV-OSIMr scales cubically."
)
_ROOTS = "PV-OSIMr clearly has the same slope as the function while EFPA has a higher slope due to the term."
_SIGNIFICANTLY = "For both examples, the PV-OSIM and PV-OSIMr significantly outperform EFPA and LTL."
_SEVERAL = (
    "Though PV-OSIM has a higher complexity of compared to EFPA's complexity, it was found [11] to be significantly "
    "more efficient than the KJR, EFPA and LTL-OSIM for a wide range of robots such as quadrupeds (Go1) and humanoids "
    "(Atlas and Talos)."
)

CLAIMS: tuple[Claim, ...] = (
    *(
        Claim(
            f"pv_osimr.others_{robot}",
            "I",
            _SEVERAL,
            f"the cheapest of LTL-OSIM, KJR and EFPA, percent beyond PV-OSIM, least of {words}",
            None,
            Counted(cases, ("ltl_osim", "kjr", "efpa", "pv_osim"), _least_of_others),
            at_least(5.0, toward=0.0),
            "Rows that meet at the base alone are the same products in our EFPA and PV-OSIM.",
        )
        for robot, words, cases in (
            ("go1", "Go1 on one, two, four feet", go1()),
            ("humanoids", "Talos F6^2 and Atlas F6^2 H6^2", humanoids()),
        )
    ),
    undecided(
        "pv_osimr.asimo",
        "I",
        "Despite its worse complexity of , the LTL-OSIM algorithm was found [12] to be significantly faster than KJR "
        "and competitive with EFPA [14, 11] even for the ASIMO robot (a high DoF humanoid robot with favorable "
        "branching structure).",
        "operations on ASIMO",
        "No description of ASIMO is bundled.",
    ),
    undecided(
        "pv_osimr.local_frames",
        "IV-A",
        "However, the OSIM algorithms (as well as the ABA algorithm [2], [23]) are more efficiently implemented in "
        "the local frame.",
        "operations in world frames and in local ones",
        "The listings are in local frames only.",
    ),
    Claim(
        "pv_osimr.one_branch",
        "IV-B, Fig. 3 a",
        "When there is only one branch, the mechanism is a serial chain with 6D constraints on each end, and there is "
        "no difference between the PV-OSIMr and PV-OSIM algorithms as the dimensionality of the propagated "
        "constraints does not exceed 6 to benefit from PV-OSIMr's optimization w.r.t to PV-OSIM.",
        "PV-OSIM beyond PV-OSIMr, percent, stems of 6 and 14 links",
        0.0,
        more([stem(links, 1) for links in (6, 14)], "pv_osim", "pv_osimr"),
        SAME,
        "Nothing else than the order of products differs: rows go down at once, or by way of a link's own propagator.",
    ),
    Claim(
        "pv_osimr.scales_better",
        "IV-B, Fig. 3",
        "For two or more branches, PV-OSIMr's advantage becomes apparent as it scales significantly better than "
        "PV-OSIM due to its lower computational complexity.",
        "a stem's link in PV-OSIM beyond one in PV-OSIMr, percent, least of 2, 4 and 7 branches",
        None,
        _per_link("pv_osim", "pv_osimr", 2, 4, 7),
        at_least(10.0, toward=0.0),
    ),
    Claim(
        "pv_osimr.efpa_dearest",
        "IV-B, Fig. 3",
        "EFPA is more expensive than both PV-OSIMr and PV-OSIM for nearly all the considered mechanisms.",
        "percent of stems (6 and 14 links with 1 and 2 branches, 6 with 4) on which EFPA is dearest",
        None,
        Counted(SHORT_STEMS, THREE, lambda table: 100.0 * (table[:, 0] > table[:, 1:].max(axis=1)).mean()),
        at_least(80.0, toward=50.0),
    ),
    Claim(
        "pv_osimr.efpa_overtakes",
        "IV-B, Fig. 3 f",
        "However, for long enough mechanisms with sufficiently many constraints the EFPA eventually becomes faster "
        "than the PV-OSIM (see Fig. 3(f)) due to its lower computational complexity.",
        "a stem's link in PV-OSIM beyond one in EFPA, percent, 7 branches",
        None,
        _per_link("pv_osim", "efpa", 7),
        at_least(0.0),
        "Products with units of joints are left out, which saves most in PV-OSIM, whose rows meet joint after joint.",
    ),
    Claim(
        "pv_osimr.chain_linear",
        "IV-B, Fig. 4 a",
        _ROOTS,
        "PV-OSIMr's exponent from 16 to 36 links, the last sqrt(n) of them held",
        1.0,
        _exponent("pv_osimr"),
        about(1.0, within=0.15, toward=0.8),
        "The blocks of 36 rows are not yet small beside 36 links.",
    ),
    Claim(
        "pv_osimr.chain_efpa",
        "IV-B, Fig. 4 a",
        _ROOTS,
        "EFPA's exponent from 16 to 36 links, the last sqrt(n) of them held",
        1.5,
        _exponent("efpa"),
        about(1.5, within=0.15, toward=1.15),
        "The term m d is 1.5, the term n is 1: the exponent is on its way from one to the other.",
    ),
    *(
        Claim(
            f"pv_osimr.every_link_{algorithm}",
            "IV-B, Fig. 4 b",
            _CHAIN,
            f"the degree of {name} in the number of links (4 to 12), all of them held",
            order,
            grows(WELDED, algorithm),
            exactly(order),
            "No one polynomial: which products are formed first is chosen by their cost, and changes with the length.",
        )
        for algorithm, name, order in (("pv_osimr", "PV-OSIMr", 2), ("efpa", "EFPA", 2), ("pv_osim", "PV-OSIM", 3))
    ),
    Claim(
        "pv_osimr.every_link_faster",
        "IV-B, Fig. 4 b",
        "However, PV-OSIMr remains significantly faster than EFPA even in this example, mainly because of the way "
        "EFPA propagates a separate inverse inertia term for every supported end-effector (see line 15 in Algorithm "
        "2) requiring operations.",
        "EFPA beyond PV-OSIMr, percent, 12 links, all of them held",
        None,
        more(WELDED[-1:], "efpa", "pv_osimr"),
        at_least(10.0, toward=0.0),
        "EFPA takes blocks on the upper link itself, whose rows and joint have zeros that SX finds.",
    ),
    Claim(
        "pv_osimr.atlas_welds",
        "IV-C, Fig. 5 a",
        "There is no difference between PV-OSIM and PV-OSIMr in this case as the two 6D constraints meet only at the "
        "floating-base link during the backward propagation and therefore does not benefit from the PV-OSIMr's "
        "improvement.",
        "PV-OSIM beyond PV-OSIMr, percent, Atlas F6^2",
        0.0,
        more([SOLES], "pv_osim", "pv_osimr"),
        SAME,
        "Ours branch at the base, and form its block otherwise.",
    ),
    Claim(
        "pv_osimr.atlas_points",
        "IV-C, Fig. 5 b",
        "PV-OSIM propagates 12D constraints from each foot while PV-OSIMr only propagates 6D constraints leading to a "
        "reduction in computation cost with PV-OSIM requiring 19.9% more operations than PV-OSIMr.",
        "PV-OSIM beyond PV-OSIMr, percent, Atlas 4x3D per foot",
        19.9,
        more([POINTS], "pv_osim", "pv_osimr"),
        about(19.9, within=5.0, toward=2.0),
        "Rows of one link are brought together before they go down: twelve on a foot become six, in every algorithm.",
    ),
    *(
        Claim(
            f"pv_osimr.atlas_{other}_{name}",
            "IV-C, Fig. 5",
            _SIGNIFICANTLY,
            f"{words} beyond the dearer of PV-OSIM and PV-OSIMr, percent, {held}",
            None,
            Counted((case,), (algorithm, "pv_osim", "pv_osimr"), lambda t: 100 * (t[0, 0] / t[0, 1:].max() - 1)),
            at_least(10.0, toward=0.0),
            "PV-OSIM takes twelve rows of a foot down, EFPA and PV-OSIMr six, as soon as they may.",
        )
        for algorithm, other, words in (("efpa", "efpa", "EFPA"), ("ltl_osim", "ltl", "LTL-OSIM"))
        for name, held, case in (("welds", "Atlas F6^2", SOLES), ("points", "Atlas 4x3D per foot", POINTS))
    ),
    Claim(
        "pv_osimr.hand_alone",
        "IV-D, Fig. 6 a",
        "The typically expensive LTL-OSIM is computationally more efficient than EFPA for just the Shadow Hand in "
        "Fig. 6(a) because the LTL-OSIM benefits from the sparsity induced by the extensive branching of the hand's "
        "mechanism.",
        "EFPA beyond LTL-OSIM, percent, a Shadow hand on five points",
        None,
        more([HAND], "efpa", "ltl_osim"),
        at_least(0.0),
        "The fingers meet in the palm alone: there our EFPA, PV-OSIM and PV-OSIMr are the same products.",
    ),
    Claim(
        "pv_osimr.hands_ltl",
        "IV-D, Fig. 6 b-d",
        "When the Shadow hand is connected to the Atlas robot in the remaining three examples, the performance of the "
        "high complexity LTL-OSIM significantly deteriorates compared to the lower complexity algorithms PV-OSIMr, "
        "PV-OSIM and EFPA.",
        "LTL-OSIM beyond the dearest of the others, percent, least of one hand held, and both with the feet",
        None,
        Counted(HANDED, ("ltl_osim", *THREE), lambda t: 100 * (t[:, 0] / t[:, 1:].max(axis=1) - 1).min()),
        at_least(10.0, toward=0.0),
    ),
    Claim(
        "pv_osimr.hands_fewer",
        "IV-D, Fig. 6",
        "The PV-OSIMr algorithm is found to be significantly more efficient than the other algorithms with up to 34% "
        "fewer operations needed than the next most efficient algorithm PV-OSIM.",
        "PV-OSIMr beyond PV-OSIM, percent, most of the hand alone, Atlas with one held, and on both with its feet",
        -34.0,
        Counted((HAND, *HANDED), ("pv_osimr", "pv_osim"), lambda table: percent(table).min()),
        about(-34.0, within=5.0, toward=-5.0),
        "The arms' seven joints and the torso's three are a small part of two hands with 48 joints, which both pay "
        "for.",
    ),
    Claim(
        "pv_osimr.atlas_best",
        "V",
        "The PV-OSIMr algorithm not only has the lowest computational complexity, but is also found to lead to up to "
        "24% improvement over practical examples involving the Atlas robot.",
        "PV-OSIMr beyond PV-OSIM, percent, most of Atlas with one hand held, on both with its feet, and 4x3D per foot",
        -24.0,
        Counted((*HANDED, POINTS), ("pv_osimr", "pv_osim"), lambda table: percent(table).min()),
        about(-24.0, within=5.0, toward=-5.0),
        "The paper's figure says 34 percent, its conclusion 24.",
    ),
    Claim(
        "pv_osimr.few_joints",
        "IV-E",
        "This occurs especially when more than six constraints need to be propagated in PV-OSIM through only a few () "
        "single DoF joints, because for single DoF joints PV-OSIM recursively computes the OSIM through efficient "
        "symmetric rank-1 (SR1) updates per joint (by computing the vector , see line 14 in Algorithm 1).",
        "links of the longest of stems of 2, 3, 4, 6, 8, 12 on which PV-OSIM is not dearer than PV-OSIMr, 12 rows",
        None,
        Counted(tuple(stem(links, 2, 1) for links in STEPS), ("pv_osim", "pv_osimr"), _crossing),
        at_least(2.0),
        "Both are the same where it takes fewer operations.",
    ),
    Claim(
        "pv_osimr.atlas_four",
        "IV-E",
        "For example, if a 6D weld constraint is imposed on both the hands (without the Shadow Hand) in addition to "
        "the 6D constraints on the feet of Atlas considered in Section IV-C, the PV-OSIM requires 1.5% fewer "
        "operations than PV-OSIMr, because PV-OSIM's simpler backward pass remains more efficient when performed over "
        "just three joints (from sternum to the floating base hip link).",
        "PV-OSIM beyond PV-OSIMr, percent, Atlas F6^2 H6^2",
        -1.5,
        more([PAPER["atlas F6^2 H6^2"]], "pv_osim", "pv_osimr"),
        about(-1.5, within=3.0, toward=0.0),
    ),
    undecided(
        "pv_osimr.two_sweeps",
        "I",
        "The PV-OSIM algorithm has an efficient computation structure requiring only two sweeps compared to three "
        "sweeps required by KJR and EFPA.",
        "sweeps",
        "Sweeps are a matter of the listing: PV-OSIM's has two over all links, KJR's and EFPA's three.",
    ),
)
