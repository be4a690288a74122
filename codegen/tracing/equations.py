"""Derivatives of the equations R(x, y) = 0 that forward dynamics solve, by arguments as they are, and what they make.

Recursions give those of inverse dynamics within them: of trees, and of robots with loops by way of the spanning tree.
All else is AD.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from casadi import SX, densify, dot, horzcat, jacobian, jtimes, sparsify, substitute, vertcat, vertsplit

from codegen.recursions.expansion import entries
from codegen.spatial import mirrored, semidefinite_ldl
from codegen.tracing.arguments import columns as unit_columns
from codegen.tracing.blocks import spans
from codegen.tracing.congruence import both_ways, with_plain
from codegen.tracing.curvature import (
    RECURSIVE,
    Pairs,
    along_tangents,
    holds_still,
    of_accelerations,
    of_equations,
    of_held_accelerations,
    of_joint_forces,
    of_points,
    of_step,
    second_derivatives,
    turns_no_axes,
)
from codegen.tracing.differential import moves
from codegen.tracing.implicit import FORWARD, contacts_only, wanted_only
from codegen.tracing.solutions import Dynamics, congruent, contracted
from codegen.tracing.spanning import by_joints, by_spanning_tree, slopes
from codegen.tracing.task import parameter_name
from codegen.tracing.trace import part_of, results_of, symbols_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.tracing.differential import Differential
    from codegen.tracing.solutions import Implicit, Program
    from codegen.tracing.task import Task


def forces(task: Task, program: Program, symbols: Mapping[str, SX], names: Sequence[str]) -> dict[str, SX]:
    """What a change of y has to balance, -dR/dx, by those of arguments, which `symbols` are, that are named; R has one
    solution y.
    """
    spanned = forces_of_joints(task, program, symbols) if {"q", "v"} & {*names} else {}
    found, size = {x: program.solved(spanned[x]) for x in names if x in spanned}, program.x.size1()
    for x, at in spans(symbols).items():
        if x in names and x not in found:
            found[x] = program.forces(SX.eye(size)[:, at])
    return found


def forces_of_joints(task: Task, program: Program, symbols: Mapping[str, SX]) -> dict[str, SX]:
    """The same by q and by v, at symbols of y, if the spanning tree gives it."""
    if not (solves(task) and by_spanning_tree(task)):
        return {}
    unknown = unknowns(task, program.solutions[0])
    return {x: -slope for x, slope in slopes(task, {**symbols, **unknown}).items() if x in symbols}


def inverse_dynamics_slopes(task: Task, symbols: Mapping[str, SX]) -> dict[str, SX]:
    """How tau of inverse dynamics changes with q, v and a as they are, where the spanning tree gives it."""
    return slopes(task, symbols) if task.algorithm == "rnea" and by_spanning_tree(task) else {}


class Solver(NamedTuple):
    """A program, and (dR/dy)^-1 of the equations of motion that it solves, if there is one that Jacobians take."""

    program: Program
    matrix: SX | None = None

    @property
    def rows(self) -> SX | None:
        """How results change with forces: rows of (dR/dy)^-1. None where results solve other equations."""
        if self.matrix is None:
            return self.program.inverse()
        return jacobian(self.program.y, self.program.solutions[0].unknown) @ self.matrix

    def multipliers(self, w: SX) -> SX:
        """(dR/dy)^-T w of the first equations, of one column or more."""
        return self.program.solutions[0].multipliers(w) if self.matrix is None else self.matrix @ w


def solver(task: Task, program: Program, symbols: Mapping[str, SX], columns: Sequence[SX]) -> Solver:
    """That of a program. As R is linear in y, a matrix gives y, too: -(dR/dy)^-1 R at y = 0."""
    matrix = inverse_of_equations(task, symbols, columns) if program.inverts else None
    if matrix is None:
        return Solver(program)
    (own,) = program.solutions
    assert isinstance(own, Dynamics), "they are equations of motion"
    lack = jtimes(own.inner, own.unknown, own.residual, True)
    y = -matrix @ substitute(lack, own.unknown, SX.zeros(own.unknown.size1()))
    return Solver(replace(program, value=y), matrix)


def inverse_of_equations(task: Task, symbols: Mapping[str, SX], columns: Sequence[SX]) -> SX | None:
    """(dR/dy)^-1 of a robot with implicit loops, by that of its inertia matrix M, if contacts' rows J hold exactly.

    It is [M^-1 - B' W^-1 B, -B' W^-1; -W^-1 B, -W^-1], with B = J M^-1 and W = B J'.
    """
    if not (solves(task) and by_spanning_tree(task)):
        return None
    M = minverse(task, columns)
    if task.entry.group != "constrained":
        return M
    if task.entry.declares.held != "exactly":
        return None
    unknown = {port.name: SX.sym(port.name, port.size) for port in task.signature[1]}
    J = -slopes(task, {**symbols, **unknown})["a"][task.model.nv :, :]
    B = J @ M
    W = semidefinite_ldl(mirrored(B @ J.T))
    lam = -W.solve(horzcat(B, SX.eye(B.size1())))
    by_forces = M + mirrored(B.T @ lam[:, : task.model.nv])
    return vertcat(horzcat(by_forces, lam[:, : task.model.nv].T), lam)


def minverse(task: Task, columns: Sequence[SX]) -> SX:
    """The inverse of the inertia matrix."""
    given = dict(zip([port.name for port in task.signature[0]], columns, strict=True))
    own = part_of(task, "minverse")
    symbols = symbols_of(own.signature[0])
    names = [port.name for port in own.signature[0]]
    return substitute(results_of(own, symbols)[0], vertcat(*symbols), densify(vertcat(*[given[x] for x in names])))


def second_of_equations(
    task: Task, symbols: Mapping[str, SX], columns: Sequence[SX], seed: SX, solution: Implicit, *, loops: bool = False
) -> Pairs:
    """Second derivatives of seed' R by arguments and solutions, which `symbols` are; `columns` are those of
    arguments as the algorithm takes them.
    """
    known, held = Pairs(), task.entry.group == "constrained"
    if solves(task) and held and by_spanning_tree(task):
        return second_derivatives(contracted(solution, seed), symbols, by_joints(task, symbols, seed))
    recursive = of_equations(task, symbols, seed, loops=loops) if solves(task) and held and derivable(task) else {}
    if recursive:
        known = recursive
    elif solves(task):
        known = of_inverse_dynamics(part_of(task, "rnea"), symbols, seed[: task.model.nv], loops=loops)
    if known and held:
        y = wanted_only if recursive else contacts_only
        others = {"f_ext", *map(parameter_name, task.numbers)}  # which inverse dynamics takes, too
        own = {name: x for name, x in symbols.items() if name not in others}
        parts = [*unknowns(task, solution).values()]
        known = with_plain(known, second_derivatives(y(task, columns, parts, seed), own, {}))
    return second_derivatives(contracted(solution, seed), symbols, known)


def of_inverse_dynamics(rnea: Task, symbols: Mapping[str, SX], weights: SX, *, loops: bool = False) -> Pairs:
    """Those of weights' tau by q, v and a, as far as recursions give them."""
    if derivable(rnea):
        return of_joint_forces(rnea, symbols, weights, loops=loops)
    return by_joints(rnea, symbols, weights) if by_spanning_tree(rnea) else {}


