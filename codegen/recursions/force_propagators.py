"""Force propagators: the inward sweep of PV, with streams bundled into few where many of them meet.

Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676), sec. IV and V. A stream is a set of unit forces: those of
a contact's multipliers or, once all streams that passed a joint were bundled, those that the joint can transmit (five
for a hinge), of which its members are combinations. With y the joint forces of all streams, they factorise
W = Y' D^-1 Y: every stream's y at the joints that it passes, F of every member at its bundle.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from casadi import SX, horzcat, vertcat

from codegen.recursions.sweeps import Articulated
from codegen.recursions.tree import Tree
from codegen.spatial import units, zeros

Key = tuple[str, int]  # ("contact", number) or ("joint", node): the streams of contacts, and those of bundles
Passing = dict[int, dict[Key, SX]]  # by nodes, of each stream that passes


@dataclass(frozen=True, slots=True)
class ForcePropagators:
    """By streams, contacts first and bundles from tips to root: where they start (node, forces there), the bundle that
    takes them up and their forces in it; by nodes, the joint forces y (n x c) of the streams that pass.

    `L` is the part of W between two streams that the joints which both of them passed give, but for those left `apart`.
    """

    start: dict[Key, tuple[int, SX]]
    bundle: dict[Key, Key]
    forces: dict[Key, SX]
    y: Passing
    half: Passing
    L: dict[tuple[Key, Key], SX]

    def coupling(self, a: Key, b: Key) -> SX:
        """L between streams a and b."""
        return self.L.get((a, b), zeros(self.start[a][1].size2(), self.start[b][1].size2()))

    def reaching(self, i: int, a: Key) -> SX:
        """Joint forces at node i, where nothing is bundled, of a stream that comes by, by itself or in a bundle."""
        y = self.y[i].get(a)
        return self.reaching(i, self.bundle[a]) @ self.forces[a] if y is None else y

    def at(self, tree: Tree, i: int) -> SX:
        """Joint forces (n x m) of all contacts' unit multipliers at a node i without bundles."""
        felt = [
            self.reaching(i, ("contact", e)) if i in tree.path(contact.node) else zeros(tree.S[i].size, contact.size)
            for e, contact in enumerate(tree.contacts)
        ]
        return horzcat(*felt)

    def joint_forces(self, lam: Sequence[SX]) -> dict[int, SX]:
        """Y lam by nodes: joint forces of the contacts' multipliers."""
        along = {a: zeros(K.size2()) for a, (_, K) in self.start.items()}
        along.update({("contact", e): lam_e for e, lam_e in enumerate(lam)})
        for a, bundle in self.bundle.items():
            along[bundle] += self.forces[a] @ along[a]
        return {i: horzcat(*passing.values()) @ vertcat(*[along[a] for a in passing]) for i, passing in self.y.items()}

    def row_accelerations(self, x: Mapping[int, SX]) -> SX:
        """Y' x (m): what the contacts' rows see of some joints that yield by x, each on its own."""
        seen = {a: zeros(K.size2()) for a, (_, K) in self.start.items()}
        for i, x_i in x.items():
            for a, y in self.y[i].items():
                seen[a] += y.T @ x_i
        for a, bundle in reversed(self.bundle.items()):
            seen[a] += self.forces[a].T @ seen[bundle]
        return vertcat(zeros(0), *[row for (kind, _), row in seen.items() if kind == "contact"])


def force_propagators(
    tree: Tree, A: Articulated, bundled: Collection[int], apart: Collection[int] | None = None
) -> ForcePropagators:
    """The streams of all contacts, bundled beyond the joints of the nodes `bundled`.

    What joints `apart` give is left out of L; if not said which, it is that of the roots.
    """
    start, bundle, forces, y, half, scaled = {}, dict[Key, Key](), dict[Key, SX](), {}, {}, {}
    active: list[dict[Key, SX]] = [{} for _ in (*tree.outwards, -1)]
    for e, contact in enumerate(tree.contacts):
        start["contact", e] = contact.node, contact.force
        active[contact.node]["contact", e] = contact.force
    # contacts to root: each joint feels the streams that pass it, and lets part of them through
    for i in reversed(tree.support):
        y[i] = {a: tree.S[i].T @ F for a, F in active[i].items()}
        half[i] = {a: A[i].D.forward(y_a) for a, y_a in y[i].items()}
        scaled[i] = {a: A[i].D.scale(half_a) for a, half_a in half[i].items()}
        felt = {a: A[i].projected_force(F, -A[i].D.backward(scaled[i][a])) for a, F in active[i].items()}
        if i in bundled:
            E = units(horzcat(*felt.values()))
            start["joint", i] = i, E
            bundle.update(dict.fromkeys(felt, ("joint", i)))
            forces.update({a: E.T @ F for a, F in felt.items()})
            felt = {("joint", i): E}
        active[tree.parent[i]].update({a: tree.X[i].force(F) for a, F in felt.items()})
    left_out = {i for i in y if tree.parent[i] < 0} if apart is None else apart
    return ForcePropagators(start, bundle, forces, y, half, _couplings(half, scaled, left_out))


def _couplings(half: Passing, scaled: Passing, left_out: Collection[int]) -> dict[tuple[Key, Key], SX]:
    """L by pairs of streams, in both orders: the sum of y_a' D^-1 y_b over the joints that both passed."""
    L: dict[tuple[Key, Key], SX] = {}
    for i in (i for i in half if i not in left_out):
        for a, b in combinations_with_replacement(half[i], 2):
            L[a, b] = L.get((a, b), 0) + half[i][a].T @ scaled[i][b]
            L[b, a] = L[a, b].T
    return L
