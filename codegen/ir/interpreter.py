"""A graph evaluated with NumPy: the living definition of every operation.

Slow and plain on purpose; the C that rigidc emits and every pass are tested against it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.ir.operations import CONST, INPUT, OPERATIONS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from codegen.ir.graph import Graph


def interpret(graph: Graph, *arrays: ArrayLike) -> tuple[NDArray[np.float64], ...]:
    """The outputs, shaped batch + port shape, for inputs shaped batch + port shape (batches broadcast).

    Arguments may be complex, so that imaginary steps of them give derivatives.
    """
    if len(arrays) != len(graph.inputs):
        raise TypeError(f"{graph.name} takes {len(graph.inputs)} arguments, not {len(arrays)}")
    batches, flat = [], []
    for port, array in zip(graph.inputs, arrays, strict=True):
        given = np.asarray(array, complex if np.iscomplexobj(array) else float)
        lead = given.shape[: given.ndim - len(port.shape)]
        if given.shape != lead + port.shape:
            raise ValueError(f"{graph.name}: {port.name} has shape {given.shape}, not (..., {port})")
        batches.append(lead)
        flat.append(given.reshape(*lead, port.size))
    batch = np.broadcast_shapes(*batches)
    known = _evaluate(graph, flat)
    outputs = []
    for port, result in zip(graph.outputs, graph.results, strict=True):
        columns = [np.broadcast_to(known[index], batch) for index in result]
        stacked = np.stack(columns, axis=-1) if columns else np.zeros((*batch, 0))
        outputs.append(stacked.reshape((*batch, *port.shape)))
    return tuple(outputs)


def _evaluate(graph: Graph, flat: list[NDArray[np.float64]]) -> list[Any]:
    known: list[Any] = []
    with np.errstate(all="ignore"):
        for value in graph.values:
            if value.op == CONST:
                known.append(np.float64(value.constant))
            elif value.op == INPUT:
                known.append(flat[value.port][..., value.element])
            else:
                known.append(OPERATIONS[value.op].numpy(*[known[arg] for arg in value.args]))
    return known
