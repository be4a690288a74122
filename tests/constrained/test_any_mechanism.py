"""Any robot, any contacts: joints of every type, contacts on every body, of any rows, in any number, and none."""

from __future__ import annotations

from functools import cache, partial
from itertools import product

import numpy as np
import pytest
from casadi import SX, Function
from mechanisms_cases import looked_at, mechanism, parallel
from scenarios import DELASSUS, DUAL, HARD, ITERATIONS, PRIMAL, PUBLISHED, TOLERANCE, optional, problem, worst
from thorough import besides, diagonal

import codegen
import opcount
from codegen.algorithms import ALGORITHMS
from codegen.ir.interpreter import interpret
from codegen.lowering import Problem, Request, lowered, restored
from codegen.oracle import ORACLE, constrained
from codegen.recursions.iteration import Iteration
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

STATES = 15
BASES = [(base, convention) for base in ("fixed", "floating") for convention in ("pinocchio", "mujoco")]
ALL = (*HARD, *PUBLISHED)
TYPES = ("spherical", "revolute", "planar", "prismatic", "floating", "revolute", "spherical", "revolute", "revolute")


def rows(rng, count):
    """Rows of an m x 6 matrix: no axes, no order."""
    return rng.standard_normal((count, 6))


def mixed(base, convention):
    """Ancestors and descendants, two contacts on one body, one to six rows of arbitrary directions."""
    model, rng = mechanism(TYPES, 11, base=base, convention=convention, armature=True), np.random.default_rng(4)
    wanted = {"tool1": 1, "body1": 2, "tool4": 3, "tool5": 2, "tool6": 4, "tool8": 1}
    return model, tuple(model.contact(name, rows(rng, count)) for name, count in wanted.items())


def everywhere():
    """A point of every link of a random tree, and a second one of the last."""
    model, rng = codegen.load("random_tree:3,10"), np.random.default_rng(1)
    names = [body.name for body in model.bodies]
    return model, tuple(model.contact(name, 3.0 * rows(rng, 1)) for name in (*names, names[-1]))


@cache
def mixture(base, convention):
    """The problem of these contacts, set up once per process."""
    return problem(*mixed(base, convention), STATES)


@cache
def crowd():
    """The same with contacts everywhere."""
    return problem(*everywhere(), STATES)


MIXED = ("pv_early", "prox_pv", "aba_prox", "tree_kkt")  # the others hold these contacts in tests further down


@pytest.mark.parametrize(
    ("base", "algorithm"),
    besides([*zip(BASES[1:] + BASES[:1], MIXED, strict=True)], [*product(BASES, ALL)]),
    ids=str,
)
def test_mixed_contacts(base, algorithm):
    given = mixture(*base)
    a, lam = given.expected()
    found = given.solved(algorithm)
    assert worst(found[0], a) < TOLERANCE[algorithm]
    assert worst(found[1], lam) < TOLERANCE[algorithm]


@pytest.mark.parametrize("algorithm", besides(["pv", "tree_kkt"], ALL))
def test_contacts_between_parallel_hinges(algorithm):
    model = parallel("floating", 5)
    names = looked_at(model)
    contacts = (model.contact(names[0], 3), model.contact(names[-1], 6, axes=names[1]))
    given = problem(model, contacts, 5)
    a, lam = given.expected()
    found = given.solved(algorithm)
    assert worst(found[0], a) < TOLERANCE[algorithm]
    assert worst(found[1], lam) < TOLERANCE[algorithm]


@pytest.mark.parametrize("algorithm", besides(["pv_early"], ALL))
def test_contacts_on_every_link(algorithm):
    given = crowd()
    lost = 100 if algorithm in (*PRIMAL, "prox_ltls") else 1  # W has a condition of 1e6, mu 1e5
    assert worst(given.solved(algorithm)[0], given.expected()[0]) < lost * TOLERANCE[algorithm]


@pytest.mark.parametrize(
    ("make", "algorithm"), diagonal([everywhere, partial(mixed, *BASES[1]), partial(mixed, *BASES[2])], DELASSUS)
)
def test_delassus_matrices(make, algorithm):
    given = problem(*make(), STATES, regular=False)
    W, *_ = interpret(given.graph(algorithm), given.q)
    assert worst(W, np.array([constrained.delassus(at) for at in given.at])) < 1e-11


@pytest.mark.parametrize("algorithm", besides(["pv_early", "constrained_aba"], HARD))
def test_contacts_of_nodes_with_more_freedoms_than_rows(algorithm):
    """Six rows on six-freedom joints in a row: each lets go of all at once."""
    model = mechanism(("floating", "floating", "revolute"), 3, branching=0.0)
    given = problem(model, (model.contact("tool2", 6), model.contact("tool0", 6)), STATES)
    assert worst(given.solved(algorithm)[0], given.expected()[0]) < TOLERANCE[algorithm]


