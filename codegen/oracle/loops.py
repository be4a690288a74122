"""Algorithms for robots with loops: the spanning tree of `codegen.oracle.dynamics`, and its constraints K qdot = 0.

Forward dynamics are the linear equations M qddot + K' f = forces, K qddot = k in the coordinates of all joints;
inverse dynamics go through G, which solves K qdot = 0 for given independent velocities. tau acts on the
independent joints alone. A tree has no constraints, and all this reduces to its own equations. Shapes are those of
one state; inputs with leading batch dimensions put these in front.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.errors import RobotError
from codegen.model import Node
from codegen.oracle import dynamics, kinematics, manifold, stated
from codegen.oracle.batches import apply, below, end_to_end, joined, numbers, solved, transposed
from codegen.oracle.constraints import Tie, spanning_positions, ties

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Contact, Model

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Closed:
    """The spanning tree of a robot at a configuration that closes its loops.

    q (nq of the tree): positions of all joints. K (m, n): constraints on the rates of all n joint coordinates,
    orthonormal rows; `fold` (m, rows) makes of the right-hand sides of all constraint rows those of K; the columns of
    `span` (rows, m) span what these can be. P (nv, n)
    picks the robot's velocities from these rates, G (n, nv) gives the rates back.
    """

    tree: Model
    tied: tuple[Tie, ...]
    at: Mapping[int, Array]
    q: Array
    K: Array
    fold: Array
    span: Array
    P: Array
    G: Array

    def k(self, rates: Array) -> Array:
        """The right-hand side of K qddot = k at joint rates (n)."""
        return apply(self.fold, self._bends(rates))

    def contradiction(self, rates: Array) -> Array:
        """The norm of what no accelerations can give to constraints at joint rates (n): zero unless loops can only
        begin to move so, at a configuration that is singular.
        """
        bends = self._bends(rates)
        return np.asarray(np.linalg.norm(bends - apply(self.span, apply(transposed(self.span), bends)), axis=-1))

    def _bends(self, rates: Array) -> Array:
        by_body = {b: rates[..., place] for b, place in enumerate(self.tree.v_slices)}
        return joined([tie.bend(self.at, by_body) for tie in self.tied], rates.shape[:-1])

    def g(self, rates: Array) -> Array:
        """Accelerations of all joints (n) at joint rates (n) while the robot's own velocities stay constant."""
        known = joined([self.k(rates), np.zeros(len(self.P))], rates.shape[:-1])
        return solved(below(self.K, self.P), known)

    def solve(self, M: Array, forces: Array, k: Array) -> Array:
        """qddot (n, c) of M qddot + K' f = forces (n, c), K qddot = k (m, c)."""
        m, n = self.K.shape[-2:]
        scale = np.abs(M).max(axis=(-1, -2), keepdims=True, initial=1e-300)
        system = np.zeros((*M.shape[:-2], n + m, n + m))
        system[..., :n, :n], system[..., n:, :n], system[..., :n, n:] = M / scale, self.K, transposed(self.K)
        return np.asarray(np.linalg.solve(system, below(forces / scale, k))[..., :n, :])


def closed(model: Model, q: ArrayLike) -> Closed:
    """The spanning tree at configuration q (nq), with its constraints."""
    nodes = tuple(Node((b,), body.parent) for b, body in enumerate(model.bodies))
    tree, tied = replace(model, nodes=nodes, loops=()), ties(model)
    q = numbers(q)
    at, batch = spanning_positions(model, tied, q), q.shape[:-1]
    places = tree.v_slices
    blocks = [tie.jacobian(at) for tie in tied]
    rows = [block[tie.bodies[0]].shape[-2] for block, tie in zip(blocks, tied, strict=True)]
    stated, row = np.zeros((*batch, sum(rows), tree.nv)), 0
    for block, height in zip(blocks, rows, strict=True):
        for b, part in block.items():
            stated[..., row : row + height, places[b]] = part
        row += height
    left, sizes, right = np.linalg.svd(stated, full_matrices=False)
    rank = tree.nv - model.nv
    if sizes.shape[-1] < rank or (rank and (sizes[..., rank - 1] < 1e-12 * sizes[..., 0]).any()):
        raise RobotError(f"{model.name}: the loops do not determine {rank} joint rates at this configuration")
    K, P = right[..., :rank, :], _own(model, tree)
    given = np.vstack([np.zeros((rank, model.nv)), np.eye(model.nv)])
    return Closed(
        tree=tree,
        tied=tied,
        at=at,
        q=joined([at[b] for b in range(len(model.bodies))], batch),
        K=K,
        fold=transposed(left[..., :rank]) / sizes[..., :rank, None],
        span=left[..., :rank],
        P=P,
        G=np.asarray(np.linalg.solve(below(K, P), given)),
    )


