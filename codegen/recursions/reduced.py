"""The outward recursion of PV-OSIMr: from what streams of unit forces left behind to the Delassus matrix.

Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676), sec. V. Two streams are coupled by L, the joints that both
passed, and by F' Omega F, the accelerations of the bundle that took both up. Between streams in different bundles, the
accelerations that one causes are told outwards, from bundle to member, until they reach the other.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement

from casadi import SX

from codegen import costs
from codegen.recursions.delassus import assembled
from codegen.recursions.force_propagators import ForcePropagators, Key
from codegen.recursions.sweeps import Articulated
from codegen.recursions.tree import Tree
from codegen.spatial import mirrored, zeros

WORLD: Key = ("joint", -1)


def reduced(tree: Tree, A: Articulated, propagators: ForcePropagators, roots: bool = True) -> SX:
    """W = J M^-1 J' (m x m) from the contacts' streams; without `roots`, as if the roots were locked."""
    feeling = [i for i in propagators.y if roots and tree.parent[i] < 0]
    once = {pair: block for i in feeling for pair, block in A[i].D.products(propagators.y[i]).items()}
    at_roots = {(b, a): block.T for (a, b), block in once.items()} | once

    @cache
    def between(a: Key, b: Key) -> SX:
        """Accelerations along a that unit forces along b cause; of two bundles, the further one is left first."""
        at, other = propagators.bundle.get(a, WORLD), propagators.bundle.get(b, WORLD)
        if at[1] < other[1]:
            return between(b, a).T
        W = propagators.coupling(a, b)
        W += told(a, at, b) if at != WORLD else at_roots.get((a, b), 0)
        return mirrored(W) if a == b else W

    def told(a: Key, at: Key, b: Key) -> SX:
        """What a learns of the accelerations along its bundle: by its forces there, or from node to node."""
        (node, K), F = propagators.start[a], propagators.forces[a]
        steps = len(tree.path(node)) - len(tree.path(at[1]))
        if costs.reading(F) < costs.over_joints(costs.reading(K), steps):
            return F.T @ between(at, b)
        return K.T @ (acceleration(node, b) if a[0] == "contact" else tree.X[node] @ acceleration(tree.parent[node], b))

    @cache
    def acceleration(i: int, b: Key) -> SX:
        """The acceleration of node i, its joint free, under unit forces along b that pass no joint between."""
        if ("joint", i) in propagators.start:
            x = propagators.start["joint", i][1] @ between(("joint", i), b)
        else:
            x = tree.X[i] @ acceleration(tree.parent[i], b)
        return A[i].motion(x, zeros(tree.S[i].size, x.size2()))[1]

    pairs = combinations_with_replacement(range(len(tree.contacts)), 2)
    return assembled(tree, {(o, e): [between(("contact", o), ("contact", e))] for o, e in pairs})
