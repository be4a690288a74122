"""Operators called directly: the same expressions as ever, and only while they are asked for."""

from __future__ import annotations

from operator import add, mul, sub, truediv
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from casadi import DM, SX, is_equal, vertcat

from codegen.tracing.casadi_operators import direct_operators

if TYPE_CHECKING:
    from collections.abc import Callable

x, A = SX.sym("x"), SX.sym("A", 3, 2)
SPARSE = vertcat(x, SX(1, 1), 2 * x)
OWN = dict(vars(SX))


@pytest.mark.parametrize("operator", [add, sub, mul, truediv])
@pytest.mark.parametrize(
    ("a", "b"),
    [(x, x), (x, A), (A, x), (A, A), (SPARSE, SPARSE), (x, 2), (A, 2.5), (x, DM([1, 2])), (A, np.ones((3, 2)))],
)
def test_operators_give_what_they_always_give(operator: Callable[[Any, Any], SX], a: SX, b: Any) -> None:
    usual = operator(a, b)
    with direct_operators():
        quick = operator(a, b)
    assert quick.sparsity() == usual.sparsity()
    assert all(is_equal(p, q, 2) for p, q in zip(quick.nonzeros(), usual.nonzeros(), strict=True))


def test_shapes_that_do_not_match_are_refused() -> None:
    with direct_operators(), pytest.raises(RuntimeError, match=r"[Dd]imension"):
        A + SX.sym("B", 2, 2)


def test_afterwards_all_is_as_it_was() -> None:
    def failing() -> None:
        with direct_operators():
            assert vars(SX) != OWN
            with direct_operators():
                pass
            raise KeyError

    with pytest.raises(KeyError):
        failing()
    assert vars(SX) == OWN
