"""Another link in place of a floating base (`codegen.rerooting`), and what zeros in forces on the base save."""

from __future__ import annotations

from dataclasses import replace

import interpreted
import numpy as np
import pytest
from casadi import DM, SX, Function, triu, vec
from mechanisms_cases import mechanism
from scenarios import DELASSUS, problem, worst
from thorough import besides, diagonal

import codegen
from codegen.algorithms import ALGORITHMS
from codegen.api import graphs
from codegen.geometry import Pose, axis_rotation, mat3
from codegen.ir.counting import count
from codegen.ir.graph import Port, from_casadi
from codegen.ir.interpreter import interpret
from codegen.lowering.problem import coordinates_of
from codegen.lowering.reroot import hung_on, rerooted
from codegen.model import Frame
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE, constrained, with_parameters
from codegen.passes import run
from codegen.spatial import constant, ldl

REROOTED = tuple(
    name
    for name, entry in ALGORITHMS.items()
    if entry.needs().base_link and entry.declares.contact_traffic != "branches"
)
MOST = {"caba_osimf": 1.005}  # it forms L1 and K1 as well, of which the step's estimates know nothing
HUMANOID = ("l_foot:6", "r_foot:6", "l_hand:6", "r_hand:6")
TYPES = ("revolute", "prismatic", "revolute", "spherical", "revolute") * 2


def held(robot, *texts):
    return tuple(contact_of(robot, text) for text in texts)


def base_of(robot, *texts):
    """The base of a robot by name, and the link that floats in its place."""
    model = codegen.load(robot) if isinstance(robot, str) else robot
    return model.bodies[0].name, rerooted(model, held(model, *texts)).bodies[0].name


def where_it_was(model, algorithm, **given):
    """A graph of a robot whose base stays where it is."""
    return graphs(model, algorithm, **given, without=["reroot"])[1]


def pivots(A):
    """The pivots of A = L D L'."""
    return np.diag(np.linalg.cholesky(A)) ** 2


def read(x, *symbols):
    """The graph of x, folded as every graph is."""
    ports = tuple(Port(f"x{n}", (symbol.numel(),)) for n, symbol in enumerate(symbols))
    function = Function("f", [vec(symbol) for symbol in symbols], [vec(x)], {"live_variables": False})
    return run(from_casadi(function, ports, (Port("y", (x.numel(),)),), "f"))


def above(model, b):
    """Body b and those that carry it."""
    return (b, *above(model, model.bodies[b].parent)) if b >= 0 else ()


@pytest.mark.parametrize("seed", range(4))
def test_contacts_feel_the_same_whichever_link_floats(seed):
    """Dense mechanics of both robots, for every link that might float."""
    model = mechanism((*TYPES, "floating", "revolute"), seed, base="floating", branching=0.3)
    contacts = [f"tool{b}:6" for b in (0, 3, 7, len(model.bodies) - 1)]
    q = model.random(seed)[0]
    W = ORACLE["efpa"](model, q, contacts=held(model, *contacts))
    plain = [b for b, body in enumerate(model.bodies) if body.joint.type in ("revolute", "prismatic")]
    roots = [b for b in plain if above(model, b)[-1] == 0 and {*above(model, b)[:-1]} <= {*plain}]
    assert roots
    for root in roots:
        other = hung_on(model, root)
        assert (other.bodies[0].name, other.nq) == (model.bodies[root].name, model.nq)
        there = np.array(DM(coordinates_of(other, model, SX(q)))).ravel()
        same = ORACLE["efpa"](other, there, contacts=held(other, *contacts))
        np.testing.assert_allclose(same, W, rtol=0, atol=1e-11 * np.abs(W).max())


def test_loops_are_carried_along():
    """A knee geared to its ankle; the other leg and the arms hang the other way round, or do not."""
    model = codegen.load("atlas").with_loop("gear", explicit={"l_leg_aky": "-0.5*l_leg_kny + 0.1"})
    contacts = ("l_foot:6", "r_foot:3", "l_hand:3")
    q = model.random(1)[0]
    W = ORACLE["efpa"](model, q, contacts=held(model, *contacts))
    number = {body.name: b for b, body in enumerate(model.bodies)}
    for name in ("l_lglut", "ltorso", "r_foot", "l_ufarm"):
        other = hung_on(model, number[name])
        there = np.array(DM(coordinates_of(other, model, SX(q)))).ravel()
        same = ORACLE["efpa"](other, there, contacts=held(other, *contacts))
        np.testing.assert_allclose(same, W, rtol=0, atol=1e-11 * np.abs(W).max())
    assert rerooted(model, held(model, *contacts)).bodies[0].name != "pelvis"
    found, *_ = interpret(interpreted.graph(model, "pv_osim", contacts=contacts), q)
    np.testing.assert_allclose(found, W, rtol=0, atol=1e-11 * np.abs(W).max())


