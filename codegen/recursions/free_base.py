"""How free bases fall and glide: what their position and linear velocity change of forward dynamics, by symmetry.

Nothing tells a robot where it is, and of how it is turned only gravity does: seen from a base that is turned, gravity
has turned, and the base falls as much otherwise. Nor does it feel a constant velocity (Galileo): the base's moving axes
take w x v out of its acceleration, and nothing else changes. Forces on the base and external wrenches are along axes
that move with the bodies. Spatial vectors [angular; linear] along the axes of the base.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from casadi import DM, SX, diag, is_equal, sparsify

from codegen.joints.floating import Floating
from codegen.recursions.products import MaskedProduct, Result, last_factor, times
from codegen.recursions.tree import Tree
from codegen.spatial import skew3

DEPTH = 9  # to which expressions of axes are compared: a rotation by a quaternion

NOTHING = SX()


class Known(NamedTuple):
    """Changes of joint accelerations (nv x nv): all of them by these columns, and none by others."""

    changes: SX
    columns: frozenset[int]

    @property
    def kept(self) -> SX:
        """Ones on the diagonal for all other columns (nv x nv)."""
        return diag(sparsify(SX(DM([float(c not in self.columns) for c in range(self.changes.shape[1])]))))

    def others(self, matrix: Result) -> Result:
        """A matrix (. x nv) without these columns."""
        return times(matrix, self.kept) if self.columns else matrix

    def added(self) -> SX | None:
        """What others are added to, if there is anything."""
        return self.changes if self.changes.nnz() else None


def unknown(tree: Tree) -> tuple[Known, Known]:
    """Nothing."""
    nothing = Known(SX(tree.nv, tree.nv), frozenset())
    return nothing, nothing


def known_changes(tree: Tree, v: SX, forces: Result = NOTHING) -> tuple[Known, Known]:
    """da/dq by displacements of free bases, and da/dv by their linear velocities.

    Where linear velocities are along axes at rest, so are the forces on the base: it feels how it is turned then.
    Nothing counts as known if loops over columns make changes of joint `forces`: those by q and by v are one loop as
    long as both have the same zeros.
    """
    if isinstance(last_factor(forces), MaskedProduct):
        return unknown(tree)
    by_q, by_v, displaced, gliding = SX(tree.nv, tree.nv), SX(tree.nv, tree.nv), set[int](), set[int]()
    for i in filter(partial(is_free, tree), tree.outwards):
        own, S, (b,) = tree.dofs[i], tree.S[i].columns, tree.model.nodes[i].bodies
        gliding |= {own.start + c for c in range(6) if not S[3:, c].is_zero()}
        if S.is_constant():
            turn, glide = SX(6, 6), SX(6, 6)
            turn[3:, :3] = skew3(tree.parts[b].X.vector(tree.gravity))
            glide[3:, 3:] = -skew3((S @ v[own])[:3])
            by_q[own, own], by_v[own, own] = S.T @ turn @ S, S.T @ glide @ S
            displaced |= {own.start + c for c in range(6)}
    return Known(sparsify(by_q), frozenset(displaced)), Known(sparsify(by_v), frozenset(gliding))


def is_free(tree: Tree, i: int) -> bool:
    """Whether node i is one body that moves freely in the world, with the coordinates of its joint."""
    b, *others = tree.model.nodes[i].bodies
    joint = tree.parts[b].joint
    if others or tree.parent[i] >= 0 or tree.armature[i].nnz() or not isinstance(joint, Floating):
        return False
    return bool(is_equal(tree.S[i].columns, joint.subspace(tree.parts[b].q), DEPTH))
