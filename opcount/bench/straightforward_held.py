"""Constrained dynamics and Delassus matrices as one writes them down first, beside `straightforward`.

The textbook recursions of the papers over dense 6 x 6 algebra, with contacts K a = s on links, K = rows X of the
frame: nothing clever. Accelerations of links are spatial and carry gravity; s holds the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from codegen.algorithms import OPTIONAL
from opcount.bench.straightforward import (
    Links,
    ancestors,
    crba,
    cross,
    cross3,
    factor,
    fixed,
    half_solved,
    links,
    rnea,
    solved,
    solver,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from codegen.model import Contact, Model

SX = Any
MU = OPTIONAL["mu"]


@dataclass(frozen=True, slots=True)
class Held:
    """A contact: its body, rows K (m x 6) on the body's spatial acceleration, and places among all rows."""

    body: int
    frame: SX
    K: SX
    rows: tuple[tuple[float, ...], ...]
    place: slice


@dataclass(frozen=True, slots=True)
class Robot:
    """Links, contacts, number of rows, and for every link whether it carries a contact or an ancestor of one."""

    links: Links
    held: tuple[Held, ...]
    m: int
    supports: tuple[bool, ...]

    @property
    def outwards(self) -> range:
        return range(len(self.links.parent))

    def weights(self, mu: float) -> list[SX]:
        """Inertias with mu K'K of every contact added."""
        found = list(self.links.inertia)
        for contact in self.held:
            found[contact.body] = found[contact.body] + mu * (contact.K.T @ contact.K)
        return found

    def seen(self, a: Mapping[int, SX]) -> SX:
        """K a over all rows."""
        return ca.vertcat(*[contact.K @ a[contact.body] for contact in self.held])

    def pushes(self, lam: SX) -> dict[int, SX]:
        """K' lam on every body that is held."""
        found: dict[int, SX] = {}
        for contact in self.held:
            found[contact.body] = found.get(contact.body, 0) + contact.K.T @ lam[contact.place]
        return found


def robot(model: Model, q: SX, contacts: Sequence[Contact]) -> Robot:
    """The robot at configuration q, held."""
    held: list[Held] = []
    start = 0
    for contact in contacts:
        pose, rows = contact.frame.placement, ca.DM(np.array(contact.rows))
        X = fixed(pose.R, pose.p)
        held.append(Held(contact.frame.body, X, rows @ X, contact.rows, slice(start, start + rows.shape[0])))
        start += rows.shape[0]
    r = links(model, q)
    supports = [False] * len(r.parent)
    for carried in held:
        i = carried.body
        while i >= 0:
            supports[i], i = True, r.parent[i]
    return Robot(r, tuple(held), start, tuple(supports))


@dataclass(frozen=True, slots=True)
class Moving:
    """Velocities, velocity products and bias forces of the links, and what the rows of contacts want, s."""

    c: list[SX]
    p: list[SX]
    s: SX


def moving(b: Robot, v: SX) -> Moving:
    """The first sweep."""
    r = b.links
    velocity: list[SX] = []
    c, p = [], []
    fall: list[SX] = []
    for i, above in enumerate(r.parent):
        vj = r.S[i] @ v[r.columns[i]]
        velocity.append((r.X[i] @ velocity[above] if above >= 0 else 0) + vj)
        c.append(cross(velocity[i]) @ vj)
        p.append(-cross(velocity[i]).T @ (r.inertia[i] @ velocity[i]))
        fall.append(r.X[i] @ (fall[above] if above >= 0 else r.gravity) if b.supports[i] else None)
    wanted = []
    for contact in b.held:
        at = contact.frame @ velocity[contact.body]
        turning = ca.vertcat(ca.SX(3, 1), cross3(at[:3]) @ at[3:])
        wanted.append(-(ca.DM(np.array(contact.rows)) @ (turning + contact.frame @ fall[contact.body])))
    return Moving(c, p, ca.vertcat(*wanted))


@dataclass(frozen=True, slots=True)
class Swept:
    """The articulated inertias' U = IA S, solvers by D = S' U, and inertias as the parent feels them."""

    U: dict[int, SX]
    solve: dict[int, Callable[[SX], SX]]
    Ia: dict[int, SX]


def swept(r: Links, inertias: Sequence[SX]) -> Swept:
    """The inertia sweep."""
    IA, found = list(inertias), Swept({}, {}, {})
    for i in reversed(range(len(r.parent))):
        found.U[i] = IA[i] @ r.S[i]
        found.solve[i] = solver(r.S[i].T @ found.U[i])
        if r.parent[i] >= 0:
            found.Ia[i] = IA[i] - found.U[i] @ found.solve[i](found.U[i].T)
            IA[r.parent[i]] = IA[r.parent[i]] + r.X[i].T @ found.Ia[i] @ r.X[i]
    return found


