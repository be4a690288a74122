"""Changes of joint forces by q and v, as the articulated-body algorithm's sweep towards the root leaves them.

The recursion of `codegen.algorithms.rnea_derivatives` (Singh, Russell, Wensing, RA-L 2022) with articulated inertias in
place of composite ones: L, of M^-1 = L' D^-1 L (`codegen.algorithms.minverse`), is applied joint by joint instead of to
whole columns afterwards. What a joint does not transmit, U D^-1 S', is taken from inertias, from the forces of velocity
products and from the forces that outer joints change. Columns by q are along the tangent of each joint. Spatial vectors
[angular; linear] in body frames; gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.algorithms.rnea_derivatives import Beyond
from codegen.recursions.displacements import displacements
from codegen.recursions.motion import classical, forces
from codegen.recursions.tree import Tree
from codegen.spatial import Coriolis, articulated_joint, force_cross, zeros

ANGULAR = vertcat(SX.eye(3), SX(3, 3))


def articulated_changes(tree: Tree, v: SX, a: SX, f_ext: SX) -> tuple[SX, SX]:
    """-L dtau/dq and -L dtau/dv (nv x nv) at the motion (q, v, a) under gravity and external wrenches.

    Joint axes have to stand still in their bodies, and no loops may be closed.
    """
    X, S, parent, dofs = tree.X, tree.S, tree.parent, tree.dofs
    velocity, acceleration, joints = displacements(tree, v, a)
    at = {i: classical(velocity[i], acceleration[i]) for i in tree.outwards}
    f, IA = forces(tree, at, f_ext), [I.articulated() for I in tree.I]
    CA = [*(Coriolis.of(part.I, velocity[b]) @ ANGULAR for b, part in enumerate(tree.parts)), zeros(6, 3)]
    Q, V = zeros(tree.nv, tree.nv), zeros(tree.nv, tree.nv)
    beyond: list[Beyond] = [Beyond.none() for _ in IA]
    # leaves to root: what each joint transmits of the changes by the joints beyond it and by its own
    for i in tree.inwards:
        moved, outer, own = joints[i], beyond[i], list(range(dofs[i].start, dofs[i].stop))
        joint, I, C = articulated_joint(IA[i], S[i], tree.armature[i]), IA[i].parts[0], CA[i]
        Q[outer.dofs, own] = -(outer.Gb.T @ moved.Psi[:3, :] + outer.Ga.T @ moved.Psidd)
        V[outer.dofs, own] = -(outer.Gb.T @ moved.S[:3, :] + outer.Ga.T @ moved.dS)
        outer = Beyond(
            own,
            C @ moved.Psi[:3, :] + I @ moved.Psidd,
            C @ moved.S[:3, :] + I @ moved.dS,
            joint.D.forward(joint.U.T).T,
            joint.D.forward(moved.S.T @ C).T,
        ).beside(outer)
        u = [-(S[i].T @ F) for F in (outer.Fq, outer.Fv, C)]
        Q[own, outer.dofs], V[own, outer.dofs] = joint.D.forward(u[0]), joint.D.forward(u[1])
        Fq, Fv, C = (
            joint.projected_force(F, joint.D.solve(y), zeros(*y.shape))
            for F, y in zip((outer.Fq, outer.Fv, C), u, strict=True)
        )
        Fq[:, : len(own)] += force_cross(moved.S, f[i])
        to = tree.parts[i].X
        beyond[parent[i]] = beyond[parent[i]].beside(Beyond(outer.dofs, Fq, Fv, outer.Ga, outer.Gb).carried(to))
        f[parent[i]] += X[i].force(f[i])
        IA[parent[i]] += X[i].inertia(joint.projected_inertia(IA[i]))
        CA[parent[i]] += to.outward(to.force(C).T).T
    return Q, V
