"""Coriolis matrix C: C v are the velocity products of inverse dynamics, and Mdot - 2 C is skew.

Echeandia and Wensing, Numerical methods to compute the Coriolis matrix and Christoffel symbols for rigid-body systems,
2021: C = sum J' (I Jdot + B J) over all bodies, B half of the velocity products of `codegen.spatial.coriolis`. Spatial
vectors [angular; linear] in body frames; gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, diagcat, horzcat

from codegen.recursions.momentum import composites
from codegen.recursions.poses import velocities
from codegen.recursions.spanning_rates import node_rates, spanning_motion, spanning_tree
from codegen.recursions.tree import Tree, armatures
from codegen.spatial import Coriolis, mirrored, motion_cross, zeros


def coriolis(tree: Tree, v: SX) -> SX:
    """C (nv x nv), armatures behind loops included."""
    nodes = node_rates(tree, v)
    moved = spanning_motion(tree, nodes, zeros(tree.nv))
    C, M = of_tree(spanning_tree(tree), moved.v)
    H, Hdot, rotors = moved.H, zeros(moved.H.size1(), tree.nv), []
    # node by node: how rates of all joints turn against joint velocities
    for i, (own, joints) in enumerate(zip(nodes, tree.spanning, strict=True)):
        Hdot[own.places, tree.dofs[i]] = own.rate_of(own.H)
        rotors.append(joints.G.T @ armatures(tree.model, i) @ own.rate_of(joints.G))
    return H.T @ (C @ H + M @ Hdot) + diagcat(*rotors)


def of_tree(tree: Tree, v: SX) -> tuple[SX, SX]:
    """C and M (without armatures) of a tree whose joint axes stand still in their bodies."""
    velocity, Ic, parts, dofs = velocities(tree, v), composites(tree), tree.parts, tree.dofs
    twice = [*(Coriolis.of(part.I, velocity[b]) for b, part in enumerate(parts)), Coriolis.none()]
    C, M = zeros(tree.nv, tree.nv), zeros(tree.nv, tree.nv)
    beyond: list[tuple[list[int], SX, SX, SX]] = [([], zeros(6, 0), zeros(6, 0), zeros(3, 0)) for _ in twice]
    # leaves to root: by joints beyond, I Sdot + B S, I S, and the moments B' S
    for i in tree.inwards:
        S, own, X, parent = parts[i].S, dofs[i], parts[i].X, parts[i].parent
        Sdot = motion_cross(velocity[i], S)
        outer, F, G, B = beyond[i]
        C[outer, own] = G.T @ Sdot + B.T @ S[:3, :]
        outer = [*range(own.start, own.stop), *outer]
        F = horzcat(Ic[i] @ Sdot + twice[i] @ S / 2, F)
        G, B = horzcat(Ic[i] @ S, G), horzcat(twice[i].moments(S) / 2, B)
        C[own, outer], M[own, outer] = S.T @ F, S.T @ G
        columns, *panels = beyond[parent]
        more = (X.force(F), X.force(G), X.outward(B))
        beyond[parent] = ([*columns, *outer], *(horzcat(a, b) for a, b in zip(panels, more, strict=True)))  # type: ignore[assignment]
        twice[parent] += X.inertia(twice[i])
    return C, mirrored(M)
