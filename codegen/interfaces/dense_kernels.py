"""Kernels of dense matrices, column by column, as solvers in C take them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from casadi import SX

from codegen import pipeline
from codegen.algorithms import QUANTITIES
from codegen.emission.spec import kernel_of
from codegen.task.header_notes import folded
from codegen.task.limb_symmetry import limbs
from codegen.tracing.sparse_graph import pattern_of, sparse_graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.emission.spec import Kernel, ProductKernel
    from codegen.recursions.composition import Parts
    from codegen.tracing.blocks import Block
    from codegen.tracing.task import Task

    DenseKernel = Kernel | ProductKernel
    """A kernel of dense matrices."""


def dense_kernel(
    task: Task, name: str, about: str, inputs: Mapping[str, SX], results: Mapping[str, SX | Block], parts: Parts
) -> DenseKernel:
    """A kernel of results, made of `parts`, of a task's arguments and further `inputs`, by name; with their zeros."""
    whole = {key: pattern_of(SX.ones(*y.shape)) for key, y in results.items()}
    made = sparse_graph(name, inputs, results, partial(pipeline.passed, task), whole, opened=parts.opened)
    own = {port.name for port in task.signature[0]}
    vectors = {key: key for key in inputs if key in own and key in QUANTITIES and len(QUANTITIES[key].shape) == 1}
    return kernel_of(made.function, about, made.written, limbs(task, vectors), folded(task))
