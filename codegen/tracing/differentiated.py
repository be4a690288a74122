"""A task's function in CasADi's expressions, and its derivatives of first and second order by all that it takes.

Quaternions are normalised before the algorithm sees them. So the function is one of any quaternions but zero, its
derivative along a quaternion is zero, and derivatives by the raw coordinates q are those of the function itself:
differences of it agree with them, and second derivatives are symmetric.

AD (of CasADi) does for any algorithm. Where the registry has the recursion NAME_derivatives, it gives the Jacobian: its
columns are along tangents v, and dq = T v with orthogonal columns of T, so v = (T' T)^-1 T' dq. Products of derivatives
of what solves equations R(x, y) = 0 are those of `codegen.tracing.implicit`. With u = (dR/dy)^-1 w, the Hessian of w' y
is -A' H A, with H that of u' R and A = d(x, y)/dx.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from casadi import (
    DM,
    SX,
    densify,
    diag,
    dot,
    hessian,
    jacobian,
    jacobian_sparsity,
    jtimes,
    project,
    reshape,
    sparsify,
    sqrt,
    substitute,
    sumsqr,
    vec,
    vertcat,
)

from codegen.algorithms import ALGORITHMS, QUANTITIES
from codegen.recursions.products import Product, Result, entries, substituted, times
from codegen.spatial import diagonal
from codegen.tracing.blocks import Blocks, spans, split
from codegen.tracing.casadi_operators import direct_operators
from codegen.tracing.implicit import Dynamics, program_of
from codegen.tracing.tangents import tangents
from codegen.tracing.task import results_or_products, symbols_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from casadi import Sparsity

    from codegen.ir.graph import Port
    from codegen.model import Model
    from codegen.tracing.implicit import Program
    from codegen.tracing.task import Task

Results = dict[tuple[str, str], Result]
"""Derivatives by names of output and input."""

JACOBIANS = {
    "rnea": {("tau", "q"): "dtau_dq", ("tau", "v"): "dtau_dv", ("tau", "a"): "M"},
    "aba": {("a", "q"): "da_dq", ("a", "v"): "da_dv", ("a", "tau"): "Minv"},
}
"""What recursions call the blocks of a Jacobian, by output and input; others are named as dlam_dq is."""


def matrix(port: Port) -> tuple[int, int]:
    """The shape of an argument as a matrix: its last axis runs along the rows of all others."""
    columns = port.shape[-1] if len(port.shape) > 1 else 1
    return (port.size // columns if columns else 0), columns


@dataclass(frozen=True, slots=True)
class Expressions:
    """Arguments (dense symbols) and results (without structural zeros) of a function, by name, as matrices."""

    inputs: dict[str, SX]
    outputs: dict[str, SX]

    def __str__(self) -> str:
        return f"({', '.join(self.inputs)}) -> ({', '.join(self.outputs)})"

    @property
    def x(self) -> SX:
        """All arguments in one column (n)."""
        return column(self.inputs.values())

    @property
    def y(self) -> SX:
        """All results in one column (m)."""
        return column(self.outputs.values())


class Derivatives(Protocol):
    """Derivatives of y (m) by x (n): dy/dx, dy/dx dx, (dy/dx)' w, and the Hessian of w' y at constant w."""

    def jacobian(self) -> Blocks: ...
    def forward(self, dx: SX) -> SX: ...
    def adjoint(self, w: SX) -> SX: ...
    def hessian(self, w: SX) -> Blocks: ...


@direct_operators()
def differentiated(task: Task) -> tuple[Expressions, Derivatives]:
    """The function of a task, with a fixed number of iterations, and its derivatives."""
    inputs = {port.name: SX.sym(port.name, *matrix(port)) for port in task.signature[0]}
    made = results(task, inputs)
    own = Expressions(inputs, dict(zip(made, entries(tuple(made.values())), strict=True)))
    if not derivable(task):
        return own, Explicit(task, own)
    symbols = symbols_of(task.signature[0])
    program = program_of(task, symbols)
    if not program.solutions:
        return own, Explicit(task, own)
    return own, Implicit(task, own, program.at(densify(vertcat(*columns(task, inputs))), own.x))


@direct_operators()
def results(task: Task, inputs: Mapping[str, SX]) -> dict[str, Result]:
    """The results of a task, as matrices by name, at arguments; quaternions are normalised."""
    symbols = symbols_of(task.signature[0])
    found = substituted(results_or_products(task, symbols), symbols, columns(task, inputs))
    return {port.name: rows_of(x, port) for port, x in zip(task.signature[1], found, strict=True)}


def rows_of(result: Result, port: Port) -> Result:
    """A result as a matrix, its elements row by row; a product is one."""
    rows, columns = matrix(port)
    return reshape(vec(result.T), columns, rows).T if isinstance(result, SX) else result


def columns(task: Task, inputs: Mapping[str, SX]) -> list[SX]:
    """Arguments as the algorithm takes them, row by row; quaternions are normalised."""
    by_name = [inputs[port.name] for port in task.signature[0]]
    names = [port.name for port in task.signature[0]]
    given = [normalised(task.model, x)[0] if is_configuration(n) else x for n, x in zip(names, by_name, strict=True)]
    return [vec(x.T) for x in given]


def is_configuration(name: str) -> bool:
    """Whether an argument is one of positions."""
    return name in QUANTITIES and QUANTITIES[name].shape == ("nq",)


def derivable(task: Task) -> bool:
    """Whether recursions give derivatives of the very function: no loop has to be closed by positions."""
    return all(loop.explicit for loop in task.model.loops) and task.tier != "published"


def normalised(model: Model, q: SX) -> tuple[SX, SX]:
    """A configuration with unit quaternions, and what its elements were divided by (nq, both)."""
    parts, norms = SX(q), SX.ones(model.nq)
    for joint, place in zip(model.joints, model.q_slices, strict=True):
        if place.stop > place.start and joint.nq > joint.nv:
            at = slice(place.stop - 4, place.stop)
            norms[at] = sqrt(sumsqr(q[at]))
            parts[at] = q[at] * (1 / norms[at][0])
    return parts, norms


def tangent_maps(model: Model, q: SX) -> tuple[SX, SX]:
    """T of positions (nq x nv), which keeps the norms of quaternions, and what makes tangents of their changes."""
    unit, norms = normalised(model, q)
    rates, velocities = tangents(model, {}, unit)
    return diagonal(norms, model.nq) @ rates, velocities @ diagonal(1 / norms, model.nq)


def recursion(task: Task, own: Expressions) -> Results:
    """The blocks of the Jacobian that the registry has a recursion for, by positions as they are, if it has one."""
    name, inputs = f"{task.algorithm}_derivatives", own.inputs
    if name not in ALGORITHMS or not derivable(task):
        return {}
    if task.entry.group == "steps":
        return steps(task, own)
    pairs = {(y, x): f"d{y}_d{x}" for y in task.entry.outputs for x in ("q", "v", "tau")}
    named = JACOBIANS.get(task.algorithm, pairs)
    if not {*named.values()} <= {*ALGORITHMS[name].outputs}:
        return {}
    found, (_, E) = results(replace(task, algorithm=name), inputs), tangent_maps(task.model, inputs["q"])
    return {pair: times(found[block], E) if pair[1] == "q" else found[block] for pair, block in named.items()}


def steps(task: Task, own: Expressions) -> Results:
    """The blocks of a step's Jacobian: A and B are along tangents of positions at both ends."""
    model, nv = task.model, task.model.nv
    made = results(replace(task, algorithm=f"{task.algorithm}_derivatives"), own.inputs)
    found = dict(zip(made, entries(tuple(made.values())), strict=True))
    E, T = tangent_maps(model, own.inputs["q"])[1], tangent_maps(model, own.outputs["q_next"])[0]
    by = {"q": found["A"][:, :nv] @ E, "v": found["A"][:, nv:], "tau": found["B"]}
    moved = Results({("q_next", x): T @ change[:nv, :] for x, change in by.items()})
    return moved | {("v_next", x): change[nv:, :] for x, change in by.items()}


