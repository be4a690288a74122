"""Constrained dynamics for the oracle: contacts on any frames, and loops, all dense.

In the robot's own velocities, M a + bias = tau + J' lam and J a + drift = k, with a row of J for every held row of
[angular acceleration; classical linear acceleration] of a contact's frame, or of another point that moves with it,
along the axes that it names. What a contact's rows
lack without it, s = k - drift - J a_free, is made up by lam = W^+ s with the Delassus matrix W = J M^-1 J':
for redundant or contradicting rows the least squares, of least |lam - lam0|, of which the limit of the proximal
algorithms is one. Singular values below `RANK` times the largest count as zero. Shapes are those of one state; inputs
with leading batch dimensions put these in front.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codegen.algorithms import BEHIND, OPTIONAL, optional
from codegen.errors import UnsuitedError
from codegen.model.contacts import whole_tips
from codegen.oracle import coulomb, dynamics, kinematics, loops, stated
from codegen.oracle.batches import apply, numbers, solved, transposed
from codegen.oracle.derivatives import analytic
from codegen.oracle.parameters import with_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Contact, Model

    Array = NDArray[np.float64]

RANK = 1e-8
REGULAR = 100  # times 1/mu is the smallest eigenvalue of W (but for zeros) from which five proximal steps reach 1e-10


@dataclass(frozen=True, slots=True)
class Equations:
    """M (nv, nv), bias (nv), J (m, nv) and drift (m) at one state, in the robot's own velocities.

    mu is what proximal algorithms take for the robot.
    """

    M: Array
    bias: Array
    J: Array
    drift: Array
    mu: float


def equations(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    contacts: Sequence[Contact],
    external: Sequence[str] = (),
) -> Equations:
    """The equations of motion, and the accelerations of the contacts' rows."""
    robot = loops.closed(model, q)
    rates = apply(robot.G, numbers(v))
    M, bias = dynamics.equations(robot.tree, robot.q, rates, f_ext, external)
    moving = kinematics.motions(robot.tree, robot.q, rates)
    J, drift = (seen(robot.tree, moving, contacts) for seen in (stated.jacobian, stated.drift))
    g, Gt = robot.g(rates), transposed(robot.G)
    bias, drift = apply(Gt, apply(M, g) + bias), drift + apply(J, g)
    return Equations(Gt @ M @ robot.G, bias, J @ robot.G, drift, optional(model)["mu"])


def solution(at: Equations, tau: Array, k: Array, lam0: Array) -> tuple[Array, Array]:
    """Accelerations (nv) and multipliers (m) with the rows held as well as they can be.

    Where numbers are complex the rows are independent (`smooth`).
    """
    free, Jt = solved(at.M, tau - at.bias), transposed(at.J)
    lacking = k - at.drift - apply(at.J, free + solved(at.M, apply(Jt, lam0)))
    if np.iscomplexobj(lacking):
        lam = lam0 + solved(delassus(at), lacking)
        return free + solved(at.M, apply(Jt, lam)), lam
    L = np.linalg.cholesky(at.M)
    A = np.linalg.solve(L, Jt)  # W = A' A, and pinv(W) = pinv(A) pinv(A)'
    pseudo = np.linalg.pinv(A, rcond=RANK)
    lam = lam0 + apply(pseudo, apply(transposed(pseudo), lacking))
    return free + solved(transposed(L), apply(A, lam)), lam


def weighed(at: Equations, tau: Array, k: Array, lam0: Array, weight: Array) -> tuple[Array, Array]:
    """The same with rows that contradict one another weighed: the solution of rows scaled by the roots of weights."""
    root = np.sqrt(weight)
    scaled = Equations(at.M, at.bias, root[:, None] * at.J, root * at.drift, at.mu)
    a, lam = solution(scaled, tau, root * k, lam0 / root)
    return a, root * lam


def softened(at: Equations, tau: Array, k: Array, R: Array) -> tuple[Array, Array]:
    """The same of rows that give way: lam = (k - drift - J a) / R.

    By way of W + R, as stiff rows would swamp M in M + J' R^-1 J.
    """
    free = solved(at.M, tau - at.bias)
    lam = solved(delassus(at) + np.diag(R), k - at.drift - apply(at.J, free))
    return free + solved(at.M, apply(transposed(at.J), lam)), lam


def frictional(at: Equations, tau: Array, k: Array, contacts: Sequence[Contact]) -> tuple[Array, Array]:
    """The same of contacts that break, stick and slip by Coulomb's law, state by state."""
    free, W = solved(at.M, tau - at.bias), delassus(at)
    c = apply(at.J, free) + at.drift - k
    W, lam = np.broadcast_to(W, (*c.shape[:-1], *W.shape[-2:])), np.empty_like(c)
    for place in np.ndindex(c.shape[:-1]):
        lam[place] = coulomb.multipliers(W[place], c[place], contacts)
    return free + solved(at.M, apply(transposed(at.J), lam)), lam


