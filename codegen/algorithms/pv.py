"""PV: constrained forward dynamics by the Popov-Vereshchagin algorithm.

Popov, Vereshchagin, Zenkevich; Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676); Sathya and Carpentier 2024
(hal-04443056), Algorithm 4 without its proximal loop: O(n + m^2 d + m^3), without the joints that contacts lead
(`codegen.elimination.links`). The constraints must be independent; rows that depend on others are left out, and the
status tells. Gravity enters through the bias motion, as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX

from codegen.elimination.eliminate import held_exactly
from codegen.recursions.branch_solver import branch_solver
from codegen.recursions.bundling import worth_bundling
from codegen.recursions.force_propagators import force_propagators
from codegen.recursions.reduced import reduced
from codegen.recursions.sweeps import accelerated, bias_force_sweep, inertia_sweep
from codegen.recursions.tree import Tree


def pv(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX) -> tuple[SX, SX]:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations k."""
    return held_exactly(tree, v, tau, f_ext, k, swept)


def swept(tree: Tree, p: list[SX], tau: dict[int, SX], s: SX) -> tuple[dict[int, SX], dict[int, SX], SX]:
    """Accelerations of joints and bodies (by nodes) and multipliers (m) of rows that lack s, from rest."""
    A = inertia_sweep(tree, tree.I)
    u = bias_force_sweep(tree, A, p, tau, tree.inwards)
    propagators = force_propagators(tree, A, worth_bundling(tree))
    free = propagators.row_accelerations({i: A[i].D.solve(u[i]) for i in tree.support})
    roots = {i: (A[i].D.inverse(), propagators.at(tree, i)) for i in tree.support if tree.parent[i] < 0}
    lam = branch_solver(tree, reduced(tree, A, propagators), reduced(tree, A, propagators, roots=False), roots).solve(
        s - free
    )
    return *accelerated(tree, A, u, propagators.joint_forces([lam[contact.rows] for contact in tree.contacts])), lam
