"""Inertia regrouping: what a joint's motion cannot see of its body's inertia moves to the parent body.

Khalil's base parameters (Khalil and Dombre, Modeling, Identification and Control of Robots, ch. 9), applied
from the leaves to the root. What the root's joint cannot see moves to the world, so that centres of mass, momenta and
energies stay what they are, too. The masses that are left are not physical, so this is for the generator only. Needs
canonical frames (`codegen.model.canonical_frames`).

What moves may be far larger than what its new carrier has of its own, and joints in between feel the difference alone.
So sums are made in decimals of 40 digits, along the very turns that the tree makes, and rounded once, at the end; and
nothing moves to a body that has next to no inertia of its own against its joint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from casadi import SX

from codegen.geometry import Inertia, axis_turns
from codegen.spatial import RigidInertia, Transform, constant, placement_steps
from codegen.spatial.axes import others, unit_axis

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from codegen.geometry import Pose
    from codegen.lowering.problem import Problem
    from codegen.model import Body, Model

DIGITS, CANCELLED = 40, Decimal("1e-30")  # of decimals, and what of them stands for nothing after a difference
LEAST = 1e-4  # of what moves to a body, what its joint has to feel of it by itself: four digits are lost at most
ROUNDING = 1e-15  # what is left where nothing belongs, as part of the largest entry


@dataclass(frozen=True, slots=True)
class TenNumbers:
    """Mass m, first moment h and inertia I about the frame's origin; linear in sums, physical or not.

    They are decimals, and doubles once they are rounded.
    """

    m: Any
    h: NDArray[Any]
    I: NDArray[Any]

    @classmethod
    def of(cls, inertia: Inertia) -> TenNumbers:
        """Those of a rigid body."""
        m, com = _decimal(inertia.mass), decimals(inertia.com)
        return cls(m, m * com, decimals(inertia.moment) - m * _skew(com) @ _skew(com))

    def __add__(self, other: TenNumbers) -> TenNumbers:
        return TenNumbers(self.m + other.m, _sum(self.h, other.h), _sum(self.I, other.I))

    def __sub__(self, other: TenNumbers) -> TenNumbers:
        return self + TenNumbers(-other.m, -other.h, -other.I)

    def moved(self, pose: Pose) -> TenNumbers:
        """The same in the parent frame of `pose`."""
        R, p = _rotation(pose), decimals(pose.translation)
        P, h = _skew(p), R @ self.h
        shifted = R @ self.I @ R.T - P @ _skew(h) - _skew(h) @ P - self.m * P @ P
        return TenNumbers(self.m, h + self.m * p, shifted)

    def rounded(self) -> TenNumbers:
        """In doubles; residues beside much larger entries become the zeros that they stand for."""
        h, moment = self.h.astype(float), self.I.astype(float)
        for own in (h, moment):
            own[np.abs(own) < ROUNDING * np.abs(own).max()] = 0.0
        return TenNumbers(float(self.m), h, moment)


def decimals(values: Any) -> NDArray[Any]:
    """Doubles as decimals."""
    return np.asarray(np.vectorize(_decimal, otypes=[object])(np.asarray(values, float)))


def _decimal(value: float) -> Decimal:
    """A double to as many digits as the context has."""
    return +Decimal(value)


def _sum(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """a + b; where they cancel but for the last decimals, nothing."""
    found = a + b
    found[np.abs(found) < CANCELLED * np.abs(a)] = Decimal(0)
    return np.asarray(found)


def _skew(v: NDArray[Any]) -> NDArray[Any]:
    """The cross-product matrix [v]x."""
    x, y, z = v
    none = Decimal(0)
    return np.array([[none, -z, y], [z, none, -x], [-y, x, none]])


def _rotation(pose: Pose) -> NDArray[Any]:
    """The rotation of a pose, from the turns that a tree makes of it (`codegen.spatial.placement_steps`)."""
    R = decimals(np.eye(3))
    for k, c, s in axis_turns(pose.R):
        i, j = others(k)
        cosine, sine = _decimal(c), _decimal(s)
        length = (cosine * cosine + sine * sine).sqrt()
        turn = decimals(np.eye(3))
        turn[i, i] = turn[j, j] = cosine / length
        turn[j, i], turn[i, j] = sine / length, -sine / length
        R = R @ turn
    return R


def regroup_inertias(problem: Problem) -> Problem:
    """The step: nothing moves across joints whose offsets are arguments."""
    shifting = {number.removeprefix("offset:") for number in problem.request.numbers if number.startswith("offset:")}
    return _with(problem, regrouped(problem.canonical.model, shifting, problem.request.needs.swept == "forces"))


def own_inertias(problem: Problem) -> Problem:
    """Bodies with the inertias that they have."""
    with localcontext(Context(prec=DIGITS)):
        own = (TenNumbers.of(body.inertia).rounded() for body in problem.canonical.model.bodies)
        return _with(problem, (*own, TenNumbers.of(Inertia()).rounded()))


def _with(problem: Problem, numbers: Sequence[TenNumbers]) -> Problem:
    """The problem with these inertial numbers by bodies and of the world, with symbolic ones and payloads added."""
    inertias = [RigidInertia.about_origin(SX(ten.m), constant(ten.h), constant(ten.I)) for ten in numbers]
    canonical, names = problem.canonical, [body.name for body in problem.canonical.model.bodies]
    for name, symbol in problem.request.numbers.items():
        kind, _, target = name.partition(":")
        if kind == "payload":
            frame = canonical.model.frame(target)
            body, placement = frame.body, frame.placement
        elif kind == "inertia":
            body = names.index(target)
            placement = canonical.stated(body)
        else:
            continue
        if body >= 0:
            inertias[body] += Transform(placement_steps(placement)).inertia(payload(symbol))
    return problem.found(inertias=tuple(inertias))


def payload(ten: SX) -> RigidInertia:
    """A payload from [mass, com (3), Ixx, Iyy, Izz, Ixy, Ixz, Iyz about its centre of mass]."""
    m, x, y, z = ten[0], ten[1], ten[2], ten[3]
    xx, yy, zz = ten[4] + m * (y * y + z * z), ten[5] + m * (x * x + z * z), ten[6] + m * (x * x + y * y)
    xy, xz, yz = ten[7] - m * x * y, ten[8] - m * x * z, ten[9] - m * y * z
    moment = SX(3, 3)
    for (r, c), value in {(0, 0): xx, (1, 1): yy, (2, 2): zz, (0, 1): xy, (0, 2): xz, (1, 2): yz}.items():
        moment[r, c] = moment[c, r] = value
    return RigidInertia.about_origin(m, m * ten[1:4], moment)


def regrouped(model: Model, shifting: Collection[str] = (), exchanged: bool = False) -> tuple[TenNumbers, ...]:
    """Inertial numbers by bodies, with as many zeros as the joints allow; those that rest on the world come last.

    Nothing moves across a joint of `shifting`: its offset is not known yet. With `exchanged`, mass also goes outwards
    where it takes a first moment along; that serves forces, but not inertias, of which a mass fills a whole block.
    """
    return _regrouped(model, frozenset(shifting), exchanged)


@lru_cache(maxsize=8)
def _regrouped(model: Model, shifting: frozenset[str], exchanged: bool) -> tuple[TenNumbers, ...]:
    """The same; functions of one robot ask for it many times."""
    with localcontext(Context(prec=DIGITS)):
        own = [TenNumbers.of(body.inertia) for body in model.bodies]
        left = [*own, TenNumbers.of(Inertia())]
        for i in reversed(range(len(own))):
            body = model.bodies[i]
            if body.joint.name in shifting:
                continue
            if exchanged:
                _exchange(model, left, i, shifting)
            unseen = _unseen(body, left[i])
            moved = unseen.moved(body.placement)
            if body.parent >= 0 and _swamped(model.bodies[body.parent], own[body.parent], moved):
                continue
            left[i] = left[i] - unseen
            left[body.parent] = left[body.parent] + moved
        return tuple(ten.rounded() for ten in left)


def _swamped(body: Body, own: TenNumbers, moved: TenNumbers) -> bool:
    """Whether a joint feels next to nothing of its body by itself, beside what moves there, however others move.

    The joint may come to feel little more than that, as a difference of far larger numbers.
    """
    if not (body.joint.hinge or body.joint.slide or body.joint.ball):
        return False
    if body.joint.slide:
        felt = [(own.m, moved.m)]
    else:
        axes = [unit_axis(body.joint.axis)[0]] if body.joint.hinge else range(3)
        felt = [(own.I[k, k], moved.I[k, k]) for k in axes]
    return any(float(there) + body.joint.armature < LEAST * abs(float(more)) for there, more in felt)


def _exchange(model: Model, left: list[TenNumbers], i: int, shifting: Collection[str]) -> None:
    """Move mass of body i, and a first moment with it, to the hinge of what it carries, if that leaves a zero.

    A mass costs half of what a first moment does: it makes no moments about its own origin. Of several bodies (rotors
    are none), none gets any: limbs that are alike stay so.
    """
    joint = model.bodies[i].joint
    across = [n for n in range(3) if not joint.hinge or n != unit_axis(joint.axis)[0]]
    carried = [c for c, body in enumerate(model.bodies) if body.parent == i and not _spins(left[c])]
    body = model.bodies[carried[0]] if len(carried) == 1 else None
    if body is None or not body.joint.hinge or body.joint.name in shifting:
        return
    p, there = decimals(body.placement.translation), left[carried[0]]
    for n in across:
        if p[n] and left[i].h[n]:
            m = left[i].h[n] / p[n]
            rest = left[i] - TenNumbers(m, m * p, -m * _skew(p) @ _skew(p))
            rest.h[n] = Decimal(0)
            if _entries(rest, across) < _entries(left[i], across):
                left[i], left[carried[0]] = rest, replace(there, m=there.m + m)
                return


def _spins(ten: TenNumbers) -> bool:
    """Whether a body has no inertia but about one axis, as a rotor is left."""
    own = ten.rounded()
    return own.m == 0.0 and not own.h.any() and int(np.count_nonzero(own.I)) < 2


def _entries(ten: TenNumbers, across: Collection[int]) -> int:
    """How many first moments and products of inertia are no zeros."""
    own = ten.rounded()
    products = [own.I[n, m] for n in range(3) for m in range(n)]
    return int(np.count_nonzero([own.h[n] for n in across]) + np.count_nonzero(products))


def _unseen(body: Body, own: TenNumbers) -> TenNumbers:
    """The part of a body's inertia that looks the same from the parent wherever the joint is."""
    none, h, moment = Decimal(0), decimals(np.zeros(3)), decimals(np.zeros((3, 3)))
    if body.joint.hinge:
        k, _ = unit_axis(body.joint.axis)
        i, j = others(k)
        h[k] = own.h[k]
        # a rod on the axis: of all rods, one that leaves no second moment along the axis (sum m z z), or of a body
        # that is symmetric about the axis, one that leaves nothing but its spin
        rest = (own.I[i, i] + own.I[j, j] - own.I[k, k]) / 2
        moment[i, i] = moment[j, j] = own.I[j, j] if _symmetric(own, k) else rest
        return TenNumbers(own.m, h, moment)
    if body.joint.slide:
        return TenNumbers(none, h, own.I)
    if body.joint.ball:
        return TenNumbers(own.m, h, moment)
    return TenNumbers(none, h, moment)


def _symmetric(ten: TenNumbers, k: int) -> bool:
    """Whether a body looks the same however it is turned about axis k."""
    i, j = others(k)
    own = ten.rounded()
    products = (own.I[i, j], own.I[j, k], own.I[k, i])
    alike = abs(own.I[i, i] - own.I[j, j]) <= ROUNDING * own.I[i, i]
    return bool(alike) and not any((*products, own.h[i], own.h[j]))
