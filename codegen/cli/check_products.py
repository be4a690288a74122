"""Errors of compiled products of derivatives, by differences of the dense oracle on random states.

A directional derivative (jvp) is compared as it is. Adjoints (vjp) and second derivatives (hvp, hessian, tensor) are
compared along random directions, d' (J' w) with w' (J d): a wrong entry shows, as every state has its own directions.
Derivatives by further arguments are compared entry by entry. States that are too close to a singular one for
differences are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from codegen.errors import RobotError, UnsuitedError
from codegen.oracle.by_arguments import by_argument, part_of_step
from codegen.oracle.directional import along, curvature, is_configuration
from codegen.progress import each

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.compilation.runtime import Function
    from codegen.robot import Robot

    Array = NDArray[np.float64]
    State = Mapping[str, Array]
    Evaluate = Callable[[State], Mapping[str, Array]]

NEAR, SECOND = 1e-8, 1e-5
"""How near differences come, as a part of the largest entry, and differences of differences."""
LEAST = 1e-3  # what entries count as at least, beside what is differentiated: rounding of that is 1e-11 of differences


def near(name: str, derivative: str) -> float:
    """How near they come to a product of an algorithm's derivatives; those of derivatives are second ones."""
    return NEAR if derivative in ("jvp", "vjp") and not name.endswith("_derivatives") else SECOND


@dataclass(frozen=True, slots=True)
class Product:
    """A compiled product of derivatives; sparse results become whole matrices."""

    function: Function

    def __str__(self) -> str:
        return str(self.function)

    def weights(self, inputs: int, w: State) -> list[Array]:
        """All weights that it takes after so many arguments: zero of results that do not count."""
        ports = [port for port in self.function.inputs[inputs:] if port.name.endswith("bar")]
        return [w.get(port.name.removesuffix("bar"), np.zeros(port.shape)) for port in ports]

    def named(self, *arguments: Array) -> dict[str, Array]:
        """Its results by names."""
        found = dense(self.function, self.function(*(x.astype(self.function.dtype) for x in arguments)))
        return {port.name: np.asarray(x, float) for port, x in zip(self.function.outputs, found, strict=False)}


def dense(function: Function, outputs: Any) -> list[Any]:
    """A function's results, sparse ones as whole matrices."""
    found = outputs if isinstance(outputs, tuple) else (outputs,)
    patterns = [port.pattern for port in function.outputs]
    return [x if p is None else p.dense(x) for x, p in zip(found, (*patterns, *[None] * len(found)), strict=False)]


def product_error(
    robot: Robot,
    derivative: str,
    product: Product,
    states: Sequence[State],
    evaluate: Evaluate,
    seed: int,
) -> float:
    """The largest error of a product over states, relative to its entries.

    `evaluate` gives the results by names, those that count. UnsuitedError where no state tells.
    """
    rng, worst, told = np.random.default_rng(seed), 0.0, 0
    for state in each(tuple(states), lambda _: "states checked"):
        first, second = (_directions(robot, state, rng) for _ in range(2))
        still = evaluate(state)
        weights = _directions(robot, still, rng)
        try:
            if derivative == "jvp":
                error = _changes(robot, product, state, first, evaluate)
            elif derivative == "vjp":
                error = _gradient(robot, product, state, weights, first, evaluate)
            else:
                error = _curvature(robot, derivative, product, state, weights, (first, second), evaluate)
        except RobotError:
            continue
        worst, told = max(worst, error), told + 1
    return worst if told else _untold(robot)


def argument_error(
    robot: Robot,
    wrt: Sequence[str],
    found: Sequence[State],
    states: Sequence[State],
    evaluate: Evaluate,
    sizes: Sequence[Mapping[str, float]],
) -> float:
    """The largest error over states of derivatives by arguments, relative to the largest entry of each.

    Where a derivative vanishes, differences leave the rounding of the result, and the error counts beside that.
    `found` are those at every state, by names, and `sizes` what results round as parts of.
    """
    worst, told = 0.0, 0
    for state, ours, size in each(tuple(zip(states, found, sizes, strict=True)), lambda _: "states checked"):
        try:
            expected = {spec: by_argument(evaluate, state, spec) for spec in wrt}
        except RobotError:
            continue
        told += 1
        for spec, parts in expected.items():
            named = {name: ours[f"d{name}_d{spec.replace(':', '_')}"] for name in parts}
            errors = (_relative(named[name], y, size[name] / part_of_step(spec)) for name, y in parts.items())
            worst = max(worst, *errors)
    return worst if told else _untold(robot)


def _untold(robot: Robot) -> NoReturn:
    raise UnsuitedError(
        f"{robot.name}: differences of the oracle tell no derivatives at the states drawn, as near singular ones"
    )


def _directions(robot: Robot, values: State, rng: np.random.Generator) -> dict[str, Array]:
    """A random direction of each value, all together of length one."""
    shapes = {name: (robot.nv,) if is_configuration(name) else np.shape(x) for name, x in values.items()}
    drawn = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    length = np.sqrt(sum(float(np.sum(x * x)) for x in drawn.values()))
    return {name: np.asarray(x / length) for name, x in drawn.items()}


def _changes(robot: Robot, product: Product, state: State, d: State, evaluate: Evaluate) -> float:
    found = product.named(*state.values(), *d.values())
    expected = along(robot, evaluate, state, d)
    return max(_relative(found[f"d{name}"], y) for name, y in expected.items())


def _gradient(robot: Robot, product: Product, state: State, w: State, d: State, evaluate: Evaluate) -> float:
    weights = product.weights(len(state), w)
    found = product.named(*state.values(), *weights)
    expected = sum(float(np.sum(w[name] * y)) for name, y in along(robot, evaluate, state, d).items())
    parts = {name: found[f"{name}bar"] for name in state}
    return _projected(sum(float(np.sum(d[n] * x)) for n, x in parts.items()), expected, [*parts.values()])


def _curvature(
    robot: Robot, derivative: str, product: Product, state: State, w: State, d: tuple[State, State], evaluate: Evaluate
) -> float:
    flat = [np.concatenate([np.ravel(x) for x in one.values()]) for one in d]
    if derivative == "hvp":
        weights = product.weights(len(state), w)
        found = product.named(*state.values(), *weights, *d[1].values())
        H = np.concatenate([np.ravel(found[f"d{name}bar"]) for name in state])
        ours, entries = float(flat[0] @ H), [H]
    elif derivative == "hessian":
        H = product.named(*state.values(), *product.weights(len(state), w))["hessian"]
        ours, entries = float(flat[0] @ H @ flat[1]), [H]
    else:
        T = product.named(*state.values())["tensor"]
        weights = [np.ravel(w[name]) for name in w]
        T = T[: sum(map(np.size, weights))]
        ours, entries = float(np.einsum("kij,k,i,j", T, np.concatenate(weights), *flat)), [T]
    return _projected(ours, curvature(robot, evaluate, state, w, d), entries)


def _peak(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))


def _relative(found: Array, expected: Array, size: float = 1.0) -> float:
    """The largest deviation over the largest entry, beside what is differentiated of this size."""
    if found.shape != expected.shape or not np.isfinite(found).all():
        return float("inf")
    return _peak(found - expected) / max(_peak(expected), LEAST * size)


def _projected(found: float, expected: float, entries: Sequence[Array]) -> float:
    """The error of a product with directions of length one, beside the largest entry."""
    if not all(np.isfinite(entry).all() for entry in entries):
        return float("inf")
    return abs(found - expected) / max(LEAST, *map(_peak, entries))
