"""proxPV: constrained forward dynamics by the Popov-Vereshchagin sweeps around a proximal dual solver.

Sathya and Carpentier 2024 (hal-04443056), Algorithm 4: (W + 1/mu) lam+ = missing + lam / mu, factorised once, by the
motions of joints that contacts share (`codegen.algorithms.shared`). Singular constraints converge to the least-squares
solution. Joints that contacts lead (`codegen.algorithms.led`) are left out beforehand. Gravity enters through the
resting motion.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.bundling import worth_bundling
from codegen.algorithms.iteration import Iteration
from codegen.algorithms.leading import Rest, held_in_steps
from codegen.algorithms.reduced import reduced
from codegen.algorithms.shared import by_streams, split
from codegen.algorithms.streams import gathered
from codegen.algorithms.sweeps import articulated
from codegen.tree import Tree


def prox_pv(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    return held_in_steps(tree, v, tau, f_ext, k, mu, lam0, swept)


def swept(rest: Rest, mu: SX, lam0: SX) -> Iteration:
    """The iteration on what is left."""
    tree, A, parts = rest.tree, articulated(rest.tree, rest.tree.I), split(rest.tree)
    met = gathered(tree, A, worth_bundling(tree), parts[0])
    return by_streams(rest, A, met, reduced(tree, A, met, roots=False), parts, mu, lam0)
