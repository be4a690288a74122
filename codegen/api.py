"""What users call: options are checked and become tasks, which the pipeline takes from stage to stage."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from codegen import pipeline
from codegen.algorithms import ALGORITHMS, concerning
from codegen.compilation.compiler import toolchain
from codegen.errors import RobotError
from codegen.interfaces import interfaces_of
from codegen.task.auto_select import AUTO, Choice, cheapest, resolved, stand_in
from codegen.task.options import (
    backend_of,
    by_integrator,
    contacts_of,
    libraries_of,
    names_of,
    style_of,
    task_of,
    wrt_of,
)
from codegen.tracing.directional import signature

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from codegen.compilation.runtime import Function
    from codegen.ir.graph import Graph
    from codegen.model import Contact, Model
    from codegen.tracing.task import Task


def graphs(
    robot: Model,
    algorithm: str,
    *,
    frames: Sequence[str] = (),
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] | None = None,
    iterations: int = 3,
    dtype: str = "float64",
    without: Sequence[str] = (),
    tier: str = "emitted",
    derivative: str = "",
    sparse: bool = False,
    wrt: Sequence[str] = (),
    integrator: str | None = None,
) -> tuple[Graph, Graph]:
    """The graph of an algorithm as written and as emitted; the options are those of `build`.

    Of another tier than `emitted` both are the same: our algorithm as written, or the paper's listing.
    """
    (name,) = by_integrator((algorithm,), integrator)
    given = (frames, external, parameters, contacts, iterations, dtype, without, tier, derivative, sparse, wrt)
    return pipeline.graphs(resolved(task_of(robot, name, *given)))


def task(robot: Model, algorithm: str, **options: Any) -> Task:
    """What `graphs` traces for these options, which are those of `build`, with `auto` resolved."""
    given = {name: options.pop(name, ()) for name in ("frames", "external", "parameters")}
    (name,) = by_integrator((algorithm,), options.pop("integrator", None))
    return resolved(task_of(robot, name, **given, **{"contacts": None, "iterations": 3, **options}))


def auto(
    robot: Model,
    group: str = "constrained",
    *,
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] | None = None,
    iterations: int | None = 3,
    without: Sequence[str] = (),
) -> Choice:
    """The cheapest forward dynamics (`constrained`) or Delassus algorithm (`delassus`) by operations, with the others.

    The options are those of `build`. `algorithm` of the result is the name; algorithms of which even the operations as
    written are far more than the fewest are not counted as emitted. Forward dynamics without contacts
    (None, or an empty list) are `aba` or `ltl`; those that need independent rows compete only if the rows are so.
    """
    return cheapest(task_of(robot, AUTO, (), external, parameters, contacts, iterations, without=without), group)


def build(
    robot: Model,
    algorithm: str,
    *,
    frames: Sequence[str] = (),
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] | None = None,
    iterations: int | None = 3,
    dtype: str = "float64",
    target: str = "native",
    trig: str = "fast",
    compiler: str | None = None,
    without: Sequence[str] = (),
    tier: str = "emitted",
    derivative: str = "",
    sparse: bool = False,
    wrt: Sequence[str] = (),
    integrator: str | None = None,
) -> Function:
    """A compiled callable of one algorithm (or `auto`: the cheapest forward dynamics), specialised to one robot.

    `frames` are those of fk, jacobian and the like (default: tips), `external` the frames on which external wrenches
    act (rows of the argument f_ext), `parameters` the numbers that stay arguments: `gravity`, `payload:FRAME`,
    `inertia:BODY`, `offset:JOINT`, and of algorithms with contacts `k`, `mu`, `lam0`, `R`, `weight`, `kp`, `kd`,
    `target_velocity`.
    `contacts` are the held frames (`Robot.contact`, or texts as `codegen.model.contacts` says; default: all six rows of
    every tip, and none for `auto`; algorithms on contacts refuse an empty list); those with a gain kp add their target
    poses to the arguments. `iterations` the steps of a proximal algorithm; None leaves them to the arguments `tol` and
    `max_iter`, and `iterations` and `residual` come out. `without` names steps of the lowering (`codegen.lowering`) to
    leave out, or `all` that can be. `tier` says what becomes C: `emitted`, our algorithm after lowering and passes,
    `written`, the same without passes, or `published`, the paper's listing as it stands.
    `derivative` is `jvp`, `vjp` or `hvp`: a product of the algorithm's derivatives (`Function.jvp`, ...) in its place;
    or `hessian`, of results' weighted sum, or `tensor`, of all results. With `sparse` matrices whose columns are
    coordinates of joints or rows of contacts come as their nonzeros, without structural zeros and column by column, of
    which `Function.pattern` tells the places. `wrt` are arguments that functions of derivatives differentiate by
    besides the state: `k`, `R`, `kp`, `kd`, `weight`, targets, `f_ext`, or other parameters, which need not be named
    twice.
    `target` says where the code runs: `native` (this processor), `x86-64-v3` (all with AVX2) or `portable` (all of
    this architecture), `trig` whose sine and cosine it takes: `fast` (inline) or `libm`. `compiler` is the name or path
    of a C compiler, or `zig` (default: RIGIDC_CC, else clang, gcc, cc or zig's wheel, the first there is); the text is
    cut for it.
    `integrator` is that of `step` and `step_derivatives`, of free robots and of contacts (`prox_pv_step`):
    `semi_implicit_euler` (the default), `rk4` or `implicit_midpoint`, whose `iterations` are steps of Newton's method.
    RobotError for a name that does not exist, BuildError if no compiler works.
    """
    (algorithm,), tools = by_integrator((algorithm,), integrator), toolchain(target, compiler=compiler)
    style = style_of(dtype, trig, tools)
    given = (frames, external, parameters, contacts, iterations, dtype, without, tier, derivative, sparse, wrt)
    task = task_of(robot, algorithm, *given)
    assert signature(stand_in(task))  # names are checked before the cache is asked
    recipe = _recipe(task, dtype=dtype, target=target, trig=trig, compiler=compiler)
    made = pipeline.callable_of(task, style, tools)
    return replace(made, recipe=recipe, products=None if derivative else _products(recipe, made.name))


def generate(
    robot: Model,
    algorithms: Sequence[str],
    out: str | os.PathLike[str],
    *,
    prefix: str | None = None,
    frames: Sequence[str] = (),
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] | None = None,
    iterations: int | None = 3,
    dtype: str = "float64",
    trig: str = "fast",
    lanes: int = 1,
    without: Sequence[str] = (),
    tier: str = "emitted",
    libraries: Sequence[str] = (),
    static: bool = False,
    cpu: str | None = None,
    backend: str = "c",
    interfaces: Sequence[str] = (),
    derivative_order: int | None = None,
    on_singular: str = "ignore",
    directions: int = 1,
    derivatives: Sequence[str] = (),
    sparse: bool = False,
    wrt: Sequence[str] = (),
    integrator: str | None = None,
    sections: bool = False,
    single_header: bool = False,
) -> tuple[Path, ...]:
    """Write a folder of C that builds by itself; the paths written. Sources of an earlier one are replaced or removed.

    `prefix` begins every symbol (default: the robot's name); `lanes` above 1 adds functions of many states, so many
    at a time in SIMD lanes; the other options are those of `build`. Every algorithm takes the parameters that it knows,
    and `iterations=None` concerns those that iterate. `backend="c_portable"` writes one source of plain ISO C99 for any
    compiler: always with the C library's sine and cosine, and never with lanes. `derivatives` adds products of the
    derivatives of every algorithm (`jvp`, ...), `wrt` concerns those that give derivatives; with `sparse` the header
    holds the patterns of matrices; with `sections` comments say where the phases of an algorithm begin. `single_header`
    writes one header in place of the folder, with all definitions behind the macro PREFIX_IMPLEMENTATION.
    `interfaces` are what shall call the functions too (`casadi`, `acados`, `crocoddyl`, `fatrop`; with lanes `jax` and
    `torch`): that adds sources with derivatives up to the `derivative_order` (0 to 2; by default 2, for CasADi that of
    `to_casadi`). `on_singular="fail"` makes CasADi's functions fail where a status is not 0, and `directions=4` adds
    products of derivatives by four directions at once to them.
    `libraries` are targets by zig's names (`aarch64-linux-gnu`, `x86_64-windows-gnu`, `aarch64-macos`): for each the C
    is compiled to lib/TARGET too, as a shared or (`static`) a static library, for the processor `cpu` by zig's name
    (default: any of the target's). BuildError if zig is not installed (`pip install rigidc[zig]`), or for other names.
    """
    writer = backend_of(backend)
    if single_header and (lanes > 1 or libraries or interfaces):
        raise RobotError("a single header has functions of one state alone; leave lanes, interfaces and libraries out")
    style = writer.style(style_of(dtype, trig, lanes))
    wanted = libraries_of(libraries, static, cpu)
    lists = (names_of("frames", frames), names_of("external", external), names_of("parameters", parameters))
    held, tasks = contacts_of(robot, contacts), []
    chosen = by_integrator(names_of("algorithms", algorithms), integrator)
    direct = {name for name in chosen if name in ALGORITHMS and not ALGORITHMS[name].iterates}
    for name in chosen:
        own = concerning(name, chosen, lists[2])
        steps = 3 if name in direct and direct < {*chosen} else iterations
        given = (*lists[:2], own, held, steps, dtype, without, tier)
        by = wrt_of(name, chosen, names_of("wrt", wrt))
        kinds = ("", *names_of("derivatives", derivatives))
        tasks += [task_of(robot, name, *given, kind, sparse, by) for kind in kinds]
    others = names_of("interfaces", interfaces)
    adding = interfaces_of(others, dtype, derivative_order, on_singular, directions, style.lanes)
    return pipeline.folder_of(
        robot, tasks, out, prefix or robot.name, style, writer, wanted, adding, sections, single_header
    )


def _products(recipe: partial[Function], algorithm: str) -> Callable[[str], Function]:
    """What builds products of a function's derivatives, each once; of this algorithm, should the recipe say auto."""
    again = partial(build, recipe.args[0], algorithm, **recipe.keywords)
    return lru_cache(maxsize=None)(lambda kind: again(derivative=kind))


def _recipe(task: Task, **written: str | None) -> partial[Function]:
    """How to build a function again, in any process."""
    options: dict[str, Any] = {
        "frames": task.frames,
        "external": task.external,
        "parameters": task.parameters,
        "contacts": task.contacts,
        "iterations": task.iterations,
        "without": task.without,
        "tier": task.tier,
        "derivative": task.form.derivative,
        "sparse": task.form.sparse,
        "wrt": task.form.wrt,
        **written,
    }
    return partial(build, task.model, task.algorithm, **options)
