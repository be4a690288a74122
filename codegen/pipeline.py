"""The stages in order, and nothing else: task, graphs, kernels, and C as a callable or as a folder."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.compilation.beside import beside
from codegen.compilation.cache import cached
from codegen.compilation.library import compiled
from codegen.emission.emit import emit_artifacts
from codegen.emission.folder import write_folder
from codegen.emission.single_header import single_header
from codegen.emission.spec import LoopKernel, kernel_of, straight
from codegen.garbage import undisturbed
from codegen.ir.counted import counted
from codegen.ir.counting import count
from codegen.ir.names import identifier
from codegen.ir.products import WithProducts, straight_line
from codegen.ir.sparse import sparse
from codegen.ir.staging import staged
from codegen.packing import Packed
from codegen.passes import COUNTED, ORDER, emitted
from codegen.progress import doing, each
from codegen.task.auto_select import resolved
from codegen.task.breakdown import labelled
from codegen.task.header import header
from codegen.task.header_notes import about, folded
from codegen.task.limb_symmetry import limbs
from codegen.tracing.directional import function_of, matrices
from codegen.tracing.form import Form
from codegen.tracing.task import Task
from codegen.tracing.trace import differs_in_vectors, trace_iteration

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from codegen.backends import Backend
    from codegen.compilation.compiler import Toolchain
    from codegen.compilation.library import Library
    from codegen.compilation.runtime import Function
    from codegen.emission.artifact import Artifact
    from codegen.emission.kernels import AnyKernel
    from codegen.emission.spec import Header, InVectors, Kernel, ProductKernel, Style
    from codegen.ir.counting import Count
    from codegen.ir.graph import Graph
    from codegen.model import Model
    from codegen.passes import Pass

    Wrapped = tuple[tuple[AnyKernel, ...], dict[str, str]]
    """What a solver's interface adds to a folder: kernels, and C that calls them, by file name."""
    Interface = Callable[[Header, Task], Wrapped]


@lru_cache(maxsize=8)
def graphs(task: Task) -> tuple[Graph, Graph]:
    """The graph of a task as written and as emitted; products of matrices are straight-line code in it, too."""
    written, last = _functions(task)
    return straight_line(written), straight_line(last)


@lru_cache(maxsize=64)
def counts(task: Task) -> tuple[Count, Count]:
    """The operations of a task as written and as emitted: those of its `graphs`, of which it keeps none."""
    written, last = map(counted, _ordered(task, COUNTED))
    return written, last


@lru_cache(maxsize=8)
def _functions(task: Task) -> tuple[Graph | WithProducts, Graph | WithProducts]:
    """What a task computes as written and as emitted."""
    return _ordered(task, ORDER)


def _ordered(task: Task, order: tuple[Pass, ...]) -> tuple[Graph | WithProducts, Graph | WithProducts]:
    """What a task computes as written and as emitted, after these last passes."""
    with undisturbed(), doing(str(task)):
        with doing("tracing"):
            written = function_of(task)
        with doing("passes"):
            last = emitted(written, order) if task.tier == "emitted" else written
        return written, sparse(last, matrices(task)) if task.form.sparse else last


def passed(task: Task, written: Graph | WithProducts) -> Graph | WithProducts:
    """A function after the passes, if the task's tier has any."""
    return emitted(written) if task.tier == "emitted" else written


def kernel(task: Task, sections: bool = False, in_vectors: InVectors | None = None) -> AnyKernel:
    """The function to emit for a task; with `sections`, comments name the phases where all is straight-line code.

    Of robots for which C with small vectors has other loops, `in_vectors` makes that kernel, in place of this process.
    """
    if task.iterations is None:
        written = trace_iteration(task)
        says = f"{task.entry.title}; iterates until its residual is at most tol"
        stages = staged(straight_line(passed(task, written)))
        return LoopKernel(task.algorithm, stages, says, count(written), folded(task))
    first, last, phases = _sections(task) if sections else (*_functions(task), ())
    loops = isinstance(last, WithProducts) and bool(last.maps)  # all C has them, with so many rows of contacts
    in_vectors = (in_vectors or partial(_in_vectors, task)) if differs_in_vectors(task) and not loops else None
    return kernel_of(last, about(task), counted(first), limbs(task), folded(task), phases, in_vectors)


def _in_vectors(task: Task) -> tuple[Kernel | ProductKernel, Packed]:
    """The function to emit for a task where C with small vectors has loops over columns, and other C has none."""
    first, last = _functions(replace(task, small_vectors=True))
    made = kernel_of(last, about(task), counted(first), limbs(task), folded(task))
    return made, made.packed() or Packed(straight(made), ())


def _sections(task: Task) -> tuple[Graph | WithProducts, Graph | WithProducts, tuple[str, ...]]:
    """What a task computes as written and as emitted, with labels, and the phases that these stand for."""
    if task.form != Form():  # these are none of the algorithm's own results
        return *_functions(task), ()
    with undisturbed():
        written, last, origins = labelled(task)
    return written, last, tuple(origin.phase for origin in origins)


def callable_of(task: Task, style: Style, tools: Toolchain) -> Function:
    """The compiled function of a task, from the cache if it is there."""
    robot = task.model

    def make() -> Iterator[Artifact]:
        with undisturbed(), ExitStack() as stack:
            chosen, other = resolved(task), None
            looped = style.registers != "PACKS" or not any(limbs(chosen))
            if looped and differs_in_vectors(chosen):
                other = stack.enter_context(beside(partial(_in_vectors, chosen)))
            yield from emit_artifacts(header(robot, robot.name, (chosen,)), kernel(chosen, in_vectors=other), style)

    with doing(str(task)):
        return cached(f"{task.request} {style}", make, tools)


def files_of(
    robot: Model,
    tasks: Sequence[Task],
    prefix: str,
    style: Style,
    writer: Backend,
    interfaces: Sequence[Interface] = (),
    *,
    plain: bool = True,
    sections: bool = False,
) -> dict[str, str]:
    """File name to text of a folder of C with the functions of tasks on one robot, and of them for these interfaces.

    Without `plain` functions those of interfaces are all.
    """
    with undisturbed():
        tasks = [resolved(task) for task in tasks]
        top = header(robot, prefix, tasks)
        shown = each(tasks if plain else (), str)
        kernels, wrappers = [kernel(task, sections) for task in shown], dict[str, str]()
        for interface in interfaces:
            for task in tasks:
                more, files = interface(top, task)
                known = {made.name for made in kernels}
                kernels += [made for made in more if made.name not in known]
                wrappers |= files
        return writer.folder(top, tuple(kernels), style, wrappers)


def folder_of(
    robot: Model,
    tasks: Sequence[Task],
    out: str | os.PathLike[str],
    prefix: str,
    style: Style,
    writer: Backend,
    libraries: Sequence[Library],
    interfaces: Sequence[Interface] = (),
    sections: bool = False,
    single: bool = False,
) -> tuple[Path, ...]:
    """The paths of such a folder, or of a `single` header in its place, and of libraries made of it."""
    with doing(f"C for {robot.name}"):
        files = files_of(robot, tasks, prefix, style, writer, interfaces, sections=sections)
        files = single_header(files, identifier(prefix)) if single else files
        made: dict[str, str | bytes] = {}
        for one in each(libraries, str):
            made |= compiled(one, identifier(prefix), files)
    return write_folder({**files, **made}, Path(out))
