"""acados: forward dynamics as an explicit ODE and steps as discrete dynamics, with exact derivatives.

acados calls C functions in CasADi's interface, with int for casadi_int (acados_template,
casadi_function_generation.py; sim_erk_integrator.c; ocp_nlp_dynamics_disc.c). The state is x = [q; v], the control is
u = tau, and the parameters p are all other arguments in their order, each column by column. Matrices are dense, column
by column. An ODE is xdot = [T(q) v; a]. It keeps the norms of quaternions, and the dynamics normalise them.
Kernels give Jacobians and Hessians; loops multiply these by the sensitivities Sx, Su that an integrator carries.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, Any

from casadi import SX, dot, gradient, hessian, jacobian, vertcat

from codegen import pipeline
from codegen.algorithms import QUANTITIES
from codegen.emission.spec import Kernel
from codegen.emission.text import render
from codegen.errors import RobotError
from codegen.ir.names import comment, identifier
from codegen.progress import doing, each
from codegen.task.header_notes import folded
from codegen.task.limb_symmetry import limbs
from codegen.tracing.differentiated import derivable, differentiated, tangent_maps
from codegen.tracing.sparse_graph import pattern_of, sparse_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codegen.emission.spec import Header
    from codegen.pipeline import Wrapped
    from codegen.tracing.differentiated import Derivatives, Expressions
    from codegen.tracing.task import Task

MADE = {"J": "forward", "H": "congruence"}
"""Matrices that kernels make for loops, and what these are called."""


@dataclass(frozen=True, slots=True)
class Dynamics:
    """y (nx) of z = (x, u) and p: rates T v that `own` leaves out, and then its results `rows` of arguments `at`."""

    own: Expressions
    found: Derivatives
    moving: SX
    rows: tuple[int, ...]
    at: tuple[int, ...]

    def __str__(self) -> str:
        return f"y ({self.nx}) of x and u ({len(self.at)}), by {self.own}"

    @property
    def nx(self) -> int:
        """The size of the state."""
        return int(self.moving.size1()) + len(self.rows)

    @property
    def z(self) -> SX:
        """The state and the control."""
        return self.own.x[list(self.at)]

    @property
    def value(self) -> SX:
        """y (nx)."""
        return vertcat(self.moving, self.own.y[list(self.rows)])

    def jacobian(self) -> SX:
        """dy/dz (nx x n)."""
        return vertcat(jacobian(self.moving, self.z), self.found.jacobian()[list(self.rows), list(self.at)])

    def adjoint(self, lam: SX) -> SX:
        """(dy/dz)' lam (n)."""
        moved, weights = self._seeds(lam)
        return gradient(moved, self.z) + self.found.adjoint(weights)[list(self.at)]

    def hessian(self, lam: SX) -> SX:
        """The second derivative of lam' y (n x n)."""
        moved, weights = self._seeds(lam)
        return hessian(moved, self.z)[0] + self.found.hessian(weights)[list(self.at), list(self.at)]

    def _seeds(self, lam: SX) -> tuple[SX, SX]:
        """lam' T v, and the weights of all results."""
        weights, split = SX(self.own.y.size1(), 1), self.moving.size1()
        weights[list(self.rows)] = lam[split:]
        return dot(lam[:split], self.moving), weights


@dataclass(frozen=True, slots=True)
class Function:
    """A function of acados': the order of its derivatives, what it takes and the shapes of what it gives, by C's names.

    A kernel makes `parts`: results by their names, and the matrix that loops multiply by sensitivities.
    """

    name: str
    order: int
    takes: str
    gives: dict[str, tuple[int, int]]
    parts: dict[str, Callable[[], SX]]

    def __str__(self) -> str:
        return f"{self.name}({self.takes})"


def interface(top: Header, task: Task, *, derivatives: int) -> Wrapped:
    """What a folder has for acados besides: kernels, and the C that makes acados' functions of them."""
    if task.iterations is None:
        raise RobotError(f"{task.algorithm}: for acados the number of iterations is fixed; give a number of them")
    with pipeline.undisturbed(), doing(f"{task.algorithm} of {task.model.name} for acados"):
        found = dynamics(task)
        lam = SX.sym("lam", found.nx)
        functions = (discrete if _steps(task) else continuous)(found, lam)
        functions = [f for f in functions if f.order <= derivatives]
        kernels = [_kernel(task, found, lam, f) for f in each(functions, str)]
    name = f"{top.c_prefix}_{identifier(task.algorithm)}"
    text = render(
        "acados.c.jinja",
        **top.names,
        algorithm=identifier(task.algorithm),
        about=comment(task.entry.title),
        name=name,
        parameters=", ".join(name for name, _ in _parameters(found.own)) or "none",
        functions=[_slots(top.c_prefix, name, found, *pair) for pair in zip(functions, kernels, strict=True)],
    )
    return tuple(kernels), {f"{name}_acados.c": text}


def dynamics(task: Task) -> Dynamics:
    """What acados takes of a task."""
    names = ("q_next", "v_next") if _steps(task) else ("a",)
    if not {"q", "v", "tau"} <= {*task.entry.inputs} or not {*names} <= {*task.entry.outputs}:
        raise RobotError(f"{task.algorithm}: acados takes forward dynamics (aba, pv, ...) or a step (step_rk4, ...)")
    if not _steps(task) and not derivable(task):
        raise RobotError(
            f"{task.model.name} has implicit loops, whose positions do not follow from v by an ODE; "
            "take a step (-a step_rk4), which keeps loops closed"
        )
    own, found = differentiated(task)
    moving = SX(0, 1) if _steps(task) else tangent_maps(task.model, own.inputs["q"])[0] @ own.inputs["v"]
    return Dynamics(own, found, moving, _places(own.outputs, names), _places(own.inputs, ("q", "v", "tau")))


