"""A function of CasADi's at all nodes of a horizon in one call, over arrays of all nodes.

Its expressions may call functions of compiled C, node by node. If all of them are expanded, the whole is straight-line
code: rigidc's passes and its C in SIMD lanes take many nodes at once.
"""

from __future__ import annotations

from functools import partial
from hashlib import sha256
from math import copysign, isinf
from typing import TYPE_CHECKING, Any

import numpy as np
from casadi import OP_CALL, SX, Function, vertcat

from codegen import passes
from codegen.compilation.cache import cached
from codegen.compilation.compiler import toolchain
from codegen.emission.emit import emit_artifacts
from codegen.emission.spec import Header, Kernel
from codegen.errors import RobotError
from codegen.garbage import undisturbed
from codegen.ir.counting import count
from codegen.ir.graph import Port, from_casadi
from codegen.progress import doing
from codegen.task.options import style_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

    from codegen.compilation.runtime import Function as Compiled
    from codegen.emission.artifact import Artifact

    Arrays = Mapping[str, NDArray[np.float64]]

FAR = 1e30
"""Where a bound is that is infinite: C of constants has no infinity."""


class Evaluated:
    """A function at so many nodes, in `lanes` or one after the other; RobotError for lanes of compiled functions."""

    __slots__ = ("_function", "_inputs", "_numbers", "_results", "_run")

    def __init__(self, function: Function, nodes: int, *, lanes: bool = False) -> None:
        self._function = function
        sizes = [function.nnz_in(key) for key in function.name_in()]
        self._numbers = np.zeros(nodes * sum(sizes))
        parts = np.split(self._numbers, nodes * np.cumsum(sizes)[:-1]) if sizes else []
        self._inputs = {key: x.reshape(nodes, -1) for key, x in zip(function.name_in(), parts, strict=True)}
        self._results = {key: np.zeros((nodes, function.nnz_out(key))) for key in function.name_out()}
        self._run = (_in_lanes if lanes else _mapped)(function, self._inputs, self._results)

    def __repr__(self) -> str:
        return f"Evaluated({self._function})"

    def __call__(self, given: Mapping[str, ArrayLike]) -> dict[str, NDArray[np.float64]]:
        """Nonzeros of results by name (nodes x nonzeros, the same arrays in every call); RobotError for bad numbers."""
        if given.keys() != self._inputs.keys():
            raise RobotError(f"give numbers for {', '.join(self._inputs)}, not for {', '.join(given) or 'nothing'}")
        for name, x in self._inputs.items():
            numbers = np.asarray(given[name], dtype=np.float64)
            if numbers.shape != x.shape:
                raise _wrong(name, x)
            x[:] = numbers
        if not np.isfinite(self._numbers).all():
            raise next(_wrong(name, x) for name, x in self._inputs.items() if not np.isfinite(x).all())
        self._run()
        return self._results


def _wrong(name: str, x: NDArray[np.float64]) -> RobotError:
    return RobotError(f"{name}: {x.shape[0]} x {x.shape[1]} finite numbers are needed, one row for each node")


def _mapped(function: Function, inputs: Arrays, results: Arrays) -> Any:
    """A call of CasADi's that reads and writes these arrays."""
    nodes = next(iter(results.values())).shape[0]
    buffer: Any
    buffer, run = (function.map(nodes) if nodes > 1 else function).buffer()
    for number, x in enumerate(inputs.values()):
        buffer.set_arg(number, x.reshape(-1).data)
    for number, y in enumerate(results.values()):
        buffer.set_res(number, y.reshape(-1).data)
    return partial(_kept, buffer, run)


def _kept(buffer: Any, run: Any) -> None:
    """The buffer lives as long as what runs."""
    del buffer
    run()


def _in_lanes(function: Function, inputs: Arrays, results: Arrays) -> Any:
    """A call of rigidc's C that reads and writes these arrays."""
    compiled = in_lanes(function)
    places = [results[port.name] for port in compiled.outputs]
    return partial(
        compiled, *(inputs[port.name] for port in compiled.inputs), out=places if len(places) > 1 else places[0]
    )


def in_lanes(function: Function) -> Compiled:
    """A function of nonzeros that are not none; results that are infinite are +-FAR.

    RobotError if it calls compiled functions, or if there is an operation or number that C has not.
    """
    plain = function.expand()
    given = {key: SX.sym(key, plain.nnz_in(key)) for key in plain.name_in() if plain.nnz_in(key)}
    results = plain.call([given.get(key, SX(0, 1)) for key in plain.name_in()])
    found = {key: y.nonzeros() for key, y in zip(plain.name_out(), results, strict=True) if y.nnz()}
    columns = [vertcat(*[_finite(x) for x in y]) for y in found.values()]
    traced = Function(function.name(), [*given.values()], columns, {"live_variables": False})
    tools = toolchain()
    style = style_of("float64", "fast", tools)

    def make() -> Iterator[Artifact]:
        if OP_CALL in {traced.instruction_id(k) for k in range(traced.n_instructions())}:
            raise RobotError(f"{traced.name()}: lanes need functions of to_casadi(..., expand=True)")
        taken = tuple(Port(key, (x.numel(),)) for key, x in given.items())
        with undisturbed():
            written = from_casadi(traced, taken, tuple(Port(key, (len(y),)) for key, y in found.items()), traced.name())
            kernel = Kernel(passes.run(written), "rows, cost and derivatives of a stage", count(written))
            yield from emit_artifacts(Header("stage", "ocp", 0, 0), kernel, style)

    with doing(f"{function.name()} in lanes"):
        return cached(f"{sha256(traced.serialize().encode()).hexdigest()} {style}", make, tools)


def _finite(x: Any) -> Any:
    """An expression, or +-FAR where it is infinite, or an infinite number less another one."""
    for part in (x, *(x.dep(k) for k in range(x.n_dep()))):
        if part.is_constant() and isinf(float(part)):
            return SX(copysign(FAR, float(part)))
    return x