def column(parts: Iterable[SX]) -> SX:
    """Matrices in one column, each by its columns."""
    return vertcat(*[vec(part) for part in parts])


@dataclass(frozen=True, slots=True)
class Explicit:
    """Derivatives by AD, but for the blocks of the Jacobian that a recursion gives."""

    task: Task
    own: Expressions

    def jacobian(self) -> Blocks:
        """dy/dx (m x n)."""
        return assembled(self.own, recursion(self.task, self.own))

    def forward(self, dx: SX) -> SX:
        """dy/dx dx (m)."""
        return jtimes(self.own.y, self.own.x, dx)

    def adjoint(self, w: SX) -> SX:
        """(dy/dx)' w (n)."""
        return jtimes(self.own.y, self.own.x, w, True)

    def hessian(self, w: SX) -> Blocks:
        """The second derivative of w' y (n x n)."""
        return split(hessian(dot(w, self.own.y), self.own.x)[0], self.own.inputs, self.own.inputs)


def assembled(own: Expressions, known: Results) -> Blocks:
    """dy/dx (m x n) of these blocks, and what they leave out by AD; AD also tells which entries are zero."""
    if not known:
        return split(jacobian(own.y, own.x), own.outputs, own.inputs)
    found = split(SX(DM(jacobian_sparsity(own.y, own.x), 1)), own.outputs, own.inputs)
    for (y, x), block in found.items():
        matrix = known[y, x] if (y, x) in known else jacobian(vec(own.outputs[y]), vec(own.inputs[x]))
        found[y, x] = replace(block, matrix=within(matrix, block.entries))
    return found


