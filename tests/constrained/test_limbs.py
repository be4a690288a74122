"""Limbs with the trunk held, of which derivatives of constrained dynamics are made: against dense inverses."""

from __future__ import annotations

import numpy as np
import pytest
from casadi import SX, Function
from trees import symbolic_tree

import codegen
from codegen.algorithms.constrained_derivatives import limbs_of
from codegen.algorithms.minverse import inverse_factors
from codegen.api import task
from codegen.ir.counted import counted
from codegen.oracle.dynamics import crba
from codegen.pipeline import kernel

HELD = {
    "go1": (("FL_foot", "RR_foot"), ("floating_base_",)),
    "talos": (
        ("wrist_left_ft_tool_link", "wrist_right_ft_tool_link"),
        ("floating_base", "torso_1_joint", "torso_2_joint"),
    ),
    "solo12": (("FL_FOOT",), ()),
}
"""Frames in contact, and joints that carry several of them."""


def limbs(name: str, frames: tuple[str, ...]):
    """The limbs of a robot held at points."""
    robot = codegen.load(name)
    q = SX.sym("q", robot.nq)
    tree = symbolic_tree(robot, q, contacts=tuple(robot.contact(frame or robot.tips[0], 3) for frame in frames))
    M = inverse_factors(tree)
    return robot, q, limbs_of(tree, M.scaled(M.L))


@pytest.mark.parametrize("name", [*HELD])
def test_limbs_move_as_if_the_trunk_were_held(name):
    frames, names = HELD[name]
    robot, q, own = limbs(name, frames)
    held = np.zeros(robot.nv, bool)
    for joint, place in zip(robot.joint_names, robot.v_slices, strict=True):
        held[place] = joint in names
    assert held.sum() == sum(6 if joint.startswith("floating") else 1 for joint in names)
    made = Function("limbs", [q], [own.scaled.T @ own.L, own.passed])
    for seed in range(3):
        at = robot.random(seed)[0]
        alone, passed = (np.array(x) for x in made(at))
        M, free = crba(robot, at), np.ix_(~held, ~held)
        inverse, forces = np.zeros_like(M), np.zeros_like(M)
        inverse[free] = np.linalg.inv(M[free])
        forces[held] = (np.eye(robot.nv) - M @ inverse)[held]
        np.testing.assert_allclose(alone, inverse, atol=1e-10 * np.abs(inverse).max())
        np.testing.assert_allclose(passed, forces, atol=1e-10 * np.abs(forces).max(initial=1))


@pytest.mark.parametrize("name", ["iiwa", "chain:9"])
def test_a_chain_is_all_trunk(name):
    """There is no limb beside it, and forces come to its joints as they are."""
    _, _, own = limbs(name, ("",))
    assert own.L.nnz() == 0
    assert own.passed.is_eye()


def test_columns_of_limbs_take_fewer_operations():
    """Of Solo12 on two feet; with the inverses times whole columns it were 36,059."""
    asked = task(codegen.load("solo12"), "pv_derivatives", contacts=["FL_FOOT:3", "HR_FOOT:3"])
    assert counted(kernel(asked).function).total < 0.92 * 36_059
