"""What a generated header says of contacts and of numbers that are no arguments, for who reads it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.algorithms import MASSES, MOST_MASSES, OPTIONAL, optional
from codegen.ir.names import wrapped
from codegen.kinematic_loops.closed_forms import NEWTON, solutions
from codegen.model.contacts import gain_of, number, placed, rows_of
from codegen.recursions.composition import Composition
from codegen.tracing.directional import axes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codegen.model import Contact, Model
    from codegen.tracing.task import Task

UNITS = {"kp": "1/s^2", "kd": "1/s"}


def contact_lines(tasks: Sequence[Task]) -> Iterator[str]:
    """The contacts of functions that share them: what rows are, then each contact with its rows, if there are any."""
    along = dict.fromkeys(name for task in tasks for name, widths in axes(task).items() if "contacts" in widths)
    if not along:
        return
    yield (
        f"Contacts, whose rows are those of {', '.join(along)} in this order. A row is a component of the frame's "
        "acceleration, angular (rx, ry, rz) or linear (x, y, z), or six numbers [...] that act on these. Points (m) "
        "are in the frame's own axes; rows without one are at its origin."
    )
    moving = next((task for task in tasks if "k" in task.entry.inputs), None)
    for place, contact in placed(tasks[0].chosen_contacts()):
        words = [f"row{'s' * ('.' in place)} {place}", contact.frame.name, _axes(contact)]
        words += _motion(contact, moving) if moving else []
        yield f"{', '.join(words)}: {rows_of(contact)}"


def closure_notes(model: Model, tasks: Sequence[Task]) -> tuple[str, ...]:
    """What a header says of positions, where implicit loops tie them, and of how functions close these loops."""
    if all(loop.explicit for loop in model.loops):
        return ()
    return tuple(
        wrapped(
            "Implicit loops: q holds the positions of all joints of a loop, and they have to close it. Functions "
            "neither check nor mend that: what they compute is off by about the residual, the norm of what should "
            "vanish (m, rad), in proportion. Up to 1e-9 is harmless in double precision, 1e-5 in single. The algorithm "
            "`project`, generated beside, closes a q near by and tells the residual that is left. A zero q need not "
            f"close.{_solved(model, tasks)}"
        )
    )


def _solved(model: Model, tasks: Sequence[Task]) -> str:
    """By what functions that close loops do so; nothing where there are none of them."""
    closing = [task for task in tasks if _closes(task)]
    if not closing:
        return ""
    plain = any("closed_forms" in task.without or task.numbers for task in closing)
    by = dict.fromkeys(solutions(model), NEWTON) if plain else solutions(model)
    lists = {how: [model.loops[n].name for n in by if by[n] == how] for how in dict.fromkeys(by.values())}
    return (
        " Functions that close loops do so by "
        + "; by ".join(f"{how}: {', '.join(x)}" for how, x in lists.items())
        + "."
    )


def _closes(task: Task) -> bool:
    """Whether a function closes loops, itself or by an algorithm that it calls."""
    run = task.entry.run
    return task.entry.declares.closes or (isinstance(run, Composition) and "integrate" in run.parts)


def _axes(contact: Contact) -> str:
    """What the rows of a contact are along."""
    if contact.axes in ("", "world"):
        return "along world axes" if contact.axes else "along its own axes"
    return f"along the axes of {contact.axes}"


def _motion(contact: Contact, task: Task) -> Iterator[str]:
    """Which acceleration a contact holds, and its gains that are no arguments."""
    yield f"{'spatial' if contact.spatial else 'classical'} acceleration"
    for name, unit in UNITS.items():
        if name not in task.parameters and (gains := gain_of(contact, name)):
            yield f"{name} {gains} {unit}"
    if contact.friction is not None:
        yield f"friction {number(contact.friction)} about the last of three rows"


ABOUT = {
    "": "{}",
    "jvp": "directional derivative of {name} ({})",
    "vjp": "adjoint of {name} ({}): the gradient of its results' sum with the weights given",
    "hvp": "Hessian-vector product of {name} ({}): the change of this sum's gradient along the directions given",
    "hessian": "second derivative of {name} ({}): of its results' sum with the weights given",
    "tensor": "second derivatives of {name} ({})",
}


def about(task: Task) -> str:
    """What the function of a task computes."""
    return ABOUT[task.form.derivative].format(task.entry.title, name=task.algorithm)


def _suited(task: Task, name: str) -> str:
    """Why a number is not the one that others have."""
    mass = f"{'one over ' * (name == 'R')}{{}} times the robot's mass"
    if task.dtype == "float32":
        taken = optional(task.model)[name]
        mass = mass.format(number(MASSES))
        return f"{name} suits single precision: {mass}, where double precision takes {number(taken)}."
    times = MASSES if task.optional["mu"] > OPTIONAL["mu"] else MOST_MASSES
    return f"{name} suits the robot: {mass.format(number(times))}, where others take {number(OPTIONAL[name])}."


def folded(task: Task) -> str:
    """The numbers that a function has in place of arguments; nothing if there are none."""
    inputs = task.entry.inputs
    names = [name for name in inputs if name in {*OPTIONAL} - {*task.parameters}]
    found = [f"{name} = {number(task.optional[name])}" for name in names]
    said = [f"Not arguments: {', '.join(found)}."] * bool(found)
    said += [_suited(task, name) for name in names if task.optional[name] != OPTIONAL[name]]
    if "lam0" in inputs:
        steps = task.iterations or "until the residual is at most tol, max_iter at most"
        said.append(f"Proximal steps: {steps}.")
    return " ".join(said)
