"""proxPV: constrained forward dynamics by the Popov-Vereshchagin sweeps around a proximal dual solver.

Sathya and Carpentier 2024 (hal-04443056), Algorithm 4: (W + 1/mu) lam+ = missing + lam / mu, factorised once, by the
motions of joints that contacts share (`codegen.algorithms.shared`). Singular constraints converge to the least-squares
solution. Joints that contacts lead (`codegen.algorithms.led`) are left out beforehand. Gravity enters through the
resting motion.
"""

from __future__ import annotations

from itertools import accumulate

from casadi import SX, diagcat, vertcat

from codegen.algorithms.bundling import worth_bundling
from codegen.algorithms.iteration import Iteration
from codegen.algorithms.leading import Found, Rest, held_in_steps
from codegen.algorithms.reduced import reduced
from codegen.algorithms.shared import Shared, proximal, split
from codegen.algorithms.streams import gathered
from codegen.algorithms.sweeps import accelerated, articulated, transmitted
from codegen.spatial import zeros
from codegen.tree import Tree


def prox_pv(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    return held_in_steps(tree, v, tau, f_ext, k, mu, lam0, swept)


def swept(rest: Rest, mu: SX, lam0: SX) -> Iteration:
    """The iteration on what is left."""
    tree, A, (nodes, blocks) = rest.tree, articulated(rest.tree, rest.tree.I), split(rest.tree)
    u = transmitted(tree, A, rest.p, rest.tau, tree.inwards)
    met = gathered(tree, A, worth_bundling(tree), nodes)
    own = rest.s - met.seen({i: A[i].D.solve(u[i]) for i in tree.support if i not in nodes})
    Y, D = [met.at(tree, i) for i in nodes], [A[i].D.A for i in nodes]
    system = Shared(
        reduced(tree, A, met, roots=False),
        vertcat(zeros(0, tree.m), *Y),
        diagcat(zeros(0, 0), *D),
        vertcat(zeros(0), *[u[i] for i in nodes]),
        own,
        blocks,
    )

    def finish(lam: SX, nu: SX) -> Found:
        ends = accumulate(tree.S[i].size for i in nodes)
        known = {i: nu[end - tree.S[i].size : end] for i, end in zip(nodes, ends, strict=True) if tree.parent[i] < 0}
        return *accelerated(tree, A, u, met.pushed([lam[contact.rows] for contact in tree.contacts]), known), lam

    return proximal(system, mu, lam0, finish)
