"""The stages in order, and nothing else: task, graphs, kernels, and C as a callable or as a folder."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.compilation.cache import cached
from codegen.compilation.library import compiled
from codegen.emission.emit import emit_artifacts
from codegen.emission.folder import write_folder
from codegen.emission.spec import Kernel, LoopKernel, ProductKernel
from codegen.ir.counting import count
from codegen.ir.products import WithProducts, straight_line
from codegen.ir.staging import staged
from codegen.passes import run
from codegen.progress import doing, each
from codegen.task.auto_select import resolved
from codegen.task.breakdown import labelled
from codegen.task.header import header
from codegen.task.header_notes import folded
from codegen.task.limb_symmetry import limbs
from codegen.tracing.task import Task, trace_iteration, trace_products

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from codegen.backends import Backend
    from codegen.compilation.compiler import Toolchain
    from codegen.compilation.library import Library
    from codegen.compilation.runtime import Function
    from codegen.emission.artifact import Artifact
    from codegen.emission.kernels import AnyKernel
    from codegen.emission.spec import Style
    from codegen.ir.graph import Graph
    from codegen.model import Model


@lru_cache(maxsize=8)
def graphs(task: Task) -> tuple[Graph, Graph]:
    """The graph of a task as written and as emitted; products of matrices are straight-line code in it, too."""
    written, emitted = _functions(task)
    return straight_line(written), straight_line(emitted)


@lru_cache(maxsize=8)
def _functions(task: Task) -> tuple[Graph | WithProducts, Graph | WithProducts]:
    """What a task computes as written and as emitted."""
    with _undisturbed(), doing(f"{task.algorithm} of {task.model.name}"):
        with doing("tracing"):
            written = trace_products(task)
        with doing("passes"):
            return written, _passed(task, written)


def _passed(task: Task, written: Graph | WithProducts) -> Graph | WithProducts:
    """The same after the passes, if the task's tier has any."""
    if task.tier != "emitted":
        return written
    return written.after(run) if isinstance(written, WithProducts) else run(written)


def kernel(task: Task, sections: bool = False) -> AnyKernel:
    """The function to emit for a task; with `sections`, comments name the phases where all is straight-line code."""
    if task.iterations is None:
        written = trace_iteration(task)
        about = f"{task.entry.title}; iterates until its residual is at most tol"
        emitted = straight_line(_passed(task, written))
        return LoopKernel(task.algorithm, staged(emitted), about, count(written), folded(task))
    first, last, phases = _sections(task) if sections else (*_functions(task), ())
    before = count(straight_line(first))
    if isinstance(last, WithProducts):
        return ProductKernel(last, task.entry.title, before, limbs(task), folded(task))
    return Kernel(last, task.entry.title, before, limbs(task), folded(task), phases)


def _sections(task: Task) -> tuple[Graph | WithProducts, Graph | WithProducts, tuple[str, ...]]:
    """What a task computes as written and as emitted, with labels, and the phases that these stand for."""
    with _undisturbed():
        written, emitted, origins = labelled(task)
    return written, emitted, tuple(origin.phase for origin in origins)


def callable_of(task: Task, style: Style, tools: Toolchain) -> Function:
    """The compiled function of a task, from the cache if it is there."""
    robot = task.model

    def make() -> Iterator[Artifact]:
        with _undisturbed():
            chosen = resolved(task)
            yield from emit_artifacts(header(robot, robot.name, (chosen,)), kernel(chosen), style)

    with doing(f"{task.algorithm} of {robot.name}"):
        return cached(f"{task.request} {style}", make, tools)


def folder_of(
    robot: Model,
    tasks: Sequence[Task],
    out: str | os.PathLike[str],
    prefix: str,
    style: Style,
    writer: Backend,
    libraries: Sequence[Library],
    sections: bool = False,
) -> tuple[Path, ...]:
    """The paths of a folder of C with the functions of tasks on one robot, and of libraries made of it."""
    with _undisturbed(), doing(f"C for {robot.name}"):
        tasks = [resolved(task) for task in tasks]
        top = header(robot, prefix, tasks)
        kernels = tuple(
            kernel(task, sections) for task in each(tasks, lambda task: f"{task.algorithm} of {robot.name}")
        )
        files = writer.folder(top, kernels, style)
        made: dict[str, str | bytes] = {}
        for one in each(libraries, str):
            made |= compiled(one, top.c_prefix, files)
    return write_folder({**files, **made}, Path(out))


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Python does not look for garbage meanwhile: a graph has none among its many thousand values."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
