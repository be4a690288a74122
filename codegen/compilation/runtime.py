"""The callable that users hold: NumPy in, NumPy out, compiled C in between.

It keeps no buffers, so any number of threads may call it at once; cffi lets go of the GIL during the call.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import asarray, empty, ndarray

from codegen.arrays import array_of, shared
from codegen.compilation.foreign import bind, showing
from codegen.compilation.memory import empties
from codegen.compilation.pickling import made_again
from codegen.errors import BuildError, SingularError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from codegen.compilation.foreign import Binding
    from codegen.emission.artifact import Artifact
    from codegen.ir.counting import Count
    from codegen.ir.graph import Port
    from codegen.ir.pattern import Pattern

    Array = np.ndarray[Any, Any]
    Shape = tuple[int, ...]


LARGEST_INT = 2**53  # up to here every whole number is a double


@dataclass(frozen=True, slots=True, repr=False)
class Function:
    """A generated function on NumPy arrays.

    Call it with one array per input, in order or by name. An input has its port's shape, with any batch
    shape in front; batch shapes broadcast, and the results carry the batch shape. `out` takes the result (a
    tuple of arrays if there are several): right dtype and shape, C-contiguous; it may overlap the inputs.
    Arrays of other libraries are taken too, by `__dlpack__` where NumPy knows no other way, if they lie on the CPU.
    `threads` is how many threads share a batch; the results do not depend on it.

    Raises TypeError for arguments that are missing, unknown or no real numbers, ValueError for wrong shapes, and
    SingularError at states where a loop or a set of contact rows is singular, or a loop cannot be closed (`with_status`
    never raises that). Pickled, it is the `recipe` that it was built by: another process takes it from the cache, or
    builds it again.
    """

    artifact: Artifact
    _bound: Binding
    recipe: Callable[[], Function] | None = field(default=None, compare=False)
    products: Callable[[str], Function] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, self.inputs))
        outputs = ", ".join(map(str, self.outputs))
        return f"<Function {self.artifact.symbol}({inputs}) -> {outputs}, {self.dtype}, {self.count}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.recipe is None:
            raise TypeError(f"{self.name} was not made by codegen.build, and so cannot be pickled")
        return made_again, (self.recipe, not self._bound.hides)

    @property
    def name(self) -> str:
        """The algorithm's name."""
        return self.artifact.name

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The arguments, in order."""
        return self.artifact.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        """The results, in order."""
        return self.artifact.outputs[: len(self._bound.results)]

    def with_status(self) -> Function:
        """The same function with its status as last result: 0 where all was regular; it never raises SingularError.

        A function that cannot fail has no status and is returned as it is.
        """
        if not self._bound.hides:
            return self
        return replace(self, _bound=showing(self.artifact, self._bound, self.artifact.outputs))

    @property
    def jvp(self) -> Function:
        """The directional derivative: arguments, and a direction of each -> derivatives of the results along these.

        `aba.jvp(q, v, tau, dq, dv, dtau)` is da. The direction of a configuration has nv numbers, as the derivative of
        one does: it moves along the tangents of joints, and where loops tie joints, along what they allow. Compiled
        when first used. BuildError of a function that is a product already.
        """
        return self._product("jvp")

    @property
    def vjp(self) -> Function:
        """The adjoint: arguments, and weights of the results -> the gradient of their sum with these weights.

        `aba.vjp(q, v, tau, abar)` is (qbar, vbar, taubar); see `jvp`. Matrices take dense weights.
        """
        return self._product("vjp")

    @property
    def hvp(self) -> Function:
        """The Hessian-vector product: arguments, weights, and directions -> how the gradient that `vjp` gives changes.

        `aba.hvp(q, v, tau, abar, dq, dv, dtau)` is (dqbar, dvbar, dtaubar); see `jvp` and `vjp`.
        """
        return self._product("hvp")

    def _product(self, kind: str) -> Function:
        if self.products is None:
            raise BuildError(f"{self.name} is no algorithm that codegen.build made, and so has no {kind}")
        made = self.products(kind)
        return made if self._bound.hides else made.with_status()

    def pattern(self, name: str) -> Pattern:
        """Where the nonzeros of a sparse result stand; ValueError if it has no such result, or a dense one."""
        for port in self.outputs:
            if port.name == name and port.pattern:
                return port.pattern
        known = ", ".join(port.name for port in self.outputs if port.pattern)
        sparse = f"its sparse results are {known}" if known else "build it with sparse=True to have matrices so"
        raise ValueError(f"{self.name} has no sparse result {name!r}; {sparse}")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The real type of the C."""
        return self._bound.dtype

    @property
    def count(self) -> Count:
        """Operations as emitted: exactly the operators of the C."""
        return self.artifact.count

    @property
    def count_written(self) -> Count:
        """Operations of the algorithm as written, before any pass."""
        return self.artifact.count_written

    @property
    def source(self) -> str:
        """The emitted C."""
        return self.artifact.source

    @property
    def header(self) -> str:
        """The emitted header."""
        return self.artifact.header

    def __call__(self, *arrays: Any, out: Any = None, threads: int = 1, **named: Any) -> Any:
        """The result for one state or a batch of them; see the class."""
        bound = self._bound
        if threads != 1:
            return self._general(self._ordered(arrays, named), out, threads)
        if named or len(arrays) != bound.given:
            arrays = self._ordered(arrays, named)
        # One state, if everything is as the C wants it.
        if out is not None:
            results = self._listed(out)
        elif bound.pack is None:
            results = [empty(bound.results[0], bound.dtype)]
        else:
            results = [empty(shape, bound.dtype) for shape in bound.results]
        own = (empty((), bound.dtype),) if bound.hides else ()
        status = bound.kernel(*arrays, *results, *own)
        if status < 0:
            return self._together(arrays, out)
        packed = results[0] if bound.pack is None else bound.pack(*results)
        if status and own:
            raise self._singular(own[0], packed)
        return packed

    def _listed(self, out: Any) -> list[Any]:
        """The results' places as a list, unchecked."""
        return [out] if self._bound.pack is None else list(out) if isinstance(out, tuple | list) else []

    def _together(self, arrays: tuple[Any, ...], out: Any) -> Any:
        """A batch, or Python's own numbers among the arguments, also by one call if the rest is as the C wants it."""
        bound, lead, given = self._bound, (), []
        for array, shape in zip(arrays, bound.shapes, strict=True):
            if not lead and type(array) is ndarray and array.ndim > len(shape):
                lead = array.shape[: array.ndim - len(shape)]
            plain = isinstance(array, float) or (type(array) is int and abs(array) <= LARGEST_INT)
            given.append(asarray(array, bound.dtype) if plain else array)
        results = empties(lead, bound.results, bound.dtype) if out is None else self._listed(out)
        own = (empty(lead, bound.dtype),) if bound.hides else ()
        if bound.kernel(*given, *results, *own) < 0:
            return self._general(arrays, out)
        packed = results[0] if bound.pack is None else bound.pack(*results)
        if own and own[0].any():
            raise self._singular(own[0], packed)
        return packed

    def _ordered(self, arrays: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
        names = [port.name for port in self.inputs]
        takes = f"{self.name} takes {', '.join(names) or 'no arguments'}"
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
            raise ValueError(f"{self.name}: threads must be a whole number of at least 1, not {threads!r}")
        arrays = [self._converted(port, array) for port, array in zip(self.inputs, given, strict=True)]
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
            f"{self.name}: loops or contact rows are singular, or loops out of reach, at {which}; with_status() gives "
            "the results nonetheless",
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
        foreign.batch(states, *arguments, view(pointer, np.empty(self.artifact.work, self.dtype)))

    def _converted(self, port: Port, given: Any) -> Array:
        """The argument as an array of the C's real type that ends in the port's shape."""
        given = array_of(f"{self.name}: {port.name}", given)
        try:
            array = np.asarray(given)
        except ValueError:
            raise ValueError(f"{self.name}: {port.name} must be {_expected(port)}, not ragged lists") from None
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{self.name}: {port.name} must be {_expected(port)}, not {array.dtype}")
        if array.shape[array.ndim - len(port.shape) :] != port.shape or array.ndim < len(port.shape):
            raise ValueError(f"{self.name}: {port.name} must be {_expected(port)}, not {array.shape}")
        return array.astype(self._bound.dtype, order="C", copy=False)

    def _batch_shape(self, leads: Sequence[Shape]) -> Shape:
        try:
            return np.broadcast_shapes(*leads)
        except ValueError:
            shapes = [f"{p.name} {lead}" for p, lead in zip(self.inputs, leads, strict=True) if lead]
            raise ValueError(f"{self.name}: the batch shapes do not broadcast: {', '.join(shapes)}") from None

    def _taken(self, out: Any, batch: Shape) -> list[Array]:
        """The arrays that a caller wants the results in, checked."""
        bound = self._bound
        places = self._listed(out)
        if len(places) != len(bound.results):
            raise TypeError(
                f"{self.name}: out must be a tuple of {len(bound.results)} arrays, not {type(out).__name__}"
            )
        arrays = []
        for port, place in zip(self.outputs, places, strict=True):
            speaks = hasattr(place, "__dlpack__") and not isinstance(place, np.ndarray)
            array = shared(f"{self.name}: out for {port.name}", place) if speaks else place
            arrays.append(array)
            if not isinstance(array, np.ndarray) or array.dtype != bound.dtype:
                given = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
                raise TypeError(f"{self.name}: out for {port.name} must be an array of {bound.dtype}, not {given}")
            shape = batch + port.shape
            if array.shape != shape:
                raise ValueError(f"{self.name}: out for {port.name} must have shape {shape}, not {array.shape}")
            if not array.flags.carray:
                more = ", and shared to be written to (DLPack 1.0, NumPy 2.1)" if speaks else ""
                raise ValueError(f"{self.name}: out for {port.name} must be writable, aligned and C-contiguous{more}")
        for k, array in enumerate(arrays):
            if any(np.may_share_memory(array, other) for other in arrays[:k]):
                raise ValueError(f"{self.name}: the arrays in out overlap")
        return arrays


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


def load(artifact: Artifact, extension: Path) -> Function:
    """The callable of a compiled artifact; BuildError if the extension does not load."""
    return Function(artifact, bind(artifact, extension))
