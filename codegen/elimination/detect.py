"""Contacts that determine joint motions (`codegen.elimination.links`): by lever arms never short, or by whole frames.

Lever arms are numbers. Behind a link that is eliminated already, they depend on the angle of one hinge, and are looked
at all around it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from casadi import DM, SX, Function, diag, symvar

from codegen.elimination.levers import REGULAR, long_enough
from codegen.elimination.links import EliminatedLink, LeveredLink, SwivelLink, WeldedLink
from codegen.recursions.tree import LoweredContact, Tree
from codegen.spatial import Transform, Translation, constant, others, own_axes, reflections, unit_axes, without_rows

ANGLES = 64  # at which levers are looked at that a hinge moves
STEADY = 0.3  # of the longest of these, what the shortest must be; between two angles, little is missed then
ROUNDING = 1e-14  # what a turn of rows leaves of nothing, as part of the largest entry


def determined_exactly(tree: Tree) -> dict[int, EliminatedLink]:
    """By contacts held exactly, the links whose joint motion they determine; rows may be of any length."""
    found: dict[int, EliminatedLink] = {}
    for e, contact in enumerate(tree.contacts):
        axes = _free_axes(tree, contact)
        if axes and _regular(contact):
            size = _power_of_two(float(np.linalg.norm(np.array(DM(contact.on_body.K)))) / math.sqrt(6))
            found[e] = WeldedLink(contact, tree.parts[contact.body], *_along(axes, size), Transform(()))
        elif link := _levered(tree, contact, axes, _sizes(contact)):
            found[e] = link
    return found


def determined_in_steps(tree: Tree) -> dict[int, EliminatedLink]:
    """By contacts, the links whose joint motion they determine in the least squares of their rows.

    Only orthogonal turns keep these: a frame with orthonormal rows determines its hinge as a whole at a point of the
    hinge's axis, elsewhere by lever arms. A contact of which no row would be left to tell the residual determines none.
    """
    found: dict[int, EliminatedLink] = {}
    for e, contact in enumerate(tree.contacts):
        axes, size = _free_axes(tree, contact), SX.ones(contact.size)
        if len(axes) == contact.size:
            continue
        origin, whole = contact.on_body.origin, bool(axes) and _regular(contact) and _orthonormal(contact.on_body.K)
        if whole and len(axes) == 1 and axes[0] < 3 and not any(origin[r].nnz() for r in others(axes[0])):
            at = Transform((Translation(origin),) if origin.nnz() else ())
            F1, F2 = _along(axes, 1.0)
            found[e] = SwivelLink(contact, tree.parts[contact.body], F1, at.force(F2), at)
        elif link := _levered(tree, contact, axes, size, whole) or _levered_by_angle(tree, contact, axes):
            found[e] = link
    return found


def _levered(
    tree: Tree, contact: LoweredContact, axes: tuple[int, ...], size: SX, whole: bool = False
) -> LeveredLink | None:
    """The link, if a contact determines it by its rows divided by their sizes; of a `whole` frame, along its axes."""
    if not axes or not contact.force.is_constant() or contact.size < len(axes):
        return None
    part, own, force = tree.parts[contact.body], SX.eye(contact.size), contact.force @ diag(1 / size)
    if whole:
        at = Transform((Translation(contact.on_body.origin),))
        own, force = _without_rounding(at.onward(force)), at.force(SX.eye(6))
    Q, _ = reflections(force.T @ part.S)
    F = _without_rounding(Q.columns(force))
    F1, F2 = F[:, : len(axes)], without_rows(F[:, len(axes) :], axes)
    levers = long_enough(tree.model, contact.body, np.array(DM(part.S)), np.array(DM(F1)))
    return LeveredLink(contact, part, F1, F2, Q, size, own) if levers else None


def _levered_by_angle(tree: Tree, contact: LoweredContact, axes: tuple[int, ...]) -> LeveredLink | None:
    """The link, if rows that another one left determine its joint at all angles of that one's hinge."""
    angle = symvar(contact.force)
    if len(axes) != 1 or len(angle) != 1 or contact.yields.is_zero():
        return None
    part = tree.parts[contact.body]
    at = Function("at", angle, [contact.force, contact.force.T @ part.S])
    turns = [[np.array(DM(x)) for x in at(turn)] for turn in np.linspace(0.0, 2.0 * np.pi, ANGLES + 1)]
    first, last = turns[0][0], turns[-1][0]
    around = np.all(np.abs(last - first) <= 1e-9 * np.linalg.norm(first, axis=0))  # as no slider comes
    lengths = [float(np.linalg.norm(y)) for _, y in turns]
    if not around or not min(lengths) > STEADY * max(lengths):
        return None
    S = np.array(DM(part.S))
    if not all(long_enough(tree.model, contact.body, S, F @ y / np.linalg.norm(y)) for F, y in turns):
        return None
    Q, _ = reflections(contact.force.T @ part.S)
    F = Q.columns(contact.force)
    F1, F2 = F[:, :1], without_rows(F[:, 1:], axes)
    return LeveredLink(contact, part, F1, F2, Q, SX.ones(contact.size), SX.eye(contact.size))


def _sizes(contact: LoweredContact) -> SX:
    """Of rows the lengths, in powers of two of what they are at the mean."""
    if not contact.force.is_constant():
        return SX.ones(contact.size)
    lengths = np.linalg.norm(np.array(DM(contact.force)), axis=0)
    mean = float(np.linalg.norm(lengths)) / math.sqrt(contact.size)
    return SX([_power_of_two(float(length) / mean) if mean else 1.0 for length in lengths])


def _power_of_two(size: float) -> float:
    """The power of two next to a size, which costs no digits; one for nothing."""
    return 2.0 ** round(math.log2(size)) if size > 0.0 else 1.0


def _free_axes(tree: Tree, contact: LoweredContact) -> tuple[int, ...]:
    """The axes along which its joint moves a contact's body, if this is alone at its node, and held by nothing else.

    Nor by stiffness that is in its inertia already, which would be taken for the body's own.
    """
    part, node = tree.parts[contact.body], tree.model.nodes[contact.node]
    axes = (
        own_axes(part.S) if part.parent >= 0 and len(node.bodies) == 1 and not node.loops and unit_axes(part.S) else ()
    )
    alone = sum(contact.node in tree.path(other.node) for other in tree.contacts) == 1
    return axes if len(axes) < 6 and alone and not contact.stiff else ()


def _regular(contact: LoweredContact) -> bool:
    """Whether a contact's rows are numbers, and hold its frame wholly."""
    whole = contact.size == 6 and contact.on_body.K.is_constant()
    return whole and bool(np.linalg.cond(np.array(DM(contact.on_body.K))) < REGULAR)


def _orthonormal(K: SX) -> bool:
    return bool(np.allclose(np.array(DM(K @ K.T)), np.eye(K.size1()), 0.0, 1e-14))


def _along(axes: Sequence[int], size: float) -> tuple[SX, SX]:
    """Forces of one size along axes (6 x n), and those along the others."""
    E = size * SX.eye(6)
    return E[:, list(axes)], E[:, [r for r in range(6) if r not in axes]]


def _without_rounding(F: SX) -> SX:
    numbers = np.array(DM(F))
    numbers[np.abs(numbers) < ROUNDING * np.abs(numbers).max(initial=0.0)] = 0.0
    return constant(numbers)
