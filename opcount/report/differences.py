"""What makes the difference between tiers, a line each, as the sources state it."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from codegen.lowering import LOWERING
from codegen.passes import DEFAULT, ORDER
from opcount.report.elements import listed

if TYPE_CHECKING:
    from collections.abc import Callable

TIERS = (
    ("as published", "The paper's listing over dense matrices, on the robot as its file describes it."),
    ("as written", "Our algorithm's expressions, on the robot as the lowering describes it."),
    ("as emitted", "The same after the passes: exactly the operators of the C file."),
)


def differences() -> str:
    """Lists of the tiers, of the steps that lead from one to the next, as HTML."""
    modules = Counter(step.run.__module__ for step in LOWERING)
    steps = [(step.name, _said(step.run, modules[step.run.__module__] == 1)) for step in LOWERING if step.plain]
    passes = [(step.__name__, _said(step)) for step in dict.fromkeys((*DEFAULT, *ORDER))]
    return "\n".join(
        (
            listed(TIERS),
            "<h3>From published to written: the algorithm over structured spatial algebra, and the lowering</h3>",
            listed(steps),
            "<h3>From written to emitted: the passes</h3>",
            listed(passes),
        )
    )


def _said(step: Callable[..., object], alone: bool = True) -> str:
    """The first sentence of the docstring of a step's module, or of its function where others are in the module."""
    documented = sys.modules[step.__module__] if alone else step
    words = " ".join((documented.__doc__ or "").split("\n\n")[0].replace("`", "").split())
    first, stop, _ = words.partition(". ")
    return f"{first}." if stop else words
