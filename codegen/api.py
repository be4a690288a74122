"""What users call: options are checked and become tasks, which the pipeline takes from stage to stage."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from codegen import pipeline
from codegen.algorithms import ALGORITHMS, concerning
from codegen.compilation.compiler import toolchain
from codegen.task.auto_select import AUTO, Choice, cheapest, resolved, stand_in
from codegen.task.options import backend_of, contacts_of, libraries_of, names_of, style_of, task_of

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
) -> tuple[Graph, Graph]:
    """The graph of an algorithm as written and as emitted; the options are those of `build`.

    Of another tier than `emitted` both are the same: our algorithm as written, or the paper's listing.
    """
    asked = task_of(robot, algorithm, frames, external, parameters, contacts, iterations, dtype, without, tier)
    return pipeline.graphs(resolved(asked))


def task(robot: Model, algorithm: str, **options: Any) -> Task:
    """What `graphs` traces for these options, which are those of `build`, with `auto` resolved."""
    given = {name: options.pop(name, ()) for name in ("frames", "external", "parameters")}
    return resolved(task_of(robot, algorithm, **given, **{"contacts": None, "iterations": 3, **options}))


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
) -> Function:
    """A compiled callable of one algorithm (or `auto`: the cheapest forward dynamics), specialised to one robot.

    `frames` are those of fk and jacobian (default: the tips), `external` the frames on which external wrenches
    act (rows of the argument f_ext), `parameters` the numbers that stay arguments: `gravity`, `payload:FRAME`,
    `inertia:BODY`, `offset:JOINT`, and of algorithms with contacts `k`, `mu`, `lam0`, `R`, `weight`, `kp`, `kd`,
    `target_velocity`.
    `contacts` are the held frames (`Robot.contact`, or texts as `codegen.model.contacts` says; default: all six rows of
    every tip, and none for `auto`; algorithms on contacts refuse an empty list); those with a gain kp add their target
    poses to the arguments. `iterations` the steps of a proximal algorithm; None leaves them to the arguments `tol` and
    `max_iter`, and `iterations` and `residual` come out. `without` names steps of the lowering (`codegen.lowering`) to
    leave out, or `all` that can be. `tier` says what becomes C: `emitted`, our algorithm after lowering and passes,
    `written`, the same without passes, or `published`, the paper's listing as it stands.
    `target` says where the code runs: `native` (this processor), `x86-64-v3` (all with AVX2) or `portable` (all of
    this architecture), `trig` whose sine and cosine it takes: `fast` (inline) or `libm`. `compiler` is the name or path
    of a C compiler, or `zig` (default: RIGIDC_CC, else clang, gcc, cc or zig's wheel, the first there is); the text is
    cut for it.
    RobotError for a name that does not exist, BuildError if no compiler works.
    """
    tools = toolchain(target, compiler=compiler)
    style = style_of(dtype, trig, tools)
    task = task_of(robot, algorithm, frames, external, parameters, contacts, iterations, dtype, without, tier)
    assert stand_in(task).signature  # names are checked before the cache is asked
    recipe = _recipe(task, dtype=dtype, target=target, trig=trig, compiler=compiler)
    return replace(pipeline.callable_of(task, style, tools), recipe=recipe)


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
    sections: bool = False,
) -> tuple[Path, ...]:
    """Write a folder of C that builds by itself; the paths written. Sources of an earlier one are replaced or removed.

    `prefix` begins every symbol (default: the robot's name); `lanes` above 1 adds functions of many states, so many
    at a time in SIMD lanes; the other options are those of `build`. Every algorithm takes the parameters that it knows,
    and `iterations=None` concerns those that iterate. `backend="c_portable"` writes one source of plain ISO C99 for any
    compiler: always with the C library's sine and cosine, and never with lanes. With `sections`, comments say where the
    phases of an algorithm begin.
    `libraries` are targets by zig's names (`aarch64-linux-gnu`, `x86_64-windows-gnu`, `aarch64-macos`): for each the C
    is compiled to lib/TARGET too, as a shared or (`static`) a static library, for the processor `cpu` by zig's name
    (default: any of the target's). BuildError if zig is not installed (`pip install rigidc[zig]`), or for other names.
    """
    writer = backend_of(backend)
    style = writer.style(style_of(dtype, trig, lanes))
    wanted = libraries_of(libraries, static, cpu)
    lists = (names_of("frames", frames), names_of("external", external), names_of("parameters", parameters))
    held, tasks, chosen = contacts_of(robot, contacts), [], names_of("algorithms", algorithms)
    direct = {name for name in chosen if name in ALGORITHMS and not ALGORITHMS[name].iterates}
    for name in chosen:
        own = concerning(name, chosen, lists[2])
        steps = 3 if name in direct and direct < {*chosen} else iterations
        tasks.append(task_of(robot, name, *lists[:2], own, held, steps, dtype, without, tier))
    return pipeline.folder_of(robot, tasks, out, prefix or robot.name, style, writer, wanted, sections)


def _recipe(task: Task, **written: str | None) -> Callable[[], Function]:
    """How to build a function again, in any process."""
    options: dict[str, Any] = {
        "frames": task.frames,
        "external": task.external,
        "parameters": task.parameters,
        "contacts": task.contacts,
        "iterations": task.iterations,
        "without": task.without,
        "tier": task.tier,
        **written,
    }
    return partial(build, task.model, task.algorithm, **options)
