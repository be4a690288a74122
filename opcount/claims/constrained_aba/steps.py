"""Proximal steps: how fast and how exactly they converge, and who takes the same ones (sections II to VII, Fig. 4)."""

from __future__ import annotations

from functools import partial

from opcount.claims.claim import Claim, at_least, at_most
from opcount.claims.quantities import Computed
from opcount.claims.solved import (
    first_step_apart,
    inverse_apart,
    iterates_apart,
    least_squares_missed,
    refined,
    steps_needed,
)

EXACT = 1e-6

CLAIMS: tuple[Claim, ...] = (
    *(
        Claim(
            f"constrained_aba.converged_{part}",
            place,
            quote,
            f"steps of constrainedABA to 1e-6 in {part} percent of the states of a redundantly held Talos",
            number,
            Computed(f"steps of constrainedABA, {part} percent", partial(steps_needed, "constrained_aba", part / 100)),
            judged,
        )
        for part, place, number, judged, quote in (
            (
                50,
                "VIII-B, Fig. 4",
                3.0,
                at_most(3.0, toward=5.0),
                "Empirically, the proximal method was found to converge quite reliably in about three iterations",
            ),
            (
                95,
                "IV-D",
                5.0,
                at_most(4.0, toward=6.0),
                "Empirically, we find that constrainedABA requires only a few iterations (nearly always under 5), as "
                "we shall see in the benchmarking (see Sec. VIII) on a diverse set of mechanisms.",
            ),
        )
    ),
    Claim(
        "constrained_aba.refinement",
        "VIII-B, Fig. 4",
        "Interestingly, we find the proxLTLs and constrainedABA to converge to smaller errors compared to proxLTL and "
        "proxPV algorithms.",
        "by how many times the least median residual of proxLTL and proxPV exceeds the largest of proxLTLs and "
        "constrainedABA",
        None,
        Computed("residuals after eight steps", refined, digits=1),
        at_least(1.0),
        "Inertias that contain mu round off with it, and refinement does not win that back for accelerations.",
    ),
    Claim(
        "constrained_aba.same_iterates",
        "II-D",
        "Theoretically, the sequence of $\\boldsymbol{\\lambda}^k$ they compute are equal.",
        "largest difference of multipliers of proxLTL and proxLTLs in three steps, of the largest, Go1 F3 x4",
        0.0,
        Computed("iterates of proxLTL and proxLTLs", partial(iterates_apart, "prox_ltl", "prox_ltls")),
        at_most(EXACT),
    ),
    Claim(
        "constrained_aba.same_swept",
        "IX, Fig. 6",
        "The proximal formulation of the equality-constrained dynamics problem results in four different algorithms, "
        "namely proxLTL, proxLTLs, proxPV, and constrainedABA depending on the usage of maximal or minimal "
        "coordinates during derivation and the order of elimination of the primal and dual variables, as shown in the "
        "overview figure Fig. 6.",
        "largest difference of multipliers of proxPV and constrainedABA in three steps, of the largest, Go1 F3 x4",
        0.0,
        Computed("iterates of proxPV and constrainedABA", partial(iterates_apart, "prox_pv", "constrained_aba")),
        at_most(EXACT),
    ),
    Claim(
        "constrained_aba.soft_is_first",
        "VII-A",
        "So, PV-soft can be interpreted as the first ALM iteration of the constraintABA.",
        "largest difference of accelerations of PV-soft and one step of constrainedABA, of the largest, Go1 F3 x4",
        0.0,
        Computed("PV-soft and one step of constrainedABA", first_step_apart),
        at_most(EXACT),
        "Ours eliminates joints that one row can move alone, and meets such rows exactly in the first step already.",
    ),
    Claim(
        "constrained_aba.inverse",
        "VI",
        "Finally, the damped Delassus inverse matrix, the output of the cABA-OSIM algorithm, is computed in line 21 "
        "using the matrix inversion lemma.",
        "largest difference of cABA-OSIM and the dense (W + 1/mu)^-1, of the largest entry, Go1 F3 x4",
        0.0,
        Computed("cABA-OSIM and the dense inverse", inverse_apart),
        at_most(EXACT),
    ),
    Claim(
        "constrained_aba.least_squares",
        "II-D",
        "Advantageously, the PPA algorithm converges to the optimal value for feasible problems and to the least "
        "squares solution for numerically infeasible problems automatically without any modification to the algorithm.",
        "largest residual of constrainedABA beyond least squares after ten steps, iiwa with nine contradicting rows",
        0.0,
        Computed("contradicting rows, constrainedABA", partial(least_squares_missed, "constrained_aba")),
        at_most(EXACT, toward=1e-4),
        "Link inertias that contain mu round off: at mu = 1e5 about five digits below the wanted accelerations.",
    ),
)
