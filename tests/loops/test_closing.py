"""Steps that close implicit loops: derivatives by the implicit function theorem, which no search for them enters."""

from __future__ import annotations

import numpy as np
import pytest
from casadi import SX, Function, dot, hessian, jacobian
from thorough import besides

import codegen
from codegen.api import task
from codegen.tracing.casadi_operators import direct_operators
from codegen.tracing.closing import closing
from codegen.tracing.differential import raw
from codegen.tracing.trace import results_of, symbols_of

LOOPS = ["four_bar", "six_bar", "planar_leg_linkage", "tello_humanoid", "cassie"]


@pytest.mark.parametrize("name", besides(LOOPS[:2], LOOPS))
@direct_operators()
def test_derivatives_are_those_of_the_search(name: str) -> None:
    """Of closed forms and of Newton's method, of quaternions, too; both orders, and products with vectors."""
    robot = codegen.load(name)
    asked = task(robot, "integrate")
    symbols = symbols_of(asked.signature[0])
    own, y = raw(asked, symbols), results_of(asked, symbols)[0]
    x, w = own.program.x, SX.sym("w", y.size1())
    identity = SX.eye(x.size1())
    made = Function("made", [x, w], [own.program.solved(own.program.y), own.jvp(identity), own.vjp(w), own.hessian(w)])
    moved = Function("moved", [x, w], [own.hvp(w, identity)])
    exact = Function("exact", [x, w], [y, jacobian(y, x), jacobian(y, x).T @ w, hessian(dot(w, y), x)[0]])
    for seed in range(3):
        rng = np.random.default_rng(seed)
        given = (
            np.concatenate([robot.random(seed)[0], rng.normal(scale=0.01, size=robot.nv)]),
            rng.normal(size=y.size1()),
        )
        wanted = [np.array(part) for part in exact(*given)]
        for mine, theirs in zip((*made(*given), moved(*given)), (*wanted, wanted[-1]), strict=True):
            np.testing.assert_allclose(np.array(mine), theirs, rtol=0, atol=1e-11)


@direct_operators()
def test_where_the_search_begins_changes_nothing() -> None:
    """No derivative by positions of dependent joints is there at all."""
    robot = codegen.load("six_bar")
    asked = task(robot, "integrate")
    own = raw(asked, symbols_of(asked.signature[0]))
    J = own.jvp(SX.eye(own.program.x.size1()))
    (solution,) = own.program.solutions
    assert str(solution) == f"{solution.residual.size1()} moves of joints that close loops"
    columns = [k for k in range(robot.nq) if J[:, k].nnz()]
    assert len(columns) == robot.nq - solution.residual.size1()


@pytest.mark.parametrize(
    ("name", "algorithm"), [("iiwa", "integrate"), ("four_bar", "step"), ("chain12_belt", "integrate")]
)
@direct_operators()
def test_others_close_nothing(name: str, algorithm: str) -> None:
    asked = task(codegen.load(name), algorithm)
    assert closing(asked, symbols_of(asked.signature[0])) is None
