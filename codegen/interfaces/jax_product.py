"""A linear map of JAX by two functions: a directional product, and the adjoint product that is its transpose.

(JAX documentation, "JAX Internals: primitives".) JAX takes reverse mode from it without calling the directional one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def product_of(
    name: str,
    forward: Callable[..., list[Any]],
    adjoint: Callable[..., list[Any]],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
) -> Callable[..., Any]:
    """The product as a function of arguments and their changes, linear in these.

    `inputs` and `outputs` are names and shapes; `forward` takes inputs and their changes, `adjoint` inputs and weights
    of outputs. Arrays may have further axes in front, the same of all.
    """
    jax, numpy = import_module("jax"), import_module("jax.numpy")
    ad, batching, mlir = (import_module(f"jax.interpreters.{name}") for name in ("ad", "batching", "mlir"))
    primitive = import_module("jax.extend.core").Primitive(f"{name}_product")
    primitive.multiple_results = True
    count, first = len(inputs), len(inputs[0][1])

    def lead(x: Any) -> tuple[int, ...]:
        return tuple(x.shape[: len(x.shape) - first])

    def mapped(function: Callable[..., list[Any]], *operands: Any) -> list[Any]:
        for _ in lead(operands[0]):
            function = jax.vmap(function)
        return function(*operands)

    def run(*operands: Any) -> list[Any]:
        return mapped(forward, *operands)

    def shapes(*operands: Any) -> list[Any]:
        front, kind = lead(operands[0]), operands[0].dtype
        return [jax.core.ShapedArray((*front, *shape), kind) for _, shape in outputs]

    def batched(operands: Sequence[Any], axes: Sequence[Any]) -> tuple[list[Any], list[int]]:
        pairs = list(zip(operands, axes, strict=True))
        size = next(x.shape[axis] for x, axis in pairs if axis is not None)
        moved = [
            numpy.broadcast_to(x, (size, *x.shape)) if axis is None else numpy.moveaxis(x, axis, 0) for x, axis in pairs
        ]
        return primitive.bind(*moved), [0] * len(outputs)

    def transposed(weights: Sequence[Any], *operands: Any) -> list[Any]:
        given = [ad.instantiate_zeros(weight) for weight in weights]
        found = mapped(adjoint, *operands[:count], *given)
        wanted = map(ad.is_undefined_primal, operands[count:])
        return [None] * count + [x if linear else None for x, linear in zip(found, wanted, strict=True)]

    primitive.def_impl(jax.jit(run))
    primitive.def_abstract_eval(shapes)
    mlir.register_lowering(primitive, mlir.lower_fun(run, multiple_results=True))
    batching.primitive_batchers[primitive] = batched
    ad.primitive_transposes[primitive] = transposed
    product: Callable[..., Any] = primitive.bind
    return product