def inwards(r: Links, A: Swept, p: dict[int, SX], c: Sequence[SX], tau: SX | None, nodes: Iterable[int]) -> Any:
    """The force sweep: u of the nodes, children first; without velocity products where c is empty."""
    p, u = dict(p), {}
    for i in nodes:
        u[i] = (tau[r.columns[i]] if tau is not None else 0) - r.S[i].T @ p[i]
        if r.parent[i] >= 0:
            pa = p[i] + A.U[i] @ A.solve[i](u[i])
            pa = pa + A.Ia[i] @ c[i] if c else pa
            p[r.parent[i]] = p.get(r.parent[i], 0) + r.X[i].T @ pa
    return u


def outwards(
    r: Links, A: Swept, u: dict[int, SX], c: Sequence[SX], a0: SX, nodes: Iterable[int], a: dict[int, SX]
) -> tuple[dict[int, SX], dict[int, SX]]:
    """The acceleration sweep: joint and spatial accelerations of the nodes, parents first."""
    a, y = dict(a), {}
    for i in nodes:
        a[i] = r.X[i] @ (a[r.parent[i]] if r.parent[i] >= 0 else a0)
        a[i] = a[i] + c[i] if c else a[i]
        y[i] = A.solve[i](u[i] - A.U[i].T @ a[i])
        a[i] = a[i] + r.S[i] @ y[i]
    return y, a


def constrained_aba(b: Robot, v: SX, tau: SX, iterations: int) -> tuple[SX, SX]:
    """constrainedABA: ABA on stiffened inertias; every further step sweeps the links that support contacts."""
    r, at = b.links, moving(b, v)
    A = swept(r, b.weights(MU))
    p = dict(enumerate(at.p))
    for i, push in b.pushes(MU * at.s).items():
        p[i] = p[i] - push
    u = inwards(r, A, p, at.c, tau, reversed(b.outwards))
    support = [i for i in b.outwards if b.supports[i]]
    y, a = outwards(r, A, u, at.c, -r.gravity, support, {})
    lam = ca.SX(b.m, 1)
    for _ in range(iterations - 1):
        push = MU * (at.s - b.seen(a))
        lam = lam + push
        forces = {i: -force for i, force in b.pushes(push).items()}
        du = inwards(r, A, {i: forces.get(i, ca.SX(6, 1)) for i in support}, (), None, reversed(support))
        dy, da = outwards(r, A, du, (), ca.SX(6, 1), support, {})
        y, a = {i: y[i] + dy[i] for i in support}, {i: a[i] + da[i] for i in support}
    rest = [i for i in b.outwards if not b.supports[i]]
    y = {**y, **outwards(r, A, u, at.c, -r.gravity, rest, a)[0]}
    return ca.vertcat(*[y[i] for i in b.outwards]), lam + MU * (at.s - b.seen(a))


def pv_soft(b: Robot, v: SX, tau: SX, iterations: int) -> tuple[SX, SX]:
    """One step of constrainedABA."""
    return constrained_aba(b, v, tau, 1)


def propagated(b: Robot, A: Swept, K: Sequence[SX]) -> tuple[list[dict[int, SX]], SX]:
    """S' K' of every contact at the joints of its path, and W = sum over joints of (K S) D^-1 (S' K')."""
    r = b.links
    y: list[dict[int, SX]] = []
    for contact, rows in zip(b.held, K, strict=True):
        felt, i, found = rows.T, contact.body, {}
        while i >= 0:
            found[i] = r.S[i].T @ felt
            felt, i = r.X[i].T @ (felt - A.U[i] @ A.solve[i](found[i])), r.parent[i]
        y.append(found)
    W = ca.SX(b.m, b.m)
    for e, (one, mine) in enumerate(zip(b.held, y, strict=True)):
        yielding = {i: A.solve[i](felt) for i, felt in mine.items()}
        for other, theirs in zip(b.held[: e + 1], y[: e + 1], strict=True):
            for i in mine:
                if i in theirs:
                    W[other.place, one.place] += theirs[i].T @ yielding[i]
    return y, ca.triu2symm(ca.triu(W))


def proximal(W: SX, missing: SX, mu: float | None, iterations: int) -> SX:
    """Multipliers: (W + 1/mu) lam+ = missing + lam / mu, or W lam = missing."""
    if mu is None:
        return ca.ldl_solve(missing, *ca.ldl(W))
    factors, lam = ca.ldl(W + ca.SX.eye(W.shape[0]) / mu), ca.SX(missing.shape[0], 1)
    for _ in range(iterations):
        lam = ca.ldl_solve(missing + lam / mu, *factors)
    return lam


