"""Units of length, one for each body: where an offset is the unit, nothing is multiplied by it.

Moments are then in newtons times that unit. Algorithms may be measured so whose arguments and results know nothing of
what is between joints and contacts. A hinge changes units as it turns: what it transmits has moments across its axis
alone, and these it multiplies anyway. Bodies that do not turn against their carrier have its unit. Clusters and screws
stay in metres, with what carries them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from casadi import SX, diag, diagcat, horzsplit

from codegen import costs
from codegen.spatial import AxisRotation, MeasuredRotation, NodeTransform, Transform, Translation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.lowering.problem import Problem
    from codegen.recursions.tree import LoweredContact, Tree
    from codegen.spatial import Step


METRE = 1.0


def length_units(problem: Problem) -> Problem:
    """The step."""
    tree, wanted = problem.built, problem.request.needs.length_units
    return replace(problem, tree=measured(tree, units_of_length(tree))) if wanted else problem


def measured(tree: Tree, unit: Sequence[float]) -> Tree:
    """The tree with lengths in these units (m), by nodes."""
    return replace(
        tree,
        X=tuple(_transform(tree, i, unit) for i in tree.outwards),
        I=(*(tree.I[i].measured(1 / unit[i]) for i in tree.outwards), tree.I[-1]),
        armature=tuple(_armature(tree, i, unit[i]) for i in tree.outwards),
        contacts=tuple(_held(contact, unit[contact.node]) for contact in tree.contacts),
    )


def units_of_length(tree: Tree, change: int = costs.OTHER_UNIT) -> list[float]:
    """By nodes, the unit (m) in which carrying forces and inertias takes fewest operations.

    It is below zero where the offset that it is of points backwards. Bodies that carry contacts, those on no way to
    one, clusters and screws stay in metres. `change` is what a hinge to another unit costs.
    """
    head = _heads(tree)
    carrier = {h: head[tree.parent[h]] if tree.parent[h] >= 0 else -1 for h in head}
    offsets = {i: _offsets(tree.X[i].links[0][1].steps) for i in tree.support if tree.parent[i] >= 0}
    lengths, metres = [METRE, *_lengths(offsets)], _in_metres(tree, head, carrier)
    saved = {h: dict.fromkeys([METRE] if h in metres else lengths, 0) for h in carrier}
    _save_on_shifts(tree, head, offsets, saved)
    unit = _cheapest(saved, carrier, change)
    # limbs that mirror one another add and subtract alike: offsets that are units count forwards
    for h in (h for h in unit if unit[h] != METRE):
        along = _along(tree, head, offsets, h)
        unit[h] = next((p for p in (*along, unit.get(carrier[h], METRE)) if abs(p) == unit[h]), unit[h])
    return [unit[h] for h in head]


def _heads(tree: Tree) -> list[int]:
    """By nodes, the first of those that have its unit, as they do not turn against one another."""
    head = list[int]()
    for i in tree.outwards:
        head.append(i if tree.parent[i] < 0 or _turns(tree, i) or not _single(tree, i) else head[tree.parent[i]])
    return head


def _along(tree: Tree, head: Sequence[int], offsets: Mapping[int, Sequence[float]], h: int) -> list[float]:
    """The offsets from the bodies whose head is h."""
    return [p for i, own in offsets.items() if head[tree.parent[i]] == h for p in own]


def _in_metres(tree: Tree, head: Sequence[int], carrier: Mapping[int, int]) -> set[int]:
    """The heads that stay in metres: of contacts, of nodes on no way to one, of clusters, screws and their carriers."""
    held = {contact.node for contact in tree.contacts}
    metres = {head[i] for i in tree.outwards if i in held or i not in tree.support or not _single(tree, i)}
    return metres | {carrier[i] for i in tree.outwards if not _single(tree, i)}


def _lengths(offsets: Mapping[int, Sequence[float]]) -> list[float]:
    """The lengths of offsets, the longest first."""
    return sorted({abs(p) for own in offsets.values() for p in own}, reverse=True)


def _save_on_shifts(
    tree: Tree, head: Sequence[int], offsets: Mapping[int, Sequence[float]], saved: Mapping[int, dict[float, int]]
) -> None:
    """Add to what units of bodies save, by heads, the operations of shifts by offsets of this length."""
    for i, own in offsets.items():
        passing = sum(min(contact.size, costs.TRANSMITTED) for contact in tree.contacts if i in tree.path(contact.node))
        at = saved[head[tree.parent[i]]]
        for length in (abs(p) for p in own if abs(p) in at):
            inertia = 0 if at[length] else costs.UNIT_INERTIA  # products of siblings have a common factor
            at[length] += costs.UNIT_SHIFT * passing + inertia


def _cheapest(saved: Mapping[int, dict[float, int]], carrier: Mapping[int, int], change: int) -> dict[int, float]:
    """By heads, the unit that saves most with what other units beyond save, less what changes of units cost."""
    # leaves to root: what every unit of a body saves on it and beyond
    for h in sorted(carrier, reverse=True):
        for length in saved.get(carrier[h], ()):
            saved[carrier[h]][length] += max(max(saved[h].values()) - change, saved[h].get(length, -change))
    unit = dict[int, float]()
    # root to leaves: the unit that saves most, the carrier's if another one saves no more than the change costs
    for h in sorted(carrier):
        best, same = max(saved[h], key=saved[h].__getitem__), unit.get(carrier[h], METRE)
        unit[h] = same if same in saved[h] and saved[h][same] >= saved[h][best] - change else best
    return unit


def _single(tree: Tree, i: int) -> bool:
    """Whether node i is one body, and no screw, which would turn in one unit and slide in another."""
    columns = horzsplit(tree.S[i].columns)
    screw = any(not (own[:3, :].is_zero() or own[3:, :].is_zero()) for own in columns)
    return len(tree.model.nodes[i].bodies) == 1 and not screw


def _turns(tree: Tree, i: int) -> bool:
    """Whether node i is a hinge that turns to its body's axes."""
    steps = tree.X[i].links[0][1].steps
    return _single(tree, i) and tree.S[i].size == 1 and bool(steps) and isinstance(steps[-1], AxisRotation)


