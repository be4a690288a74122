"""Derivatives of inverse dynamics with the factors of M, for optimisers whose unknowns are q, v and a.

With Q = dtau/dq, V = dtau/dv and M = L' diag(D) L, L unit lower triangular with the zeros of branches (Featherstone,
Rigid Body Dynamics Algorithms, sec. 6.5), da = M^-1 (dtau - Q dq - V dv) is two sparse substitutions for each direction
that is wanted, where da/dq and da/dv whole take many times the operations. Gravity enters as upward acceleration of the
world.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.algorithms.crba import crba
from codegen.algorithms.rnea_derivatives import rnea_derivatives
from codegen.algorithms.rnea_derivatives_by_columns import rnea_derivatives_by_columns
from codegen.recursions.products import Result
from codegen.recursions.tree import Tree
from codegen.spatial import ltdl


def rnea_derivatives_ltl(tree: Tree, v: SX, a: SX, f_ext: SX) -> tuple[SX, SX, SX, SX]:
    """dtau/dq, dtau/dv (nv x nv), and the factors L (nv x nv) and D (nv) of M = dtau/da, under external wrenches."""
    Q, V, M = rnea_derivatives(tree, v, a, f_ext)
    return Q, V, *factors(tree, M)


def rnea_derivatives_ltl_by_columns(tree: Tree, v: SX, a: SX, f_ext: SX) -> tuple[Result, ...]:
    """The same with dtau/dq and dtau/dv by loops over columns; the factors take the elements of M one by one."""
    Q, V, _ = rnea_derivatives_by_columns(tree, v, a, f_ext)
    return Q, V, *factors(tree, crba(tree))


def factors(tree: Tree, M: SX) -> tuple[SX, SX]:
    """L and D of M."""
    found, L = ltdl(M, tree.dof_parent), SX.eye(tree.nv)
    for row, entries in enumerate(found.L):
        for column, entry in entries.items():
            L[row, column] = entry
    return L, vertcat(*found.d)