def smooth(of: str, model: Model, q: ArrayLike, contacts: Sequence[Contact] | None = None) -> bool:
    """Whether dynamics by this name take complex steps at a configuration: those of trees, with independent rows.

    Soft rows may depend on each other, and a law needs no margin, as no step is damped.
    """
    if not analytic(model) or of not in DYNAMICS:
        return analytic(model)
    at = equations(model, q, np.zeros(model.nv), contacts=whole_tips(model) if contacts is None else contacts)
    found, regular = rank(at)
    return DYNAMICS[of] is SOFT or (found == len(at.J) and (regular or by_law(of)))


def by_law(of: str) -> bool:
    """Whether forces of contacts obey a law, so that they are no quadratic functions of velocities."""
    return DYNAMICS[of] is FRICTIONAL


def rank(at: Equations) -> tuple[int, bool]:
    """How many rows are independent, and whether they are so with a margin: a regular state."""
    sizes = np.linalg.svd(np.linalg.solve(np.linalg.cholesky(at.M), at.J.T), compute_uv=False)
    held = sizes[sizes > RANK * sizes.max(initial=0.0)]
    return len(held), bool((np.square(held) * at.mu >= REGULAR).all())


def delassus(at: Equations) -> Array:
    """W (m, m)."""
    return np.asarray(at.J @ np.linalg.solve(at.M, transposed(at.J)))


def damped(at: Equations, mu: Array | float) -> Array:
    """The inverse (m, m) of W + 1/mu, for one mu or one of every row (m)."""
    return np.asarray(np.linalg.inv(delassus(at) + np.eye(at.J.shape[-2]) / mu), float)


def _check_independent(model: Model, at: Equations) -> None:
    """UnsuitedError unless W has an inverse."""
    if rank(at)[0] < len(at.J):
        raise UnsuitedError(
            f"{model.name}: the contacts' rows depend on each other, so that W has no inverse; hold fewer rows"
        )


def entry(kind: str, undamped: bool = False) -> Callable[..., Array | tuple[Array, ...]]:
    """An entry of `codegen.oracle.ORACLE`: `held`, `soft`, `frictional`, `W`, `Winv`, or an inverse `applied`.

    `consistent` is Winv and Winv J M^-1. Optional inputs (`codegen.algorithms.OPTIONAL`, `BEHIND`) are given by name
    among the `parameters`.
    """

    def evaluate(
        model: Model,
        q: ArrayLike,
        *state: ArrayLike,
        frames: Sequence[str] = (),
        external: Sequence[str] = (),
        contacts: Sequence[Contact] | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> Array | tuple[Array, ...]:
        given = {**optional(model), "weight": 1.0, **(parameters or {})}
        own = {name: values for name, values in given.items() if name not in {*OPTIONAL, *BEHIND}}
        model = with_parameters(model, own)
        held = whole_tips(model) if contacts is None else tuple(contacts)
        names = ("k", "lam0", "R", "weight")
        m = sum(len(contact.rows) for contact in held)
        k, lam0, R, weight = (np.broadcast_to(np.asarray(given[name], float), m) for name in names)
        mu = np.asarray(given["mu"], float) * weight
        if kind == "applied":
            at = equations(model, q, np.zeros(model.nv), contacts=held)
            if undamped:
                _check_independent(model, at)
            W = delassus(at)
            return np.linalg.solve(W + np.diag(0.0 / mu if undamped else 1.0 / mu), np.asarray(state[0], float))
        v, tau, *wrenches = state or (np.zeros(model.nv), np.zeros(model.nv))
        at = equations(model, q, v, *wrenches, contacts=held, external=tuple(external) if wrenches else ())
        robot = loops.closed(model, q)
        moving = kinematics.motions(robot.tree, robot.q, apply(robot.G, numbers(v)))
        k = k + stated.pull(robot.tree, moving, held, given)
        if kind == "held":
            return weighed(at, numbers(tau), k, lam0, weight)
        if kind == "soft":
            return softened(at, numbers(tau), k, R)
        if kind == "frictional":
            return frictional(at, numbers(tau), k, held)
        if kind == "W":
            return delassus(at)
        inverse = damped(at, mu)
        back = transposed(np.linalg.solve(at.M, transposed(at.J)))
        return inverse if kind == "Winv" else (inverse, inverse @ back)

    return evaluate


SOFT, FRICTIONAL = entry("soft"), entry("frictional")
DYNAMICS: dict[str, Callable[..., Array | tuple[Array, ...]]] = {
    **dict.fromkeys(
        (
            *("pv", "pv_early", "prox_pv", "constrained_aba", "aba_prox", "aba_prox_stiff", "tree_kkt"),
            *("prox_ltl", "prox_ltls", "prox_kkt"),
        ),
        entry("held"),
    ),
    "pv_soft": SOFT,
    "nsgs": FRICTIONAL,
}
ENTRIES: dict[str, Callable[..., Array | tuple[Array, ...]]] = {
    **DYNAMICS,
    **dict.fromkeys(("aba_osim", "ltl_osim", "kjr", "pv_osim", "pv_osimr"), entry("W")),
    "caba_osim": entry("Winv"),
    "kkt_inverse": entry("consistent"),
    "caba_osimf": entry("applied"),
    "caba_osim_swept": entry("applied"),
    "pv_osimf": entry("applied", undamped=True),
}
