"""Rates of all joints along axes that stand still in their bodies, from joint velocities, and how these change with q.

v_s = H v and a_s = H a + h. Loops make H of their G (`codegen.kinematic_loops.constraints`); a joint whose axes turn
against its body, as a floating base of MuJoCo's convention does, adds the turn between them. A screw of changing pitch
has two axes, and the rates of both from its one velocity. Gravity plays no part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from casadi import SX, cross, diagcat, horzcat, is_equal, jacobian, substitute, vertcat

from codegen.kinematic_loops.constraints import rate_map
from codegen.recursions.tree import Part, Tree, armatures, opened
from codegen.spatial import Subspace, zeros

SAME = 3  # depth to which expressions are compared


@dataclass(frozen=True, slots=True)
class NodeRates:
    """Of one node: places of its joints among all, coordinates x with dx/dt = Tx v, H, h and joint velocities."""

    places: list[int]
    x: SX
    Tx: SX
    H: SX
    h: SX
    v: SX

    def rates(self, v: SX) -> SX:
        """H v."""
        return self.H @ v

    def accelerations(self, a: SX) -> SX:
        """H a + h."""
        return self.H @ a + self.h

    def joint_forces(self, tau: SX) -> SX:
        """H' tau, of forces along the rates of the node's joints."""
        return self.H.T @ tau

    def rate_of(self, A: SX) -> SX:
        """The rate of a matrix that depends on the node's coordinates."""
        return horzcat(*[jacobian(A[:, c], self.x) @ (self.Tx @ self.v) for c in range(A.size2())])

    def along(self, function: Callable[[SX], SX], given: SX) -> SX:
        """The derivative of function(given) along the tangents of the node's coordinates, `given` held constant."""
        constant = SX.sym("constant", given.sparsity())
        return substitute(jacobian(function(constant), self.x) @ self.Tx, constant, given)


@dataclass(frozen=True, slots=True)
class Changes:
    """Of what moves with all joints (6 k x n, say): J by accelerations, v_q of its velocity by positions; of its
    acceleration a_q by positions and a_v by velocities.
    """

    J: SX
    v_q: SX
    a_q: SX
    a_v: SX


@dataclass(frozen=True, slots=True)
class SpanningMotion:
    """v = H dy and a = H ddy + h of all joints; how these change with q (v_q, a_q) and with dy (a_v)."""

    H: SX
    v: SX
    a: SX
    v_q: SX
    a_q: SX
    a_v: SX

    def reduced(self, own: Changes) -> Changes:
        """Changes by all joints as changes by q, dy and ddy."""
        return Changes(
            own.J @ self.H,
            own.v_q @ self.H + own.J @ self.v_q,
            own.a_q @ self.H + own.a_v @ self.v_q + own.J @ self.a_q,
            own.a_v @ self.H + own.J @ self.a_v,
        )


def is_plain(tree: Tree) -> bool:
    """Whether joint velocities are the rates of all joints, along axes that stand still in their bodies."""
    return not tree.model.loops and all(part.S.is_constant() for part in tree.parts)


def spanning_tree(tree: Tree) -> Tree:
    """The tree with all loops opened, no armatures, and joint axes that stand still in their bodies."""
    span = opened(tree)
    axes = [_axes(part)[0] for part in span.parts]
    parts = tuple(replace(part, S=S) for part, S in zip(span.parts, axes, strict=True))
    S = tuple(Subspace(X, (S_b,), SX.eye(S_b.size2())) for X, S_b in zip(span.X, axes, strict=True))
    return replace(span, parts=parts, S=S, armature=tuple(zeros(s.size, s.size) for s in S))


def node_rates(tree: Tree, v: SX) -> list[NodeRates]:
    """Of every node, at joint velocity v."""
    ends = list(accumulate(_width(part) for part in tree.parts))
    found = []
    for i, (node, own, v_i) in enumerate(zip(tree.model.nodes, tree.spanning, tree.split(v), strict=True)):
        parts = [tree.parts[b] for b in node.bodies]
        T, r = diagcat(*[_axes(part)[1] for part in parts]), own.G @ v_i
        x, Tx = own.constraints.x, own.constraints.T @ own.Gx
        if not node.loops:
            x, Tx = parts[0].q, rate_map(parts[0].joint, parts[0].q)
        places = [place for b in node.bodies for place in range(ends[b] - _width(tree.parts[b]), ends[b])]
        found.append(NodeRates(places, x, Tx, T @ own.G, T @ own.g(v_i) + _turning(parts, r), v_i))
        assert len(places) == T.size1(), i
    return found


def spanning_motion(tree: Tree, nodes: Sequence[NodeRates], a: SX) -> SpanningMotion:
    """The motion of all joints at joint acceleration a."""
    n, nv = sum(map(_width, tree.parts)), tree.nv
    H, v_s, a_s, v_q, a_q, a_v = zeros(n, nv), zeros(n), zeros(n), zeros(n, nv), zeros(n, nv), zeros(n, nv)
    # node by node
    for own, dofs, a_own in zip(nodes, tree.dofs, tree.split(a), strict=True):
        at = own.places
        H[at, dofs], v_s[at], a_s[at] = own.H, own.rates(own.v), own.accelerations(a_own)
        v_q[at, dofs] = own.along(own.rates, own.v)
        a_q[at, dofs] = own.along(own.accelerations, a_own)
        a_v[at, dofs] = jacobian(own.h, own.v)
    return SpanningMotion(H, v_s, a_s, v_q, a_q, a_v)


def armature_forces(tree: Tree, i: int, v: SX, a: SX) -> SX:
    """Joint forces of node i that its armatures need at its joint velocity v and acceleration a."""
    own = tree.spanning[i]
    return own.G.T @ (armatures(tree.model, i) @ (own.G @ a + own.g(v)))


def _axes(part: Part) -> tuple[SX, SX]:
    """Joint axes that stand still in the body (6 x n), and rates along these from joint velocities (n x n)."""
    if part.S.is_constant():
        return part.S, SX.eye(part.S.size2())
    rows = [r for r in range(6) if not part.S[r, :].is_zero()]
    return SX.eye(6)[:, rows], part.S[rows, :]


def _width(part: Part) -> int:
    """How many axes of a joint stand still in its body: its degrees of freedom, and two of a screw."""
    return int(_axes(part)[0].size2())


def _turning(parts: Sequence[Part], rates: SX) -> SX:
    """Accelerations along axes that stand still in the bodies where joint velocities are constant."""
    found, at = [], 0
    for part in parts:
        v = rates[at : at + part.joint.nv]
        at += part.joint.nv
        vJ, drift = part.S @ v, part.joint.drift(part.q, v)
        turning = cross(vJ[:3], vJ[3:])
        still = part.S.is_constant() or is_equal(drift, turning, SAME)
        rows = [r for r in range(6) if not part.S[r, :].is_zero()]
        found.append(zeros(_width(part)) if still else vertcat(zeros(3), drift - turning)[rows])
    return vertcat(*found)
