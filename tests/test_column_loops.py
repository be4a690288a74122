"""Derivatives of inverse dynamics and regressors by loops over columns: those of the recursion, where they suit."""

from __future__ import annotations

import ctypes
import platform
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from casadi import SX, Function, densify
from compilers import COMPILERS, WARNINGS, compiled, written
from mechanisms_cases import ALL_TYPES, mechanism
from thorough import besides, diagonal

import codegen
import opcount
from codegen import pipeline
from codegen.algorithms.regressor import regressor
from codegen.algorithms.regressor_by_columns import regressor_by_columns
from codegen.algorithms.rnea_derivatives import rnea_derivatives
from codegen.algorithms.rnea_derivatives_by_columns import rnea_derivatives_by_columns
from codegen.api import task
from codegen.emission.emit import Style, emit_artifact, emit_folder
from codegen.emission.kernels import emit_kernel
from codegen.emission.spec import REGISTERS, Kernel, LoopKernel, ProductKernel
from codegen.emission.variants import COLUMNS, alternatives
from codegen.ir.interpreter import interpret
from codegen.ir.products import WithProducts, straight_line
from codegen.oracle import ORACLE
from codegen.pipeline import kernel
from codegen.recursions.expansion import entries
from codegen.task.header import header
from codegen.tracing.casadi_operators import direct_operators
from codegen.tracing.trace import differs_in_vectors, multiplied, problem_of, symbols_of, trace_products

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codegen.emission.spec import Registers
    from codegen.model import Model
    from codegen.tracing.task import Task

INVERSE, SOURCE = "rnea_derivatives", "arm_rnea_derivatives.c"
FEET = ("l_foot:6", "r_foot:6")
LEGS = ("FL_FOOT:3", "FR_FOOT:3", "HL_FOOT:3", "HR_FOOT:3")


def robot(name: str) -> Model:
    """A bundled robot, or a random mechanism with every type of joint and armatures, on a base of this name."""
    if name in ("fixed", "floating"):
        return mechanism(ALL_TYPES, 5, base=name, armature=True)
    return codegen.load(name)


@pytest.mark.parametrize(
    "name",
    besides(["iiwa", "fixed", "floating"], ["iiwa", "fixed", "floating", "solo12", "icub", "talos", "atlas_shadow"]),
)
@direct_operators()
def test_they_are_those_of_the_recursion(name: str) -> None:
    """Under wrenches and contacts' forces, too."""
    model = robot(name)
    tips = model.tips[:2]
    asked = task(model, "pv_derivatives", contacts=[f"{tip}:6" for tip in tips], external=tips)
    symbols = symbols_of(asked.signature[0])
    problem = problem_of(asked, symbols)
    tree, a, lam = problem.built, SX.sym("a", model.nv), SX.sym("lam", 12)
    v, f_ext = (problem.arguments[key] for key in ("v", "f_ext"))
    found = entries(rnea_derivatives_by_columns(tree, v, a, f_ext, lam))
    exact = rnea_derivatives(tree, v, a, f_ext, lam)
    function = Function("f", [*symbols, a, lam], [densify(x) for x in (*found, *exact)])
    rng = np.random.default_rng(3)
    q, v, _ = model.random(rng)
    given = [q, v, *(rng.standard_normal(symbol.numel()) for symbol in symbols[2:])]
    made = [np.array(x) for x in function(*given, rng.standard_normal(model.nv), rng.standard_normal(12))]
    for mine, theirs in zip(made[:3], made[3:], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-13 * np.abs(theirs).max())


