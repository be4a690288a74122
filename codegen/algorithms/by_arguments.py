"""Derivatives of inverse dynamics by the state and by any other arguments.

Those by the state are a recursion (`codegen.algorithms.rnea_derivatives`). Inertial parameters, gravity and external
wrenches are few, and tau is a short function of each: algorithmic differentiation does for these.
"""

from __future__ import annotations

from collections.abc import Sequence

from casadi import SX, jacobian

from codegen.algorithms.rnea import rnea
from codegen.algorithms.rnea_derivatives import rnea_derivatives
from codegen.recursions.tree import Tree


def rnea_by_arguments(tree: Tree, v: SX, a: SX, f_ext: SX, by: Sequence[SX] = ()) -> tuple[SX, ...]:
    """dtau/dq, dtau/dv and M (nv x nv), then dtau/dp for each column of symbols of `by`."""
    return *rnea_derivatives(tree, v, a, f_ext), *forces_by(tree, v, a, f_ext, by)


def forces_by(tree: Tree, v: SX, a: SX, f_ext: SX, by: Sequence[SX]) -> list[SX]:
    """dtau/dp at constant acceleration for each column of symbols."""
    tau = rnea(tree, v, a, f_ext) if by else SX()
    return [jacobian(tau, p) for p in by]
