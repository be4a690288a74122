"""PV-OSIMf: the inverse of the Delassus matrix applied to a vector, for trees that branch at their root.

Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676), sec. VI: the PV sweep stops at the root, W = L + y' D^-1 y
with L block-diagonal over branches and y, D of the root joint (a floating base: six freedoms); the matrix inversion
lemma then needs each block's factors and one small system. Each block must be regular, else the status tells. Gravity
plays no part.
"""

from __future__ import annotations

from casadi import SX, horzcat

from codegen.recursions.composition import INLINE, Parts
from codegen.recursions.delassus import by_joints
from codegen.recursions.sweeps import inertia_sweep, joint_forces
from codegen.recursions.tree import Tree
from codegen.spatial import ldl
from codegen.spatial.solve import VANISHING


def pv_osimf(tree: Tree, b: SX, parts: Parts = INLINE) -> SX:
    """x (m) with W x = b."""
    A = inertia_sweep(tree, tree.I)
    y = [joint_forces(tree, contact, A) for contact in tree.contacts]
    roots = [tree.path(contact.node)[-1] for contact in tree.contacts]
    beyond = [{i: y_i for i, y_i in y_e.items() if i != root} for y_e, root in zip(y, roots, strict=True)]
    L, x = by_joints(tree, A, beyond), SX(tree.m, 1)
    for root in dict.fromkeys(roots):
        T, load, held = A[root].D.A, SX(A[root].D.size, 1), []
        # branch by branch: its own block, and what it adds to the root
        for branch in branches(beyond, [e for e, own in enumerate(roots) if own == root]):
            rows = [r for e in branch for r in range(tree.contacts[e].rows.start, tree.contacts[e].rows.stop)]
            block, Y = parts.ldl(L[rows, rows], VANISHING), horzcat(*[y[e][root] for e in branch])
            free, response = block.solve(b[rows]), block.solve(Y.T)
            T, load = T + Y @ response, load + Y @ free
            held.append((rows, free, response))
        z = ldl(T).solve(load)
        for rows, free, response in held:
            x[rows] = free - response @ z
    return x


def branches(y: list[dict[int, SX]], contacts: list[int]) -> list[list[int]]:
    """The contacts in groups: those of a group share nodes beyond the root."""
    groups: list[list[int]] = []
    for e in contacts:
        near = [group for group in groups if any(set(y[e]) & set(y[o]) for o in group)]
        groups = [group for group in groups if group not in near] + [[*(o for group in near for o in group), e]]
    return groups
