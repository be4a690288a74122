"""Contacts as users state them, for the oracle: each row by itself, at its point and along its axes.

What a row wants besides k: less gains times its errors against targets, and the difference between classical and
spatial acceleration, w x v. Shapes are those of one state; motions of many states put batch dimensions in front.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from codegen.geometry import IDENTITY, Pose
from codegen.oracle import kinematics
from codegen.oracle.batches import apply, norms, transposed
from codegen.oracle.rotations import cross, turned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Contact, Model

    Array = NDArray[np.float64]


class Row(NamedTuple):
    """One row: its parts (3) on angular and linear vectors in world axes, the motion of its point, where it is from.

    `contact` is the number of its contact, `place` its own among the contact's rows.
    """

    angular: Array
    linear: Array
    at: kinematics.Motion
    contact: int
    place: int

    def seen(self, angular: Array, linear: Array) -> Array:
        """What the row sees of vectors (3)."""
        return np.asarray((self.angular * angular + self.linear * linear).sum(axis=-1))


def rows(tree: Model, moving: Sequence[kinematics.Motion], contacts: Sequence[Contact]) -> Iterator[Row]:
    """The rows of all contacts."""
    for number, contact in enumerate(contacts):
        frame = kinematics.frame_motion(tree, moving, tree.frame(contact.frame.name))
        axes = frame.R
        if contact.axes == "world":
            axes = np.eye(3)
        elif contact.axes:
            axes = kinematics.frame_motion(tree, moving, tree.frame(contact.axes)).R
        for n, row in enumerate(contact.rows):
            angular, linear = (apply(axes, np.array(part)) for part in (row[:3], row[3:]))
            yield Row(angular, linear, frame.at(Pose(IDENTITY, point_of(contact, n))), number, n)


def point_of(contact: Contact, n: int) -> tuple[float, float, float]:
    """The point of a contact's row n, in its frame."""
    return contact.points[n] if contact.points else (0.0, 0.0, 0.0)


def jacobian(tree: Model, moving: Sequence[kinematics.Motion], contacts: Sequence[Contact]) -> Array:
    """J (m, nv of the tree): what the rows see of joint velocities."""
    by_row = rows(tree, moving, contacts)
    found = [apply(transposed(r.at.angular), r.angular) + apply(transposed(r.at.linear), r.linear) for r in by_row]
    return np.stack(found, axis=-2) if found else np.zeros((0, tree.nv))


def drift(tree: Model, moving: Sequence[kinematics.Motion], contacts: Sequence[Contact]) -> Array:
    """What the rows (m) see at zero joint accelerations: angular and classical linear ones."""
    by_row = rows(tree, moving, contacts)
    found = [row.seen(row.at.angular_acceleration, row.at.acceleration) for row in by_row]
    return np.stack(found, axis=-1) if found else np.zeros(0)


def pull(
    tree: Model, moving: Sequence[kinematics.Motion], contacts: Sequence[Contact], given: Mapping[str, ArrayLike]
) -> Array:
    """What is added to k (m); gains and targets by name in `given`, gains of the contacts where it has none."""
    found: list[Array] = []
    for row in rows(tree, moving, contacts):
        contact, at = contacts[row.contact], row.at
        target = {name: np.asarray(given[name], float) for name in given if name.startswith("target_")}
        own = {gain: getattr(contact, gain)[row.place] if getattr(contact, gain) else 0.0 for gain in ("kp", "kd")}
        kp, kd = (np.asarray(given[gain])[..., len(found)] if gain in given else own[gain] for gain in own)
        R = target["target_rotation"][..., row.contact, :, :] if "target_rotation" in target else at.R
        arm = apply(R, np.array(point_of(contact, row.place)))
        p = target["target_position"][..., row.contact, :] + arm if "target_position" in target else at.p
        V = target["target_velocity"][..., row.contact, :] if "target_velocity" in target else np.zeros(6)
        turn = logarithm(at.R @ transposed(R)) if "target_rotation" in target else np.zeros(3)
        error = row.seen(turn, at.p - p)
        rate = row.seen(at.angular_velocity - V[..., 3:], at.velocity - V[..., :3] - cross(V[..., 3:], arm))
        centripetal = cross(at.angular_velocity, at.velocity) if contact.spatial else np.zeros(3)
        found.append(row.seen(np.zeros(3), centripetal) - kp * error - kd * rate)
    return np.stack(found, axis=-1) if found else np.zeros(0)


def logarithm(R: Array) -> Array:
    """The rotation vector of a rotation matrix: its axis is the eigenvector of eigenvalue one.

    Complex matrices, of complex steps, are those of turns that are neither short nor half ones.
    """
    twice = np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    cosine = (np.trace(R, axis1=-2, axis2=-1) - 1.0) / 2.0
    if np.iscomplexobj(R):
        size = norms(twice)
        return np.asarray(twice * (turned(size / 2.0, cosine[..., None]) / size))
    axis = np.linalg.svd(R - np.eye(3))[2][..., 2, :]
    sine = (axis * twice).sum(axis=-1) / 2.0
    return np.asarray(axis * np.arctan2(sine, cosine)[..., None])
