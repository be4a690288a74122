"""What makes the difference between tiers, a line each, as the sources state it."""

from __future__ import annotations

import sys

from codegen.lowering import LOWERING
from codegen.passes import DEFAULT, ORDER
from opcount.report.elements import listed

TIERS = (
    ("as published", "The paper's listing over dense matrices, on the robot as its file describes it."),
    ("as written", "Our algorithm's expressions, on the robot as the lowering describes it."),
    ("as emitted", "The same after the passes: exactly the operators of the C file."),
)


def differences() -> str:
    """Lists of the tiers, of the steps that lead from one to the next, as HTML."""
    steps = [(step.name, _said(step.run)) for step in LOWERING if step.plain]
    passes = [(step.__name__, _said(sys.modules[step.__module__])) for step in dict.fromkeys((*DEFAULT, *ORDER))]
    return "\n".join(
        (
            listed(TIERS),
            "<h3>From published to written: the algorithm over structured spatial algebra, and the lowering</h3>",
            listed(steps),
            "<h3>From written to emitted: the passes</h3>",
            listed(passes),
        )
    )


def _said(documented: object) -> str:
    """The first sentence of a docstring."""
    words = " ".join((documented.__doc__ or "").split("\n\n")[0].replace("`", "").split())
    first, stop, _ = words.partition(". ")
    return f"{first}." if stop else words
