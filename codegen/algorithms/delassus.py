"""What the Delassus algorithms and the dual solvers share: blocks, Jacobians, the dual problem and its damping.

Sathya and Carpentier 2024 (hal-04443056), sec. II and IV. The dual problem of constrained dynamics is W lam = missing:
W the Delassus matrix, `missing` what the contacts' rows lack when no multiplier acts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from casadi import SX, horzcat, vertcat

from codegen.algorithms.iteration import Iteration
from codegen.algorithms.motion import forces, motions, resting, shortfall
from codegen.algorithms.sweeps import Articulated, articulated, joint_forces, rolled_out, transmitted
from codegen.spatial import ldl, mirrored, zeros
from codegen.tree import Tree


def assembled(tree: Tree, blocks: Mapping[tuple[int, int], Sequence[SX]]) -> SX:
    """The symmetric m x m matrix of blocks (contact, later contact), each a sum of terms."""
    W = zeros(tree.m, tree.m)
    for (e, other), terms in blocks.items():
        for term in terms:
            W[tree.contacts[e].rows, tree.contacts[other].rows] += term
    return mirrored(W)


def jacobian_transpose(tree: Tree) -> SX:
    """J' (nv x m): joint forces of unit multipliers, all joints locked."""
    columns = []
    for contact in tree.contacts:
        y = joint_forces(tree, contact)
        columns.append(vertcat(*[y.get(i, zeros(tree.S[i].size, contact.size)) for i in tree.outwards]))
    return horzcat(*columns) if columns else zeros(tree.nv, 0)


def by_joints(tree: Tree, A: Articulated, y: Sequence[Mapping[int, SX]]) -> SX:
    """W as the sum over joints: every joint that carries two contacts gives way to both."""
    yielding = [{i: A.D[i].solve(y_i) for i, y_i in y_e.items()} for y_e in y]
    pairs = [(o, e) for e in range(len(y)) for o in range(e + 1)]
    return assembled(tree, {(o, e): [y[o][i].T @ yielding[e][i] for i in y[e] if i in y[o]] for o, e in pairs})


@dataclass(frozen=True, slots=True)
class Dual:
    """The dual problem W lam = missing, and what brings multipliers back to the joints."""

    W: SX
    missing: SX
    a0: SX
    A: Articulated
    u: dict[int, SX]
    y: tuple[dict[int, SX], ...]


def dual(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX) -> Dual:
    """The dual problem by the Popov-Vereshchagin backward sweep."""
    a0, A = resting(tree, v), articulated(tree, tree.I)
    motion = motions(tree, v, a0)
    u = transmitted(tree, A, forces(tree, motion, f_ext), dict(enumerate(tree.split(tau))), tree.inwards)
    y = tuple(joint_forces(tree, contact, A) for contact in tree.contacts)
    free = []
    for y_e, contact in zip(y, tree.contacts, strict=True):
        reached = zeros(contact.size)
        for i, y_i in y_e.items():
            reached += y_i.T @ A.D[i].solve(u[i])
        free.append(reached)
    missing = shortfall(tree, motion, k) - (vertcat(*free) if free else zeros(0))
    return Dual(by_joints(tree, A, y), missing, a0, A, u, y)


def with_multipliers(tree: Tree, problem: Dual, lam: SX) -> SX:
    """Joint accelerations (nv) under the multipliers lam (m)."""
    u = dict(problem.u)
    for y_e, contact in zip(problem.y, tree.contacts, strict=True):
        for i, y_i in y_e.items():
            u[i] += y_i @ lam[contact.rows]
    y, _ = rolled_out(tree, problem.A, u, tree.outwards)
    return problem.a0 + vertcat(*[y[i] for i in tree.outwards])


def proximal(W: SX, missing: SX, mu: SX, lam0: SX, accelerations: Callable[[SX], SX]) -> Iteration:
    """The proximal dual iteration (W + 1/mu) lam+ = missing + lam / mu, one factorisation for all steps."""
    factors = ldl(W + SX.eye(W.size1()) / mu)

    def step(lam: SX) -> tuple[SX]:
        return (factors.solve(missing + lam / mu),)

    return Iteration(step(lam0), step, lambda lam: missing - W @ lam, lambda lam: (accelerations(lam), lam))
