"""fatrop: steps as dynamics of its stages, and all other functions as their constraints.

fatrop (Vanroye et al., arXiv 2303.16746) calls C functions of one stage (OCPCInterface.h), which write BLASFEO's
matrices. The state is x = [q; v], the controls are u = tau, or u = a of a function that takes accelerations. Rows of
BAbt, Ggt and RSQrqt are [u; x], followed by one that fatrop fills itself. The parameters p are all other arguments in
their order, each column by column. Costs are the user's, and so are stages: the header has functions to build them of.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from casadi import SX, vertcat

from codegen.emission.text import render
from codegen.errors import RobotError
from codegen.garbage import undisturbed
from codegen.interfaces.acados_functions import places
from codegen.interfaces.dense_kernels import dense_kernel
from codegen.ir.names import comment, identifier
from codegen.progress import doing, each
from codegen.tracing.blocks import gradients, joined
from codegen.tracing.differentiated import differentiated
from codegen.tracing.expressed import column
from codegen.tracing.sharing import for_solvers

if TYPE_CHECKING:
    from codegen.emission.spec import Header
    from codegen.interfaces.dense_kernels import DenseKernel
    from codegen.pipeline import Wrapped
    from codegen.recursions.composition import Parts
    from codegen.tracing.blocks import Block
    from codegen.tracing.differentiated import Derivatives
    from codegen.tracing.expressed import Expressions
    from codegen.tracing.task import Task

KERNELS = ("value", "slopes", "curvature")
"""By the order of their derivatives."""


@dataclass(frozen=True, slots=True)
class Stage:
    """y (m) of z = [u; x] and p: the results `rows` of a function, by its arguments `at`, which are z's `columns`."""

    own: Expressions
    found: Derivatives
    rows: tuple[int, ...]
    at: tuple[int, ...]
    columns: tuple[int, ...]
    nq: int
    nv: int
    control: str

    def __str__(self) -> str:
        return f"y ({len(self.rows)}) of [{self.control or 'u'}; q; v], by {self.own}"

    @property
    def n(self) -> int:
        """The size of [u; x]."""
        return self.nq + 2 * self.nv

    @property
    def parameters(self) -> list[tuple[str, int]]:
        """What is in p: names and sizes."""
        known = ("q", "v", self.control)
        return [(name, int(x.numel())) for name, x in self.own.inputs.items() if name not in known]

    def made(self, kernel: str, lam: SX, parts: Parts) -> SX | Block:
        """y, (dy/dz)' (n x m), or the second derivative of lam' y (n x n), of parts."""
        if kernel == "value":
            return vertcat(column(self.found.value(parts).values())[list(self.rows)])
        steps, moved = "q_next" in self.own.outputs, (self.control, "q", "v")
        if kernel == "slopes" and steps:
            return gradients(self.found.jacobian(loops=True, parts=parts), ("q_next", "v_next"), moved)
        if kernel == "slopes":
            slopes = SX(self.n, len(self.rows))
            own = joined(self.found.jacobian(), self.own.outputs, self.own.inputs)
            slopes[list(self.columns), :] = own[list(self.rows), list(self.at)].T
            return slopes
        weights, hessian = SX(self.own.y.size1(), 1), SX(self.n, self.n)
        weights[list(self.rows)] = lam
        if steps:
            return gradients(self.found.hessian(weights, loops=True, parts=parts), moved, moved)
        own = joined(self.found.hessian(weights), self.own.inputs, self.own.inputs)
        hessian[list(self.columns), list(self.columns)] = own[list(self.at), list(self.at)]
        return hessian


def interface(top: Header, task: Task, *, derivatives: int) -> Wrapped:
    """What a folder has for fatrop besides: kernels, and a header that packs what they give."""
    if task.iterations is None:
        raise RobotError(f"{task.algorithm}: for fatrop the number of iterations is fixed; give a number of them")
    with undisturbed(), doing(f"{task.algorithm} of {task.model.name} for fatrop"):
        found = stage(task)
        lam = SX.sym("lam", len(found.rows))
        kernels = [_kernel(task, found, lam, name) for name in each(KERNELS[: derivatives + 1], str)]
    calls = {kernel: [_call(top, found, made)] for kernel, made in zip(KERNELS, kernels, strict=False)}
    name = f"{top.c_prefix}_{identifier(task.algorithm)}"
    dynamics = "q_next" in task.entry.outputs
    residual, jacobian = ("b", "BAbt") if dynamics else ("g", "Ggt")
    text = render(
        "fatrop.h.jinja",
        **top.names,
        algorithm=identifier(task.algorithm),
        about=comment(task.entry.title),
        name=name,
        guard=f"{name.upper()}_FATROP_H",
        control=found.control or "u",
        parameters=", ".join(f"{name} ({size})" for name, size in found.parameters) or "none",
        sizes={"nu": found.nv, "nx": found.nq + found.nv, "n": found.n, "m": len(found.rows)},
        residual=residual,
        says="b = f(x, u) - x_next" if dynamics else "g, which is zero or between bounds",
        jacobian=jacobian,
        following="const double *x_next, " * dynamics,
        minus_next=[len(found.rows)] * dynamics,
        **(dict.fromkeys(KERNELS, ()) | calls),
    )
    return tuple(kernels), {f"{name}_fatrop.h": text}


def stage(task: Task) -> Stage:
    """What fatrop takes of a task; RobotError for a function that does not depend on positions."""
    inputs, step = task.entry.inputs, "q_next" in task.entry.outputs
    if "q" not in inputs:
        raise RobotError(f"{task.algorithm}: fatrop takes steps (step_rk4, ...), and functions of q as constraints")
    own, found = differentiated(task)
    control = next((name for name in ("tau", "a") if name in inputs), "")
    nq, nv = task.model.nq, task.model.nv
    begins = {control: 0, "q": nv, "v": nv + nq}
    given = [name for name in begins if name in own.inputs]
    columns = (begins[name] + k for name in given for k in range(own.inputs[name].numel()))
    rows = places(own.outputs, ("q_next", "v_next") if step else tuple(own.outputs))
    return Stage(own, found, rows, places(own.inputs, given), tuple(columns), nq, nv, control)


def _kernel(task: Task, found: Stage, lam: SX, name: str) -> DenseKernel:
    inputs = found.own.inputs | {"lam": lam} if name == "curvature" else dict(found.own.inputs)
    about, parts = f"{task.entry.title}: {name} for fatrop", for_solvers(KERNELS.index(name))
    made = {"y": found.made(name, lam, parts)}
    return dense_kernel(task, f"{task.algorithm}_fatrop_{name}", about, inputs, made, parts)


def _call(top: Header, found: Stage, kernel: DenseKernel) -> dict[str, Any]:
    """The call of a kernel, in C, and the size of its result."""
    starts = accumulate((size for _, size in found.parameters), initial=0)
    places = {name: f"p + {start}" for (name, _), start in zip(found.parameters, starts, strict=False)}
    places |= {"q": "x", "v": f"x + {found.nq}", found.control: "u", "lam": "lam"}
    (result, *more) = kernel.outputs
    arguments = [*(places[port.name] for port in kernel.inputs), "y", *("&status" for _ in more)]
    return {
        "call": f"{top.c_prefix}_{identifier(kernel.name)}({', '.join(arguments)});",
        "size": result.size,
        "status": ["0"] * bool(more),
    }
