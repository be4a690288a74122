"""acados' Python interface: an `AcadosModel` whose dynamics are rigidc's C, which acados compiles into its solvers.

acados_template (acados_model.py, casadi_function_generation.py) makes C of a model's expressions by CasADi, or takes a
source with functions of the type 'generic' (`acados_generic.py`) in the current folder. The model has both: the source,
and the expression of the same dynamics, of which acados reads sizes.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from casadi import MX, SX, Function, vertcat

from codegen import pipeline
from codegen.backends import BACKENDS
from codegen.compilation.cache import Build, kept
from codegen.emission.folder import write_folder
from codegen.emission.single_header import single_header
from codegen.emission.text import render
from codegen.errors import RobotError
from codegen.interfaces import acados
from codegen.interfaces.acados_functions import Residual
from codegen.ir.names import identifier
from codegen.progress import doing
from codegen.task.auto_select import resolved
from codegen.task.options import style_of, task_of
from codegen.tracing.expressed import column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.interfaces.acados_functions import Dynamics
    from codegen.model import Contact, Model
    from codegen.tracing.task import Task

DISCRETE = {
    "dyn_disc_fun": "dyn_disc_phi_fun",
    "dyn_disc_fun_jac": "dyn_disc_phi_fun_jac",
    "dyn_disc_fun_jac_hess": "dyn_disc_phi_fun_jac_hess",
}
"""What an `AcadosModel` calls functions of discrete dynamics, and ours."""

IMPLICIT = {
    "dyn_impl_dae_fun": "impl_dae_fun",
    "dyn_impl_dae_fun_jac": "impl_dae_fun_jac_x_xdot_z",
    "dyn_impl_dae_jac": "impl_dae_jac_x_xdot_u_z",
}
"""The same of an implicit ODE; acados_template takes no Hessian of this type."""


def to_acados(
    robot: Model,
    algorithm: str,
    *,
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] | None = None,
    iterations: int = 3,
    derivatives: int = 2,
    trig: str = "fast",
    without: Sequence[str] = (),
    prefix: str | None = None,
    symbol: type[SX] | type[MX] = SX,
) -> Any:
    """Dynamics of one robot as an `acados_template.AcadosModel`, whose C source is written into the current folder.

    A step (`step_rk4`, `pv_step`, ...) becomes discrete dynamics, for the integrator type DISCRETE; forward dynamics
    (`aba`, `pv`, ...) and `rnea` an implicit ODE, for IRK without exact Hessians. The state is x = [q; v] (nq + nv),
    the control u = tau (nv; a floating base has forces as well), and p all other arguments in their order, each column
    by column: `dt` of a step first. All may be extended by what costs and constraints need besides, p at its end.
    `prefix` (default: the robot's name) begins the names of the model, of the source and of its functions: models of
    one solver need different ones. `symbol` is the type of x, u and p, `casadi.SX` or `casadi.MX`, `derivatives` the
    highest order that discrete dynamics have: with 2 there are exact Hessians. Other options are those of `build`.
    RobotError for a name that does not exist, if acados_template is missing or too old, or if the source cannot be
    written; a file of its name that rigidc did not write stays as it is.
    """
    if derivatives not in (1, 2):
        raise RobotError(f"derivatives must be 1 or 2, the highest order that acados gets, not {derivatives!r}")
    if symbol not in (SX, MX):
        raise RobotError(f"symbol must be casadi.SX or casadi.MX, not {symbol!r}")
    model, start = _model(), identifier(prefix or robot.name)
    task = resolved(task_of(robot, algorithm, (), external, parameters, contacts, iterations, without=without))
    name, order = f"{start}_{identifier(task.algorithm)}", derivatives if acados.steps(task.entry.outputs) else 1

    def build(work: Path) -> Build:
        (work / f"{name}.c").write_text(_source(robot, task, start, trig, order), encoding="utf-8")
        return Build(f"{name}.c", (), {"symbol": name})

    with doing(f"{algorithm} of {robot.name} for acados' Python interface"):
        place, made, _ = kept(f"acados {name} {trig} {order} {task.request}", build, None)
        write_folder({made.binary: (place / made.binary).read_text(encoding="utf-8")}, Path.cwd())
        _describe(model, acados.dynamics(task), name, symbol, order)
    return model


def _source(robot: Model, task: Task, prefix: str, trig: str, order: int) -> str:
    """All functions in one C source."""
    style, write = style_of("float64", trig, 1), partial(acados.interface, derivatives=order)
    files = pipeline.files_of(robot, (task,), prefix, style, BACKENDS["c"], [write], plain=False)
    header, generic = f"{prefix}.h", f"{prefix}_{identifier(task.algorithm)}_acados_generic.h"
    return render(
        "acados_source.c.jinja",
        robot=robot.name,
        algorithm=identifier(task.algorithm),
        PREFIX=prefix.upper(),
        header=single_header(files, prefix)[header],
        generic=files[generic].replace(f'#include "{header}"\n', ""),
    )


def _describe(model: Any, found: Dynamics | Residual, name: str, symbol: Any, order: int) -> None:
    """Names, symbols and the expression of a model."""
    own = found.own.inputs
    p = column(x for key, x in own.items() if key not in ("q", "v", "a" if isinstance(found, Residual) else "tau"))
    state, control = vertcat(own["q"], own["v"]), found.force if isinstance(found, Residual) else own["tau"]
    model.name, model.dyn_ext_fun_type, model.dyn_generic_source = name, "generic", f"{name}.c"
    model.x, model.u, model.p = symbol.sym("x", found.nx), symbol.sym("u", found.nu), symbol.sym("p", p.numel())
    if acados.steps(found.own.outputs):
        names = dict([*DISCRETE.items()][: order + 1])
        model.disc_dyn_expr = Function(name, [state, control, p], [found.value])(model.x, model.u, model.p)
    else:
        names, model.xdot = IMPLICIT, symbol.sym("xdot", found.nx)
        rates = vertcat(found.qdot, own["a"]) if isinstance(found, Residual) else SX.sym("xdot", found.nx)
        left = found.value if isinstance(found, Residual) else rates - found.value
        f = Function(name, [state, rates, control, p], [left])
        model.f_impl_expr = f(model.x, model.xdot, model.u, model.p)
    for key, function in names.items():
        setattr(model, key, f"{name}_{function}_generic")


def _model() -> Any:
    """An empty model; RobotError if acados_template is missing or too old."""
    try:
        model = import_module("acados_template").AcadosModel()
    except ImportError as error:
        raise RobotError(
            f"acados_template, acados' Python interface, is needed ({error}); it comes with acados' sources: "
            "pip install ACADOS/interfaces/acados_template"
        ) from error
    if not hasattr(model, "dyn_generic_source"):
        raise RobotError("acados_template is too old to take C functions; install a newer acados")
    return model
