"""NSGS: contacts that break, stick and slip, by a Gauss-Seidel method over points of contact.

Jourdan, Alart, Jean 1998 (A Gauss-Seidel like algorithm to solve frictional contact problems): point after point, the
forces that obey Coulomb's law there (`codegen.recursions.coulomb`) while those of all others stay. A contact without
friction is an equation. The Delassus matrix W and the accelerations without contacts come from the Popov-Vereshchagin
sweeps (Sathya and Carpentier 2024, hal-04443056, Algorithm 4). Accelerations are measured from the bias motion
(`codegen.lowering.reduced_problem`), of which gravity is part.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.recursions.bundling import worth_bundling
from codegen.recursions.coulomb import cone_force, lack
from codegen.recursions.force_propagators import force_propagators
from codegen.recursions.iteration import Iteration
from codegen.recursions.reduced import reduced
from codegen.recursions.reduced_problem import Nodes, Solution
from codegen.recursions.sweeps import accelerated, bias_force_sweep, inertia_sweep
from codegen.recursions.tree import Tree
from codegen.spatial import semidefinite_ldl

SWEEPS = 4  # over all points, in every step


def nsgs(tree: Tree, p: list[SX], tau: Nodes, s: SX, lam0: SX) -> Iteration:
    """Accelerations of joints and bodies (by nodes), multipliers (m): M y = tau - S' p + J' lam, J y - s by the law."""
    # leaves to root: articulated inertias, bias forces, and the contacts' unit forces; then W, and motions without them
    A = inertia_sweep(tree, tree.I)
    u = bias_force_sweep(tree, A, p, tau, tree.inwards)
    K = force_propagators(tree, A, worth_bundling(tree))
    W = reduced(tree, A, K)
    c = K.row_accelerations({i: A[i].D.solve(u[i]) for i in tree.support}) - s

    # one step: sweeps over the points
    def step(lam: SX) -> tuple[SX]:
        found = SX(lam)
        for contact in tree.contacts * SWEEPS:
            rows, own = contact.rows, W[contact.rows, contact.rows]
            others = c[rows] + W[rows, :] @ found - own @ found[rows]
            if contact.friction is None:
                found[rows] = -semidefinite_ldl(own).solve(others)
            else:
                found[rows] = cone_force(own, others, contact.friction)
        return (found,)

    def residual(lam: SX) -> SX:
        motion = c + W @ lam
        return vertcat(*[lack(W[e.rows, e.rows], motion[e.rows], lam[e.rows], e.friction) for e in tree.contacts])

    # root to leaves: accelerations
    def finish(lam: SX) -> Solution:
        return *accelerated(tree, A, u, K.joint_forces([lam[contact.rows] for contact in tree.contacts])), lam

    return Iteration(step(lam0), step, residual, finish)
