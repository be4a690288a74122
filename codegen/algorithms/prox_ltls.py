"""proxLTLs: constrained forward dynamics by the LTL factorisation of the stiffened inertia matrix.

Sathya and Carpentier 2024 (hal-04443056), eq. 16 and 24: M + mu J'J by CRBA over links with mu K'K added to their
inertias, factorised once; the multipliers follow lam+ = lam + mu (k - J a). J is not formed: J a and J' lam are sweeps.
Joints that contacts lead (`codegen.algorithms.led`) are left out beforehand. Gravity enters through the resting motion.
"""

from __future__ import annotations

from dataclasses import replace

from casadi import SX, vertcat, vertsplit

from codegen.algorithms.crba import composite
from codegen.algorithms.iteration import Iteration
from codegen.algorithms.leading import Found, Nodes, Rest, held_in_steps
from codegen.algorithms.sweeps import carried_along, loaded, pushed, seen, stiffened
from codegen.spatial import ltdl, zeros
from codegen.tree import Tree


def prox_ltls(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    return held_in_steps(tree, v, tau, f_ext, k, mu, lam0, factorised, stiff=True)


def factorised(rest: Rest, mu: SX, lam0: SX) -> Iteration:
    """The iteration on what is left."""
    tree, s, support = rest.tree, rest.s, rest.tree.support
    M = ltdl(composite(tree, stiffened(tree, mu)), tree.dof_parent)
    # small forces first: the first push, mu s, is far larger than what it leaves
    p = pushed(tree, pushed(tree, rest.p, lam0), mu * s)
    free = M.scale(M.half(replace(rest, p=p).bias()))

    # what the contacts lack: J y by a sweep over the nodes that carry them
    def lack(y: Nodes) -> SX:
        return s - seen(tree, carried_along(tree, y, support))

    # one step: it pushes again, J' by a sweep over the same nodes, and only they feel it
    def step(lam: SX, y: Nodes) -> tuple[SX, Nodes]:
        push, still = mu * lack(y), {i: zeros(S.size) for i, S in enumerate(tree.S)}
        felt = loaded(tree, pushed(tree, tree.stack([zeros(6) for _ in tree.parts]), push), support[::-1])
        dy = tree.split(M.solve(-vertcat(*({**still, **felt}).values())))
        return lam + push, {i: y[i] + dy[i] for i in support}

    # at the end, the joints that carry no contact
    def finish(lam: SX, y: Nodes) -> Found:
        known = dict(zip(tree.dofs_of(support), vertsplit(vertcat(*y.values())), strict=True))
        return rest.by_nodes(M.back(free, known), lam + mu * lack(y))

    start = tree.split(M.back(free))
    return Iteration((lam0, {i: start[i] for i in support}), step, lambda lam, y: lack(y), finish)
