"""PV: constrained forward dynamics by the Popov-Vereshchagin algorithm.

Popov, Vereshchagin, Zenkevich; Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676); Sathya and Carpentier 2024
(hal-04443056), Algorithm 4 without its proximal loop: O(n + m^2 d + m^3). The constraints must be independent; rows
that depend on others are left out, and the status tells. Accelerations are measured from the bias motion
(`codegen.lowering.reduced_problem`), of which gravity is part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.branch_solver import branch_solver
from codegen.recursions.bundling import worth_bundling
from codegen.recursions.force_propagators import force_propagators
from codegen.recursions.reduced import reduced
from codegen.recursions.reduced_problem import Nodes, Solution
from codegen.recursions.sweeps import accelerated, bias_force_sweep, inertia_sweep
from codegen.recursions.tree import Tree


def pv(tree: Tree, p: list[SX], tau: Nodes, s: SX) -> Solution:
    """Accelerations of joints and bodies (by nodes) and multipliers (m): M y = tau - S' p + J' lam, J y = s."""
    # leaves to root: articulated inertias, bias forces, and the contacts' unit forces through free joints
    A = inertia_sweep(tree, tree.I)
    u = bias_force_sweep(tree, A, p, tau, tree.inwards)
    K = force_propagators(tree, A, worth_bundling(tree))
    # at the roots: the dual system
    free = K.row_accelerations({i: A[i].D.solve(u[i]) for i in tree.support})
    roots = {i: (A[i].D.inverse(), K.at(tree, i)) for i in tree.support if tree.parent[i] < 0}
    lam = branch_solver(tree, reduced(tree, A, K), reduced(tree, A, K, roots=False), roots).solve(s - free)
    # root to leaves: accelerations
    return *accelerated(tree, A, u, K.joint_forces([lam[contact.rows] for contact in tree.contacts])), lam
