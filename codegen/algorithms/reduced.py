"""The reduced recursion of PV-OSIMr: unit forces go to the root, bundled into six where many of them meet.

Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676), sec. V. A stream is a set of unit forces (of
contacts, or of a link at which contacts were bundled) on its way to the root; streams that meet leave L, the part of
W that the joints below give; what the joints above a bundle give, its own inverse inertia Omega gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from casadi import SX

from codegen.algorithms.delassus import assembled
from codegen.algorithms.sweeps import Articulated
from codegen.spatial import mirrored
from codegen.tree import Tree

Key = tuple[str, int]  # ("contact", number) or ("link", node)


@dataclass(frozen=True, slots=True)
class Streams:
    """L between streams that met, and of every bundle the forces that it stands for, by their keys."""

    L: dict[tuple[Key, Key], SX]
    bundle: dict[Key, dict[Key, SX]]


def reduced(tree: Tree, A: Articulated, forces: Sequence[SX]) -> SX:
    """K M^-1 K' (m x m) for the contacts' forces K' on their nodes (6 k x m_e each)."""
    met = _inwards(tree, A, forces)
    Omega: dict[Key, SX] = {}
    # root to contacts, over bundles only: inverse inertias of the links at which streams met
    for link in reversed(list(met.bundle)):
        Omega[link] = _coupling(met, Omega, link, link)
    pairs = [(o, e) for e in range(len(forces)) for o in range(e + 1)]
    return assembled(tree, {(o, e): _coupled(met, Omega, ("contact", o), ("contact", e)) for o, e in pairs})


def _inwards(tree: Tree, A: Articulated, forces: Sequence[SX]) -> Streams:
    """Carry all unit forces to the root, bundling them where that pays."""
    met = Streams({}, {})
    active: list[dict[Key, SX]] = [{} for _ in (*tree.outwards, -1)]
    for e, contact in enumerate(tree.contacts):
        active[contact.node]["contact", e] = forces[e]
    # contacts to root: each joint couples the streams that pass it, and lets part of them through
    for i in reversed(tree.support):
        streams = active[i]
        if _pays(tree, i, streams):
            met.bundle["link", i] = streams
            streams = {("link", i): SX.eye(tree.rows[i])}
        y = {key: tree.S[i].T @ F for key, F in streams.items()}
        yielding = {key: A.D[i].solve(y_i) for key, y_i in y.items()}
        for n, later in enumerate(y):
            for key in list(y)[: n + 1]:
                met.L[key, later] = met.L.get((key, later), SX(1, 1)) + y[key].T @ yielding[later]
        for key, F in streams.items():
            active[tree.parent[i]][key] = tree.X[i].force(F - A.U[i] @ yielding[key])
    return met


def _pays(tree: Tree, i: int, streams: dict[Key, SX]) -> bool:
    """Whether six unit forces on to the next meeting cost less than the streams one by one."""
    width, rows = tree.rows[i], sum(F.size2() for F in streams.values())
    if len(streams) < 2 or rows <= width:
        return False
    joints, at = 0, i
    while at >= 0 and not (joints and tree.meeting(at)):
        joints, at = joints + tree.S[at].size, tree.parent[at]
    passing = joints * (30 * rows + rows * rows)
    bundled = joints * (30 * width + width * width) + 600 + 66 * rows + 11 * rows * (rows + 1) // 2
    return bundled < passing


def _group(met: Streams, key: Key) -> Key | None:
    """The bundle that a stream went into, if any."""
    return next((link for link, members in met.bundle.items() if key in members), None)


def _coupling(met: Streams, Omega: dict[Key, SX], a: Key, b: Key) -> SX:
    """The acceleration along a that unit forces along b cause; both went into one bundle, or none."""
    below = met.L.get((a, b))
    below = met.L[b, a].T if below is None and (b, a) in met.L else below
    link = _group(met, a)
    if link is None:
        return SX(0, 0) if below is None else (mirrored(below) if a == b else below)
    members = met.bundle[link]
    above = members[a].T @ Omega[link] @ members[b]
    whole = above if below is None else below + above
    return mirrored(whole) if a == b else whole


def _coupled(met: Streams, Omega: dict[Key, SX], a: Key, b: Key) -> list[SX]:
    """The block of W between two contacts: both are followed to the bundle where they meet."""
    left, right = _chain(met, a), _chain(met, b)
    for x, K in left:
        for z, H in right:
            if _group(met, x) == _group(met, z):
                middle = _coupling(met, Omega, x, z)
                if not middle.size1():
                    return []
                return [(middle if K is None else K.T @ middle) @ (1 if H is None else H)]
    return []


def _chain(met: Streams, key: Key) -> list[tuple[Key, SX | None]]:
    """A contact and the bundles that it is in, each with the contact's forces there."""
    chain: list[tuple[Key, SX | None]] = [(key, None)]
    link, F = _group(met, key), None
    while link is not None:
        own = met.bundle[link][key]
        F = own if F is None else own @ F
        chain.append((link, F))
        key, link = link, _group(met, link)
    return chain
