"""CasADi: rigidc's C as a `casadi.Function` with exact sparse derivatives, compiled here or in a generated folder.

CasADi finds a function f of a library by its symbols (user guide, "Calling external functions"): f itself, its Jacobian
jac_f, directional derivatives fwd1_f, adjoints adj1_f, and their Jacobian jac_adj1_f, which makes Hessians. All take
nonzeros, column by column. What a solver finds it takes for right: only derivatives that are exact are exported.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi
from casadi import SX, reshape

from codegen import pipeline
from codegen.algorithms import QUANTITIES
from codegen.backends import BACKENDS
from codegen.compilation.cache import Build, kept
from codegen.compilation.compiler import toolchain
from codegen.compilation.identity import checked
from codegen.compilation.shared_library import compile_library
from codegen.emission.spec import kernel_of
from codegen.emission.text import render
from codegen.errors import BuildError, RobotError
from codegen.ir.graph import STATUS
from codegen.ir.names import comment, identifier
from codegen.progress import doing, each
from codegen.task.auto_select import resolved
from codegen.task.header_notes import folded
from codegen.task.limb_symmetry import limbs
from codegen.task.options import style_of, task_of
from codegen.tracing.blocks import Block, plain
from codegen.tracing.differentiated import column, differentiated
from codegen.tracing.sparse_graph import SparseGraph, compressed, pattern_of, sparse_graph
from codegen.tracing.task import trace
from codegen.tracing.to_casadi import expanded, with_jacobian

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Mapping, Sequence

    from codegen.emission.spec import Header, Kernel, ProductKernel
    from codegen.ir.pattern import Pattern
    from codegen.model import Contact, Model
    from codegen.pipeline import Wrapped
    from codegen.tracing.blocks import Blocks
    from codegen.tracing.differentiated import Derivatives, Expressions
    from codegen.tracing.task import Task

ORDERS = {"": 0, "jac_": 1, "fwd1_": 1, "adj1_": 1, "jac_adj1_": 2}
"""What is exported, by what its name begins with, and the order of the derivatives that it gives."""

KERNELS = {"": "value", "jac_": "jacobian", "fwd1_": "forward", "adj1_": "adjoint", "jac_adj1_": "hessian"}
"""What kernels of these are called, after their algorithm."""

LEAST = (3, 8)
"""The version of CasADi on which the interface was checked."""

ON_SINGULAR = {"ignore": False, "fail": True}
"""Whether a status that is not 0 makes an evaluation fail."""


@dataclass(frozen=True, slots=True)
class Exported:
    """One function of CasADi's interface: what its name begins with, its arguments and results, and its kernel."""

    start: str
    sparse: SparseGraph
    kernel: Kernel | ProductKernel

    def __str__(self) -> str:
        return f"{self.start}{self.sparse}"


