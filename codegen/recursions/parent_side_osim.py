"""Delassus matrix from the parent's side of held joints: fewer rows, and what the joint adds.

A hinge lets five forces through, fewer than a weld has rows, or several points. With y = S' and F the forces that it
lets through of unit forces on its node, W = y' D^-1 y + F' W1 F: W1 is the Delassus matrix of unit forces behind the
joint, of which F are combinations. The contacts' own rows are combinations K of those on the node. Spatial vectors
[angular; linear] in body frames; gravity plays no part.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from casadi import SX, diagcat, horzcat, vertcat

from codegen.recursions.sweeps import Articulated
from codegen.recursions.tree import LoweredContact, Tree
from codegen.spatial import mirrored, units, zeros


def parent_side_osim(
    tree: Tree,
    A: Articulated,
    delassus: Callable[[Tree], SX],
    unit: SX | float = 1.0,
    but: Collection[int] = (),
) -> SX:
    """W (m x m), symmetric, of forces in some unit; `delassus` gives that of the same tree with other contacts.

    Contacts on nodes that carry others, on roots and on the nodes `but` stay where they are.
    """
    inner, own, F, K = list[LoweredContact](), zeros(0, 0), zeros(0, 0), zeros(0, tree.m)
    nodes = [contact.node for contact in tree.contacts]
    stay = {*but, *(i for node in nodes for i in tree.path(node) if i != node or tree.parent[i] < 0)}
    # by nodes: their contacts' rows, or if there are more than that, the unit forces that come through their joint
    for i in dict.fromkeys(nodes):
        here = [contact for contact in tree.contacts if contact.node == i]
        place = vertcat(*[SX.eye(tree.m)[contact.rows, :] for contact in here])
        rows = horzcat(*[contact.force for contact in here])
        on = units(rows)
        half = A[i].D.forward(tree.S[i].T @ on)
        scaled = A[i].D.scale(half)
        through = A[i].projected_force(on, -A[i].D.backward(scaled))
        E, held, told = units(through), here[0], SX.eye(rows.size2())
        if i in stay or E.size2() >= rows.size2():
            force, blocks = rows, (zeros(rows.size2(), rows.size2()), told, told)
        else:
            held, force = replace(held, node=tree.parent[i]), tree.X[i].force(E)
            blocks = (unit * half).T @ (unit * scaled), E.T @ through, on.T @ rows
        own, F, K = diagcat(own, blocks[0]), diagcat(F, blocks[1]), vertcat(K, blocks[2] @ place)
        inner.append(replace(held, rows=slice(F.size1() - force.size2(), F.size1()), force=unit * force))
    return mirrored(K.T @ mirrored(own + F.T @ delassus(replace(tree, contacts=tuple(inner))) @ F) @ K)
