"""rigidc's C in fatrop: what its stage functions give, and an optimal control problem against CasADi with fatrop.

CasADi's wheel brings fatrop and BLASFEO, with their headers.
"""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from compilers import COMPILERS, WARNINGS
from compilers import compiled as run
from mechanisms_cases import mechanism
from thorough import besides

import codegen
from codegen.errors import RobotError

NEAR = 1e-10
ARM = "chain:2"
FILLED = 7  # as in fatrop_shim.c
WHEEL = Path(ca.__file__).parent
HEADERS = [f"-isystem{WHEEL / 'include'}"]
LIBRARIES = [f"-L{WHEEL}", "-l:libfatrop.so", "-l:libblasfeo.so", f"-Wl,-rpath,{WHEEL},-rpath-link,{WHEEL}", "-lm"]

installed = pytest.mark.skipif(
    not all(
        (WHEEL / name).is_file() for name in ("include/fatrop/ocp/OCPCInterface.h", "libfatrop.so", "libblasfeo.so")
    ),
    reason="this CasADi brings no fatrop: casadi>=3.8 from PyPI",
)


def loaded(robot: str):
    """A bundled robot, or a random mechanism: convention, then joint types."""
    convention, _, types = robot.partition(" ")
    return mechanism(tuple(types.split()), 3, convention=convention) if types else codegen.load(robot)


def sources(folder: Path) -> list[str]:
    """Those of a generated folder but for its example."""
    return [str(path) for path in sorted(folder.glob("*.c")) if path.name != "example.c"]


def called(folder: Path, algorithm: str, f: ca.Function, given: list[np.ndarray]) -> list[np.ndarray]:
    """Value, Jacobian and Hessian from C."""
    dynamics = "step" in algorithm
    names = {"HEADER": f'"my_{algorithm}_fatrop.h"', "NAME": f"my_{algorithm}"}
    names |= {"RESIDUAL": "b", "JACOBIAN": "BAbt", "DYNAMICS": 1} if dynamics else {"RESIDUAL": "g", "JACOBIAN": "Ggt"}
    defined = [f"-D{name}={text}" for name, text in names.items()]
    shim = str(Path(__file__).with_name("fatrop_shim.c"))
    shared = ["-O1", "-shared", "-fPIC", *defined, *HEADERS, "-I."]
    run("cc", folder, *shared, *sources(folder), shim, *LIBRARIES, "-o", "library.so")
    lib, double = ctypes.CDLL(str(folder / "library.so")), ctypes.POINTER(ctypes.c_double)
    x, u, x_next, lam, p = (np.ascontiguousarray(part).ctypes.data_as(double) for part in given)
    m, n = f.size1_out(0), f.size1_out(2)
    y, J, H = np.zeros(m), np.zeros((m, n + 1)), np.zeros((n, n + 1))
    assert lib.value(x_next, u, x, p, y.ctypes.data_as(double)) == 0
    assert lib.slopes(u, x, p, n, m, J.ctypes.data_as(double)) == 0
    assert lib.curvature(u, x, lam, p, n, H.ctypes.data_as(double)) == 0
    assert (J[:, n] == FILLED).all()
    assert (H[:, n] == FILLED).all()
    return [y, J[:, :n].T, H[:, :n] - FILLED]


def expected(model, algorithm: str, **options) -> ca.Function:
    """Value, Jacobian by [u; x] and Hessian of lam' y, of CasADi's automatic differentiation."""
    f = codegen.to_casadi(model, algorithm, expand=True, **options)
    x, u, x_next = (ca.SX.sym(name, size) for name, size in zip("xun", sizes(model), strict=True))
    state = {"q": x[: model.nq], "v": x[model.nq :], "tau": u, "a": u}
    named = {name: f.sx_in(k) for k, name in enumerate(f.name_in()) if name not in state}
    found = f.call([state.get(name, named.get(name)) for name in f.name_in()])
    y = ca.vertcat(*[ca.vec(part) for part in found])
    y = y - x_next if "step" in algorithm else y
    lam, ux = ca.SX.sym("lam", y.numel()), ca.vertcat(u, x)
    hessian = ca.hessian(ca.dot(lam, y), ux)[0]
    p = ca.vertcat(ca.SX(0, 1), *map(ca.vec, named.values()))
    return ca.Function("f", [x, u, x_next, lam, p], [y, ca.jacobian(y, ux).T, hessian])


def sizes(model) -> tuple[int, int, int]:
    """Of the state, the controls, and the next state."""
    return model.nq + model.nv, model.nv, model.nq + model.nv


def arguments(f: ca.Function, model, seed: int = 1) -> list[np.ndarray]:
    """Random ones, with quaternions that are no unit ones, and a step of some milliseconds."""
    rng = np.random.default_rng(seed)
    found = [rng.standard_normal(f.size1_in(k)) for k in range(f.n_in())]
    q, v, _ = model.random(rng)
    found[0] = np.concatenate([1.3 * q if model.nq > model.nv else q, v])
    found[-1][:1] = 0.02
    return found


