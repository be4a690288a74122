"""Tangents of configurations: the rates of q from joint velocities, and joint velocities from the rates of q.

Where loops tie joints, along what these allow: rates of all their joints from velocities of the independent ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from casadi import SX, diag, inv, jacobian, substitute, sum1

from codegen.kinematic_loops.constraints import rate_map
from codegen.lowering import ALL, Needs, Problem, Request, checked, lowered
from codegen.model import Model
from codegen.recursions.spanning_rates import node_rates
from codegen.spatial import zeros


def tangents(model: Model, numbers: Mapping[str, SX], q: SX) -> tuple[SX, SX]:
    """T (nq x nv) and its left inverse (nv x nq) at q; `numbers` are symbols in the place of joints' offsets."""
    symbol = SX.sym("q", model.nq)
    asked = Request(needs=Needs(), numbers={name: x for name, x in numbers.items() if name.startswith("offset:")})
    tree = lowered(Problem(asked, model, symbol), checked([ALL])).built
    rates, velocities = SX(model.nq, model.nv), SX(model.nv, model.nq)
    # node by node: its own coordinates, and those of its joints that give them
    for own, spanning, node, dofs in zip(
        node_rates(tree, zeros(model.nv)), tree.spanning, tree.model.nodes, tree.dofs, strict=True
    ):
        place = jacobian(own.x, symbol)
        part, tied = tree.parts[node.bodies[0]], spanning.constraints
        back = _left_inverse(tied.T)[tied.own, :] if node.loops else _left_inverse(rate_map(part.joint, part.q))
        rates[:, dofs] += place.T @ own.Tx
        velocities[dofs, :] += (inv(tied.scale) @ back if node.loops else back) @ place
    return substitute(rates, symbol, q), substitute(velocities, symbol, q)


def _left_inverse(T: SX) -> SX:
    """Of the rates of joints' positions from their velocities, whose columns are orthogonal for every joint type."""
    return diag(1 / sum1(T * T).T) @ T.T
