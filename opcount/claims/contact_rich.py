"""The claims of Chignoli, Adrian, Kim, Wensing 2023, Improving contact-rich robotic simulation (workshop paper)."""

from __future__ import annotations

from functools import partial

from opcount.claims.claim import Claim, at_least, at_most, timed
from opcount.claims.mechanisms import BELTS, GEARED
from opcount.claims.quantities import Array, Computed, Counted, grows
from opcount.claims.solved import exact

TITLE = "Chignoli, Adrian, Kim, Wensing 2023: Improving contact-rich robotic simulation"
TEXT = "chignoli_2023_contact_rich.txt"

_LINEAR = (
    "The results in Fig. 3 prove that the C-ABA scales linearly with the number of degrees of freedom with the robot."
)


def _local(table: Array) -> float:
    """The projection method by C-ABA on the geared chain (first), as a multiple of the same on the belt chain."""
    ratios = table[:, 0] / table[:, 1]
    return float(ratios[0] / ratios[1])


CLAIMS: tuple[Claim, ...] = (
    *(
        Claim(
            f"contact_rich.linear_{name}",
            "VII, Fig. 3",
            _LINEAR,
            f"degree of C-ABA in the links (4 to 12) of a {name} chain",
            1,
            grows(cases, "aba"),
            at_most(1),
        )
        for name, cases in (("geared", GEARED), ("belt", BELTS))
    ),
    Claim(
        "contact_rich.local",
        "VII, Fig. 3",
        'The improvement relative to state-of-the-art is larger for Robot A because the constraints are "more '
        'local", so the C-ABA more closely resembles the standard ABA.',
        "projection method by C-ABA on a geared chain of 12, as a multiple of the same on a belt chain of 12",
        None,
        Counted((GEARED[-1], BELTS[-1]), ("projection_fd", "aba"), _local),
        at_least(1.0),
        "Clusters of four cost little more than of two where rotors are folded into what they turn with.",
    ),
    Claim(
        "contact_rich.exact",
        "II",
        "It wasn't until the introduction of LCE that an algorithm was developed that both maintained the efficient "
        "recursive structure while being able to handle arbitrary closure constraints [6], [20].",
        "largest error of C-ABA against the dense oracle, of the largest entry, a four-bar and a six-bar linkage",
        0.0,
        Computed("C-ABA of linkages against the oracle", partial(exact, ("four_bar", "six_bar"), "aba")),
        at_most(1e-8),
    ),
    timed(
        "contact_rich.times",
        "VII, Fig. 3",
        "We present preliminary results demonstrating the computational efficiency of the C-ABA compared to two "
        "state-of-the-art algorithms for computing forward dynamics.",
        study="loop_growth_timings",
    ),
)
