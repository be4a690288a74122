"""Regressor of inverse dynamics along the axes of one frame, by loops over bodies: for robots of many joints.

Parameters and conventions are those of `codegen.algorithms.regressor`; the frame is that of
`codegen.algorithms.rnea_derivatives_by_columns`. The forces that bodies need by their parameters, F, are made by one
function, and every entry of Y is a product of F and the axis of a joint that carries the body.

Spatial vectors [angular; linear]; gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

import numpy as np
from casadi import DM, SX, Sparsity, horzcat, reshape, sparsify, vec, vertsplit

from codegen.algorithms.regressor import NUMBERS, by_parameters, seen
from codegen.algorithms.rnea_derivatives_by_columns import Place, places
from codegen.recursions.block_matrix import above
from codegen.recursions.motion import motions
from codegen.recursions.panels import end_to_end
from codegen.recursions.products import Masked, MaskedProduct
from codegen.recursions.tree import Tree
from codegen.spatial import Transform, placement_steps


def regressor_by_columns(tree: Tree, v: SX, a: SX) -> MaskedProduct:
    """Y (nv x 10 n), body after body: tau = Y pi + forces of armatures. Every node of the tree is one body."""
    motion, (place, _) = motions(tree, v, a), places(tree)
    S = horzcat(*[at.X.back(own.columns) for at, own in zip(place, tree.S, strict=True)])
    stated = [Transform(placement_steps(part.stated)) for part in tree.parts]
    found = [at.beyond(X) for at, X in zip(place, stated, strict=True)]
    axes = ([vec(at.R) for at in found], [at.p for at in found])
    moved = zip(*[seen(motion[b], X) for b, X in enumerate(stated)], strict=True)
    rows = end_to_end(needed, *[horzcat(*columns).T for columns in (*axes, *moved)])
    return MaskedProduct((Masked(S, above(*rows), carried(tree), transposed=True),))


def needed(R: SX, p: SX, w: SX, wdot: SX, ac: SX) -> tuple[SX, ...]:
    """By its parameters, the six rows of the force that a body needs, which is at R and p and moves so."""
    F = Place(reshape(R, 3, 3), p).X.force(by_parameters(w, wdot, ac))
    return tuple(row.T for row in vertsplit(F))


def carried(tree: Tree) -> Sparsity:
    """By joints' axes: the parameters of the bodies that they carry."""
    found = np.zeros((tree.nv, NUMBERS * len(tree.parts)), bool)
    for i in tree.outwards:
        for carrier in tree.path(i):
            found[tree.dofs[carrier], NUMBERS * i : NUMBERS * (i + 1)] = True
    return Sparsity(sparsify(DM(found)).sparsity())
