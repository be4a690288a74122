"""How much Python works, in function calls: the same on every machine, however busy."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """Calls of functions, Python's and C's, that `work` makes in this thread."""
    number = 0

    def one(_frame: object, event: str, _argument: object) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    before, collecting = sys.getprofile(), gc.isenabled()
    gc.disable()  # what others left is not this work's
    sys.setprofile(one)
    try:
        work()
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()
    return number
