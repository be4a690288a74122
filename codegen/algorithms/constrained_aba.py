"""constrainedABA: constrained forward dynamics in O(n + m), by the proximal method of multipliers.

Sathya and Carpentier 2024 (hal-04443056), Algorithms 1 to 3: ABA on link inertias H + mu K'K and forces K'(mu k + lam);
each further iteration sweeps only nodes that carry contacts, homogeneously. Singular constraints converge to the
least-squares solution. Accelerations are measured from the bias motion (`codegen.lowering.reduced_problem`), of which
gravity is part.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from casadi import SX

from codegen.recursions.iteration import Iteration
from codegen.recursions.reduced_problem import Nodes, Solution
from codegen.recursions.sweeps import (
    acceleration_sweep,
    add_contact_forces,
    bias_force_sweep,
    contact_accelerations,
    inertia_sweep,
    stiffened,
)
from codegen.recursions.tree import Tree
from codegen.spatial import zeros

Moved = tuple[Nodes, Nodes]  # accelerations of joints and of bodies


def constrained_aba(tree: Tree, p: list[SX], tau: Nodes, s: SX, mu: SX, lam0: SX) -> Iteration:
    """Accelerations of joints and bodies (by nodes) and multipliers (m): M y = tau - S' p + J' lam, J y near s."""
    A = inertia_sweep(tree, stiffened(tree, mu))
    return pushing(tree, p, tau, s, mu, lam0, partial(bias_force_sweep, tree, A), partial(acceleration_sweep, tree, A))


def pushing(
    tree: Tree,
    p: list[SX],
    tau: Nodes,
    s: SX,
    mu: SX,
    lam0: SX,
    inward: Callable[..., Nodes],
    outward: Callable[..., Moved],
) -> Iteration:
    """What contacts lack pushes, again and again, by solves with M + mu J'J in two sweeps.

    `inward` takes bias forces on bodies, joint forces and nodes; `outward` what comes of it, nodes and known motions.
    """
    support = tree.support
    u = inward(add_contact_forces(tree, p, lam0 + mu * s), tau, tree.inwards)
    y, a = outward(u, support)

    # one step: what the contacts still lack pushes again, through the nodes that carry them
    def step(lam: SX, y: Nodes, a: Nodes) -> tuple[SX, Nodes, Nodes]:
        push = mu * (s - contact_accelerations(tree, a))
        still = {i: zeros(tree.S[i].size) for i in support}
        du = inward(add_contact_forces(tree, tree.stack([zeros(6) for _ in tree.parts]), push), still, support[::-1])
        dy, da = outward(du, support)
        return lam + push, {i: y[i] + dy[i] for i in support}, {i: a[i] + da[i] for i in support}

    # at the end, the nodes that carry no contact
    def finish(lam: SX, y: Nodes, a: Nodes) -> Solution:
        others = [i for i in tree.outwards if i not in support]
        y_others, a_others = outward(u, others, a)
        return {**y, **y_others}, {**a, **a_others}, lam + mu * (s - contact_accelerations(tree, a))

    def residual(_: SX, __: Nodes, a: Nodes) -> SX:
        return s - contact_accelerations(tree, a)

    return Iteration((lam0, y, {i: a[i] for i in support}), step, residual, finish)