def continuous(f: Dynamics, lam: SX) -> list[Function]:
    """Functions of an explicit ODE."""
    nx, n = f.nx, len(f.at)
    nu = n - nx
    xdot, adj = {"xdot": (nx, 1)}, {"adj": (n, 1)}
    value, adjoint = {"xdot": lambda: f.value}, {"adj": lambda: f.adjoint(lam)}
    moved = {"vdeX": (nx, nx), "vdeU": (nx, nu)}
    return [
        Function("expl_ode_fun", 0, "x u p", xdot, value),
        Function("expl_vde_forw", 1, "x Sx Su u p", {**xdot, **moved}, {**value, "J": f.jacobian}),
        Function("expl_vde_adj", 1, "x lam u p", adj, adjoint),
        Function(
            "expl_ode_hess",
            2,
            "x Sx Su lam u p",
            {**adj, "hess": (n * (n + 1) // 2, 1)},
            {**adjoint, "H": lambda: f.hessian(lam)},
        ),
    ]


def discrete(f: Dynamics, lam: SX) -> list[Function]:
    """Functions of discrete dynamics; rows and columns of derivatives are [u; x]."""
    nx, n = f.nx, len(f.at)
    order = [*range(nx, n), *range(nx)]
    phi, jac, hess = {"phi": (nx, 1)}, {"jac": (n, nx)}, {"hess": (n, n)}
    parts = {"phi": lambda: f.value, "jac": lambda: f.jacobian().T[order, :]}
    second = {**parts, "hess": lambda: f.hessian(lam)[order, order]}
    return [
        Function("dyn_disc_phi_fun", 0, "x u p", phi, {"phi": parts["phi"]}),
        Function("dyn_disc_phi_fun_jac", 1, "x u p", {**phi, **jac}, parts),
        Function("dyn_disc_phi_fun_jac_hess", 2, "x u lam p", {**phi, **jac, **hess}, second),
    ]


def _steps(task: Task) -> bool:
    return "q_next" in task.entry.outputs


def _places(parts: Mapping[str, SX], names: Sequence[str]) -> tuple[int, ...]:
    """Where the elements of these parts are in the column of all."""
    ends = dict(zip(parts, accumulate(part.numel() for part in parts.values()), strict=True))
    return tuple(k for name in names for k in range(ends[name] - parts[name].numel(), ends[name]))


def _parameters(own: Expressions) -> list[tuple[str, int]]:
    """What is in p: names and sizes."""
    return [(name, int(x.numel())) for name, x in own.inputs.items() if name not in ("q", "v", "tau")]


def _kernel(task: Task, found: Dynamics, lam: SX, f: Function) -> Kernel:
    """A kernel of dense matrices, column by column."""
    seeds = {"lam": lam} if "lam" in f.takes.split() else {}
    parts = {name: part() for name, part in f.parts.items()}
    whole = {name: pattern_of(SX.ones(*part.shape)) for name, part in parts.items()}
    name, inputs = f"{task.algorithm}_acados_{f.name}", {**found.own.inputs, **seeds}
    made = sparse_graph(name, inputs, parts, partial(pipeline.passed, task), whole)
    vectors = {name: name for name in found.own.inputs if name in QUANTITIES and len(QUANTITIES[name].shape) == 1}
    about = f"{task.entry.title}: {f.name} for acados"
    return Kernel(made.graph, about, made.written, limbs(task, vectors), folded(task))


def _slots(prefix: str, name: str, found: Dynamics, f: Function, kernel: Kernel) -> dict[str, Any]:
    """What the template says of a function; its workspace has zeros first, then results that are not wanted."""
    nx, n = found.nx, len(found.at)
    parameters, takes = _parameters(found.own), f.takes.split()
    sizes = {"x": (nx, 1), "u": (n - nx, 1), "p": (sum(size for _, size in parameters), 1)}
    sizes |= {"Sx": (nx, nx), "Su": (nx, n - nx), "lam": (nx, 1)}
    places = {"q": "x", "v": f"x + {found.own.inputs['q'].numel()}", "tau": "u", "lam": "lam"}
    starts = accumulate((size for _, size in parameters), initial=0)
    places |= {key: f"p + {start}" for (key, _), start in zip(parameters, starts, strict=False)}
    zeros = max(prod(sizes[key]) for key in takes)
    rooms = {key: prod(shape) for key, shape in f.gives.items()}
    rooms |= {port.name: port.size for port in kernel.outputs if port.name not in rooms}
    rooms |= {key: size for key, size in {"St": n * nx, "W": n, "V": n}.items() if "H" in f.parts}
    at = dict(zip(rooms, accumulate(rooms.values(), initial=zeros), strict=False))
    loops = {MADE[key] for key in f.parts if key in MADE}
    return {
        "name": f"{name}_{f.name}",
        "about": comment(kernel.about),
        "inputs": [{"name": key, "shape": sizes[key]} for key in takes],
        "outputs": [{"name": key, "shape": shape, "at": at[key]} for key, shape in f.gives.items()],
        "rooms": [{"name": key, "at": place} for key, place in at.items() if key not in f.gives],
        "zeros": zeros,
        "work": zeros + sum(rooms.values()),
        "kernel": f"{prefix}_{identifier(kernel.name)}",
        "passed": [*(places[port.name] for port in kernel.inputs), *(port.name for port in kernel.outputs)],
        **{loop: [{"nx": nx, "nu": n - nx, "n": n}] * (loop in loops) for loop in MADE.values()},
    }
