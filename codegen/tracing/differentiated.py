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
from typing import TYPE_CHECKING, Protocol

from casadi import (
    SX,
    densify,
    dot,
    hessian,
    horzcat,
    jacobian,
    jacobian_sparsity,
    jtimes,
    project,
    reshape,
    sqrt,
    substitute,
    sumsqr,
    vec,
    vertcat,
)

from codegen.algorithms import ALGORITHMS, QUANTITIES
from codegen.spatial import diagonal, mirrored
from codegen.tracing.casadi_operators import direct_operators
from codegen.tracing.implicit import Dynamics, program_of
from codegen.tracing.tangents import tangents
from codegen.tracing.task import casadi_function, symbols_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codegen.ir.graph import Port
    from codegen.model import Model
    from codegen.tracing.implicit import Program
    from codegen.tracing.task import Task

Blocks = dict[tuple[str, str], SX]
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

    def jacobian(self) -> SX: ...
    def forward(self, dx: SX) -> SX: ...
    def adjoint(self, w: SX) -> SX: ...
    def hessian(self, w: SX) -> SX: ...


@direct_operators()
def differentiated(task: Task) -> tuple[Expressions, Derivatives]:
    """The function of a task, with a fixed number of iterations, and its derivatives."""
    inputs = {port.name: SX.sym(port.name, *matrix(port)) for port in task.signature[0]}
    own = Expressions(inputs, results(task, inputs))
    if not derivable(task):
        return own, Explicit(task, own)
    symbols = symbols_of(task.signature[0])
    program = program_of(task, symbols)
    if not program.solutions:
        return own, Explicit(task, own)
    return own, Implicit(task, own, program.at(densify(vertcat(*columns(task, inputs))), own.x))


def results(task: Task, inputs: Mapping[str, SX]) -> dict[str, SX]:
    """The results of a task, as matrices by name, at arguments; quaternions are normalised."""
    found = casadi_function(task, dense=False).call(columns(task, inputs), True, False)
    shapes = [matrix(port) for port in task.signature[1]]
    made = [reshape(x, columns, rows).T for x, (rows, columns) in zip(found, shapes, strict=True)]
    return {port.name: x for port, x in zip(task.signature[1], made, strict=True)}


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


def recursion(task: Task, own: Expressions) -> Blocks:
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
    return {pair: found[block] @ E if pair[1] == "q" else found[block] for pair, block in named.items()}


def steps(task: Task, own: Expressions) -> Blocks:
    """The blocks of a step's Jacobian: A and B are along tangents of positions at both ends."""
    model, nv = task.model, task.model.nv
    found = results(replace(task, algorithm=f"{task.algorithm}_derivatives"), own.inputs)
    E, T = tangent_maps(model, own.inputs["q"])[1], tangent_maps(model, own.outputs["q_next"])[0]
    by = {"q": found["A"][:, :nv] @ E, "v": found["A"][:, nv:], "tau": found["B"]}
    return {("q_next", x): T @ change[:nv, :] for x, change in by.items()} | {
        ("v_next", x): change[nv:, :] for x, change in by.items()
    }


def column(parts: Iterable[SX]) -> SX:
    """Matrices in one column, each by its columns."""
    return vertcat(*[vec(part) for part in parts])


@dataclass(frozen=True, slots=True)
class Explicit:
    """Derivatives by AD, but for the blocks of the Jacobian that a recursion gives."""

    task: Task
    own: Expressions

    def jacobian(self) -> SX:
        """dy/dx (m x n)."""
        return assembled(self.own, recursion(self.task, self.own))

    def forward(self, dx: SX) -> SX:
        """dy/dx dx (m)."""
        return jtimes(self.own.y, self.own.x, dx)

    def adjoint(self, w: SX) -> SX:
        """(dy/dx)' w (n)."""
        return jtimes(self.own.y, self.own.x, w, True)

    def hessian(self, w: SX) -> SX:
        """The second derivative of w' y (n x n)."""
        return hessian(dot(w, self.own.y), self.own.x)[0]


def assembled(own: Expressions, blocks: Blocks) -> SX:
    """dy/dx (m x n) of these blocks, and what they leave out by AD; AD also tells which entries are zero."""
    if not blocks:
        return jacobian(own.y, own.x)
    rows = []
    for name, y in own.outputs.items():
        rest = [x for x in own.inputs if (name, x) not in blocks]
        found = {x: jacobian(vec(y), vec(own.inputs[x])) for x in rest}
        rows.append([blocks[name, x] if (name, x) in blocks else found[x] for x in own.inputs])
    return project(vertcat(*[horzcat(*row) for row in rows]), jacobian_sparsity(own.y, own.x))


@dataclass(frozen=True, slots=True)
class Implicit:
    """Derivatives of what solves equations; of a proximal iteration those of the solution that it settles at.

    But its Jacobian is that of the iteration as it is, by AD, which takes fewer operations.
    """

    task: Task
    own: Expressions
    program: Program

    def jacobian(self) -> SX:
        """dy/dx (m x n): the recursion, and -(dR/dy)^-1 dR/dp of what it leaves out."""
        entry = self.task.entry
        if entry.iterates or (entry.group == "constrained" and entry.declares.held != "exactly"):
            return jacobian(self.own.y, self.own.x)
        blocks = recursion(self.task, self.own)
        if len(self.program.solutions) == 1 and self.task.entry.group != "steps":
            blocks |= self.others(blocks)
        return assembled(self.own, blocks)

    def others(self, blocks: Blocks) -> Blocks:
        """The blocks of a solution that are not among these."""
        (solution,), top = self.program.solutions, 0
        places, found = dict[str, slice](), Blocks()
        for name, y in self.own.outputs.items():
            places[name] = slice(top, top := top + y.size1())
        for x, p in self.own.inputs.items():
            if (next(iter(places)), x) not in blocks:
                change = self.program.solved(solution.forward(vec(p), SX.eye(p.numel())))
                found |= {(name, x): change[place, :] for name, place in places.items()}
        return found

    def forward(self, dx: SX) -> SX:
        """dy/dx dx (m)."""
        return self.program.forward(dx)

    def adjoint(self, w: SX) -> SX:
        """(dy/dx)' w (n)."""
        return self.program.reverse(w)

    def hessian(self, w: SX) -> SX:
        """The second derivative of w' y (n x n): of one solution -A' H A, with H of u' R at constant u."""
        solution, x = self.program.solutions[0], self.own.x
        if not isinstance(solution, Dynamics) or len(self.program.solutions) > 1 or self.task.entry.group == "steps":
            return Explicit(self.task, self.own).hessian(w)
        seed = SX.sym("seed", w.size1())
        H = hessian(solution.contracted(seed), vertcat(x, solution.unknown))[0]
        H = self.program.solved(substitute(H, seed, solution.solve(w)))
        A = vertcat(SX.eye(x.size1()), self.jacobian())
        entries = jacobian_sparsity(jtimes(self.own.y, x, w, True), x)
        return project(mirrored(-A.T @ (H @ A)), entries)
