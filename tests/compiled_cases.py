"""Robots, and their functions, for every test that asks whether the C is right."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from mechanisms_cases import ALL_TYPES, aligned, error, mechanism, state

import codegen
from codegen.oracle import ORACLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from codegen.model import Convention, Model

    Array = NDArray[np.float64]

TOLERANCE = 1e-10
ALGORITHMS = ("fk", "jacobian", "rnea", "crba", "aba", "ltl", "minverse", "integrate", "difference")
WITH_WRENCHES = ("rnea", "aba", "ltl")


@dataclass(frozen=True)
class Robot:
    """A bundled robot on one base, under one convention."""

    name: str
    base: str
    convention: Convention

    def __str__(self) -> str:
        return f"{self.name}-{self.base}-{self.convention}"


@dataclass(frozen=True)
class Mechanism:
    """A random mechanism with every type of joint, armature on each, on one base, under one convention."""

    base: str
    convention: Convention
    types: tuple[str, ...] = ALL_TYPES
    seed: int = 70

    def __str__(self) -> str:
        return f"random-{self.base}-{self.convention}"


BUNDLED = (
    Robot("iiwa", "fixed", "pinocchio"),
    Robot("iiwa", "floating", "pinocchio"),
    Robot("panda", "fixed", "mujoco"),
    Robot("panda", "fixed", "pinocchio"),
    Robot("solo12", "fixed", "pinocchio"),
    Robot("solo12", "floating", "mujoco"),
    Robot("solo12", "floating", "pinocchio"),
    Robot("go1", "floating", "pinocchio"),
    Robot("talos_reduced", "floating", "pinocchio"),
    Robot("talos", "floating", "pinocchio"),
    Robot("atlas", "floating", "pinocchio"),
    Robot("atlas_shadow", "floating", "pinocchio"),
    Robot("shadow_hand", "fixed", "pinocchio"),
    Robot("solo8", "floating", "pinocchio"),
    Robot("anymal_b", "floating", "pinocchio"),
    Robot("icub", "floating", "pinocchio"),
)
MECHANISMS = tuple(
    Mechanism(base, convention) for base in ("fixed", "floating") for convention in ("pinocchio", "mujoco")
)


@cache
def model_of(case: Robot | Mechanism) -> Model:
    """The model of a case, loaded once per process."""
    if isinstance(case, Robot):
        return codegen.load(case.name, base=case.base, convention=case.convention)
    return mechanism(case.types, case.seed, base=case.base, convention=case.convention, armature=True)


@cache
def built(build: Callable[..., Any], case: Robot | Mechanism, algorithm: str, **options: Any) -> Any:
    """The function of a case, built once per process by `codegen.build` (once per run, by the cache) or another."""
    return build(model_of(case), algorithm, **options)


def inputs(model: Model, algorithm: str, seed: int) -> tuple[Array, ...]:
    """The arguments of `algorithm`, external wrenches and parameters aside, at a random state."""
    q, v, a, tau = state(model, seed)
    end = state(model, seed + 1000)[0]
    return {
        "fk": (q, v),
        "jacobian": (q,),
        "rnea": (q, v, a),
        "crba": (q,),
        "aba": (q, v, tau),
        "ltl": (q, v, tau),
        "minverse": (q,),
        "integrate": (q, v),
        "difference": (q, end),
    }[algorithm]


def worst_error(
    function: Any,
    model: Model,
    algorithm: str,
    states: int = 10,
    frames: tuple[str, ...] = (),
    external: tuple[str, ...] = (),
    parameters: Mapping[str, Array] | None = None,
) -> float:
    """The largest error of a function against the oracle over random states, all at once, and the first alone."""
    given = []
    for seed in range(states):
        arguments = inputs(model, algorithm, seed)
        if external:
            wrenches = np.random.default_rng(seed).standard_normal((len(external), 6))
            arguments = (*arguments, wrenches * [[10.0] * 3 + [1.0] * 3])
        given.append(arguments)
    numbers = (parameters or {}).values()
    together = function(*map(np.stack, zip(*given, strict=True)), *(np.stack([x] * states) for x in numbers))
    found = [tuple(x[k] for x in together) if isinstance(together, tuple) else together[k] for k in range(states)]
    pairs = zip([given[0], *given], [function(*given[0], *numbers), *found], strict=True)
    worst = 0.0
    for arguments, actual in pairs:
        expected = ORACLE[algorithm](model, *arguments, frames=frames, external=external, parameters=parameters)
        if algorithm == "integrate":
            actual = aligned(model, actual, expected)
        worst = max(worst, error(actual, expected))
    return worst
