"""Constant folding and identities; signs are pushed outwards to where a sum absorbs them.

Exact for finite numbers: nothing is reassociated (doubling commutes with rounding). Zero times anything
counts as zero, and x - x as zero; the sign of a zero may change. A rule never adds an operation: it moves a
negation out of a product only when nothing else uses it. What has been computed is not computed again, so that
equal values meet while rules can still see them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.graph import Value
from codegen.ir.operations import CONST, OPERATIONS
from codegen.passes.rewriting import Draft, rewrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from codegen.ir.graph import Graph

_COMMON = frozenset(("add", "sub", "mul"))
_KNOWN = frozenset((CONST, "neg"))


def fold_constants(graph: Graph) -> Graph:
    """Every operation in its simplest form, and each only once."""

    def rule(draft: Draft, value: Value) -> int:
        op, args, *_ = value
        if not args:
            return draft.leaf(value)
        if op in _COMMON:
            # Most values: two different arguments that no rule knows anything about.
            a, b, values = draft.moved[args[0]], draft.moved[args[1]], draft.values
            if a != b and values[a].op not in _KNOWN and values[b].op not in _KNOWN:
                return _once(draft, op, a, b) if op == "sub" else draft.same(op, a, b)
            return make(draft, op, a, b)
        return make(draft, op, *draft.args(value))

    return rewrite(graph, rule)


def make(draft: Draft, name: str, *args: int) -> int:
    """Where the draft holds this operation on new values, in its simplest form."""
    values = draft.values
    if values[args[0]].op == CONST and values[args[-1]].op == CONST:
        with np.errstate(all="ignore"):
            number = float(OPERATIONS[name].numpy(*[values[arg].constant for arg in args]))
        if math.isfinite(number):
            return draft.number(number)
    rule = _RULES.get(name)
    place = rule(draft, *args) if rule else None
    return _once(draft, name, *args) if place is None else place


def _once(draft: Draft, name: str, *args: int) -> int:
    """The operation, or the negation of its opposite if that is there and wanted."""
    if name == "sub" or name == "mul":
        opposite = draft.opposite(name, *args)
        if opposite is not None and draft.uses[opposite]:
            return draft.same("neg", opposite)
    return draft.same(name, *args)


def _number(draft: Draft, place: int) -> float | None:
    value = draft.values[place]
    return value.constant if value.op == CONST else None


def _inside(draft: Draft, op: str, place: int) -> int | None:
    """The argument of `op` at this place, if that is what stands there."""
    value = draft.values[place]
    return value.args[0] if value.op == op else None


def _lone(draft: Draft, op: str, place: int) -> int | None:
    """The same, if moreover nothing else uses the value at this place."""
    return _inside(draft, op, place) if draft.uses[place] == 0 else None


def _add(draft: Draft, a: int, b: int) -> int | None:
    for x, y in ((a, b), (b, a)):
        number, positive = _number(draft, y), _inside(draft, "neg", y)
        if number == 0:
            return x
        if number is not None and number < 0:
            return make(draft, "sub", x, draft.number(-number))
        if positive is not None:
            return make(draft, "sub", x, positive)
    return make(draft, "twice", a) if a == b else None


def _sub(draft: Draft, a: int, b: int) -> int | None:
    if a == b:
        return draft.number(0.0)
    if _number(draft, a) == 0:
        return make(draft, "neg", b)
    number, positive = _number(draft, b), _inside(draft, "neg", b)
    if number is not None and number <= 0:
        return make(draft, "add", a, draft.number(-number))
    if positive is not None:
        return make(draft, "add", a, positive)
    positive = _lone(draft, "neg", a)
    return None if positive is None else make(draft, "neg", make(draft, "add", positive, b))


def _neg(draft: Draft, a: int) -> int | None:
    value = draft.values[a]
    if value.op == "neg":
        return value.args[0]
    if draft.uses[a]:
        return None
    if value.op == "sub":
        return draft.same("sub", value.args[1], value.args[0])
    if value.op == "twice":
        return draft.same("mul", value.args[0], draft.number(-2.0))
    if value.op == "inv":
        return draft.same("div", draft.number(-1.0), value.args[0])
    if value.op == "mul":
        for x, y in (value.args, value.args[::-1]):
            number = _number(draft, y)
            if number is not None:
                return make(draft, "mul", x, draft.number(-number))
    if value.op == "div":
        number = _number(draft, value.args[0])
        if number is not None:
            return make(draft, "div", draft.number(-number), value.args[1])
    return None


def _mul(draft: Draft, a: int, b: int) -> int | None:
    if a == b:
        return make(draft, "sq", a)
    for x, y in ((a, b), (b, a)):
        number = _number(draft, y)
        if number is not None:
            return _scaled(draft, x, number)
    return _signed(draft, "mul", a, b)


def _scaled(draft: Draft, x: int, number: float) -> int | None:
    """x times a constant."""
    if number == 0:
        return draft.number(0.0)
    if number == 1:
        return x
    if number == -1:
        return make(draft, "neg", x)
    if number == 2:
        return make(draft, "twice", x)
    negated, doubled = _inside(draft, "neg", x), _lone(draft, "twice", x)
    if negated is not None:
        return make(draft, "mul", negated, draft.number(-number))
    if doubled is not None and math.isfinite(2.0 * number):
        return make(draft, "mul", doubled, draft.number(2.0 * number))
    return None


def _signed(draft: Draft, name: str, a: int, b: int) -> int | None:
    """A product or quotient with its arguments' signs taken out."""
    both = _inside(draft, "neg", a), _inside(draft, "neg", b)
    if both[0] is not None and both[1] is not None:
        return make(draft, name, both[0], both[1])
    left, right = _lone(draft, "neg", a), _lone(draft, "neg", b)
    if left is not None:
        return make(draft, "neg", make(draft, name, left, b))
    return None if right is None else make(draft, "neg", make(draft, name, a, right))