def bent(task: Task, program: Program, symbols: Mapping[str, SX], weights: SX, multipliers: SX, y: SX) -> tuple[SX, SX]:
    """Of weights' y, y being what dynamics give, the gradient by arguments, and second derivatives by these and by y of
    weights' y less u' R, at multipliers u that are constant.

    Both are of one function of all quaternions but zero, as recursions have them: AD goes through unit ones.
    """
    columns = unit_columns(task, symbols)
    program = program.at(densify(vertcat(*columns)), program.x)
    (solution,) = program.solutions
    u, moved = SX.sym("u", solution.unknown.size1()), {**symbols, **unknowns(task, solution)}
    H = -joined(second_of_equations(task, moved, columns, u, solution), [*moved])
    known = {x: balanced.T @ u for x, balanced in forces_of_joints(task, program, symbols).items()}
    slope = by_parts(program.reverse(weights), symbols, known)
    given = [densify(multipliers), densify(y)]
    gradient, second = substitute([slope, H], [u, solution.unknown], given)
    return gradient, second


def by_motion(task: Task, slope: SX, second: SX) -> tuple[SX, ...] | None:
    """A gradient by arguments of dynamics, and of second derivatives by these and by what solves them those by q and q,
    q and v, q and a, v and v, and lam and q. None where there are others, or of anything else.
    """
    second = sparsify(second)
    ports, raw = [port for own in task.signature for port in own], not all(own.explicit for own in task.model.loops)
    ends = [0, *accumulate(port.size if raw or not moves(port.name) else task.model.nv for port in ports)]
    at = {port.name: slice(*own) for port, own in zip(ports, pairwise(ends), strict=True)}
    if not {"q", "v", "a"} <= at.keys():
        return None
    pairs = [("q", "q"), ("q", "v"), ("q", "a"), ("v", "v"), *[("lam", "q")] * ("lam" in at)]
    found = [second[at[x], at[y]] for x, y in pairs]
    every = sum(own.nnz() * (1 if x == y else 2) for own, (x, y) in zip(found, pairs, strict=True))
    return (slope, *found) if every == second.nnz() else None


