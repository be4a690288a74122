"""Lines 5 to 20 of Algorithm 5: the Delassus matrix by propagators between branching links.

Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676), sec. V; Sathya and Carpentier 2024 (hal-04443056). A
branching link supports strictly more constraints than each of its children. Over matrices
(`codegen.recursions.plain_tree`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from casadi import SX

from codegen.recursions.plain_sweeps import PlainJoints
from codegen.recursions.plain_tree import HeldNode, PlainTree
from codegen.spatial import mirrored, zeros

WORLD = -1
Key = tuple[str, int]  # what is propagated, the rows of a "contact" or a whole "link", and its node


@dataclass(frozen=True, slots=True)
class Propagated:
    """Rows or a whole link, from where they are to the next branching link `end`: K there, and what joints yield, L."""

    K: SX
    L: SX
    end: int = WORLD


def branching_osim(
    robot: PlainTree, A: PlainJoints, held: Sequence[HeldNode], to_roots: bool = False
) -> tuple[SX, dict[int, SX]]:
    """W (m x m), symmetric, and by the links where the sweep ends the rows (m x 6 k) there.

    It ends at the world or, `to_roots`, at the roots, which are then locked.
    """
    ends = [i for i in robot.tree.support if robot.parent[i] < 0] if to_roots else [WORLD]
    sizes = {end: robot.X[end].size1() if to_roots else 6 for end in ends}
    to_next, Omega = propagators(robot, A, held, ends), {end: zeros(size, size) for end, size in sizes.items()}
    # root to leaves, over branching links: inverse inertias
    for i in sorted(node for kind, node in to_next if kind == "link"):
        link = to_next["link", i]
        Omega[i] = mirrored(link.L + link.K @ Omega[link.end] @ link.K.T)
    rows = {one.node: _rows(to_next, one.node, ends) for one in held}
    last = {end: zeros(robot.tree.m, size) for end, size in sizes.items()}
    for one in held:
        for end in set(rows[one.node]) & set(ends):
            last[end][one.rows, :] = rows[one.node][end]
    return _pairs(robot, held, to_next, Omega, rows), last


def _pairs(
    robot: PlainTree,
    held: Sequence[HeldNode],
    to_next: Mapping[Key, Propagated],
    Omega: Mapping[int, SX],
    rows: Mapping[int, Mapping[int, SX]],
) -> SX:
    """Lines 17 to 20: blocks of W, by the inverse inertia of the closest branching link."""
    W = zeros(robot.tree.m, robot.tree.m)
    moved = {(i, n): K @ Omega[n] for i, on in rows.items() for n, K in on.items()}
    for first, second in combinations_with_replacement(held, 2):
        common = set(rows[first.node]) & set(rows[second.node])
        if common:
            meeting = max(common)
            block = moved[first.node, meeting] @ rows[second.node][meeting].T
            own = to_next["contact", first.node].L
            W[first.rows, second.rows] = mirrored(own + block) if first is second else block
    return mirrored(W)


def _rows(to_next: Mapping[Key, Propagated], node: int, ends: Sequence[int]) -> dict[int, SX]:
    """Rows of the contacts on a node, on every branching link on the way and on the last one."""
    own = to_next["contact", node]
    at, K = own.end, {own.end: own.K}
    while at not in ends:
        link = to_next["link", at]
        K[link.end] = K[at] @ link.K
        at = link.end
    return K


def propagators(
    robot: PlainTree, A: PlainJoints, held: Sequence[HeldNode], ends: Sequence[int]
) -> dict[Key, Propagated]:
    """What every contact and every branching link propagates to the next branching link, or to where the sweep ends."""
    found = dict[Key, Propagated]()
    active: dict[int, dict[Key, Propagated]] = {i: {} for i in (*robot.outwards, WORLD)}
    for one in held:
        active[one.node]["contact", one.node] = Propagated(one.K, zeros(len(one.rows), len(one.rows)))
    # contacts to root
    for i in reversed(robot.tree.support):
        if i in ends or len(active[i]) > 1 or any(one.node == i and one.contacts > 1 for one in held):
            found.update({key: Propagated(own.K, own.L, i) for key, own in active[i].items()})
            size = robot.X[i].size1()
            active[i] = {} if i in ends else {("link", i): Propagated(SX.eye(size), zeros(size, size))}
        for key, own in active[i].items():
            y = (own.K @ robot.S[i]).T
            z = A.D[i].solve(y)
            K_above = (own.K - z.T @ A.U[i].T) @ robot.X[i]
            active[robot.parent[i]][key] = Propagated(K_above, mirrored(own.L + y.T @ z))
    return {**found, **active[WORLD]}
