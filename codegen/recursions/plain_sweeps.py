"""The sweeps that the papers' listings share, over matrices (`codegen.recursions.plain_tree`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from casadi import SX, diag, diagcat, vertcat

from codegen.recursions.plain_tree import HeldNode, PlainTree
from codegen.spatial import LDL, ldl, mirrored, zeros

Nodes = dict[int, SX]


@dataclass(frozen=True, slots=True)
class PlainJoints:
    """By nodes: U = IA S, the factors of D = S' U, and Ia = IA - U D^-1 U'; IA itself."""

    IA: Nodes
    U: Nodes
    D: Mapping[int, LDL]
    Ia: Nodes


def articulated(robot: PlainTree, I: Sequence[SX]) -> PlainJoints:
    """Articulated inertias, from those of the links."""
    IA, U, D, Ia = Nodes(enumerate(I)), Nodes(), dict[int, LDL](), Nodes()
    # leaves to root
    for i in robot.inwards:
        U[i] = IA[i] @ robot.S[i]
        D[i] = ldl(mirrored(robot.S[i].T @ U[i]) + robot.armature[i])
        Ia[i] = mirrored(IA[i] - D[i].solve(U[i].T).T @ U[i].T)
        if robot.parent[i] >= 0:
            IA[robot.parent[i]] += mirrored(robot.X[i].T @ Ia[i] @ robot.X[i])
    return PlainJoints(IA, U, D, Ia)


def stiffened(robot: PlainTree, mu: SX) -> list[SX]:
    """Link inertias H + K' mu K, for one mu or one by row."""
    H = list(robot.I)
    for link in robot.held:
        H[link.node] += mirrored(link.K.T @ weighted(mu, link))
    return H


def weighted(mu: SX, link: HeldNode) -> SX:
    """mu K, for one mu or one by row."""
    return mu * link.K if mu.size1() == 1 else diag(mu[link.rows]) @ link.K


def inward(
    robot: PlainTree, A: PlainJoints, p: Sequence[SX] | Nodes, c: Sequence[SX], tau: Nodes, nodes: Iterable[int]
) -> tuple[Nodes, Nodes]:
    """u = tau - S' pA and bias forces pA of `nodes`, children first; velocity products play no part if c is empty."""
    pA, u = dict(p) if isinstance(p, dict) else dict(enumerate(p)), Nodes()
    for i in nodes:
        u[i] = tau[i] - robot.S[i].T @ pA[i]
        if robot.parent[i] >= 0:
            pa = pA[i] + A.U[i] @ A.D[i].solve(u[i]) + (A.Ia[i] @ c[i] if c else zeros(pA[i].size1()))
            pA[robot.parent[i]] += robot.X[i].T @ pa
    return u, pA


def outward(
    robot: PlainTree,
    A: PlainJoints,
    u: Nodes,
    c: Sequence[SX],
    a0: SX,
    nodes: Iterable[int],
    known: Nodes | None = None,
) -> tuple[Nodes, Nodes]:
    """Joint and spatial accelerations of `nodes`, parents first; `known` are those of bodies already."""
    a, y = {-1: a0, **(known or {})}, Nodes()
    for i in nodes:
        a[i] = robot.X[i] @ a[robot.parent[i]] + (c[i] if c else zeros(robot.X[i].size1()))
        y[i] = A.D[i].solve(u[i] - A.U[i].T @ a[i])
        a[i] += robot.S[i] @ y[i]
    return y, a


@dataclass(frozen=True, slots=True)
class PlainRows:
    """By nodes, -1 the world: numbers of the rows of all constraints beyond, K of these, and L, what joints yield.

    L is block-diagonal over the branches. `y` are joint forces of unit multipliers (n x rows).
    """

    numbers: Mapping[int, Sequence[int]]
    K: Nodes
    L: Nodes
    y: Nodes

    def at(self, i: int, m: int) -> tuple[SX, SX]:
        """K and L of node i over all m rows of the contacts."""
        K, L, own = zeros(m, self.K[i].size2()), zeros(m, m), list(self.numbers[i])
        K[own, :], L[own, own] = self.K[i], self.L[i]
        return K, L


def propagated(robot: PlainTree, A: PlainJoints) -> PlainRows:
    """The inward sweep of PV: lines 9 and 10 of Algorithm 4."""
    nodes = (*robot.outwards, -1)
    rows: dict[int, list[int]] = {i: [] for i in nodes}
    beyond, y = {i: zeros(0, robot.X[i].size1() if i >= 0 else 6) for i in nodes}, Nodes()
    for link in robot.held:
        beyond[link.node], rows[link.node] = link.K, list(link.rows)
    L = {i: zeros(len(rows[i]), len(rows[i])) for i in nodes}
    # contacts to root
    for i in reversed(robot.tree.support):
        y[i], above = (beyond[i] @ robot.S[i]).T, robot.parent[i]
        z = A.D[i].solve(y[i])
        beyond[above] = vertcat(beyond[above], (beyond[i] - z.T @ A.U[i].T) @ robot.X[i])
        L[above] = diagcat(L[above], mirrored(L[i] + y[i].T @ z))
        rows[above] += rows[i]
    return PlainRows(rows, beyond, L, y)


def solved_by_branches(robot: PlainTree, A: PlainJoints, rows: PlainRows, b: SX) -> SX:
    """W^-1 b (m) by W = L1 + K1 (H1)^-1 K1', L1 block-diagonal over the branches of the roots, and inversion lemma."""
    x = zeros(robot.tree.m)
    for root in (i for i in robot.tree.support if robot.parent[i] < 0):
        own, blocks, y = list(rows.numbers[root]), ldl(rows.L[root]), rows.y[root]
        free, response = blocks.solve(b[own]), blocks.solve(y.T)
        x[own] = free - response @ ldl(A.D[root].A + mirrored(y @ response)).solve(y @ free)
    return x


def branches_follow(robot: PlainTree) -> bool:
    """Whether the roots float, and the joints of each of their branches are enough to follow its constraints alone."""
    freedoms = {i: robot.S[i].size2() for i in robot.tree.support}
    rows, joints = dict[int, int](), dict[int, set[int]]()
    for link in robot.held:
        *branch, root = robot.path(link.node)
        if not branch or freedoms[root] < 6:
            return False
        rows[branch[-1]] = rows.get(branch[-1], 0) + len(link.rows)
        joints[branch[-1]] = joints.get(branch[-1], set()) | {*branch}
    return all(rows[b] <= sum(freedoms[i] for i in joints[b]) for b in rows)
