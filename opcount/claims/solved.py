"""What claims about convergence and exactness compare: numbers that graphs compute at random states.

Graphs are interpreted with NumPy. A proximal method goes on by its multipliers alone, so that any number of steps is
one step again and again, each from the multipliers of the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codegen import api
from codegen.ir.interpreter import interpret
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE, constrained
from codegen.robot import load
from opcount.studies.convergence import MU, TALOS
from opcount.studies.measured import PAPER, Held

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.ir.graph import Graph
    from codegen.model import Model
    from codegen.tracing.task import Tier

Array = NDArray[np.float64]

STATES, FEW, SEED = 100, 10, 0
STEPS = 8
SMALL = 1e-6  # m/s^2, rad/s^2: a residual that counts as none
GO1 = PAPER["go1 F3 x4"]
TIED = Held("iiwa", ("lbr_iiwa_link_7:6", "lbr_iiwa_link_5:3"))
"""More rows than joints: no accelerations meet them all."""
FREEDOMS = {
    "mit_humanoid": 24,
    "tello_humanoid": 24,
    "mini_cheetah": 18,
    "jvrc1": 38,
    "chain12_geared": 12,
    "chain12_belt": 12,
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """Random states of a robot with contacts, stacked; what the rows are to be, and the equations."""

    model: Model
    held: Held
    q: Array
    v: Array
    tau: Array
    k: Array
    at: tuple[constrained.Equations, ...]

    def residual(self, a: Array) -> Array:
        """The largest deviation of any row at every state, less what no accelerations could make up."""
        nothing = np.zeros(self.k.shape[1])
        best = [constrained.solution(e, t, k, nothing)[0] for e, t, k in zip(self.at, self.tau, self.k, strict=True)]
        return np.array([np.abs(e.J @ (x - y)).max() for e, x, y in zip(self.at, a, best, strict=True)])


@cache
def drawn(held: Held, states: int, wanted: float = 0.0) -> Drawn:
    """Random states at which no row is almost dependent on others; rows are to be random numbers of such a size."""
    model, rng = held.model(), np.random.default_rng(SEED)
    contacts = tuple(contact_of(model, text) for text in held.contacts)
    states_kept, at_kept = list[tuple[Array, ...]](), list[constrained.Equations]()
    while len(at_kept) < states:
        q, v, tau = model.random(rng)
        at = constrained.equations(model, q, v, contacts=contacts)
        if constrained.rank(at)[1]:
            states_kept.append((q, v, tau, wanted * rng.standard_normal(len(at.J))))
            at_kept.append(at)
    q, v, tau, k = (np.array(column) for column in zip(*states_kept, strict=True))
    return Drawn(model, held, q, v, tau, k, tuple(at_kept))


def graph(at: Drawn, algorithm: str, tier: Tier, *parameters: str, steps: int = 1) -> Graph:
    """The graph of an algorithm at a tier."""
    held = at.held.contacts
    return api.graphs(at.model, algorithm, contacts=held, parameters=parameters, iterations=steps, tier=tier)[1]


def iterates(at: Drawn, algorithm: str, tier: Tier, steps: int, mu: float) -> list[tuple[Array, Array]]:
    """Accelerations and multipliers after each of so many proximal steps."""
    one, mus = graph(at, algorithm, tier, "k", "mu", "lam0"), np.full(len(at.q), mu)
    lam, found = np.zeros_like(at.k), list[tuple[Array, Array]]()
    for _ in range(steps):
        a, lam, *_ = interpret(one, at.q, at.v, at.tau, at.k, mus, lam)
        found.append((a, lam))
    return found


def steps_needed(algorithm: str, part: float, tier: Tier) -> float:
    """Proximal steps after which such a part of the states of the redundantly held Talos is converged."""
    at = drawn(TALOS, STATES)
    left = [float(np.quantile(at.residual(a), part)) for a, _ in iterates(at, algorithm, tier, STEPS, MU)]
    return next((n + 1.0 for n, residual in enumerate(left) if residual < SMALL), STEPS + 1.0)


def refined(tier: Tier) -> float:
    """How much larger the smaller residual of proxLTL and proxPV is than the larger one of proxLTLs and constrainedABA.

    Medians over the states of the redundantly held Talos, when steps change nothing any more.
    """
    at = drawn(TALOS, STATES)
    left = {
        name: float(np.median(at.residual(iterates(at, name, tier, STEPS, MU)[-1][0])))
        for name in ("prox_ltl", "prox_pv", "prox_ltls", "constrained_aba")
    }
    return min(left["prox_ltl"], left["prox_pv"]) / max(left["prox_ltls"], left["constrained_aba"])


def iterates_apart(first: str, second: str, tier: Tier) -> float:
    """The largest difference of two methods' multipliers after one, two and three steps, of the largest multiplier."""
    at = drawn(GO1, FEW)
    both = [iterates(at, name, tier, 3, 1e3) for name in (first, second)]
    return max(apart(x, y) for (_, x), (_, y) in zip(*both, strict=True))


