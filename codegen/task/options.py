"""Options of users, checked, as tasks and styles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, cast

from codegen.algorithms import INTEGRATORS, KNOWN, concerning
from codegen.backends import BACKENDS, Backend
from codegen.compilation.compiler import Toolchain
from codegen.compilation.library import Library, library
from codegen.emission.spec import LANES, Style
from codegen.errors import RobotError
from codegen.languages import SCALARS, TRIG
from codegen.lowering import checked
from codegen.model import Contact
from codegen.model.contacts import contact_of
from codegen.tracing.form import DERIVATIVES, Derivative, Form
from codegen.tracing.task import ALWAYS, TARGETS, TIERS, Task, Tier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.model import Model


def task_of(
    robot: Model,
    algorithm: str,
    frames: Sequence[str],
    external: Sequence[str],
    parameters: Sequence[str],
    contacts: Sequence[Contact | str] | None,
    iterations: int | None,
    dtype: str = "float64",
    without: Sequence[str] = (),
    tier: str = "emitted",
    derivative: str = "",
    sparse: bool = False,
    wrt: Sequence[str] = (),
) -> Task:
    """The task of these options; a contact may be a text (see `codegen.model.contacts`).

    What `wrt` names becomes an argument, as if `parameters` named it.
    """
    if not robot.nv:
        raise RobotError(
            f"{robot.name}: nothing moves; let a joint move, or the base float (base='floating', --floating)"
        )
    if iterations is not None and (not isinstance(iterations, Integral) or iterations < 1):
        raise RobotError(f"iterations must be a whole number of at least one, not {iterations!r}")
    named = names_of("parameters", parameters)
    for name in named:
        if named.count(name) > 1:
            raise RobotError(f"parameter {name!r} is named twice; name it once")
    by = tuple(dict.fromkeys(names_of("wrt", wrt)))
    opened = (name for name in by if name not in (*named, *ALWAYS, *TARGETS, "f_ext"))
    return Task(
        robot,
        algorithm,
        names_of("frames", frames),
        names_of("external", external),
        (*named, *opened),
        contacts_of(robot, contacts),
        None if iterations is None else int(iterations),
        dtype_of(dtype),
        checked(names_of("without", without)),
        tier_of(tier),
        Form(derivative_of(derivative, iterations), bool(sparse), by),
    )


def wrt_of(name: str, algorithms: Sequence[str], wrt: Sequence[str]) -> tuple[str, ...]:
    """What one of several algorithms differentiates by, of what is asked of all: nothing if only others do."""
    able = [other for other in algorithms if other in KNOWN and KNOWN[other].differentiates]
    return concerning(name, able, wrt) if name in able or not able else ()


def derivative_of(name: str, iterations: int | None) -> Derivative:
    """A product of derivatives that there is, or none."""
    if name and name not in DERIVATIVES:
        raise RobotError(f"derivative {name!r}: choose one of {', '.join(DERIVATIVES)}")
    if name and iterations is None:
        raise RobotError(f"{name} differentiates a fixed number of iterations; name one")
    return name


def by_integrator(algorithms: Sequence[str], integrator: str | None) -> tuple[str, ...]:
    """The algorithms, of which steps of time and their derivatives are by this integrator (None: as they stand).

    RobotError for one that there is not, or if no algorithm is a step.
    """
    if integrator is None:
        return tuple(algorithms)
    if integrator not in INTEGRATORS:
        raise RobotError(f"integrator {integrator!r}: choose one of {', '.join(INTEGRATORS)}")
    stems = {name: name.removesuffix("_derivatives") for name in algorithms}
    steps = {name: stem for name, stem in stems.items() if stem == "step" or stem.endswith("_step")}
    if not steps:
        named = ", ".join(algorithms)
        raise RobotError(f"integrator {integrator!r}: {named} is no step of time; name step, or leave it out")
    own = {name: f"{stem}{INTEGRATORS[integrator]}{name.removeprefix(stem)}" for name, stem in steps.items()}
    return tuple(own.get(name, name) for name in algorithms)


def tier_of(name: str) -> Tier:
    """A tier that there is."""
    if name not in TIERS:
        raise RobotError(f"tier {name!r}: choose one of {', '.join(TIERS)}")
    return name


def names_of(kind: str, given: Sequence[str]) -> tuple[str, ...]:
    """The names in a list of them."""
    names = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (None,)
    if not all(isinstance(name, str) for name in names):
        raise RobotError(f"{kind} must be a list of names, not {given!r}")
    return cast("tuple[str, ...]", names)


def contacts_of(robot: Model, contacts: Sequence[Contact | str] | None) -> tuple[Contact, ...] | None:
    """The contacts in a list of contacts and texts, if there is one; on this robot, whichever they were stated for."""
    if contacts is None:
        return None
    held = tuple(contacts) if isinstance(contacts, Iterable) and not isinstance(contacts, str) else (None,)
    if not all(isinstance(contact, Contact | str) for contact in held):
        raise RobotError(f"contacts must be a list, of texts such as 'tool:3' or of contacts, not {contacts!r}")
    stated = [contact_of(robot, text) if isinstance(text, str) else cast("Contact", text) for text in held]
    return tuple(replace(contact, frame=robot.frame(contact.frame.name)) for contact in stated)


def libraries_of(targets: Sequence[str], static: bool, cpu: str | None) -> tuple[Library, ...]:
    """The libraries for these targets."""
    names = names_of("libraries", targets)
    if not names and (static or cpu):
        raise RobotError("static and cpu say how libraries are made; name the target of one (--library)")
    return tuple(library(name, static=static, cpu=cpu) for name in names)


def backend_of(name: str) -> Backend:
    """A backend that there is."""
    if name not in BACKENDS:
        raise RobotError(f"backend {name!r}: choose one of {', '.join(BACKENDS)}")
    return BACKENDS[name]


def dtype_of(name: str) -> str:
    """A type of numbers that there is."""
    if name not in SCALARS:
        raise RobotError(f"dtype {name!r}: choose one of {', '.join(SCALARS)}")
    return name


def style_of(dtype: str, trig: str, lanes: int | Toolchain) -> Style:
    """How C is written; for an extension by its toolchain, which knows the target's registers."""
    dtype_of(dtype)
    if trig not in TRIG:
        raise RobotError(f"trig {trig!r}: choose one of {', '.join(TRIG)}")
    if isinstance(lanes, Toolchain):
        single = dtype == "float32"
        many, registers = lanes.lanes(4 if single else 8), None if single else lanes.registers
        return Style(dtype, trig, many, built=lanes.sentence, registers=registers)
    if lanes not in LANES:
        raise RobotError(f"lanes {lanes!r}: choose one of {', '.join(map(str, LANES))}")
    return Style(dtype, trig, lanes)