@pytest.mark.parametrize("algorithm", besides(["pv_osim"], REROOTED))
@pytest.mark.parametrize(
    ("robot", "texts"),
    besides(
        [("go1", ("FL_foot:3", "RR_foot:3"))],
        [("talos", ("left_sole_link:6",)), ("atlas", HUMANOID), ("go1", ("FL_foot:3", "RR_foot:3"))],
    ),
)
def test_fewer_operations_and_the_same_results(algorithm, robot, texts):
    model, rng = codegen.load(robot), np.random.default_rng(0)
    before, after = where_it_was(model, algorithm, contacts=texts), graphs(model, algorithm, contacts=texts)[1]
    carried = ALGORITHMS[algorithm].declares.contact_traffic
    stays = rerooted(model, held(model, *texts), carried) is model
    assert stays <= (len(texts) > 1 and carried != "forces")  # the base is among the contacts already
    most = MOST.get(algorithm, 1.0) * count(before).total
    assert after == before if stays else count(after).total < most
    q = np.array([model.random(rng)[0] for _ in range(4)])
    given = [rng.standard_normal((4, *port.shape)) for port in after.inputs[1:]]
    old, new = interpret(before, q, *given)[0], interpret(after, q, *given)[0]
    np.testing.assert_allclose(new, old, rtol=0, atol=1e-8 * np.abs(old).max())


@pytest.mark.parametrize("algorithm", besides(["aba_osim", "pv_osimr", "caba_osim"], [*DELASSUS, "caba_osim"]))
@pytest.mark.parametrize("seed", besides([0], range(3)))
def test_random_robots(algorithm, seed):
    model = mechanism(TYPES, seed, base="floating", branching=0.25)
    tips = sorted({*range(1, len(model.bodies))} - {body.parent for body in model.bodies})
    given = problem(model, held(model, *(f"tool{b}:{3 + 3 * (b % 2)}" for b in tips[:2])), 5, regular=False)
    parameters = {"parameters": ("mu",)} if algorithm == "caba_osim" else {}
    found, *_ = interpret(given.graph(algorithm, **parameters), given.q, *[np.full(5, 10.0)] * len(parameters))
    W = [constrained.delassus(at) for at in given.at]
    expected = [np.linalg.inv(w + np.eye(len(w)) / 10.0) for w in W] if parameters else W
    assert worst(found, np.array(expected)) < 1e-10


