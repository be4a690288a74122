"""Tello's differentials in closed form: rotors as explicit formulas of the links that they drive.

The bundled robot has its rotors as independent joints, and its links then follow by Newton's method only. Stated the
other way round there is nothing to iterate, and it must be the same mechanism.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from mechanisms_cases import error

import codegen
from codegen.oracle.loops import closed

if TYPE_CHECKING:
    from collections.abc import Callable

    from codegen.model import Model

FILE = Path(codegen.__file__).with_name("description") / "robots" / "tello_humanoid.json"


def solved(A: str, B: str, C: str, side: int) -> str:
    """y with A sin(y) + B cos(y) = C, on one of the two sides."""
    root = f"({side})*sqrt(({A})^2 + ({B})^2 - ({C})^2)"
    return f"atan2(({A})*({C}) - ({B})*{root}, ({B})*({C}) + ({A})*{root})"


def hip(sign: int) -> str:
    """A hip rotor from the angles of gimbal (q3) and thigh (q4)."""
    e, c = sign * 0.0112, sign * 0.01995
    A = f"0.0228 - 0.0128*cos(q3)*sin(q4) - ({e})*sin(q3)"
    C = f"0.0098*cos(q3) + ({c})*sin(q3) + 0.0228*cos(q3)*sin(q4) - ({e})*sin(q3)*sin(q4) - 0.01888125"
    return f"6*{solved(A, '-0.0128*cos(q4)', C, 1)}"


def knee(sign: int) -> str:
    """A knee-ankle rotor from the angles of shin (q3) and foot (q4): half a sum, and half a difference."""
    tilt = "(q4 + 114*pi/180)"
    A = f"-0.00336*sin(pi/9) - 0.0028*sin{tilt}"
    B = f"0.0208 - 0.0028*cos{tilt} - 0.00336*cos(pi/9)"
    C = f"0.02184*cos(pi/9) + 0.0182*cos{tilt} - 0.00294*cos({tilt} - pi/9) - 0.02613584"
    return f"6*(q3 - ({sign})*({solved(A, B, C, -1)} - 120.84*pi/180))"


@pytest.fixture(scope="module")
def stated(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """Tello with its differentials stated in closed form."""
    robot = json.loads(FILE.read_text(encoding="utf-8"))
    robot["loops"] = [loop for loop in robot["loops"] if "differential" not in loop["name"]]
    path = tmp_path_factory.mktemp("tello") / "tello.json"
    path.write_text(json.dumps(robot), encoding="utf-8")
    model = codegen.load(str(path))
    for side in ("left", "right"):
        for name, links, formula in (("hip", ("gimbal", "thigh"), hip), ("knee-ankle", ("shin", "foot"), knee)):
            rotors = {f"{side}-{name}-rotor-1": formula(1), f"{side}-{name}-rotor-2": formula(-1)}
            variables = dict(zip(("q3", "q4"), (f"{side}-{link}" for link in links), strict=True))
            model = model.with_loop(f"{side}-{name}", explicit=rotors, variables=variables)
    return model


@pytest.mark.thorough
def test_the_closed_forms_are_the_same_robot(build: Callable[..., Any], stated: Model) -> None:
    bundled = codegen.load("tello_humanoid")
    assert stated.nv == bundled.nv
    assert all(loop.explicit for loop in stated.loops)
    names = dict(zip(bundled.joint_names, range(len(bundled.bodies)), strict=True))
    rnea, crba = (build(stated, algorithm) for algorithm in ("rnea", "crba"))
    for seed in range(20):
        q, v, a = bundled.random(seed)
        theirs = closed(bundled, q)
        rates, accelerations = theirs.G @ v, theirs.G @ a + theirs.g(theirs.G @ v)
        # the same motion in the coordinates of the links: T takes the rotors' rates to the links'
        position, places = theirs.tree.q_slices, theirs.tree.v_slices
        bodies = [names[name] for name in stated.joint_names]
        ours = [b for b, place in zip(bodies, stated.v_slices, strict=True) if place.stop > place.start]
        own = np.concatenate([np.arange(places[b].start, places[b].stop) for b in ours])
        T = theirs.G[own]
        here = np.concatenate([theirs.q[position[b]] for b in ours])
        for b, mine in zip(bodies, closed(stated, here).at.values(), strict=True):
            np.testing.assert_allclose(mine, theirs.q[position[b]], atol=1e-9)
        assert error(T.T @ crba(here) @ T, build(bundled, "crba")(q)) < 1e-9
        forces = T.T @ rnea(here, rates[own], accelerations[own])
        assert error(forces, build(bundled, "rnea")(q, v, a)) < 1e-9
