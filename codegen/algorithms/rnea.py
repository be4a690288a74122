"""RNEA, the recursive Newton-Euler algorithm: inverse dynamics.

Featherstone, Rigid Body Dynamics Algorithms, sec. 5.3. Spatial vectors [angular; linear] in body frames;
gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from collections.abc import Sequence

from casadi import SX, vertcat

from codegen.recursions.motion import Motion, forces, motions
from codegen.recursions.tree import Tree


def rnea(tree: Tree, v: SX, a: SX, f_ext: SX) -> SX:
    """Joint forces tau (nv) of the motion (q, v, a) under gravity and external wrenches."""
    return inverse(tree, motions(tree, v, a), v, a, f_ext)


def inverse(tree: Tree, motion: dict[int, Motion], v: SX, a: SX, f_ext: SX) -> SX:
    """The same of a motion known already, at joint velocities v and accelerations a (which armatures feel)."""
    return transmitted(tree, forces(tree, motion, f_ext), tree.armature_forces(v, a))


def transmitted(tree: Tree, f: list[SX], felt: Sequence[SX]) -> SX:
    """Joint forces (nv) that forces f on nodes (the world's last), and those that armatures feel, ask for."""
    f, tau = list(f), {}
    # leaves to root: what each joint transmits, handed on to the parent
    for i in tree.inwards:
        tau[i] = tree.S[i].T @ f[i] + felt[i]
        f[tree.parent[i]] += tree.X[i].force(f[i])
    return vertcat(*[tau[i] for i in tree.outwards])
