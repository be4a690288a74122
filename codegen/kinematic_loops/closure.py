"""Loop closure: positions that close the loops by Newton's method on phi, and what the loops determine, numerically.

A node's implicit constraints may hold equations that say nothing (a spatial closure of a planar linkage); which
ones count, and whether the dependent joints follow from them, is read off K at configurations that close the loops.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from casadi import SX, Function, densify, vertcat

from codegen.errors import RobotError, shown
from codegen.kinematic_loops.constraints import constraints, independence
from codegen.limits import LARGEST, MOST_CLOSED, MOST_TIED
from codegen.model.canonical_frames import canonical
from codegen.spatial import Transform, placement_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codegen.kinematic_loops.constraints import Constraints
    from codegen.model import Loop, Model

CLOSED = 1e-12  # residual (m, rad) from which one more step closes a loop
DISTINCT = 1e-7  # singular values below this part of the largest count as zero
FOLLOWS = 0.1  # random configurations keep the singular values of normalised constraints above this part, if any do
AS_WELL = 1 / 3  # where none do, above this part of the best that was found
SINGULAR = 1e-3  # where none do, neutral configurations are taken down to this part
STEPS = 60
STARTS = 40
SPREAD = 0.8  # how far random starts lie from the neutral configuration (rad, m)


@dataclass(frozen=True, slots=True)
class Closing:
    """The implicit constraints of one node, as numeric functions of its position coordinates.

    `own` are the velocity coordinates' columns of K, `quaternions` the places of quaternions in x, `lengths` those of
    the rows of K at generic configurations: their scale.
    """

    evaluate: Function
    quaternions: tuple[slice, ...]
    own: tuple[int, ...]
    neutral: tuple[float, ...]
    lengths: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        """Number of position coordinates."""
        return int(self.evaluate.size1_in(0))

    def at(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """phi, K and T at x."""
        phi, K, T, _ = self.evaluate(x)
        return np.array(phi).ravel(), np.array(K), np.array(T)

    def faces(self, x: NDArray[np.float64]) -> bool:
        """Whether the axes of all closures agree at a closed x (1); opposed or swapped, they make phi vanish too."""
        return bool((np.array(self.evaluate(x)[3]) > 0.5).all())

    def close(self, x: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The closed configuration that Newton's method reaches from x, or None."""
        for _ in range(STEPS):
            phi, K, T = self.at(x)
            if not np.isfinite(phi).all() or not np.isfinite(K).all():
                return None
            step = T @ (np.linalg.pinv(K, rcond=1e-9) @ phi)
            x = x - step * min(1.0, 0.5 / max(float(np.abs(step).max()), 1e-300))
            for part in self.quaternions:
                x[part] /= np.linalg.norm(x[part])
            if np.abs(phi).max(initial=0.0) < CLOSED:  # before the last step, which leaves rounding
                return x if self.faces(x) else None
        return None

    def start(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """A random configuration near the neutral one, not closed."""
        x = np.array(self.neutral) + rng.uniform(-SPREAD, SPREAD, self.size)
        for part in self.quaternions:
            x[part] /= np.linalg.norm(x[part])
        return x

    def random(self, rng: np.random.Generator) -> NDArray[np.float64] | None:
        """A random closed configuration at which the dependent joints follow well, for this linkage; or None."""
        reached = []
        for _ in range(STARTS):
            x = self.close(self.start(rng))
            if x is None:
                continue
            reached.append((self.follows(x), x))
            if reached[-1][0] > FOLLOWS:
                return x
        least = max(SINGULAR, AS_WELL * max((well for well, _ in reached), default=0.0))
        return next((x for well, x in reached if well > least), None)

    def follows(self, x: NDArray[np.float64]) -> float:
        """How well the dependent joints follow at x: the least singular value of normalised constraints as a part of
        the largest, zero at singular positions.
        """
        lengths = np.array(self.lengths)
        rows = lengths > DISTINCT * lengths.max(initial=0.0)
        K = np.delete(self.at(x)[1], self.own, axis=1)
        wanted = K.shape[1]
        if not wanted:
            return 1.0
        values = np.linalg.svd(K[rows] / lengths[rows, None], compute_uv=False)
        return float(values[wanted - 1] / values[0]) if len(values) >= wanted and values[0] else 0.0

    def scaled(self) -> Closing:
        """The same with its lengths measured."""
        rng = np.random.default_rng(2)
        squares = [(self.at(self.start(rng))[1] ** 2).sum(axis=1) for _ in range(4)]
        return replace(self, lengths=tuple(float(x) for x in np.sqrt(np.mean(squares, axis=0))))


@lru_cache(maxsize=64)
def closings(model: Model) -> tuple[Closing | None, ...]:
    """By nodes: the implicit constraints, or None where nothing has to be closed. RobotError as in `constraints`."""
    inner, moves = canonical(model)

    def transform(b: int, q: SX) -> Transform:
        return Transform(placement_steps(inner.bodies[b].placement) + inner.joints[b].transform(q))

    found: list[Closing | None] = []
    for i, node in enumerate(inner.nodes):
        if not node.loops:
            found.append(None)
            continue
        joints = [inner.joints[b] for b in inner.position_bodies[i]]
        x = SX.sym("x", sum(joint.nq for joint in joints))
        _check_size(model, i)
        own = constraints(inner, i, x, transform, moves)
        _check_bounded(model, i, own, [value for joint in joints for value in joint.neutral()])
        if own.phi.value.is_empty():
            found.append(None)
            continue
        starts = np.cumsum([0, *(joint.nq for joint in joints)])
        found.append(
            Closing(
                Function("closing", [x], [own.phi.value, own.K, own.T, own.facing]),
                tuple(
                    slice(int(at) + joint.nq - 4, int(at) + joint.nq)
                    for at, joint in zip(starts, joints, strict=False)
                    if joint.nq - joint.nv == 1
                ),
                own.own,
                tuple(float(v) for joint in joints for v in joint.neutral()),
            ).scaled()
        )
    return tuple(found)


def _check_size(model: Model, i: int) -> None:
    """RobotError if it would take too long to close the loops of node i."""
    joints = len(model.nodes[i].bodies)
    if joints > MOST_TIED:
        raise RobotError(f"{words(model, i)} ties {joints} joints, more than the {MOST_TIED} that may be")
    rows = sum(_equations(model.loops[n]) for n in model.nodes[i].loops)
    if rows * joints > MOST_CLOSED:
        raise RobotError(
            f"{words(model, i)} closes {joints} joints by {rows} equations, of which the product is more than the "
            f"{MOST_CLOSED} that rigidc takes; tie fewer joints together"
        )


def _equations(loop: Loop) -> int:
    """How many equations an implicit loop states."""
    if loop.explicit:
        return 0
    data = loop.stated
    if loop.kind == "expression":
        return len(data["implicit"])
    return {"point": len(data.get("components", "xyz")), "hinge": 5, "weld": 6}[data["type"]]


def _check_bounded(model: Model, i: int, own: Constraints, start: Sequence[float]) -> None:
    """RobotError if positions and rates of node i are nowhere finite numbers that further arithmetic can bear."""
    rates = Function("rates", [own.x], [densify(vertcat(*own.positions)), densify(own.E), densify(own.K)])
    rng = np.random.default_rng(3)
    for spread in (0.0, SPREAD, SPREAD, SPREAD):
        values = [np.array(value) for value in rates(np.array(start) + rng.uniform(-spread, spread, len(start)))]
        if all(np.abs(value).max(initial=0.0) <= LARGEST for value in values):
            return
    raise RobotError(f"{words(model, i)} gives motions that are not finite or beyond {LARGEST:g}; correct its numbers")


@lru_cache(maxsize=64)
def neutral(model: Model) -> tuple[tuple[float, ...] | None, ...]:
    """By nodes: the closed configuration near neutral, or one from which joints follow; None: nothing to close."""
    rng = np.random.default_rng(0)
    configurations = []
    for i, closing in enumerate(closings(model)):
        x = None if closing is None else _regular(closing, rng)
        if closing is not None and x is None:
            raise RobotError(f"{words(model, i)} found no configuration that closes it; check its two ends")
        configurations.append(None if x is None else tuple(float(v) for v in x))
    return tuple(configurations)


def _regular(closing: Closing, rng: np.random.Generator) -> NDArray[np.float64] | None:
    """The closed configuration near neutral; a random one if that is singular, or if joints follow well there alone."""
    x = closing.close(np.array(closing.neutral))
    if x is not None and closing.follows(x) > FOLLOWS:
        return x
    other = closing.random(rng)
    if other is None or (x is not None and closing.follows(x) > SINGULAR and closing.follows(other) <= FOLLOWS):
        return x
    return other


@lru_cache(maxsize=64)
def independent_rows(model: Model) -> tuple[tuple[int, ...], ...]:
    """By nodes: the rows of phi that determine the dependent joints. RobotError if these do not follow."""
    chosen: list[tuple[int, ...]] = []
    for i, (closing, start) in enumerate(zip(closings(model), neutral(model), strict=True)):
        if closing is None or start is None:
            chosen.append(())
            continue
        points = points_of(closing, np.array(start))
        ranks = [rank_of(K) for K in points]
        K, rank = points[int(np.argmax(ranks))], max(ranks)
        if rank == K.shape[1]:
            raise RobotError(f"{words(model, i)} is rigid: it leaves nothing to move; make its joints fixed")
        dependent = np.delete(K, closing.own, axis=1)
        if dependent.shape[1] != rank:
            raise RobotError(_miscounted(model, i, rank, K.shape[1], dependent.shape[1]))
        if rank_of(dependent) < rank:
            raise RobotError(
                f"{words(model, i)} does not move its dependent joints; name other independent joints: "
                f"{_shown_on_first(model, i)}"
            )
        chosen.append(_spread(K, rank))
    return tuple(chosen)


def _miscounted(model: Model, i: int, rank: int, motions: int, following: int) -> str:
    """Why so many joint motions cannot follow, and what helps: names do not where joints have several coordinates."""
    free, verb = motions - rank, "is" if following == 1 else "are"
    determines = f"{words(model, i)} determines {rank} of {motions} joint motions, but {following}"
    if all(model.joints[b].nv == 1 for b in model.position_bodies[i]):
        joints, names = (f"joint{'' if number == 1 else 's'}" for number in (following, free))
        return f"{determines} {joints} {verb} to follow; name {free} independent {names}: {_shown_on_first(model, i)}"
    return (
        f"{determines} {verb} to follow (floating joints cannot, spherical and planar ones only whole); remove the "
        "loop (in MJCF: the equality), hold frames that it ties to the world by contacts, or name other independent "
        "joints (in JSON or URDF+)"
    )


def _shown_on_first(model: Model, i: int) -> str:
    """How files say which joints of node i are independent."""
    return independence(model.bodies[model.position_bodies[i][0]].joint.name)


def points_of(closing: Closing, start: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """K at the neutral configuration and at a few random closed ones."""
    rng = np.random.default_rng(1)
    found = [start, *(closing.close(closing.start(rng)) for _ in range(4))]
    return [closing.at(x)[1] for x in found if x is not None]


def rank_of(K: NDArray[np.float64]) -> int:
    """How many rows of K say something of their own."""
    values = np.linalg.svd(K, compute_uv=False)
    return int((values > DISTINCT * max(float(values.max(initial=0.0)), 1e-300)).sum()) if values.size else 0


def _spread(A: NDArray[np.float64], number: int) -> tuple[int, ...]:
    """The rows of A, as many as asked, that are farthest from each other's span; in order."""
    left, rows = A.copy(), []
    for _ in range(number):
        row = int(np.argmax(np.linalg.norm(left, axis=1)))
        unit = left[row] / np.linalg.norm(left[row])
        left = left - np.outer(left @ unit, unit)
        left[row] = 0.0
        rows.append(row)
    return tuple(sorted(rows))


def words(model: Model, i: int) -> str:
    """How messages call the loops of node i."""
    names = [shown(model.loops[n].name) for n in model.nodes[i].loops]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{model.name}: loop {', '.join(names[:5])}{more}"


def closed_positions(model: Model, rng: np.random.Generator | None) -> list[tuple[slice, NDArray[np.float64]]]:
    """For every node with implicit loops its place in q and a closed configuration: random, or without rng neutral."""
    found, slices, bodies = [], model.q_slices, model.position_bodies
    for i, (closing, still) in enumerate(zip(closings(model), neutral(model), strict=True)):
        if closing is None or still is None:
            continue
        x = None if rng is None else closing.random(rng)
        places = [slices[b] for b in bodies[i]]
        found.append((slice(places[0].start, places[-1].stop), np.array(still) if x is None else x))
    return found
