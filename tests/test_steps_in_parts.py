"""Steps of robots with many joints: dynamics as functions that are called, and loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from casadi import SX
from casadi_cases import loaded, stretched
from test_derivatives import worst
from thorough import besides

import codegen
from codegen.algorithms import ALGORITHMS
from codegen.api import task
from codegen.backends import BACKENDS
from codegen.emission.emit import Style, emit_artifact, emit_folder
from codegen.emission.spec import ProductKernel
from codegen.interfaces.casadi_functions import exported
from codegen.ir.calls import GraphCall
from codegen.ir.counted import counted
from codegen.ir.counting import count
from codegen.ir.factors import FactoredMatrix
from codegen.ir.interpreter import interpret
from codegen.ir.merged import merged
from codegen.ir.products import WithProducts, straight_line
from codegen.ir.systems import SolvedSystem
from codegen.oracle import ORACLE
from codegen.pipeline import kernel
from codegen.recursions.systems import Solved
from codegen.task.header import header
from codegen.tracing.differentiated import differentiated
from codegen.tracing.sharing import Sharing
from codegen.tracing.trace import trace_products

if TYPE_CHECKING:
    from codegen.interfaces.casadi_functions import Exported
    from codegen.model import Model
    from codegen.tracing.task import Task

    Arrays = tuple[np.ndarray, ...]

DT, NEAR = 2e-3, 1e-11
SHORTER = (3000, 1000)  # operations of parts from which they are called, with matrices and without
STEPS = (
    "step_derivatives",
    "step_rk4_derivatives",
    "step_implicit_midpoint",
    "step_implicit_midpoint_derivatives",
    "step_rk4",
)


def parts(model: Model, name: str, **options: object) -> WithProducts:
    """A step as tracing makes it."""
    found = trace_products(task(model, name, **options), SHORTER)
    assert isinstance(found, WithProducts)
    return found


def oracle(model: Model, name: str, seed: int, **options: object) -> tuple[Arrays, Arrays]:
    """A random state, and the step there."""
    q, v, tau = model.random(seed)
    return (q, v, tau, np.array(DT)), ORACLE[name](model, q, v, tau, DT, **options)


@pytest.mark.parametrize(("name", "calls"), [*zip(STEPS, (0, 4, 3, 4, 4), strict=True)])
def test_dynamics_stand_once_and_are_called_at_every_stage(name: str, calls: int) -> None:
    """Those of one stage at the start are no function of their own."""
    model = codegen.load("go1")
    found = parts(model, name)
    own = [step for step in found.products if getattr(step, "graph", None) is not None and step.graph.name == "part0"]
    assert len(own) == calls
    assert sum(graph.name == "part0" for graph in found.called) == (calls > 0)
    given, exact = oracle(model, name, 3)
    assert worst(list(interpret(straight_line(found), *given)), list(exact)) < NEAR


def test_short_parts_are_no_functions() -> None:
    """Nor is anything else of a small robot."""
    found = trace_products(task(codegen.load("iiwa"), "step_implicit_midpoint"))
    assert not isinstance(found, WithProducts)
    x = SX.sym("x", 3)
    sharing = Sharing([x])
    (y,) = sharing.once(lambda _, z: (2 * z,))(x)
    assert isinstance(y, SX)
    assert not sharing.opened
    assert isinstance(sharing.numbers(Solved(2 * SX.eye(3), x)), SX)
    assert not sharing.opened


@pytest.mark.parametrize("name", ["step_implicit_midpoint", "step_implicit_midpoint_derivatives"])
def test_short_systems_between_calls_are_expressions(name: str) -> None:
    """Of one unknown, whose matrix is a function of what calls have made."""
    model = codegen.load("four_bar")
    found = trace_products(task(model, name), (100, 100))
    assert isinstance(found, WithProducts)
    assert not any(isinstance(own, SolvedSystem) for own in found.products)
    given, exact = oracle(model, name, 1)
    assert worst(list(interpret(straight_line(found), *given)), list(exact)) < 1e-10


@pytest.mark.thorough
def test_all_of_a_step_may_be_called() -> None:
    """Nothing is left to compute before the first call."""
    model, name = codegen.load("shadow_hand"), "step_implicit_midpoint"
    found = merged(trace_products(task(model, name)))
    assert isinstance(found, WithProducts)
    assert not found.graph.outputs
    state, short = model.random(1), DT / 4  # light fingers are fast: three Newton steps settle for such a step
    exact = ORACLE[name](model, *state, short)
    assert worst(list(interpret(straight_line(found), *state, np.array(short))), list(exact)) < NEAR
    assert worst(list(codegen.build(model, name)(*state, short)), list(exact)) < NEAR


@pytest.mark.thorough
def test_operations_are_those_of_one_expression_or_few_more() -> None:
    """Of stages of Runge-Kutta steps; passes see one stage at a time."""
    asked = task(codegen.load("go1"), "step_rk4_derivatives")
    found, whole = trace_products(asked, SHORTER), trace_products(asked)
    divided, together = (count(straight_line(own)).total for own in (found, whole))
    assert together <= divided < 1.05 * together


@pytest.mark.parametrize(
    ("name", "results"),
    besides(
        [("pv_step_rk4", ("q_next", "v_next"))],
        [("pv_step_rk4", ("q_next", "v_next")), ("pv_step_rk4_derivatives", ("A", "B"))],
    ),
)
def test_contacts_tell_a_singular_state_at_any_stage(name: str, results: tuple[str, ...]) -> None:
    """The status is the sum of those of all parts."""
    model = codegen.load("go1")
    contacts = [f"{tip}:3" for tip in model.tips[:2]]
    found = parts(model, name, contacts=contacts)
    assert [port.name for port in found.outputs] == [*results, "status"]
    asked = task(model, name, contacts=contacts)
    given, exact = oracle(model, asked.algorithm, 2, contacts=asked.chosen_contacts())
    *mine, status = interpret(straight_line(found), *given)
    assert worst(mine, list(exact)) < 1e-8
    assert status == 0


@pytest.mark.parametrize("name", besides(["pv_step_derivatives"], ["pv_step_derivatives", "prox_pv_step_derivatives"]))
def test_many_rows_of_contacts_are_loops_in_steps(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """As in derivatives of the dynamics; four feet stand for more rows here."""
    monkeypatch.setattr("codegen.tracing.sharing.FACTORED", 12)
    model = codegen.load("go1")
    asked = task(model, name, contacts=[f"{tip}:3" for tip in model.tips])
    found = trace_products(asked)
    assert isinstance(found, WithProducts)
    assert any(isinstance(own, FactoredMatrix) for own in found.products)
    given, exact = oracle(model, name, 2, contacts=asked.chosen_contacts())
    mine = interpret(straight_line(found), *given)
    assert worst(list(mine[:2]), list(exact)) < 1e-8


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["pv_step_rk4_derivatives", "prox_pv_step_implicit_midpoint"])
def test_parts_that_are_called_have_loops_within(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What comes after loops is a stage of the part, and is called again; its parts stand once."""
    model = codegen.load("go1")
    asked = task(model, name, contacts=[f"{tip}:3" for tip in model.tips[:3]])
    plain = straight_line(trace_products(asked))
    monkeypatch.setattr("codegen.tracing.sharing.FACTORED", 9)
    found = trace_products(asked, SHORTER)
    assert isinstance(found, WithProducts)
    calls = [own.graph.name for own in found.products if isinstance(own, GraphCall)]
    assert calls.count("part0") == calls.count("part0_stage1") == (4 if "rk4" in name else 3)
    assert sum(graph.name.startswith("part0") for graph in found.called) == len({x for x in calls if "part0" in x})
    assert sum(isinstance(own, FactoredMatrix) for own in found.products) == calls.count("part0")
    assert counted(found) == count(straight_line(found))
    given = *model.random(2), np.array(DT)
    exact = interpret(plain, *given)
    for function in (found, merged(found)):
        assert worst(list(interpret(straight_line(function), *given)), list(exact)) < NEAR