def to_casadi(
    robot: Model,
    algorithm: str,
    *,
    frames: Sequence[str] = (),
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] | None = None,
    iterations: int = 3,
    derivatives: int = 2,
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
    with 0 there is the value alone. Where a status is not 0 the results are finite all the same; with
    `on_singular="fail"` CasADi is told that the evaluation failed. `expand` gives an SX function of the operations as
    emitted, without C, which CasADi differentiates; with `derivatives=1` a function that calls it, and has our Jacobian
    in place of CasADi's. `library` is the path of a library made of a folder that `generate` wrote for CasADi, with its
    `prefix` (default: the robot's name), which is taken in place of one made here.
    Other options are those of `build`.
    RobotError for a name that does not exist, BuildError if no compiler works, if a library is for another model or
    of another version, or if CasADi is older than 3.8.
    """
    task = task_of(robot, algorithm, frames, external, parameters, contacts, iterations, without=without)
    failing = fails(on_singular)
    order = order_of(derivatives)
    if expand:
        return _with_jacobian(task) if order == 1 else expanded(exported(resolved(task), 0)[0].sparse, task.algorithm)
    if tuple(map(int, version("casadi").split(".")[:2])) < LEAST:
        raise BuildError(f"CasADi {version('casadi')} is too old to call C by this interface; pip install rigidc[mpc]")
    if library is not None:
        start = identifier(prefix or robot.name)
        return _loaded(Path(library).absolute(), start, robot, function_name(start, resolved(task)))
    tools = toolchain(target, compiler=compiler)
    style = replace(style_of("float64", trig, tools), lanes=1, small_vectors=tools.small_vectors)

    def build(work: Path) -> Build:
        chosen = resolved(task)
        name = function_name(identifier(robot.name), chosen)
        write = partial(interface, derivatives=order, failing=failing)
        files = pipeline.files_of(robot, (chosen,), robot.name, style, BACKENDS["c"], [write], plain=False)
        sources = {path: text for path, text in files.items() if path.endswith((".c", ".h")) and path != "example.c"}
        return Build(compile_library(name, sources, work, tools), tuple(sources), {"symbol": name})

    with doing(f"{task.algorithm} of {robot.name} for CasADi"):
        place, made, _ = kept(f"casadi {order} {failing} {task.request} {style}", build, tools)
    function = _loaded(place / made.binary, identifier(robot.name), robot, made.facts["symbol"])
    function.library = str(place / made.binary)  # type: ignore[attr-defined]  # for C that calls the function
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


def order_of(derivatives: int) -> int:
    """An order of derivatives that there is."""
    if not isinstance(derivatives, int) or derivatives not in ORDERS.values():
        raise RobotError(f"derivatives must be 0, 1 or 2, the highest order that there is, not {derivatives!r}")
    return int(derivatives)


def interface(top: Header, task: Task, *, derivatives: int, failing: bool = False) -> Wrapped:
    """What a folder has for CasADi besides: kernels, and the C that makes functions of CasADi's interface of them."""
    functions = exported(task, derivatives)
    name = function_name(top.c_prefix, task)
    ports = [ports for f in functions for ports in (f.sparse.inputs, f.sparse.outputs)]
    patterns = dict.fromkeys(compressed(pattern) for found in ports for pattern in found.values())
    text = render(
        "casadi.c.jinja",
        **top.names,
        algorithm=identifier(task.algorithm),
        about=comment(task.entry.title),
        name=name,
        patterns=list(patterns),
        functions=[_slots(f, name, top.c_prefix, list(patterns), failing=failing) for f in functions],
    )
    kernels = tuple(f.kernel for f in functions if f.sparse.function.outputs)
    return kernels, {f"{top.c_prefix}_{identifier(task.algorithm)}_casadi.c": text}


def function_name(prefix: str, task: Task) -> str:
    """The name of the function."""
    return f"{prefix}_{identifier(task.algorithm)}_casadi"


def exported(task: Task, derivatives: int, only: Collection[str] = tuple(ORDERS)) -> tuple[Exported, ...]:
    """The functions up to derivatives of this order, or `only` those among them, by what their names begin with."""
    if task.iterations is None:
        raise RobotError(f"{task.algorithm}: for CasADi the number of iterations is fixed; give a number of them")
    with pipeline.undisturbed(), doing(f"{task.algorithm} of {task.model.name} for CasADi"):
        (own, found), made = differentiated(task), list[Exported]()
        whole = {f"adj_{name}": pattern_of(x) for name, x in own.inputs.items()}
        try:
            starts = [start for start, order in ORDERS.items() if order <= derivatives and start in only]
            felt = {name: list(range(x.numel())) for name, x in own.inputs.items()}
            for start in each(starts, KERNELS.__getitem__):
                inputs, outputs = _expressions(start, own, found)
                outputs = _within(outputs, felt) if start == "jac_adj1_" else outputs
                made.append(_exported(task, start, inputs, outputs, whole))
                whole |= {f"fwd_{name}": pattern for name, pattern in made[0].sparse.outputs.items()}
                felt = _felt(made[-1].sparse, own) if start == "jac_" else felt
        except RobotError:
            trace(task)  # what it refuses, it refuses in better words
            raise
        return tuple(made)


def _exported(
    task: Task, start: str, inputs: dict[str, SX], outputs: Mapping[str, SX | Block], whole: dict[str, Pattern]
) -> Exported:
    """One function, of expressions of its arguments; CasADi wants adjoints and directional derivatives `whole`."""
    name, passes = f"{task.algorithm}_{KERNELS[start]}", partial(pipeline.passed, task)
    sparse = sparse_graph(name, inputs, outputs, passes, whole)
    names = [port.name for port in sparse.function.inputs]
    known = {name: name.removeprefix("fwd_").removeprefix("adj_") for name in names}
    ways = limbs(task, {port: name for port, name in known.items() if len(_shape(name)) == 1})
    about = f"{task.entry.title}: {KERNELS[start]} for CasADi"
    return Exported(start, sparse, kernel_of(sparse.function, about, sparse.written, ways, folded(task)))


def _shape(name: str) -> tuple[str | int, ...]:
    return QUANTITIES[name].shape if name in QUANTITIES else ()


def _expressions(start: str, own: Expressions, found: Derivatives) -> tuple[dict[str, SX], Mapping[str, SX | Block]]:
    """The arguments and results of an exported function; nominal results, which none needs, have no nonzeros."""
    x, y = own.inputs, own.outputs
    nominal = {f"out_{name}": SX(*part.shape) for name, part in y.items()}
    seeds = {f"adj_{name}": SX.sym(f"adj_{name}", *part.shape) for name, part in y.items()}
    ways = {f"fwd_{name}": SX.sym(f"fwd_{name}", *part.shape) for name, part in x.items()}
    if start == "":
        return x, y
    if start == "jac_":
        return {**x, **nominal}, _blocks("jac_", found.jacobian(), y, x)
    if start == "fwd1_":
        return {**x, **nominal, **ways}, _parts("fwd_", found.forward(column(ways.values())), y)
    if start == "adj1_":
        return {**x, **nominal, **seeds}, _parts("adj_", found.adjoint(column(seeds.values())), x)
    by_seeds = {(name, f"adj_{row}"): block.T for (row, name), block in found.jacobian().items()}
    second, columns = found.hessian(column(seeds.values())) | by_seeds, {**x, **nominal, **seeds}
    adjoints = {f"out_adj_{name}": SX(*part.shape) for name, part in x.items()}
    return {**columns, **adjoints}, _blocks("jac_adj_", second, x, columns)


def _felt(jacobian: SparseGraph, own: Expressions) -> dict[str, list[int]]:
    """By inputs, the elements that a result depends on, as the Jacobian's nonzeros are after the passes."""
    return {
        name: sorted({c for y in own.outputs for c in jacobian.outputs[f"jac_{y}_{name}"].columns})
        for name in own.inputs
    }


def _within(second: Mapping[str, SX | Block], felt: Mapping[str, list[int]]) -> dict[str, SX | Block]:
    """Second derivatives without those by elements that no result depends on, which a recursion may not know."""
    found = dict(second)
    for row, rows in felt.items():
        for name, columns in felt.items():
            key = f"jac_adj_{row}_{name}"
            given = found[key]
            block = plain(given) if isinstance(given, SX) else given
            some = SX(*block.entries.shape)
            some[rows, columns] = 1
            found[key] = replace(block, entries=block.entries * some.sparsity())
    return found


def _blocks(start: str, known: Blocks, rows: Mapping[str, SX], columns: Mapping[str, SX]) -> dict[str, SX | Block]:
    """The blocks of a Jacobian, row of blocks by row; what rows do not depend on has no nonzeros."""
    return {
        f"{start}{row}_{name}": known.get((row, name), SX(y.numel(), x.numel()))
        for row, y in rows.items()
        for name, x in columns.items()
    }


def _parts(start: str, all_parts: SX, like: Mapping[str, SX]) -> dict[str, SX]:
    """What one column holds, as matrices of these shapes."""
    found, top = dict[str, SX](), 0
    for name, part in like.items():
        found[start + name] = reshape(all_parts[top : top + part.numel()], *part.shape)
        top += part.numel()
    return found


def _slots(f: Exported, name: str, prefix: str, patterns: list[tuple[int, ...]], *, failing: bool) -> dict[str, Any]:
    """What the template says of a function."""
    inputs, outputs = ({key: n for n, key in enumerate(ports)} for ports in (f.sparse.inputs, f.sparse.outputs))
    function, results, at = f.sparse.function, list[str](), 0
    given = [f"arg[{inputs[p.name]}]" for p in function.inputs]
    for port in function.outputs:
        place = f"res[{outputs[port.name]}]" if port != STATUS else ""
        results.append(f"{place} ? {place} : spare + {at}" if place else f"spare + {at}")
        at += port.size
    args = ",\n        ".join([*(f"{place} ? {place} : w" for place in given), *results])
    called = f"{prefix}_{identifier(f.kernel.name)}(\n        {args})" if function.outputs else "(void)0"
    status = failing and f.kernel.can_fail
    return {
        "name": f.start + name,
        "about": comment(f.kernel.about),
        "inputs": _rows(f.sparse.inputs, patterns),
        "outputs": _rows(f.sparse.outputs, patterns),
        "zeros": max((prod(port.shape) for port in function.inputs), default=0),
        "scratch": at,
        "null": " || ".join(f"!{place}" for place in given) or "0",
        "call": f"return {called} != 0;" if status else f"{called};\n    return 0;",
    }


def _rows(found: Mapping[str, Pattern], patterns: list[tuple[int, ...]]) -> list[dict[str, str]]:
    """The arguments or results of a function: their names and the names of their patterns."""
    return [
        {"quoted": f'"{key}"', "pattern": f"s{patterns.index(compressed(pattern))}"} for key, pattern in found.items()
    ]
