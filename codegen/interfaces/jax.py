"""JAX: rigidc's C as a JAX function on the CPU, with exact derivatives, through XLA's foreign function interface.

(JAX documentation, "Foreign function interface (FFI)".) One handler computes the value, one the adjoint product, and
one, in a library that is built when it is first wanted, the directional product. Each takes any number of states, which
`jax.vmap` hands over in one call, and goes through them in SIMD lanes. Matrices cross the border column by column.
"""

from __future__ import annotations

import ctypes
from functools import cache, partial
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING, Any

from codegen.compilation.compiler import toolchain
from codegen.compilation.pickling import named_results
from codegen.errors import RobotError
from codegen.interfaces.adjoint import ADJOINT, FORWARD, VALUE, forward, library_of, value_and_adjoint, written
from codegen.interfaces.jax_product import product_of
from codegen.task.options import style_of, task_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codegen.emission.spec import Header
    from codegen.ir.graph import Port
    from codegen.model import Contact, Model
    from codegen.pipeline import Wrapped
    from codegen.tracing.task import Task

NEEDED = "0.5"


def to_jax(
    robot: Model,
    algorithm: str,
    *,
    frames: Sequence[str] = (),
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] | None = None,
    iterations: int = 3,
    target: str = "native",
    trig: str = "fast",
    compiler: str | None = None,
    without: Sequence[str] = (),
) -> Callable[..., Any]:
    """An algorithm (or `auto`) on one robot as a JAX function of float64 arrays on the CPU.

    Arguments and results are those of `build`, for one state; `jax.vmap` takes many at a time, `jax.jit`, `jax.grad`,
    `jax.vjp`, `jax.jvp`, `jax.jacfwd` and `jax.jacrev` work on it. Quaternions are normalised, and gradients are those
    by their raw numbers.
    Where a status is not 0, results are finite all the same. Options are those of `build`.
    RobotError for a name that does not exist or where JAX is missing, too old or without float64; BuildError if no
    compiler works.
    """
    jax = _jax()
    task = task_of(robot, algorithm, frames, external, parameters, contacts, iterations, without=without)
    tools = toolchain(target, compiler=compiler)
    style = style_of("float64", trig, tools)
    peer, flag = f"JAX {jax.__version__}", f"-I{jax.ffi.include_dir()}"
    binary, facts = library_of(task, peer, interface, style, tools, flag)

    def handler(what: str) -> str:
        if what != FORWARD:
            return _registered(binary, jax, f"{facts['symbol']}_{what}")
        products, own = library_of(task, f"{peer} {FORWARD}", forward_interface, style, tools, flag)
        return _registered(products, jax, f"{own['symbol']}_{what}")

    return _function(jax, facts, handler)


def interface(top: Header, task: Task, *, facts: dict[str, Any]) -> Wrapped:
    """Kernels of the value and the adjoint, and the C of their handlers; `facts` learn what Python has to know."""
    if task.iterations is None:
        raise RobotError(f"{task.algorithm}: for JAX the number of iterations is fixed; leave it out, or give a number")
    return written("jax", top, task, value_and_adjoint(task, "JAX"), _slots, facts)


def folder(top: Header, task: Task, *, derivatives: int) -> Wrapped:
    """What a folder has for JAX: handlers of the value, and with derivatives of adjoint and directional products."""
    if task.iterations is None:
        raise RobotError(f"{task.algorithm}: for JAX the number of iterations is fixed; leave it out, or give a number")
    value, adjoint = value_and_adjoint(task, "JAX")
    products = (adjoint, forward(task, "JAX")) if derivatives else ()
    return written("jax", top, task, (value, *products), _slots, {})


def forward_interface(top: Header, task: Task, *, facts: dict[str, Any]) -> Wrapped:
    """The kernel of the directional product, and the C of its handler."""
    return written("jax", top, task, (forward(task, "JAX"),), _slots, facts)


def _slots(inputs: Sequence[Port], outputs: Sequence[Port]) -> dict[str, Any]:
    """What the template says of a handler."""
    sizes = [port.size for port in (*inputs, *outputs)]
    return {
        "inputs": len(inputs),
        "outputs": len(outputs),
        "sizes": sizes,
        "passed": [f"at[{k}], {size}" for k, size in enumerate(sizes)],
        "wanted": f"arguments: {len(inputs)}, results: {len(outputs)}, of float64 and for as many states",
    }


