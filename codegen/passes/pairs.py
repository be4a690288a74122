"""Common subsums: pairs of terms that several sums share are added once: a + b + x and a + b - y are s + x and s - y.

Greedily, what most sums share first; what is shared may be a term of other pairs. (Paar's method for common
subexpressions of linear forms, as it is used for multipliers over finite fields.) Only values used more than once can
be common. Rounds differently.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

from codegen.ir.graph import Graph, Value
from codegen.passes.dead import drop_dead
from codegen.passes.inner import SUMS, inner_sums, terms_of
from codegen.passes.rewriting import sorted_anew

if TYPE_CHECKING:
    from collections.abc import Iterator

    Sum = dict[int, bool]  # places of its terms, and whether each is subtracted


class Pair(NamedTuple):
    """Two values, the earlier one first, and whether they have different signs."""

    first: int
    second: int
    unlike: bool


def share_pairs(graph: Graph) -> Graph:
    """The graph with pairs of terms that sums share as values of their own."""
    sums = _sums(graph)
    made = list(graph.values)
    changed = _shared(sums, made)
    for root in sorted(changed):
        _rebuild(made, root, sums[root])
    return drop_dead(sorted_anew(graph, made)) if changed else graph


def _sums(graph: Graph) -> dict[int, Sum]:
    """By roots: sums of at least two different terms."""
    values, inner = graph.values, inner_sums(graph)
    roots = (index for index, value in enumerate(values) if value.op in SUMS and not inner[index])
    terms = {root: terms_of(values, inner, root) for root in roots}
    return {root: own for root, found in terms.items() if len(own := dict(found)) == len(found)}


def _pairs(own: Sum, among: set[int]) -> Iterator[Pair]:
    """The pairs of a sum's terms among some values."""
    some = sorted(place for place in own if place in among)
    return (_pair_of(own, a, b) for n, a in enumerate(some) for b in some[n + 1 :])


def _pair_of(own: Sum, a: int, b: int) -> Pair:
    """Two terms of a sum as a pair."""
    return Pair(a, b, own[a] != own[b]) if a < b else Pair(b, a, own[a] != own[b])


def _shared(sums: dict[int, Sum], made: list[Value]) -> set[int]:
    """Take out of the sums what they share, as new values at the end of `made`; the roots of the sums that change."""
    common = _common(sums)
    having = _having(sums, common)
    changed, waiting = set[int](), [(-len(roots), pair) for pair, roots in having.items() if len(roots) > 1]
    heapify(waiting)
    while waiting:
        number, pair = heappop(waiting)
        roots = having[pair] = [root for root in dict.fromkeys(having[pair]) if _has(sums[root], pair)]
        if 1 < len(roots) < -number:
            heappush(waiting, (-len(roots), pair))
        elif len(roots) > 1 and (taken := _take_out(pair, roots, sums, made)):
            place, changed_now = taken
            changed.update(changed_now)
            common.add(place)
            for found in _paired_anew(place, changed_now, sums, common, having):
                if len(having[found]) > 1:
                    heappush(waiting, (-len(having[found]), found))
    return changed


def _common(sums: dict[int, Sum]) -> set[int]:
    """The terms of more than one sum."""
    users = Counter(place for own in sums.values() for place in own)
    return {place for place, number in users.items() if number > 1}


def _having(sums: dict[int, Sum], common: set[int]) -> defaultdict[Pair, list[int]]:
    """By pairs of common terms: the roots of the sums that have them."""
    having: defaultdict[Pair, list[int]] = defaultdict(list)
    for root, own in sums.items():
        for pair in _pairs(own, common):
            having[pair].append(root)
    return having


def _paired_anew(
    place: int, roots: list[int], sums: dict[int, Sum], common: set[int], having: defaultdict[Pair, list[int]]
) -> dict[Pair, None]:
    """The pairs that a new term of these sums makes with their other common terms, entered in `having`."""
    anew = dict[Pair, None]()
    for root in roots:
        own = sums[root]
        for other in own:
            if other in common and other != place:
                found = _pair_of(own, place, other)
                having[found].append(root)
                anew[found] = None
    return anew


def _take_out(pair: Pair, roots: list[int], sums: dict[int, Sum], made: list[Value]) -> tuple[int, list[int]] | None:
    """Where the pair is a value of its own, and which sums use it now; None if that would save nothing.

    A sum of nothing but the pair is that value. No sum is left with subtracted terms alone.
    """
    alone = next((root for root in roots if len(sums[root]) == 2), None)
    place = len(made) if alone is None else alone
    turned = alone is not None and sums[alone][pair.first]
    some = [root for root in roots if place not in sums[root] and _stays(sums[root], pair, turned)]
    if len(some) < 1 + (alone is None):
        return None
    if alone is None:
        made.append(Value("sub" if pair.unlike else "add", (pair.first, pair.second)))
    for root in some:
        sums[root][place] = sums[root].pop(pair.first) != turned
        del sums[root][pair.second]
    return place, some


def _has(own: Sum, pair: Pair) -> bool:
    """Whether a sum has both terms of a pair, with these signs."""
    return pair.first in own and pair.second in own and (own[pair.first] != own[pair.second]) == pair.unlike


def _stays(own: Sum, pair: Pair, turned: bool) -> bool:
    """Whether a sum with the pair as one term has one that is added; `turned`: the pair's first term is subtracted."""
    added = own[pair.first] == turned
    return len(own) > 2 and (added or any(not minus for place, minus in own.items() if place not in pair[:2]))


def _rebuild(made: list[Value], root: int, own: Sum) -> None:
    """The sum of these terms as a chain that ends at the root."""
    terms = list(own.items())
    start = next(place for place, minus in terms if not minus)
    left = [(place, minus) for place, minus in terms if place != start]
    at = start
    for n, (place, minus) in enumerate(left):
        link = Value("sub" if minus else "add", (at, place))
        if n == len(left) - 1:
            made[root] = link
        else:
            at = len(made)
            made.append(link)
