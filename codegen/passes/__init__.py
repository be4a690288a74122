"""The passes: one idea per file, each `Graph -> Graph`, none of them aware of robots.

`DEFAULT` simplify, `ORDER` work on what is left; a pass may be added anywhere in either. `run` repeats the
simplifications until nothing changes, and checks what comes out. The last in `ORDER`, `ARRANGE`, only put values in
another order: whoever counts operations can do without them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from codegen.ir.fused import fused
from codegen.ir.graph import Graph, verify
from codegen.ir.merged import merged
from codegen.ir.products import WithProducts
from codegen.ir.propagated import propagated
from codegen.ir.reused import reused
from codegen.ir.tabulated import tabulated
from codegen.ir.vanishing import without_vanishing
from codegen.passes.angles import hoist_angles
from codegen.passes.constants import fold_constants
from codegen.passes.dead import drop_dead
from codegen.passes.depth_first import depth_first
from codegen.passes.factors import factor_sums
from codegen.passes.last_use_first import last_use_first
from codegen.passes.list_scheduling import list_scheduling
from codegen.passes.negations import spare_negations
from codegen.passes.pairs import share_pairs
from codegen.passes.reciprocals import share_reciprocals
from codegen.passes.sums import chain_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    Pass = Callable[[Graph], Graph]

__all__ = [
    "ARRANGE",
    "COUNTED",
    "DEFAULT",
    "ORDER",
    "chain_sums",
    "depth_first",
    "drop_dead",
    "emitted",
    "factor_sums",
    "fold_constants",
    "hoist_angles",
    "last_use_first",
    "list_scheduling",
    "run",
    "share_pairs",
    "share_reciprocals",
    "spare_negations",
]

DEFAULT: tuple[Pass, ...] = (fold_constants, drop_dead, share_reciprocals, factor_sums, drop_dead)
SHARE: tuple[Pass, ...] = (share_pairs, factor_sums, drop_dead, share_pairs)  # what is shared may have factors
COUNTED: tuple[Pass, ...] = (spare_negations, *SHARE, chain_sums)
ARRANGE: tuple[Pass, ...] = (hoist_angles, depth_first, last_use_first, list_scheduling)
ORDER: tuple[Pass, ...] = (*COUNTED, *ARRANGE)

_ROUNDS = 8


def run(graph: Graph, passes: tuple[Pass, ...] = DEFAULT, order: tuple[Pass, ...] = ORDER) -> Graph:
    """The graph after the passes, again and again until none changes it (eight rounds at most), and then in order.

    No pass finds more to do in its own result. Where dead values have gone, what they used may have one user left.
    """
    verify(graph)
    settled: set[Pass] = set()  # what has nothing to do on this very graph
    for step in passes * _ROUNDS:
        if step not in settled:
            after = step(graph)
            if after is not graph:
                graph, settled = after, set()
            settled.add(step)
    verify(graph)
    for step in order:
        graph = step(graph)
    return verify(graph)


def emitted(
    written: Graph | WithProducts, order: tuple[Pass, ...] = ORDER, passes: tuple[Pass, ...] = DEFAULT
) -> Graph | WithProducts:
    """A function after all passes: its graph, or with products all its graphs; nothing is made twice then.

    Graphs that are called take values of earlier ones, and know constants that they take. Products that are only added
    to others become terms of these, terms that vanish are left out, and constants that maps take are tables.
    """
    step = partial(run, passes=passes, order=order)
    if not isinstance(written, WithProducts):
        return step(written)
    written, before = reused(written), None
    while written.called and written is not before:
        before = written.after(partial(run, passes=passes, order=()))
        written = propagated(before)
    return tabulated(without_vanishing(fused(merged(written.after(step))))).after(drop_dead)
