"""Derivatives of frames and of the centre of mass by raw coordinates: recursions against AD of the same expressions."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from mechanisms_cases import ALL_TYPES, mechanism
from thorough import besides

import codegen
from codegen.interfaces.casadi_functions import exported
from codegen.model import Model
from codegen.tracing.blocks import joined
from codegen.tracing.differentiated import Explicit, differentiated
from codegen.tracing.task import Task

NEAR = 1e-13


def robot(name: str) -> Model:
    """A bundled robot, or one of all joint types on a floating base of this convention."""
    if name in ("pinocchio", "mujoco"):
        return mechanism(ALL_TYPES, 4, base="floating", convention=name)
    return codegen.load(name)


@pytest.mark.parametrize("algorithm", ["fk", "com"])
@pytest.mark.parametrize("name", besides(["pinocchio", "iiwa"], ["pinocchio", "iiwa", "mujoco", "talos", "cassie"]))
def test_against_algorithmic_differentiation(name: str, algorithm: str) -> None:
    """Also at quaternions that are not of unit length, which are normalised first."""
    model = robot(name)
    own, found = differentiated(Task(model, algorithm))
    assert isinstance(found, Explicit)
    w = ca.SX.sym("w", own.y.size1())
    J, H = joined(found.jacobian(), own.outputs, own.inputs), joined(found.hessian(w), own.inputs, own.inputs)
    values = [J, ca.jacobian(own.y, own.x), H, ca.hessian(ca.dot(w, own.y), own.x)[0]]
    rng = np.random.default_rng(3)
    x = np.concatenate(model.random(rng)[:2])
    x[: model.nq] *= 1.25
    mine, by_ad, second, second_by_ad = ca.Function("f", [own.x, w], values)(x, rng.normal(size=w.shape))
    for one, other in ((mine, by_ad), (second, second_by_ad)):
        assert abs(one - other).full().max() < NEAR * abs(other).full().max()


MOST = [
    ("iiwa", "fk", (802, 2180)),
    ("iiwa", "com", (470, 845)),
    ("talos", "fk", (17000, 37500)),
    ("talos", "com", (4390, 14200)),
]


@pytest.mark.parametrize(("name", "algorithm", "most"), besides(MOST[:2], MOST))
def test_operations(name: str, algorithm: str, most: tuple[int, int]) -> None:
    """Of Jacobians and of those of adjoints; AD takes 1,262 and 3,696 for the frame of iiwa, 758 and 1,593."""
    found = exported(Task(codegen.load(name), algorithm), 2, ("jac_", "jac_adj1_"))
    assert [one.kernel.count.total <= bound for one, bound in zip(found, most, strict=True)] == [True, True]
