"""Delassus matrices of unit forces behind the joints that contacts hold, and in units of length of the bodies' own."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from casadi import DM, SX, Function, vec
from mechanisms_cases import mechanism, parallel
from scenarios import problem, worst
from thorough import besides, diagonal
from trees import symbolic_tree

import codegen
from codegen import passes
from codegen.algorithms import ALGORITHMS
from codegen.algorithms.aba_osim import factors, half
from codegen.geometry import IDENTITY, Inertia, Pose, mat3, vec3
from codegen.ir.counting import count
from codegen.ir.interpreter import interpret
from codegen.lowering import Problem, Request, lowered
from codegen.lowering.length_units import measured, units_of_length
from codegen.model import Body, Frame, Joint, Node
from codegen.model.contacts import contact_of
from codegen.oracle import constrained
from codegen.packing import pack
from codegen.recursions.delassus import by_joints
from codegen.recursions.sweeps import inertia_sweep, joint_forces
from codegen.robot import Robot
from codegen.spatial import Translation, units
from codegen.task.limb_symmetry import limbs
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

MEASURED = tuple(name for name, entry in ALGORITHMS.items() if entry.needs().length_units and entry.outputs == ("W",))
HUMANOID = ("l_foot:6", "r_foot:6", "l_hand:6", "r_hand:6")


def held(robot, texts):
    model = codegen.load(robot)
    return model, tuple(contact_of(model, text) for text in texts)


def tips(armature):
    """Tips with more rows than their joints transmit forces, in no order, and rows on what carries them."""
    types = ("revolute", "revolute", "prismatic", "revolute", "revolute") * 2
    model = mechanism(types, 5, base="floating", armature=armature)
    carriers = {body.parent for body in model.bodies}
    ends = [b for b in range(len(model.bodies)) if b not in carriers]
    own = [model.contact(f"tool{b}", 6) for b in ends]
    points = [model.contact(f"body{b}", 3, points=[(0.1, 0.2, 0.0), (-0.1, 0.0, 0.3)]) for b in ends]
    return model, (*points, model.contact("body1", 2 * np.eye(6)[:4]), *own, model.contact("body0", 6))


@cache
def of_tips(armature):
    """Their problem, set up once per process."""
    return problem(*tips(armature), 10, regular=False)


@pytest.mark.parametrize(
    ("algorithm", "armature"),
    besides([("aba_osim", True), ("pv_osimr", False)], [*product(["aba_osim", *MEASURED], [True, False])]),
)
def test_more_rows_than_forces(algorithm, armature):
    given = of_tips(armature)
    W, *_ = interpret(given.graph(algorithm), given.q)
    assert worst(W, np.array([constrained.delassus(at) for at in given.at])) < 1e-11


@pytest.mark.parametrize(("algorithm", "weights"), diagonal(["caba_osim", "caba_osim_swept"], [False, True]))
def test_damped_inverses(algorithm, weights):
    given, mu = of_tips(armature=False), 50.0
    rng = np.random.default_rng(0)
    w = rng.uniform(0.5, 2.0, (10, given.rows)) if weights else np.ones((10, given.rows))
    b = rng.standard_normal((10, given.rows))
    parameters = ("mu", "weight") if weights else ("mu",)
    arguments = [given.q, *([b] if algorithm == "caba_osim_swept" else []), np.full(10, mu), *([w] if weights else [])]
    found, *_ = interpret(given.graph(algorithm, parameters=parameters), *arguments)
    for n, at in enumerate(given.at):
        expected = np.linalg.inv(constrained.delassus(at) + np.diag(1 / (mu * w[n])))
        assert worst(found[n : n + 1], (expected @ b[n] if algorithm == "caba_osim_swept" else expected)[None]) < 1e-9


@pytest.mark.thorough
def test_compiled(build):
    robot, contacts = held("atlas", HUMANOID)
    given, mu = problem(robot, contacts, 3), 1e3
    W = np.array([constrained.delassus(at) for at in given.at])
    for name in ("pv_osim", "aba_osim"):
        assert worst(build(robot, name, contacts=contacts)(given.q), W) < 1e-12
    b = np.random.default_rng(1).standard_normal((3, given.rows))
    applied = build(robot, "caba_osim_swept", contacts=contacts, parameters=("mu",))(given.q, b, np.full(3, mu))
    damped = np.array([constrained.damped(at, mu) for at in given.at])
    assert worst(applied, np.einsum("nij,nj->ni", damped, b)) < 1e-10


@pytest.mark.parametrize("name", besides(["pv_osim"], ["pv_osim", "aba_osim"]))
def test_operations_behind_the_joint(name):
    robot, contacts = held("atlas", HUMANOID)
    q, entry = SX.sym("q", robot.nq), ALGORITHMS[name]
    tree = lowered(Problem(Request(entry.needs()), robot, q, contacts=contacts)).built
    A = inertia_sweep(tree, tree.I)
    y = {
        "pv_osim": lambda contact: joint_forces(tree, contact, A),
        "aba_osim": lambda contact: half(tree, A, factors(tree, A), contact),
    }
    where_they_act = by_joints(tree, A, [y[name](contact) for contact in tree.contacts])
    fewer, more = (Function("W", [q], [vec(W)]).n_nodes() for W in (entry.run(tree), where_they_act))
    assert fewer < 0.95 * more


def test_units_of_length_are_offsets():
    robot, contacts = held("atlas", HUMANOID)
    tree = symbolic_tree(robot, SX.sym("q", robot.nq), contacts=contacts)
    unit = units_of_length(tree)
    metric = measured(tree, unit)
    assert all(unit[contact.node] == 1.0 for contact in tree.contacts)
    assert len(set(unit)) > 5
    shifts = [
        step.p
        for X in metric.X
        for step in X.links[0][1].steps
        if isinstance(step, Translation) and step.p.is_constant()
    ]
    assert sum(1.0 in DM(p).nonzeros() for p in shifts) >= 15


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("algorithm", "saved"), besides([("efpa", 200)], [("pv_osimr", 200), ("caba_osim", 200), ("efpa", 200)])
)
def test_units_save_operations(algorithm, saved):
    robot, contacts = held("atlas", HUMANOID)
    with_units = count(codegen.graphs(robot, algorithm, contacts=contacts)[1]).total
    in_metres = passes.run(trace(Task(robot, algorithm, contacts=contacts, without=("length_units",))))
    assert with_units <= count(in_metres).total - saved


@pytest.mark.thorough
def test_units_leave_limbs_in_step():
    """Mirrored limbs add and subtract alike, whichever way their offsets point."""
    robot, contacts = held("atlas", HUMANOID)
    task_of = Task(robot, "pv_osimr", contacts=contacts)
    with_units = pack(passes.run(trace(task_of)), limbs(task_of))
    in_metres = replace(task_of, without=("length_units",))
    assert with_units.steps < pack(passes.run(trace(in_metres)), limbs(in_metres)).steps


def in_own_units(given, algorithm):
    """W at the states of a problem where every body that may have a unit of its own has one, whatever it costs."""
    q, entry = SX.sym("q", given.model.nq), ALGORITHMS[algorithm]
    stated = Problem(Request(entry.needs()), given.model, q, contacts=given.contacts)
    tree = lowered(stated, without=("length_units",)).built
    unit = units_of_length(tree, change=-1000)
    assert len(set(unit)) > 2
    W = Function("W", [q], [entry.run(measured(tree, unit))])
    return np.array([W(at) for at in given.q])


@pytest.mark.parametrize("algorithm", besides(["pv_osimr"], MEASURED))
def test_units_beside_clusters(algorithm):
    """One knee of four follows its hip."""
    go1 = codegen.load("go1").with_loop("knee", explicit={"FL_calf_joint": "-2*FL_thigh_joint"})
    given = problem(go1, tuple(go1.contact(f"{leg}_foot", 3) for leg in ("FL", "FR", "RL")), 10)
    assert worst(in_own_units(given, algorithm), np.array([constrained.delassus(at) for at in given.at])) < 1e-10


@pytest.mark.parametrize("algorithm", besides(["pv_osim"], MEASURED))
@pytest.mark.parametrize("base", besides(["floating"], ["fixed", "floating"]))
def test_units_of_parallel_hinges(base, algorithm):
    model = parallel(base, 3)
    ends = [f"tool{b}" for b in range(len(model.bodies)) if b not in {body.parent for body in model.bodies}]
    given = problem(model, tuple(model.contact(name, 3) for name in ends), 10, regular=False)
    assert worst(in_own_units(given, algorithm), np.array([constrained.delassus(at) for at in given.at])) < 1e-11


@pytest.mark.parametrize(("kind", "algorithm"), diagonal(["prismatic", "planar", "spherical", "floating"], MEASURED))
def test_armatures_in_units(algorithm, kind):
    """Turns have another unit than slides, and joints of both kinds have both."""
    bodies = [
        Body(
            f"body{n}",
            n - 1,
            Joint(
                f"joint{n}",
                kind if n == 1 else "revolute",
                vec3([1.0, 0.0, 0.0] if n % 2 else [0.0, 1.0, 0.0]),
                armature=2.0,
            ),
            Pose(IDENTITY, vec3([0.3, 0.0, 0.3])),
            Inertia(1.0 + n, vec3([0.02, 0.1, -0.03]), mat3(np.diag([0.2, 0.3, 0.25]))),
        )
        for n in range(6)
    ]
    nodes = tuple(Node((n,), n - 1) for n in range(6))
    model = Robot("slider", tuple(bodies), nodes, (Frame("tip", 5),))
    contacts = (model.contact("tip", 6),)
    assert any(unit != 1.0 for unit in units_of_length(symbolic_tree(model, SX.sym("q", model.nq), contacts=contacts)))
    given = problem(model, contacts, 5, regular=False)
    W, *_ = interpret(given.graph(algorithm), given.q)
    assert worst(W, np.array([constrained.delassus(at) for at in given.at])) < 1e-11


def test_bodies_in_metres_stay_there():
    """Even where an offset of what they carry is just one metre, backwards."""
    model = codegen.load("chain:4")
    bodies = tuple(replace(body, placement=Pose(IDENTITY, vec3([-1.0, 0.0, 0.0]))) for body in model.bodies)
    model = replace(model, bodies=bodies)
    contacts = tuple(model.contact(body.name, 3) for body in bodies)
    tree = symbolic_tree(model, SX.sym("q", model.nq), contacts=contacts)
    assert set(units_of_length(tree)) == {1.0}


def test_units_along_entries():
    F = SX(4, 2)
    F[1, 0], F[2, 0], F[2, 1] = 0.5, -1.0, SX.sym("x")
    E = units(F)
    assert E.nnz() == 2
    assert np.array_equal(DM(E).full(), [[0, 0], [1, 0], [0, -1], [0, 0]])
