"""Models for acados' Python interface: what they say, the C that they name, and problems that acados solves by them."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from compilers import compiled as run
from test_acados_interface import GOAL, STRUCTURES, Held, controlled, expected, loaded, worst

from codegen.errors import RobotError
from codegen.interfaces.acados_model import to_acados

ARM, NEAR = "chain:2", 1e-10
RNG = np.random.default_rng(5)


class Model(SimpleNamespace):
    """An empty model as acados_template makes one."""

    def __init__(self) -> None:
        super().__init__(dyn_generic_source=None)


@pytest.fixture
def template(monkeypatch, tmp_path):
    """A module in the place of acados_template, in a folder that is empty."""
    monkeypatch.setitem(sys.modules, "acados_template", SimpleNamespace(AcadosModel=Model))
    monkeypatch.chdir(tmp_path)


def library(folder: Path, source: str) -> ctypes.CDLL:
    """The source of a model compiled by itself, with BLASFEO's headers of CasADi's wheel."""
    wheel = Path(ca.__file__).parent
    if not (wheel / "include" / "blasfeo.h").is_file():
        pytest.skip("this CasADi does not bring BLASFEO's headers")
    (folder / "acados" / "utils").mkdir(parents=True)
    (folder / "acados" / "utils" / "external_function_generic.h").write_text(STRUCTURES)
    linked = [f"-L{wheel}", "-l:libblasfeo.so", f"-Wl,-rpath,{wheel}", "-lm"]
    warned = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wmissing-prototypes"]
    run("cc", folder, *warned, "-I.", f"-I{wheel / 'include'}", "-shared", "-fPIC", source, *linked, "-o", "made.so")
    return ctypes.CDLL(str(folder / "made.so"))


def called(lib: ctypes.CDLL, name: str, p: np.ndarray, takes: list[Held], gives: list[Held]) -> None:
    """One function of the type 'generic'."""
    both = [(ctypes.c_void_p * len(every))(*[one.pointer for one in every]) for every in (takes, gives)]
    assert getattr(lib, name)(*both, ctypes.c_void_p(p.ctypes.data)) == 0


def blasfeo() -> ctypes.CDLL:
    return ctypes.CDLL(str(Path(ca.__file__).parent / "libblasfeo.so"))


@pytest.mark.parametrize("symbol", [ca.SX, ca.MX])
def test_a_step_is_discrete_dynamics(symbol, template, tmp_path):
    model = to_acados(loaded(ARM), "step", prefix="arm", symbol=symbol)
    assert (model.name, model.dyn_ext_fun_type, model.dyn_generic_source) == ("arm_step", "generic", "arm_step.c")
    assert [*tmp_path.iterdir()] == [tmp_path / "arm_step.c"]
    names = [model.dyn_disc_fun, model.dyn_disc_fun_jac, model.dyn_disc_fun_jac_hess]
    assert names == [f"arm_step_dyn_disc_phi_fun{end}_generic" for end in ("", "_jac", "_jac_hess")]
    assert isinstance(model.x, symbol)
    x, u, pi, p = (np.ascontiguousarray(RNG.standard_normal((size, 1))) for size in (4, 2, 4, 1))
    known = expected(loaded(ARM), "step")
    step = ca.Function("step", [model.x, model.u, model.p], [model.disc_dyn_expr])
    assert worst(step(x, u, p).full(), known["dyn_disc_phi_fun"](x, u, p).full()) < NEAR
    lib, held = library(tmp_path, "arm_step.c"), blasfeo()
    for name, given in zip(names, ([x, u], [x, u], [x, u, pi]), strict=True):
        wanted = known[name.removeprefix("arm_step_").removesuffix("_generic")].call([*given, p])
        gives = [
            Held(held, how, np.full(y.shape, np.nan))
            for how, y in zip(("part", "block", "block"), wanted, strict=False)
        ]
        called(lib, name, p, [Held(held, "part", one) for one in given], gives)
        for mine, theirs in zip(gives, wanted, strict=True):
            assert worst(mine.x, theirs.full()) < NEAR


@pytest.mark.parametrize("algorithm", ["aba", "rnea"])
def test_dynamics_are_an_implicit_ode(algorithm, template, tmp_path):
    model = to_acados(loaded(ARM), algorithm, symbol=ca.MX)
    name = f"chain_2_z_{algorithm}"
    assert (model.name, model.dyn_impl_dae_fun) == (name, f"{name}_impl_dae_fun_generic")
    assert not hasattr(model, "dyn_disc_fun")
    x, xdot, u = (RNG.standard_normal((size, 1)) for size in (4, 4, 2))
    none, known = np.zeros((0, 1)), expected(loaded(ARM), algorithm)
    residual = ca.Function("residual", [model.x, model.xdot, model.u, model.p], [model.f_impl_expr])
    assert worst(residual(x, xdot, u, none).full(), known["impl_dae_fun"](x, xdot, u, none, 0, none).full()) < NEAR
    lib, held = library(tmp_path, model.dyn_generic_source), blasfeo()
    takes = [Held(held, how, y) for how, y in zip(("vector", "part", "array"), (x, xdot, u), strict=True)]
    takes += [Held(held, "part", none), Held(held, "array", np.zeros((1, 1)))]
    made = {"dyn_impl_dae_fun": ["part"], "dyn_impl_dae_fun_jac": ["part", "matrix", "matrix", "matrix"]}
    made["dyn_impl_dae_jac"] = ["matrix"] * 4
    for key, hows in made.items():
        function = getattr(model, key)
        assert function.startswith(f"{name}_impl_dae")
        wanted = known[function.removeprefix(f"{name}_").removesuffix("_generic")].call([x, xdot, u, none, 0, none])
        gives = [Held(held, how, np.full(y.shape, np.nan)) for how, y in zip(hows, wanted, strict=True)]
        called(lib, function, none, takes, gives)
        for mine, theirs in zip(gives, wanted, strict=True):
            assert mine.x.size == 0 or worst(mine.x, theirs.full()) < NEAR


def test_parameters_are_all_other_arguments(template):
    model = to_acados(loaded(ARM), "step", parameters=("gravity",), derivatives=1)
    assert model.p.numel() == 4  # dt, and gravity
    assert not hasattr(model, "dyn_disc_fun_jac_hess")
    assert "dyn_disc_phi_fun_jac_hess" not in Path(model.dyn_generic_source).read_text()


def test_a_file_of_another_is_left_alone(template, tmp_path):
    (tmp_path / "arm_step.c").write_text("mine")
    with pytest.raises(RobotError, match=r"arm_step\.c was not generated by rigidc; move it away"):
        to_acados(loaded(ARM), "step", prefix="arm")
    assert (tmp_path / "arm_step.c").read_text() == "mine"


@pytest.mark.parametrize(
    ("algorithm", "options", "said"),
    [
        ("crba", {}, "crba: acados takes dynamics"),
        ("step", {"derivatives": 0}, "derivatives must be 1 or 2, the highest order that acados gets, not 0"),
        ("step", {"symbol": float}, "symbol must be casadi.SX or casadi.MX"),
        ("step", {"trig": "slow"}, "trig 'slow': choose one of"),
    ],
)
def test_what_cannot_be_is_refused(algorithm, options, said, template, tmp_path):
    with pytest.raises(RobotError, match=said):
        to_acados(loaded(ARM), algorithm, **options)
    assert not [*tmp_path.iterdir()]


def test_without_acados_template(monkeypatch):
    monkeypatch.setitem(sys.modules, "acados_template", None)
    with pytest.raises(RobotError, match=r"acados_template, acados' Python interface, is needed .*pip install"):
        to_acados(loaded(ARM), "step")


def test_an_acados_template_that_is_too_old(monkeypatch):
    monkeypatch.setitem(sys.modules, "acados_template", SimpleNamespace(AcadosModel=SimpleNamespace))
    with pytest.raises(RobotError, match="acados_template is too old to take C functions"):
        to_acados(loaded(ARM), "step")


SOLVED = """
import sys

