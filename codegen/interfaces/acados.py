"""acados: forward dynamics as an explicit ODE, inverse dynamics as an implicit one, steps as discrete dynamics.

acados calls C functions in CasADi's interface, with int for casadi_int (acados_template,
casadi_function_generation.py; sim_erk_integrator.c; sim_irk_integrator.c; ocp_nlp_dynamics_disc.c). The state is
x = [q; v], the control is u = tau, and the parameters p are all other arguments in their order, each column by column.
Matrices are dense, column by column. An ODE is xdot = [T(q) v; a]. It keeps the norms of quaternions, and the dynamics
normalise them. Kernels give Jacobians and Hessians; loops multiply these by the sensitivities Sx, Su that an integrator
carries, and make residuals of rates. All come as functions of acados' type 'generic', too (`acados_generic.py`), which
read and write BLASFEO's vectors and matrices.
"""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, Any

from casadi import SX

from codegen.emission.given_memory import anyhow
from codegen.emission.text import render
from codegen.errors import RobotError
from codegen.garbage import undisturbed
from codegen.interfaces.acados_functions import Dynamics, Residual, continuous, discrete, places, residuals
from codegen.interfaces.acados_generic import generic
from codegen.interfaces.dense_kernels import dense_kernel
from codegen.ir.names import comment, identifier
from codegen.progress import doing, each
from codegen.tracing.arguments import tangent_maps
from codegen.tracing.differentiated import differentiated
from codegen.tracing.equations import derivable
from codegen.tracing.sharing import for_solvers

if TYPE_CHECKING:
    from collections.abc import Collection

    from codegen.emission.spec import Header
    from codegen.interfaces.acados_functions import Function
    from codegen.interfaces.dense_kernels import DenseKernel
    from codegen.pipeline import Wrapped
    from codegen.tracing.task import Task

LOOPS = ("forward", "congruence", "residual", "slopes", "curvature")
"""What loops make of a kernel's results (`acados.c.jinja`)."""


def interface(top: Header, task: Task, *, derivatives: int) -> Wrapped:
    """What a folder has for acados besides: kernels, and the C that makes acados' functions of them."""
    if task.iterations is None:
        raise RobotError(f"{task.algorithm}: for acados the number of iterations is fixed; give a number of them")
    with undisturbed(), doing(f"{task.algorithm} of {task.model.name} for acados"):
        found = dynamics(task)
        lam = SX.sym("lam", found.nx)
        functions = [f for f in _functions(task, found, lam) if f.order <= derivatives]
        own = [f for f in functions if f.kernel in ("", f.name)]
        kernels = {f.name: _kernel(task, found, lam, f) for f in each(own, str)}
    name = f"{top.c_prefix}_{identifier(task.algorithm)}"
    told = [_slots(top.c_prefix, name, found, f, kernels[f.kernel or f.name]) for f in functions]
    slots = {
        **top.names,
        "algorithm": identifier(task.algorithm),
        "parameters": ", ".join(name for name, _ in _parameters(found)) or "none",
        "functions": told,
        "given": anyhow(one["kernel"] for one in told),
        "generic": [one for f, own in zip(functions, told, strict=True) for one in generic(f, own)],
        "guard": f"{name.upper()}_ACADOS_GENERIC_H",
    }
    texts = {
        f"{name}_acados.c": render("acados.c.jinja", about=comment(task.entry.title), name=name, **slots),
        f"{name}_acados_generic.h": render("acados_generic.h.jinja", **slots),
    }
    return tuple(kernels.values()), texts


def dynamics(task: Task) -> Dynamics | Residual:
    """What acados takes of a task."""
    inverse = task.algorithm == "rnea"
    takes = ("q", "v", "a" if inverse else "tau")
    names = ("tau",) if inverse else ("q_next", "v_next") if steps(task.entry.outputs) else ("a",)
    if not {*takes} <= {*task.entry.inputs} or not {*names} <= {*task.entry.outputs}:
        raise RobotError(f"{task.algorithm}: acados takes dynamics (aba, rnea, pv, ...) or a step (step_rk4, ...)")
    if not steps(task.entry.outputs) and not derivable(task):
        raise RobotError(
            f"{task.model.name} has implicit loops, whose positions do not follow from v by an ODE; "
            "take a step (-a step_rk4), which keeps loops closed"
        )
    own, found = differentiated(task)
    moving = SX(0, 1) if steps(task.entry.outputs) else tangent_maps(task.model, own.inputs["q"])[0] @ own.inputs["v"]
    parts = (own, found, moving, places(own.outputs, names), places(own.inputs, takes))
    if not inverse:
        return Dynamics(*parts)
    return Residual(*parts, SX.sym("qdot", moving.size1()), SX.sym("force", task.model.nv))


