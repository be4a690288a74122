"""Removal of negations: a value is computed as its negative where that needs fewer negations.

A sum takes any signs, as long as one of its terms is added; a product with a constant and a quotient of one take a sign
into the constant; other products hand theirs on. So a value changes its sign together with the products that it is a
factor of, and if a sum has nothing left to add then, with a factor of one of its terms. Only signs change, and the
order in which sums are added up.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING

from codegen.ir.operations import CONST, INPUT
from codegen.passes.dead import drop_dead
from codegen.passes.inner import SUMS, Term, added_up, inner_sums, terms_of
from codegen.passes.rewriting import Draft, rewrite_at

if TYPE_CHECKING:
    from codegen.ir.graph import Graph, Value

ODD = frozenset(("mul", "div", "twice", "sin"))  # change sign with each argument
SIGNED = ODD | frozenset((*SUMS, "neg", "inv", "cos", "sq", "fabs"))  # take arguments of any sign
FOLLOWERS = 100  # values; a sign that more would follow stays
CHOICES = 8  # values that are tried for one that cannot change its sign by itself


def spare_negations(graph: Graph) -> Graph:
    """The graph with signs chosen so that fewer values are negated."""
    negated = [index for index, value in enumerate(graph.values) if value.op == "neg"]
    if not negated:
        return graph
    signs = _Signs(graph)
    left = negated
    while left != (left := [index for index in left if not signs.spare(index)]):
        pass
    return graph if left == negated else drop_dead(rewrite_at(graph, signs.near, signs.rule))


class _Signs:
    """Which values stand for their negative.

    By values: their users, those among them whose sign follows, and whether they cannot change it.
    """

    def __init__(self, graph: Graph) -> None:
        self.values, self.inner = graph.values, inner_sums(graph)
        self.constant = [op == CONST for op, *_ in self.values]
        self.turned = [False] * len(self.values)
        self.fixed = [op in (CONST, INPUT) for op, *_ in self.values]
        self.users: list[list[int]] = [[] for _ in self.values]
        self.followers: list[list[int]] = [[] for _ in self.values]
        self.known: dict[int, list[Term]] = {}
        self.turns: dict[int, tuple[list[int], list[int]]] = {}
        self.costs: dict[int, int] = {}
        for index, (op, args, *_) in enumerate(self.values):
            follows = op in ODD and not self._takes_signs(index)
            for arg in args:
                self.users[arg].append(index)
                if follows:
                    self.followers[arg].append(index)
                if op not in SIGNED:
                    self.fixed[arg] = True
        for result in graph.results:
            for index in result:
                self.fixed[index] = True
        self.outer = list(range(len(self.values)))
        for index in reversed(range(len(self.values))):
            if self.inner[index]:
                self.outer[index] = self.outer[self.users[index][0]]

    def __repr__(self) -> str:
        return f"<_Signs: {sum(self.turned)} of {len(self.values)} values stand for their negative>"

    def spare(self, index: int) -> bool:
        """Turn signs so that a negation is spared, if that costs fewer others; whether it is now."""
        if not self._cost(index):
            return True
        for choice in (*self._choices(self.values[index].args[0]), index):
            change, left = self._turn(choice)
            if change < 0:
                return True
            factors = (c for total in left for term in self._terms(total) for c in self._choices(term.place))
            for factor in islice(factors, CHOICES):
                also, others = self._turn(factor)
                turned = [factor]
                for total in others:  # other sums are left with nothing to add, but may be wanted negated, too
                    more, _ = self._turn(total)
                    if more < 0:
                        also += more
                        turned.append(total)
                    else:
                        self._turn(total)
                if change + also < 0:
                    return True
                for other in turned:
                    self._turn(other)
            self._turn(choice)
        return False

    @property
    def near(self) -> set[int]:
        """The values that stand for their negative, and who uses them."""
        turned = [index for index, turned in enumerate(self.turned) if turned]
        return {*turned, *(user for index in turned for user in self._users(index))}

    def rule(self, draft: Draft, value: Value) -> int:
        """Where the draft holds a value, or its negative if that is what it stands for."""
        index, moved, turned = len(draft.moved), draft.moved, self.turned
        op, args, *_ = value
        terms = self.known.get(index, ()) if op in SUMS else ()
        if terms and (turned[index] or any(turned[term.place] for term in terms)):
            return added_up(draft, [(moved[place], minus ^ turned[place] ^ turned[index]) for place, minus in terms])
        if op == "neg" and turned[index] != turned[args[0]]:
            return moved[args[0]]
        if self._takes_signs(index) and turned[index] != turned[args[self._varies(index)]]:
            if op == "inv":
                return draft.op("div", draft.number(-1.0), moved[args[0]])
            numbers = [draft.number(-self.values[a].constant) if self.constant[a] else moved[a] for a in args]
            return draft.op(op, *numbers)
        return draft.copy(value)

    def _terms(self, index: int) -> list[Term]:
        """The terms of a sum that is in no other one; of all other values none."""
        if index not in self.known:
            alone = self.values[index].op not in SUMS or self.inner[index]
            self.known[index] = [] if alone else terms_of(self.values, self.inner, index)
        return self.known[index]

    def _users(self, index: int) -> list[int]:
        """Who uses a value; where that is a sum in a sum, the outermost one."""
        return [self.outer[user] for user in self.users[index]]

    def _takes_signs(self, index: int) -> bool:
        """Whether a product or quotient has one constant, which takes any sign."""
        op, args, *_ = self.values[index]
        constants = [self.constant[arg] for arg in args]
        if op == "mul":
            return sum(constants) == 1
        return (op == "inv" and constants == [False]) or (op == "div" and constants == [True, False])

    def _varies(self, index: int) -> int:
        """Which argument of such an operation is no constant."""
        args = self.values[index].args
        return next((place for place, arg in enumerate(args) if not self.constant[arg]), 0)

    def _choices(self, index: int) -> list[int]:
        """Values that change this one's sign with their own; itself if it takes any."""
        found, waiting = list[int](), [index]
        while waiting and len(found) < CHOICES:
            place = waiting.pop()
            op = self.values[place].op
            if self._terms(place) or op == "neg" or self._takes_signs(place):
                found.append(place)
            elif op in ODD:
                waiting += self.values[place].args
        return [place for place in found if not self.fixed[place]]

    def _turn(self, index: int) -> tuple[int, list[int]]:
        """Change the sign of a value and of what follows it: what that costs, and the sums left with nothing to add.

        Nothing happens where a value would follow that cannot, or too many would, which is told as a cost.
        """
        if index not in self.turns:
            self.turns[index] = self._turning(index)
        turning, near = self.turns[index]
        if not turning:
            return 1, []
        costs, turned = self.costs, self.turned
        before = [costs[place] if place in costs else self._cost(place) for place in near]
        for place in turning:
            turned[place] = not turned[place]
        after = [self._cost(place) for place in near]
        costs.update(zip(near, after, strict=True))
        left = [place for place, a, b in zip(near, before, after, strict=True) if b > a and self._terms(place)]
        return sum(after) - sum(before), left

    def _turning(self, index: int) -> tuple[list[int], list[int]]:
        """The values that change their sign with this one, and those with their users; none if one cannot or too many.

        Both in order.
        """
        odd, waiting, turning = {index: True}, [index], list[int]()
        while waiting:
            place = heappop(waiting)
            if not odd[place]:
                continue
            turning.append(place)
            if self.fixed[place] or len(turning) > FOLLOWERS:
                return [], []
            for user in self.followers[place]:
                if user not in odd:
                    heappush(waiting, user)
                odd[user] = not odd.get(user, False)
        return turning, sorted({*turning, *(user for place in turning for user in self._users(place))})

    def _cost(self, index: int) -> int:
        """How many negations a value needs: if its argument has its sign, or all terms of a sum are subtracted."""
        turned, own = self.turned, self.turned[index]
        if self.values[index].op == "neg":
            return int(own == turned[self.values[index].args[0]])
        terms = self._terms(index)
        for place, minus in terms:
            if minus ^ turned[place] == own:
                return 0
        return int(bool(terms))
