"""The step that builds the tree: bodies and nodes over SX, contacts aside."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.recursions.tree import Part, Tree, armatures
from codegen.spatial import NodeInertia, NodeTransform, Subspace, constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.lowering.problem import Problem
    from codegen.model import Model


def build_tree(problem: Problem) -> Problem:
    """The step."""
    inner, found, at = problem.canonical.model, problem.bodies, problem.positions
    own = found.spanning
    owner = {b: i for i, node in enumerate(inner.nodes) for b in node.bodies}
    parts = tuple(
        Part(
            *(body.parent, owner[b], joint, at[b], link.X, joint.subspace(at[b]), link.inertia),
            stated=problem.canonical.stated(b),
        )
        for b, (body, joint, link) in enumerate(zip(inner.bodies, found.joints, found.links, strict=True))
    )
    X = tuple(_node_transform(inner, parts, i) for i in range(len(inner.nodes)))
    S = tuple(Subspace(X[i], tuple(parts[b].S for b in node.bodies), own[i].G) for i, node in enumerate(inner.nodes))
    rigid = (NodeInertia(tuple(parts[b].I for b in node.bodies)) for node in inner.nodes)
    tree = Tree(
        model=inner,
        q=problem.q,
        parts=parts,
        parent=tuple(node.parent for node in inner.nodes),
        X=X,
        S=S,
        spanning=own,
        I=(*rigid, NodeInertia((found.inertias[-1],))),
        armature=tuple(s.G.T @ armatures(inner, i) @ s.G for i, s in enumerate(S)),
        gravity=problem.request.numbers.get("gravity", constant(problem.model.gravity)),
        frames=tuple(inner.frame(name) for name in problem.request.frames),
        external=tuple(inner.frame(name) for name in problem.request.external),
        contacts=(),
    )
    return replace(problem, tree=tree)


def _node_transform(model: Model, parts: Sequence[Part], i: int) -> NodeTransform:
    """X of node i; the bodies of a node hang on one body of its parent node, or on each other."""
    node = model.nodes[i]
    around = model.nodes[node.parent].bodies if node.parent >= 0 else (-1,)
    own = {b: place for place, b in enumerate(node.bodies)}
    links = tuple((own.get(parts[b].parent, -1), parts[b].X) for b in node.bodies)
    return NodeTransform(around.index(parts[node.bodies[0]].parent), len(around), links)
