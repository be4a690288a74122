"""Inertia regrouping: what a joint's motion cannot see of its body's inertia moves to the parent body.

Khalil's base parameters (Khalil and Dombre, Modeling, Identification and Control of Robots, ch. 9), applied
from the leaves to the root. Exact for inertia matrices, joint forces and accelerations; the masses that are
left are not physical, so this is for the generator only. Needs canonical frames (`codegen.frames`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.geometry import Pose, skew, times
from codegen.spatial.axes import others, unit_axis

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from codegen.model import Body, Model


@dataclass(frozen=True, slots=True)
class TenNumbers:
    """Mass m, first moment h and inertia I about the frame's origin; linear in sums, physical or not."""

    m: float
    h: NDArray[np.float64]
    I: NDArray[np.float64]

    def __add__(self, other: TenNumbers) -> TenNumbers:
        return TenNumbers(self.m + other.m, self.h + other.h, self.I + other.I)

    def __sub__(self, other: TenNumbers) -> TenNumbers:
        return TenNumbers(self.m - other.m, self.h - other.h, self.I - other.I)

    def moved(self, pose: Pose) -> TenNumbers:
        """The same in the parent frame of `pose`."""
        R, P = pose.R, skew(pose.p)
        h = times(R, self.h)
        turned = times(times(R, self.I), R.T)
        shifted = turned - times(P, skew(h)) - times(skew(h), P) - self.m * times(P, P)
        return TenNumbers(self.m, h + self.m * pose.p, shifted)


def regrouped(model: Model, shifting: Collection[str] = (), exchanged: bool = False) -> tuple[TenNumbers, ...]:
    """Inertial numbers by bodies, with as many zeros as the joints allow.

    Nothing moves across a joint of `shifting`: its offset is not known yet. With `exchanged`, mass also goes outwards
    where it takes a first moment along; that serves forces, but not inertias, of which a mass fills a whole block.
    """
    left = [
        TenNumbers(body.inertia.mass, body.inertia.first_moment, body.inertia.about_origin) for body in model.bodies
    ]
    for i in reversed(range(len(left))):
        body = model.bodies[i]
        if body.joint.name in shifting:
            continue
        if exchanged:
            _exchange(model, left, i, shifting)
        unseen = _unseen(body, left[i])
        left[i] = left[i] - unseen
        if body.parent >= 0:
            left[body.parent] = left[body.parent] + unseen.moved(body.placement)
    return tuple(_rounded(ten) for ten in left)


def _exchange(model: Model, left: list[TenNumbers], i: int, shifting: Collection[str]) -> None:
    """Move mass of body i, and a first moment with it, to the hinge of what it carries, if that leaves a zero.

    A mass costs half of what a first moment does: it makes no moments about its own origin. Of several bodies (rotors
    are none), none gets any: limbs that are alike stay so.
    """
    joint = model.bodies[i].joint
    across = [n for n in range(3) if joint.type != "revolute" or n != unit_axis(joint.axis)[0]]
    carried = [c for c, body in enumerate(model.bodies) if body.parent == i and not _spins(left[c])]
    body = model.bodies[carried[0]] if len(carried) == 1 else None
    if body is None or body.joint.type != "revolute" or body.joint.name in shifting:
        return
    p = body.placement.p
    for n in across:
        if p[n] and left[i].h[n]:
            m = left[i].h[n] / p[n]
            rest = left[i] - TenNumbers(m, m * p, m * (p @ p * np.eye(3) - np.outer(p, p)))
            rest.h[n] = 0.0
            if _entries(rest, across) < _entries(left[i], across):
                left[i], left[carried[0]] = rest, replace(left[carried[0]], m=m)
                return


def _spins(own: TenNumbers) -> bool:
    """Whether a body has no inertia but about one axis, as a rotor is left."""
    return own.m == 0.0 and not own.h.any() and int(np.count_nonzero(own.I)) < 2


def _entries(own: TenNumbers, across: Collection[int]) -> int:
    """How many first moments and products of inertia are no zeros."""
    products = [own.I[n, m] for n in range(3) for m in range(n)]
    return int(np.count_nonzero([own.h[n] for n in across]) + np.count_nonzero(products))


def _unseen(body: Body, own: TenNumbers) -> TenNumbers:
    """The part of a body's inertia that looks the same from the parent wherever the joint is."""
    if body.joint.type == "revolute":
        k, _ = unit_axis(body.joint.axis)
        i, j = others(k)
        h, moment = np.zeros(3), np.zeros((3, 3))
        h[k] = own.h[k]
        # a rod on the axis: of all rods, one that leaves no second moment along the axis (sum m z z), or of a body
        # that is symmetric about the axis, one that leaves nothing but its spin
        rest = (own.I[i, i] + own.I[j, j] - own.I[k, k]) / 2
        moment[i, i] = moment[j, j] = own.I[j, j] if _symmetric(own, k) else rest
        return TenNumbers(own.m, h, moment)
    if body.joint.type == "prismatic":
        return TenNumbers(0.0, np.zeros(3), own.I)
    if body.joint.type == "spherical":
        return TenNumbers(own.m, np.zeros(3), np.zeros((3, 3)))
    return TenNumbers(0.0, np.zeros(3), np.zeros((3, 3)))


def _symmetric(own: TenNumbers, k: int) -> bool:
    """Whether a body looks the same however it is turned about axis k."""
    i, j = others(k)
    products = (own.I[i, j], own.I[j, k], own.I[k, i])
    return own.I[i, i] == own.I[j, j] and not any((*products, own.h[i], own.h[j]))


def _rounded(ten: TenNumbers) -> TenNumbers:
    """Rounding residues beside much larger entries become the zeros that they stand for."""
    moment = np.where(np.abs(ten.I) < 1e-15 * np.abs(ten.I).max(initial=0.0), 0.0, ten.I)
    first = np.where(np.abs(ten.h) < 1e-15 * np.abs(ten.h).max(initial=0.0), 0.0, ten.h)
    return TenNumbers(ten.m, first, moment)
