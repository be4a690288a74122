"""Derivatives of proximal algorithms: of settled iterations, by their own arguments, near singular rows, in float32."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from mpmath import matrix, mp
from thorough import besides

import codegen
from codegen.algorithms import OPTIONAL, optional
from codegen.ir.interpreter import interpret
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE, constrained
from codegen.recursions.dual import UNSETTLED
from codegen.task.options import task_of
from codegen.tracing.task import Task
from codegen.tracing.trace import casadi_function, trace

SETTLED = 1e-8
PROXIMAL = ("prox_pv", "constrained_aba", "aba_prox", "aba_prox_stiff", "tree_kkt", "prox_ltl", "prox_ltls", "prox_kkt")
PLANAR = ("chain:3", "link2:x,y")


@cache
def held(robot: str, *texts: str):
    model = codegen.load(robot)
    return model, tuple(contact_of(model, text) for text in texts)


def error(found, expected):
    return np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-3)


@pytest.mark.parametrize("algorithm", besides(["prox_pv", "constrained_aba"], PROXIMAL))
def test_against_algorithmic_differentiation_of_the_settled_iteration(algorithm):
    """Forward AD of eight unrolled steps, whose errors are below rounding, as those of the derivatives are."""
    model, contacts = held(*PLANAR)
    rng = np.random.default_rng(5)
    given, n = model.random(rng), model.nv
    unrolled = casadi_function(Task(model, algorithm, contacts=contacts, iterations=8))
    x = [ca.SX.sym(f"x{k}", n) for k in range(3)]
    results = ca.vertcat(*unrolled.call(x)[:2])
    J = ca.Function("J", x, [ca.jacobian(results, ca.vertcat(*x))])(*given).full()
    found = interpret(trace(Task(model, f"{algorithm}_derivatives", contacts=contacts)), *given)
    for part, rows in ((found[:3], J[:n]), (found[3:6], J[n:])):
        for mine, theirs in zip(part, np.hsplit(rows, 3), strict=True):
            assert error(mine, theirs) < SETTLED


REPEATED = besides(
    [("chain:3", ("link2:x,y", "link2:x"), "prox_pv")],
    [
        ("chain:3", ("link2:x,y", "link2:x"), "prox_pv"),
        *(("iiwa", ("lbr_iiwa_link_7:6", "lbr_iiwa_link_7:3"), name) for name in PROXIMAL),
    ],
)


@pytest.mark.parametrize(("robot", "texts", "algorithm"), REPEATED)
def test_by_mu_and_by_the_first_multipliers(robot, texts, algorithm):
    """Of redundant rows: the limit does not depend on mu; lam0 changes multipliers by what makes no force, and no more.

    That is 1 - W+ W, of the dense Delassus matrix.
    """
    model, contacts = held(robot, *texts)
    task = task_of(model, f"{algorithm}_derivatives", (), (), (), contacts, 3, wrt=("k", "mu", "lam0"))
    rng, names = np.random.default_rng(2), [port.name for port in task.signature[1]]
    q, v, tau = model.random(rng)
    m = sum(len(contact.rows) for contact in contacts)
    own = {"k": rng.standard_normal(m), "mu": np.asarray(1e5), "lam0": rng.standard_normal(m)}
    given = [own.get(port.name) for port in task.signature[0]][3:]
    found = dict(zip(names, interpret(trace(task), q, v, tau, *given), strict=False))
    at = constrained.equations(model, q, v, contacts=contacts)
    W = constrained.delassus(at)
    inverse = np.linalg.pinv(W, rcond=1e-10)
    size = np.abs(inverse).max()
    assert np.abs(found["da_dmu"]).max() < 1e-10
    assert np.abs(found["dlam_dmu"]).max() < 1e-8 * size
    assert np.abs(found["da_dlam0"]).max() < 1e-6
    assert np.abs(found["dlam_dlam0"] - (np.eye(m) - inverse @ W)).max() < 1e-6
    assert error(found["da_dk"], np.linalg.solve(at.M, at.J.T) @ inverse) < 1e-6
    assert error(found["dlam_dk"], inverse) < 1e-3


def test_by_compliance():
    """R lam is what rows lack: dlam/dR = -(W + R)^-1 diag(lam), da/dR = M^-1 J' of it."""
    model, contacts = held("chain:3", "link2:x,y", "link2:x")
    task = task_of(model, "pv_soft_derivatives", (), (), (), contacts, 3, wrt=("R",))
    names, (q, v, tau) = [port.name for port in task.signature[1]], model.random(4)
    R = np.array([0.02, 0.1, 0.3])
    found = dict(zip(names, interpret(trace(task), q, v, tau, R), strict=False))
    at = constrained.equations(model, q, v, contacts=contacts)
    _, lam = ORACLE["pv_soft"](model, q, v, tau, contacts=contacts, parameters={"R": R})
    expected = -np.linalg.solve(constrained.delassus(at) + np.diag(R), np.diag(lam))
    assert error(found["dlam_dR"], expected) < 1e-10
    assert error(found["da_dR"], np.linalg.solve(at.M, at.J.T @ expected)) < 1e-10


