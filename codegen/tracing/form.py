"""What is given of an algorithm's results: themselves, or products of their derivatives; dense or sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Derivative = Literal["", "jvp", "vjp", "hvp", "hessian", "tensor"]
DERIVATIVES: tuple[Derivative, ...] = ("jvp", "vjp", "hvp", "hessian", "tensor")


@dataclass(frozen=True, slots=True)
class Form:
    """The results of an algorithm or products of their derivatives; matrices dense, or (`sparse`) as their nonzeros.

    `derivative` is `jvp` (directional: along directions of the arguments), `vjp` (adjoint: the gradient of results' sum
    with weights), `hvp` (the change of this gradient along directions), `hessian` (the second derivative of this sum)
    or `tensor` (the second derivatives of all results), see `codegen.tracing.directional`. `wrt` are further arguments
    that functions of derivatives differentiate by.
    """

    derivative: Derivative = ""
    sparse: bool = False
    wrt: tuple[str, ...] = ()

    def __str__(self) -> str:
        by = [f"by {', '.join(self.wrt)}"] if self.wrt else []
        return ", ".join([self.derivative or "results", *["sparse"] * self.sparse, *by])
