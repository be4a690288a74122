"""Screws: joints that turn and slide by formulas of one coordinate, stated as texts or in SymPy."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sympy
from casadi import OP_CONST, OP_INPUT, OP_OUTPUT, SX, Function, jacobian
from pinocchio_peer import inertia, se3
from thorough import chosen

import codegen
from codegen.__main__ import main
from codegen.description.describing import described
from codegen.description.json_format import write_json
from codegen.errors import RobotError
from codegen.expressions.derivatives import curve, differentiated
from codegen.expressions.parsing import parse
from codegen.ir.interpreter import interpret
from codegen.oracle import ORACLE
from codegen.oracle import texts as oracle_texts

if TYPE_CHECKING:
    from pathlib import Path

angle = sympy.Symbol("angle", real=True)
CRANK = sympy.cos(angle) / 10 + sympy.sqrt(sympy.Rational(9, 100) - sympy.sin(angle) ** 2 / 100)
FORMULAS: dict[str, dict[str, Any]] = {
    "helix": {"slide": angle / 50},
    "geared": {"turn": 2 * angle + sympy.Rational(1, 10)},
    "barrel cam": {"slide": "0.05*sin(2*q)"},
    "follower": {"turn": 0, "slide": CRANK},
    "slow slide": {"turn": "0", "slide": "q/4"},
}
SKEW = (0.6, 0.0, 0.8)


def screwed(name: str, joints: tuple[str, ...], formulas: dict[str, Any]) -> codegen.Robot:
    robot = codegen.load(name)
    for joint in joints:
        robot = robot.with_screw(joint, **formulas)
    return robot


CHAIN = "chain:4,alternate,3", ("link1_joint", "link3_joint")
SOLO = "solo12", ("FL_HAA", "FR_KFE", "HL_HFE")


def agrees(robot: codegen.Robot, algorithm: str, tolerance: float, **options: Any) -> None:
    """An algorithm, as written and as emitted, against the dense oracle."""
    rng = np.random.default_rng(5)  # no crank near its dead centre, where differences lose digits
    q, v, tau = robot.random(rng)
    given = {"q": q, "v": v, "tau": tau, "a": rng.standard_normal(robot.nv), "dt": np.array(0.01)}
    held = [robot.contact(frame, 3) for frame in options.pop("contacts", ())]
    contacts = {"contacts": held} if held else {}
    for graph in codegen.graphs(robot, algorithm, **contacts, **options):
        inputs = [given[port.name] for port in graph.inputs]
        expected = ORACLE[algorithm](robot, *inputs, **contacts)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for found, wanted in zip(interpret(graph, *inputs), expected, strict=False):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * max(np.abs(wanted).max(), 1e-3))


@pytest.mark.parametrize("formulas", FORMULAS, ids=str)
@pytest.mark.parametrize(
    ("algorithm", "tolerance"),
    [("fk", 1e-12), ("jacobian", 1e-12), ("rnea", 1e-12), ("crba", 1e-12), ("aba", 1e-9), ("ltl", 1e-9)],
)
def test_dynamics(formulas: str, algorithm: str, tolerance: float) -> None:
    agrees(screwed(*CHAIN, FORMULAS[formulas]), algorithm, tolerance)


DERIVED = [
    *("rnea_derivatives", "aba_derivatives", "coriolis", "centroidal_derivatives", "fk_derivatives"),
    *("frame_acceleration_derivatives", "step_derivatives"),
]


@pytest.mark.parametrize(
    ("formulas", "algorithm"), chosen(lambda *case: case == ("barrel cam", "coriolis"), [*FORMULAS], DERIVED)
)
def test_derivatives(formulas: str, algorithm: str) -> None:
    """Slopes of formulas change with q, which no other joint's axes do."""
    agrees(screwed(*CHAIN, FORMULAS[formulas]), algorithm, 1e-7)


HELD = {
    "pv": 1e-8,
    "pv_early": 1e-6,
    "constrained_aba": 1e-6,
    "tree_kkt": 1e-6,
    "efpa": 1e-10,
    "kjr": 1e-10,
    "aba_osim": 1e-10,
    "ltl_osim": 1e-10,
    "pv_osimr": 1e-10,
    "kkt_inverse": 1e-8,
}


