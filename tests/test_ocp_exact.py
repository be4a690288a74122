"""Exact Hessians of stages through the functions they call, and the nonlinear programs that are made of them."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from mechanisms_cases import mechanism

import codegen
from codegen import ocp
from codegen.errors import RobotError
from codegen.ocp.parts import emitted, parts_of
from codegen.ocp.program import Program

pytest.importorskip("casadi", minversion="3.8")
pytest.importorskip("scipy")
H, LIMIT = 0.05, 4.0
BARRIER = 1e-2, 0.05


@cache
def arm() -> codegen.Model:
    """A small arm."""
    return mechanism(("revolute", "revolute", "revolute"), 3)


def nested(robot: codegen.Model, *, expand: bool) -> ocp.Stage:
    """A stage that calls functions of functions' results, in its rows and in its cost."""
    nq, nv, frame = robot.nq, robot.nv, robot.frames[-1].name

    def of(name: str, *constant: str, **options: object) -> ca.Function:
        lean = {} if expand else {"lean": True, "constant": constant}
        return codegen.to_casadi(robot, name, expand=expand, **lean, **options)

    stage = ocp.Stage()
    (dq, dq_next), (dv, dv_next), (df, _) = (stage.unknown(x, size) for x, size in (("dq", nv), ("dv", nv), ("df", 3)))
    q = stage.call(of("integrate"), stage.parameter("q", nq), dq)
    v, v_next = stage.parameter("v", nv) + dv, stage.parameter("v_next", nv) + dv_next
    f = stage.parameter("f", 3) + df
    fk = of("fk", frames=(frame,))
    _, rotation, velocity = stage.call(fk, q, v)
    after = stage.call(fk, q, v_next)[2]  # whose second derivatives nothing takes
    wrench = ca.horzcat((rotation.T @ f).T, ca.SX(1, 3))
    tau = stage.call(of("rnea", external=(frame,)), q, v, (v_next - v) / H, wrench)
    stage.zero(dq - dq_next, tau[:6], after[0, :3] - velocity[0, :3])
    stage.bounded(-1.0, tau[6:], np.inf)
    stage.bounded(0.0, 0.5 * f[2] - f[:2], 10.0)
    stage.cost([1.0, 2.0, 3.0], velocity[0, :3])
    stage.cost(0.1, ca.vertcat(dq, v, tau))
    stage.cost(2.0, stage.call(of("difference", "q0"), stage.parameter("q_wanted", nq), q))
    return stage


