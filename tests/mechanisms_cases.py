"""Random mechanisms for the tests: every joint type, off its axes, in random trees, with random inertias."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.geometry import Inertia, Pose, mat3, skew, vec3
from codegen.model import Body, Convention, Frame, Joint, Model, Node
from codegen.robot import Robot

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALL_TYPES = ("revolute", "prismatic", "planar", "spherical", "revolute", "floating")
"""A short word of joint types; a revolute joint follows the joints whose velocities turn with them."""


def mechanism(
    types: tuple[str, ...],
    seed: int,
    *,
    base: str = "fixed",
    convention: Convention = "pinocchio",
    branching: float = 0.4,
    armature: bool = False,
) -> Model:
    """A random tree with one body per entry of `types`, carried by a floating base where asked for.

    Axes, placements, inertias and one extra frame per body are random and generic: no entry is zero. The
    parent of a body is the body before it, or with probability `branching` one of that body's ancestors.
    """
    rng = np.random.default_rng(seed)
    types = ("floating", *types) if base == "floating" else types
    bodies: list[Body] = []
    frames: list[Frame] = []
    for index, kind in enumerate(types):
        parent = _parent(rng, bodies, index, branching)
        rooted = kind == "floating" and parent < 0
        joint = Joint(
            name=f"joint{index}",
            type=kind,
            axis=vec3(unit(rng)),
            lower=-2.5,
            upper=2.5,
            armature=float(rng.uniform(0.05, 0.5)) if armature else 0.0,
        )
        placement = Pose() if rooted else pose(rng)
        bodies.append(Body(f"body{index}", parent, joint, placement, inertia(rng)))
        frames += [Frame(f"body{index}", index), Frame(f"tool{index}", index, pose(rng))]
    nodes = tuple(Node((index,), body.parent) for index, body in enumerate(bodies))
    return Robot(f"random_{seed}", tuple(bodies), nodes, tuple(frames), convention=convention)


def about(axis: NDArray[np.float64], angle: float) -> NDArray[np.float64]:
    """The rotation about a unit axis (Rodrigues)."""
    K = skew(axis)
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def parallel(base: str, seed: int) -> Model:
    """A tree of hinges, two in three parallel to the one before: forwards or backwards, turned, anywhere."""
    model, rng = mechanism(("revolute",) * 12, seed, base=base, branching=0.25), np.random.default_rng(seed)
    bodies = list(model.bodies)
    for index, body in enumerate(bodies):
        carrier = bodies[body.parent].joint if body.parent >= 0 else None
        if index % 3 and carrier and carrier.type == "revolute":
            sign, angle = rng.choice([-1.0, 1.0]), rng.choice([0.0, rng.uniform(-3.0, 3.0)])
            placement = Pose(mat3(about(np.array(carrier.axis), angle)), vec3(rng.uniform(-0.5, 0.5, 3)))
            axis = vec3(sign * np.array(carrier.axis))
            bodies[index] = replace(body, joint=replace(body.joint, axis=axis), placement=placement)
    return replace(model, bodies=tuple(bodies))


def looked_at(model: Model) -> list[str]:
    """The names of bodies of such a tree that carry others on parallel hinges."""
    carried = {body.parent for index, body in enumerate(model.bodies) if index % 3}
    return [model.bodies[b].name for b in sorted(carried) if b > 0]


def _parent(rng: np.random.Generator, bodies: list[Body], index: int, branching: float) -> int:
    """The body before, or now and then one of its ancestors, so that the numbering stays depth first."""
    parent = index - 1
    while parent > 0 and rng.random() < branching:
        parent = max(bodies[parent].parent, 0)
    return parent


def unit(rng: np.random.Generator, size: int = 3) -> NDArray[np.float64]:
    """A random direction, or a random quaternion (size 4)."""
    x = rng.standard_normal(size)
    return x / np.linalg.norm(x)


def rotation(rng: np.random.Generator) -> NDArray[np.float64]:
    """A random rotation matrix (3, 3)."""
    R, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return R if np.linalg.det(R) > 0 else -R


def pose(rng: np.random.Generator) -> Pose:
    """A random placement, of the size of a limb."""
    return Pose(mat3(rotation(rng)), vec3(rng.uniform(-0.5, 0.5, 3)))


def inertia(rng: np.random.Generator) -> Inertia:
    """A random physical inertia: three principal moments that obey the triangle inequality."""
    R, masses = rotation(rng), rng.uniform(0.02, 0.1, 3)
    moment = R @ np.diag(masses.sum() - masses) @ R.T
    return Inertia(float(rng.uniform(0.5, 3.0)), vec3(rng.uniform(-0.2, 0.2, 3)), mat3((moment + moment.T) / 2))


def state(
    model: Model, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """q (nq), v, a, tau (nv): random and valid, made without the joints' own `random`."""
    rng = np.random.default_rng(seed)
    parts = []
    for body in model.bodies:
        kind, joint = body.joint.type, body.joint
        if kind in ("revolute", "prismatic"):
            reach = np.pi if kind == "revolute" else 1.0
            parts.append(rng.uniform(max(joint.lower, -reach), min(joint.upper, reach), 1))
        elif kind == "planar":
            parts.append(rng.uniform([-1.0, -1.0, -np.pi], [1.0, 1.0, np.pi]))
        else:
            parts.append(np.append(rng.uniform(-1.0, 1.0, 3 if kind == "floating" else 0), unit(rng, 4)))
    v, a, tau = (rng.standard_normal(model.nv) for _ in range(3))
    return np.concatenate(parts), v, a, tau


def error(actual: object, expected: object) -> float:
    """The largest error over the largest entry of what was expected, for one output or a tuple of them.

    Invariant under a change of units of the whole output; an output that should vanish counts absolutely.
    """
    if isinstance(expected, tuple):
        assert isinstance(actual, tuple)
        assert len(actual) == len(expected)
        return max(map(error, actual, expected))
    x, y = np.asarray(actual, float), np.asarray(expected, float)
    assert x.shape == y.shape
    if y.size == 0:
        return 0.0
    assert np.isfinite(x).all()
    scale = float(np.abs(y).max())
    return float(np.abs(x - y).max()) / (scale or 1.0)


def aligned(model: Model, q: NDArray[np.float64], reference: NDArray[np.float64]) -> NDArray[np.float64]:
    """q (nq) with the sign of every quaternion that of `reference`: both signs are the same rotation."""
    q = np.array(q)
    for body, i in zip(model.bodies, model.q_slices, strict=True):
        if body.joint.type in ("spherical", "floating"):
            tail = slice(i.stop - 4, i.stop)
            q[tail] *= 1.0 if q[tail] @ reference[tail] >= 0.0 else -1.0
    return q
