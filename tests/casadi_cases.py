"""Functions for CasADi of robots that tests share, and their arguments."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
from mechanisms_cases import mechanism

import codegen
from codegen.model import Model

NEAR = 1e-10
FEET = ("FL_foot:3", "FR_foot:3", "RL_foot:3", "RR_foot:3")


@cache
def loaded(robot: str) -> Model:
    """A bundled robot, or one on a floating base, or a random mechanism: convention, then joint types."""
    convention, _, types = robot.partition(" ")
    if types == "floating":
        return codegen.load(convention, base="floating")
    if types:
        return mechanism(tuple(types.split()), 3, base="floating", convention=convention, armature=True)
    return codegen.load(robot)


@cache
def function(robot: str, algorithm: str = "aba", **options):
    return codegen.to_casadi(loaded(robot), algorithm, **options)


@cache
def expressions(robot: str, algorithm: str = "aba", **options):
    return codegen.to_casadi(loaded(robot), algorithm, expand=True, **options)


def arguments(f: ca.Function, model: Model, seed: int = 1) -> list[np.ndarray]:
    """A state with quaternions that are not unit ones, and any other arguments."""
    rng = np.random.default_rng(seed)
    found = [rng.standard_normal(f.size_in(k)) for k in range(f.n_in())]
    q, found[1][:, 0], _ = model.random(rng)
    found[0][:, 0] = stretched(model, q)
    return found


def stretched(model: Model, q: np.ndarray) -> np.ndarray:
    """A configuration whose quaternions are no unit ones, if it has any."""
    return 1.3 * q if any(joint.nq > joint.nv for joint in model.joints) else q


def worst(found, expected) -> float:
    """The largest error over the largest entry."""
    found, expected = (np.concatenate([ca.DM(x).full().ravel() for x in parts]) for parts in (found, expected))
    return np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-300)
