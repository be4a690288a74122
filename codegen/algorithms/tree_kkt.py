"""Tree-KKT: constrained forward dynamics by factors of the proximal KKT matrix, constraints within the tree, by sweeps.

Carpentier, Budhiraja, Mansard (RSS 2021; `codegen.algorithms.prox_kkt`) factorise [[-1/mu, J], [J', M]] with all
constraints above the root, so that the joints' rows keep the tree's sparsity. Here each constraint is above the joints
that it alone loads, if they can follow it, and the matrix is not formed: its pivots are D of articulated inertias,
stiffer by the constraints that went before, and of constraints what their joints yield; its factors are applied by
sweeps. Accelerations are measured from the bias motion (`codegen.lowering.reduced_problem`), of which gravity is part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from casadi import SX, horzcat

from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.early_elimination import drawn
from codegen.recursions.iteration import Iteration
from codegen.recursions.reduced_problem import Nodes, Solution
from codegen.recursions.sweeps import acceleration_sweep, contact_accelerations
from codegen.recursions.tree import Tree
from codegen.spatial import LDL, ArticulatedJoint, articulated_joint, diagonal, ldl, zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLEAR = 1e-4  # what joints yield to rows counts from this part of all that they yield


@dataclass(frozen=True, slots=True)
class Block:
    """Constraints above a joint: their rows, their pivots L D L', and L^-1 F' of their forces F beyond the joint."""

    rows: list[int]
    pivots: LDL
    half: SX

    def freely(self, s: SX) -> SX:
        """D^-1 L^-1 of what the rows lack if what carries the joint stands still."""
        return self.pivots.scale(self.pivots.forward(s[self.rows, :]))

    def multipliers(self, free: SX, a: SX) -> SX:
        """Their multipliers, if what carries the joint accelerates by a."""
        return self.pivots.backward(free - self.pivots.scale(self.half) @ a)


@dataclass(frozen=True, slots=True)
class Factors:
    """By nodes: the joints, the joint forces y of unit multipliers (n x m), and the constraints above.

    Constraints that stand at the `root` are above the world, -1.
    """

    tree: Tree
    joint: Mapping[int, ArticulatedJoint]
    y: Mapping[int, SX]
    above: Mapping[int, Block]
    root: Block

    def inwards(self, p: Sequence[SX], tau: Nodes, s: SX, nodes: Iterable[int]) -> tuple[Nodes, list[SX], SX]:
        """Joint forces u of `nodes`, of forces p on bodies; p and what rows lack, s (m), once these have yielded."""
        tree, p, u = self.tree, [*p], Nodes()
        # leaves to root: a joint gives way, its carrier bears what is left
        for i in nodes:
            u[i] = tau[i] - tree.S[i].T @ p[i]
            z = self.joint[i].D.solve(u[i])
            s = s - self.y[i].T @ z
            p[tree.parent[i]] += tree.X[i].force(self.joint[i].projected_force(p[i], z, tau[i]))
        return u, p, s

    def outwards(self, u: Nodes, free: Nodes, nodes: Iterable[int]) -> Solution:
        """Accelerations of joints and bodies of `nodes`, and the multipliers (m) of constraints above these."""
        tree, lam, y, a = self.tree, zeros(self.tree.m), Nodes(), {-1: zeros(6)}
        lam[self.root.rows] = self.root.multipliers(free[-1], a[-1])
        # root to leaves: the constraints above a joint, then the joint
        for i in nodes:
            a[i] = tree.X[i] @ a[tree.parent[i]]
            if i in self.above:
                lam[self.above[i].rows] = self.above[i].multipliers(free[i], a[i])
            y[i], a[i] = self.joint[i].motion(a[i], u[i] + self.y[i] @ lam)
        return y, a, lam


def tree_kkt(tree: Tree, p: list[SX], tau: Nodes, s: SX, mu: SX, lam0: SX) -> Iteration:
    """Accelerations of joints and bodies (by nodes) and multipliers (m): M y = tau - S' p + J' lam, J y near s.

    Steps change multipliers, and the motion of what carries joints with constraints above them.
    """
    factors, lacking = factorised(tree, mu), s
    carriers = sorted({j for i in factors.above for j in tree.path(tree.parent[i])})
    u, p, s = factors.inwards(p, tau, s, [i for i in tree.inwards if i not in carriers])

    # one step: the KKT system again, from these constraints on, its damping undone by the last multipliers
    def step(lam: SX, *motion: Nodes) -> tuple[SX, Nodes, Nodes]:
        wanted, pushed = s + lam / mu, [*p]
        free = {i: block.freely(wanted) for i, block in factors.above.items()}
        for i, block in factors.above.items():
            pushed[tree.parent[i]] -= tree.X[i].force(block.half.T @ free[i])
        u_near, _, wanted = factors.inwards(pushed, tau, wanted, carriers[::-1])
        free[-1] = factors.root.freely(wanted)
        y, a, lam = factors.outwards({**u, **u_near}, free, sorted({*carriers, *factors.above}))
        return lam, {i: y[i] for i in carriers}, {i: a[i] for i in carriers}

    # root to leaves: other joints, under what their multipliers add to forces that do not depend on these
    def completed(lam: SX, y: Nodes, a: Nodes, nodes: Iterable[int]) -> Solution:
        pushed = {i: u[i] + factors.y[i] @ lam for i in nodes if i not in y}
        y_far, a = acceleration_sweep(tree, factors.joint, pushed, pushed, a)
        return {**y, **y_far}, a, lam

    def residual(lam: SX, y: Nodes, a: Nodes) -> SX:
        return lacking - contact_accelerations(tree, completed(lam, y, a, tree.support)[1])

    return Iteration(step(lam0), step, residual, lambda lam, y, a: completed(lam, y, a, tree.outwards))


def factorised(tree: Tree, mu: SX) -> Factors:
    """The factors: joints and constraints eliminated from leaves to root."""
    IA, joint, y, above, stand = [I.articulated() for I in tree.I], {}, {}, {}, _above(tree)
    W, K = diagonal(1 / mu, tree.m), [zeros(rows, tree.m) for rows in tree.rows]
    for contact in tree.contacts:
        K[contact.node][:, contact.rows] = contact.force
    # leaves to root: a joint yields to the constraints beyond it; those above it then stiffen its carrier
    for i in tree.inwards:
        joint[i] = articulated_joint(IA[i], tree.S[i], tree.armature[i])
        y[i] = tree.S[i].T @ K[i]
        half = joint[i].D.forward(y[i])
        W += half.T @ joint[i].D.scale(half)
        felt, left = joint[i].projected_force(K[i], -joint[i].D.solve(y[i])), joint[i].projected_inertia(IA[i])
        if i in stand:
            F, pivots = felt[:, stand[i]], ldl(W[stand[i], stand[i]])
            above[i] = Block(stand[i], pivots, pivots.forward(F.T))
            left, felt[:, stand[i]] = left.stiffer(F, pivots), zeros(F.size1(), F.size2())
        IA[tree.parent[i]] += tree.X[i].inertia(left)
        K[tree.parent[i]] += tree.X[i].force(felt)
    rest = [r for r in range(tree.m) if not any(r in rows for rows in stand.values())]
    return Factors(tree, joint, y, above, Block(rest, ldl(W[rest, rest]), zeros(len(rest), 6)))


def _above(tree: Tree) -> dict[int, list[int]]:
    """By the first joint that the contacts on one node alone load, their rows, if these joints can follow them all.

    At generic configurations, that is: of numbers drawn at random.
    """
    above, J_T = {}, jacobian_transpose(tree)
    for node in {contact.node for contact in tree.contacts}:
        own = _own_joints(tree, node)
        here = [contact for contact in tree.contacts if contact.node == node]
        rows = [row for contact in here for row in range(tree.m)[contact.rows]]
        y = J_T[[dof for i in own for dof in range(tree.nv)[tree.dofs[i]]], rows]
        K = horzcat(*[contact.force for contact in here])
        if all(_rank(felt) == _rank(held) for felt, held in zip(drawn(tree, y), drawn(tree, K), strict=True)):
            above[own[-1]] = rows
    return above


def _own_joints(tree: Tree, node: int) -> list[int]:
    """The joints that only contacts on this node load, from the node towards the root."""
    others = {i for contact in tree.contacts if contact.node != node for i in tree.path(contact.node)}
    return [i for i in tree.path(node) if i not in others]


def _rank(values: NDArray[np.float64]) -> int:
    return int(np.linalg.matrix_rank(values, CLEAR * np.linalg.norm(values))) if values.size else 0