def _offsets(steps: Sequence[Step]) -> list[float]:
    """Constant shifts along each axis."""
    shifts = [step.p for step in steps if isinstance(step, Translation) and step.p.is_constant()]
    return [float(p[k]) for p in shifts for k in range(3) if not p[k].is_zero()]


def _transform(tree: Tree, i: int, unit: Sequence[float]) -> NodeTransform:
    """X of node i: shifts in its carrier's unit, and if its own is another one, a last turn that leads there."""
    X, outer = tree.X[i], unit[tree.parent[i]] if tree.parent[i] >= 0 else 1.0
    links = []
    for inner, link in X.links:
        steps = [_in_units(step, outer) if isinstance(step, Translation) else step for step in link.steps]
        if unit[i] != outer and isinstance(steps[-1], AxisRotation):
            steps[-1] = MeasuredRotation(steps[-1], unit[i] / outer)
        links.append((inner, Transform(tuple(steps))))
    return replace(X, links=tuple(links))


def _in_units(shift: Translation, unit: float) -> Translation:
    """A shift with its length in this unit; an offset that is the unit is one."""
    return Translation(shift.p / unit if shift.p.is_constant() else (1 / unit) * shift.p)


def _armature(tree: Tree, i: int, unit: float) -> SX:
    """The armatures of node i: turns are counted in the unit's inverse, slides are what they were."""
    S = tree.S[i].columns
    scale = diag(SX([1.0 if S[:3, column].is_zero() else 1 / unit for column in range(S.size2())]))
    return scale @ tree.armature[i] @ scale


def _held(contact: LoweredContact, unit: float) -> LoweredContact:
    """A contact on a body whose lengths are in this unit."""
    rows = [1 / unit if r % 6 < 3 else 1.0 for r in range(contact.force.size1())]
    force, on_body = diagcat(*map(SX, rows)) @ contact.force, replace(contact.on_body, unit=unit)
    return replace(contact, force=force, on_body=on_body)
