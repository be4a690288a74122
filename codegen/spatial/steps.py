"""The steps of which every coordinate transform is made: turns about one axis, shifts, general turns.

A step leads from an outer frame to an inner one. Motions, forces and free vectors are matrices of columns;
`motion` and `vector` go inwards, `force`, `point`, `outward` and `carry` (of inertias) come outwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from casadi import SX, horzcat, vertcat, vertsplit

from codegen.geometry import Pose, axis_turns
from codegen.spatial.axes import constant, others, skew3


class Transformable(Protocol):
    """An inertia that can be expressed in an outer frame."""

    def turned(self, k: int, c: SX, s: SX) -> Transformable: ...
    def shifted(self, k: int, p: SX) -> Transformable: ...
    def rotated(self, R: SX) -> Transformable: ...
    def measured(self, ratio: float) -> Transformable: ...


I = TypeVar("I", bound=Transformable)


class Step(Protocol):
    """One elementary change of frame; see the module docstring."""

    def vector(self, x: SX) -> SX: ...
    def outward(self, x: SX) -> SX: ...
    def point(self, x: SX) -> SX: ...
    def motion(self, A: SX) -> SX: ...
    def force(self, F: SX) -> SX: ...
    def carry(self, inertia: I) -> I: ...
    def carry_in(self, inertia: I) -> I: ...


def rotate_rows(A: SX, k: int, c: SX, s: SX) -> SX:
    """Rot_k(c, s) A for a matrix A of three rows."""
    i, j = others(k)
    rows = vertsplit(A)
    rows[i], rows[j] = c * rows[i] - s * rows[j], s * rows[i] + c * rows[j]
    return vertcat(*rows)


@dataclass(frozen=True, slots=True)
class AxisRotation:
    """The inner frame is turned by an angle with cosine c and sine s about coordinate axis k."""

    k: int
    c: SX
    s: SX

    def vector(self, x: SX) -> SX:
        return rotate_rows(x, self.k, self.c, -self.s)

    def outward(self, x: SX) -> SX:
        return rotate_rows(x, self.k, self.c, self.s)

    def point(self, x: SX) -> SX:
        return self.outward(x)

    def motion(self, A: SX) -> SX:
        return vertcat(self.vector(A[:3, :]), self.vector(A[3:, :]))

    def force(self, F: SX) -> SX:
        return vertcat(self.outward(F[:3, :]), self.outward(F[3:, :]))

    def carry(self, inertia: I) -> I:
        return inertia.turned(self.k, self.c, self.s)  # type: ignore[return-value]

    def carry_in(self, inertia: I) -> I:
        return inertia.turned(self.k, self.c, -self.s)  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class MeasuredRotation:
    """A turn about a coordinate axis into a frame where lengths are measured by a unit that is `ratio` as long.

    Moments are counted in that unit, angular motions in its inverse; forces and linear motions stay what they are.
    Compliances, which `Transform` takes for inertias that are carried inwards, cannot be carried.
    """

    turn: AxisRotation
    ratio: float

    def vector(self, x: SX) -> SX:
        return self.turn.vector(x)

    def outward(self, x: SX) -> SX:
        return self.turn.outward(x)

    def point(self, x: SX) -> SX:
        return self.ratio * self.turn.point(x)

    def motion(self, A: SX) -> SX:
        return self._turned(A, -self.turn.s)

    def force(self, F: SX) -> SX:
        return self._turned(F, self.turn.s)

    def carry(self, inertia: I) -> I:
        return self.turn.carry(inertia.measured(self.ratio))  # type: ignore[return-value]

    def carry_in(self, inertia: I) -> I:
        raise TypeError("compliances are carried in metres")

    def _turned(self, A: SX, s: SX) -> SX:
        k, c, r = self.turn.k, self.turn.c, self.ratio
        angular = rotate_rows(A[:3, :], k, r * c, r * s)
        angular[k, :] = r * A[k, :]
        return vertcat(angular, rotate_rows(A[3:, :], k, c, s))


@dataclass(frozen=True, slots=True)
class Translation:
    """The inner frame's origin is at p in the outer frame; the axes are parallel."""

    p: SX

    def vector(self, x: SX) -> SX:
        return x

    def outward(self, x: SX) -> SX:
        return x

    def point(self, x: SX) -> SX:
        return self.p + x

    def motion(self, A: SX) -> SX:
        return vertcat(A[:3, :], A[3:, :] - skew3(self.p) @ A[:3, :])

    def force(self, F: SX) -> SX:
        return vertcat(F[:3, :] + skew3(self.p) @ F[3:, :], F[3:, :])

    def carry(self, inertia: I) -> I:
        for k in range(3):
            if not self.p[k].is_zero():
                inertia = inertia.shifted(k, self.p[k])  # type: ignore[assignment]
        return inertia

    def carry_in(self, inertia: I) -> I:
        return Translation(-self.p).carry(inertia)


@dataclass(frozen=True, slots=True)
class Rotation:
    """The inner frame's axes, in outer coordinates, are the columns of R."""

    R: SX

    def vector(self, x: SX) -> SX:
        return self.R.T @ x

    def outward(self, x: SX) -> SX:
        return self.R @ x

    def point(self, x: SX) -> SX:
        return self.R @ x

    def motion(self, A: SX) -> SX:
        return vertcat(self.R.T @ A[:3, :], self.R.T @ A[3:, :])

    def force(self, F: SX) -> SX:
        return vertcat(self.R @ F[:3, :], self.R @ F[3:, :])

    def carry(self, inertia: I) -> I:
        return inertia.rotated(self.R)  # type: ignore[return-value]

    def carry_in(self, inertia: I) -> I:
        return inertia.rotated(self.R.T)  # type: ignore[return-value]


def placement_steps(pose: Pose, translation: SX | None = None) -> tuple[Step, ...]:
    """A constant placement as a shift and single-axis turns; `translation` may replace the offset."""
    turns = (AxisRotation(k, constant(c), constant(s)) for k, c, s in axis_turns(pose.R))
    offset = constant(pose.p) if translation is None else translation
    return (Translation(offset), *turns) if offset.nnz() else tuple(turns)


def congruence(R: SX, A: SX) -> SX:
    """R A R' for a symmetric A, with each entry of the result computed once."""
    half = R @ A
    upper = {(r, c): half[r, :] @ R[c, :].T for r in range(3) for c in range(r, 3)}
    return symmetric(upper)


def symmetric(upper: dict[tuple[int, int], SX]) -> SX:
    """The symmetric 3 x 3 matrix whose entries (r, c), r <= c, are given."""
    rows = [[upper[min(r, c), max(r, c)] for c in range(3)] for r in range(3)]
    return vertcat(*[horzcat(*row) for row in rows])
