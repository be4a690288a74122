"""Which cases of a test are quick, and which only `make test-thorough` runs."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def besides(quick: Iterable[Any], cases: Iterable[Any]) -> list[Any]:
    """The cases as parameters; all but the quick ones (themselves, or what they print) are thorough.

    ValueError if a quick one is none of the cases: it would never run.
    """
    known, cases = list(quick), list(cases)
    if strangers := [one for one in known if one not in cases and one not in map(str, cases)]:
        raise ValueError(f"quick cases that are no cases: {strangers}")
    return [case if case in known or str(case) in known else _thorough(case) for case in cases]


def diagonal(*axes: Sequence[Any], most: int = 1000) -> list[Any]:
    """Every combination of the values on these axes, of which as many are quick as show each value once, or `most`."""
    steps = range(min(most, max(map(len, axes))))
    quick = [tuple(axis[k % len(axis)] for axis in axes) for k in steps]
    return [case if case in quick else _thorough(case) for case in product(*axes)]


def chosen(quick: Callable[..., bool], *axes: Sequence[Any]) -> list[Any]:
    """Every combination of the values on these axes; all but those for which `quick` holds are thorough."""
    return [case if quick(*case) else _thorough(case) for case in product(*axes)]


def _thorough(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.thorough)
