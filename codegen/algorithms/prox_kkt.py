"""Constrained forward dynamics by the sparse proximal Cholesky factorisation of the KKT matrix.

Carpentier, Budhiraja, Mansard, Proximal and sparse resolution of constrained dynamic equations, RSS 2021: factorise
[[-1/mu, J], [J', M]] with constraints above the joints that they load, so that the joints' rows keep the tree's
sparsity: there all at the root, here each above the joints that it alone loads, if they can follow it. (There, mu
multiplies the identity; here it is the penalty, as in the 2024 paper.) The matrix itself is not needed: its pivots are
D of articulated inertias, stiffer by the constraints that went before, and of constraints what their joints yield; its
factors are applied by sweeps. Joints that contacts lead are left out beforehand (`codegen.algorithms.led`). Gravity
enters through the resting motion.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from casadi import SX

from codegen.algorithms.iteration import Iteration
from codegen.algorithms.leading import Found, Nodes, Rest, held_in_steps
from codegen.spatial import LDL, FreeJoint, diagonal, freed, ldl, zeros
from codegen.tree import Tree


@dataclass(frozen=True, slots=True)
class Block:
    """Constraints above a joint: their rows, their pivots L D L', and L^-1 F' of their forces F beyond the joint."""

    rows: list[int]
    pivots: LDL
    half: SX

    def freely(self, s: SX) -> SX:
        """D^-1 L^-1 of what the rows lack if what carries the joint stands still."""
        return self.pivots.scale(self.pivots.half(s[self.rows]))

    def multipliers(self, free: SX, a: SX) -> SX:
        """Their multipliers, if the joint is carried by acceleration a."""
        return self.pivots.back(free - self.pivots.scale(self.half) @ a)


@dataclass(frozen=True, slots=True)
class Factors:
    """By nodes: the joints, the joint forces y of unit multipliers (n x m), and the constraints above.

    Constraints that stand at the root are above the world, -1.
    """

    tree: Tree
    joint: Mapping[int, FreeJoint]
    y: Mapping[int, SX]
    above: Mapping[int, Block]

    def inwards(self, p: Sequence[SX], tau: Nodes, s: SX, nodes: Iterable[int]) -> tuple[Nodes, Nodes]:
        """Joint forces u and `Block.freely` by nodes, of forces p on bodies and what the rows lack at rest, s (m)."""
        tree, p, s, u, free = self.tree, list(p), SX(s), Nodes(), Nodes()
        # leaves to root: a joint gives way, then the constraints above it
        for i in nodes:
            u[i] = tau[i] - tree.S[i].T @ p[i]
            z = self.joint[i].D.solve(u[i])
            s, felt = s - self.y[i].T @ z, self.joint[i].force(p[i], z, tau[i])
            if i in self.above:
                free[i] = self.above[i].freely(s)
                felt -= self.above[i].half.T @ free[i]
            p[tree.parent[i]] += tree.X[i].force(felt)
        if -1 in self.above:
            free[-1] = self.above[-1].freely(s)
        return u, free

    def outwards(self, u: Nodes, free: Nodes, nodes: Iterable[int]) -> Found:
        """Accelerations of joints and bodies of `nodes`, and the multipliers (m) of constraints above these."""
        tree, lam, y, a = self.tree, zeros(self.tree.m), Nodes(), {-1: zeros(6)}
        # root to leaves: the constraints above a joint, then the joint
        for i in (-1, *nodes):
            reached = a[-1] if i < 0 else tree.X[i] @ a[tree.parent[i]]
            if i in self.above:
                lam[self.above[i].rows] = self.above[i].multipliers(free[i], reached)
            if i >= 0:
                y[i], a[i] = self.joint[i].motion(reached, u[i] + self.y[i] @ lam)
        return y, a, lam


def prox_kkt(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    return held_in_steps(tree, v, tau, f_ext, k, mu, lam0, iterated)


def iterated(rest: Rest, mu: SX, lam0: SX) -> Iteration:
    """The iteration on what is left: multipliers, what the rows lack, and the motion of what carries constraints."""
    tree, factors = rest.tree, factorised(rest.tree, mu)
    pushed = sorted({j for i in factors.above if i >= 0 for j in tree.path(tree.parent[i])})
    near, still = sorted({*pushed, *factors.above} - {-1}), {i: zeros(tree.S[i].size) for i in tree.outwards}
    u, free = factors.inwards(rest.p, rest.tau, rest.s + lam0 / mu, tree.inwards)
    y, a, first = factors.outwards(u, free, near)

    # one step: what the rows lack pushes again, and the damping tells what they lack then
    def step(lam: SX, lack: SX, y: Nodes, a: Nodes) -> tuple[SX, SX, Nodes, Nodes]:
        more = factors.inwards(tree.stack([zeros(6) for _ in tree.parts]), still, lack, tree.support[::-1])
        dy, da, dlam = factors.outwards(*more, near)
        return lam + dlam, dlam / mu, {i: y[i] + dy[i] for i in pushed}, {i: a[i] + da[i] for i in pushed}

    # at the end, root to leaves: the joints that constraints stand above, and those that know of none
    def finish(lam: SX, _: SX, y: Nodes, a: Nodes) -> Found:
        y, a = dict(y), {-1: zeros(6), **a}
        for i in (i for i in tree.outwards if i not in pushed):
            y[i], a[i] = factors.joint[i].motion(tree.X[i] @ a[tree.parent[i]], u[i] + factors.y[i] @ lam)
        return y, a, lam

    start = first, (first - lam0) / mu, {i: y[i] for i in pushed}, {i: a[i] for i in pushed}
    return Iteration(start, step, lambda lam, lack, y, a: lack, finish)


def factorised(tree: Tree, mu: SX) -> Factors:
    """The factors: joints and constraints eliminated from leaves to root."""
    IA, joint, y, above, stand = [I.articulated() for I in tree.I], {}, {}, {}, _above(tree)
    W, K = diagonal(1 / mu, tree.m), [zeros(rows, tree.m) for rows in tree.rows]
    for contact in tree.contacts:
        K[contact.node][:, contact.rows] = contact.force
    # leaves to root: a joint yields to the constraints beyond it; those above it then stiffen its carrier
    for i in tree.inwards:
        joint[i] = freed(IA[i], tree.S[i], tree.armature[i])
        y[i] = tree.S[i].T @ K[i]
        half = joint[i].D.half(y[i])
        W += half.T @ joint[i].D.scale(half)
        felt, left = joint[i].force(K[i], -joint[i].D.solve(y[i])), joint[i].left(IA[i])
        if i in stand:
            F, pivots = felt[:, stand[i]], ldl(W[stand[i], stand[i]])
            above[i] = Block(stand[i], pivots, pivots.half(F.T))
            left, felt[:, stand[i]] = left.stiffer(F, pivots), zeros(F.size1(), F.size2())
        IA[tree.parent[i]] += tree.X[i].inertia(left)
        K[tree.parent[i]] += tree.X[i].force(felt)
    rest = [r for r in range(tree.m) if not any(r in rows for rows in stand.values())]
    root = {-1: Block(rest, ldl(W[rest, rest]), zeros(len(rest), 6))} if rest else {}
    return Factors(tree, joint, y, {**above, **root})


def _above(tree: Tree) -> dict[int, list[int]]:
    """By the first joint that the contacts on one node alone load, their rows; not where it takes more joints.

    Joints follow as many rows as they have freedoms; of one body's rows, six are independent at most.
    """
    above = {}
    for node in {contact.node for contact in tree.contacts}:
        here = [contact for contact in tree.contacts if contact.node == node]
        others = {i for contact in tree.contacts if contact.node != node for i in tree.path(contact.node)}
        own = [i for i in tree.path(node) if i not in others]
        held = [sum(contact.size for contact in here if contact.body == body) for body in {c.body for c in here}]
        if sum(tree.S[i].size for i in own) >= sum(min(6, size) for size in held):
            above[own[-1]] = [row for contact in here for row in range(tree.m)[contact.rows]]
    return above