def first_step_apart(tier: Tier) -> float:
    """PV-soft with R = 1/mu against one step of constrainedABA: accelerations, of the largest."""
    at, mu = drawn(GO1, FEW), 1e3
    R = np.full_like(at.k, 1.0 / mu)
    soft, *_ = interpret(graph(at, "pv_soft", tier, "R"), at.q, at.v, at.tau, R)
    return apart(soft, iterates(at, "constrained_aba", tier, 1, mu)[0][0])


def inverse_apart(tier: Tier) -> float:
    """cABA-OSIM against the inverse of the dense W + 1/mu, of its largest entry."""
    at, mu = drawn(GO1, FEW), 1e3
    found, *_ = interpret(graph(at, "caba_osim", tier, "mu"), at.q, np.full(len(at.q), mu))
    return apart(found, np.array([constrained.damped(e, mu) for e in at.at]))


def least_squares_missed(algorithm: str, tier: Tier) -> float:
    """The largest residual, beyond that of least squares, of rows that contradict one another, after ten steps."""
    at = drawn(TIED, FEW, wanted=1.0)
    a, _ = iterates(at, algorithm, tier, 10, 1e5)[-1]
    return float(at.residual(a).max())


def by_products_apart(tier: Tier) -> float:
    """Blocks by `kkt_inverse` against the dense inverse of [[-1/mu, J], [J', M]], of their largest entries."""
    at, mu = drawn(GO1, FEW), 1e3
    first, second, *_ = interpret(graph(at, "kkt_inverse", tier, "mu"), at.q, np.full(len(at.q), mu))
    m = at.k.shape[1]
    dense = np.array([np.linalg.inv(np.block([[-np.eye(m) / mu, e.J], [e.J.T, e.M]])) for e in at.at])
    return max(apart(first, -dense[:, :m, :m]), apart(second, dense[:, :m, m:]))


def freedoms_missed(tier: Tier) -> float:
    """The largest difference of robots' degrees of freedom from those in the paper; the same at every tier."""
    return float(max(abs(load(robot).nv - n) for robot, n in FREEDOMS.items()))


def largest_cluster(robot: str, tier: Tier) -> float:
    """The bodies of the largest cluster; the same at every tier."""
    return float(max(len(node.bodies) for node in load(robot).nodes))


def exact(robots: Sequence[str], algorithm: str, tier: Tier) -> float:
    """An algorithm against the dense oracle on robots with loops: the largest error, of the largest entry."""
    worst, rng = 0.0, np.random.default_rng(SEED)
    for robot in robots:
        model = load(robot)
        contacts = [contact_of(model, f"{model.tips[-1]}:6")] if algorithm == "efpa" else None
        traced = api.graphs(model, algorithm, contacts=contacts, tier=tier)[1]
        for _ in range(3):
            q, v, tau = model.random(rng)
            given = {"q": q, "v": v, "tau": tau, "a": tau}
            inputs = [given[port.name] for port in traced.inputs]
            found, *_ = interpret(traced, *inputs)
            worst = max(worst, apart(found, np.asarray(ORACLE[algorithm](model, *inputs, contacts=contacts))))
    return worst


def apart(found: Array, expected: Array) -> float:
    """The largest difference, of the largest entry."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())
