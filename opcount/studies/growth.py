"""Growth of constrained dynamics on chains and balanced binary trees, three steps (constrained ABA 2024, Fig. 3).

A chain's end is held by six rows. Branches of a tree have three links, its leaves are held by points. The figure of the
paper shows times; these are operations.
"""

from __future__ import annotations

from opcount.studies.drawing import Growth
from opcount.studies.grown import Grown, Mechanism
from opcount.studies.measured import Held, chain
from opcount.studies.study import Study


def tree(depth: int) -> Held:
    """A balanced binary tree, its leaves held by points."""
    leaves = ("tip:3",) if depth == 1 else tuple(f"tip{n}:3" for n in range(2 ** (depth - 1)))
    return Held(f"binary_tree:{depth}", leaves)


def links_of(depth: int) -> int:
    """The links of such a tree."""
    return 3 * ((1 << depth) - 1)


STUDY = Study(
    "constrained dynamics on chains and binary trees of up to 100 links",
    "constrained ABA 2024, Fig. 3",
    Grown(
        {
            "chain": Mechanism(chain, (5, 10, 20, 35, 50, 70, 100), ours=50),
            "binary tree": Mechanism(tree, (1, 2, 3, 4, 5), ours=4, links=links_of),
        },
        ("constrained_aba", "prox_pv", "prox_ltls", "prox_ltl"),
    ),
    Growth("links"),
    "As written and as emitted chains are counted up to 50 links and trees up to 45; a tree of 5 levels has 93.",
)
