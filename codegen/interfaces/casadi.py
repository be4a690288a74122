"""CasADi: rigidc's C as a `casadi.Function` with exact sparse derivatives, compiled here or in a generated folder.

CasADi finds a function f of a library by its symbols (user guide, "Calling external functions"): f itself, its Jacobian
jac_f, directional derivatives fwd1_f, adjoints adj1_f, four of each at once (fwd4_f, adj4_f), and the Jacobian of
adjoints jac_adj1_f, which makes Hessians. All take nonzeros, column by column. What a solver finds it takes for right:
only derivatives that are exact are exported.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib.metadata import version
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi

from codegen import pipeline
from codegen.backends import BACKENDS
from codegen.compilation.cache import Build, kept
from codegen.compilation.compiler import toolchain
from codegen.compilation.identity import checked
from codegen.compilation.shared_library import compile_library
from codegen.emission.given_memory import anyhow
from codegen.emission.text import render
from codegen.errors import BuildError, RobotError
from codegen.interfaces.casadi_functions import BY_ONE, DIRECTIONS, LEAN, ORDERS, exported
from codegen.ir.graph import STATUS
from codegen.ir.names import comment, identifier
from codegen.progress import doing
from codegen.task.auto_select import resolved
from codegen.task.options import style_of, task_of
from codegen.tracing.sparse_graph import compressed
from codegen.tracing.to_casadi import expanded, with_jacobian

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from codegen.emission.spec import Header
    from codegen.interfaces.casadi_functions import Exported
    from codegen.ir.pattern import Pattern
    from codegen.model import Contact, Model
    from codegen.pipeline import Wrapped
    from codegen.tracing.task import Task

LEAST = (3, 8)
"""The version of CasADi on which the interface was checked."""

SECOND = 2
"""The highest order of derivatives."""

ON_SINGULAR = {"ignore": False, "fail": True}
"""Whether a status that is not 0, or a result that is infinite or no number, makes an evaluation fail."""


def to_casadi(
    robot: Model,
    algorithm: str,
    *,
    frames: Sequence[str] = (),
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] | None = None,
    iterations: int = 3,
    derivatives: int | None = None,
    directions: int = 1,
    lean: bool = False,
    constant: Sequence[str] = (),
    on_singular: str = "ignore",
    expand: bool = False,
    target: str = "native",
    trig: str = "fast",
    compiler: str | None = None,
    without: Sequence[str] = (),
    library: str | os.PathLike[str] | None = None,
    prefix: str | None = None,
) -> casadi.Function:
    """An algorithm (or `auto`) on one robot as a function of CasADi's: compiled C, with exact sparse derivatives.

    Inputs and outputs are those of `build`, by name; one of three axes has its first two as rows. Quaternions are
    normalised. `derivatives` is their highest order: with 2 there are Hessians, with 1 solvers need an approximate one,
    with 0 there is the value alone; by default 2, and 0 where the results are derivatives themselves. `directions=4`
    adds products of derivatives by four directions at once, in SIMD lanes, which CasADi takes where it assembles
    Jacobians of larger expressions. `lean` leaves out what stages of `codegen.ocp` do not call, and derivatives by
    arguments that are `constant`: CasADi itself cannot differentiate such a function. Where a status is not 0 the
    results are finite all the same; with `on_singular="fail"` CasADi is told that the evaluation failed, and also where
    a result is infinite or no number. `expand` gives an SX function of the operations as emitted, without C, which
    CasADi differentiates; with `derivatives=1` a function that calls it, and has our Jacobian in place of CasADi's.
    `library` is the path of a library made of a folder that `generate` wrote for CasADi, with its `prefix` (default:
    the robot's name), which is taken in place of one made here. Other options are those of `build`.
    RobotError for a name that does not exist, BuildError if no compiler works, if a library is for another model or
    of another version, or if CasADi is older than 3.8.
    """
    task = task_of(robot, algorithm, frames, external, parameters, contacts, iterations, without=without)
    failing = fails(on_singular)
    order, several = order_of(derivatives, task), in_lanes(directions)
    if lean and (several or expand):
        raise RobotError("lean=True leaves functions out; leave out directions=4 and expand=True, which ask for others")
    taken = [port.name for port in task.signature[0]]
    if constant and (not lean or not {*constant} <= {*taken}):
        raise RobotError(f"constant {', '.join(constant)}: with lean=True, some of {', '.join(taken)}")
    if expand:
        return _with_jacobian(task) if order == 1 else expanded(exported(resolved(task), 0)[0].sparse, task.algorithm)
    if tuple(map(int, version("casadi").split(".")[:2])) < LEAST:
        raise BuildError(f"CasADi {version('casadi')} is too old to call C by this interface; pip install rigidc[mpc]")
    if library is not None:
        start = identifier(prefix or robot.name)
        return _loaded(Path(library).absolute(), start, robot, function_name(start, resolved(task)))
    tools = toolchain(target, compiler=compiler)
    style = replace(style_of("float64", trig, tools).short, lanes=1, small_vectors=tools.small_vectors)

    def build(work: Path) -> Build:
        chosen = resolved(task)
        name = function_name(identifier(robot.name), chosen)
        write = partial(
            interface, derivatives=order, several=several, lean=lean, constant=tuple(constant), failing=failing
        )
        files = pipeline.files_of(robot, (chosen,), robot.name, style, BACKENDS["c"], [write], plain=False)
        sources = {path: text for path, text in files.items() if path.endswith((".c", ".h")) and path != "example.c"}
        return Build(compile_library(name, sources, work, tools), tuple(sources), {"symbol": name})

    with doing(f"{task.algorithm} of {robot.name} for CasADi"):
        place, made, _ = kept(
            f"casadi {order} {several} {lean} {constant} {failing} {task.request} {style}", build, tools
        )
    function = _loaded(place / made.binary, identifier(robot.name), robot, made.facts["symbol"])
    function.library = str(place / made.binary)  # type: ignore[attr-defined]  # for C that calls the function
    function.constant = tuple(constant)  # type: ignore[attr-defined]
    return function


def _with_jacobian(task: Task) -> casadi.Function:
    """The function of expressions with ours as its Jacobian, from the cache: passes take long."""

    def build(work: Path) -> Build:
        value, jacobian = exported(resolved(task), 1, ("", "jac_"))
        text = with_jacobian(task.algorithm, value.sparse, jacobian.sparse).serialize()
        (work / "function.casadi").write_text(text, encoding="utf-8")
        return Build("function.casadi", (), {"symbol": f"{identifier(task.model.name)}_{task.algorithm}_expanded"})

    place, made, _ = kept(f"expanded {version('casadi')} {task.request}", build, None)
    return casadi.Function.deserialize((place / made.binary).read_text(encoding="utf-8"))


def _loaded(path: Path, prefix: str, robot: Model, symbol: str) -> casadi.Function:
    """A function of a library, which is checked."""
    checked(path, prefix, robot.digest, symbol)
    return casadi.external(symbol, str(path))


def fails(on_singular: str) -> bool:
    """Whether a status that is not 0 makes an evaluation fail."""
    if on_singular not in ON_SINGULAR:
        raise RobotError(f"on_singular {on_singular!r}: choose one of {', '.join(ON_SINGULAR)}")
    return ON_SINGULAR[on_singular]


def order_of(derivatives: int | None, task: Task) -> int:
    """An order of derivatives that there is; of None, that of a task by default."""
    check_order(derivatives)
    return derivatives if derivatives is not None else 0 if task.entry.derived else SECOND


def check_order(derivatives: int | None) -> None:
    """RobotError for an order of derivatives that there is not."""
    if derivatives is not None and (not isinstance(derivatives, int) or derivatives not in ORDERS.values()):
        raise RobotError(f"derivatives must be 0, 1 or 2, the highest order that there is, not {derivatives!r}")


def in_lanes(directions: int) -> bool:
    """Whether there are products of derivatives by several directions at once."""
    if directions not in (1, DIRECTIONS):
        raise RobotError(f"directions must be 1 or {DIRECTIONS}, how many CasADi gets at once, not {directions!r}")
    return directions == DIRECTIONS


def interface(
    top: Header,
    task: Task,
    *,
    derivatives: int | None,
    several: bool = False,
    lean: bool = False,
    constant: Sequence[str] = (),
    failing: bool = False,
) -> Wrapped:
    """What a folder has for CasADi besides: kernels, and the C that makes functions of CasADi's interface of them."""
    order = order_of(derivatives, task)
    wanted = LEAN[order] if lean else tuple(ORDERS) if several else BY_ONE
    functions = exported(task, order, wanted, half=lean, constant=constant)
    name = function_name(top.c_prefix, task)
    text = wrapper(top, name, task.algorithm, task.entry.title, functions, failing=failing)
    kernels = tuple(f.kernel for f in functions if f.sparse.function.outputs)
    return kernels, {f"{top.c_prefix}_{identifier(task.algorithm)}_casadi.c": text}


def wrapper(
    top: Header, name: str, algorithm: str, about: str, functions: Sequence[Exported], *, failing: bool = False
) -> str:
    """The C that makes functions of CasADi's interface, of this name, of the kernels of a folder."""
    ports = [ports for f in functions for ports in (f.sparse.inputs, f.sparse.outputs)]
    patterns = dict.fromkeys(compressed(pattern) for found in ports for pattern in found.values())
    return render(
        "casadi.c.jinja",
        **top.names,
        algorithm=identifier(algorithm),
        about=comment(about),
        name=name,
        patterns=list(patterns),
        given=anyhow(_symbol(f, top.c_prefix) for f in functions if f.sparse.function.outputs),
        functions=[_slots(f, name, top.c_prefix, list(patterns), failing=failing) for f in functions],
    )


def function_name(prefix: str, task: Task) -> str:
    """The name of the function."""
    return f"{prefix}_{identifier(task.algorithm)}_casadi"


def _slots(f: Exported, name: str, prefix: str, patterns: list[tuple[int, ...]], *, failing: bool) -> dict[str, Any]:
    """What the template says of a function."""
    inputs, outputs = ({key: n for n, key in enumerate(ports)} for ports in (f.sparse.inputs, f.sparse.outputs))
    function, results, at = f.sparse.function, list[str](), 0
    given = [f"arg[{inputs[p.name]}]" for p in function.inputs]
    for port in function.outputs:
        place = f"res[{outputs[port.name]}]" if port != STATUS else ""
        results.append(f"{place} ? {place} : spare + {at}" if place else f"spare + {at}")
        at += port.size
    zeros, kernel = max((prod(port.shape) for port in function.inputs), default=0), _symbol(f, prefix)
    args = ",\n        ".join([f"spare + {at}", *(f"{place} ? {place} : w" for place in given), *results])
    called = f"{kernel}_in(\n        {args})" if function.outputs else "(void)0"
    status = f"{called} != 0" if f.kernel.can_fail else f"({called}, 0)"
    sizes = [(n, pattern.nnz) for n, pattern in enumerate(f.sparse.outputs.values()) if pattern.nnz]
    return {
        "name": f.start + name,
        "about": comment(f.kernel.about),
        "inputs": _rows(f.sparse.inputs, patterns),
        "outputs": _rows(f.sparse.outputs, patterns),
        "zeros": zeros,
        "work": " + ".join((str(zeros + at), *[f"{kernel.upper()}_MEMORY"] * bool(function.outputs))),
        "null": " || ".join(f"!{place}" for place in given) or "0",
        "call": f"const int failed = {status};" if failing else f"{called};",
        "checked": sizes if failing else [],
        "failed": "failed" if failing else "0",
    }


def _symbol(f: Exported, prefix: str) -> str:
    """The C name of a function's kernel."""
    return f"{prefix}_{identifier(f.kernel.name)}"


def _rows(found: Mapping[str, Pattern], patterns: list[tuple[int, ...]]) -> list[dict[str, str]]:
    """The arguments or results of a function: their names and the names of their patterns."""
    return [
        {"quoted": f'"{key}"', "pattern": f"s{patterns.index(compressed(pattern))}"} for key, pattern in found.items()
    ]
