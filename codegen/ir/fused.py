"""Sums of products made at once: what is only added to another product is a term of that.

A tile of the result stays in registers for all terms, and no array is written in between and read again. Numbers are
multiplied and added in the same order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ir.products import MatrixProduct, names_taken

if TYPE_CHECKING:
    from codegen.ir.products import WithProducts


def fused(function: WithProducts) -> WithProducts:
    """The same function, in which products that only another one takes, to add them, have no array of their own."""
    taken = Counter(name for own in function.steps for name in names_taken(own))
    taken.update(gather.source for gather in function.gathers)
    alone = {port.name for port in function.kept if taken[port.name] == 1}
    made, gone = dict[str, MatrixProduct](), set[str]()
    for own in function.steps:
        if isinstance(own, MatrixProduct):
            first = made.get(own.plus)
            if first and own.plus in alone and first.symmetric == own.symmetric:
                gone.add(own.plus)
                own = own.of(first.plus, (*first.terms, *own.terms))
            made[own.port.name] = own
    products = (made.get(own.port.name, own) if isinstance(own, MatrixProduct) else own for own in function.products)
    left = tuple(own for own in products if not (isinstance(own, MatrixProduct) and own.port.name in gone))
    return replace(function, products=left)
