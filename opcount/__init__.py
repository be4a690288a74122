"""Operation counts: of one algorithm for one robot, in tables, and against the committed baseline.

    import opcount
    opcount.count("talos", "aba").total                      # as emitted: the operators of the C file
    opcount.count("talos", "aba", tier="written").total      # as our algorithm's expressions stand
    opcount.count("talos", "aba", tier="published").total    # as the paper's listing stands
    print(opcount.breakdown("talos", "aba", "phase").text())   # what they are for

An operation is any instruction but an input, an output or a constant; `codegen.ir.counting` defines the classes.
"""

from __future__ import annotations

from codegen.ir.counting import Count
from opcount.breakdown import breakdown
from opcount.count import count

__all__ = ["Count", "breakdown", "count"]
