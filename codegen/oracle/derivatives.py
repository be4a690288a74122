"""Derivatives for the oracle along the tangents of the configuration manifold: complex steps, or central differences.

Complex steps, f(x + i h) = f(x) + i h f'(x) for a tiny h, take no difference and so round as little as f itself;
formulas of trees are analytic, with contacts too if these do not depend on each other. Elsewhere there are differences
of eighth order, whose error is about 1e-13 of the largest derivative where functions are smooth over the step. Near
singular states they are not: the differences of sixth order, of the same values, tell.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from codegen.errors import UntoldError
from codegen.model import ScrewJoint
from codegen.oracle.batches import end_to_end

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]

WEIGHTS = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
SIXTH = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
ROUGH = 3e-8  # part by which orders differ where those of eighth order are off by 1e-10
ROUNDED = 1e-11  # part of the function's values by which orders differ where derivatives vanish
TINY = 1e-30  # of complex steps
STEP = 5e-3  # rad, m, and the same per second
SHORTER, CLOSE = 5e-4, 3e-10  # where that is too far, and by how much orders may differ then: rounding is larger


def differences(function: Callable[[Array], Array], size: int, beside: float = 0.0) -> Array:
    """The derivative at zero of a function of a vector of this size; its columns are the last axis.

    UntoldError where the function is not smooth over the step, as near a singular state. Its values are rounded as
    parts of the largest, or of what they vanish `beside`. Steps are shorter where they turn fast rotors too far.
    """
    return many_differences(lambda points: np.stack([function(d) for d in points]), size, beside)


def many_differences(function: Callable[[Array], Array], size: int, beside: float = 0.0, rough: float = ROUGH) -> Array:
    """The same of a function of many vectors (k, size) at once."""
    for step, most in ((STEP, rough), (SHORTER, CLOSE)):
        found, rougher, peak = _orders(function, size, step)
        allowed = most * np.abs(found).max(initial=0.0) + ROUNDED * max(peak, beside)
        if np.abs(found - rougher).max(initial=0.0) <= allowed:
            return found
    raise UntoldError("differences do not tell derivatives here: the state is too close to a singular one")


def _orders(function: Callable[[Array], Array], size: int, step: float) -> tuple[Array, Array, float]:
    """Differences of eighth and of sixth order, and the largest value nearby."""
    places = np.array([sign * n for n, _ in WEIGHTS for sign in (1, -1)])
    values = function((step * places[:, None, None] * np.eye(size)).reshape(-1, size))
    values = values.reshape(len(WEIGHTS), 2, size, *values.shape[1:])
    change = np.moveaxis(values[:, 0] - values[:, 1], 1, -1)
    found, rougher = (sum(w * x for (_, w), x in zip(order, change, strict=False)) / step for order in (WEIGHTS, SIXTH))
    return found, rougher, float(np.abs(values[0]).max(initial=0.0))


def analytic(model: Model) -> bool:
    """Whether the dynamics of a model take complex steps: it has no loops to close, and no formulas of screws."""
    return not model.loops and not any(isinstance(body.joint, ScrewJoint) for body in model.bodies)


def complex_steps(function: Callable[[Any], Array], size: int) -> Array:
    """The derivative at zero of an analytic function of many vectors (k, size); its columns are the last axis."""
    return np.moveaxis(np.imag(function(1j * TINY * np.eye(size))) / TINY, 0, -1)


def of_quadratic(function: Callable[[Array], Array], size: int) -> Array:
    """The same of a polynomial of at most second degree: by steps of one, which are exact and round less."""
    ahead, back = (function(sign * np.eye(size)) for sign in (1.0, -1.0))
    return np.moveaxis((ahead - back) / 2.0, 0, -1)


Slopes: TypeAlias = "tuple[Callable[..., Array], Callable[..., Array]]"
"""How derivatives are taken by q, and by v, a or tau."""


def slopes(exact: bool, quadratic: bool = True) -> Slopes:
    """Those of functions that take complex steps, or that are quadratic in v, a and tau."""
    if exact:
        return complex_steps, complex_steps
    if quadratic:
        return many_differences, of_quadratic
    return (partial(many_differences, rough=ROUGH / 10),) * 2


def inverse_dynamics(
    rnea: Callable[..., Array], step: Callable[..., Array], model: Model, q: Array, v: Array, a: Array
) -> tuple[Array, Array, Array]:
    """Derivatives of rnea(q, v, a) by q (along the tangents that `step` goes), by v and by a."""
    by_q, by_rates = slopes(analytic(model))
    return (
        by_q(lambda d: rnea(step(model, q, d), v, a), model.nv),
        by_rates(lambda d: rnea(q, v + d, a), model.nv),
        by_rates(lambda d: rnea(q, v, a + d), model.nv),
    )


def forward_dynamics(
    rnea: Callable[..., Array], aba: Callable[..., Array], step: Callable[..., Array], model: Model, *state: Array
) -> tuple[Array, Array, Array]:
    """Derivatives of aba(q, v, tau) by q, v and tau: those of the inverse, at the acceleration that it gives."""
    q, v, _ = state
    Q, V, M = inverse_dynamics(rnea, step, model, q, v, aba(*state))
    inverse = np.asarray(np.linalg.inv(M), np.float64)
    return -inverse @ Q, -inverse @ V, inverse


def constrained_dynamics(
    solution: Callable[..., Any],
    step: Callable[..., Array],
    model: Model,
    slopes: Slopes,
    q: Array,
    v: Array,
    tau: Array,
) -> tuple[Array, ...]:
    """Derivatives of the accelerations and multipliers of solution(q, v, tau) by q, v and tau: a's, then lam's."""

    def both(*state: Array) -> Array:
        return end_to_end(*solution(*state))

    n, (by_q, by_rates) = model.nv, slopes
    by_state = (
        by_q(lambda d: both(step(model, q, d), v, tau), n),
        by_rates(lambda d: both(q, v + d, tau), n),
        by_rates(lambda d: both(q, v, tau + d), n),
    )
    return (*(x[:n] for x in by_state), *(x[n:] for x in by_state))