def joined(pairs: Pairs, names: Sequence[str]) -> SX:
    """Second derivatives by all of these as one matrix."""
    pairs = both_ways(pairs)
    known = dict(zip(pairs, entries(tuple(pairs.values())), strict=True))
    return vertcat(*[horzcat(*[known[one, other] for other in names]) for one in names])


def of_results(
    task: Task, own: Differential, arguments: Sequence[SX], weights: SX, J: SX | None = None
) -> tuple[SX, SX]:
    """Of results' sum with weights the gradient by all arguments, along tangents, and how it changes along them.

    J, if it is there anyway, is how results change, of a solution all of them.
    """
    inputs = tuple(port.name for port in task.signature[0])
    if RECURSIVE.get(task.algorithm) == inputs and task.tier != "published" and turns_no_axes(task):
        if task.algorithm == "aba":
            return of_accelerations(task, arguments, weights, J)
        if task.algorithm == "integrate":
            return of_step(task, arguments, weights)
        return own.vjp(weights), (along_tangents if task.algorithm == "rnea" else of_points)(task, arguments, weights)
    if inputs == ("q", "v", "tau") and own.program.solutions and holds_still(task):
        return of_held_accelerations(task, own, arguments, weights, J)
    if by_spanning_tree(task) and (task.algorithm == "rnea" or (own.program.solutions and solves(task))):
        x, T = dict(zip(inputs, arguments, strict=True)), own.inwards
        way = of_spanned_forces if task.algorithm == "rnea" else of_spanned_accelerations
        slope, second = way(task, own.program, x, weights, T)
        return T.T @ slope, second + own.turning(slope, T)
    # tangents that loops allow are fewer than coordinates, along all of which `hessian` differentiates
    closed = own.inwards.size1() > own.inwards.size2() and not all(loop.explicit for loop in task.model.loops)
    changes = J if own.program.is_solution else None
    return own.vjp(weights), own.hvp(weights, SX.eye(own.inwards.size2())) if closed else own.hessian(weights, changes)


def of_spanned_forces(task: Task, program: Program, x: Mapping[str, SX], weights: SX, T: SX) -> tuple[SX, SX]:
    """Of weights' tau of inverse dynamics the gradient by arguments x as they are, and how it changes along T, by T."""
    found = joined(second_derivatives(dot(weights, program.y), x, by_joints(task, x, weights)), [*x])
    known = {name: slope.T @ weights for name, slope in inverse_dynamics_slopes(task, x).items()}
    return by_parts(program.reverse(weights), x, known), T.T @ found @ T


def of_spanned_accelerations(task: Task, program: Program, x: Mapping[str, SX], weights: SX, T: SX) -> tuple[SX, SX]:
    """The same of weights' solution of forward dynamics."""
    own = solver(task, program, x, [*x.values()])
    (solution,), solved = program.solutions, own.program.solved
    slope, found = bent(task, program, x, weights, solved(own.multipliers(weights)), solved(solution.unknown))
    balanced = horzcat(*forces(task, own.program, x, [*x]).values())
    return slope, congruent(found, T, solved(own.multipliers(balanced @ T)))


def by_parts(column: SX, x: Mapping[str, SX], known: Mapping[str, SX]) -> SX:
    """A column by arguments x with the parts that are known in their places."""
    parts = dict(zip(x, vertsplit(column, [0, *accumulate(own.size1() for own in x.values())]), strict=True))
    return vertcat(*(parts | {**known}).values())


def solves(task: Task) -> bool:
    """Whether recursions hold for a task: forward dynamics of the robot's own bodies, constrained or not."""
    known = task.algorithm in FORWARD or task.entry.group == "constrained"
    return known and task.tier != "published"


def derivable(task: Task) -> bool:
    """Whether recursions give derivatives of the very function: no loop has to be closed by positions."""
    return all(loop.explicit for loop in task.model.loops) and task.tier != "published"


def unknowns(task: Task, solution: Implicit) -> dict[str, SX]:
    """The symbols of what a task solves, by the names of its results."""
    ports = task.signature[1]
    ends = [0, *accumulate(port.size for port in ports)]
    return dict(zip([port.name for port in ports], vertsplit(solution.unknown, ends), strict=True))
