"""Functions whose arrays take much of a stack: a second one, which ends in `_in`, has them in memory of the caller's.

Threads have small stacks on many systems, and solvers have memory of their own for what they call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.emission.functions import Call, Function
from codegen.emission.storage import NAME
from codegen.emission.text import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codegen.emission.storage import Storage

MOST = 2**13
"""Reals of arrays on the stack, beyond which there is a second function."""

ALIGNED = 8
"""Reals that memory has besides, of which arrays that have to be aligned leave some out."""


def calling(
    symbol: str,
    heads: tuple[str, str],
    declared: Mapping[str, str],
    arrays: Storage,
    lines: Sequence[str],
    words: tuple[str, str],
    *,
    short: bool = False,
) -> tuple[Function, ...]:
    """The function that declares arrays and has these lines; of many reals, one that has the lines, and one of arrays.

    `heads` are what is before the names of an inner function and of a public one with its name, `declared` the public
    one's arguments, `words` the type of reals and what makes an array of them aligned. Text may be `short`.
    """
    inner, public = heads
    taken = ", ".join(declared.values())
    if arrays.size <= MOST:
        return (Function(f"{public}({taken})", (*arrays.declarations(*words), *lines), very_many=short),)
    own = f"{symbol}_whole"
    whole = Function(f"{inner} {own}({words[0]} *{NAME}, {taken})", (*arrays.places(words[0]), *lines), very_many=short)
    call = str(Call(own, (NAME, *declared)))
    return whole, Function(f"{public}({taken})", (arrays.array(*words), call), very_many=short)


def within(symbol: str, head: str, declared: Mapping[str, str], real: str, place: str, last: Sequence[str]) -> Function:
    """The function of the same in `work`, memory of the caller's, where arrays begin at a `place`; `last` ends it."""
    taken = ", ".join((f"{real} *work", *declared.values()))
    return Function(f"{head}({taken})", (str(Call(f"{symbol}_whole", (place, *declared))), *last))


def anyhow(symbols: Iterable[str]) -> str:
    """Lines of C that let functions be called so which have no large arrays: they take no reals of the caller's."""
    return render("given_memory.jinja", names=list(dict.fromkeys(symbols)))
