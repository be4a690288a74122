"""The Delassus matrix by branches of the roots, W = L + Y' Omega Y, and what it takes to solve with it.

L is what the joints beyond the roots give, block-diagonal over the branches; Y are the joint forces that a root feels,
Omega its compliance. Once the rows of a branch are held, the root yields less, and the next branch meets that. The
pivots are those of W in this order, so nothing else need be regular; blocks between branches are never formed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from casadi import SX, sum1, vertcat

from codegen import costs
from codegen.recursions.tree import Tree
from codegen.spatial import LDL, mirrored, semidefinite_ldl, zeros

Block = tuple[list[int], LDL, SX]  # rows of a branch, their factors, L^-1 of what makes the root move


@dataclass(frozen=True, slots=True)
class Root:
    """One root: its compliance (n x n), the forces that it feels of all rows (n x m), and rows by branches.

    `yields` is the compliance (its trace) along rows that are held already.
    """

    Omega: SX
    Y: SX
    branches: tuple[list[int], ...]
    yields: SX


@dataclass(frozen=True, slots=True)
class BranchSolver:
    """W and L (m x m, of both only what is asked for costs) and the roots, whose rows know nothing of each other."""

    W: SX
    L: SX
    roots: tuple[Root, ...]

    def solve(self, b: SX) -> SX:
        """W^-1 b; rows that depend on others are left out."""
        x = zeros(b.size1())
        for root in self.roots:
            first = [self.W[r, r] for r in root.branches[0]]
            size = sum1(vertcat(root.yields, *first, *[self.L[r, r] for rows in root.branches[1:] for r in rows]))
            blocks = _held(self.W, self.L, root, size)
            a, f, halves = zeros(root.Y.size1()), zeros(root.Y.size1()), []
            # forwards: what the root does when the rows so far are held; backwards: what the rows after push
            for rows, block, H in blocks:
                halves.append(block.forward(b[rows] - root.Y[:, rows].T @ a))
                a += H.T @ block.scale(halves[-1])
            for (rows, block, H), half in zip(reversed(blocks), reversed(halves), strict=True):
                x[rows] = block.backward(block.scale(half - H @ f))
                f += root.Y[:, rows] @ x[rows]
        return x


def _held(W: SX, L: SX, root: Root, size: SX) -> list[Block]:
    """Branch after branch: its rows, their factors while those before are held, and L^-1 of what moves the root.

    Pivots vanish beside `size`.
    """
    Omega, blocks = root.Omega, []
    for n, rows in enumerate(root.branches):
        G = Omega @ root.Y[:, rows]
        block = semidefinite_ldl(L[rows, rows] + root.Y[:, rows].T @ G if n else W[rows, rows], size)
        H = block.forward(G.T)
        Omega -= mirrored(H.T @ block.scale(H))
        blocks.append((rows, block, H))
    return blocks


def branch_solver(tree: Tree, W: SX, L: SX, roots: Mapping[int, tuple[SX, SX]]) -> BranchSolver:
    """W from L and, by root nodes, their compliances Omega (n x n) and forces Y (n x m)."""
    found = (Root(Omega, Y, _branches(tree, i), _yields(tree, i)) for i, (Omega, Y) in roots.items())
    return BranchSolver(W, L, tuple(found))


def _yields(tree: Tree, root: int) -> SX:
    """What rows of the contacts beyond a root, held already, yield."""
    return sum((contact.yields for contact in tree.contacts if tree.path(contact.node)[-1] == root), SX(1, 1))


def _branches(tree: Tree, root: int) -> tuple[list[int], ...]:
    """The rows beyond a root by branches; all at once if they are few: one block then costs no more than its parts."""
    branches: dict[int, list[int]] = {}
    for contact in tree.contacts:
        *beyond, own = tree.path(contact.node)
        if own == root:
            rows = range(contact.rows.start, contact.rows.stop)
            branches.setdefault(beyond[-1] if beyond else root, []).extend(rows)
    groups = sorted(branches.values(), key=len)
    together = [row for rows in groups for row in rows]
    return (together,) if costs.in_one_block(len(together), tree.S[root].size) else tuple(groups)
