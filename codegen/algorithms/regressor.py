"""Regressor of inverse dynamics: joint forces are linear in the inertial parameters of the bodies.

Khalil and Dombre, Modeling, Identification and Control of Robots, ch. 12; the columns of Pinocchio's
computeJointTorqueRegressor. Parameters of a body are [m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz], in the frame that its
joint moves and about its origin. Forces of armatures, A a of a tree, are left out. Gravity enters as upward
acceleration of the world.
"""

from __future__ import annotations

from casadi import SX, diagcat, horzcat, vertcat

from codegen.geometry import Pose
from codegen.recursions.motion import Motion, acceleration_matrix, motions
from codegen.recursions.tree import Tree
from codegen.spatial import Transform, cross3, placement_steps, skew3, zeros

NUMBERS = 10  # of inertial parameters of a body


def regressor(tree: Tree, v: SX, a: SX) -> SX:
    """Y (nv x 10 n), body after body: tau = Y pi + forces of armatures."""
    motion = motions(tree, v, a)
    needed = [of_body(motion[b], part.stated) for b, part in enumerate(tree.parts)]
    Y = zeros(tree.nv, NUMBERS * len(needed))
    felt: list[list[SX]] = [[] for _ in tree.I]
    beyond: list[list[int]] = [[] for _ in tree.I]
    # leaves to root: by parameters, forces that a node and all that it carries need
    for i in tree.inwards:
        bodies, parent = tree.model.nodes[i].bodies, tree.parent[i]
        F = horzcat(diagcat(*[needed[b] for b in bodies]), *felt[i])
        columns = [*(NUMBERS * b + n for b in bodies for n in range(NUMBERS)), *beyond[i]]
        Y[tree.dofs[i], columns] = tree.S[i].T @ F
        felt[parent].append(tree.X[i].force(F))
        beyond[parent] += columns
    return Y


def of_body(motion: Motion, stated: Pose) -> SX:
    """By the parameters in the stated frame, the spatial force (6 x 10) that the body needs for a motion."""
    X = Transform(placement_steps(stated))
    return X.force(by_parameters(*seen(motion, X)))


def seen(motion: Motion, X: Transform) -> tuple[SX, SX, SX]:
    """Angular velocity and acceleration, and the classical acceleration of the origin, in a frame of a body."""
    return X.vector(motion.w), X.vector(motion.wdot), X.vector(motion.ac + motion.Omega @ X.origin)


def by_parameters(w: SX, wdot: SX, ac: SX) -> SX:
    """By parameters in a frame, the spatial force (6 x 10) there for its motion."""
    turning = horzcat(*[_turned(wdot, k) + cross3(w, _turned(w, k)) for k in range(6)])
    moment = horzcat(zeros(3), -skew3(ac), turning)
    return vertcat(moment, horzcat(ac, acceleration_matrix(w, wdot), zeros(3, 6)))


def _turned(w: SX, k: int) -> SX:
    """I w of the unit moment of inertia k: xx, xy, yy, xz, yz, zz."""
    r, c = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))[k]
    Iw = zeros(3)
    Iw[r], Iw[c] = w[c], w[r]
    return Iw
