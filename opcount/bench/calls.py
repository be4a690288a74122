"""Contestants from shared objects: the C types of their calls, and the memory that they work in."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from opcount.bench.contest import Contestant

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from opcount.bench.contest import Scenario

    Array = NDArray[np.float64]

REALS = ctypes.POINTER(ctypes.c_double)


def pointer(array: Array) -> Any:
    """The array's first number, for C; the array must outlive it."""
    return array.ctypes.data_as(REALS)


def pointers(arrays: tuple[Array, ...]) -> tuple[Any, Any]:
    """Where each array (states, width) starts, and its width."""
    starts = (REALS * len(arrays))(*map(pointer, arrays))
    return starts, (ctypes.c_ssize_t * len(arrays))(*(array.shape[1] for array in arrays))


def plain(label: str, scenario: Scenario, driver: ctypes.CDLL, library: Path, symbol: str, width: int) -> Contestant:
    """A C function (inputs..., output) whose output has `width` reals."""
    out = np.empty((scenario.states, width))
    arrays = (*map(np.ascontiguousarray, scenario.inputs), out)
    starts, steps = pointers(arrays)
    time = driver.time_plain
    time.restype = ctypes.c_double
    code = ctypes.CDLL(str(library))
    kernel = ctypes.cast(getattr(code, symbol), ctypes.c_void_p)
    count = len(arrays)

    def run(rounds: int, keep: Any = (arrays, code)) -> float:
        assert keep
        return float(time(kernel, count, ctypes.c_size_t(rounds), ctypes.c_size_t(len(out)), starts, steps))

    run(0)
    return Contestant(label, run, scenario.states, out.copy(), str(library), symbol)


def casadi(label: str, scenario: Scenario, driver: ctypes.CDLL, library: Path, function: Any) -> Contestant:
    """A C function that CasADi generated from `function`: as many inputs as the scenario, one output."""
    out = np.empty((scenario.states, function.nnz_out()))
    arrays = (*map(np.ascontiguousarray, scenario.inputs), out)
    starts, steps = pointers(arrays)
    arg = (REALS * max(function.sz_arg(), 1))()
    res = (REALS * max(function.sz_res(), 1))()
    iw = (ctypes.c_longlong * max(function.sz_iw(), 1))()
    w = (ctypes.c_double * max(function.sz_w(), 1))()
    time = driver.time_casadi
    time.restype = ctypes.c_double
    code = ctypes.CDLL(str(library))
    kernel = ctypes.cast(getattr(code, function.name()), ctypes.c_void_p)
    inputs = len(scenario.inputs)

    def run(rounds: int, keep: Any = (arrays, code)) -> float:
        assert keep
        sizes = ctypes.c_size_t(rounds), ctypes.c_size_t(len(out))
        return float(time(kernel, inputs, 1, *sizes, starts, steps, arg, res, iw, w))

    run(0)
    return Contestant(label, run, scenario.states, out.copy(), str(library), function.name())
