"""Crocoddyl in C++: a header with a differential action that calls the functions of a generated folder."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from codegen import pipeline
from codegen.algorithms import ALGORITHMS
from codegen.emission.spec import Kernel, ProductKernel
from codegen.emission.text import render
from codegen.errors import RobotError
from codegen.ir.names import comment, identifier
from codegen.ir.turned import turned, turned_products

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.emission.kernels import AnyKernel
    from codegen.emission.spec import Header
    from codegen.pipeline import Wrapped
    from codegen.tracing.task import Task

RESIDUALS = ("ResidualModelState", "ResidualModelControl", "ResidualModelJointAcceleration", "ResidualModelJointEffort")
FORCES = (
    "ResidualModelContactForce",
    "ResidualModelContactFrictionCone",
    "ResidualModelContactWrenchCone",
    "ResidualModelContactCoPPosition",
)
"""Residuals that read nothing of Pinocchio's data, and further ones where there are contacts."""

PLACES = {
    "q": "x.data()",
    "v": "x.data() + NQ",
    "tau": "d.actuation->tau.data()",
    "a": "d.xout.data()",
    "lam": "d.lam.data()",
    "status": "&d.status",
    "Minv": "d.a_tau.data()",
    **{f"d{y}_d{x}": f"d.{y}_{x}.data()" for y in ("a", "lam") for x in ("q", "v", "tau")},
}
"""Where arguments and results of functions are, in C++."""

IN_PLACE = {"da_dq": "d.Fx.data()", "da_dv": "d.Fx.data() + NV*NV"}
"""Where results are that are written column by column."""


def interface(top: Header, task: Task, *, derivatives: int) -> Wrapped:
    """What a folder has for Crocoddyl besides: the derivatives, and the C++ of an action."""
    by_state = f"{task.algorithm}_derivatives"
    if not {"q", "v", "tau"} <= {*task.entry.inputs} or by_state not in ALGORITHMS or derivatives < 1:
        raise RobotError(f"{task.algorithm}: Crocoddyl takes forward dynamics with derivatives (aba, pv, prox_pv, ...)")
    value, rows_first = pipeline.kernel(task), pipeline.kernel(replace(task, algorithm=by_state))
    slopes, copied = _by_columns(rows_first, f"{by_state}_columns")
    more = [port.name for port in value.inputs if port.name not in ("q", "v", "tau")]
    if more:
        raise RobotError(
            f"{task.algorithm}: Crocoddyl hands over q, v and tau alone; leave out what adds {', '.join(more)}"
        )
    name = f"{top.c_prefix}_{identifier(task.algorithm)}_crocoddyl"
    rows = sum(port.size for port in value.outputs if port.name == "lam")
    held = [""] * bool(rows)
    text = render(
        "crocoddyl.hpp.jinja",
        **top.names,
        algorithm=identifier(task.algorithm),
        about=comment(task.entry.title),
        guard=f"{name.upper()}_HPP",
        name=f"{identifier(task.algorithm)}_action",
        rows=rows,
        contacts=held,
        free=[""] * (not rows),
        parameters=", std::shared_ptr<Contacts> contacts, bool enable_force = false" * bool(rows),
        initial=", contacts_(contacts), enable_force_(enable_force)" * bool(rows),
        wrenches=", d.contacts->fext" * bool(rows),
        value=_call(top, value),
        slopes=_call(top, slopes, {} if copied else IN_PLACE),
        copied=[""] * copied,
        residuals=_casts((*RESIDUALS, *FORCES * bool(rows))),
    )
    return (slopes,), {f"{name}.hpp": text}


def _by_columns(kernel: AnyKernel, name: str) -> tuple[AnyKernel, bool]:
    """A kernel whose accelerations' derivatives are column by column, as Crocoddyl's; or as it was, which is copied."""
    found: AnyKernel = kernel
    if isinstance(kernel, ProductKernel):
        found = replace(kernel, function=turned_products(kernel.function, [*IN_PLACE], name))
    elif isinstance(kernel, Kernel):
        found = replace(kernel, graph=turned(kernel.graph, [*IN_PLACE], name))
    changed = {after.name for before, after in zip(kernel.outputs, found.outputs, strict=True) if before != after}
    return (kernel, True) if changed != {*IN_PLACE} else (found, False)


def _call(top: Header, kernel: AnyKernel, places: Mapping[str, str] = MappingProxyType({})) -> str:
    """The call of a kernel on the data `d` of a node; some arguments and results are at other `places`."""
    arguments = ({**PLACES, **places}[port.name] for port in (*kernel.inputs, *kernel.outputs))
    return f"{top.c_prefix}_{identifier(kernel.name)}({', '.join(arguments)})"


def _casts(names: Sequence[str]) -> list[str]:
    return [f"dynamic_cast<const crocoddyl::{name} *>(residual)" for name in names]