def _div(draft: Draft, a: int, b: int) -> int | None:
    above, below = _number(draft, a), _number(draft, b)
    if above == 0:
        return draft.number(0.0)
    if above == 1:
        return make(draft, "inv", b)
    if below == 1:
        return a
    if below == -1:
        return make(draft, "neg", a)
    up, down = _inside(draft, "neg", a), _inside(draft, "neg", b)
    if above is not None and down is not None:
        return make(draft, "div", draft.number(-above), down)
    if below is not None and up is not None:
        return make(draft, "div", up, draft.number(-below))
    return _signed(draft, "div", a, b)


def _twice(draft: Draft, a: int) -> int | None:
    negated = _inside(draft, "neg", a)
    if negated is not None:
        return draft.same("mul", negated, draft.number(-2.0))
    doubled = _lone(draft, "twice", a)
    if doubled is not None:
        return draft.same("mul", doubled, draft.number(4.0))
    value = draft.values[a]
    if value.op == "mul" and draft.uses[a] == 0:
        for x, y in (value.args, value.args[::-1]):
            number = _number(draft, y)
            if number is not None and math.isfinite(2.0 * number):
                return make(draft, "mul", x, draft.number(2.0 * number))
    return None


def _inv(draft: Draft, a: int) -> int | None:
    negated = _inside(draft, "neg", a)
    return None if negated is None else draft.same("div", draft.number(-1.0), negated)


def _sin(draft: Draft, a: int) -> int | None:
    negated = _lone(draft, "neg", a)
    return None if negated is None else make(draft, "neg", make(draft, "sin", negated))


def _even(name: str) -> Callable[..., int | None]:
    def rule(draft: Draft, a: int) -> int | None:
        negated = _inside(draft, "neg", a)
        return None if negated is None else make(draft, name, negated)

    return rule


def _pow(draft: Draft, a: int, b: int) -> int | None:
    exponent = _number(draft, b)
    if exponent == 0:
        return draft.number(1.0)
    if exponent == 1:
        return a
    simple = {2.0: "sq", -1.0: "inv", 0.5: "sqrt"}.get(exponent) if exponent is not None else None
    return None if simple is None else make(draft, simple, a)


def _if_else_zero(draft: Draft, test: int, a: int) -> int | None:
    known = _number(draft, test)
    if known == 0 or _number(draft, a) == 0:
        return draft.number(0.0)
    return None if known is None else a


def _extremum(draft: Draft, a: int, b: int) -> int | None:
    return a if a == b else None


_RULES: dict[str, Callable[..., int | None]] = {
    "add": _add,
    "sub": _sub,
    "neg": _neg,
    "mul": _mul,
    "div": _div,
    "sq": _even("sq"),
    "cos": _even("cos"),
    "fabs": _even("fabs"),
    "twice": _twice,
    "inv": _inv,
    "sin": _sin,
    "pow": _pow,
    "if_else_zero": _if_else_zero,
    "fmin": _extremum,
    "fmax": _extremum,
}
