"""Derivatives of forward dynamics by those of inverse dynamics, at the acceleration that forward dynamics give.

Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS 2018, sec. V; by the implicit
function theorem, tau = ID(q, v, a) gives da = M^-1 (dtau - dID/dq dq - dID/dv dv), M^-1 = L' D^-1 L. Where it can, one
recursion makes L dID/dq and L dID/dv (`codegen.algorithms.articulated_changes`). Columns of a free base's position and
linear velocity are known without (`codegen.recursions.free_base`).
Columns of da/dq are along the tangents of joints. Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from casadi import SX, substitute

from codegen.algorithms.aba import aba
from codegen.algorithms.articulated_changes import articulated_changes
from codegen.algorithms.by_arguments import forces_by
from codegen.algorithms.minverse import InverseFactors, inverse_factors
from codegen.algorithms.rnea_derivatives import rnea_derivatives
from codegen.costs import in_sweep
from codegen.recursions.free_base import known_changes
from codegen.recursions.products import Product, Result
from codegen.recursions.scaling import negated
from codegen.recursions.spanning_rates import is_plain
from codegen.recursions.tree import Tree

InverseDynamics = Callable[[Tree, SX, SX, SX], tuple[Result, ...]]
"""What gives dtau/dq and dtau/dv at (q, v, a) under external wrenches."""


def aba_derivatives(
    tree: Tree,
    v: SX,
    tau: SX,
    f_ext: SX,
    by: Sequence[SX] = (),
    inverse_dynamics: InverseDynamics | None = None,
) -> tuple[Result, ...]:
    """da/dq, da/dv and M^-1 = da/dtau (nv x nv) under joint forces tau, gravity and external wrenches.

    Then da/dp for each of `by`, columns of symbols that other arguments, or the tree, depend on. If `inverse_dynamics`
    are given, they make dtau/dq and dtau/dv.
    """
    a, M, others = _solution(tree, v, tau, f_ext, by)
    scaled, strict = M.scaled(M.L), M.strict
    changes = _changes(tree, v, a, f_ext, strict, inverse_dynamics)
    pairs = zip(changes, known_changes(tree, v, changes[0]), strict=True)
    da_dq, da_dv = (Product(scaled, known.others(x), known.added(), transposed=True) for x, known in pairs)
    return da_dq, da_dv, Product(strict, scaled, scaled, transposed=True, symmetric=True), *others


def aba_linearised(
    tree: Tree,
    v: SX,
    tau: SX,
    f_ext: SX,
    by: Sequence[SX] = (),
    inverse_dynamics: InverseDynamics = rnea_derivatives,
) -> tuple[Result, ...]:
    """Joint accelerations a (nv), then the same, as products of sparse factors, which chain rules multiply."""
    a, M, others = _solution(tree, v, tau, f_ext, by)
    Q, V, _ = inverse_dynamics(tree, v, a, f_ext)
    scaled = M.scaled(M.L)
    da_dq, da_dv = (
        Product(scaled, Product(M.L, own.others(negated(R))), own.added(), transposed=True)
        for R, own in zip((Q, V), known_changes(tree, v, Q), strict=True)
    )
    return a, da_dq, da_dv, Product(scaled, M.L, transposed=True, symmetric=True), *others


def _solution(tree: Tree, v: SX, tau: SX, f_ext: SX, by: Sequence[SX]) -> tuple[SX, InverseFactors, list[SX]]:
    """Joint accelerations a, the factors of M^-1, and da/dp for each of `by`."""
    a, constant, M = aba(tree, v, tau, f_ext), SX.sym("a", tree.nv), inverse_factors(tree)
    return a, M, [M.solve(-substitute(x, constant, a)) for x in forces_by(tree, v, constant, f_ext, by)]


def _changes(
    tree: Tree, v: SX, a: SX, f_ext: SX, strict: SX, inverse_dynamics: InverseDynamics | None
) -> tuple[Result, Result]:
    """-L dtau/dq and -L dtau/dv, of L without its diagonal of ones."""
    if is_plain(tree) and inverse_dynamics is None and in_sweep(strict.nnz()):
        return articulated_changes(tree, v, a, f_ext)
    Q, V, _ = (inverse_dynamics or rnea_derivatives)(tree, v, a, f_ext)
    dq, dv = negated(Q), negated(V)
    return Product(strict, dq, dq), Product(strict, dv, dv)
