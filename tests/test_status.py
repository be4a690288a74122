"""What happens at singular states: a status from the C, an exception or a flag in Python, and never a NaN."""

from __future__ import annotations

import pickle
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from casadi import SX, Function
from thorough import besides

import codegen
from codegen.algorithms.project import SMALL
from codegen.ir.graph import Graph, Port, from_casadi
from codegen.ir.interpreter import interpret
from codegen.oracle import ORACLE
from codegen.oracle.loops import closed
from codegen.spatial import Square, semidefinite_ldl
from codegen.tracing.status import with_status

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FLAT = np.zeros(3)  # the bundled four-bar is a parallelogram; here all of its bars lie in one line


def graph(solution: SX, *inputs: SX) -> Graph:
    """A graph x(A, b), with its status if it has one."""
    ports = tuple(Port(name, (x.numel(),)) for name, x in zip("Ab", inputs, strict=True))
    function = Function("solve", [x.reshape((-1, 1)) for x in inputs], [solution], {"live_variables": False})
    return with_status(from_casadi(function, ports, (Port("x", (solution.numel(),)),), "solve"))


def test_a_semidefinite_system_leaves_dependent_rows_out() -> None:
    A, b = SX.sym("A", 3, 3), SX.sym("b", 3)
    solve = graph(semidefinite_ldl(A).solve(b), A, b)
    J = np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0], [1.3, 1.0, 2.5]])  # the third row is the sum of the others
    x, status = interpret(solve, (J @ J.T).ravel(), J @ np.array([0.4, -0.2, 0.7]))
    assert status == 1
    assert x[2] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(J @ (J.T @ x), J @ np.array([0.4, -0.2, 0.7]), rtol=1e-12)
    regular = np.diag([1.0, 2.0, 3.0]) + 0.1
    x, status = interpret(solve, regular.ravel(), np.ones(3))
    assert status == 0
    np.testing.assert_allclose(x, np.linalg.solve(regular, np.ones(3)), rtol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_general_systems(n: int) -> None:
    A, b = SX.sym("A", n, n), SX.sym("b", n)
    rng = np.random.default_rng(n)
    numbers, wanted = rng.normal(size=(n, n)), rng.normal(size=n)
    solve = graph(Square(A, (np.sqrt(n),) * n).solve(b), A, b)
    x, status = interpret(solve, numbers.ravel(order="F"), numbers @ wanted)
    assert status == 0
    np.testing.assert_allclose(x, wanted, rtol=1e-11)
    numbers[-1] = numbers[: n - 1].sum(axis=0)
    x, status = interpret(solve, numbers.ravel(order="F"), wanted)
    assert status >= 1
    assert np.isfinite(x).all()


def test_systems_are_solved_block_by_block() -> None:
    pattern = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [0, 1, 1, 1]])[[2, 0, 3, 1]][:, [1, 2, 0, 3]]
    numbers = np.random.default_rng(3).normal(size=(4, 4)) * pattern
    A, b = SX(4, 4), SX.sym("b", 4)
    for r, c in zip(*np.nonzero(pattern), strict=True):
        A[int(r), int(c)] = SX.sym(f"a{r}{c}")
    entries = A.nonzeros()
    x = Square(A, (1.0,) * 4).solve(b)
    found = np.array(Function("f", [*entries, b], [x])(*(numbers[numbers.T.nonzero()[::-1]]), np.arange(4.0)))
    np.testing.assert_allclose(found.ravel(), np.linalg.solve(numbers, np.arange(4.0)), rtol=1e-11)


def test_only_what_can_fail_has_a_status() -> None:
    assert "status" not in {p.name for p in codegen.graphs(codegen.load("iiwa"), "aba")[1].outputs}
    four_bar = codegen.load("four_bar")
    assert codegen.graphs(four_bar, "aba")[1].outputs[-1].name == "status"
    geared = codegen.load("chain12_geared")  # its loops are explicit: nothing to be singular
    assert [p.name for p in codegen.graphs(geared, "crba")[1].outputs] == ["M"]
    crba = codegen.build(codegen.load("chain:2"), "crba")
    assert crba.with_status() is crba


