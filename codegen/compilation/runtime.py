"""The callable that users hold: NumPy in, NumPy out, compiled C in between.

It keeps no buffers, so any number of threads may call it at once; cffi lets go of the GIL during the call.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from codegen.compilation.calls import calling
from codegen.compilation.foreign import bind, showing
from codegen.compilation.pickling import made_again
from codegen.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np

    from codegen.compilation.foreign import Binding
    from codegen.emission.artifact import Artifact
    from codegen.ir.counting import Count
    from codegen.ir.graph import Port
    from codegen.ir.pattern import Pattern


class _OwnSignature:
    """What `inspect.signature` says of a function: its arguments by name, which C does not tell."""

    def __get__(self, function: Function | None, _: type[Function]) -> Signature:
        if function is None:
            raise AttributeError("__signature__")
        names = [Parameter(port.name, Parameter.POSITIONAL_OR_KEYWORD) for port in function.inputs]
        more = {"out": None, "threads": 1}
        return Signature(names + [Parameter(x, Parameter.KEYWORD_ONLY, default=usual) for x, usual in more.items()])


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
    __call__: Callable[..., Any] = field(compare=False)
    recipe: Callable[[], Function] | None = field(default=None, compare=False)
    products: Callable[[str], Function] | None = field(default=None, compare=False)

    __signature__ = _OwnSignature()

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
        bound = showing(self.artifact, self._bound, self.artifact.outputs)
        return replace(self, _bound=bound, __call__=calling(self.artifact, bound))

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


def load(artifact: Artifact, extension: Path) -> Function:
    """The callable of a compiled artifact; BuildError if the extension does not load."""
    bound = bind(artifact, extension)
    return Function(artifact, bound, calling(artifact, bound))
