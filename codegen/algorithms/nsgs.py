"""NSGS: contacts that break, stick and slip, by a Gauss-Seidel method over points of contact, and Newton's over all.

Jourdan, Alart, Jean 1998 (A Gauss-Seidel like algorithm to solve frictional contact problems): point after point, the
forces that obey Coulomb's law there (`codegen.recursions.coulomb`) while those of all others stay. A contact without
friction is an equation. Then a step of Newton's method for all (`codegen.recursions.friction`). The Delassus matrix W
and the accelerations without contacts come from the Popov-Vereshchagin sweeps (Sathya and Carpentier 2024,
hal-04443056, Algorithm 4). Accelerations are measured from the bias motion (`codegen.lowering.reduced_problem`), of
which gravity is part.
"""

from __future__ import annotations

from collections.abc import Callable

from casadi import SX, reshape, vec

from codegen import costs
from codegen.recursions.bundling import worth_bundling
from codegen.recursions.composition import INLINE, Parts
from codegen.recursions.force_propagators import force_propagators
from codegen.recursions.friction import Friction
from codegen.recursions.iteration import Iteration
from codegen.recursions.reduced import reduced
from codegen.recursions.reduced_problem import Nodes, Solution
from codegen.recursions.sweeps import accelerated, bias_force_sweep, inertia_sweep
from codegen.recursions.tree import Tree

SWEEPS = 3  # over all points, before a step of Newton's method


def nsgs(tree: Tree, p: list[SX], tau: Nodes, s: SX, lam0: SX, parts: Parts = INLINE) -> Iteration:
    """Accelerations of joints and bodies (by nodes), multipliers (m): M y = tau - S' p + J' lam, J y - s by the law."""
    # leaves to root: articulated inertias, bias forces, and the contacts' unit forces; then W, and motions without them
    A = inertia_sweep(tree, tree.I)
    u = bias_force_sweep(tree, A, p, tau, tree.inwards)
    K = force_propagators(tree, A, worth_bundling(tree))
    law = Friction(tree.contacts, reduced(tree, A, K))
    c = K.row_accelerations({i: A[i].D.solve(u[i]) for i in tree.support}) - s

    # root to leaves: accelerations
    def finish(lam: SX) -> Solution:
        return *accelerated(tree, A, u, K.joint_forces([lam[contact.rows] for contact in tree.contacts])), lam

    step = stepping(law, c, parts)
    return Iteration(step(lam0), step, lambda lam: law.lack(c, lam), finish)


def stepping(law: Friction, c: SX, parts: Parts) -> Callable[[SX], tuple[SX]]:
    """The step of multipliers (m), of rows that move as c (m) without them."""

    def improved(_within: Parts, W: SX, c: SX, lam: SX) -> tuple[SX]:
        own = Friction(law.contacts, reshape(W, law.W.shape))
        # sweeps over the points, then all of them
        for _ in range(SWEEPS):
            lam = own.swept(c, lam)
        return (own.step(c, lam),)

    called = parts.once(improved, least=costs.IMPROVED)
    return lambda lam: called(vec(law.W), c, lam)
