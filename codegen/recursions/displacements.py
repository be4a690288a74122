"""Velocities and accelerations, and how displacements and velocities of single joints change those beyond them.

Singh, Russell, Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra, RA-L
2022. With v and a those of what carries a joint, its displacement along S changes velocities beyond it by Psi = v x S,
and accelerations by Psidd = a x S + v x Psi; its velocity changes accelerations by dS = 2 Psi + vJ x S. Spatial vectors
[angular; linear] in body frames; gravity is upward acceleration of the world. Joint axes stand still in their bodies.
"""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX, vertcat

from codegen.recursions.tree import Tree
from codegen.spatial import motion_cross, zeros


@dataclass(frozen=True, slots=True)
class Displacement:
    """Of a joint: its axes S in its body's frame, and the changes Psi, Psidd and dS there (6 x n each)."""

    S: SX
    Psi: SX
    Psidd: SX
    dS: SX


def displacements(tree: Tree, v: SX, a: SX) -> tuple[dict[int, SX], dict[int, SX], list[Displacement]]:
    """Velocities and accelerations by bodies, the world's (-1) included, and changes by joints."""
    velocity, acceleration = {-1: zeros(6)}, {-1: vertcat(zeros(3), -tree.gravity)}
    found = []
    # root to leaves: what carries a body, then the body
    for i, (v_i, a_i) in enumerate(zip(tree.split(v), tree.split(a), strict=True)):
        S, parent = tree.S[i].columns, tree.parent[i]
        carrier, moved, vJ = tree.X[i] @ velocity[parent], tree.X[i] @ acceleration[parent], S @ v_i
        velocity[i] = carrier + vJ
        acceleration[i] = moved + S @ a_i + motion_cross(carrier, vJ)
        Psi = motion_cross(carrier, S)
        Psidd, dS = motion_cross(moved, S) + motion_cross(carrier, Psi), 2 * Psi + motion_cross(vJ, S)
        found.append(Displacement(S, Psi, Psidd, dS))
    return velocity, acceleration, found