def within(matrix: Result, entries: Sparsity) -> Result:
    """A result without what is known to be zero: of a product, whole columns."""
    if isinstance(matrix, SX):
        return project(matrix, entries)
    some = [float(stop > start) for start, stop in pairwise(entries.colind())]
    return matrix if all(some) else times(matrix, sparsify(diag(SX(DM(some)))))


@dataclass(frozen=True, slots=True)
class Implicit:
    """Derivatives of what solves equations; of a proximal iteration those of the solution that it settles at.

    But its Jacobian is that of the iteration as it is, by AD, which takes fewer operations.
    """

    task: Task
    own: Expressions
    program: Program

    def jacobian(self) -> Blocks:
        """dy/dx (m x n): the recursion, and -(dR/dy)^-1 dR/dp of what it leaves out."""
        entry = self.task.entry
        if entry.iterates or (entry.group == "constrained" and entry.declares.held != "exactly"):
            return assembled(self.own, {})
        blocks = recursion(self.task, self.own)
        if len(self.program.solutions) == 1 and self.task.entry.group != "steps":
            blocks |= self.others(blocks)
        return assembled(self.own, blocks)

    def others(self, known: Results) -> Results:
        """The blocks of a solution that are not among these."""
        (solution,), found = self.program.solutions, Results()
        for x, p in self.own.inputs.items():
            if (next(iter(self.own.outputs)), x) not in known:
                change = self.program.solved(solution.forward(vec(p), SX.eye(p.numel())))
                found |= {(y, x): change[at, :] for y, at in spans(self.own.outputs).items()}
        return found

    def forward(self, dx: SX) -> SX:
        """dy/dx dx (m)."""
        return self.program.forward(dx)

    def adjoint(self, w: SX) -> SX:
        """(dy/dx)' w (n)."""
        return self.program.reverse(w)

    def hessian(self, w: SX) -> Blocks:
        """The second derivative of w' y (n x n): of one solution -A' H A, with H of u' R at constant u."""
        solution, own = self.program.solutions[0], self.own
        if not isinstance(solution, Dynamics) or len(self.program.solutions) > 1 or self.task.entry.group == "steps":
            return Explicit(self.task, own).hessian(w)
        seed, n = SX.sym("seed", w.size1()), own.x.size1()
        H = hessian(solution.contracted(seed), vertcat(own.x, solution.unknown))[0]
        H = -self.program.solved(substitute(H, seed, solution.solve(w)))
        found = congruence(H[:n, :n], split(H[n:, :n], own.outputs, own.inputs), self.jacobian(), own)
        known = split(SX(DM(jacobian_sparsity(jtimes(own.y, own.x, w, True), own.x), 1)), own.inputs, own.inputs)
        return {pair: replace(block, entries=known[pair].entries) for pair, block in found.items()}


def congruence(H: SX, mixed: Blocks, J: Blocks, own: Expressions) -> Blocks:
    """H + B' J + J' B by two arguments, for the second derivatives H by arguments and B by results and arguments.

    There are none by results alone: equations are linear in what they are solved for.
    """
    found, names = split(H, own.inputs, own.inputs), [*own.inputs]
    for i, first in enumerate(names):
        for second in names[i:]:
            made = found[first, second].matrix
            for y in own.outputs:
                for left, right in ((mixed[y, first], J[y, second]), (J[y, first], mixed[y, second])):
                    if left.entries.nnz() and right.entries.nnz():
                        # on the diagonal nothing takes more than the upper triangle
                        made = Product(left.matrix, right.matrix, made, transposed=True, symmetric=first == second)
            found[first, second] = replace(found[first, second], matrix=made)
            if first != second:
                found[second, first] = found[first, second].T
    return found