import numpy as np
from acados_template import AcadosOcp, AcadosOcpSolver

import codegen
from test_acados_interface import GOAL, START, controlled

kind, hessian = sys.argv[1:]
ocp, nodes = AcadosOcp(), 10
model = ocp.model = codegen.to_acados(codegen.load("chain:2"), kind)
options = ocp.solver_options
options.N_horizon, options.tf, options.nlp_solver_type = nodes, 0.05 * nodes, "SQP"
options.integrator_type = "DISCRETE" if kind == "step" else "IRK"
options.hessian_approx, options.nlp_solver_max_iter, options.cost_scaling = hessian, 200, np.ones(nodes + 1)
options.nlp_solver_tol_stat = options.nlp_solver_tol_eq = 1e-9
if kind == "step":
    ocp.parameter_values = np.array([0.05])
ocp.cost.cost_type = ocp.cost.cost_type_e = "LINEAR_LS"
ocp.cost.W, ocp.cost.W_e = np.diag([10.0] * 4 + [1.0] * 2), np.diag([10.0] * 4)
ocp.cost.Vx, ocp.cost.Vu, ocp.cost.Vx_e = np.eye(6, 4), np.eye(6, 2, -4), np.eye(4)
ocp.cost.yref, ocp.cost.yref_e, ocp.constraints.x0 = np.r_[GOAL, 0, 0], GOAL, START
solver = AcadosOcpSolver(ocp, verbose=False)
first = controlled().reshape(-1)
for k in range(nodes + 1):  # exact Hessians need a start from where they are positive
    solver.set(k, "x", first[6 * k : 6 * k + 4] + 1e-2)
    if k < nodes:
        solver.set(k, "u", first[6 * k + 4 : 6 * k + 6] + 1e-2)
