"""Factoring: products of one sum that share a factor become one product, a*b + a*c is a*(b + c).

Only products and inner sums that nothing else uses are touched, so that every product merged saves a multiplication and
there are just as many additions. The factor that most products share goes first; constants of opposite sign are one
factor. Rounds differently.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from codegen.ir.operations import CONST
from codegen.passes.inner import SUMS, Term, added_up, inner_sums, terms_of
from codegen.passes.rewriting import Draft, rewrite_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.ir.graph import Graph, Value


class Group(NamedTuple):
    """Terms with a common factor, which stand where the first of them stood; in each it may have another sign."""

    factor: int
    terms: tuple[Term, ...]
    factors: tuple[int, ...]


def factor_sums(graph: Graph) -> Graph:
    """The graph with common factors of each sum's products taken out."""
    values, uses, inner = graph.values, graph.uses(), inner_sums(graph)
    found: dict[int, tuple[list[Term], list[Group]]] = {}
    for index, value in enumerate(values):
        if value.op in SUMS and not inner[index]:
            (left, right), ends = value.args, ("mul", CONST)
            if not (inner[left] or inner[right] or values[left].op == values[right].op in ends):
                continue  # two terms that have nothing in common
            terms = terms_of(values, inner, index)
            groups = _groups(values, uses, terms) if len(terms) > 1 else []
            if groups or sum(values[term.place].op == CONST for term in terms) > 1:
                found[index] = terms, groups

    def rule(draft: Draft, _: Value) -> int:
        return _factored(draft, *found[len(draft.moved)])

    return rewrite_at(graph, found, rule) if found else graph


def _groups(values: Sequence[Value], uses: Sequence[int], terms: Sequence[Term]) -> list[Group]:
    """Disjoint groups of at least two products with a common factor."""
    left = {term: _keys(values, term) for term in terms if values[term[0]][0] == "mul" and uses[term[0]] == 1}
    groups = list[Group]()
    while len(keys := [key for own in left.values() for key in dict.fromkeys(own)]) > len(set(keys)):
        key = max(Counter(keys).items(), key=lambda item: item[1])[0]
        own = tuple([term for term, factors in left.items() if key in factors])
        factors = [values[term.place].args[left.pop(term).index(key)] for term in own]
        groups.append(Group(factors[0], own, tuple(factors)))
    return groups


def _keys(values: Sequence[Value], term: Term) -> list[int | str]:
    """The factors of a product; a constant counts as its magnitude."""
    a, b = values[term[0]][1]
    if values[a][0] == CONST or values[b][0] == CONST:
        return [repr(abs(values[arg].constant)) if values[arg].op == CONST else arg for arg in (a, b)]
    return [a, b]


def _factored(draft: Draft, terms: Sequence[Term], groups: Sequence[Group]) -> int:
    """The sum with its groups as one product each, in a draft that holds all that it is made of."""
    merged = {term.place: group for group in groups for term in group.terms}
    made = list[tuple[int, bool]]()
    values = draft.graph.values
    numbers = [values[place].constant * (-1.0 if minus else 1.0) for place, minus in terms if values[place].op == CONST]
    for term in terms:
        group = merged.get(term.place)
        if values[term.place].op == CONST:
            if numbers:
                made.append((draft.number(abs(math.fsum(numbers))), math.fsum(numbers) < 0))
                numbers = []
        elif group is None:
            made.append((draft.moved[term.place], term.minus))
        elif group.terms[0] == term:
            turned = [
                own.minus != _opposite(draft, group.factor, factor) for own, factor in zip(*group[1:], strict=True)
            ]
            minus = all(turned)
            others = [
                (draft.moved[_other(draft, own, factor)], own_minus != minus)
                for own, factor, own_minus in zip(*group[1:], turned, strict=True)
            ]
            made.append((draft.op("mul", draft.moved[group.factor], added_up(draft, others)), minus))
    return added_up(draft, made)


def _opposite(draft: Draft, factor: int, own: int) -> bool:
    """Whether two constants of one magnitude have different signs."""
    values = draft.graph.values
    return factor != own and values[factor].constant * values[own].constant < 0


def _other(draft: Draft, term: Term, factor: int) -> int:
    """The factor of a product beside the common one."""
    a, b = draft.graph.values[term.place].args
    return b if a == factor else a
