"""Derivatives of centroidal momentum and of its rate.

Carpentier and Mansard, RSS 2018; Pinocchio's computeCentroidalDynamicsDerivatives. Rows [linear; angular] about the
centre of mass, along world axes; columns by q are along the tangents of joints. Gravity and armatures play no part.

With h and f the momentum and the force of all that hangs on a joint, displacing it along S changes h by I Psi + S x* h
and f by C Psi + I Psidd + S x* f (see `codegen.algorithms.rnea_derivatives`). As the centre of mass moves by dc,
angular momentum about it changes by -dc x (linear momentum) more.
"""

from __future__ import annotations

from casadi import SX, horzcat, horzsplit, vertcat

from codegen.recursions.displacements import displacements
from codegen.recursions.momentum import centre_of_mass, composites
from codegen.recursions.motion import classical, forces
from codegen.recursions.poses import world_poses
from codegen.recursions.spanning_rates import Changes, node_rates, spanning_motion, spanning_tree
from codegen.recursions.tree import Tree
from codegen.spatial import Coriolis, force_cross, skew3, zeros


def centroidal_derivatives(tree: Tree, v: SX, a: SX) -> tuple[SX, SX, SX, SX, SX]:
    """hdot (6), dh/dq, dhdot/dq, dhdot/dv and A_g = dh/dv = dhdot/da (6 x nv) of the motion (q, v, a)."""
    moved = spanning_motion(tree, node_rates(tree, v), a)
    h, hdot, own = of_tree(spanning_tree(tree).weightless, moved.v, moved.a)
    changes, m = moved.reduced(own), composites(tree)[-1].m
    dcom = changes.J[:3, :] / m
    dh, dhdot = (
        x + vertcat(zeros(3, tree.nv), skew3(y[:3]) @ dcom) for x, y in ((changes.v_q, h), (changes.a_q, hdot))
    )
    return hdot, dh, dhdot, changes.a_v, changes.J


def of_tree(tree: Tree, v: SX, a: SX) -> tuple[SX, SX, Changes]:
    """Momentum and force about the centre of mass, and their changes about a point that stays, of a weightless tree."""
    velocity, acceleration, joints = displacements(tree, v, a)
    pose, com, Ic, parts = world_poses(tree), centre_of_mass(tree), composites(tree), tree.parts
    f = forces(tree, {i: classical(velocity[i], acceleration[i]) for i in tree.outwards}, tree.no_wrenches)
    h = [*(part.I @ velocity[b] for b, part in enumerate(parts)), zeros(6)]
    C = [*(Coriolis.of(part.I, velocity[b]) for b, part in enumerate(parts)), Coriolis.none()]
    changes = Changes(*(zeros(6, tree.nv) for _ in range(4)))
    # leaves to root: changes of momentum and force of all that hangs on a joint
    for i in tree.inwards:
        joint, parent = joints[i], tree.parent[i]
        F = (
            Ic[i] @ joint.S,
            Ic[i] @ joint.Psi + force_cross(joint.S, h[i]),
            C[i] @ joint.Psi + Ic[i] @ joint.Psidd + force_cross(joint.S, f[i]),
            C[i] @ joint.S + Ic[i] @ joint.dS,
        )
        columns = horzsplit(pose[i].wrench(horzcat(*F), com), joint.S.size2())
        for change, own in zip((changes.J, changes.v_q, changes.a_q, changes.a_v), columns, strict=True):
            change[:, tree.dofs[i]] = own
        h[parent] += tree.X[i].force(h[i])
        f[parent] += tree.X[i].force(f[i])
        C[parent] += parts[i].X.inertia(C[i])
    return pose[-1].wrench(h[-1], com), pose[-1].wrench(f[-1], com), changes