@pytest.mark.parametrize("name", besides(["fixed", "floating"], ["iiwa", "fixed", "floating", "solo12", "talos"]))
@direct_operators()
def test_the_regressor_is_that_of_the_recursion(name: str) -> None:
    """Of parameters in frames that bodies are turned and shifted against, too."""
    model = robot(name)
    asked = task(model, "regressor")
    symbols = symbols_of(asked.signature[0])
    problem = problem_of(asked, symbols)
    given = problem.built, problem.arguments["v"], problem.arguments["a"]
    made = [*entries((regressor_by_columns(*given),)), regressor(*given)]
    q, v, a = model.random(4)
    mine, theirs = (np.array(x) for x in Function("f", symbols, [*map(densify, made)])(q, v, a))
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-13 * np.abs(theirs).max())


def loops(asked: Task) -> WithProducts | None:
    """The function if it has loops over columns."""
    found = trace_products(asked)
    return found if isinstance(found, WithProducts) and found.maps else None


def test_robots_with_many_joints_have_them() -> None:
    """Straight-line code is a tenth, and results are the same."""
    asked = task(codegen.load("atlas_one_hand"), INVERSE)
    found = loops(asked)
    assert found is not None
    plain = trace_products(replace(asked, without=("column_loops",)))
    assert not isinstance(plain, WithProducts)
    assert len(found.graph.values) < len(plain.values) / 10
    rng = np.random.default_rng(1)
    q, v, _ = asked.model.random(rng)
    a = rng.standard_normal(asked.model.nv)
    for mine, theirs in zip(interpret(straight_line(found), q, v, a), interpret(plain, q, v, a), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-13 * np.abs(theirs).max())


def listed(made: object) -> tuple[object, ...]:
    """Results, also if it is one."""
    return made if isinstance(made, tuple) else (made,)


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", [INVERSE, "rnea_derivatives_ltl", "regressor"])
def test_compiled_loops_give_what_the_recursion_gives(algorithm: str) -> None:
    """One state, and states in lanes with a remainder."""
    model = codegen.load("atlas_one_hand")
    asked = task(model, algorithm)
    assert loops(asked) is not None
    plain, function = trace_products(replace(asked, without=("column_loops",))), codegen.build(model, algorithm)
    states = [model.random(seed) for seed in range(19)]
    together = listed(function(*map(np.stack, zip(*states, strict=True))))
    for k, state in enumerate(states):
        for one, many, exact in zip(listed(function(*state)), together, interpret(plain, *state), strict=True):
            np.testing.assert_allclose(one, exact, rtol=0, atol=1e-12 * np.abs(exact).max())
            np.testing.assert_allclose(many[k], exact, rtol=0, atol=1e-12 * np.abs(exact).max())


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["talos", "atlas_one_hand", "atlas_shadow"])
@pytest.mark.parametrize("algorithm", [INVERSE, "rnea_derivatives_ltl", "aba_derivatives", "regressor"])
def test_sources_stay_below_two_megabytes(name: str, algorithm: str) -> None:
    """For clang, with limbs in step and plain C in one file."""
    asked = task(codegen.load(name), algorithm)
    artifact = emit_artifact(header(asked.model, name, (asked,)), kernel(asked), Style(lanes=8))
    assert max(len(text) for _, text in artifact.files) < 2e6


def test_c_with_small_vectors_has_them_sooner() -> None:
    """Lanes, and C with one number at a time, have straight-line code, which has fewer operations."""
    model = codegen.load("chain:26")
    asked = task(model, INVERSE)
    made = kernel(asked)
    (loops,) = alternatives(made, None)
    assert isinstance(made, Kernel)
    assert isinstance(loops.kernel, ProductKernel)
    assert loops.kernel.function.maps
    assert loops.registers == "PACKS"
    assert loops.kernel.count.total > made.count.total
    artifact = emit_artifact(header(model, "chain", (asked,)), made, Style(lanes=4))
    plain, _, in_step = artifact.source.partition(COLUMNS)
    assert "_map_0(" in in_step
    assert "_map_0(" not in plain
    assert artifact.count == made.count


