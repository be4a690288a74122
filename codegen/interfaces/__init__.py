"""Interfaces of solvers: what a folder of C has besides, so that others call it. To add one, add its line here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from codegen.errors import RobotError
from codegen.interfaces import acados, casadi

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codegen.pipeline import Interface, Wrapped

INTERFACES: dict[str, Callable[..., Wrapped]] = {"acados": acados.interface, "casadi": casadi.interface}
"""By name: functions of a header, a task, and the highest order of `derivatives`."""


def interfaces_of(names: Sequence[str], dtype: str, derivatives: int) -> tuple[Interface, ...]:
    """The interfaces of these names, with derivatives up to an order; RobotError for others, or single precision."""
    for name in names:
        if name not in INTERFACES:
            raise RobotError(f"interface {name!r}: choose one of {', '.join(INTERFACES)}")
        if dtype != "float64":
            raise RobotError(f"interface {name}: solvers compute in double precision; leave dtype {dtype} out")
    order = casadi.order_of(derivatives)
    return tuple(partial(INTERFACES[name], derivatives=order) for name in dict.fromkeys(names))