@pytest.mark.parametrize("algorithm", besides(["rnea", "aba"], ["rnea", "aba", "crba", "ltl", "minverse"]))
def test_a_loop_at_a_singular_position(algorithm: str) -> None:
    robot = codegen.load("four_bar")
    function = codegen.build(robot, algorithm)
    _, *rest = (np.zeros(port.shape) for port in function.inputs)
    with pytest.raises(codegen.SingularError, match=f"{algorithm}: loops .* this state; with_status") as caught:
        function(FLAT, *rest)
    assert caught.value.status == 1
    assert np.isfinite(caught.value.results).all()
    states = np.stack([FLAT if k % 5 == 2 else robot.random(np.random.default_rng(k))[0] for k in range(23)])
    with pytest.raises(codegen.SingularError, match="5 of 23 states, the first number 2"):
        function(states, *rest, threads=2)
    copied = pickle.loads(pickle.dumps(caught.value))
    assert str(copied) == str(caught.value)
    np.testing.assert_array_equal(copied.status, caught.value.status)
    twin = pickle.loads(pickle.dumps(function.with_status()))
    np.testing.assert_array_equal(twin(FLAT, *rest)[-1], 1)
    result, status = function.with_status()(states, *rest)
    np.testing.assert_array_equal(status, np.arange(23) % 5 == 2)
    for k in np.flatnonzero(status == 0):
        np.testing.assert_allclose(result[k], function(states[k], *rest), rtol=1e-12)
    assert np.isfinite(result).all()


@pytest.mark.parametrize(
    "name", besides(["parallel_chain_implicit_d5_l7"], ["parallel_chain_implicit_d5_l7", "tello_humanoid"])
)
def test_steps_that_loops_cannot_follow(build: Callable[..., Any], name: str) -> None:
    """Where there is no status loops are closed; where there is one they are not, and states are finite."""
    robot = codegen.load(name)
    integrate, rng = build(robot, "integrate"), np.random.default_rng(1)
    q, dv = np.array([robot.random(rng)[0] for _ in range(30)]), rng.standard_normal((30, robot.nv))
    ends, status = integrate.with_status()(q, dv)
    assert 3 < np.count_nonzero(status) < 27
    for end, told in zip(ends, status, strict=True):
        there = closed(robot, end)
        gap = np.abs(np.concatenate([tie.residual(there.at).real for tie in there.tied])).max()
        assert 1e-6 < gap < np.inf if told else gap < SMALL**2
    with pytest.raises(codegen.SingularError, match="loops out of reach"):
        integrate(q, dv)


def test_differences_and_derivatives_of_steps_do_not_fail_where_loops_do() -> None:
    """They are those of the independent joints: here of a crank, whose steps are sums."""
    robot = codegen.load("four_bar")
    bent, dv = robot.random(1)[0], np.array([0.3])
    graphs = {
        name: codegen.graphs(robot, name)[1]
        for name in ("integrate", "integrate_derivatives", "difference", "difference_derivatives")
    }
    assert interpret(graphs["integrate"], FLAT, dv)[-1] > 0
    assert interpret(graphs["integrate"], bent, FLAT[:1] - bent[:1])[-1] > 0
    assert [name for name, graph in graphs.items() if graph.outputs[-1].name == "status"] == ["integrate"]
    assert [float(x[0, 0]) for x in interpret(graphs["integrate_derivatives"], FLAT, dv)] == [1.0, 1.0]
    assert [float(x[0, 0]) for x in interpret(graphs["difference_derivatives"], bent, FLAT)] == [-1.0, 1.0]
    np.testing.assert_allclose(interpret(graphs["difference"], bent, FLAT)[0], -bent[:1], rtol=1e-15)
    for kind in ("jvp", "vjp"):
        product = codegen.graphs(robot, "integrate", derivative=kind)[1]
        assert "status" not in {port.name for port in product.outputs}
        assert all(np.isfinite(x).all() for x in interpret(product, FLAT, dv, *np.ones((len(product.inputs) - 2, 1))))