assert solver.solve() == 0
found = [np.r_[solver.get(k, "x"), solver.get(k, "u") if k < nodes else []] for k in range(nodes + 1)]
np.save("found.npy", np.concatenate(found))
np.save("iterations.npy", solver.get_stats("nlp_iter"))
"""


@pytest.mark.parametrize(
    ("kind", "hessian"),
    [("step", "EXACT"), ("step", "GAUSS_NEWTON"), ("aba", "GAUSS_NEWTON"), ("rnea", "GAUSS_NEWTON")],
)
def test_acados_solves_a_problem_by_a_model(kind, hessian, tmp_path):
    """An optimal control problem in Python, where acados_template and acados are installed."""
    place = os.environ.get("ACADOS_SOURCE_DIR", "")
    if importlib.util.find_spec("acados_template") is None or not Path(place, "include", "acados_c").is_dir():
        pytest.skip("acados_template is not installed, or ACADOS_SOURCE_DIR has no include/acados_c")
    paths = {"LD_LIBRARY_PATH": f"{place}/lib", "PYTHONPATH": f"{Path(__file__).parent}"}
    command = [sys.executable, "-c", SOLVED, kind, hessian]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, **paths}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = np.load(tmp_path / "found.npy")
    if kind == "step":
        assert np.abs(found - controlled()).max() < 1e-7
        assert hessian != "EXACT" or np.load(tmp_path / "iterations.npy") < 6  # quadratic
    else:
        f = expected(loaded(ARM), "aba")["expl_ode_fun"]
        x, u = found[:-4].reshape(-1, 6)[:, :4], found[:-4].reshape(-1, 6)[:, 4:]
        ends = [*x[1:], found[-4:]]
        for start, force, end in zip(x, u, ends, strict=True):
            assert np.abs(advanced(f, start, force) - end).max() < 1e-5
        assert np.abs(found[-4:] - GOAL).max() < np.abs(x[0] - GOAL).max()


def advanced(f: ca.Function, x: np.ndarray, u: np.ndarray, steps: int = 100) -> np.ndarray:
    """Where an ODE leads within 0.05 s, by RK4."""
    h = 0.05 / steps
    for _ in range(steps):
        k1 = f(x, u, []).full().ravel()
        k2 = f(x + h / 2 * k1, u, []).full().ravel()
        k3 = f(x + h / 2 * k2, u, []).full().ravel()
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(x + h * k3, u, []).full().ravel())
    return x
