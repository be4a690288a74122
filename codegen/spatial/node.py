"""Spatial algebra over nodes: the vectors and inertias of all bodies of a cluster, stacked.

A node of k bodies has spatial vectors of 6 k rows, body after body; a node of one body costs what one body
costs. All bodies of a node hang, directly or through each other, on one body of the parent node: the hub
(Chignoli et al., Recursive Rigid-Body Dynamics Algorithms for Systems with Kinematic Loops, sec. IV).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from casadi import SX, vertcat

from codegen.spatial.axes import zeros
from codegen.spatial.inertia import ArticulatedInertia
from codegen.spatial.solve import LDL, mirrored
from codegen.spatial.steps import Transformable
from codegen.spatial.transform import Transform


class Inertia(Transformable, Protocol):
    """What a stack asks of the inertia of one body."""

    @classmethod
    def none(cls) -> Any: ...
    def __add__(self, other: Any) -> Any: ...
    def __matmul__(self, S: SX) -> SX: ...
    def articulated(self) -> ArticulatedInertia: ...
    def measured(self, ratio: float) -> Any: ...


def bodies(A: SX) -> list[SX]:
    """The six rows of each body."""
    return [A[6 * b : 6 * b + 6, :] for b in range(A.size1() // 6)] if A.size1() > 6 else [A]


@dataclass(frozen=True, slots=True)
class NodeTransform:
    """X from the parent node to a node of k bodies.

    `links` are, body by body, (place of the carrying body in this node, or -1 for the hub; its transform).
    """

    hub: int
    parents: int
    links: tuple[tuple[int, Transform], ...]

    def __matmul__(self, A: SX) -> SX:
        """X A: motions of the parent node, carried along by this one's bodies (6 k x c)."""
        base = bodies(A)[self.hub]
        moved: list[SX] = []
        for inner, link in self.links:
            moved.append(link @ (base if inner < 0 else moved[inner]))
        return vertcat(*moved)

    def force(self, F: SX) -> SX:
        """X' F: forces on this node's bodies (6 k x c), as the parent node feels them."""
        parts, felt = bodies(F), zeros(6, F.size2())
        for b in reversed(range(len(parts))):
            inner, link = self.links[b]
            if inner < 0:
                felt += link.force(parts[b])
            else:
                parts[inner] += link.force(parts[b])
        return vertcat(*[felt if b == self.hub else zeros(6, F.size2()) for b in range(self.parents)])

    def compliance(self, Omega: SX) -> SX:
        """X Omega X' for the parent node's symmetric compliance, over this node's bodies (6 k x 6 k)."""
        at = slice(6 * self.hub, 6 * self.hub + 6)
        if len(self.links) == 1:
            return self.links[0][1].compliance(Omega[at, at])
        half = NodeTransform(0, 1, self.links) @ Omega[at, at]
        return mirrored(NodeTransform(0, 1, self.links) @ half.T)

    def inertia(self, stack: NodeInertia) -> NodeInertia:
        """X' stack X: inertias of this node's bodies, as the parent node feels them."""
        parts, felt = list(stack.parts), stack.nothing
        for b in reversed(range(len(parts))):
            inner, link = self.links[b]
            if inner < 0:
                felt += link.inertia(parts[b])
            else:
                parts[inner] += link.inertia(parts[b])
        if stack.freed is not None:
            U, D = stack.freed
            felt = felt.articulated().without(bodies(self.force(U))[self.hub], D)
        if stack.held is not None:
            K, L = stack.held
            felt += outer(bodies(self.force(K))[self.hub], L)
        return NodeInertia(tuple(felt if b == self.hub else stack.nothing for b in range(self.parents)))