@pytest.mark.parametrize(
    ("name", "frame"),
    besides([("iiwa", "lbr_iiwa_link_7")], [("iiwa", "lbr_iiwa_link_7"), ("talos", "left_sole_link")]),
)
def test_dependent_contacts(build: Callable[..., Any], name: str, frame: str) -> None:
    robot = codegen.load(name)
    sole = robot.contact(frame)
    twice, once = (build(robot, "pv", contacts=held) for held in ([sole, sole], [sole]))
    q, v, tau = robot.random(np.random.default_rng(4))
    with pytest.raises(codegen.SingularError) as caught:
        twice(q, v, tau)
    a, lam = caught.value.results
    assert caught.value.status == 6
    expected = ORACLE["pv"](robot, q, v, tau, contacts=(sole,))
    np.testing.assert_allclose(a, expected[0], rtol=1e-8, atol=1e-8 * np.abs(a).max())
    np.testing.assert_allclose(lam[:6], expected[1], rtol=1e-8, atol=1e-8 * np.abs(lam).max())
    assert np.abs(lam[6:]).max() < 1e-25
    assert twice.with_status()(q, v, tau).status == 6
    assert once.with_status()(q, v, tau).status == 0
    assert once(q, v, tau)._fields == ("a", "lam")


def test_a_stretched_arm(build: Callable[..., Any]) -> None:
    robot = codegen.load("iiwa")
    held = [robot.contact(robot.tips[0])]
    for algorithm in ("pv", "pv_osimf"):
        function = build(robot, algorithm, contacts=held).with_status()
        zeros = [np.zeros(port.shape) for port in function.inputs]
        result = function(*zeros)
        assert result.status >= 1
        assert all(np.isfinite(part).all() for part in result)


def test_states_that_are_no_numbers_have_a_status() -> None:
    """Where there is a status: in one call, and among sound states of a batch."""
    robot = codegen.load("four_bar")
    aba = codegen.build(robot, "aba")
    state = tuple(np.full(n, np.nan) for n in (robot.nq, robot.nv, robot.nv))
    with pytest.raises(codegen.SingularError, match="aba: loops"):
        aba(*state)
    states = [np.stack([x, *(robot.random(k)[i] for k in range(9))]) for i, x in enumerate(state)]
    a, status = aba.with_status()(*states)
    np.testing.assert_array_equal(status, np.arange(10) == 0)
    assert np.isfinite(a[1:]).all()


def test_single_precision_has_a_status_too() -> None:
    function = codegen.build(codegen.load("four_bar"), "aba", dtype="float32").with_status()
    assert function(FLAT, [0.0], [0.0]).status == 1


def test_iterations_to_a_tolerance_have_a_status() -> None:
    robot = codegen.load("four_bar")
    function = codegen.build(robot, "constrained_aba", iterations=None, contacts=[f"{robot.tips[0]}:3"])
    given = [np.zeros(port.shape) for port in function.inputs[:-2]]
    with pytest.raises(codegen.SingularError):
        function(*given, 1e-9, 20)
    result = function.with_status()(*given, 1e-9, 20)
    assert result._fields[-3:] == ("iterations", "residual", "status")
    assert result.status == 1


@pytest.mark.parametrize("backend", ["c", "c_portable"])
def test_the_c_function_returns_its_status(tmp_path: Path, backend: str) -> None:
    lanes = 4 if backend == "c" else 1
    codegen.generate(codegen.load("four_bar"), ["crba"], tmp_path / "c", prefix="bar", lanes=lanes, backend=backend)
    main = """#include <math.h>
#include <stdio.h>
#include "bar.h"
int main(void)
{
    double q[3][3] = {{0.3, 0.3, -0.3}, {0, 0, 0}, {NAN, 0, 0}}, M[3], status[3];
    printf("%d %d %d\\n", bar_crba(q[0], M, status), bar_crba(q[1], M, status), bar_crba(q[2], M, status));
#ifdef BAR_CRBA_WORK
    double work[BAR_CRBA_WORK];
    bar_crba_aos(3, q[0], 3, M, 1, status, 1, work);
    printf("%g %g %g\\n", status[0], status[1], status[2]);
#endif
    return 0;
}
"""
    (tmp_path / "main.c").write_text(main)
    compiler = shutil.which("cc") or shutil.which("gcc") or "cc"
    sources = [str(path) for path in sorted((tmp_path / "c").glob("bar*.c"))]
    program = tmp_path / "main"
    command = [compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{tmp_path / 'c'}"]
    subprocess.run([*command, str(tmp_path / "main.c"), *sources, "-lm", "-o", str(program)], check=True)
    out = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    assert out == "0 1 1\n" * (2 if lanes > 1 else 1)