EPSILON = float(np.finfo(np.float32).eps)
ROUNDINGS = 10.0  # of the last digit, in what is solved and what it is made of
STEPS = {False: 3, True: 6}  # of the proximal iteration, and of its derivatives

SINGLE = besides(
    ["pv_derivatives", "step_derivatives"],
    [
        *("aba_derivatives", "pv_derivatives", "prox_pv_derivatives", "constrained_aba_derivatives"),
        *("pv_soft_derivatives", "step", "step_derivatives", "prox_pv_step", "prox_pv_step_derivatives"),
        *("step_rk4_derivatives", "step_implicit_midpoint_derivatives"),
    ],
)


@pytest.mark.parametrize("algorithm", SINGLE)
def test_single_precision(algorithm):
    """Beside double precision of the same numbers: the last digit, times the condition of M, and of W.

    Solving with a matrix loses as many digits as its condition has. Proximal algorithms take a smaller mu besides, and
    so lack more where W is small.
    """
    model, contacts = held(*PLANAR)
    options = {"contacts": contacts} if "pv" in algorithm or "constrained" in algorithm else {}
    if "soft" in algorithm:
        options["parameters"] = ("R",)
    function = codegen.build(model, algorithm, dtype="float32", **options).with_status()
    exact, results = trace(Task(model, algorithm, **options)), len(Task(model, algorithm, **options).signature[1])
    known = {"dt": np.float32(5e-3), "R": np.array([0.1, 0.2], np.float32)}
    for seed in range(5):
        state = [x.astype(np.float32) for x in model.random(seed)]
        given = [*state, *(known[port.name] for port in function.inputs[3:])]
        at = constrained.equations(model, state[0], np.zeros(model.nv), contacts=contacts)
        W, solves = constrained.delassus(at), bool(options)
        condition = np.linalg.cond(at.M) * (np.linalg.cond(W) if solves else 1.0)
        steps = STEPS[algorithm.endswith("_derivatives")]
        unsettled = (1.0 + optional(model, "float32")["mu"] * np.linalg.eigvalsh(W)[0]) ** -steps
        found, expected = function(*given), interpret(exact, *(np.asarray(x, float) for x in given))
        for mine, theirs in zip(found[:results], expected[:results], strict=True):
            assert mine.dtype == np.float32
            assert error(mine, theirs) < ROUNDINGS * EPSILON * condition + solves * 5.0 * unsettled, (seed, condition)


def test_near_a_singular_state():
    """A leg that is nearly straight: derivatives grow as one over the smallest eigenvalue w of W.

    Those of pv lose as many digits as the condition of W has, until the status tells. Proximal ones lack a part
    (1 + mu w)^-6 of what they would grow to, whatever the number of iterations: it is what six steps leave.
    """
    model, contacts = held(*PLANAR)
    (_, v, tau), mu = model.random(3), OPTIONAL["mu"]
    direct, proximal = (trace(Task(model, f"{name}_derivatives", contacts=contacts)) for name in ("pv", "prox_pv"))
    grown = []
    for bend in (1e-1, 1e-2, 1e-3, 1e-5):
        q = np.array([0.4, bend, bend])
        at = constrained.equations(model, q, v, contacts=contacts)
        W = constrained.delassus(at)
        found, w = interpret(direct, q, v, tau), np.linalg.eigvalsh(W)[0]
        assert found[-1] == 0.0
        exact = -np.linalg.solve(W, np.linalg.solve(at.M, at.J.T).T)
        assert error(found[5], exact) < 10.0 * np.finfo(float).eps * np.linalg.cond(W)
        lacking = max(error(x, y) for x, y in zip(interpret(proximal, q, v, tau)[:6], found[:6], strict=True))
        assert lacking < 5.0 * (1.0 + mu * w) ** -6 + 1e-12
        grown.append(w * np.abs(found[0]).max())
    assert max(grown) < 1.1 * min(grown)
    straight = interpret(direct, np.array([0.4, 0.0, 0.0]), v, tau)
    assert straight[-1] != 0.0
    assert all(np.isfinite(x).all() for x in straight)


