"""Coulomb's law at one point: forces within a cone, Signorini's condition along its axis, sliding against the force.

A point whose rows x, y, z (z along the axis) move as c + W lam under its forces lam breaks away (lam = 0), sticks (c +
W lam = 0 within the cone |lam_t| <= friction lam_z), or slides. Then lam is on the cone, z stays, and the tangential
motion is opposed to the force, c_t + W lam = -alpha lam_t with alpha > 0. Without z, and along it,

    (S + alpha) lam_t = -r,    lam_z = -(c_z + W_zt lam_t) / W_zz,    friction lam_z = |lam_t|,

with the Schur complement S = W_tt - W_tz W_zt / W_zz and r = c_t - W_tz c_z / W_zz. That is one equation of alpha
(Bonnefon and Daviet, Quartic formulation of Coulomb 3D frictional contact, 2011), friction lam_z / |lam_t| = 1, whose
left side is below one at alpha = 0, grows without bound, and almost linearly: Newton's method settles in a few steps.
Times the determinant of S + alpha, lam_z and |lam_t| are a polynomial of second order and the root of one.
"""

from __future__ import annotations

from casadi import SX, diag, dot, fmax, horzcat, if_else, logic_and, logic_not, norm_2, sqrt, sumsqr, trace, vertcat

from codegen.spatial import divisor
from codegen.spatial.solve import VANISHING

NEWTON = 8  # steps, each of which squares the error: rounding is left where forces and motions are closely coupled, too
TINY = 1e-30  # keeps forces of length zero from dividing by it


def cone_force(W: SX, c: SX, friction: float) -> SX:
    """The forces (3, z last) of a point that moves as c (3) + W (3 x 3) times these.

    Directions in which nothing can move the point are left out, and the status tells.
    """
    W_zz, c_z = divisor(W[2, 2], W[2, 2], VANISHING * trace(W)), c[2]
    if not friction:
        return vertcat(0, 0, fmax(-c_z / W_zz, 0))
    w, z0 = W[:2, 2] / W_zz, -c_z / W_zz
    S, r = W[:2, :2] - w @ W[2, :2], c[:2] + W[:2, 2] * z0
    det, x = S[0, 0] * S[1, 1] - S[0, 1] ** 2, vertcat(S[0, 1] * r[1] - S[1, 1] * r[0], S[0, 1] * r[0] - S[0, 0] * r[1])

    def forces(alpha: SX, size: SX) -> tuple[SX, SX]:
        t = (x - alpha * r) / size
        return t, z0 - dot(w, t)

    t, z = forces(SX(0), divisor(det, det, VANISHING * trace(W) ** 2))
    stick, sticks = vertcat(t, z), norm_2(t) <= friction * z
    # polynomials of alpha: P is friction lam_z det(S + alpha), L the square of |lam_t| det(S + alpha), h is L' / 2
    p0, p1, p2 = friction * (z0 * det - dot(w, x)), friction * (z0 * trace(S) + dot(w, r)), friction * z0
    l0, l1, l2 = sumsqr(x), -dot(x, r), sumsqr(r)
    # Newton's method, and halves of the interval that holds the root where it would leave this
    low, high = SX(0), norm_2(r) * (1 + friction * norm_2(w)) / (TINY + p2)
    alpha = low
    for _ in range(NEWTON):
        p, h = p1 + alpha * p2, l1 + alpha * l2
        P, L = p0 + alpha * p, l0 + alpha * (l1 + h)
        length = sqrt(L)
        low, high = if_else(length > P, alpha, low), if_else(length > P, high, alpha)
        near = alpha + (length - P) / (p + alpha * p2 - P * h / (L + TINY))
        alpha = if_else(logic_and(low <= near, near <= high), near, (low + high) / 2)
    t, z = forces(alpha, det + alpha * (trace(S) + alpha))
    slide = vertcat(t * (friction * z / (norm_2(t) + TINY)), z)
    return if_else(c_z < 0, if_else(sticks, stick, slide), 0)


def on_cone(x: SX, friction: float) -> SX:
    """The point of the cone that is nearest to x (3, z last)."""
    t, z, length = x[:2], x[2], norm_2(x[:2])
    along = (z + friction * length) / (1 + friction**2)
    side = vertcat(t * (friction * along / (length + TINY)), along)
    return if_else(length <= friction * z, x, if_else(friction * length <= -z, 0, side))


def corrected(motion: SX, friction: float) -> SX:
    """The motion of a point (3), its z larger by friction times the speed along the ground (De Saxce's correction)."""
    return vertcat(motion[:2], motion[2] + friction * norm_2(motion[:2]))


def lack(W: SX, motion: SX, lam: SX, friction: float | None) -> SX:
    """What forces (3) of a point with this motion (3) lack of the law, in units of motion; zero if they obey it.

    lam is nearest on the cone to lam - motion' (`corrected`). Rows of a contact without friction (None) lack what they
    move.
    """
    if friction is None:
        return motion
    size = trace(W) / 3
    return size * (lam - on_cone(lam - corrected(motion, friction) / size, friction))


def branch(W: SX, motion: SX, lam: SX, friction: float | None) -> tuple[SX, SX, SX]:
    """The law as a linear equation, E T motion + H T lam = 0 (3): T, E and H (3 x 3), which are also its derivative.

    T turns x, y to the direction of sliding and across it. A point that breaks away has lam = 0, one that sticks motion
    = 0. One that slides has lam_t = friction lam_z, motion_z = 0, and its motion against the force: across that

        |lam_t| motion + |motion_t| lam = 0.

    Between two of these, where the law has no derivative, it is that of one.
    """
    if friction is None:
        return SX.eye(lam.size1()), SX.eye(lam.size1()), SX(lam.size1(), lam.size1())
    size, speed = trace(W) / 3, norm_2(motion[:2])
    x = lam - corrected(motion, friction) / size
    length = norm_2(x[:2])
    breaks = friction * length <= -x[2]
    sticks = logic_and(length <= friction * x[2], logic_not(breaks)) if friction else SX(0)
    slides, given = 1 - breaks - sticks, speed / (speed + size * norm_2(lam[:2]) + TINY)
    along, across = (if_else(slides, x[n] / (length + TINY), not n) for n in range(2)) if friction else (SX(1), SX(0))
    T = vertcat(horzcat(along, across, 0), horzcat(-across, along, 0), SX([[0, 0, 1]]))
    E = diag(vertcat(sticks, sticks + slides * (1 - given), 1 - breaks))
    H = diag(vertcat(1 - sticks, breaks + slides * given, breaks))
    H[0, 2] = -friction * slides
    return T, E, size * H
