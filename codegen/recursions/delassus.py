"""What the Delassus algorithms share: blocks, Jacobians, and W as a sum over joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from casadi import SX, horzcat, vertcat

from codegen import costs
from codegen.recursions.sweeps import Articulated, joint_forces
from codegen.recursions.tree import Tree
from codegen.spatial import mirrored, zeros


def assembled(tree: Tree, blocks: Mapping[tuple[int, int], Sequence[SX]]) -> SX:
    """The symmetric m x m matrix of blocks (contact, later contact), each a sum of terms."""
    W = zeros(tree.m, tree.m)
    for (e, other), terms in blocks.items():
        for term in terms:
            W[tree.contacts[e].rows, tree.contacts[other].rows] += term
    return mirrored(W)


def jacobian_transpose(tree: Tree) -> SX:
    """J' (nv x m): joint forces of unit multipliers, all joints locked."""
    columns = []
    for contact in tree.contacts:
        y = joint_forces(tree, contact)
        columns.append(vertcat(*[y.get(i, zeros(tree.S[i].size, contact.size)) for i in tree.outwards]))
    return horzcat(*columns) if columns else zeros(tree.nv, 0)


def by_joints(tree: Tree, A: Articulated, y: Sequence[Mapping[int, SX]]) -> SX:
    """W as the sum over joints: every joint that carries two contacts gives way to both."""
    given = {i: A[i].D.products({e: y_e[i] for e, y_e in enumerate(y) if i in y_e}) for i in A}
    pairs = [(o, e) for e in range(len(y)) for o in range(e + 1)]
    return assembled(tree, {pair: [blocks[pair] for blocks in given.values() if pair in blocks] for pair in pairs})


def meeting(tree: Tree, o: int, e: int) -> tuple[int, tuple[int, ...]]:
    """A node whose acceleration two contacts share, and the joints beyond it that both of them move.

    The parent of their closest common ancestor, or the world where all joints together cost less. A contact shares with
    itself what others share with it.
    """
    path, shared = tree.path(tree.contacts[e].node), tree.closest(tree.contacts[o].node, tree.contacts[e].node)
    if o == e:
        others = {i for other in tree.contacts if other is not tree.contacts[e] for i in tree.path(other.node)}
        shared = next((i for i in path if i in others), path[-1])
    further = tree.path(shared)[1:]
    beyond = path[: path.index(shared) + 1] if o == e else tree.path(shared)[:1]
    if costs.joint_by_joint(sum(tree.S[i].size for i in further)):
        return -1, (*beyond, *further)
    return tree.parent[shared], beyond
