"""URDF+ files of the source of the bundled linkages, if RIGIDC_FACTS names the folder that has them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from mechanisms_cases import error

import codegen
from codegen.oracle import ORACLE

FACTS = os.environ.get("RIGIDC_FACTS")
FILES = sorted(Path(FACTS, "urdf_plus").glob("*.urdf")) if FACTS else []
# those whose numbers the source has not changed since
SAME = (
    "four_bar",
    "four_bar_branch_2_5",
    "parallel_chain_explicit_d10_l8",
    "parallel_chain_implicit_d5_l7",
    "planar_leg_linkage",
    "six_bar",
)


@pytest.mark.skipif(not FILES, reason="RIGIDC_FACTS names no folder of facts")
def test_every_file_loads_and_its_dynamics_run() -> None:
    for file in FILES:
        model = codegen.load(file)
        state = model.random(0)
        assert np.isfinite(ORACLE["aba"](model, *state)).all()


@pytest.mark.skipif(not FILES, reason="RIGIDC_FACTS names no folder of facts")
@pytest.mark.parametrize("name", SAME)
def test_the_file_is_the_bundled_robot(name: str) -> None:
    ours = codegen.load(name)
    theirs = codegen.load(f"{FACTS}/urdf_plus/{name}.urdf", base="floating" if ours.floating else "fixed")
    bodies = {body.name: b for b, body in enumerate(ours.bodies)}
    order = [0 if body.parent < 0 and ours.floating else bodies[body.name] for body in theirs.bodies]
    positions = np.concatenate([np.arange(ours.nq)[ours.q_slices[b]] for b in order])
    velocities = np.concatenate([np.arange(ours.nv)[ours.v_slices[b]] for b in order])
    for seed in range(3):
        q = ours.random(seed)[0]
        M = ORACLE["crba"](ours, q)[np.ix_(velocities, velocities)]
        assert error(ORACLE["crba"](theirs, q[positions]), M) < 1e-13
