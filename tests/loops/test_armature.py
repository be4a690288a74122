"""Armature of joints that loops move by ratios that change: what the change of ratios costs is felt, too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import interpreted
import numpy as np
import pytest
from loop_mechanisms import Builder, expression, formula, four_bar, point, spatial
from mechanisms_cases import error
from test_random_mechanisms import compare
from thorough import besides, chosen

import codegen
from codegen.algorithms import ALGORITHMS
from codegen.ir.interpreter import interpret
from codegen.oracle import ORACLE

if TYPE_CHECKING:
    from collections.abc import Callable

DYNAMICS = ("rnea", "aba", "ltl", "crba", "projected_rnea", "projection_fd", "lagrange_fd")
HELD = tuple(name for name, entry in ALGORITHMS.items() if entry.group == "constrained")
CONNECTED = """
<mujoco><compiler angle="radian"/><worldbody>
<body name="a"><joint name="j1" axis="0 1 0"/><inertial pos="0 0 .1" mass="1" diaginertia=".02 .03 .025"/>
<body name="b" pos="0 0 .3"><joint name="j2" axis="0 1 0" armature="0.01"/>
<inertial pos=".1 0 0" mass="1" diaginertia=".02 .03 .025"/></body></body>
<body name="c" pos=".4 0 0"><joint name="j3" axis="0 1 0"/>
<inertial pos="0 0 .1" mass="1" diaginertia=".02 .03 .025"/></body>
</worldbody><equality><connect body1="b" body2="c" anchor=".35 0 .05"/></equality></mujoco>
"""


@pytest.mark.parametrize("algorithm", DYNAMICS)
def test_a_linkage_of_mujoco_with_one_rotor(algorithm: str, tmp_path: Path) -> None:
    path = tmp_path / "linkage.xml"
    path.write_text(CONNECTED, encoding="utf-8")
    compare(codegen.load(path), algorithm)


@pytest.mark.parametrize(
    ("module", "algorithm"),
    chosen(
        lambda module, algorithm: module is not spatial or algorithm == "rnea",
        [four_bar, expression, spatial, point, formula],
        ["rnea", "aba"],
    ),
    ids=lambda part: getattr(part, "__name__", part),
)
def test_armature_on_all_joints_of_loops_of_every_kind(module: Callable[[Builder], None], algorithm: str) -> None:
    made = Builder(3, armature=1.0)
    module(made)
    compare(made.model("driven", "fixed", "mujoco"), algorithm)


@pytest.mark.parametrize("algorithm", besides(["pv_early", "aba_prox", "constrained_aba"], HELD))
def test_with_a_contact_on_a_driven_body(algorithm: str) -> None:
    made = Builder(5, armature=1.0)
    four_bar(made)
    made.body("b1")
    model = made.model("held", "fixed", "pinocchio")
    held = (model.contact("tool4", [[0.3, -0.5, 0.2, 1.0, 0.4, 0.7]]),)
    graph = interpreted.graph(model, algorithm, contacts=held, iterations=5)
    for seed in range(3):
        state = model.random(seed)
        found, expected = interpret(graph, *state)[:2], ORACLE[algorithm](model, *state, contacts=held)
        assert error(found, expected) < (1e-8 if ALGORITHMS[algorithm].declares.held == "in steps" else 1e-9)


def test_ratios_that_stay_add_no_bias() -> None:
    """Gears feel their rotors' armature through the inertia matrix alone."""
    geared = codegen.load("chain12_geared")
    heavy = replace(geared, bodies=tuple(replace(b, joint=replace(b.joint, armature=0.01)) for b in geared.bodies))
    q, v, _ = heavy.random(1)
    bias = [interpret(interpreted.graph(robot, "rnea"), q, v, np.zeros(heavy.nv))[0] for robot in (geared, heavy)]
    assert error(*bias) < 1e-14
