"""A task's function in CasADi's expressions, and its derivatives of first and second order by all that it takes.

Quaternions are normalised before the algorithm sees them. So the function is one of any quaternions but zero, its
derivative along a quaternion is zero, and derivatives by the raw coordinates q are those of the function itself:
differences of it agree with them, and second derivatives are symmetric.

Three ways lead there. AD (of CasADi) does for any algorithm. Where the registry has the recursion NAME_derivatives, it
gives the Jacobian: its columns are along tangents v, and dq = T v with orthogonal columns of T, so v = (T' T)^-1 T' dq.
Forward dynamics y(x), constrained or not, solve equations R(x, y) = 0 (Carpentier and Mansard, RSS 2018), with y = a
or (a, lam). dR/dy is symmetric, and y is linear in joint forces tau and wanted accelerations k of contacts: its AD by
these solves with dR/dy. With multipliers u = (dR/dy)^-1 w of seeds w, the gradient of w' y is that of -u' R at constant
y, and the Hessian is -A' H A, with H that of u' R and A = d(x, y)/dx.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from casadi import (
    DM,
    SX,
    Function,
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
    sum1,
    sumsqr,
    vec,
    vertcat,
)

from codegen.algorithms import ALGORITHMS, QUANTITIES
from codegen.algorithms.constrained_derivatives import equations
from codegen.kinematic_loops.constraints import rate_map, velocity_scales
from codegen.lowering import lowered
from codegen.spatial import diagonal, mirrored, zeros
from codegen.tracing.casadi_operators import direct_operators
from codegen.tracing.task import casadi_function, stated

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codegen.ir.graph import Port
    from codegen.model import Model
    from codegen.tracing.task import Task

    Blocks = dict[tuple[str, str], SX]
    """Derivatives by names of output and input."""

JACOBIANS = {
    "rnea": {("tau", "q"): "dtau_dq", ("tau", "v"): "dtau_dv", ("tau", "a"): "M"},
    "aba": {("a", "q"): "da_dq", ("a", "v"): "da_dv", ("a", "tau"): "Minv"},
}
"""What recursions call the blocks of a Jacobian, by output and input; others are named as dlam_dq is."""

FORWARD = ("aba", "ltl")
"""Forward dynamics without contacts."""


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
    held = task.entry.group == "constrained"
    if not (held or task.algorithm in FORWARD) or not derivable(task):
        return own, Explicit(task, own)
    k = inputs.get("k", SX.sym("k", own.outputs["lam"].size1())) if held else zeros(0)
    with_k = tuple(dict.fromkeys((*task.parameters, "k"))) if held else task.parameters
    causes = {**inputs, "k": k} if held else inputs
    response = column(results(replace(task, parameters=with_k), causes).values())
    y = SX.sym("y", own.y.size1())
    R = constrained(task, inputs, y) if held else unconstrained(task, inputs, y)
    return own, (Constrained if held else Implicit)(task, own, y, R, (inputs["tau"], k), response)


def unconstrained(task: Task, inputs: Mapping[str, SX], a: SX) -> SX:
    """ID(x, a) - tau."""
    moving = {"a" if name == "tau" else name: a if name == "tau" else x for name, x in inputs.items()}
    return results(replace(task, algorithm="rnea"), moving)["tau"] - inputs["tau"]


def constrained(task: Task, inputs: Mapping[str, SX], y: SX) -> SX:
    """The equations of constrained dynamics at y = (a, lam)."""
    ports, needs = task.signature[0], ALGORITHMS[f"{task.algorithm}_derivatives"].needs(task.parameters)
    symbols = [SX.sym(port.name, port.size) for port in ports]
    problem = lowered(stated(task, needs, ports, symbols), task.without)
    given = problem.arguments
    soft = given["R"] if task.entry.declares.held == "softly" else SX(0)
    v, tau, f_ext, k = (given[name] for name in ("v", "tau", "f_ext", "k"))
    found = equations(problem.built, v, tau, f_ext, k, soft, y[: task.model.nv], y[task.model.nv :])
    return Function("R", [*symbols, y], [found]).call([*columns(task, inputs), y], True, False)[0]


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


def tangents(model: Model, q: SX) -> SX:
    """What makes tangents of changes of positions (nv x nq): (T' T)^-1 T' of unit quaternions, by their norms."""
    unit, norms = normalised(model, q)
    found = zeros(model.nv, model.nq)
    for i, bodies in enumerate(model.velocity_bodies):
        scales = velocity_scales(model, i)
        for b in bodies:
            joint, place, own = model.joints[b], model.q_slices[b], model.v_slices[b]
            x = SX.sym("x", joint.nq)
            T = rate_map(joint, x)
            squares = DM(substitute(sum1(T * T), x, SX(DM(joint.neutral()))))
            inverse = [1 / (scale * float(square)) for scale, square in zip(scales, squares.full()[0], strict=False)]
            del scales[: joint.nv]
            found[own, place] = diagonal(SX(DM(inverse)), joint.nv) @ substitute(T, x, unit[place]).T
    return found @ diagonal(1 / norms, model.nq)


def rates(model: Model, q: SX) -> SX:
    """T (nq x nv) of positions: dq/dt = T v, which keeps the norms of quaternions."""
    unit, norms = normalised(model, q)
    found = zeros(model.nq, model.nv)
    for i, bodies in enumerate(model.velocity_bodies):
        scales = velocity_scales(model, i)
        for b in bodies:
            joint, place, own = model.joints[b], model.q_slices[b], model.v_slices[b]
            found[place, own] = rate_map(joint, unit[place]) @ diagonal(SX(DM(scales[: joint.nv])), joint.nv)
            del scales[: joint.nv]
    return diagonal(norms, model.nq) @ found


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
    found, E = results(replace(task, algorithm=name), inputs), tangents(task.model, inputs["q"])
    return {pair: found[block] @ E if pair[1] == "q" else found[block] for pair, block in named.items()}


def steps(task: Task, own: Expressions) -> Blocks:
    """The blocks of a step's Jacobian: A and B are along tangents of positions at both ends."""
    model, nv = task.model, task.model.nv
    found = results(replace(task, algorithm=f"{task.algorithm}_derivatives"), own.inputs)
    E, T = tangents(model, own.inputs["q"]), rates(model, own.outputs["q_next"])
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
    """Derivatives of forward dynamics by their equations R of x and of the symbols y.

    `causes` are tau and k, `response` is the function of these, with a symbol k also where it is no argument.
    """

    task: Task
    own: Expressions
    y: SX
    R: SX
    causes: tuple[SX, SX]
    response: SX

    def solve(self, w: SX) -> SX:
        """(dR/dy)^-1 w (m x any)."""
        tau, k = self.causes
        seeds = vertcat(w[: tau.size1(), :], -w[tau.size1() :, :])
        found = jtimes(self.response, vertcat(tau, k), seeds)
        return found if "k" in self.own.inputs else substitute(found, k, SX.zeros(k.size1()))

    def solved(self, expression: SX, seed: SX, value: SX) -> SX:
        """An expression of x, y and a seed at the solution, and at a value of the seed."""
        return substitute(expression, vertcat(self.y, seed), vertcat(self.own.y, value))

    def jacobian(self) -> SX:
        """dy/dx (m x n): the recursion, and -(dR/dy)^-1 dR/dp of what it leaves out."""
        blocks, places = recursion(self.task, self.own), {}
        top = 0
        for name, y in self.own.outputs.items():
            places[name] = slice(top, top := top + y.size1())
        for x, p in self.own.inputs.items():
            if (next(iter(places)), x) not in blocks:
                change = self.solve(-self.solved(jacobian(self.R, vec(p)), zeros(0), zeros(0)))
                blocks |= {(name, x): change[place, :] for name, place in places.items()}
        return assembled(self.own, blocks)

    def forward(self, dx: SX) -> SX:
        """-(dR/dy)^-1 dR/dx dx."""
        seed = SX.sym("seed", dx.size1())
        return self.solve(-self.solved(jtimes(self.R, self.own.x, seed), seed, dx))

    def adjoint(self, w: SX) -> SX:
        """-(dR/dx)' u."""
        seed = SX.sym("seed", w.size1())
        return -self.solved(jtimes(self.R, self.own.x, seed, True), seed, self.solve(w))

    def hessian(self, w: SX) -> SX:
        """-A' H A."""
        seed, all_of = SX.sym("seed", w.size1()), vertcat(self.own.x, self.y)
        H = self.solved(hessian(dot(seed, self.R), all_of)[0], seed, self.solve(w))
        A = vertcat(SX.eye(self.own.x.size1()), self.jacobian())
        entries = jacobian_sparsity(jtimes(self.own.y, self.own.x, w, True), self.own.x)
        return project(mirrored(-A.T @ (H @ A)), entries)


@dataclass(frozen=True, slots=True)
class Constrained(Implicit):
    """The same with contacts, where AD takes fewer operations: for products, and for all but direct solutions.

    A proximal iteration is differentiated as it is, then; its Hessians alone are those of the solution it settles at.
    """

    def jacobian(self) -> SX:
        """dy/dx (m x n)."""
        direct = self.task.entry.declares.held == "exactly"
        return Implicit.jacobian(self) if direct else jacobian(self.own.y, self.own.x)

    def forward(self, dx: SX) -> SX:
        """dy/dx dx."""
        return jtimes(self.own.y, self.own.x, dx)

    def adjoint(self, w: SX) -> SX:
        """(dy/dx)' w."""
        return jtimes(self.own.y, self.own.x, w, True)