def _functions(task: Task, found: Dynamics | Residual, lam: SX) -> list[Function]:
    if isinstance(found, Residual):
        return residuals(found, lam)
    return (discrete if steps(task.entry.outputs) else continuous)(found, lam)


def steps(results: Collection[str]) -> bool:
    """Whether results of these names are those of a step."""
    return "q_next" in results


def _parameters(found: Dynamics | Residual) -> list[tuple[str, int]]:
    """What is in p: names and sizes."""
    known = ("q", "v", "a") if isinstance(found, Residual) else ("q", "v", "tau")
    return [(name, int(x.numel())) for name, x in found.own.inputs.items() if name not in known]


def _kernel(task: Task, found: Dynamics | Residual, lam: SX, f: Function) -> DenseKernel:
    """A kernel of dense matrices, column by column."""
    inputs = dict(found.own.inputs)
    if isinstance(found, Residual):
        inputs |= {"qdot": found.qdot, "force": found.force}
    if "lam" in f.takes.split():
        inputs["lam"] = lam
    parts = for_solvers(f.order)
    made = f.makes(parts)
    about = f"{task.entry.title}: {f.name} for acados"
    return dense_kernel(task, f"{task.algorithm}_acados_{f.name}", about, inputs, made, parts)


def _slots(prefix: str, name: str, found: Dynamics | Residual, f: Function, kernel: DenseKernel) -> dict[str, Any]:
    """What the template says of a function; its workspace has zeros first, then results that are not wanted."""
    nx, nu = found.nx, found.nu
    n, takes = nx + nu, f.takes.split()
    parameters = _parameters(found)
    sizes = {"x": (nx, 1), "dx": (nx, 1), "u": (nu, 1), "z": (0, 1), "t": (0, 1), "lam": (nx, 1)}
    sizes |= {"p": (sum(size for _, size in parameters), 1), "Sx": (nx, nx), "Su": (nx, nu)}
    zeros = max(prod(sizes[key]) for key in takes)
    rooms = {key: prod(shape) for key, shape in f.gives.items()}
    rooms |= {port.name: port.size for port in kernel.outputs if port.name not in rooms}
    rooms |= {key: size for key, size in {"St": n * nx, "W": n, "V": n}.items() if "congruence" in f.loops}
    at = dict(zip(rooms, accumulate(rooms.values(), initial=zeros), strict=False))
    own, called = zeros + sum(rooms.values()), f"{prefix}_{identifier(kernel.name)}"
    given, by_u = _places(found, parameters), [key for key in f.gives if key == "jac_u"]
    return {
        "name": f"{name}_{f.name}",
        "about": comment(f"{kernel.about.rpartition(':')[0]}: {f.name} for acados"),
        "inputs": [{"name": key, "shape": sizes[key]} for key in takes],
        "outputs": [{"name": key, "shape": shape, "at": at[key]} for key, shape in f.gives.items()],
        "rooms": [{"name": key, "at": place} for key, place in at.items() if key not in f.gives],
        "unread": ", ".join(f"(void){key}" for key in (*takes, *(key for key in f.gives if key == "jac_z"))),
        "zeros": zeros,
        "own": own,
        "work": f"{own} + {called.upper()}_MEMORY",
        "kernel": called,
        "passed": [*(given[port.name] for port in kernel.inputs), *(port.name for port in kernel.outputs)],
        **{loop: [{"nx": nx, "nu": nu, "n": n, "by_u": by_u}] * (loop in f.loops) for loop in LOOPS},
    }


def _places(found: Dynamics | Residual, parameters: list[tuple[str, int]]) -> dict[str, str]:
    """Where the arguments of kernels are, in C."""
    nq = found.own.inputs["q"].numel()
    given = {"q": "x", "v": f"x + {nq}", "lam": "lam"}
    given |= {"a": f"dx + {nq}", "qdot": "dx", "force": "u"} if isinstance(found, Residual) else {"tau": "u"}
    starts = accumulate((size for _, size in parameters), initial=0)
    return given | {key: f"p + {start}" for (key, _), start in zip(parameters, starts, strict=False)}
