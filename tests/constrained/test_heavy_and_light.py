"""Robots of tonnes and of grams: the penalty follows the mass, and all constrained algorithms keep their digits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from interpreted import build as interpreted
from thorough import diagonal

import codegen
from codegen.algorithms import ALGORITHMS, OPTIONAL, optional
from codegen.cli.check import relative_error, worst_error
from codegen.geometry import Inertia
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE, constrained
from codegen.task.header_notes import folded
from codegen.tracing.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from codegen.robot import Robot

FEET = ("FL_FOOT:3", "HR_FOOT:3")


def scaled(factor: float) -> Robot:
    """Solo 12 of 2.5 kg, so many times as heavy."""
    solo = codegen.load("solo12")
    inertias = [body.inertia for body in solo.bodies]
    heavier = [
        Inertia(x.mass * factor, x.com, tuple(tuple(factor * y for y in row) for row in x.moment)) for x in inertias
    ]
    bodies = (replace(body, inertia=inertia) for body, inertia in zip(solo.bodies, heavier, strict=True))
    return replace(solo, bodies=tuple(bodies))


def test_the_penalty_follows_the_mass() -> None:
    """To one digit, a hundred masses and a million at the ends; from 100 g to a tonne it is the same for all."""
    assert optional(scaled(1e4)) == {**OPTIONAL, "mu": 3e6, "R": 1 / 3e6}
    assert optional(scaled(1e-4)) == {**OPTIONAL, "mu": 300.0, "R": 1 / 300.0}
    assert optional(scaled(300.0)) == optional(scaled(0.1)) == OPTIONAL
    assert optional(scaled(1e4), "float32")["mu"] == 3e6
    for factor, times in ((1e4, "100"), (1e-4, "1000000")):
        model = scaled(factor)
        said = folded(Task(model, "pv_soft", contacts=tuple(contact_of(model, text) for text in FEET)))
        assert f"R suits the robot: one over {times} times the robot's mass, where others take 1e-05." in said


@pytest.mark.parametrize(
    ("factor", "algorithm"),
    diagonal([1e4, 1e-4], ["prox_pv", "constrained_aba", "prox_ltls", "pv_soft", "caba_osim"]),
)
def test_three_steps_settle(build: Callable[..., Any], factor: float, algorithm: str) -> None:
    model = scaled(factor)
    contacts = tuple(contact_of(model, text) for text in FEET)
    function = build(model, algorithm, contacts=contacts, iterations=3)
    regular = 0
    for seed in range(20):
        q, v, tau = model.random(seed)
        at = constrained.equations(model, q, v, contacts=contacts)
        if not constrained.rank(at)[1]:
            continue
        regular += 1
        given = (q, v, factor * tau) if "v" in ALGORITHMS[algorithm].inputs else (q,)
        found, expected = function(*given), ORACLE[algorithm](model, *given, contacts=contacts)
        first, other = (x[0] if isinstance(x, tuple) else x for x in (found, expected))
        assert relative_error(np.asarray(first), np.asarray(other)) < 1e-5
    assert regular >= 3


def test_check_takes_heavy_robots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which states are regular depends on the penalty: no state was for a robot of 25 tonnes."""
    monkeypatch.setattr("codegen.api.build", interpreted)
    options = {"frames": (), "external": (), "parameters": (), "contacts": FEET, "dtype": "float64", "iterations": 5}
    assert worst_error(scaled(1e4), "prox_pv", 3, 0, options) < 1e-8