@dataclass(frozen=True, slots=True)
class NodeInertia:
    """The inertias of a node's bodies; `freed` = (U, D) if the node's joint has been set free, not yet taken off.

    `held` = (K, L) are forces through the joint whose stiffness K L^-1 K' has not been added yet.
    """

    parts: tuple[Inertia, ...]
    freed: tuple[SX, LDL] | None = None
    held: tuple[SX, LDL] | None = None

    @property
    def nothing(self) -> Any:
        """The zero of this stack's kind of inertia."""
        return type(self.parts[0]).none()

    def articulated(self) -> NodeInertia:
        """The rigid bodies of the node as articulated ones."""
        return NodeInertia(tuple(part.articulated() for part in self.parts))

    def __add__(self, other: NodeInertia) -> NodeInertia:
        return NodeInertia(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __matmul__(self, S: Subspace) -> SX:
        """The spatial forces (6 k x n) that go with the node's unit joint motions."""
        columns = bodies(S.columns)
        return vertcat(*[part @ column for part, column in zip(self.parts, columns, strict=True)])

    def stiffened(self, body: int, added: Inertia) -> NodeInertia:
        """The stack with an inertia added to one of its bodies (by place)."""
        return NodeInertia(tuple(part + added if b == body else part for b, part in enumerate(self.parts)))

    def measured(self, ratio: float) -> NodeInertia:
        """The stack of rigid bodies where lengths are in a unit that is shorter by `ratio`."""
        return NodeInertia(tuple(part.measured(ratio) for part in self.parts))

    def without(self, U: SX, D: LDL, free: Sequence[int]) -> NodeInertia:
        """IA - U D^-1 U': what is left of the inertia when the joint is free to move, nothing on the axes `free`.

        A single body loses it here, where its joint axis leaves a zero row; of a cluster, only the sum that the
        parent feels is ever needed, and `NodeTransform.inertia` takes it off there.
        """
        if len(self.parts) > 1:
            return NodeInertia(self.parts, (U, D))
        return NodeInertia((self.parts[0].articulated().without(U, D, free),))

    def stiffer(self, K: SX, L: LDL) -> NodeInertia:
        """With K L^-1 K' for forces K (6 k x c) let through by the free joint; of a cluster, later, as `without`."""
        if not K.size2():
            return self
        if len(self.parts) > 1:
            return NodeInertia(self.parts, self.freed, (K, L))
        return NodeInertia((self.parts[0] + outer(K, L),))


def outer(K: SX, L: LDL) -> ArticulatedInertia:
    """K L^-1 K' for forces K on one body."""
    H = L.forward(K.T)
    return ArticulatedInertia.of(mirrored(H.T @ L.scale(H)))


@dataclass(frozen=True, slots=True)
class Subspace:
    """S of a node: its bodies' joint subspaces, carried along inside the node, times G (spanning from own rates)."""

    X: NodeTransform
    joints: tuple[SX, ...]
    G: SX

    @property
    def size(self) -> int:
        """The node's degrees of freedom."""
        return int(self.G.size2())

    @property
    def columns(self) -> SX:
        """S as a matrix (6 k x n)."""
        return self @ SX.eye(self.size)

    def __matmul__(self, y: SX) -> SX:
        """S y: motions of the node's bodies (6 k x c) for joint motions y (n x c)."""
        rates, at = self.G @ y, 0
        moved: list[SX] = []
        for (inner, link), S in zip(self.X.links, self.joints, strict=True):
            own = S @ rates[at : at + S.size2(), :]
            moved.append(own if inner < 0 else own + link @ moved[inner])
            at += S.size2()
        return vertcat(*moved)

    @property
    def T(self) -> Transposed:
        """S': joint forces from forces on the node's bodies."""
        return Transposed(self)


@dataclass(frozen=True, slots=True)
class Transposed:
    """S' of a node, which takes forces on its bodies (6 k x c) to joint forces (n x c)."""

    S: Subspace

    def __matmul__(self, F: SX) -> SX:
        parts, spanning = bodies(F), []
        for b in reversed(range(len(parts))):
            inner, link = self.S.X.links[b]
            spanning.append(self.S.joints[b].T @ parts[b])
            if inner >= 0:
                parts[inner] += link.force(parts[b])
        return self.S.G.T @ vertcat(*reversed(spanning))