def numbers(robot: codegen.Model, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Parameters of this stage."""
    q, v, _ = robot.random(rng)
    given = {"q": q, "v": v, "v_next": v + 0.1 * rng.standard_normal(robot.nv), "f": rng.standard_normal(3)}
    return {**given, "q_wanted": robot.random(rng)[0]}


def test_hessians_of_nested_calls_are_exact() -> None:
    """Against CasADi's own AD of the same operations, and against differences of the cost with its barriers."""
    robot, rng = mechanism(("revolute",), 3, base="floating", convention="mujoco"), np.random.default_rng(5)
    ours, peer = (nested(robot, expand=expand) for expand in (False, True))
    given = numbers(robot, rng)
    found = ours.linearised("ours", compile_c=False, exact=BARRIER)(**given)
    expected = peer.linearised("peer", compile_c=False, exact=BARRIER)(**given)
    assert len(ours.calls) == 5
    assert not peer.calls
    for name, value in expected.items():
        scale = max(1.0, np.abs(value.full()[np.isfinite(value.full())]).max(initial=0))
        np.testing.assert_allclose(found[name].full(), value.full(), rtol=0, atol=1e-9 * scale, err_msg=name)
    unknowns = ca.vertcat(*peer.unknowns.values(), *peer.following.values())
    _, residual, low, rows, up = peer.parts()
    parts = ca.Function("parts", [unknowns, *peer.parameters.values()], [residual, rows - low, up - rows])
    barrier, near = BARRIER

    def cost(x: np.ndarray) -> float:
        own, *slacks = (part.full().ravel() for part in parts(x, *given.values()))
        slack = np.concatenate(slacks)[np.isfinite(np.concatenate(slacks))]
        below = np.minimum(slack - near, 0) / near  # where the logarithm goes on as its second Taylor polynomial
        return float(own @ own / 2 - barrier * np.sum(np.log(np.maximum(slack, near)) + below - below**2 / 2))

    by = found["bounded_by"].full()
    slacks = np.stack([-found["lower"].full().ravel(), found["upper"].full().ravel()])
    curvature = np.sum(barrier / np.maximum(slacks, near) ** 2, axis=0)
    half = found["hessian"].full()
    whole = half + np.triu(half, 1).T + by.T @ np.diag(curvature) @ by
    for way in rng.standard_normal((5, unknowns.numel())) / np.sqrt(unknowns.numel()):
        steps = [cost(s * 1e-4 * way) for s in (-2, -1, 0, 1, 2)]
        second = np.dot([-1, 16, -30, 16, -1], steps) / 12e-8
        assert way @ whole @ way == pytest.approx(second, rel=1e-4, abs=1e-2)


def test_constant_arguments_are_no_unknowns() -> None:
    """A function has no derivatives by them."""
    robot, stage = arm(), ocp.Stage()
    q = stage.parameter("q", robot.nq) + stage.unknown("dq", robot.nv)[0]
    distance = codegen.to_casadi(robot, "difference", lean=True, constant=("q0",))
    stage.cost(1.0, stage.call(distance, stage.parameter("q_wanted", robot.nq), q))
    assert stage.linearised("node", compile_c=False, exact=BARRIER).size_out("hessian") == (6, 6)
    stage.cost(1.0, stage.call(distance, q, stage.parameter("q_next", robot.nq)))
    with pytest.raises(RobotError, match="q0 depends on unknowns"):
        stage.linearised("node", compile_c=False)


def test_without_exact_hessians_lean_functions_give_jacobians() -> None:
    """Whose Jacobians come with Hessians alone, against CasADi's AD."""
    robot, rng = mechanism(("revolute",), 3, base="floating", convention="mujoco"), np.random.default_rng(5)
    given = numbers(robot, rng)
    found, expected = (
        nested(robot, expand=expand).linearised("node", compile_c=False)(**given) for expand in (False, True)
    )
    for name in ("zero_by", "bounded_by", "gradient", "hessian"):
        np.testing.assert_allclose(found[name].full(), expected[name].full(), rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.thorough
def test_long_parts_are_written_by_rigidc(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the same numbers; a part with numbers that C has not is left to CasADi."""
    robot, written = mechanism(("revolute",), 3, base="floating", convention="mujoco"), list[str]()

    def noted(function: ca.Function) -> ca.Function:
        made = emitted(function)
        written.append(function.name())
        return made

    monkeypatch.setattr("codegen.ocp.parts.LONG", 100)
    monkeypatch.setattr("codegen.ocp.parts.emitted", noted)
    stage, given = nested(robot, expand=False), numbers(robot, np.random.default_rng(5))
    found, expected = (
        stage.linearised("node", compile_c=compile_c, exact=BARRIER)(**given) for compile_c in (True, False)
    )
    for name, value in expected.items():
        np.testing.assert_allclose(found[name].full(), value.full(), rtol=1e-10, atol=1e-9, err_msg=name)
    assert written == ["node_weights", "node_seeds1", "node_seeds0", "node_derivatives"]
    x = ca.SX.sym("x", 100)
    for bound, kind in ((1.0, "External"), (np.inf, "SXFunction")):
        assert parts_of([])(ca.Function("part", [x], [ca.fmin(2 * x, bound * x[0])])).is_a(kind)


def test_stages_are_compiled_whole_or_in_parts() -> None:
    """A library has a symbol once: calls of two libraries that define the same one are not linked."""
    robot, rng, results = arm(), np.random.default_rng(2), []
    given = {name: rng.standard_normal(robot.nv) for name in ("q", "v", "a")}
    for orders, kind in (((2, 2), "External"), ((2, 1), "MXFunction")):
        stage = ocp.Stage()
        dq, _ = stage.unknown("dq", robot.nv)
        q, v, a = (stage.parameter(name, robot.nv) for name in given)
        one, other = (codegen.to_casadi(robot, "rnea", derivatives=order) for order in orders)
        stage.bounded(-1.0, stage.call(other, q, stage.call(one, q + dq, v, a), a), 1.0)
        stage.cost(1.0, dq)
        functions = [stage.linearised("node", compile_c=compile_c) for compile_c in (True, False)]
        assert functions[0].is_a(kind)
        assert functions[1].is_a("MXFunction")
        results += [function(**given) for function in functions]
    for found in results[1:]:
        for name, value in results[0].items():
            np.testing.assert_allclose(found[name].full(), value.full(), rtol=1e-12, atol=1e-12, err_msg=name)


def problem(nodes: int, *, expand: bool, exact: tuple[float, float] | None = None) -> ocp.Problem:
    """Moves of the arm by torques that are bounded."""
    robot = arm()
    n, stage, last = robot.nv, ocp.Stage(), ocp.Stage()
    q, v, a = (stage.parameter(x, n) + stage.unknown(f"d{x}", n)[0] for x in ("q", "v", "a"))
    stage.moves("dq", q + H * v + H**2 / 2 * a - stage.parameter("q_next", n))
    stage.moves("dv", v + H * a - stage.parameter("v_next", n))
    tau = stage.call(codegen.to_casadi(robot, "rnea", expand=expand), q, v, a) / LIMIT
    stage.bounded(-1.0, tau, 1.0)
    stage.cost(1.0, tau)
    stage.cost(10.0, q - stage.parameter("wanted", n))
    stage.cost(1e-2, ca.vertcat(v, a))
    q, v = (last.parameter(x, n) + last.unknown(f"d{x}", n)[0] for x in ("q", "v"))
    last.cost(100.0, q - last.parameter("wanted", n))
    last.cost(10.0, v)
    return ocp.Problem(stage, last, nodes, known=2 * n, compile_c=False, exact=exact)


def rest(nodes: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Parameters: at rest away from where the arm is wanted."""
    n = arm().nv
    zero, wanted = np.zeros((nodes + 1, n)), np.tile([1.5, -1.2, 1.6], (nodes + 1, 1))
    each = {"q": zero, "v": zero, "a": zero, "q_next": zero, "v_next": zero, "wanted": wanted}
    return {key: x[:-1] for key, x in each.items()}, {"q": zero[-1:], "v": zero[-1:], "wanted": wanted[-1:]}


@pytest.mark.parametrize("solver", ["fatrop", "ipopt"])
def test_derivatives_of_a_program_are_exact(solver: str) -> None:
    """Against CasADi's AD of the whole program."""
    rng, nodes = np.random.default_rng(1), 3
    ours, peer = (Program(problem(nodes, expand=expand)) for expand in (False, True))
    found, rows = ours.derivatives(solver), peer.g.numel()
    lam_f, lam_g = ca.MX.sym("f"), ca.MX.sym("g", rows)
    lagrangian = lam_f * peer.f + ca.dot(lam_g, peer.g)
    hessian, slope = ca.hessian(lagrangian, peer.x)
    whole, gradient = solver == "fatrop", ca.gradient(peer.f, peer.x)
    given = [rng.standard_normal(x.numel()) for x in (peer.x, peer.p, lam_f, lam_g)]
    values = {
        "nlp_grad_f": [gradient] if whole else [peer.f, gradient],
        "nlp_jac_g": [peer.g, ca.jacobian(peer.g, peer.x)],
        "nlp_hess_l": [slope, hessian] if whole else [ca.triu(hessian)],
    }
    for name, outputs in values.items():
        symbols = [peer.x, peer.p, lam_f, lam_g][: found[name].n_in()]
        expected = ca.Function("expected", symbols, outputs).call(given[: len(symbols)])
        for wanted, result in zip(expected, found[name].call(given[: len(symbols)]), strict=True):
            right = wanted.full()
            np.testing.assert_allclose(result.full(), right, rtol=0, atol=1e-9 * np.abs(right).max(), err_msg=name)


def by_opti(nodes: int) -> np.ndarray:
    """The accelerations that solve the same problem, by CasADi's Opti, its derivatives, and ipopt."""
    n, opti, cost = arm().nv, ca.Opti(), 0
    rnea = codegen.to_casadi(arm(), "rnea", expand=True)
    q, v, a = opti.variable(n, nodes + 1), opti.variable(n, nodes + 1), opti.variable(n, nodes)
    wanted = rest(nodes)[1]["wanted"].T
    opti.subject_to(ca.vertcat(q[:, 0], v[:, 0]) == 0)
    for k in range(nodes):
        opti.subject_to(q[:, k + 1] == q[:, k] + H * v[:, k] + H**2 / 2 * a[:, k])
        opti.subject_to(v[:, k + 1] == v[:, k] + H * a[:, k])
        tau = rnea(q[:, k], v[:, k], a[:, k]) / LIMIT
        opti.subject_to(opti.bounded(-1.0, tau, 1.0))
        cost += ca.sumsqr(tau) / 2 + 5 * ca.sumsqr(q[:, k] - wanted) + 5e-3 * ca.sumsqr(ca.vertcat(v[:, k], a[:, k]))
    opti.minimize(cost + 50 * ca.sumsqr(q[:, -1] - wanted) + 5 * ca.sumsqr(v[:, -1]))
    opti.solver("ipopt", {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-10}})
    found: np.ndarray = opti.solve().value(a).T
    return found


def test_solutions_of_nonlinear_programs() -> None:
    """With bounds that are active: those of both solvers, and of CasADi's Opti without any of our C."""
    nodes = 8
    whole, given = problem(nodes, expand=False), rest(nodes)
    expected = by_opti(nodes)
    rnea = codegen.to_casadi(arm(), "rnea", expand=True)
    for solver in ("fatrop", "ipopt"):
        nonlinear = ocp.Nonlinear(whole, solver, {"tol": 1e-7})
        found = nonlinear.solve(given)
        assert found.solved, found
        by = whole.increments(found.x)
        np.testing.assert_allclose(by["da"][:-1], expected, atol=1e-5 * np.abs(expected).max())
        assert 0 < nonlinear.inside < 10
        tau = np.array([rnea(*x).full().ravel() for x in zip(by["dq"][:-1], by["dv"][:-1], by["da"][:-1], strict=True)])
        assert np.abs(tau).max() == pytest.approx(LIMIT, abs=1e-6)


def test_newton_steps_end_where_gradients_vanish() -> None:
    """Steps with exact Hessians square the error; those of Gauss and Newton end at the same solution, more slowly."""
    nodes, ends, steps = 8, [], []
    for exact in (BARRIER, None):
        whole, (each, last) = problem(nodes, expand=False, exact=exact), rest(nodes)
        riccati = ocp.Riccati(whole, *BARRIER)
        x = {key: np.vstack([each[key], last.get(key, each[key][-1:])]) for key in ("q", "v", "a")}
        sizes = list[float]()
        for _ in range(40):
            given = {"q": x["q"][:-1], "v": x["v"][:-1], "a": x["a"][:-1], "q_next": x["q"][1:], "v_next": x["v"][1:]}
            end = {"q": x["q"][-1:], "v": x["v"][-1:], "wanted": last["wanted"]}
            found = riccati.solve(whole.evaluated(given | {"wanted": each["wanted"]}, end))
            assert found.solved, found
            by = whole.increments(found.x)
            x = {key: value + by[f"d{key}"] for key, value in x.items()}
            sizes.append(float(np.abs(found.x).max()))
        ends.append(x["a"])
        steps.append(sizes)
    exact, approximate = (np.array(sizes) for sizes in steps)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)
    first = np.argmax(exact < 1e-3)
    assert exact[first + 1] < 10 * exact[first] ** 2
    assert np.sum(approximate > 1e-9) > np.sum(exact > 1e-9)


def test_programs_that_cannot_be() -> None:
    def small(*, bound: bool = False, free: bool = False, ahead: bool = False) -> ocp.Problem:
        stage, last = ocp.Stage(), ocp.Stage()
        (x, x_next), (u, _) = stage.unknown("x", 1), stage.unknown("u", 1)
        stage.zero(x + u - x_next) if free else stage.moves("x", x + u)
        stage.bounded(x if bound else -1, u, 1)
        stage.cost(1.0, ca.vertcat(x, u, x_next if ahead else 0))
        last.unknown("x", 1)
        return ocp.Problem(stage, last, 2, known=1, compile_c=False)

    with pytest.raises(RobotError, match="choose one of fatrop, ipopt"):
        ocp.Nonlinear(small(), "snopt")
    with pytest.raises(RobotError, match=r"bounds must depend on parameters alone, not on .*x"):
        ocp.Nonlinear(small(bound=True))
    for options in ({"free": True}, {"ahead": True}):
        with pytest.raises(RobotError, match="next states must be those of `moves`"):
            ocp.Nonlinear(small(**options))
        assert ocp.Nonlinear(small(**options), "ipopt").solve(({}, {})).solved


@pytest.mark.parametrize("solver", ["fatrop", "ipopt"])
def test_programs_of_bad_numbers(solver: str) -> None:
    """Sizes and numbers that do not fit are refused; a problem without a solution has a status."""
    nodes = 3
    nonlinear, (each, last) = ocp.Nonlinear(problem(nodes, expand=False), solver, {"max_iter": 30}), rest(nodes)
    with pytest.raises(RobotError, match=r"q: 3 x 3 finite numbers"):
        nonlinear.solve((each | {"q": np.full((3, 3), np.nan)}, last))
    with pytest.raises(RobotError, match=r"v: 1 x 3 finite numbers"):
        nonlinear.solve((each, last | {"v": np.zeros((2, 3))}))
    fast = np.full((nodes, 3), 1e3)  # more than the torques can brake
    found = nonlinear.solve((each | {"v": fast}, last))
    assert not found.solved
    assert "SOLVER_RET" in str(found)
    assert nonlinear.solve((each, last)).solved
