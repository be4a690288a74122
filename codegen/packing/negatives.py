"""Sign assignment: which members of packs stand for the negative of their value, so that signs agree.

The first member of a pack stands for its value. In each other limb a sum must add and subtract like the first one's:
an equation between the signs of its terms. A factor that is a constant takes any sign. What the equations leave free
is chosen so that little has to be negated where limbs begin and end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.ir.operations import CONST
from codegen.packing.signs import Signs, value
from codegen.packing.sums import SUM

if TYPE_CHECKING:
    from collections.abc import Collection

    from codegen.packing.matching import Matched, Pack

ODD = frozenset(("mul", "div", "inv", "twice", "sin"))
"""Operations that change sign with each of their arguments."""


def negatives(matched: Matched, outside: Collection[int]) -> set[int]:
    """The nodes that stand for their negative; those `outside` are wanted by somebody else than their packs."""
    most = max(map(len, matched.packs), default=0)
    return {index for side in range(1, most) for index in _Limb(matched, side).negatives(outside)}


class _Limb:
    """The equations of the limb on one side: by nodes the forms of their signs, and forms that should vanish."""

    def __init__(self, matched: Matched, side: int) -> None:
        self.matched, self.side, self.signs = matched, side, Signs()
        self.forms: dict[int, int] = {}
        self.gathered: dict[Pack, int] = {}
        self.wishes: list[int] = []

    def negatives(self, outside: Collection[int]) -> set[int]:
        """The nodes of this limb that stand for their negative."""
        for pack in self.matched.packs:
            if len(pack) > self.side:
                self.forms[pack[self.side]] = self._form(pack)
        for wish in (*self.wishes, *(form for index, form in self.forms.items() if index in outside)):
            self.signs.vanish(wish)
        solution = self.signs.solution()
        return {index for index, form in self.forms.items() if value(form, solution)}

    def _form(self, pack: Pack) -> int:
        """The sign of a pack's member, after the equations that its terms want."""
        first, own = self.matched.terms[pack[0]], self.matched.terms[pack[self.side]]
        given = [self._operand(self.matched.operand(pack, place)) for place in range(len(own.args))]
        if own.op == SUM:
            signs = zip(given, first.minus, own.minus, strict=True)
            wanted = [form ^ (a != b) for form, a, b in signs if form is not None]
            for other in wanted[1:]:
                self.signs.vanish(other ^ wanted[0])
            return wanted[0] if wanted else 0
        if own.op not in ODD:
            return 0
        total = 0
        for form in given:
            if form is None:
                return self.signs.unknown()
            total ^= form
        return total

    def _operand(self, operand: Pack) -> int | None:
        """The sign of an operand; None for a constant, which takes any."""
        own = operand[self.side]
        if self.matched.sums.nodes[own].op == CONST:
            return None
        if self.matched.pack.get(own) == operand and own in self.forms:
            return self.forms[own]
        if operand not in self.gathered:
            self.gathered[operand] = self.signs.unknown()
            self.wishes.append(self.gathered[operand] ^ self.forms.get(own, 0))
        return self.gathered[operand]
