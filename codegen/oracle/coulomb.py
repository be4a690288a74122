"""Coulomb's law for the oracle: contacts that break, stick and slip, point after point until all obey it.

The law may have several solutions where normal and tangential motions are closely coupled (Painleve's paradox). That
one counts which sweeps over the points come to from no forces, if each point breaks away where it may, or else sticks,
or else slides. What slides is found among all roots of the quartic equation (Bonnefon and Daviet 2011), and the law
itself is checked at the end: forces y are the nearest within their cones to y - z, with z = c + W y and De Saxce's
correction of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from codegen.errors import UnsuitedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.model import Contact

    Array = NDArray[np.float64]
    Point = tuple[slice, float | None]

SWEEPS, SETTLED, CHECKED = 3000, 1e-13, 1e-10  # at most; what motions lack of the law beside the largest, and may lack
NEWTON, STUCK = 3, 1e-9  # steps of complex numbers; part of a cone's radius by which forces that stick are within
RANK = 1e-12  # of compliances beside the largest: rows that depend on each other


def multipliers(W: Array, c: Array, contacts: Sequence[Contact]) -> Array:
    """Forces (m) of contacts whose rows move as c (m) + W (m, m) times these; UnsuitedError if they do not settle.

    Of numbers with tiny imaginary parts (complex steps) points keep to the branch that real ones take.
    """
    if np.iscomplexobj(c):
        return _along_branches(W, c, multipliers(W.real, c.real, contacts), contacts)
    points, y, scale = _points(contacts), np.zeros_like(c), float(np.abs(c).max(initial=0.0))
    for _ in range(SWEEPS):
        for rows, friction in points:
            own = W[rows, rows]
            others = c[rows] + W[rows] @ y - own @ y[rows]
            y[rows] = -np.linalg.pinv(own, RANK) @ others if friction is None else _force(own, others, friction)
        if lack(W, c, y, contacts) <= SETTLED * scale:
            return y
    if lack(W, c, y, contacts) > CHECKED * scale:
        raise UnsuitedError("forces of contacts with friction do not settle; hold fewer points")
    return y


def lack(W: Array, c: Array, y: Array, contacts: Sequence[Contact]) -> float:
    """What forces lack of the law, in units of motion."""
    motion, found = c + W @ y, 0.0
    for rows, friction in _points(contacts):
        z, size = motion[rows].copy(), float(np.trace(W[rows, rows])) / 3
        if friction is not None:
            z[2] += friction * np.hypot(z[0], z[1])
            z = size * (y[rows] - _nearest(y[rows] - z / size, friction))
        found = max(found, float(np.abs(z).max()))
    return found


def _along_branches(W: Array, c: Array, real: Array, contacts: Sequence[Contact]) -> Array:
    """Forces by Newton's method from real ones, with the equations of breaking, sticking and sliding as they are."""
    points, y = [(rows, friction, _kind(real[rows], friction)) for rows, friction in _points(contacts)], real
    for _ in range(NEWTON):
        motion, parts = c + W @ y, list[tuple[NDArray[Any], NDArray[Any]]]()
        for rows, friction, kind in points:
            own = np.eye(len(y))[rows]
            if kind == "breaks":
                parts.append((y[rows], own))
            elif kind == "sticks":
                parts.append((motion[rows], W[rows]))
            else:
                assert friction is not None
                parts.append(_sliding(motion[rows], y[rows], W[rows], own, friction))
        lack, slope = (np.concatenate(own) for own in zip(*parts, strict=True))
        y = y - np.linalg.solve(slope, lack)
    return y


def _kind(y: Array, friction: float | None) -> str:
    """What a point with these forces does."""
    if friction is None or np.hypot(y[0], y[1]) < friction * y[2] * (1 - STUCK):
        return "sticks"
    return "slides" if y.any() else "breaks"


def _sliding(m: Array, f: Array, W: Array, own: Array, friction: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """What a sliding point lacks (3), forces f on the cone against its motion m along the ground, and its derivative.

    W and `own` (3, m) are derivatives of m and f by all forces.
    """
    if not friction:
        return np.array([f[0], f[1], m[2]]), np.vstack([own[:2], W[2:]])
    cone, across = f[0] ** 2 + f[1] ** 2 - (friction * f[2]) ** 2, m[0] * f[1] - m[1] * f[0]
    by_cone = 2 * (f[0] * own[0] + f[1] * own[1] - friction**2 * f[2] * own[2])
    by_across = f[1] * W[0] - f[0] * W[1] + m[0] * own[1] - m[1] * own[0]
    return np.array([cone, across, m[2]]), np.vstack([by_cone, by_across, W[2]])


def _points(contacts: Sequence[Contact]) -> list[Point]:
    """The rows of every point among those of all, and its friction."""
    found: list[Point] = []
    start = 0
    for contact in contacts:
        for _, rows in contact.parts:
            found.append((slice(start + rows.start, start + rows.stop), contact.friction))
        start += len(contact.rows)
    return found


def _nearest(x: Array, friction: float) -> Array:
    """The nearest forces within a cone."""
    t, n = float(np.hypot(x[0], x[1])), float(x[2])
    if t <= friction * n:
        return x
    along = (n + friction * t) / (1 + friction**2)
    return np.array([*(x[:2] / t * friction * along), along], float) if along > 0 else np.zeros(3)


def _force(W: Array, c: Array, friction: float) -> Array:
    """The forces of a point that moves as c (3) + W (3, 3) times these."""
    if c[2] >= 0:
        return np.zeros(3)
    held: Array = np.linalg.solve(W, -c).astype(float)
    if np.hypot(held[0], held[1]) <= friction * held[2]:
        return held
    if not friction:
        return np.array([0.0, 0.0, -c[2] / W[2, 2]])
    S, r = W[:2, :2] - np.outer(W[:2, 2], W[2, :2]) / W[2, 2], c[:2] - W[:2, 2] * c[2] / W[2, 2]
    a, d = Polynomial([S[0, 0], 1]), Polynomial([S[1, 1], 1])
    x, y, size = S[0, 1] * r[1] - d * r[0], S[0, 1] * r[0] - a * r[1], a * d - S[0, 1] ** 2
    z = (-c[2] * size - W[2, 0] * x - W[2, 1] * y) / W[2, 2]
    roots = (x * x + y * y - friction**2 * z * z).roots()
    for alpha in sorted(root.real for root in roots if abs(root.imag) <= 1e-9 * abs(root) and root.real > 0):
        if z(alpha) / size(alpha) > 0:
            return np.array([x(alpha), y(alpha), z(alpha)], float) / float(size(alpha))
    raise UnsuitedError("a point in contact neither sticks nor slides; change the state")
