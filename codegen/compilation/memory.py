"""Memory for results: several large arrays in one piece.

A C library hands large arrays back to the system as soon as they are freed, where there are several, and the system
makes new pages at the next call, which takes longer than many a batch. One piece that is freed stays for the next call.
"""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    Array = np.ndarray[Any, Any]
    Shape = tuple[int, ...]

LARGE = 1 << 20  # bytes of all arrays together from which they are one piece
LINE = 64  # numbers that an array's place in it is a multiple of


def empties(batch: Shape, shapes: Sequence[Shape], dtype: np.dtype[Any]) -> list[Array]:
    """Arrays without values yet for results of these shapes, a batch of each; large ones are parts of one array."""
    states = prod(batch)
    sizes = [states * prod(shape) for shape in shapes]
    if len(shapes) == 1 or sum(sizes) * dtype.itemsize < LARGE:
        return [np.empty(batch + shape, dtype) for shape in shapes]
    *starts, end = accumulate((-(-size // LINE) * LINE for size in sizes), initial=0)
    piece = np.empty(end, dtype)
    places = zip(starts, sizes, shapes, strict=True)
    return [piece[start : start + size].reshape(batch + shape) for start, size, shape in places]