CASES = [
    (ARM, "step", {}),
    (ARM, "rnea", {"parameters": ("gravity",)}),
    ("pinocchio spherical", "step", {}),
    (ARM, "fk", {}),
    ("pinocchio spherical revolute", "aba", {}),
    ("iiwa", "step", {}),
    ("iiwa", "rnea", {}),
    ("iiwa", "pv_step", {"contacts": ("lbr_iiwa_link_7:3",)}),
    ("four_bar", "step", {}),
    ("go1", "rnea", {}),
    ("chain:17", "step", {}),
]


@installed
@pytest.mark.parametrize(("robot", "algorithm", "options"), besides(CASES[:1], CASES))
def test_stage_functions_and_derivatives(robot, algorithm, options, tmp_path):
    """Against CasADi's automatic differentiation of the same function."""
    model = loaded(robot)
    codegen.generate(model, (algorithm,), tmp_path, prefix="my", interfaces=("fatrop",), **options)
    f = expected(model, algorithm, **options)
    given = arguments(f, model)
    for mine, theirs in zip(called(tmp_path, algorithm, f, given), f.call(given), strict=True):
        wanted = theirs.full().reshape(mine.shape)
        assert np.abs(mine - wanted).max() < NEAR * max(np.abs(wanted).max(), 1)


@pytest.fixture(scope="module")
def ours(tmp_path_factory) -> Path:
    """A generated folder with the dynamics and a step of two joints."""
    made = tmp_path_factory.mktemp("fatrop")
    codegen.generate(loaded(ARM), ("aba", "step"), made, prefix="my", interfaces=("fatrop",))
    return made


START, GOAL, FASTEST = [0.1, 0.2, -0.3, 0.4], [0.6, -0.4, 0, 0], 0.72


def controlled() -> np.ndarray:
    """The problem of `fatrop_program.c` by CasADi and fatrop: states and controls of one node after the other."""
    step, aba = (codegen.to_casadi(loaded(ARM), name, expand=True) for name in ("step", "aba"))
    opti, cost = ca.Opti(), 0
    both = [(opti.variable(4), opti.variable(2) if k < 10 else ca.MX(0, 1)) for k in range(11)]
    for k, (x, u) in enumerate(both):
        cost += 5 * ca.sumsqr(x - ca.DM(GOAL)) + ca.sumsqr(u) / 2
        opti.set_initial(x, START)
        if k < 10:
            opti.subject_to(both[k + 1][0] == ca.vertcat(*step(x[:2], x[2:], u, 0.05)))
        if k == 0:
            opti.subject_to(x == START)
        if 0 < k < 10:
            opti.subject_to(opti.bounded(-FASTEST, aba(x[:2], x[2:], u), FASTEST))
    opti.minimize(cost)
    quiet = {"print_level": 0, "tolerance": 1e-10}
    opti.solver("fatrop", {"print_time": False, "structure_detection": "auto", "fatrop": quiet})
    solved = opti.solve()
    fast = [np.abs(solved.value(aba(x[:2], x[2:], u))).max() for x, u in both[1:-1]]
    assert max(fast) > FASTEST - 1e-6  # bounds are active
    return np.concatenate([np.ravel(solved.value(part)) for pair in both for part in pair if part.numel()])


@installed
def test_fatrop_solves(ours):
    """Through its C interface to the optimum that it finds through CasADi."""
    program = str(Path(__file__).with_name("fatrop_program.c"))
    run("cc", ours, "-O1", "-I.", *HEADERS, program, *sources(ours), *LIBRARIES, "-o", "program")
    done = subprocess.run([str(ours / "program")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert np.abs(np.array(done.stdout.split(), float) - controlled()).max() < 1e-7


@installed
def test_headers_compile_without_warnings(ours):
    for compiler in COMPILERS:
        for name in ("my_aba_fatrop.h", "my_step_fatrop.h"):
            (ours / "tried.c").write_text(f'#include "{name}"\n')
            flags = (*WARNINGS, "-Wno-unused-function", "-std=c99", *HEADERS)
            run(compiler, ours, *flags, "-c", "tried.c", "-o", "tried.o")
            run(compiler, ours, "-xc++", *WARNINGS, "-Wno-unused-function", *HEADERS, "-c", "tried.c", "-o", "tried.o")
    (ours / "tried.c").unlink()


def test_the_order_of_derivatives(tmp_path):
    for order, names in enumerate((["eval_b"], ["eval_b", "eval_BAbt"])):
        folder = tmp_path / str(order)
        codegen.generate(loaded(ARM), ("step",), folder, prefix="my", interfaces=("fatrop",), derivative_order=order)
        text = (folder / "my_step_fatrop.h").read_text()
        assert [name for name in ("eval_b", "eval_BAbt", "add_RSQrqt") if f"_{name}(" in text] == names


def test_what_has_no_positions_is_refused(tmp_path):
    with pytest.raises(RobotError, match="difference: fatrop takes steps"):
        codegen.generate(loaded(ARM), ("difference",), tmp_path, interfaces=("fatrop",))
    with pytest.raises(RobotError, match="the number of iterations is fixed"):
        codegen.generate(loaded(ARM), ("step_implicit_midpoint",), tmp_path, interfaces=("fatrop",), iterations=None)
    assert not list(tmp_path.iterdir())
