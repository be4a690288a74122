"""Reduced problem: what elimination leaves to solve, and the way back to the whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from casadi import SX

from codegen.recursions.tree import Tree

Nodes = dict[int, SX]
Solution = tuple[Nodes, Nodes, SX]
"""Accelerations of joints and of bodies, by nodes, and multipliers (m)."""


@dataclass(frozen=True, slots=True)
class ReducedProblem:
    """What is left to solve: bias forces p on a tree's nodes, joint forces tau by nodes, what the rows lack, s (m).

    `back_substitute` makes of its solution that of the whole; `reduced_multipliers` of multipliers of
    all rows those of the rows left.
    """

    tree: Tree
    p: list[SX]
    tau: Nodes
    s: SX
    back_substitute: Callable[[Nodes, Nodes, SX], Solution]
    reduced_multipliers: Callable[[SX], SX]
