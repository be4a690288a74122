"""Interfaces of solvers: what a folder of C has besides, so that others call it. To add one, add its line here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from codegen.errors import RobotError
from codegen.interfaces import acados, casadi, crocoddyl_header, fatrop, jax, torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codegen.pipeline import Interface, Wrapped

INTERFACES: dict[str, Callable[..., Wrapped]] = {
    "acados": acados.interface,
    "casadi": casadi.interface,
    "crocoddyl": crocoddyl_header.interface,
    "fatrop": fatrop.interface,
    "jax": jax.folder,
    "torch": torch.folder,
}
"""By name: functions of a header, a task, and the highest order of `derivatives`."""


BATCHED = ("jax", "torch")
"""Those that take many states in a call."""


def interfaces_of(
    names: Sequence[str],
    dtype: str,
    derivatives: int | None,
    on_singular: str = "ignore",
    directions: int = 1,
    lanes: int = 1,
) -> tuple[Interface, ...]:
    """The interfaces of these names, with derivatives up to an order; RobotError for others, or single precision.

    By default that is the second, for CasADi no order of functions whose results are derivatives themselves.

    Those of batches go through states in so many SIMD `lanes`, and are refused without. `on_singular` and `directions`
    are those of `to_casadi`, and concern CasADi alone.
    """
    failing, several = casadi.fails(on_singular), casadi.in_lanes(directions)
    for name in names:
        if name not in INTERFACES:
            raise RobotError(f"interface {name!r}: choose one of {', '.join(INTERFACES)}")
        if dtype != "float64":
            raise RobotError(f"interface {name}: solvers compute in double precision; leave dtype {dtype} out")
        if name in BATCHED and lanes == 1:
            raise RobotError(f"interface {name}: it goes through batches of states in SIMD lanes; add lanes=8")
    casadi.check_order(derivatives)
    if failing and "casadi" not in names:
        raise RobotError("on_singular='fail' tells CasADi that an evaluation failed; add the interface casadi")
    if several and "casadi" not in names:
        raise RobotError(f"directions={directions} are for CasADi; add the interface casadi")
    common = {"derivatives": casadi.SECOND if derivatives is None else derivatives}
    own = {"casadi": {"derivatives": derivatives, "failing": failing, "several": several}}
    return tuple(partial(INTERFACES[name], **own.get(name, common)) for name in dict.fromkeys(names))