CALLED = [
    ("iiwa", "step_rk4", ()),
    ("iiwa", "step_implicit_midpoint", ()),
    ("mujoco planar spherical", "step_implicit_midpoint", ()),
    ("pinocchio spherical revolute", "step_rk4", ()),
    ("four_bar", "step_implicit_midpoint", ()),
    ("four_bar floating", "step_implicit_midpoint", ()),
    ("four_bar floating", "step_rk4", ()),
    ("solo12", "pv_step_rk4", ("FL_FOOT:3", "HR_FOOT:3")),
    ("iiwa", "pv_step_implicit_midpoint", ("lbr_iiwa_link_7:3:kp=30:kd=5",)),
]


@pytest.mark.parametrize(("robot", "name", "contacts"), besides(CALLED[:2], CALLED))
def test_functions_for_solvers_are_the_same_of_parts_that_are_called(
    monkeypatch: pytest.MonkeyPatch, robot: str, name: str, contacts: tuple[str, ...]
) -> None:
    """Values, Jacobians, products with vectors and Hessians for CasADi."""
    asked = task(loaded(robot), name, contacts=contacts or None)
    known = numbers(asked)
    plain = exported(asked, 2)
    for which in ("JACOBIANS", "HESSIANS"):
        monkeypatch.setattr(f"codegen.tracing.sharing.CALLED_IN_{which}", (50, 50))
    monkeypatch.setattr("codegen.tracing.link_products.PULLED", 50)
    monkeypatch.setattr("codegen.tracing.differentiated.LINKED", 1)
    for own, other in zip(exported(asked, 2), plain, strict=True):
        function = own.sparse.function
        # the positions of the four-bar are moved by AD
        if own.start == "" or (own.start.startswith("jac_") and "four_bar" not in robot):
            assert isinstance(function, WithProducts)
            assert function.called
        assert counted(function) == count(own.sparse.graph)
        assert worst(computed(own, known), computed(other, known)) < NEAR


