"""A task's results at arguments that are CasADi's expressions; quaternions may have any norm but zero."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from casadi import SX, reshape, sqrt, sumsqr, vec

from codegen.algorithms import QUANTITIES
from codegen.recursions.composition import INLINE, Parts
from codegen.recursions.products import Result
from codegen.spatial import diagonal
from codegen.tracing.casadi_operators import direct_operators
from codegen.tracing.tangents import tangents
from codegen.tracing.trace import results_or_products, symbols_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.ir.graph import Port
    from codegen.model import Model
    from codegen.tracing.task import Task


def matrix(port: Port) -> tuple[int, int]:
    """The shape of an argument as a matrix: its last axis runs along the rows of all others."""
    columns = port.shape[-1] if len(port.shape) > 1 else 1
    return (port.size // columns if columns else 0), columns


@direct_operators()
def results(task: Task, inputs: Mapping[str, SX], *, loops: bool = False, parts: Parts = INLINE) -> dict[str, Result]:
    """The results of a task, as matrices by name, at arguments; quaternions are normalised.

    By `loops` over columns, in all C, if these pay where it has small vectors, and of parts.
    """
    symbols = symbols_of(task.signature[0])
    apart = parts.apart(symbols)
    made = results_or_products(replace(task, small_vectors=loops), symbols, loops=loops, parts=apart)
    found = parts.at(apart, made, symbols, columns(task, inputs))
    return {port.name: rows_of(x, port) for port, x in zip(task.signature[1], found, strict=True)}


def rows_of(result: Result, port: Port) -> Result:
    """A result as a matrix, its elements row by row; a product is one."""
    rows, columns = matrix(port)
    return reshape(vec(result.T), columns, rows).T if isinstance(result, SX) else result


def columns(task: Task, inputs: Mapping[str, SX]) -> list[SX]:
    """Arguments as the algorithm takes them, row by row; quaternions are normalised."""
    by_name = [inputs[port.name] for port in task.signature[0]]
    names = [port.name for port in task.signature[0]]
    given = [normalised(task.model, x)[0] if is_configuration(n) else x for n, x in zip(names, by_name, strict=True)]
    return [vec(x.T) for x in given]


def is_configuration(name: str) -> bool:
    """Whether an argument is one of positions."""
    return name in QUANTITIES and QUANTITIES[name].shape == ("nq",)


def normalised(model: Model, q: SX) -> tuple[SX, SX]:
    """A configuration with unit quaternions, and what its elements were divided by (nq, both)."""
    parts, norms = SX(q), SX.ones(model.nq)
    for joint, place in zip(model.joints, model.q_slices, strict=True):
        if place.stop > place.start and joint.nq > joint.nv:
            at = slice(place.stop - 4, place.stop)
            norms[at] = sqrt(sumsqr(q[at]))
            parts[at] = q[at] * (1 / norms[at][0])
    return parts, norms


def tangent_maps(model: Model, q: SX) -> tuple[SX, SX]:
    """T of positions (nq x nv), which keeps the norms of quaternions, and what makes tangents of their changes."""
    unit, norms = normalised(model, q)
    rates, velocities = tangents(model, {}, unit)
    return diagonal(norms, model.nq) @ rates, velocities @ diagonal(1 / norms, model.nq)
