"""Any call of a compiled function: arguments by name or of other types, batches of states, threads.

A call on arrays that C can take as they are, of one state or many, does not come here: the extension's own function
serves it, if there is one.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from codegen.arrays import array_of, shared
from codegen.compilation.binding import function_of
from codegen.compilation.memory import empties
from codegen.errors import SingularError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codegen.compilation.foreign import Binding
    from codegen.emission.artifact import Artifact
    from codegen.ir.graph import Port

    Array = np.ndarray[Any, Any]
    Shape = tuple[int, ...]


LARGEST_INT = 2**53  # up to here every whole number is a double


@dataclass(frozen=True, slots=True, repr=False)
class Call:
    """A function that takes what NumPy makes arrays of; `runtime.Function` says what it does with them."""

    artifact: Artifact
    _bound: Binding

    def __repr__(self) -> str:
        return f"<any call of {self.artifact.symbol}>"

    def __call__(self, *arrays: Any, out: Any = None, threads: int = 1, **named: Any) -> Any:
        """The result for one state or a batch of them; see the class."""
        bound, lead = self._bound, ()
        if named or len(arrays) != bound.given:
            arrays = self._ordered(arrays, named)
        if threads != 1:
            return self._general(arrays, out, threads)
        given = [_plain(array, bound.dtype) for array in arrays]
        for array, shape in zip(given, bound.shapes, strict=True):
            if not lead and type(array) is ndarray and array.ndim > len(shape):
                lead = array.shape[: array.ndim - len(shape)]
        results = empties(lead, bound.results, bound.dtype) if out is None else self._listed(out)
        own = (np.empty(lead, bound.dtype),) if bound.hides else ()
        status = bound.kernel(*given, *results, *own)
        if status < 0:
            return self._general(arrays, out)
        packed = results[0] if bound.pack is None else bound.pack(*results)
        if own and own[0].any():
            raise self._singular(own[0], packed)
        return packed

    def _listed(self, out: Any) -> list[Any]:
        """The results' places as a list, unchecked."""
        return [out] if self._bound.pack is None else list(out) if isinstance(out, tuple | list) else []

    def _ordered(self, arrays: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
        names = [port.name for port in self.artifact.inputs]
        takes = f"{self.artifact.name} takes {', '.join(names) or 'no arguments'}"
        if len(arrays) > len(names):
            raise TypeError(f"{takes}: {len(names)} arguments, not {len(arrays)}")
        for name in named:
            if name not in names:
                raise TypeError(f"{takes}; there is no argument {name!r}")
            if name in names[: len(arrays)]:
                raise TypeError(f"{takes}; {name} is given twice")
        missing = [name for name in names[len(arrays) :] if name not in named]
        if missing:
            raise TypeError(f"{takes}; missing: {', '.join(missing)}")
        return (*arrays, *(named[name] for name in names[len(arrays) :]))

    def _general(self, given: tuple[Any, ...], out: Any, threads: int = 1) -> Any:
        """Any real arrays, any batch shapes."""
        bound = self._bound
        if not isinstance(threads, Integral) or threads < 1:
            raise ValueError(f"{self.artifact.name}: threads must be a whole number of at least 1, not {threads!r}")
        arrays = [self._converted(port, array) for port, array in zip(self.artifact.inputs, given, strict=True)]
        leads = [a.shape[: a.ndim - len(s)] for a, s in zip(arrays, bound.shapes, strict=True)]
        batch = self._batch_shape(leads)
        results = empties(batch, bound.results, bound.dtype) if out is None else self._taken(out, batch)
        overwritten = [] if out is None else results
        batched = [_stepping(array, lead, batch, overwritten) for array, lead in zip(arrays, leads, strict=True)]
        batched += [(result, math.prod(shape)) for result, shape in zip(results, bound.results, strict=True)]
        status = np.empty(batch, bound.dtype)
        self._spread(math.prod(batch), [*batched, (status, 1)] if bound.hides else batched, int(threads))
        given_back = results if out is None else self._listed(out)
        packed = given_back[0] if bound.pack is None else bound.pack(*given_back)
        if bound.hides and status.any():
            raise self._singular(status, packed)
        return packed

    def _singular(self, status: Array, results: Any) -> SingularError:
        where = np.flatnonzero(status.reshape(-1))
        which = f"{len(where)} of {status.size} states, the first number {where[0]}" if status.ndim else "this state"
        return SingularError(
            f"{self.artifact.name}: loops or contact rows are singular, or loops out of reach, at {which}; "
            "with_status() gives the results nonetheless",
            status,
            results,
        )

    def _spread(self, states: int, batched: list[tuple[Array, int]], threads: int) -> None:
        """Evaluate so many states, given as arrays and their steps, on several threads: full lanes for each.

        A state that comes alone takes the kernel for one; in a batch none does, whichever thread it falls to.
        """
        lanes, foreign = self.artifact.lanes, self._bound.foreign
        flat = [(array.reshape(-1), step) for array, step in batched]
        if states == 1:
            foreign.single(*(foreign.view(foreign.pointer, array) for array, _ in flat))
            return
        share = -(-states // (lanes * threads)) * lanes
        spans = [(start, min(share, states - start)) for start in range(0, states, share)] if states else []
        workers = [threading.Thread(target=self._evaluate, args=(flat, *span)) for span in spans[1:]]
        for worker in workers:
            worker.start()
        if spans:
            self._evaluate(flat, *spans[0])
        for worker in workers:
            worker.join()

    def _evaluate(self, flat: list[tuple[Array, int]], start: int, states: int) -> None:
        """Evaluate consecutive states of a batch."""
        foreign = self._bound.foreign
        view, pointer = foreign.view, foreign.pointer
        arguments = [word for array, step in flat for word in (view(pointer, array[start * step :]), step)]
        foreign.batch(states, *arguments, view(pointer, np.empty(self.artifact.work, self._bound.dtype)))

    def _converted(self, port: Port, given: Any) -> Array:
        """The argument as an array of the C's real type that ends in the port's shape."""
        given = array_of(f"{self.artifact.name}: {port.name}", given)
        try:
            array = np.asarray(given)
        except ValueError:
            raise ValueError(f"{self.artifact.name}: {port.name} must be {_expected(port)}, not ragged lists") from None
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{self.artifact.name}: {port.name} must be {_expected(port)}, not {array.dtype}")
        if array.shape[array.ndim - len(port.shape) :] != port.shape or array.ndim < len(port.shape):
            raise ValueError(f"{self.artifact.name}: {port.name} must be {_expected(port)}, not {array.shape}")
        return array.astype(self._bound.dtype, order="C", copy=False)

    def _batch_shape(self, leads: Sequence[Shape]) -> Shape:
        try:
            return np.broadcast_shapes(*leads)
        except ValueError:
            shapes = [f"{p.name} {lead}" for p, lead in zip(self.artifact.inputs, leads, strict=True) if lead]
            raise ValueError(f"{self.artifact.name}: the batch shapes do not broadcast: {', '.join(shapes)}") from None

    def _taken(self, out: Any, batch: Shape) -> list[Array]:
        """The arrays that a caller wants the results in, checked."""
        bound = self._bound
        places = self._listed(out)
        if len(places) != len(bound.results):
            raise TypeError(
                f"{self.artifact.name}: out must be a tuple of {len(bound.results)} arrays, not {type(out).__name__}"
            )
        arrays = []
        for port, place in zip(self.artifact.outputs[: len(places)], places, strict=True):
            speaks = hasattr(place, "__dlpack__") and not isinstance(place, np.ndarray)
            array = shared(f"{self.artifact.name}: out for {port.name}", place) if speaks else place
            arrays.append(array)
            if not isinstance(array, np.ndarray) or array.dtype != bound.dtype:
                given = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
                raise TypeError(
                    f"{self.artifact.name}: out for {port.name} must be an array of {bound.dtype}, not {given}"
                )
            shape = batch + port.shape
            if array.shape != shape:
                raise ValueError(
                    f"{self.artifact.name}: out for {port.name} must have shape {shape}, not {array.shape}"
                )
            if not array.flags.carray:
                more = ", and shared to be written to (DLPack 1.0, NumPy 2.1)" if speaks else ""
                raise ValueError(
                    f"{self.artifact.name}: out for {port.name} must be writable, aligned and C-contiguous{more}"
                )
        for k, array in enumerate(arrays):
            if any(np.may_share_memory(array, other) for other in arrays[:k]):
                raise ValueError(f"{self.artifact.name}: the arrays in out overlap")
        return arrays


def _plain(given: Any, dtype: np.dtype[Any]) -> Any:
    """What is certainly numbers as C takes them; anything else as it is, to be looked at closely."""
    if type(given) in (list, tuple):
        try:
            array = np.asarray(given)
        except ValueError:  # ragged
            return given
    elif type(given) is ndarray:
        array = given
    elif isinstance(given, float) or (type(given) is int and abs(given) <= LARGEST_INT):
        return np.asarray(given, dtype)
    else:
        return given
    return np.asarray(array, dtype, order="C") if array.dtype.kind in "biuf" else given


def _stepping(array: Array, lead: Shape, batch: Shape, overwritten: Sequence[Array]) -> tuple[Array, int]:
    """An argument with the batch's shape, aligned and apart from what the C writes; its step from state to state."""
    shape = array.shape[len(lead) :]
    if lead and lead != batch:
        array = np.ascontiguousarray(np.broadcast_to(array, batch + shape))
    elif not array.flags.aligned:
        array = array.copy()
    if any(np.may_share_memory(array, result) for result in overwritten):
        array = array.copy()
    return array, math.prod(shape) if lead else 0


def _expected(port: Port) -> str:
    shape = ", ".join(("...", *map(str, port.shape)))
    return f"real numbers of shape ({shape})"


def calling(artifact: Artifact, bound: Binding) -> Callable[..., Any]:
    """What users call: a function of the extension, which hands over to `Call` what it does not know, or this alone."""
    others = Call(artifact, bound)
    settings = (others, np.empty, bound.dtype, bound.pack, *bound.results)
    return function_of(artifact, bound.library, settings) or others