def by_links(b: Robot, v: SX, tau: SX, mu: float | None, iterations: int) -> tuple[SX, SX]:
    """The Popov-Vereshchagin sweeps around a dual solver."""
    r, at = b.links, moving(b, v)
    A = swept(r, r.inertia)
    u = inwards(r, A, dict(enumerate(at.p)), at.c, tau, reversed(b.outwards))
    y, W = propagated(b, A, [contact.K for contact in b.held])
    free = outwards(r, A, u, at.c, -r.gravity, [i for i in b.outwards if b.supports[i]], {})[1]
    lam = proximal(W, at.s - b.seen(free), mu, iterations)
    for felt, contact in zip(y, b.held, strict=True):
        for i, force in felt.items():
            u[i] = u[i] + force @ lam[contact.place]
    found, _ = outwards(r, A, u, at.c, -r.gravity, b.outwards, {})
    return ca.vertcat(*[found[i] for i in b.outwards]), lam


def jacobian(b: Robot) -> SX:
    """J (m x nv) of the contacts' rows."""
    r, J = b.links, ca.SX(b.m, b.links.nv)
    for contact in b.held:
        rows, i = contact.K, contact.body
        while i >= 0:
            J[contact.place, r.columns[i]] = rows @ r.S[i]
            rows, i = rows @ r.X[i], r.parent[i]
    return J


def by_joints(b: Robot, v: SX, tau: SX, mu: float, iterations: int) -> tuple[SX, SX]:
    """The joint-space inertia matrix, its LTL factors and the contacts' Jacobian around a dual solver."""
    r, at, above = b.links, moving(b, v), ancestors(b.links)
    H, J = factor(crba(r), above), jacobian(b)
    resting: dict[int, SX] = {}
    for i, p in enumerate(r.parent):
        if b.supports[i]:
            resting[i] = r.X[i] @ (resting[p] if p >= 0 else -r.gravity) + at.c[i]
    D, force = ca.diag(H), tau - rnea(r, v, ca.SX.zeros(r.nv))
    Y = ca.horzcat(*[ca.vertcat(*half_solved(H, above, row.T)) for row in ca.vertsplit(J)])
    free = ca.vertcat(*half_solved(H, above, force))
    W = Y.T @ (Y / ca.repmat(D, 1, b.m))
    lam = proximal(W, at.s - b.seen(resting) - Y.T @ (free / D), mu, iterations)
    return solved(H, above, force + J.T @ lam), lam


def delassus(b: Robot) -> SX:
    """W by PV-OSIM."""
    return propagated(b, swept(b.links, b.links.inertia), [contact.K for contact in b.held])[1]


def delassus_by_joints(b: Robot) -> SX:
    """W by the LTL factors of the joint-space inertia matrix."""
    above = ancestors(b.links)
    H = factor(crba(b.links), above)
    Y = ca.horzcat(*[ca.vertcat(*half_solved(H, above, row.T)) for row in ca.vertsplit(jacobian(b))])
    return Y.T @ (Y / ca.repmat(ca.diag(H), 1, b.m))


def damped(b: Robot) -> SX:
    """(W + 1/mu)^-1 = mu - mu^2 K (M + mu K'K)^-1 K', by PV-OSIM on stiffened inertias."""
    A = swept(b.links, b.weights(MU))
    return MU * ca.SX.eye(b.m) - propagated(b, A, [MU * contact.K for contact in b.held])[1]


DYNAMICS: dict[str, Callable[[Robot, SX, SX, int], tuple[SX, SX]]] = {
    "constrained_aba": constrained_aba,
    "pv_soft": pv_soft,
    "prox_pv": lambda b, v, tau, n: by_links(b, v, tau, MU, n),
    **dict.fromkeys(("prox_ltl", "aba_prox"), lambda b, v, tau, n: by_joints(b, v, tau, MU, n)),
    "pv": lambda b, v, tau, n: by_links(b, v, tau, None, n),
    "pv_early": lambda b, v, tau, n: by_links(b, v, tau, None, n),
}
MATRICES: dict[str, Callable[[Robot], SX]] = {
    "ltl_osim": delassus_by_joints,
    **dict.fromkeys(("aba_osim", "kjr", "efpa", "pv_osim", "pv_osimr"), delassus),
    "caba_osim": damped,
}
ALGORITHMS = (*DYNAMICS, *MATRICES)


def function(model: Model, algorithm: str, contacts: Sequence[Contact], iterations: int) -> Any:
    """The casadi.Function of an algorithm; outputs are dense, a matrix row-major."""
    q, v, tau = (ca.SX.sym(name, size) for name, size in (("q", model.nq), ("v", model.nv), ("tau", model.nv)))
    b = robot(model, q, contacts)
    if algorithm in MATRICES:
        return ca.Function(algorithm, [q], [ca.densify(MATRICES[algorithm](b).T)])
    return ca.Function(algorithm, [q, v, tau], [ca.densify(x) for x in DYNAMICS[algorithm](b, v, tau, iterations)])
