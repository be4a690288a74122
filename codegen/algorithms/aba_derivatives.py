"""Derivatives of forward dynamics by those of inverse dynamics, at the acceleration that forward dynamics give.

Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS 2018, sec. V; by the implicit
function theorem, tau = ID(q, v, a) gives da = M^-1 (dtau - dID/dq dq - dID/dv dv), M^-1 = L' D^-1 L.
Columns of da/dq are along the tangents of joints. Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from casadi import SX, substitute

from codegen.algorithms.aba import aba
from codegen.algorithms.by_arguments import forces_by
from codegen.algorithms.minverse import inverse_factors
from codegen.algorithms.rnea_derivatives import rnea_derivatives
from codegen.recursions.by_state import by_tau
from codegen.recursions.products import Product, Result, negated
from codegen.recursions.tree import Tree
from codegen.spatial import ltdl


def aba_derivatives(
    tree: Tree,
    v: SX,
    tau: SX,
    f_ext: SX,
    by: Sequence[SX] = (),
    inverse_dynamics: Callable[[Tree, SX, SX, SX], tuple[Result, ...]] = rnea_derivatives,
) -> tuple[Result, ...]:
    """da/dq, da/dv and M^-1 = da/dtau (nv x nv) under joint forces tau, gravity and external wrenches.

    Then da/dp for each of `by`, columns of symbols that other arguments, or the tree, depend on. `inverse_dynamics`
    gives dtau/dq and dtau/dv.
    """
    a, constant, M = aba(tree, v, tau, f_ext), SX.sym("a", tree.nv), inverse_factors(tree)
    Q, V, _ = inverse_dynamics(tree, v, a, f_ext)
    others = [M.solve(-substitute(x, constant, a)) for x in forces_by(tree, v, constant, f_ext, by)]
    scaled = M.scaled(M.L)
    da_dq, da_dv = (Product(scaled, Product(M.L, negated(R)), transposed=True) for R in (Q, V))
    return da_dq, da_dv, Product(scaled, M.L, transposed=True, symmetric=True), *others


def aba_linearised(tree: Tree, v: SX, tau: SX, f_ext: SX, dq_dz: SX, dv_dz: SX) -> tuple[SX, SX]:
    """Joint accelerations a and da/dz (nv x 3 nv) where q and v change with z, of which the last third is tau."""
    a = aba(tree, v, tau, f_ext)
    Q, V, M = rnea_derivatives(tree, v, a, f_ext)
    return a, ltdl(M, tree.dof_parent).solve(by_tau(tree.nv) - Q @ dq_dz - V @ dv_dz)
