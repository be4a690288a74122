"""The damped dual system (W + 1/mu) lam = missing + lam / mu, by the motions of joints that contacts share.

A factorisation of the dynamics gives W = Y' D^-1 Y: y are the joint forces that unit multipliers are felt as, D the
joints' inertias. Of joints on the way to several contacts, the motions nu = D^-1 (u + Y lam) stay unknowns; between
contacts W is then never formed:

    [ L + 1/mu  Y' ] [ lam ]   [ own + lam / mu ]      L, own: W and missing of all other joints,
    [ -Y        D  ] [ nu  ] = [ u              ]      L block-diagonal over contacts that share none of them.

The damping lets the multipliers go first, whatever L may lack; what is left is as large as nu (Woodbury's identity).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from casadi import SX, diagcat, vertcat

from codegen import costs
from codegen.recursions.force_propagators import ForcePropagators
from codegen.recursions.iteration import Iteration
from codegen.recursions.reduced_problem import Nodes, Solution
from codegen.recursions.sweeps import Articulated, accelerated
from codegen.recursions.tree import Tree
from codegen.spatial import diagonal, ldl, mirrored, zeros

Split = tuple[tuple[int, ...], tuple[list[int], ...]]
"""The nodes whose motions stay unknowns, and the rows of the contacts by blocks that share no others."""


@dataclass(frozen=True, slots=True)
class DampedDual:
    """The system of the module docstring: L (m x m), Y (n x m), D (n x n), u (n), own (m); the rows by blocks of L."""

    L: SX
    Y: SX
    D: SX
    u: SX
    own: SX
    blocks: tuple[list[int], ...]


def proximal(system: DampedDual, mu: SX, lam0: SX, finish: Callable[[SX, SX], tuple[Any, ...]]) -> Iteration:
    """The proximal dual iteration, one factorisation for all steps; `finish` takes multipliers and nu."""
    damped = system.L + diagonal(1 / mu, system.own.size1())
    factors = [ldl(damped[rows, rows]) for rows in system.blocks]
    halves = [block.forward(system.Y[:, rows].T) for block, rows in zip(factors, system.blocks, strict=True)]
    held = [(*each, each[1].scale(each[2])) for each in zip(system.blocks, factors, halves, strict=True)]
    S = ldl(sum((mirrored(H.T @ scaled) for _, _, H, scaled in held), system.D))

    # one step: block after block what the shared joints feel, their motions, block after block the multipliers
    def step(lam: SX, _: SX) -> tuple[SX, SX]:
        wanted, x = system.own + lam / mu, zeros(lam.size1())
        free = [block.scale(block.forward(wanted[rows])) for rows, block, *_ in held]
        felt = sum((H.T @ free_b for (_, _, H, _), free_b in zip(held, free, strict=True)), system.u)
        nu = SX(S.solve(felt))  # which of no unknowns at all is no SX
        for (rows, block, _, scaled), free_b in zip(held, free, strict=True):
            x[rows] = block.backward(free_b - scaled @ nu)
        return x, nu

    def residual(lam: SX, nu: SX) -> SX:
        return system.own - system.L @ lam - system.Y.T @ nu

    start = step(lam0, system.u)
    return Iteration(start, step, residual, finish)


def from_propagators(
    tree: Tree,
    A: Articulated,
    u: Nodes,
    s: SX,
    propagators: ForcePropagators,
    L: SX,
    parts: Split,
    mu: SX,
    lam0: SX,
) -> Iteration:
    """The iteration on articulated bodies under joint forces u: `parts` are what `split` gives, L theirs."""
    nodes, blocks = parts
    own = s - propagators.row_accelerations({i: A[i].D.solve(u[i]) for i in tree.support if i not in nodes})
    Y, D = [propagators.at(tree, i) for i in nodes], [A[i].D.A for i in nodes]
    felt = vertcat(zeros(0), *[u[i] for i in nodes])
    system = DampedDual(L, vertcat(zeros(0, tree.m), *Y), diagcat(zeros(0, 0), *D), felt, own, blocks)

    def finish(lam: SX, nu: SX) -> Solution:
        ends = accumulate(tree.S[i].size for i in nodes)
        known = {i: nu[end - tree.S[i].size : end] for i, end in zip(nodes, ends, strict=True) if tree.parent[i] < 0}
        return *accelerated(
            tree, A, u, propagators.joint_forces([lam[contact.rows] for contact in tree.contacts]), known
        ), lam

    return proximal(system, mu, lam0, finish)


def split(tree: Tree) -> Split:
    """The nodes of nu, and the blocks of rows that share no others, where that costs least."""
    return min(splits(tree), key=lambda choice: _cost(tree, *choice))


def splits(tree: Tree) -> list[Split]:
    """The ways to split: nodes of nu are all shared ones up to some depth, or none.

    But joints that contacts do not share must be able to follow them: damping alone in a block would cost digits.
    """
    depth = {i: len(tree.path(i)) for i in _shared(tree)}
    choices = [tuple(i for i in depth if depth[i] <= most) for most in (0, *sorted(set(depth.values())))]
    return [(nodes, blocks) for nodes in choices if _able(tree, nodes, blocks := _blocks(tree, nodes))]


def _shared(tree: Tree) -> list[int]:
    """The nodes on the way to several contacts."""
    return [i for i in tree.support if sum(i in tree.path(contact.node) for contact in tree.contacts) > 1]


def _able(tree: Tree, nodes: Collection[int], blocks: Sequence[Sequence[int]]) -> bool:
    """Whether the joints besides those of `nodes` have as many freedoms as each block holds (six of a body at most)."""
    for rows in blocks if nodes else ():
        held = [contact for contact in tree.contacts if contact.rows.start in rows]
        on = {body: sum(contact.size for contact in held if contact.body == body) for body in {c.body for c in held}}
        own = {i for contact in held for i in tree.path(contact.node)} - set(nodes)
        if sum(tree.S[i].size for i in own) < sum(min(6, size) for size in on.values()):
            return False
    return True


def _blocks(tree: Tree, nodes: Collection[int]) -> tuple[list[int], ...]:
    """The rows of contacts that share a joint besides those of `nodes`."""
    blocks: dict[tuple[str, int], list[int]] = {}
    for e, contact in enumerate(tree.contacts):
        beyond = [i for i in tree.path(contact.node) if i not in nodes]
        key = ("joint", beyond[-1]) if beyond else ("contact", e)
        blocks.setdefault(key, []).extend(range(contact.rows.start, contact.rows.stop))
    return tuple(blocks.values())


def _cost(tree: Tree, nodes: Collection[int], blocks: Sequence[Sequence[int]]) -> int:
    """Operations of the factorisation and of the iterations, from sizes alone."""
    rest = [i for i in _shared(tree) if i not in nodes]  # no unknowns
    total = costs.factors_and_solutions(sum(tree.S[i].size for i in nodes))
    for rows in blocks:
        path = {i for contact in tree.contacts if contact.rows.start in rows for i in tree.path(contact.node)}
        total += costs.bordered(len(rows), sum(tree.S[i].size for i in path if i in nodes))
        total += sum(costs.within(tree.S[i].size, len(rows)) for i in path if i in rest)
    return total
