"""Derivatives of inverse dynamics: dtau/dq, dtau/dv and M in one recursion.

Singh, Russell, Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra, RA-L 2022
(arXiv 2105.05102); Carpentier and Mansard, RSS 2018. Columns of dtau/dq are along the tangent of each joint, in the
coordinates of its velocity. Spatial vectors [angular; linear] in body frames; gravity enters as upward acceleration of
the world.

With Psi, Psidd and dS the changes of velocities and accelerations beyond a joint (`codegen.recursions.displacements`),
I the composite inertia there and C the matrix of velocity products (`codegen.spatial.coriolis`), forces change by
C Psi + I Psidd, C S + I dS, and I S.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from casadi import SX, diagcat, horzcat, jacobian, vertcat

from codegen.recursions.displacements import displacements
from codegen.recursions.motion import classical, forces
from codegen.recursions.spanning_rates import (
    Changes,
    armature_forces,
    is_plain,
    node_rates,
    spanning_motion,
    spanning_tree,
)
from codegen.recursions.sweeps import add_contact_forces
from codegen.recursions.tree import Tree
from codegen.spatial import Coriolis, Transform, force_cross, mirrored, zeros


@dataclass(frozen=True, slots=True)
class Beyond:
    """By velocity coordinates beyond a joint: changes of the force there, Fq by q and Fv by v (6 x k).

    Ga = I S (6 x k) are those by accelerations, Gb the angular rows of C' S (3 x k).
    """

    dofs: list[int]
    Fq: SX
    Fv: SX
    Ga: SX
    Gb: SX

    @classmethod
    def none(cls) -> Beyond:
        """Of no joint."""
        return cls([], zeros(6, 0), zeros(6, 0), zeros(6, 0), zeros(3, 0))

    def beside(self, more: Beyond) -> Beyond:
        """These columns, then others."""
        return Beyond(
            self.dofs + more.dofs,
            horzcat(self.Fq, more.Fq),
            horzcat(self.Fv, more.Fv),
            horzcat(self.Ga, more.Ga),
            horzcat(self.Gb, more.Gb),
        )

    def carried(self, X: Transform) -> Beyond:
        """In the frame of the joint's carrier."""
        return Beyond(self.dofs, X.force(self.Fq), X.force(self.Fv), X.force(self.Ga), X.outward(self.Gb))


def rnea_derivatives(tree: Tree, v: SX, a: SX, f_ext: SX, lam: SX | None = None) -> tuple[SX, SX, SX]:
    """dtau/dq, dtau/dv and M = dtau/da (nv x nv) at the motion (q, v, a) under gravity and external wrenches.

    Of a robot with loops, q moves along what these allow. Multipliers lam (m) of contacts push, too, if they are given.
    """
    return of_tree(tree, v, a, f_ext, lam)[1:] if is_plain(tree) else projected(tree, v, a, f_ext, lam)


def projected(tree: Tree, v: SX, a: SX, f_ext: SX, lam: SX | None) -> tuple[SX, SX, SX]:
    """The same by way of the spanning tree, whose joint velocities are H v: tau = H' tau_s and armature forces."""
    nodes, a_i = node_rates(tree, v), tree.split(a)
    moved = spanning_motion(tree, nodes, a)
    tau, Q, V, M = of_tree(spanning_tree(tree), moved.v, moved.a, f_ext, lam)
    H, by_state = moved.H, moved.reduced(Changes(M, V, Q, V))
    dq, dv = H.T @ by_state.a_q, H.T @ by_state.a_v
    # node by node: joint forces that turn with H, and those of armatures
    for i, (own, dofs, a_own) in enumerate(zip(nodes, tree.dofs, a_i, strict=True)):
        dq[dofs, dofs] += own.along(own.joint_forces, tau[own.places])
        dq[dofs, dofs] += own.along(partial(armature_forces, tree, i, own.v), a_own)
        dv[dofs, dofs] += jacobian(armature_forces(tree, i, own.v, zeros(own.v.size1())), own.v)
    return dq, dv, mirrored(H.T @ M @ H) + diagcat(*tree.armature)


def of_tree(tree: Tree, v: SX, a: SX, f_ext: SX, lam: SX | None) -> tuple[SX, SX, SX, SX]:
    """tau, dtau/dq, dtau/dv and M of a tree whose joint axes stand still in their bodies."""
    X, parent, dofs = tree.X, tree.parent, tree.dofs
    velocity, acceleration, joints = displacements(tree, v, a)
    at = {i: classical(velocity[i], acceleration[i]) for i in tree.outwards}
    f, I = forces(tree, at, f_ext), [own.parts[0] for own in tree.I]
    f = f if lam is None else add_contact_forces(tree, f, lam)
    C = [*(Coriolis.of(part.I, velocity[b]) for b, part in enumerate(tree.parts)), Coriolis.none()]
    Q, V, M = (zeros(tree.nv, tree.nv) for _ in range(3))
    tau: dict[int, SX] = {}
    beyond: list[Beyond] = [Beyond.none() for _ in I]
    # leaves to root: changes of what each joint transmits, by the joints beyond it and by its own
    for i in tree.inwards:
        joint, own, outer = joints[i], slice(dofs[i].start, dofs[i].stop), beyond[i]
        S = joint.S
        Q[outer.dofs, own] = outer.Gb.T @ joint.Psi[:3, :] + outer.Ga.T @ joint.Psidd
        V[outer.dofs, own] = outer.Gb.T @ S[:3, :] + outer.Ga.T @ joint.dS
        outer = Beyond(
            list(range(own.start, own.stop)),
            C[i] @ joint.Psi + I[i] @ joint.Psidd,
            C[i] @ S + I[i] @ joint.dS,
            I[i] @ S,
            C[i].moments(S),
        ).beside(outer)
        Q[own, outer.dofs], V[own, outer.dofs], M[own, outer.dofs] = (S.T @ F for F in (outer.Fq, outer.Fv, outer.Ga))
        M[own, own] += tree.armature[i]
        tau[i] = S.T @ f[i]
        outer.Fq[:, : S.size2()] += force_cross(S, f[i])
        beyond[parent[i]] = beyond[parent[i]].beside(outer.carried(tree.parts[i].X))
        f[parent[i]] += X[i].force(f[i])
        I[parent[i]] += tree.parts[i].X.inertia(I[i])
        C[parent[i]] += tree.parts[i].X.inertia(C[i])
    return vertcat(*[tau[i] for i in tree.outwards]), Q, V, mirrored(M)
