"""Exponential-map Jacobians of SO(2) and SO(3), exact and finite at zero rotation.

Motions that turn and slide (SE(2), SE(3)) have theirs by those of the turn (Sola, Deray, Atchuthan, A micro Lie theory
for state estimation in robotics, arXiv 1812.01537, appendices C and D).
Near zero the closed forms divide by a small angle, so a Taylor polynomial of the squared angle takes over;
at the switch (0.05 rad squared angle 0.0025) both agree to machine precision.
"""

from __future__ import annotations

from collections.abc import Callable

from casadi import SX, atan2, blockcat, cos, dot, if_else, jacobian, logic_and, sin, sqrt, substitute, vertcat

from codegen.spatial.axes import skew3

SMALL = 2.5e-3
TINY = 1e-37  # keeps half a turn finite, in single precision too


def switch(squared: SX, small: SX, large: SX) -> SX:
    """`small` where the squared angle is below the switch, `large` elsewhere."""
    return if_else(squared < SMALL, small, large)


def safe(squared: SX) -> SX:
    """The squared angle, kept away from zero so that the branch not taken stays finite."""
    return if_else(squared < SMALL, 1.0, squared)


def series(x: SX, *coefficients: float) -> SX:
    """A polynomial in x, lowest coefficient first, by Horner's rule."""
    value = SX(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = value * x + coefficient
    return value


def sinc(squared: SX) -> SX:
    """sin(t) / t from t squared."""
    t = sqrt(safe(squared))
    return switch(squared, series(squared, 1, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880), sin(t) / t)


def cosc(squared: SX) -> SX:
    """(1 - cos t) / t^2 from t squared."""
    half = sinc(squared / 4)
    return half * half / 2


def so2_jacobian(angle: SX) -> SX:
    """The mean rotation over a turn by `angle` at constant rate (2 x 2): body steps to world steps."""
    squared = angle * angle
    a, b = sinc(squared), angle * cosc(squared)
    J = SX(2, 2)
    J[0, 0], J[0, 1], J[1, 0], J[1, 1] = a, -b, b, a
    return J


def so3_jacobian(w: SX) -> SX:
    """The mean rotation over a turn by the rotation vector w (3 x 3), in the axes before the turn."""
    squared = dot(w, w)
    t = sqrt(safe(squared))
    third = switch(
        squared,
        series(squared, 1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800),
        (t - sin(t)) / (t * t * t),
    )
    W = skew3(w)
    return SX.eye(3) + cosc(squared) * W + third * (W @ W)


def so3_jacobian_inverse(w: SX) -> SX:
    """The inverse of `so3_jacobian`; regular for rotations of less than a full turn."""
    squared = dot(w, w)
    half = sqrt(safe(squared)) / 2
    term = switch(
        squared,
        series(squared, 1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160),
        (1 - half * cos(half) / sin(half)) / safe(squared),
    )
    W = skew3(w)
    return SX.eye(3) - W / 2 + term * (W @ W)


def so3_exp(w: SX) -> SX:
    """The rotation matrix of the rotation vector w."""
    squared = dot(w, w)
    W = skew3(w)
    return SX.eye(3) + sinc(squared) * W + cosc(squared) * (W @ W)


def slope(mean: Callable[[SX], SX], w: SX, step: SX) -> SX:
    """The derivative of mean(w) step by the turn w, for a constant step."""
    turn, constant = SX.sym("turn", w.size1()), SX.sym("step", step.size1())
    return substitute(jacobian(mean(turn) @ constant, turn), vertcat(turn, constant), vertcat(w, step))


Pair = tuple[SX, SX]


def exp_derivatives(R: SX, J: SX, N: SX, P: SX, turn: Pair) -> Pair:
    """How a motion's end, in the axes there, changes with its start and with the constant twist [v; w] up to there.

    R and J = mean(w) are the rotation and its mean, N = d(J v)/dw; P moves the end by -P d where the start turns by d;
    `turn` are the same derivatives of the turn alone.
    """
    rows, columns = P.size1(), P.size2()
    by_start, by_twist = turn
    none = SX(columns, rows)
    return blockcat([[R.T, -R.T @ P], [none, by_start]]), blockcat([[J.T, R.T @ N], [none, by_twist]])


def log_derivatives(inverse: SX, N: SX, P: SX, turn: Pair) -> Pair:
    """How the constant twist [v; w] from a start to an end changes with these, each moved in its own axes.

    `inverse` is that of J; N and P are as for `exp_derivatives`; `turn` are the same derivatives of the turn alone.
    """
    rows, columns = P.size1(), P.size2()
    by_start, by_end = turn
    none = SX(columns, rows)
    return (
        blockcat([[-inverse, inverse @ (P - N @ by_start)], [none, by_start]]),
        blockcat([[inverse.T, -inverse @ N @ by_end], [none, by_end]]),
    )


def exp_quaternion(w: SX) -> SX:
    """The unit quaternion (x, y, z, w) of the rotation vector w."""
    squared = dot(w, w) / 4
    return vertcat(w * (sinc(squared) / 2), 1 - squared * cosc(squared))


def so3_log(R: SX) -> SX:
    """The rotation vector of a rotation matrix, of less than half a turn; at half a turn finite, but of any length."""
    twice = vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    squared, c = dot(twice, twice) / 4, (R[0, 0] + R[1, 1] + R[2, 2] - 1) / 2
    near = logic_and(squared < SMALL, c > 0)
    sine = sqrt(if_else(near, 1.0, squared) + TINY)
    # half of asin(s)/s as a series in s squared
    ratio = series(squared, 1 / 2, 1 / 12, 3 / 80, 5 / 224, 35 / 2304, 63 / 5632, 231 / 26624)
    return if_else(near, ratio, atan2(sine, c) / (2 * sine)) * twice
