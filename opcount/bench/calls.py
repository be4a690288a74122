"""Contestants from shared objects: the C types of their calls, and the memory that they work in."""

from __future__ import annotations

import ctypes
import shutil
from dataclasses import dataclass
from itertools import cycle
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from opcount.bench.race import Contestant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from opcount.bench.race import Scenario

    Array = NDArray[np.float64]

REALS = ctypes.POINTER(ctypes.c_double)
COPIES, PLACES, APART, LINE = 5, 4, 8, 8
"""Copies of a shared object, and sets of arrays, that readings take in turn: where in memory the same code and its
arrays lie makes it up to a fifth, and rarely more, slower, in one place out of ten or so. The median leaves them out.
Then reals between columns, and those of a line of memory.
"""


@dataclass(frozen=True, slots=True, repr=False)
class Field:
    """The arrays of a scenario and room for its results, as C sees them; `first` is the first result by states.

    `steps` lead from state to state. With those `in_place`, results of every state overwrite those of the one before,
    as in a controller's loop, and as in Pinocchio's data.
    """

    first: Array
    arrays: tuple[Array, ...]
    starts: Any
    steps: Any
    in_place: Any

    def __repr__(self) -> str:
        return f"<Field of {len(self.arrays)} arrays, {len(self.first)} states>"

    @property
    def states(self) -> Any:
        return ctypes.c_size_t(len(self.first))


def pointer(array: Array) -> Any:
    """The array's first number, for C; the array must outlive it."""
    return array.ctypes.data_as(REALS)


def fields(scenario: Scenario, widths: Sequence[int], columns: bool = False) -> tuple[Field, ...]:
    """Equal fields in several places."""
    return tuple(field(scenario, widths, columns) for _ in range(PLACES))


def field(scenario: Scenario, widths: Sequence[int], columns: bool) -> Field:
    """Copies of the scenario's inputs, and results of so many reals each, states in rows or in columns.

    Results begin where lines of memory do, as Eigen's, in which Pinocchio has its own, and are zero at first.
    """
    results = [_aligned(scenario.states, width) for width in widths]
    given = [np.array(values, order="C") for values in scenario.inputs]
    arrays = [_columns(values) if columns else values for values in (*given, *results)]
    starts = (REALS * len(arrays))(*map(pointer, arrays))
    apart = [array.strides[columns] // array.itemsize for array in arrays]
    kind = ctypes.c_ssize_t * len(arrays)
    steps, in_place = kind(*apart), kind(*apart[: len(given)])
    return Field(arrays[len(given)], tuple(arrays), starts, steps, in_place)


def _columns(values: Array) -> Array:
    """A copy whose states lie in columns, a few numbers more apart than there are states: not all in one cache set.

    Every row begins where a line of memory does, if there are as many states as fill lines.
    """
    room = _aligned(values.shape[1], len(values) + APART)
    room.T[: len(values)] = values
    return room.T[: len(values)]


def _aligned(*shape: int) -> Array:
    """Zeros that begin where a line of memory does."""
    memory = np.zeros(prod(shape) + LINE)
    first = -memory.ctypes.data % (LINE * memory.itemsize) // memory.itemsize
    return memory[first : first + prod(shape)].reshape(shape)


def turns(places: Sequence[Field], library: Path, symbol: str) -> Iterator[tuple[Field, tuple[ctypes.CDLL, Any]]]:
    """A place, and a function from a copy of its shared object, for every reading; the first place comes first."""
    found = []
    for k in range(COPIES):
        copy = library.with_name(f"{library.stem}_{k}.so")
        if not copy.exists():
            shutil.copyfile(library, copy)
        code = ctypes.CDLL(str(copy))
        found.append((code, ctypes.cast(getattr(code, symbol), ctypes.c_void_p)))
    return zip(cycle(places), cycle(found), strict=False)


def plain(
    label: str, scenario: Scenario, driver: ctypes.CDLL, library: Path, symbol: str, widths: Sequence[int]
) -> Contestant:
    """A C function (inputs..., outputs...) whose outputs have `widths` reals, timed with its results in one place."""
    places = fields(scenario, widths)
    turn = turns(places, library, symbol)
    driver.time_plain.restype = ctypes.c_double

    def run(rounds: int) -> float:
        place, (_, kernel) = next(turn)
        sizes, steps = (len(place.arrays), _size(rounds), place.states), place.in_place if rounds else place.steps
        return float(driver.time_plain(kernel, *sizes, place.starts, steps))

    run(0)
    return Contestant(label, run, scenario.states, places[0].first.copy(), str(library), symbol)


def batch(
    label: str,
    scenario: Scenario,
    driver: ctypes.CDLL,
    library: Path,
    symbol: str,
    widths: Sequence[int],
    work: int,
    *,
    columns: bool = False,
) -> Contestant:
    """A C function (states, pointer and step of every input and output, `work` reals), states in rows or columns."""
    places, room = fields(scenario, widths, columns), np.empty(max(work, 1))
    turn = turns(places, library, symbol)
    driver.time_batch.restype = ctypes.c_double

    def run(rounds: int) -> float:
        place, (_, kernel) = next(turn)
        sizes = len(place.arrays), _size(rounds), place.states
        return float(driver.time_batch(kernel, *sizes, place.starts, place.steps, pointer(room)))

    run(0)
    return Contestant(label, run, scenario.states, places[0].first.copy())


def casadi(label: str, scenario: Scenario, driver: ctypes.CDLL, library: Path, function: Any) -> Contestant:
    """A C function that CasADi generated from `function`, of as many inputs as the scenario; timed as by `plain`."""
    outputs = function.n_out()
    places = fields(scenario, [function.nnz_out(k) for k in range(outputs)])
    turn = turns(places, library, function.name())
    kinds = (REALS, REALS, ctypes.c_longlong, ctypes.c_double)
    sizes = (function.sz_arg(), function.sz_res(), function.sz_iw(), function.sz_w())
    work = [(kind * max(size, 1))() for kind, size in zip(kinds, sizes, strict=True)]
    driver.time_casadi.restype = ctypes.c_double

    def run(rounds: int) -> float:
        place, (_, kernel) = next(turn)
        counts = len(scenario.inputs), outputs, _size(rounds), place.states
        steps = place.in_place if rounds else place.steps
        return float(driver.time_casadi(kernel, *counts, place.starts, steps, *work))

    run(0)
    return Contestant(label, run, scenario.states, places[0].first.copy())


def _size(number: int) -> Any:
    return ctypes.c_size_t(number)