def _own(model: Model, tree: Model) -> Array:
    """P: the robot's velocities from the rates of all joints, these over their stated scales."""
    P, scale = np.zeros((model.nv, tree.nv)), scales(model)
    for own, place in zip(model.v_slices, tree.v_slices, strict=True):
        for n in range(own.stop - own.start):
            P[own.start + n, place.start + n] = 1.0 / scale[own.start + n]
    return P


def scales(model: Model) -> Array:
    """For every velocity coordinate (nv) the factor from it to its joint's rate."""
    factor: dict[str, float] = {}
    for loop in model.loops:
        factor |= zip(loop.independent, loop.stated.get("scale", ()), strict=False)
    scale = np.ones(model.nv)
    for body, place in zip(model.bodies, model.v_slices, strict=True):
        scale[place] = factor.get(body.joint.name, 1.0)
    return scale


def _bias(robot: Closed, v: ArrayLike, f_ext: ArrayLike | None, external: Sequence[str]) -> tuple[Array, Array, Array]:
    """M, bias and rates of the spanning tree."""
    rates = apply(robot.G, np.asarray(v, float))
    return *dynamics.equations(robot.tree, robot.q, rates, f_ext, external), rates


def rnea(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    external: Sequence[str] = (),
) -> Array:
    """The joint forces tau (nv) that produce the accelerations a (nv)."""
    robot = closed(model, q)
    M, bias, rates = _bias(robot, v, f_ext, external)
    accelerations = apply(robot.G, np.asarray(a, float)) + robot.g(rates)
    return apply(transposed(robot.G), apply(M, accelerations) + bias)


def crba(model: Model, q: ArrayLike) -> Array:
    """The inertia matrix (nv, nv) in the robot's own velocities."""
    robot = closed(model, q)
    return np.asarray(transposed(robot.G) @ dynamics.crba(robot.tree, robot.q) @ robot.G)


def aba(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    external: Sequence[str] = (),
) -> Array:
    """The accelerations (nv) that the joint forces tau (nv) produce."""
    robot = closed(model, q)
    M, bias, rates = _bias(robot, v, f_ext, external)
    forces = np.asarray(tau, float) @ robot.P - bias
    return apply(robot.P, robot.solve(M, forces[..., None], robot.k(rates)[..., None])[..., 0])


def minverse(model: Model, q: ArrayLike) -> Array:
    """The inverse of the inertia matrix (nv, nv)."""
    robot = closed(model, q)
    still = np.zeros((robot.K.shape[-2], model.nv))
    return np.asarray(robot.P @ robot.solve(dynamics.crba(robot.tree, robot.q), robot.P.T, still))


def fk(model: Model, q: ArrayLike, v: ArrayLike, *, frames: Sequence[str]) -> tuple[Array, Array, Array]:
    """Positions (k, 3), rotations (k, 3, 3), velocities (k, 6) of `frames`."""
    robot = closed(model, q)
    return kinematics.fk(robot.tree, robot.q, apply(robot.G, numbers(v)), frames=frames)


def jacobian(model: Model, q: ArrayLike, *, frames: Sequence[str]) -> Array:
    """Jacobians (k, 6, nv), rows [linear; angular], of the origins of `frames`."""
    robot = closed(model, q)
    return kinematics.jacobian(robot.tree, robot.q, frames=frames) @ robot.G[..., None, :, :]


