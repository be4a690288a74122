"""Sums in the place of what they add to: x + L x, as in L dtau/dq, or sums along a tree, where nothing else takes x.

Most rows of x + L x are those of x, and so are sums over what joints carry: a leaf of the tree has nothing added. No
array is written in between, tiles without products are none, and what stays as it is is not stored again. Tiles may not
overlap then, and numbers are overwritten after they are read.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.maps import GraphMap
from codegen.ir.operations import INPUT
from codegen.ir.padded import LEAST
from codegen.ir.products import TILE, MatrixProduct, names_taken

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.ir.products import WithProducts

    Pattern = NDArray[np.bool_]


def in_place(function: WithProducts, blocks: Sequence[int]) -> WithProducts:
    """The same function, in which such sums overwrite.

    Of products, that are those of wide matrices, in tiles of some of these `blocks`; of maps, those by rows that make
    one matrix.
    """
    taken = Counter(name for own in function.steps for name in {*names_taken(own)})
    taken.update(gather.source for gather in function.gathers)
    alone, known = {port.name for port in function.kept if taken[port.name] == 1}, function.patterns()

    def overwrites(own: MatrixProduct) -> bool:
        """Whether a product may overwrite what it adds to."""
        if own.plus not in alone or own.port in function.outputs or own.symmetric or len(own.terms) > 1:
            return False
        if own.left == own.plus:  # later tiles take columns of it that earlier ones overwrite
            return False
        columns = own.port.shape[1]
        if known[own.plus].shape != own.port.shape or columns < LEAST or columns % TILE:
            return False
        left, _ = own.terms[0].factors(known, own.port.shape)
        return any(rows_of_blocks(left, block) for block in blocks)

    products = tuple(
        replace(own, onto=True) if isinstance(own, MatrixProduct) and overwrites(own) else own
        for own in function.products
    )
    maps = tuple(replace(own, onto=own.by_rows and _read_first(own, alone)) for own in function.maps)
    return replace(function, products=products, maps=maps)


def _read_first(own: GraphMap, alone: Collection[str]) -> bool:
    """Whether a map makes one matrix, and reads what it takes first, and alone, before other numbers are there."""
    if own.takes[0] not in alone or len(own.ports) > 1 or own.lengths[0] != own.lengths[-1]:
        return False
    values, (made,) = own.kernel.values, own.kernel.results
    first = {index: value.element for index, value in enumerate(values) if value.op == INPUT and value.port == 0}
    read = {first[arg]: index for index, value in enumerate(values) for arg in value.args if arg in first}
    moved = {first[index] for element, index in enumerate(made) if first.get(index, element) != element}
    return not moved and all(read.get(element, 0) <= index for element, index in enumerate(made) if index not in first)


def owners(function: WithProducts) -> Mapping[str, str]:
    """Whose array a matrix has that overwrites another one, by names of ports."""
    found = dict[str, str]()
    for own in function.steps:
        if isinstance(own, MatrixProduct | GraphMap) and own.onto:
            port, over = (own.port, own.plus) if isinstance(own, MatrixProduct) else (own.ports[0], own.names[0])
            found[port.name] = found.get(over, over)
    return found


def rows_of_blocks(left: Pattern, block: int) -> tuple[int, ...]:
    """First rows of blocks that cover all rows of left @ x which do not vanish, each once; none where it cannot be.

    No block has a row of x that a later one takes.
    """
    starts = _apart([bool(row.any()) for row in left], block)
    found, waiting = list[int](), list(starts)
    takes: dict[int, Pattern] = {start: np.any(left[start : start + block], axis=0) for start in starts}
    while waiting:
        free = [
            start
            for start in waiting
            if not any(takes[other][start : start + block].any() for other in waiting if other != start)
        ]
        if not free:
            return ()
        found += free[:1]
        waiting.remove(free[0])
    return tuple(found)


def _apart(rows: Sequence[bool], block: int) -> tuple[int, ...]:
    """Where the fewest blocks that do not overlap start so that each of these rows is in one; none where none do."""
    height = len(rows)
    after: list[tuple[int, ...] | None] = [None] * height + [()]  # of the rows from each one on
    for row in reversed(range(height)):
        ways = [] if rows[row] else [after[row + 1]]
        if row + block <= height and (rest := after[row + block]) is not None:
            ways.append((row, *rest))
        after[row] = min((way for way in ways if way is not None), key=len, default=None)
    return after[0] or ()