def _function(jax: Any, facts: Mapping[str, Any], handler: Callable[[str], str]) -> Callable[..., Any]:
    """The JAX function of handlers, whose names in XLA `handler` gives."""
    name, inputs, outputs = facts["symbol"], facts["inputs"], facts["outputs"]
    several = named_results(f"{name}_results", tuple(port for port, _ in outputs)) if len(outputs) > 1 else None
    value = _caller(jax, partial(handler, VALUE), inputs, outputs)
    adjoint = _caller(jax, partial(handler, ADJOINT), [*inputs, *outputs], inputs)
    product = product_of(
        name, _caller(jax, partial(handler, FORWARD), [*inputs, *inputs], outputs), adjoint, inputs, outputs
    )

    def call(*arguments: Any) -> Any:
        found = value(*arguments)
        return several(*found) if several else found[0]

    def along(arguments: tuple[Any, ...], changes: tuple[Any, ...]) -> tuple[Any, Any]:
        change = product(*arguments, *changes)
        return call(*arguments), several(*change) if several else change[0]

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"({', '.join(port for port, _ in inputs)}) -> ({', '.join(port for port, _ in outputs)})"
    function = jax.custom_jvp(call)
    function.defjvp(along)

    def checked(*arguments: Any) -> Any:
        if len(arguments) != len(inputs):
            raise TypeError(f"{name} takes {len(inputs)} arguments: {call.__doc__}")
        pairs = zip(inputs, arguments, strict=True)
        return function(*(_array(jax, f"{name}: {port}", shape, x) for (port, shape), x in pairs))

    checked.__name__, checked.__doc__ = name, call.__doc__
    return checked


def _array(jax: Any, name: str, shape: Sequence[int], given: Any) -> Any:
    """An argument of this name as float64 of its shape."""
    array = jax.numpy.asarray(given, jax.numpy.float64)
    if array.dtype != jax.numpy.float64:
        raise RobotError(f"{name}: {DOUBLE}")
    if array.shape != tuple(shape):
        raise ValueError(f"{name} has shape {array.shape}, not {tuple(shape)}; jax.vmap takes many states")
    return array


def _caller(
    jax: Any, target: Callable[[], str], inputs: Sequence[Any], outputs: Sequence[Any]
) -> Callable[..., list[Any]]:
    """A handler as a function of arrays of these shapes."""
    flat = [jax.ShapeDtypeStruct((prod(shape),), jax.numpy.float64) for _, shape in outputs]

    def call(*arguments: Any) -> list[Any]:
        called = jax.ffi.ffi_call(target(), flat, vmap_method="broadcast_all")
        given = [_by_columns(x, shape) for x, (_, shape) in zip(arguments, inputs, strict=True) if prod(shape)]
        return [_by_rows(y, shape) for y, (_, shape) in zip(called(*given), outputs, strict=True)]

    return call


def _by_columns(array: Any, shape: Sequence[int]) -> Any:
    """An array, as a matrix with its last axis along rows, column by column."""
    return array.reshape(-1, shape[-1]).T.reshape(-1) if len(shape) > 1 else array.reshape(-1)


def _by_rows(flat: Any, shape: Sequence[int]) -> Any:
    """The way back."""
    return flat.reshape(shape[-1], -1).T.reshape(tuple(shape)) if len(shape) > 1 else flat.reshape(tuple(shape))


DOUBLE = 'JAX computes in single precision; jax.config.update("jax_enable_x64", True) before any array is made'


def _jax() -> Any:
    """JAX; RobotError if it is missing, too old or without float64."""
    try:
        jax = import_module("jax")
        import_module("jax.ffi")
    except ImportError as error:
        raise RobotError(f"JAX {NEEDED} or newer is needed ({error}); pip install rigidc[jax]") from error
    if not jax.config.jax_enable_x64:
        raise RobotError(DOUBLE)
    return jax


@cache
def _library(path: str) -> ctypes.CDLL:
    return ctypes.CDLL(path)


@cache
def _registered(path: str, jax: Any, symbol: str) -> str:
    """The name under which XLA knows a handler of a library: one per build."""
    target = f"{symbol}_{path.rsplit('/', 2)[-2]}"
    jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(getattr(_library(path), symbol)), platform="cpu")
    return target