@pytest.mark.parametrize("without", [[], ["all"]], ids=["lowered", "plain"])
@pytest.mark.parametrize(
    ("formulas", "algorithm"),
    chosen(lambda *case: case in (("helix", "pv_osimr"), ("barrel cam", "pv")), [*FORMULAS], [*HELD]),
)
def test_on_contacts(formulas: str, algorithm: str, without: list[str]) -> None:
    contacts = ["FL_FOOT", "HR_FOOT"]
    agrees(screwed(*SOLO, FORMULAS[formulas]), algorithm, HELD[algorithm], contacts=contacts, without=without)


def test_a_helix_is_pinocchios() -> None:
    """Of a skew axis, too, by its helical joint."""
    pin = pytest.importorskip("pinocchio")
    robot, pitch = codegen.load("chain:3,alternate"), 0.02
    skew = tuple(replace(body, joint=replace(body.joint, axis=SKEW)) for body in robot.bodies)
    robot = replace(robot, bodies=skew).with_screw("link1_joint", slide=pitch * angle)
    model = pin.Model()
    for n, body in enumerate(robot.bodies):
        axis = np.array(body.joint.axis)
        kind = pin.JointModelHelicalUnaligned(axis, pitch) if n == 1 else pin.JointModelRevoluteUnaligned(axis)
        model.addJoint(n, kind, se3(body.placement), body.name)
        model.appendBodyToJoint(n + 1, inertia(body.inertia), pin.SE3.Identity())
    model.gravity.linear = np.array(robot.gravity)
    q, v, tau = robot.random(6)
    for name, expected in (
        ("aba", pin.aba(model, model.createData(), q, v, tau)),
        ("rnea", pin.rnea(model, model.createData(), q, v, tau)),
    ):
        found, *_ = interpret(codegen.graphs(robot, name)[1], q, v, tau)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_a_screw_among_joints_that_loops_tie() -> None:
    """A motor drives a spindle, whose nut a formula ties to a third joint."""
    robot = codegen.load("chain:3,alternate").with_screw("link1_joint", slide=angle / 30)
    first, second, third = robot.joint_names
    tied = robot.with_loop("drive", explicit={second: f"5*{first}", third: f"sin({first})"})
    q, v, tau = tied.random(1)
    for name in ("rnea", "aba", "crba"):
        graph = codegen.graphs(tied, name)[1]
        inputs = [{"q": q, "v": v, "a": v, "tau": tau}[port.name] for port in graph.inputs]
        np.testing.assert_allclose(interpret(graph, *inputs)[0], ORACLE[name](tied, *inputs), rtol=1e-9, atol=1e-10)


def test_compiled() -> None:
    robot = screwed(*CHAIN, FORMULAS["barrel cam"])
    q, v, tau = robot.random(2)
    expected = ORACLE["aba"](robot, q, v, tau)
    np.testing.assert_allclose(codegen.build(robot, "aba")(q, v, tau), expected, rtol=1e-9)
    published = codegen.build(robot, "aba", tier="published")(q, v, tau)
    np.testing.assert_allclose(published, expected, rtol=1e-9)


