"""Steps of time, and their derivatives, of dynamics by their names: entries of the registry."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial

from codegen.algorithms.entry import WITH_CONTACTS, WITH_MU, Algorithm
from codegen.algorithms.implicit_midpoint import (
    held_midpoint,
    held_midpoint_derivatives,
    implicit_midpoint,
    implicit_midpoint_derivatives,
)
from codegen.algorithms.rk4 import rk4, rk4_derivatives
from codegen.algorithms.semi_implicit_euler import semi_implicit_euler, semi_implicit_euler_derivatives
from codegen.recursions.composition import Composition

steps = partial(Algorithm, group="steps")

INTEGRATORS: dict[str, str] = {"semi_implicit_euler": "", "rk4": "_rk4", "implicit_midpoint": "_implicit_midpoint"}
"""Integrators, and what a step by each is called after `step`."""


def stepped(
    dynamics: str, inputs: tuple[str, ...], integrators: Collection[str] = INTEGRATORS, breaks: bool = False
) -> Iterable[Algorithm]:
    """The steps of a robot by its dynamics, which take these inputs, and their derivatives."""
    free, took = dynamics == "aba", ("q", "v", "tau", "dt", *inputs[3:])
    name, of = ("step", "") if free else (f"{dynamics}_step", f", {dynamics}")
    linear, moves = f"{dynamics}_linearised", ("integrate", "integrate_derivatives")
    middle = ("rnea", "rnea_derivatives", *moves) if free else (linear, *moves)
    tolerance = WITH_MU if "mu" in inputs or "R" in inputs else WITH_CONTACTS
    own = partial(steps, tolerance=tolerance, breaks=breaks)
    runs = {
        "semi_implicit_euler": Composition(semi_implicit_euler, (dynamics, "integrate")),
        "rk4": Composition(rk4, (dynamics, "integrate", "dexpinv"), divides=True),
        "implicit_midpoint": Composition(implicit_midpoint if free else held_midpoint, middle, divides=True),
    }
    slopes = {
        "semi_implicit_euler": Composition(semi_implicit_euler_derivatives, (linear, "integrate_derivatives")),
        "rk4": Composition(rk4_derivatives, (linear, *moves, "dexpinv"), divides=True),
        "implicit_midpoint": Composition(
            implicit_midpoint_derivatives if free else held_midpoint_derivatives, middle, divides=True
        ),
    }
    for integrator in integrators:
        by = f"by {integrator}{of}"
        stem = f"{name}{INTEGRATORS[integrator]}"
        yield own(stem, runs[integrator], took, ("q_next", "v_next"), f"step {by}")
        yield own(f"{stem}_derivatives", slopes[integrator], took, ("A", "B"), f"derivatives of a step {by}")
