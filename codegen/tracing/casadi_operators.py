"""CasADi's operators on SX, called directly.

CasADi's Python looks for the right overload of an operator by trying whether its operands are arrays, which takes seven
times as long as the operation itself. While a function is traced, operators of an SX and another one, or a number, are
called without that.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from casadi import OP_ADD, OP_DIV, OP_MUL, OP_SUB, SX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_OPERATORS = {"__add__": OP_ADD, "__sub__": OP_SUB, "__mul__": OP_MUL, "__truediv__": OP_DIV}
_OPERANDS = frozenset((SX, float, int))


def _direct(code: int, searching: Callable[[SX, Any], Any]) -> Callable[[SX, Any], Any]:
    binary = SX.binary

    def operator(x: SX, y: Any) -> Any:
        return binary(code, x, y) if type(y) in _OPERANDS else searching(x, y)

    return operator


@contextmanager
def direct_operators() -> Iterator[None]:
    """Meanwhile +, -, * and / on an SX are quick; they give what they always give, in any thread."""
    new = {name: _direct(code, getattr(SX, name)) for name, code in _OPERATORS.items() if name not in vars(SX)}
    for name, operator in new.items():
        setattr(SX, name, operator)
    try:
        yield
    finally:
        with suppress(AttributeError):  # another thread was faster
            for name in new:
                delattr(SX, name)
