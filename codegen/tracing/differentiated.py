"""A task's function in CasADi's expressions, and its derivatives of first and second order by all that it takes.

Quaternions are normalised before the algorithm sees them. So the function is one of any quaternions but zero, its
derivative along a quaternion is zero, and derivatives by the raw coordinates q are those of the function itself:
differences of it agree with them, and second derivatives are symmetric.

Three ways lead there. AD (of CasADi) does for any algorithm. Where the registry has the recursion NAME_derivatives, it
gives the Jacobian: its columns are along tangents v, and dq = T v with orthogonal columns of T, so v = (T' T)^-1 T' dq.
Forward dynamics are the implicit function a(x) of ID(x_a) = tau (Carpentier and Mansard, RSS 2018): x_a is x with a in
the place of tau. With the multipliers lam = M^-1 w of seeds w, the gradient of w' a is that of -lam' ID, with lam in
the place of tau; its Hessian is -A' H A, with H that of lam' ID and A = dx_a/dx.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from casadi import (
    DM,
    SX,
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
from codegen.kinematic_loops.constraints import rate_map, velocity_scales
from codegen.spatial import diagonal, mirrored, zeros
from codegen.tracing.casadi_operators import direct_operators
from codegen.tracing.task import casadi_function

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

INVERSE = {"aba": "rnea", "ltl": "rnea"}
"""Forward dynamics, and the inverse dynamics whose implicit function they are."""


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
    if task.algorithm not in INVERSE or not explicit(task.model):
        return own, Explicit(task, own)
    a = {"a" if name == "tau" else name: SX.sym("a", x.size1()) if name == "tau" else x for name, x in inputs.items()}
    return own, Implicit(task, own, Expressions(a, results(replace(task, algorithm=INVERSE[task.algorithm]), a)))


def results(task: Task, inputs: Mapping[str, SX]) -> dict[str, SX]:
    """The results of a task, as matrices by name, at arguments; quaternions are normalised."""
    given = [normalised(task.model, x)[0] if is_configuration(name) else x for name, x in inputs.items()]
    found = casadi_function(task, dense=False).call([vec(x.T) for x in given], True, False)
    shapes = [matrix(port) for port in task.signature[1]]
    made = [reshape(x, columns, rows).T for x, (rows, columns) in zip(found, shapes, strict=True)]
    return {port.name: x for port, x in zip(task.signature[1], made, strict=True)}


def is_configuration(name: str) -> bool:
    """Whether an argument is one of positions."""
    return name in QUANTITIES and QUANTITIES[name].shape == ("nq",)


def explicit(model: Model) -> bool:
    """Whether positions are free: no loop has to be closed by them."""
    return all(loop.explicit for loop in model.loops)


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


def recursion(task: Task, inputs: Mapping[str, SX]) -> Blocks:
    """The blocks of the Jacobian that the registry has a recursion for, by positions as they are, if it has one."""
    name = f"{task.algorithm}_derivatives"
    if name not in ALGORITHMS or not explicit(task.model):
        return {}
    found, E = results(replace(task, algorithm=name), inputs), tangents(task.model, inputs["q"])
    pairs = {(y, x): f"d{y}_d{x}" for y in task.entry.outputs for x in ("q", "v", "tau")}
    named = JACOBIANS.get(task.algorithm, pairs)
    return {pair: found[block] @ E if pair[1] == "q" else found[block] for pair, block in named.items()}


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
        return assembled(self.own, recursion(self.task, self.own.inputs))

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
    """Derivatives of forward dynamics by those of inverse dynamics, whose a stands in the place of tau."""

    task: Task
    own: Expressions
    inverse: Expressions

    @property
    def at(self) -> slice:
        """Where tau stands among all arguments."""
        start = self.own.inputs["q"].size1() + self.own.inputs["v"].size1()
        return slice(start, start + self.own.inputs["tau"].size1())

    def solve(self, forces: SX) -> SX:
        """M^-1 forces: what forward dynamics, which are linear in tau, make of a change of it."""
        return jtimes(self.own.y, self.own.inputs["tau"], forces)

    def solved(self, expression: SX, w: SX, lam: SX) -> SX:
        """An expression of inverse dynamics at a = a(x), and at lam in the place of w."""
        pairs = vertcat(self.inverse.inputs["a"], w), vertcat(self.own.y, lam)
        return substitute(expression, *pairs)

    def without_tau(self, dx: SX) -> SX:
        """dx with nothing in the place of tau."""
        rest = SX(dx)
        rest[self.at] = 0
        return rest

    def jacobian(self) -> SX:
        """da/dx (nv x n): the recursion, and -M^-1 dID/dp of what it leaves out."""
        blocks, none = recursion(self.task, self.own.inputs), zeros(0)
        for name, p in self.own.inputs.items():
            if ("a", name) not in blocks:
                by_p = self.solved(jacobian(self.inverse.y, vec(p)), none, none)
                blocks["a", name] = -blocks["a", "tau"] @ by_p
        return assembled(self.own, blocks)

    def forward(self, dx: SX) -> SX:
        """M^-1 (dtau - dID)."""
        seed = SX.sym("seed", dx.size1())
        change = jtimes(self.inverse.y, self.inverse.x, seed)
        return self.solve(dx[self.at] - self.solved(change, seed, self.without_tau(dx)))

    def adjoint(self, w: SX) -> SX:
        """-(dID/dx)' lam, and lam = M^-1 w by tau."""
        seed, lam = SX.sym("seed", w.size1()), self.solve(w)
        found = -self.solved(jtimes(self.inverse.y, self.inverse.x, seed, True), seed, lam)
        found[self.at] = lam
        return found

    def hessian(self, w: SX) -> SX:
        """-A' H A."""
        seed, lam, A = SX.sym("seed", w.size1()), self.solve(w), SX.eye(self.own.x.size1())
        H = self.solved(hessian(dot(seed, self.inverse.y), self.inverse.x)[0], seed, lam)
        A[self.at, :] = self.jacobian()
        entries = jacobian_sparsity(jtimes(self.own.y, self.own.x, w, True), self.own.x)
        return project(mirrored(-A.T @ (H @ A)), entries)
