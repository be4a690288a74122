"""Contestants from shared objects: the C types of their calls, and the memory that they work in."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from opcount.bench.contest import Contestant

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from opcount.bench.contest import Scenario

    Array = NDArray[np.float64]

REALS = ctypes.POINTER(ctypes.c_double)


@dataclass(frozen=True, slots=True, repr=False)
class Field:
    """The arrays of a scenario and room for a result of `width` reals per state, as C sees them."""

    arrays: tuple[Array, ...]
    starts: Any
    steps: Any

    def __repr__(self) -> str:
        return f"<Field of {len(self.arrays)} arrays, {len(self.arrays[0])} states>"

    @property
    def states(self) -> Any:
        return ctypes.c_size_t(len(self.arrays[0]))

    @property
    def out(self) -> Array:
        return self.arrays[-1]


def pointer(array: Array) -> Any:
    """The array's first number, for C; the array must outlive it."""
    return array.ctypes.data_as(REALS)


def field(scenario: Scenario, width: int) -> Field:
    """Copies of the scenario's inputs, and a result."""
    arrays = (*(np.array(values, order="C") for values in scenario.inputs), np.empty((scenario.states, width)))
    starts = (REALS * len(arrays))(*map(pointer, arrays))
    return Field(arrays, starts, (ctypes.c_ssize_t * len(arrays))(*(array.shape[1] for array in arrays)))


def plain(label: str, scenario: Scenario, driver: ctypes.CDLL, library: Path, symbol: str, width: int) -> Contestant:
    """A C function (inputs..., output) whose output has `width` reals."""
    place, code = field(scenario, width), ctypes.CDLL(str(library))
    kernel = ctypes.cast(getattr(code, symbol), ctypes.c_void_p)
    driver.time_plain.restype = ctypes.c_double

    def run(rounds: int, keep: ctypes.CDLL = code) -> float:
        count = len(place.arrays)
        return float(driver.time_plain(kernel, count, _size(rounds), place.states, place.starts, place.steps))

    run(0)
    return Contestant(label, run, scenario.states, place.out.copy(), str(library), symbol)


def batch(
    label: str, scenario: Scenario, driver: ctypes.CDLL, library: Path, symbol: str, width: int, work: int
) -> Contestant:
    """A C function (states, pointer and step of every input and of the output, `work` reals)."""
    place, code, room = field(scenario, width), ctypes.CDLL(str(library)), np.empty(max(work, 1))
    kernel = ctypes.cast(getattr(code, symbol), ctypes.c_void_p)
    driver.time_batch.restype = ctypes.c_double

    def run(rounds: int, keep: ctypes.CDLL = code) -> float:
        sizes = len(place.arrays), _size(rounds), place.states
        return float(driver.time_batch(kernel, *sizes, place.starts, place.steps, pointer(room)))

    run(0)
    return Contestant(label, run, scenario.states, place.out.copy())


def casadi(label: str, scenario: Scenario, driver: ctypes.CDLL, library: Path, function: Any) -> Contestant:
    """A C function that CasADi generated from `function`: as many inputs as the scenario, one output."""
    place, code = field(scenario, function.nnz_out()), ctypes.CDLL(str(library))
    kernel = ctypes.cast(getattr(code, function.name()), ctypes.c_void_p)
    kinds = (REALS, REALS, ctypes.c_longlong, ctypes.c_double)
    sizes = (function.sz_arg(), function.sz_res(), function.sz_iw(), function.sz_w())
    work = [(kind * max(size, 1))() for kind, size in zip(kinds, sizes, strict=True)]
    driver.time_casadi.restype = ctypes.c_double

    def run(rounds: int, keep: ctypes.CDLL = code) -> float:
        counts = len(scenario.inputs), 1, _size(rounds), place.states
        return float(driver.time_casadi(kernel, *counts, place.starts, place.steps, *work))

    run(0)
    return Contestant(label, run, scenario.states, place.out.copy())


def _size(number: int) -> Any:
    return ctypes.c_size_t(number)
