"""The wrenches that contacts put on a robot, from their multipliers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from codegen.arrays import array_of
from codegen.errors import RobotError
from codegen.model.contacts import Contact

if TYPE_CHECKING:
    from numpy.typing import NDArray


def contact_wrenches(
    contacts: Sequence[Contact], lam: NDArray[np.float64], rotation: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Wrenches [force; moment] (..., contacts, 6) of the contacts on the robot, from multipliers lam (..., m).

    Each is along the axes that its contact names, about the origin of its frame. `rotation` (..., contacts, 3, 3) has
    the frames' axes along those (of `world` axes the rotation that `fk` gives); only points away from the origin that
    are held along other axes than the frame's need it, and RobotError says so.
    """
    if not isinstance(contacts, Sequence) or not all(isinstance(contact, Contact) for contact in contacts):
        raise RobotError(f"contacts must be a list of contacts, as robot.contact makes them, not {contacts!r}")
    lam, found, start = np.asarray(array_of("lam", lam), float), [], 0
    size = sum(len(contact.rows) for contact in contacts)
    if size != lam.shape[-1]:
        raise RobotError(f"lam has {lam.shape[-1]} elements, but the contacts have {size} rows")
    for number, contact in enumerate(contacts):
        own = lam[..., start : start + len(contact.rows)]
        start += len(contact.rows)
        total = np.zeros((*lam.shape[:-1], 6))
        for point, rows in contact.parts:
            both = own[..., rows] @ np.array(contact.rows[rows])
            arm = np.array(point)
            if any(point) and contact.axes:
                if rotation is None:
                    raise RobotError(f"contact on {contact.frame.name!r}: its points need the frame's rotation too")
                arm = np.asarray(array_of("rotation", rotation), float)[..., number, :, :] @ arm
            total += np.concatenate([both[..., 3:], both[..., :3] + np.cross(arm, both[..., 3:])], axis=-1)
        found.append(total)
    return np.stack(found, axis=-2) if found else np.zeros((*lam.shape[:-1], 0, 6))