def test_it_depends_on_the_robot_and_on_what_is_asked_for() -> None:
    for name, differs in {"iiwa": False, "atlas_shadow": False, "chain:24": False, "chain:33": True}.items():
        assert differs_in_vectors(task(codegen.load(name), INVERSE)) is differs
    assert differs_in_vectors(task(codegen.load("talos"), "step_derivatives"))
    assert differs_in_vectors(task(codegen.load("talos"), "step_implicit_midpoint_derivatives"))
    assert not differs_in_vectors(task(codegen.load("talos"), "crba"))
    assert not differs_in_vectors(task(codegen.load("chain:33"), INVERSE, sparse=True))
    assert differs_in_vectors(task(codegen.load("chain:33"), "aba_derivatives", sparse=True))
    assert not differs_in_vectors(task(codegen.load("chain:33"), INVERSE, without=["column_loops"]))


CASES: list[tuple[str, Registers]] = [(INVERSE, "EIGHTS"), ("aba_derivatives", "P8")]


@pytest.fixture
def quadruped(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    """One that has loops, too, for registers of eight numbers, over rows of 24."""
    monkeypatch.setattr("codegen.costs.PAIRED_VECTORS", 50)
    monkeypatch.setattr("codegen.ir.padded.LEAST", 16)
    pipeline._functions.cache_clear()
    yield codegen.load("solo12")
    pipeline._functions.cache_clear()


@pytest.mark.parametrize(("algorithm", "least"), besides([CASES[0]], CASES))
def test_limbs_in_step_are_for_other_registers(quadruped: Model, algorithm: str, least: Registers) -> None:
    """Loops that are multiplied further take all wide registers, short others those that store as fast anywhere."""
    asked, top = task(quadruped, algorithm), header(quadruped, "arm", ())
    made = kernel(asked)
    assert not isinstance(made, LoopKernel)
    assert multiplied(asked) is isinstance(made, ProductKernel) is (least == "P8")
    in_step, loops = ("PACKS", True), (least, False)
    for registers in (*REGISTERS, None):
        looped = registers is not None and REGISTERS.index(registers) >= REGISTERS.index(least)
        others = [*alternatives(made, registers)]
        found = [(own.registers, own.kernel is made) for own in others]
        assert found == ([in_step, loops] if registers is None else [loops] if looped else [in_step])
        assert str(others[-1]).endswith(f"where there are {found[-1][0]}")
        guards = ["!ARM_PACKS", f"ARM_PACKS && !ARM_{least}", f"ARM_{least}"]
        guards = guards if registers is None else [f"!ARM_{found[0][0]}", f"ARM_{found[0][0]}"]
        emitted = emit_kernel(top, made, Style(registers=registers))
        assert [own.before.partition("#if ")[2] for own in emitted.variants] == guards
        alone = emit_kernel(top, made, Style(registers=registers, small_vectors=True))
        assert ("_map_0" in str(alone.variants)) is looped


def test_long_code_gives_way_to_loops_in_all_wide_registers(quadruped: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless most of it stores results, which loops do no faster: the regressor's."""
    for values, expected in {None: ("EIGHTS", "EIGHTS"), 3000: ("P8", "EIGHTS")}.items():
        if values:
            monkeypatch.setattr("codegen.emission.variants.FETCHED", values)
        for algorithm, registers in zip((INVERSE, "regressor"), expected, strict=True):
            made = kernel(task(quadruped, algorithm))
            assert [own.registers for own in alternatives(made, None)] == ["PACKS", registers]


def test_where_all_c_has_loops_there_is_one_way(quadruped: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as with thirty rows of contacts."""
    monkeypatch.setattr("codegen.costs.FACTORED", 12)
    made = kernel(task(quadruped, "pv_derivatives", contacts=LEGS))
    assert isinstance(made, ProductKernel)
    assert made.function.maps
    assert made.in_vectors is None


def test_what_takes_derivatives_of_accelerations_several_times_has_one_way(quadruped: Model) -> None:
    """Products of these take most of its time: C of each way would be as long as all."""
    for name in ("step_rk4_derivatives", "pv_step_rk4_derivatives", "pv_step_implicit_midpoint"):
        assert not differs_in_vectors(task(quadruped, name, contacts=LEGS[:1] if "pv" in name else None))
    made = kernel(task(quadruped, "step_rk4_derivatives"))
    assert isinstance(made, ProductKernel)
    assert made.function.maps
    assert made.in_vectors is None


def test_rows_with_friction_count_twice() -> None:
    """There are no loops for others: 12 rows of a robot with few joints, or 15 without friction."""

    def looped(name: str, *contacts: str) -> bool:
        asked = task(codegen.load("solo12"), name, contacts=contacts)
        return problem_of(asked, symbols_of(asked.signature[0]), loops=True).by_columns

    points = [*LEGS, "FL_LOWER_LEG:3"]
    assert looped("nsgs_derivatives", *(f"{point}:friction=0.7" for point in points))
    assert not looped("nsgs_derivatives", *(f"{point}:friction=0.7" for point in LEGS))
    assert not looped("pv_derivatives", *points)


def test_where_loops_do_not_suit_limbs_are_in_step(quadruped: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as rows along the world's axes."""
    assert not differs_in_vectors(task(quadruped, "pv_derivatives", contacts=["FL_FOOT:3:in=world"]))
    assert differs_in_vectors(task(quadruped, "pv_derivatives", contacts=["FL_FOOT:3"]))
    monkeypatch.setattr(sys.modules["codegen.lowering.column_loops"], "_suits", lambda _: False)
    pipeline._functions.cache_clear()
    made = kernel(task(quadruped, INVERSE))
    assert not isinstance(made, LoopKernel)
    assert made.in_vectors
    for registers in (*REGISTERS, None):
        assert [(own.registers, own.kernel) for own in alternatives(made, registers)] == [("PACKS", made)]


X86 = platform.machine().lower() in ("x86_64", "amd64")
FLAGS = ((), ("-DARM_PLAIN",), ("-march=native", "-DRIGIDC_512"), ("-march=native", *["-mno-sse4a"] * X86))
"""The last is for registers of eight as Intel's processors have them."""


@pytest.mark.parametrize(("compiler", "name"), diagonal(COMPILERS, ["chain:26", "solo12"]))
def test_all_give_the_same(tmp_path: Path, quadruped: Model, compiler: str, name: str) -> None:
    """With small vectors, with wide ones where the processor has such, and without."""
    model = quadruped if name == "solo12" else codegen.load(name)
    files = emit_folder(header(model, "arm", (task(model, INVERSE),)), (kernel(task(model, INVERSE)),), Style())
    q, v, a = model.random(4)
    exact = ORACLE[INVERSE](model, q, v, a)
    for number, own in enumerate(FLAGS):
        folder = tmp_path / str(number)
        folder.mkdir()
        written(files, folder)
        compiled(compiler, folder, "-std=c99", "-O1", *WARNINGS, *own, "-shared", "-fPIC", SOURCE, "-lm", "-o", "f.so")
        function, made = ctypes.CDLL(str(folder / "f.so")).arm_rnea_derivatives, [np.zeros(x.shape) for x in exact]
        function(*(x.ctypes.data_as(ctypes.c_void_p) for x in (q, v, a, *made)))
        for mine, theirs in zip(made, exact, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())


@pytest.mark.thorough
@pytest.mark.parametrize("compiler", COMPILERS)
def test_all_give_the_same_nonzeros(tmp_path: Path, quadruped: Model, compiler: str) -> None:
    """Loops write nothing behind the nonzeros. Of a base that is turned, only gravity changes: six of them."""
    asked = task(quadruped, "aba_derivatives", sparse=True)
    made = kernel(asked)
    assert isinstance(made, ProductKernel)
    (loops,) = alternatives(made, "P8")
    assert isinstance(loops.kernel, ProductKernel)
    assert loops.kernel.function.maps
    assert loops.kernel.outputs == made.outputs
    files = emit_folder(header(quadruped, "arm", (asked,)), (made,), Style())
    q, v, tau = quadruped.random(4)
    exact, ports = ORACLE["aba_derivatives"](quadruped, q, v, tau), made.outputs[:3]
    assert ports[0].size == quadruped.nv * (quadruped.nv - 6) + 6
    for number, own in enumerate(FLAGS):
        folder = tmp_path / str(number)
        folder.mkdir()
        written(files, folder)
        sources = ("arm_aba_derivatives.c", "-lm", "-o", "f.so")
        compiled(compiler, folder, "-std=c99", "-O1", *WARNINGS, *own, "-shared", "-fPIC", *sources)
        given = [np.full(port.size + 8, 7.0) for port in ports]
        called = ctypes.CDLL(str(folder / "f.so")).arm_aba_derivatives
        called(*(x.ctypes.data_as(ctypes.c_void_p) for x in (q, v, tau, *given)))
        for port, mine, theirs in zip(ports, given, exact, strict=True):
            assert port.pattern
            assert (mine[port.size :] == 7.0).all()
            dense = port.pattern.dense(mine[: port.size])
            np.testing.assert_allclose(dense, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ["aba_derivatives", "pv_derivatives", "step_derivatives"])
@pytest.mark.parametrize("name", ["talos", "icub", "atlas", "talos_reduced"])
def test_nonzeros_of_humanoids_are_those_of_matrices(name: str, algorithm: str) -> None:
    """Compiled for this machine."""
    model = codegen.load(name)
    contacts = [f"{tip}:6" for tip in model.tips[-2:]] if algorithm == "pv_derivatives" else None
    few, whole = (codegen.build(model, algorithm, contacts=contacts, sparse=sparse) for sparse in (True, False))
    given = (*model.random(3), 0.01)[: len(few.inputs)]
    for port, mine, theirs in zip(few.outputs, few(*given), whole(*given), strict=True):
        dense = port.pattern.dense(mine) if port.pattern else mine
        np.testing.assert_allclose(dense, theirs, rtol=0, atol=1e-10 * np.abs(theirs).max())


def test_their_operations_are_for_derivatives() -> None:
    found = opcount.breakdown("atlas_one_hand", INVERSE, "phase", tier="written")
    share = {row[3]: row[-2] for row in found.rows}
    assert share["derivatives"] > 0.99 * sum(share.values())


@pytest.mark.thorough
@pytest.mark.parametrize(
    "algorithm",
    ["aba_derivatives", "pv_derivatives", "prox_pv_derivatives", "pv_soft_derivatives"],
)
def test_so_has_what_is_made_of_them(algorithm: str) -> None:
    contacts = None if algorithm == "aba_derivatives" else FEET
    assert loops(task(codegen.load("atlas_one_hand"), algorithm, contacts=contacts)) is not None
    assert loops(task(codegen.load("atlas_one_hand"), algorithm, contacts=contacts, sparse=True)) is not None


@pytest.mark.parametrize(
    "asked",
    [
        task(codegen.load("talos"), INVERSE),
        task(codegen.load("jvrc1"), INVERSE),
        task(codegen.load("atlas_one_hand"), INVERSE, sparse=True),
        task(codegen.load("atlas_one_hand"), INVERSE, wrt=("gravity",)),
        task(codegen.load("atlas_one_hand", convention="mujoco"), INVERSE),
    ],
    ids=["few joints", "loops", "sparse", "by gravity", "axes that turn"],
)
def test_others_have_the_recursion(asked: Task) -> None:
    assert loops(asked) is None


def test_rows_that_turn_against_their_bodies_keep_the_recursion() -> None:
    turning = task(codegen.load("atlas_one_hand"), "pv_derivatives", contacts=[f"{foot}:in=world" for foot in FEET])
    assert turning.entry.by_columns is not None
    assert not problem_of(turning, symbols_of(turning.signature[0]), loops=True).by_columns