def test_compiled_with_a_payload(build):
    """What is asked of a link that hangs the other way round is asked of the same place on it."""
    model, texts = codegen.load("atlas"), HUMANOID
    load = np.array([3.0, 0.1, -0.2, 0.05, 0.02, 0.03, 0.04, 0.001, 0.002, 0.003])
    q = model.random(0)[0]
    W = build(model, "pv_osim", contacts=texts, parameters=("payload:pelvis",))(q, load)
    expected = ORACLE["efpa"](with_parameters(model, {"payload:pelvis": load}), q, contacts=held(model, *texts))
    np.testing.assert_allclose(W, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_the_base_goes_among_the_contacts():
    assert base_of("talos", "left_sole_link:6", "right_sole_link:6") == ("base_link", "leg_left_1_link")
    assert base_of("talos", "left_sole_link:6") == ("base_link", "leg_left_4_link")
    assert base_of("atlas", *HUMANOID) == ("pelvis", "ltorso")
    assert base_of("go1", "FL_foot:3") == ("base", "FL_thigh")


def test_or_stays():
    """Where legs are in step, and where somebody looks at the base's coordinates or axes."""
    assert base_of("go1", *(f"{leg}_foot:3" for leg in ("FL", "FR", "RL", "RR"))) == ("base", "base")
    assert base_of("atlas", "pelvis:3", "l_foot:6") == ("pelvis", "pelvis")
    assert base_of("iiwa", "lbr_iiwa_link_7:6")[1] == "lbr_iiwa_link_1"
    atlas = codegen.load("atlas")
    foot = atlas.contact("l_foot", 6, axes="world")
    assert rerooted(atlas, [foot]) is atlas
    base = atlas.bodies[0]
    heavy = replace(base, joint=replace(base.joint, armature=0.1))
    assert base_of(replace(atlas, bodies=(heavy, *atlas.bodies[1:])), "l_foot:6") == ("pelvis", "pelvis")
    assert {"constrained_aba", "pv", "aba", "minverse", "pv_osimf"}.isdisjoint(REROOTED)
    assert rerooted(atlas, held(atlas, "l_foot:6"), "branches") is atlas


@pytest.mark.thorough
def test_not_onto_a_finger():
    """Which would carry a humanoid, and lose two digits."""
    model, texts = codegen.load("atlas_shadow"), ("lh_fftip:3",)
    assert base_of(model, *texts)[1] == "b_l_arm_wry"
    q = np.array([model.random(seed)[0] for seed in range(20)])
    W, *_ = interpret(interpreted.graph(model, "pv_osim", contacts=texts), q)
    assert worst(W, np.array([ORACLE["efpa"](model, x, contacts=held(model, *texts)) for x in q])) < 3e-14


@pytest.mark.parametrize(("algorithm", "axes"), diagonal(REROOTED, ["tool6", "tool1", "shelf", "tool7"]))
def test_axes_that_do_not_float_with_the_contact(algorithm, axes):
    """Of a frame on the world, of a link that hangs there, of another robot that floats; those that do may be any."""
    model = mechanism(("revolute",) * 5 + ("floating", "revolute"), 3, base="floating", branching=0.0)
    bodies = [replace(body, parent=-1) if b in (6, 7) else body for b, body in enumerate(model.bodies)]
    nodes = [replace(node, parent=-1) if b in (6, 7) else node for b, node in enumerate(model.nodes)]
    frames = (*model.frames, Frame("shelf", -1, Pose(mat3(axis_rotation(0, 0.6, 0.8)))))
    model = replace(model, bodies=tuple(bodies), nodes=tuple(nodes), frames=frames)
    contacts = (model.contact("tool5", 3, axes=axes), model.contact("tool4", 3), model.contact("tool6", 3))
    assert (rerooted(model, contacts) is model) == (axes != "tool1")
    given = problem(model, contacts, 5, regular=False)
    b = [np.ones((5, 9))] if algorithm in ("caba_osim_swept", "caba_osimf") else []
    damped = algorithm.startswith("caba")
    mu = [np.full(5, 10.0)] if damped else []
    found, *_ = interpret(given.graph(algorithm, parameters=("mu",) if damped else ()), given.q, *b, *mu)
    W = [constrained.delassus(at) for at in given.at]
    expected = [np.linalg.inv(w + np.eye(9) / 10.0) for w in W] if damped else W
    assert worst(found, np.array([x @ np.ones(9) for x in expected] if b else expected)) < 1e-10


@pytest.mark.thorough
@pytest.mark.parametrize(("algorithm", "base"), [("aba_osim", "pelvis"), ("pv_osim", "l_uglut")])
def test_pairs_of_joints_want_short_ways(algorithm, base):
    """A longer way from one foot costs more than the other's shorter one wins where factors are formed of pairs."""
    atlas, texts = codegen.load("atlas"), ("l_foot:6", "r_foot:6")
    assert rerooted(atlas, held(atlas, *texts), ALGORITHMS[algorithm].declares.contact_traffic).bodies[0].name == base
    before, after = where_it_was(atlas, algorithm, contacts=texts), graphs(atlas, algorithm, contacts=texts)[1]
    assert count(after).total <= count(before).total


def test_offsets_that_are_arguments_leave_it():
    model, options = codegen.load("go1"), {"contacts": ("FL_foot:3",), "parameters": ("offset:FL_hip_joint",)}
    assert graphs(model, "pv_osim", **options)[1] == where_it_was(model, "pv_osim", **options)


@pytest.mark.parametrize("first", range(5))
@pytest.mark.parametrize("zeros", range(4))
def test_rows_that_follow_from_the_first(first, zeros):
    """y' A^-1 y where the first row of some y that is no zero comes before such that are."""
    rng, n = np.random.default_rng(first), 6
    L = rng.standard_normal((n, n))
    A, y = L @ L.T + np.eye(n), {"a": rng.standard_normal((n, 3)), "b": rng.standard_normal((n, 2))}
    for Y in y.values():
        Y[:first] = Y[first + 1 : first + 1 + zeros] = 0.0
    y["c"] = rng.standard_normal((n, 1))
    symbol = SX.sym("A", n, n)
    factors, given = ldl(symbol), {key: constant(Y) for key, Y in y.items()}
    pairs = factors.products(given)
    assert [*pairs] == [("a", "a"), ("a", "b"), ("b", "b"), ("a", "c"), ("b", "c"), ("c", "c")]
    for (one, other), block in pairs.items():
        found = np.array(Function("block", [symbol], [block])(A))
        np.testing.assert_allclose(found, y[one].T @ np.linalg.solve(A, y[other]), rtol=0, atol=1e-12)
    half = np.array(Function("half", [symbol], [factors.forward(given["a"])])(A))
    np.testing.assert_allclose(
        half.T @ np.diag(1 / pivots(A)) @ half, y["a"].T @ np.linalg.solve(A, y["a"]), atol=1e-12
    )


def test_they_save_operations():
    A, y = SX.sym("A", 6, 6), SX.sym("y", 6, 5)
    known = SX(y)
    known[1, :] = SX(1, 5)
    factors = ldl(A)

    def operations(Y):
        merged, plain = factors.products({0: Y})[0, 0], Y.T @ factors.solve(Y)
        return [count(read(triu(x), A, y)).total for x in (merged, plain)]

    (after, before), same = operations(known), operations(y)
    assert after < before - 60
    assert same[0] <= same[1]
