"""The SymPy expressions of a function: a matrix or an array for each output; as LaTeX, and as a NumPy function."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import ImmutableDenseMatrix, ImmutableDenseNDimArray, count_ops, lambdify

from codegen.formulas import latex

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from codegen.ir.graph import Port


@dataclass(frozen=True, slots=True, repr=False)
class Expressions(Mapping[str, Any]):
    """One algorithm of one robot in SymPy; `expressions["M"]` is an output.

    Outputs of one or two axes are matrices (columns for one), those of three are arrays, those of none expressions.
    `inputs` are the arguments that are symbols, `arguments` these, flat; `parameters` are the symbols, by names, of
    expressions that were given for numbers of the robot.
    """

    algorithm: str
    robot: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    arguments: tuple[tuple[Any, ...], ...]
    parameters: tuple[Any, ...]
    results: tuple[tuple[Any, ...], ...]

    def __repr__(self) -> str:
        inputs, outputs = ", ".join(map(str, (*self.inputs, *self.parameters))), ", ".join(map(str, self.outputs))
        return f"<Expressions {self.algorithm} of {self.robot}: ({inputs}) -> ({outputs}), {self.size} operations>"

    def __getitem__(self, name: str) -> Any:
        for port, result in zip(self.outputs, self.results, strict=True):
            if port.name == name:
                return arranged(result, port.shape)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (port.name for port in self.outputs)

    def __len__(self) -> int:
        return len(self.outputs)

    @property
    def size(self) -> int:
        """Operations in all expressions together, as SymPy counts them."""
        return int(sum(count_ops(entry) for result in self.results for entry in result))

    @property
    def symbols(self) -> dict[str, Any]:
        """The symbols of the inputs by names, shaped like these."""
        return {port.name: arranged(own, port.shape) for port, own in zip(self.inputs, self.arguments, strict=True)}

    def lambdify(self) -> Callable[..., Any]:
        """A NumPy function of one array for each input (shaped batch + port shape) and a number for each parameter.

        It returns the only output, or a tuple of them; NaN where an expression is not defined.
        """
        ports, number = self.inputs, len(self.inputs) + len(self.parameters)
        symbols = [symbol for own in self.arguments for symbol in own]
        flat = [entry for result in self.results for entry in result]
        compute = lambdify([*symbols, *self.parameters], flat, modules="numpy", cse=True)

        def function(*arrays: ArrayLike) -> Any:
            if len(arrays) != number:
                raise TypeError(f"{self.algorithm} takes {number} arguments, not {len(arrays)}")
            columns, batches = list[Any](), list[tuple[int, ...]]()
            for port, array in zip(ports, arrays, strict=False):
                given = np.asarray(array, float)
                lead = given.shape[: given.ndim - len(port.shape)]
                if given.shape != lead + port.shape:
                    raise ValueError(f"{self.algorithm}: {port.name} has shape {given.shape}, not (..., {port})")
                batches.append(lead)
                columns += [*np.moveaxis(given.reshape(*lead, port.size), -1, 0)]
            batch = np.broadcast_shapes(*batches)
            found = iter(compute(*columns, *arrays[len(ports) :]))
            results = tuple(_stacked(found, port, batch) for port in self.outputs)
            return results[0] if len(results) == 1 else results

        return function

    def latex(self, *, short: bool = False) -> str:
        r"""One equation of LaTeX for each output (of arrays for each matrix in them), lines apart.

        Names of joints are set upright. With `short`, \sin and \cos of coordinates are s and c with the numbers of
        these from one, as in textbooks: c_2 is \cos q_2, s_{12} is \sin(q_1 + q_2).
        """
        pairs = zip(self.outputs, self.results, strict=True)
        angles = [symbol for symbols in self.arguments[:1] for symbol in symbols] if short else []
        return "\n".join(line for port, result in pairs for line in latex.equations(port, result, angles))


def arranged(entries: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """Row-major entries as an expression, a matrix or an array of this shape."""
    if not shape:
        return entries[0]
    if len(shape) < 3:
        return ImmutableDenseMatrix(shape[0], math.prod(shape[1:]), entries)
    return ImmutableDenseNDimArray(entries, shape)


def _stacked(entries: Iterator[Any], port: Port, batch: tuple[int, ...]) -> NDArray[np.float64]:
    """The next entries of a flat row as the batch of a port."""
    own = [np.broadcast_to(np.asarray(next(entries), float), batch) for _ in range(port.size)]
    flat = np.stack(own, axis=-1) if own else np.zeros((*batch, 0))
    return flat.reshape((*batch, *port.shape))