GEARED = [
    (robot, name)
    for robot in ("pinocchio revolute prismatic revolute", "chain12_geared", "mini_cheetah", "mit_humanoid")
    for name in ("step_rk4", "step_implicit_midpoint")
]


def geared(robot: str) -> Model:
    """A robot with gears: of a mechanism, a joint moves as two others do together."""
    model = loaded(robot)
    if model.loops:
        return model
    first, second, third = [body.joint.name for body in model.bodies][1:]
    return codegen.Robot.of(model).with_loop("gear", explicit={third: f"3*{first} - 2*{second} + 0.1"})


@pytest.mark.parametrize(("robot", "name"), besides(GEARED[:2], GEARED))
def test_gears_bend_as_their_spanning_tree_does(monkeypatch: pytest.MonkeyPatch, robot: str, name: str) -> None:
    """Hessians of steps by recursions of the tree whose joints move at constant rates, against AD through gears."""
    asked = task(geared(robot), name)
    known = numbers(asked)
    (plain,) = exported(asked, 2, ("jac_adj1_",))
    monkeypatch.setattr("codegen.tracing.linked.LINKED", 1)
    (own,) = exported(asked, 2, ("jac_adj1_",))
    assert own.sparse.written != plain.sparse.written
    assert counted(own.sparse.function) == count(own.sparse.graph)
    assert worst(computed(own, known), computed(plain, known)) < NEAR


@pytest.mark.parametrize("robot", besides(["iiwa"], ["iiwa", "four_bar floating", "pinocchio spherical revolute"]))
def test_several_vectors_go_through_links_at_once(monkeypatch: pytest.MonkeyPatch, robot: str) -> None:
    """Of RK4, four directions or weights at a time."""
    asked = task(loaded(robot), "step_rk4")
    known, rng = numbers(asked), np.random.default_rng(6)
    own, _ = differentiated(asked)
    known |= {f"fwd_{name}": rng.standard_normal(4 * x.numel()) for name, x in own.inputs.items()}
    known |= {f"adj_{name}": rng.standard_normal(4 * y.numel()) for name, y in own.outputs.items()}
    plain = exported(asked, 1, ("fwd4_", "adj4_"))
    monkeypatch.setattr("codegen.tracing.sharing.CALLED_IN_JACOBIANS", (50, 50))
    monkeypatch.setattr("codegen.tracing.link_products.PULLED", 50)
    monkeypatch.setattr("codegen.tracing.differentiated.LINKED", 1)
    for own_, other in zip(exported(asked, 1, ("fwd4_", "adj4_")), plain, strict=True):
        assert isinstance(own_.sparse.function, WithProducts)
        assert own_.sparse.function.called
        assert worst(computed(own_, known), computed(other, known)) < NEAR


def numbers(asked: Task) -> dict[str, np.ndarray]:
    """A state, a short step, and random numbers for all else, as changes and weights, by names."""
    (q, v, tau), rng = asked.model.random(4), np.random.default_rng(5)
    own, _ = differentiated(asked)
    known = {"q": stretched(asked.model, q), "v": v, "tau": tau, "dt": np.array([DT])}
    others = {name: x for name, x in own.inputs.items() if name not in known}
    known |= {name: rng.standard_normal(x.numel()) for name, x in others.items()}
    known |= {f"fwd_{name}": rng.standard_normal(x.numel()) for name, x in own.inputs.items()}
    return known | {f"adj_{name}": rng.standard_normal(y.numel()) for name, y in own.outputs.items()}