def by_torques(M, J, rank):
    """da/dtau and dlam/dtau of the least squares, in fifty digits: W+ by the `rank` largest eigenvalues of W."""
    with mp.workdps(50):
        M, J = matrix(M.tolist()), matrix(J.tolist())
        Minv = M**-1
        w, U = mp.eigsy(J * Minv * J.T)
        kept = U[:, len(w) - rank :]
        pseudo = kept * mp.diag([1 / w[k] for k in range(len(w) - rank, len(w))]) * kept.T
        lam = -pseudo * J * Minv
        a = Minv + Minv * J.T * lam
        return [np.array(x.tolist(), float) for x in (a, lam)]


NEARLY_STRAIGHT = besides(
    [("chain:3", ("link2:x,y", "link2:x"))],
    [
        ("chain:3", ("link2:x,y",)),
        ("chain:3", ("link2:x,y", "link2:x")),
        ("chain:3", ("link2:x,y", "link2:x,y", "link2:y")),
    ],
)


@pytest.mark.parametrize(("robot", "texts"), NEARLY_STRAIGHT)
@pytest.mark.parametrize("algorithm", besides(["prox_pv"], PROXIMAL))
def test_the_status_tells_what_six_steps_leave(robot, texts, algorithm):
    """Of a leg from bent to straight, rows repeated or not: the sum of 1 / (1 + mu w) over what is not redundant."""
    model, contacts = held(robot, *texts)
    (_, v, tau), mu, rank = model.random(3), OPTIONAL["mu"], 2
    graph = trace(Task(model, f"{algorithm}_derivatives", contacts=contacts))
    told = []
    for bend in (1e-1, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4):
        q = np.array([0.4, bend, bend])
        at = constrained.equations(model, q, v, contacts=contacts)
        W = np.linalg.eigvalsh(constrained.delassus(at))[-rank:]
        lacking = 1.0 / (1.0 + mu * W)
        *found, status = interpret(graph, q, v, tau)
        a, lam = by_torques(at.M, at.J, rank)
        worst = max(error(found[2], a), error(found[5], lam))
        rounding = 100.0 * np.finfo(float).eps * max(mu, 1.0 / W[0]) * W[-1]
        assert worst < 10.0 * lacking.max() ** 6 + rounding, (bend, worst)  # of redundant rows 7 r^6 - 6 r^7
        assert status == (lacking.sum() > UNSETTLED)
        assert status or worst < 1e-3
        told.append(bool(status))
    assert sorted(told) == told
    assert len({*told}) == 2


def test_an_unsettled_state_raises_and_has_results():
    model, contacts = held(*PLANAR)
    function = codegen.build(model, "prox_pv_derivatives", contacts=contacts)
    _, v, tau = model.random(3)
    bent, straight = np.array([0.4, 1.0, 1.0]), np.array([0.4, 0.0, 0.0])
    assert function(bent, v, tau)._fields[-1] == "dlam_dtau"
    with pytest.raises(codegen.SingularError, match="contact rows are singular") as caught:
        function(straight, v, tau)
    assert caught.value.status == 1
    assert all(np.isfinite(x).all() for x in caught.value.results)
    *found, status = function.with_status()(np.stack([bent, straight]), np.stack([v, v]), np.stack([tau, tau]))
    assert status.tolist() == [0.0, 1.0]
    assert np.array_equal(found[0][0], function(bent, v, tau).da_dq)