@pytest.mark.parametrize(
    ("mu", "algorithm"), besides([(5e4, "pv"), (5e4, "aba_prox_stiff")], [*product([5e4, 2e5], ALL)])
)
def test_wanted_accelerations_wrenches_and_a_start(algorithm, mu):
    """k, external wrenches, and for the proximal ones mu and multipliers to start from."""
    given, rng = mixture("floating", "pinocchio"), np.random.default_rng(2)
    external, f_ext = ("tool3", "body0"), rng.standard_normal((STATES, 2, 6))
    k, lam0 = (rng.standard_normal((STATES, given.rows)) for _ in range(2))
    start = [np.full(STATES, mu), lam0] if optional(algorithm, "mu") else []
    parameters = ("k", "mu", "lam0") if start else ("k",)
    a, lam = given.solved(algorithm, f_ext, k, *start, external=external, parameters=parameters)
    for n in range(STATES):
        options = {"contacts": given.contacts, "external": external, "parameters": {"k": k[n]}}
        expected = ORACLE[algorithm](given.model, given.q[n], given.v[n], given.tau[n], f_ext[n], **options)
        assert worst(a[n : n + 1], expected[0][None]) < TOLERANCE[algorithm]
        assert worst(lam[n : n + 1], expected[1][None]) < TOLERANCE[algorithm]


@pytest.mark.parametrize("algorithm", besides(["aba_prox", "constrained_aba"], [*DUAL, *PRIMAL, *PUBLISHED]))
def test_solved_multipliers_stay(algorithm):
    """From the right multipliers, one step changes nothing."""
    given = mixture("fixed", "pinocchio")
    a, lam = given.expected()
    found = given.solved(algorithm, lam, parameters=("lam0",), iterations=1)
    assert worst(found[0], a) < TOLERANCE[algorithm]
    assert worst(found[1], lam) < TOLERANCE[algorithm]


@pytest.mark.parametrize(
    ("robot", "algorithm"),
    [
        *diagonal(["solo12", "random_tree:5,8"], [*HARD, "pv_soft"]),
        *besides([("tello_humanoid", "pv_soft")], [("tello_humanoid", name) for name in (*ALL, "pv_soft")]),
    ],
)
def test_nothing_held_is_forward_dynamics(robot, algorithm):
    model = codegen.load(robot)
    given = {name: SX.sym(name, size) for name, size in (("q", model.nq), ("v", model.nv), ("tau", model.nv))}
    symbols, entry = list(given.values()), ALGORITHMS[algorithm]
    given |= {"f_ext": SX(0, 6), "k": SX(0, 1), "lam0": SX(0, 1), "mu": SX(1e5), "R": SX(0, 1)}
    problem = lowered(
        Problem(Request(entry.needs()), model, given["q"], {name: given[name] for name in entry.inputs[1:]})
    )
    found = restored(problem, entry.outputs, entry.run(problem.built, *(problem.arguments[n] for n in entry.takes)))
    a, lam = found.unrolled(ITERATIONS) if isinstance(found, Iteration) else found
    state = model.random(3)
    computed = np.array(Function("held", symbols, [a])(*state)).ravel()
    assert lam.numel() == 0
    assert worst(computed[None], np.asarray(ORACLE["aba"](model, *state))[None]) < 1e-10


def test_pv_early_passes_on_what_parallel_hinges_cannot_follow():
    """Three parallel hinges, and three that turn with them: the row along the axes is not theirs to let go."""
    model = codegen.load("chain:4").with_frame("end", "link3", (0.3, 0.0, 0.1))
    given = problem(model, (model.contact("end", np.eye(6)[[3, 4]]),), STATES)
    assert worst(given.solved("pv_early")[0], given.expected()[0]) < TOLERANCE["pv_early"]


@pytest.mark.thorough
def test_pv_early_passes_on_what_the_hinges_of_a_leg_cannot_follow():
    humanoid = codegen.load("mit_humanoid")
    given = problem(humanoid, (humanoid.contact("right_toe_contact", 3),), STATES)
    assert worst(given.solved("pv_early")[0], given.expected()[0]) < 1e-12


@pytest.mark.parametrize(
    ("robot", "frame"), besides([("iiwa", "lbr_iiwa_link_7")], [("iiwa", "lbr_iiwa_link_7"), ("go1", "FL_foot")])
)
def test_units_of_rows_do_not_matter_to_direct_algorithms(robot, frame):
    """Twice as large rows see twice the acceleration and push with half the multiplier."""
    model = codegen.load(robot)
    foot = model.contact(frame, 3)
    double = model.contact(frame, 2.0 * np.array(foot.rows))
    q, v, tau = model.random(1)
    for algorithm in ("pv", "pv_early"):
        once, twice = (interpret(trace(Task(model, algorithm, contacts=(c,))), q, v, tau) for c in (foot, double))
        assert worst(twice[0][None], once[0][None]) < 1e-11
        assert worst(2.0 * twice[1][None], once[1][None]) < 1e-11


def test_a_body_that_floats_within_a_tree_lets_no_force_through():
    """Factors of M end there: what is beyond neither costs operations nor cancels."""
    model = mechanism(("revolute", "floating", "revolute"), 7, branching=0.0)
    held = (model.contact("tool2", 3),)
    costs = {name: opcount.count(model, name, contacts=held).total for name in ("constrained_aba", "aba_prox_stiff")}
    assert costs["aba_prox_stiff"] <= costs["constrained_aba"]
    assert opcount.count(model, "aba_osim", contacts=held).total < 600, "1,242 with factors up to the root"
    given = problem(model, held, STATES)
    assert worst(given.solved("aba_prox_stiff")[0], given.expected()[0]) < TOLERANCE["aba_prox_stiff"]