def computed(own: Exported, known: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The results of a function for CasADi with their zeros, but its status."""
    graph, patterns = own.sparse.graph, own.sparse.outputs
    made = interpret(graph, *(known[port.name] for port in graph.inputs))
    made = made if isinstance(made, tuple) else (made,)
    found = {port.name: x for port, x in zip(graph.outputs, made, strict=True)}
    return [patterns[name].dense(found[name].ravel()) for name in patterns if patterns[name].nnz]


@pytest.mark.parametrize("name", STEPS)
def test_counts_are_those_of_straight_line_code(name: str) -> None:
    found = parts(codegen.load("go1"), name)
    assert counted(found) == count(straight_line(found))


@pytest.mark.thorough
@pytest.mark.parametrize("name", STEPS)
def test_compiled_parts_give_what_the_oracle_gives(name: str) -> None:
    """One state, and states in lanes with a remainder; the oracle's differences round more than NEAR."""
    model, near = codegen.load("talos_reduced"), ALGORITHMS[name].tolerance.float64
    function = codegen.build(model, name)
    states = [oracle(model, name, seed) for seed in range(11)]
    together = function(*map(np.stack, zip(*(given for given, _ in states), strict=True)))
    for k, (given, exact) in enumerate(states):
        for one, many, theirs in zip(function(*given), together, exact, strict=True):
            np.testing.assert_allclose(one, theirs, rtol=0, atol=near * np.abs(theirs).max())
            np.testing.assert_allclose(many[k], one, rtol=0, atol=NEAR * np.abs(theirs).max())


@pytest.mark.thorough
def test_compiled_parts_with_loops_give_what_the_graph_says() -> None:
    """On 48 rows: one state, and states in lanes with a remainder; where loops are out of reach the status tells."""
    model, name = codegen.load("cassie"), "prox_pv_step_implicit_midpoint"
    found = trace_products(task(model, name))
    assert isinstance(found, WithProducts)
    assert any(graph.name == "part0_stage1" for graph in found.called)
    function, whole = codegen.build(model, name).with_status(), straight_line(found)
    rng = np.random.default_rng(2)
    states = [(*model.random(rng), np.array(5e-4)) for _ in range(9)]
    together = function(*map(np.stack, zip(*states, strict=True)))
    assert not together[-1][[0, 8]].any()
    for k in (0, 8):
        exact = interpret(whole, *states[k])
        for one, many, theirs in zip(function(*states[k]), together, exact, strict=True):
            np.testing.assert_allclose(one, theirs, rtol=0, atol=NEAR * np.abs(theirs).max())
            np.testing.assert_allclose(many[k], theirs, rtol=0, atol=NEAR * np.abs(theirs).max())


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_states_in_single_precision(dtype: str) -> None:
    model, name = codegen.load("talos_reduced"), "step_implicit_midpoint_derivatives"
    given, exact = oracle(model, name, 1)
    for mine, theirs in zip(codegen.build(model, name, dtype=dtype)(*given), exact, strict=True):
        near = NEAR if dtype == "float64" else 2e-3
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=near * np.abs(theirs).max())


def test_c_has_the_same_functions() -> None:
    """Plain C, and that for compilers with small vectors, in one copy for both of its variants."""
    asked = task(codegen.load("go1"), "step_implicit_midpoint_derivatives")
    own, about = ProductKernel(parts(asked.model, asked.algorithm)), header(asked.model, "go1", (asked,))
    writer, name = BACKENDS["c_portable"], "go1_step_implicit_midpoint_derivatives_part0"
    plain = writer.folder(about, (own,), writer.style(Style()), {})["go1.c"]
    wide = emit_folder(about, (own,), Style())["go1_step_implicit_midpoint_derivatives.c"]
    for text, head in ((plain, "static void "), (wide, "GO1_APART void ")):
        assert text.count(f"{name}(q, v, tau, dt") == 4
        assert text.count(f"{head}{name}(") == 1


@pytest.mark.thorough
@pytest.mark.parametrize("robot", ["talos", "atlas_shadow"])
@pytest.mark.parametrize("name", STEPS)
def test_sources_stay_below_two_megabytes(robot: str, name: str) -> None:
    """With limbs in step and plain C in one file, states in lanes, too."""
    asked = task(codegen.load(robot), name)
    artifact = emit_artifact(header(asked.model, robot, (asked,)), kernel(asked), Style(lanes=8))
    assert max(len(text) for _, text in artifact.files) < 2e6
