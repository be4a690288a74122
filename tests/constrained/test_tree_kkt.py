"""The KKT matrix's factors by sweeps (`codegen.algorithms.tree_kkt`): rows that joints cannot follow, and residuals."""

from __future__ import annotations

import numpy as np
import pytest
from scenarios import problem, worst
from thorough import besides

import codegen
from codegen.model.contacts import contact_of
from codegen.oracle import constrained


def held(robot, *texts):
    model = codegen.load(robot)
    return model, tuple(contact_of(model, text) for text in texts)


@pytest.mark.parametrize(
    ("robot", "texts"),
    besides(
        [("mini_cheetah", ("FR_knee_contact:6", "FL_abad_rotor:rz"))],
        [
            ("go1", ("FL_hip:rz", "RR_foot:3", "FR_foot:3")),
            ("mini_cheetah", ("FR_abad_rotor:rz", "FL_abad_rotor:rz", "FR_foot_contact:3")),
            ("mini_cheetah", ("FR_knee_contact:6", "FL_abad_rotor:rz")),
        ],
    ),
)
def test_rows_across_hinges_go_to_the_root(robot, texts):
    """Right above joints that do not feel them they would be stiffness mu on what carries these, and cost digits."""
    given = problem(*held(robot, *texts), 5)
    mu = np.full(5, 1e8)
    a, lam = given.solved("tree_kkt", mu, parameters=("mu",))
    expected = given.expected()
    assert worst(a, expected[0]) < 1e-12
    assert worst(lam, expected[1]) < 1e-11


def test_the_residual_is_what_rows_lack(build):
    """Recomputed from accelerations, not foretold by the damping, which knows of no rounding."""
    model, contacts = held("mini_cheetah", "FR_knee_contact:6", "FL_abad_rotor:rz")
    solve = build(model, "tree_kkt", contacts=contacts, parameters=("mu",), iterations=None)
    for seed in range(3):
        q, v, tau = model.random(seed)
        at = constrained.equations(model, q, v, contacts=contacts)
        for steps in (1, 2, 5):
            a, _, used, told = solve(q, v, tau, 1e3, 0.0, steps)
            assert used == steps
            true = np.linalg.norm(at.J @ a + at.drift)
            np.testing.assert_allclose(told, true, rtol=1e-6, atol=1e-11)
