"""The C of the longest functions: its text is short, and computes what the graph says."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

import codegen
from codegen.api import task
from codegen.emission.emit import Style, emit_artifact
from codegen.emission.functions import COLUMNS, Function
from codegen.emission.splitting import HUGE, Lengths
from codegen.emission.variants import IN_STEP
from codegen.interfaces.casadi_functions import exported
from codegen.ir.interpreter import interpret
from codegen.ir.products import WithProducts, straight_line
from codegen.pipeline import kernel
from codegen.task.header import header
from codegen.tracing.trace import trace_products

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 2e6  # characters
HELD = {"talos": ("left_sole_link:6", "right_sole_link:6"), "atlas_shadow": ("l_foot:6", "r_foot:6")}
TIPS = tuple(f"{hand}h_{finger}tip:3" for hand in "lr" for finger in ("ff", "mf", "rf", "lf", "th"))
FEET_AND_TIPS = (*HELD["atlas_shadow"], *TIPS)
FREE = (
    *("coriolis", "regressor", "frame_acceleration_derivatives", "centroidal_derivatives"),
    *("aba_derivatives", "step_rk4", "step_derivatives", "step_rk4_derivatives"),
)
ON_CONTACTS = (
    *("pv", "pv_early", "pv_soft", "prox_pv", "constrained_aba", "aba_prox", "aba_prox_stiff"),
    *("tree_kkt", "prox_ltl", "prox_ltls", "prox_kkt"),
)
SOLVED = (
    *("rnea", "aba", "ltl", "step", "step_rk4", "step_implicit_midpoint"),
    *("pv", "pv_step", "pv_step_rk4", "pv_step_implicit_midpoint", "prox_pv", "pv_soft", "tree_kkt"),
)
STEPPED = ("pv", "pv_soft", "prox_pv", "constrained_aba")
STEPS = ("derivatives", "rk4", "rk4_derivatives", "implicit_midpoint", "implicit_midpoint_derivatives")


def longest() -> Iterator[str]:
    """Functions that are long for a robot with many joints."""
    yield from (*FREE, "kkt_inverse")
    yield from (f"{name}_derivatives" for name in ON_CONTACTS)
    yield from (f"{name}_step_{step}" for name in STEPPED for step in STEPS)


@pytest.mark.thorough
@pytest.mark.parametrize("robot", [*HELD])
@pytest.mark.parametrize("name", [*longest()])
def test_it_stays_below_two_megabytes(robot: str, name: str) -> None:
    """On two feet, for any compiler: with limbs in step and plain C in one file."""
    asked = task(codegen.load(robot), name, contacts=None if name in FREE else HELD[robot])
    artifact = emit_artifact(header(asked.model, robot, (asked,)), kernel(asked), Style(lanes=8))
    assert max(len(text) for _, text in artifact.files) < MOST


@pytest.mark.thorough
@pytest.mark.parametrize("name", SOLVED)
def test_jacobians_for_solvers_stay_below_it(name: str) -> None:
    """Talos on two feet, for CasADi."""
    asked = task(codegen.load("talos"), name, contacts=HELD["talos"] if name in SOLVED[6:] else None)
    (own,) = exported(asked, 1, ("jac_",))
    artifact = emit_artifact(header(asked.model, "talos", (asked,)), own.kernel, Style())
    assert max(len(text) for _, text in artifact.files) < MOST


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "held"),
    [
        *((name, None) for name in ("rnea", "aba", "step")),
        *product(("pv", "pv_step", "prox_pv", "prox_pv_step"), (HELD["talos"][:1], HELD["talos"])),
    ],
)
def test_hessians_for_solvers_stay_below_it(name: str, held: tuple[str, ...] | None) -> None:
    """Of Talos, for CasADi: free, on one foot, and on two."""
    asked = task(codegen.load("talos"), name, contacts=held)
    (own,) = exported(asked, 2, ("jac_adj1_",))
    artifact = emit_artifact(header(asked.model, "talos", (asked,)), own.kernel, Style())
    assert max(len(text) for _, text in artifact.files) < MOST


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("robot", "name", "held"),
    [
        *((robot, name, ()) for robot in ("iiwa", "go1") for name in ("step_rk4", "step_implicit_midpoint")),
        *(("talos", name, ()) for name in ("step_rk4", "step_implicit_midpoint")),
        *(("talos", name, HELD["talos"]) for name in ("pv_step_rk4", "pv_step_implicit_midpoint")),
        *(("atlas_shadow", name, HELD["atlas_shadow"]) for name in ("pv_step_rk4", "pv_step_implicit_midpoint")),
        ("solo12", "pv_step_rk4", ("FL_FOOT:3", "HR_FOOT:3")),
        ("solo12", "pv_step_rk4", ("FL_FOOT:3", "FR_FOOT:3", "HL_FOOT:3", "HR_FOOT:3")),
    ],
)
def test_hessians_of_several_stages_stay_below_it(robot: str, name: str, held: tuple[str, ...]) -> None:
    """Of RK4 and the implicit midpoint rule, for CasADi."""
    asked = task(codegen.load(robot), name, contacts=held or None)
    (own,) = exported(asked, 2, ("jac_adj1_",))
    artifact = emit_artifact(header(asked.model, robot, (asked,)), own.kernel, Style())
    assert max(len(text) for _, text in artifact.files) < MOST


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("robot", "name", "order"),
    [
        *(("tello_humanoid", name, 2) for name in ("aba", "step", "step_rk4", "step_implicit_midpoint")),
        *(("mit_humanoid", name, 2) for name in ("aba", "step", "step_rk4", "step_implicit_midpoint")),
        *(("jvrc1", name, 2) for name in ("aba", "step", "step_rk4", "step_implicit_midpoint")),
        *(("cassie", name, 1) for name in ("step_rk4", "step_implicit_midpoint")),
        *(("cassie", name, 2) for name in ("rnea", "aba", "step", "step_rk4", "step_implicit_midpoint")),
        *(("cassie", name, 2) for name in ("pv", "pv_step", "pv_step_rk4", "pv_step_implicit_midpoint")),
    ],
)
def test_those_of_robots_with_loops_stay_below_it(robot: str, name: str, order: int) -> None:
    """Jacobians, or Hessians with them, for CasADi; of Cassie on its feet, too."""
    feet = ("left-foot:3", "right-foot:3") if name.startswith("pv") else None
    asked = task(codegen.load(robot), name, contacts=feet)
    (own,) = exported(asked, order, ("jac_adj1_" if order == 2 else "jac_",))
    artifact = emit_artifact(header(asked.model, robot, (asked,)), own.kernel, Style())
    assert max(len(text) for _, text in artifact.files) < MOST


@pytest.mark.thorough
@pytest.mark.parametrize("start", ["", "fwd1_", "adj1_", "adj4_"])
@pytest.mark.parametrize("name", ["step_implicit_midpoint", "pv_step_implicit_midpoint"])
def test_products_of_derivatives_stay_below_it(name: str, start: str) -> None:
    """Of Talos' implicit steps, whose Newton's method is made of C functions and loops; with contacts on two soles."""
    asked = task(codegen.load("talos"), name, contacts=HELD["talos"] if name.startswith("pv") else None)
    (*_, own) = exported(asked, 1, ("", start))
    artifact = emit_artifact(header(asked.model, "talos", (asked,)), own.kernel, Style())
    assert max(len(text) for _, text in artifact.files) < MOST


@pytest.mark.thorough
@pytest.mark.parametrize("start", ["fwd1_", "adj1_"])
def test_those_of_explicit_steps_stay_below_it(start: str) -> None:
    """Of RK4 of Atlas with hands: one C function for all stages."""
    asked = task(codegen.load("atlas_shadow"), "step_rk4")
    (*_, own) = exported(asked, 1, ("", start))
    artifact = emit_artifact(header(asked.model, "atlas_shadow", (asked,)), own.kernel, Style())
    assert max(len(text) for _, text in artifact.files) < MOST


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "contacts"),
    [
        ("pv_derivatives", "feet and fingertips"),
        ("pv_derivatives", "all tips"),
        ("pv_step_derivatives", "feet and fingertips"),
        ("pv", "all tips"),
        ("ltl_osim", "all tips"),
        ("pv_osimf", "all tips"),
    ],
)
def test_many_rows_of_contacts_stay_below_it(name: str, contacts: str) -> None:
    """Their system is loops, or limbs do not go in step: 42 rows of feet and fingertips, 72 of all tips."""
    model, held = codegen.load("atlas_shadow"), FEET_AND_TIPS
    asked = task(model, name, contacts=held if contacts == "feet and fingertips" else None)
    artifact = emit_artifact(header(model, "atlas_shadow", (asked,)), kernel(asked), Style(lanes=8))
    assert max(len(text) for _, text in artifact.files) < MOST


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("robot", "rows"),
    [(robot, rows) for robot in HELD for rows in ("3:friction=0.7", "foot-0.2x0.1:friction=0.7:spatial")],
)
@pytest.mark.parametrize("name", ["nsgs_derivatives", "nsgs_step_derivatives"])
def test_contacts_with_friction_stay_below_it(robot: str, rows: str, name: str) -> None:
    """With 24 rows all C has loops; of two points of Atlas, limbs do not go in step in a step of time."""
    held = [f"{foot.removesuffix(':6')}:{rows}" for foot in HELD[robot]]
    asked = task(codegen.load(robot), name, contacts=held)
    artifact = emit_artifact(header(asked.model, robot, (asked,)), kernel(asked), Style(lanes=8))
    assert max(len(text) for _, text in artifact.files) < MOST


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "contacts"),
    [
        ("aba_derivatives", None),
        ("step_derivatives", None),
        ("pv_derivatives", HELD["atlas_shadow"]),
        ("prox_pv_derivatives", FEET_AND_TIPS),
    ],
)
def test_sparse_results_stay_below_it(name: str, contacts: tuple[str, ...] | None) -> None:
    """What makes nearly dense results of a robot with many joints has the loops that dense results have."""
    model = codegen.load("atlas_shadow")
    asked = task(model, name, contacts=contacts, sparse=True)
    artifact = emit_artifact(header(model, "atlas_shadow", (asked,)), kernel(asked), Style(lanes=8))
    assert max(len(text) for _, text in artifact.files) < MOST


@pytest.mark.thorough
@pytest.mark.parametrize("robot", ["cassie", "icub", "shadow_hand", "tello_humanoid"])
@pytest.mark.parametrize(
    "name",
    ["kkt_inverse", "prox_pv_derivatives", "pv_step_rk4_derivatives", "prox_pv_step_implicit_midpoint"],
)
def test_redundant_rows_stay_below_it(robot: str, name: str) -> None:
    """All tips held, and robots with loops, too: 30 rows and more, which but for iCub depend on each other."""
    asked = task(codegen.load(robot), name)
    artifact = emit_artifact(header(asked.model, robot, (asked,)), kernel(asked), Style(lanes=8))
    assert max(len(text) for _, text in artifact.files) < MOST


def test_limbs_go_in_step_while_it_stays_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = task(codegen.load("solo12"), "aba")
    own, head = kernel(asked), header(asked.model, "solo12", (asked,))
    assert any(IN_STEP in text for _, text in emit_artifact(head, own, Style()).files)
    monkeypatch.setattr("codegen.emission.kernels.MOST_TEXT", 10_000)
    assert all(IN_STEP not in text for _, text in emit_artifact(head, own, Style()).files)


def test_functions_that_are_long_together_write_shortly() -> None:
    lengths = Lengths(readable=10)
    assert lengths.within(10) == lengths
    assert str(lengths.within(11)) == f"{lengths}, short"
    own = Function("void f(T *y)", ("y[0] = 1.0;", "y[1] = 2.0;"), very_many=True)
    assert own.body == " y[0]=1.0; y[1]=2.0;"


def test_statements_share_lines() -> None:
    """Their order stays, comments have their own lines, and no line is longer than its one statement needs.

    Signs that follow each other stay apart. Variables have short names, which no arguments have.
    """
    (signs,) = Function("void f(T *y)", ("y[0] = -x[0] - -x[1] + x[2];",), very_many=True).lines
    assert signs == "y[0]=-x[0] - -x[1]+x[2];"
    taken = (f"const P2 t{k} = P2_AT(w[{k}]);" for k in range(2, 9))
    first = ("/* One. */", "const T t0 = x[0], t1 = x[1];", "y[0] = t0*t1;")
    statements = (*first, "/* Two. */", *taken, f"y[1] = {'t0 + ' * 40}t1;")
    lines = Function("void f(T *C1, T *y)", statements, many=True, very_many=True).lines
    assert lines[:3] == ("/* One. */", "T C0=x[0],C2=x[1]; y[0]=C0*C2;", "/* Two. */")
    assert lines[3].startswith("P2 C3=P2_AT(w[2]),C4=P2_AT(w[3]),")
    assert lines[-1] == f"y[1]={'C0+' * 40}C2;"
    assert all(len(line) < COLUMNS for line in lines[:-1])
    whole, short = (" ".join(text).replace(" ", "") for text in (statements, lines))
    assert short.count("P2_AT") == whole.count("P2_AT") == 7


def test_short_names_of_many_variables_differ() -> None:
    """Beyond those of two characters they are longer; none begins as types or macros of others do."""
    statements = tuple(f"const T t{k} = x[{k}];" for k in range(1000))
    (text,) = [" ".join(Function("void f(T *y)", statements, many=True, very_many=True).lines)]
    names = re.findall(r"(\w+)=x", text)
    assert len({*names}) == 1000
    assert names[0] == "C0"
    assert max(map(len, names)) == 3
    assert not any(name.startswith(("A", "B", "P", "T")) for name in names)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("robot", "held"), [("talos", HELD["talos"]), ("atlas_shadow", (*HELD["atlas_shadow"], *TIPS))]
)
def test_it_computes_what_the_graph_says(robot: str, held: tuple[str, ...]) -> None:
    """One state, and states in lanes with a remainder."""
    model, rng = codegen.load(robot), np.random.default_rng(2)
    asked = task(model, "pv_step_derivatives", contacts=held)
    found = trace_products(asked)
    assert isinstance(found, WithProducts)
    assert len(found.graph.values) > HUGE
    function, whole = codegen.build(model, asked.algorithm, contacts=held), straight_line(found)
    states = [(*model.random(rng), np.array(2e-3)) for _ in range(9)]
    together = function(*map(np.stack, zip(*states, strict=True)))
    for k, state in enumerate(states):
        *exact, status = interpret(whole, *state)
        assert status == 0
        for one, many, theirs in zip(function(*state), together, exact, strict=True):
            np.testing.assert_allclose(one, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())
            np.testing.assert_allclose(many[k], theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())