def delassus(model: Model, q: ArrayLike, *, contacts: Sequence[Contact]) -> Array:
    """W = J M^-1 J' (m, m) over the rows of all contacts."""
    robot = closed(model, q)
    J = stated.jacobian(robot.tree, kinematics.motions(robot.tree, robot.q), contacts)
    still = np.zeros((robot.K.shape[-2], J.shape[-2]))
    response = robot.solve(dynamics.crba(robot.tree, robot.q), transposed(J), still)
    return np.asarray(J @ response)


def integrate(model: Model, q: ArrayLike, dv: ArrayLike) -> Array:
    """The configuration (nq) that the constant velocity dv (nv) reaches in unit time.

    All joints go on at the rates that they start with; joints that implicit loops give then close these.
    """
    robot, q = closed(model, q), np.asarray(q, float)
    rates = apply(robot.G, np.asarray(dv, float))
    places = zip(model.bodies, model.q_slices, robot.tree.v_slices, strict=True)
    steps = [(body.joint.type, q[..., i], rates[..., j]) for body, i, j in places if i.stop > i.start]
    reached = end_to_end(*(manifold.moved(kind, model.convention, start, rate) for kind, start, rate in steps))
    return reached if all(loop.explicit for loop in model.loops) else project(model, reached)[0]


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> Array:
    """The shortest dv (nv) that takes the independent joints from q0 to q1 in unit time."""
    q0, q1 = np.asarray(q0, float), np.asarray(q1, float)
    places = zip(model.bodies, model.q_slices, model.v_slices, strict=True)
    steps = [(body.joint.type, q0[..., i], q1[..., i]) for body, i, j in places if j.stop > j.start]
    turns = [manifold.between(kind, model.convention, start, end) for kind, start, end in steps]
    return np.asarray(end_to_end(*turns) / scales(model))


def _newton_step(tied: Sequence[Tie], at: Mapping[int, Array], moving: Sequence[int]) -> list[Array]:
    """How far the joints of these bodies, one by one, go to close all loops; least squares, the shortest."""
    blocks = [tie.jacobian(at) for tie in tied]
    widths = {b: part.shape[-1] for block in blocks for b, part in block.items()}
    K = below(*(_columns(block, {b: widths[b] for b in moving}) for block in blocks))
    gaps = end_to_end(*(tie.residual(at).real for tie in tied))
    step = apply(np.linalg.pinv(K, rcond=1e-10), -gaps)
    return np.split(step, np.cumsum([widths[b] for b in moving])[:-1], axis=-1)


def _columns(block: Mapping[int, Array], widths: Mapping[int, int]) -> Array:
    """The Jacobian of one loop with respect to bodies' joints of these widths: zeros for those that it does not tie."""
    shape = next(iter(block.values())).shape[:-1]
    return np.concatenate([block.get(b, np.zeros((*shape, width))) for b, width in widths.items()], axis=-1)


def project(model: Model, guess: ArrayLike, steps: int = 50) -> tuple[Array, Array]:
    """The closed configuration (nq) that Newton's method reaches by dependent joints alone, and what is left open."""
    tied, own, kinds = ties(model), model.q_slices, model.bodies
    driving = {b for b, place in enumerate(model.v_slices) if place.stop > place.start}
    at = spanning_positions(model, tied, np.asarray(guess, float))
    moving = sorted({b for tie in tied for b in tie.bodies} - driving)
    size = np.inf
    for _ in range(steps if moving else 0):
        step = _newton_step(tied, at, moving)
        at |= {
            b: manifold.moved(kinds[b].joint.type, model.convention, at[b], part)
            for b, part in zip(moving, step, strict=True)
        }
        last, size = size, max(float(np.abs(part).max()) for part in step)
        if size < 1e-15 or last / 2 < size < 1e-12:  # rounding: steps get no shorter
            break
    q = end_to_end(*(at[b] for b, place in enumerate(own) if place.stop > place.start))
    left = joined([tie.residual(at).real for tie in tied], q.shape[:-1])
    return q, np.asarray(np.linalg.norm(left, axis=-1))
