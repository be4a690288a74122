"""The claims of Carpentier's slides on proximal and sparse constrained dynamics (with RSS 2021)."""

from __future__ import annotations

from functools import partial

from opcount.claims.claim import Claim, at_least, at_most, timed
from opcount.claims.mechanisms import FREE_CHAINS, POINTED, TREE_LINKS, TREES
from opcount.claims.quantities import Array, Computed, Counted, cholesky, grows, rows, slope
from opcount.claims.solved import by_products_apart, least_squares_missed
from opcount.studies.measured import PAPER

TITLE = "Carpentier: Constrained dynamics, a proximal and sparse approach (slides; RSS 2021)"
TEXT = "carpentier_slides_proximal_sparse.txt"

EXACT = 1e-6
TALOS = PAPER["talos F6^2 H6^2"]
TALOS_DOFS = 50
CHAIN = "The inertia matrix of a chain has no zeros: nothing is sparse, and factors of it are of the third degree."

_MASS = "The total complexity is $O(N^2)$ instead of $O(N^3)$ when using a **dense** Cholesky decomposition"
_KKT = (
    "The total complexity remains low in $O((N + N_c)^2)$ instead of $O((N + N_c)^3)$ when using dense Cholesky "
    "decomposition"
)


def _dense(table: Array) -> float:
    """A dense Cholesky factorisation of the KKT matrix, times all of the sparse method."""
    return cholesky(TALOS_DOFS + rows(TALOS)) / float(table[0, 0])


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "proximal_slides.mass_chain",
        "Mass matrix: sparse Cholesky factorization",
        _MASS,
        "degree of forward dynamics by LTL in the links of a chain (6 to 16)",
        2,
        grows(FREE_CHAINS, "ltl"),
        at_most(2),
        CHAIN,
    ),
    Claim(
        "proximal_slides.mass_tree",
        "Mass matrix: sparse Cholesky factorization",
        _MASS,
        "exponent of forward dynamics by LTL from 21 to 45 links of a binary tree",
        2,
        Counted(TREES, ("ltl",), lambda table: slope(TREE_LINKS, table[:, 0])),
        at_most(2.0),
    ),
    Claim(
        "proximal_slides.kkt_chain",
        "Sparse contact matrix decomposition",
        _KKT,
        "degree of the sparse KKT method in the links of a chain, every one held by a point (4 to 12)",
        2,
        grows(POINTED, "prox_kkt"),
        at_most(2),
        CHAIN,
    ),
    Claim(
        "proximal_slides.kkt_tree",
        "Sparse contact matrix decomposition",
        _KKT,
        "exponent of the sparse KKT method from 21 to 45 links of a binary tree, its tips held by points",
        2,
        Counted(TREES, ("prox_kkt",), lambda table: slope(TREE_LINKS, table[:, 0])),
        at_most(2.0, toward=2.5),
        "The block of the constraints is dense, whatever the tree.",
    ),
    Claim(
        "proximal_slides.kkt_dense",
        "Cholesky decomposition timings",
        "These new formulation and factorization are implemented and benchmark on various robotic platforms, ranging "
        "from classic robotic arms or quadrupeds to humanoid robots with closed kinematic chains, and show how they "
        "significantly outperform alternative solutions of the state of the art.",
        "a dense Cholesky factorisation of the KKT matrix of Talos F6^2 H6^2, times all of the sparse method (three "
        "steps)",
        None,
        Counted((TALOS,), ("prox_kkt",), _dense),
        at_least(1.2, toward=1.0),
    ),
    Claim(
        "proximal_slides.block",
        "Looking at the KKT inverse",
        "From the inverse of the KKT matrix, we can directly retrieve a lot of by-product and useful quantities:",
        "largest difference of Lambda and Lambda J M^-1 by its sparse factors and in its dense inverse, of the largest "
        "entry, Go1 F3 x4",
        0.0,
        Computed("the KKT matrix's inverse", by_products_apart),
        at_most(EXACT),
    ),
    Claim(
        "proximal_slides.least_squares",
        "Abstract",
        "To this aim, we first (i) propose a proximal formulation of the constrained dynamics which converges to an "
        "optimal solution in the least-square sense even in the presence of singularities.",
        "largest residual of the sparse KKT method beyond least squares after ten steps, iiwa with nine contradicting "
        "rows",
        0.0,
        Computed("contradicting rows, sparse KKT", partial(least_squares_missed, "prox_kkt"), digits=1),
        at_most(EXACT),
        "Multipliers of contradicting rows grow from step to step, and carry rounding with them.",
    ),
    timed(
        "proximal_slides.cholesky_times",
        "Cholesky decomposition timings",
        "We benchmark the proposed Cholesky against classical approaches:",
    ),
    timed(
        "proximal_slides.dynamics_times",
        "Constrained dynamics timings",
        "We benchmark the constrained dynamics resolution against classical approaches:",
        study="kkt_timings",
    ),
)
