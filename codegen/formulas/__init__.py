"""Algorithms as SymPy expressions.

`symbolic` takes an algorithm's graph and gives `Expressions`. `meaning` says what operations are in SymPy,
`trigonometric` makes closed forms, `readable` writes them shortly, `latex` prints them.
"""

from codegen.formulas.algorithm import symbolic
from codegen.formulas.expressions import Expressions

__all__ = ["Expressions", "symbolic"]