def test_files_keep_formulas(tmp_path: Path) -> None:
    robot = screwed(*CHAIN, {"turn": "2*q", "slide": CRANK})
    file = tmp_path / "cam.json"
    file.write_text(write_json(described(robot)), encoding="utf-8")
    again = codegen.load(file)
    assert [body.joint for body in again.bodies] == [body.joint for body in robot.bodies]
    q, v, tau = robot.random(3)
    found, expected = (interpret(codegen.graphs(one, "aba")[1], q, v, tau)[0] for one in (again, robot))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_info_tells_the_formulas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "spindle.json"
    file.write_text(write_json(described(screwed("chain:2", ("link1_joint",), {"slide": "0.01*q"}))), encoding="utf-8")
    assert main(["info", str(file)]) == 0
    assert re.search(r"^link1_joint +q +0\.01\*q$", capsys.readouterr().out, re.MULTILINE)
    assert main(["info", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bodies"][1]["slide"] == "0.01*q"


def test_a_locked_screw_stands_where_its_formulas_say() -> None:
    robot = screwed(*CHAIN, FORMULAS["barrel cam"])
    q, _, _ = robot.random(5)
    at = dict(zip(robot.joint_names, q, strict=True))
    locked = robot.lock({"link1_joint": at["link1_joint"]})
    kept = [at[name] for name in locked.joint_names]
    found, expected = (
        ORACLE["fk"](one, x, 0 * np.asarray(x), frames=("tip",)) for one, x in ((locked, kept), (robot, q))
    )
    np.testing.assert_allclose(found[0], expected[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "text", ["0.05*sin(2*q)", "0.1*cos(q) + sqrt(0.09 - 0.01*sin(q)^2)", "q^3/7 - 2*q", "exp(-q^2)*q"]
)
def test_slopes_are_those_of_the_formula(text: str) -> None:
    """By SymPy, against the complex step, and differences of it."""
    q, h = SX.sym("q"), 1e-5
    evaluate = Function("curve", [q], [*curve(text, q)])
    for x in (-0.9, 0.3, 1.2):
        slope = [oracle_texts.value(text, {"q": y + 1e-30j}).imag / 1e-30 for y in (x - h, x, x + h)]
        expected = oracle_texts.value(text, {"q": x + 0j}).real, slope[1], (slope[2] - slope[0]) / (2 * h)
        np.testing.assert_allclose(np.ravel(evaluate(x)), expected, rtol=1e-8, atol=1e-8)


def operators(values: tuple[SX, ...], q: SX) -> int:
    """How many operations values take, constants left out."""
    function = Function("f", [q], [*values])
    known = (OP_CONST, OP_INPUT, OP_OUTPUT)
    return sum(function.instruction_id(k) not in known for k in range(function.n_instructions()))


def test_sympy_leaves_no_part_twice() -> None:
    """Fewer operations than differentiating the text itself."""
    text, q = "0.1*cos(q) + sqrt(0.09 - 0.01*sin(q)^2)", SX.sym("q")
    value = parse(text, {"q": q})
    slope = jacobian(value, q)
    assert operators(curve(text, q), q) < 0.9 * operators((value, slope, jacobian(slope, q)), q)
    found = differentiated((text,), ("q",))
    assert found is not None
    assert len(found.shared) > 2


@pytest.mark.parametrize(
    ("formulas", "words"),
    [
        ({"turn": "q^2"}, "its turn 'q^2' is not linear in q; take the angle as q"),
        ({"turn": 0}, "does not move with q; let turn or slide depend on it, or make it fixed"),
        ({"slide": "pitch*q"}, "'pitch', which is no variable and no function (the coordinate is called q)"),
        ({"slide": sympy.Symbol("a") * sympy.Symbol("b")}, "a screw's formula has one variable, not 'a', 'b'"),
        ({"slide": "__import__('os').getcwd()"}, "which is no variable and no function"),
        ({"slide": sympy.gamma(angle)}, "a constraint cannot contain gamma"),
    ],
)
def test_formulas_that_do_not_fit(formulas: dict[str, Any], words: str) -> None:
    with pytest.raises(RobotError) as error:
        screwed("chain:2", ("link1_joint",), formulas)
    assert words in str(error.value)


def test_joints_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(RobotError, match="is floating; only joints of one coordinate become screws"):
        codegen.load("solo12").with_screw("floating_base")
    text = json.loads(write_json(described(codegen.load("chain:2"))))
    text["joints"][1]["slide"] = "0.1*q"
    file = tmp_path / "hinge.json"
    file.write_text(json.dumps(text), encoding="utf-8")
    with pytest.raises(RobotError, match="has formulas, which only screws have; make it one, or remove turn and slide"):
        codegen.load(file)


def test_exact_numbers_stay_short() -> None:
    """What is finite in doubles may be a number of millions of digits as a fraction."""
    q = SX.sym("q")
    evaluate = Function("curve", [q], [*curve("q*1.0000001^10000000", q)])
    assert float(evaluate(1.0)[0]) == pytest.approx(np.e, rel=1e-6)
