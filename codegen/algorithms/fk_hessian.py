"""Second derivatives of weighted poses and velocities of named frames.

`codegen.recursions.moved_points`: a frame's origin is a point, its axes are directions. World axes; gravity plays no
part. Derivatives by q are along the tangents of joints; velocities are linear in v.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from casadi import SX, trace, vertcat

from codegen.recursions.moved_points import curvature, displaced, moving
from codegen.recursions.tree import Tree
from codegen.spatial import constant, skew3, zeros


@dataclass(frozen=True, slots=True)
class Weighted:
    """Sums over points at r with velocity u on bodies that turn with w: weights g of r, f of u, t of w (3 each).

    `rg` is the sum of r g' and of R_k g_k' over axes R_k with weights g_k; `rf`, `uf` and `wt` are of r f', u f', w t'.
    """

    g: SX
    f: SX
    t: SX
    rg: SX
    rf: SX
    uf: SX
    wt: SX

    @classmethod
    def none(cls) -> Weighted:
        """Of no point."""
        return cls(*(zeros(3) for _ in range(3)), *(zeros(3, 3) for _ in range(4)))

    def __add__(self, more: Weighted) -> Weighted:
        return Weighted(*(getattr(self, own.name) + getattr(more, own.name) for own in fields(self)))


def fk_hessian(tree: Tree, v: SX, places: SX, axes: SX, rates: SX) -> tuple[SX, SX, SX]:
    """Of the sum with weights of position (k x 3), rotation (3k x 3), velocity (k x 6): by q, q and q, q and v."""
    bodies, beyond = moving(tree, v), {b: Weighted.none() for b in range(-1, len(tree.parts))}
    joints, slope = displaced(tree, bodies), zeros(tree.nv)
    x, y, z = ([zeros(3, 0) for _ in joints] for _ in range(3))
    # frame by frame: its origin and its axes
    for k, frame in enumerate(tree.frames):
        body, g, f, t = bodies[frame.body], places[k, :], rates[k, :3], rates[k, 3:]
        r, u = body.point(constant(frame.placement.p))
        turned = body.pose.rotation(frame) @ axes[3 * k : 3 * k + 3, :].T
        beyond[frame.body] += Weighted(g.T, f.T, t.T, r @ g + turned, r @ f, u @ f, body.w @ t)
    # leaves to root: what all that a joint carries says of it, and of the joints that carry it
    for j, part in reversed([*enumerate(tree.parts)]):
        own, sums = joints[j], beyond[j]
        turned, moved = sums.rg + sums.uf + sums.wt - bodies[part.parent].w @ sums.t.T, sums.rf
        slope[tree.dofs[j]] = own.s.T @ sums.g + own.sigma.T @ sums.f + own.omega.T @ moment(turned)
        slope[tree.dofs[j]] += own.psi.T @ moment(moved)
        y[j] = less_trace(moved) @ own.omega - skew3(sums.f) @ own.s
        x[j] = less_trace(turned) @ own.omega + less_trace(moved) @ own.psi
        x[j] -= skew3(sums.g) @ own.s + skew3(sums.f) @ own.sigma
        z[j] = y[j] - skew3(sums.t) @ own.omega
        beyond[part.parent] += sums
    return (slope, *curvature(tree, joints, x, y, z))


def less_trace(A: SX) -> SX:
    """A - tr(A) 1: of A = a b', what makes of x the vector (x x a) x b."""
    return A - trace(A) * SX.eye(3)


def moment(A: SX) -> SX:
    """Of A = a b', the vector a x b."""
    return vertcat(A[1, 2] - A[2, 1], A[2, 0] - A[0, 2], A[0, 1] - A[1, 0])
