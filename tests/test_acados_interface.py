"""rigidc's C in acados: what its functions are called, take and give, against CasADi's own derivatives."""

from __future__ import annotations

import ctypes
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import ClassVar

import casadi as ca
import numpy as np
import pytest
from compilers import COMPILERS, WARNINGS
from compilers import compiled as run
from mechanisms_cases import mechanism
from thorough import besides

import codegen
from codegen.errors import RobotError
from codegen.model import Model

NEAR = 1e-10
ROUNDING = 1e-14
ARM = "chain:2"
BALL = "pinocchio spherical revolute"
ODE = ("expl_ode_fun", "expl_vde_forw", "expl_vde_adj", "expl_ode_hess")
RESIDUAL = (
    "impl_dae_fun",
    "impl_dae_fun_jac_x_xdot_z",
    "impl_dae_fun_jac_x_xdot_u_z",
    "impl_dae_fun_jac_x_xdot_u",
    "impl_dae_jac_x_xdot_u_z",
    "impl_dae_hess",
)
STEP = ("dyn_disc_phi_fun", "dyn_disc_phi_fun_jac", "dyn_disc_phi_fun_jac_hess")


@cache
def loaded(robot: str) -> Model:
    """A bundled robot, or a random mechanism: convention, then joint types."""
    convention, _, types = robot.partition(" ")
    return mechanism(tuple(types.split()), 3, convention=convention) if types else codegen.load(robot)


def moving(model: Model, q: ca.SX, v: ca.SX) -> ca.SX:
    """Rates of positions, with quaternions (x, y, z, w) written out."""
    rates = []
    for joint, place, own in zip(model.joints, model.q_slices, model.v_slices, strict=True):
        if joint.nq == joint.nv:
            rates.append(v[own])
            continue
        w, at = v[own][-3:], q[place][-4:]
        if joint.nq == 7:
            x = at[:3] / ca.norm_2(at)
            turned = ca.cross(x, v[own][:3])
            rates.append(v[own][:3] + 2 * (at[3] / ca.norm_2(at) * turned + ca.cross(x, turned)))
        rates += [(at[3] * w + ca.cross(at[:3], w)) / 2, -ca.dot(at[:3], w) / 2]
    return ca.vertcat(*rates)


def expected(model: Model, algorithm: str, **options) -> dict[str, ca.Function]:
    """acados' functions as acados_template makes them of expressions (casadi_function_generation.py)."""
    f = codegen.to_casadi(model, algorithm, expand=True, **options)
    x, u = ca.SX.sym("x", model.nq + model.nv), ca.SX.sym("u", model.nv)
    p = [ca.SX.sym(f.name_in(k), *f.size_in(k)) for k in range(3, f.n_in())]
    q, v = x[: model.nq], x[model.nq :]
    if algorithm == "rnea":
        dx = ca.SX.sym("dx", x.numel())
        torques = f.call([q, v, dx[model.nq :], *p])[0]
        p = ca.vertcat(ca.SX(0, 1), *map(ca.vec, p))
        return residuals(ca.vertcat(dx[: model.nq] - moving(model, q, v), torques - u), x, dx, u, p)
    found = f.call([q, v, u, *p])
    p = ca.vertcat(ca.SX(0, 1), *map(ca.vec, p))
    nx, nu, lam = x.numel(), u.numel(), ca.SX.sym("lam", x.numel())
    if "step" in algorithm:
        phi, ux = ca.vertcat(*found), ca.vertcat(u, x)
        jac, hess = ca.jacobian(phi, ux).T, ca.jacobian(ca.jtimes(phi, ux, lam, True), ux)
        made = [([x, u, p], [phi]), ([x, u, p], [phi, jac]), ([x, u, lam, p], [phi, jac, hess])]
        return {name: ca.Function(name, *pair) for name, pair in zip(STEP, made, strict=True)}
    xdot, xu = ca.vertcat(moving(model, q, v), found[0]), ca.vertcat(x, u)
    Sx, Su = ca.SX.sym("Sx", nx, nx), ca.SX.sym("Su", nx, nu)
    moved = [ca.jtimes(xdot, x, Sx), ca.jacobian(xdot, u) + ca.jtimes(xdot, x, Su)]
    adj = ca.jtimes(xdot, xu, lam, True)
    S = ca.vertcat(ca.horzcat(Sx, Su), ca.horzcat(ca.DM.zeros(nu, nx), ca.DM.eye(nu)))
    hess = S.T @ ca.jtimes(adj, xu, S)
    lower = ca.vertcat(*[hess[j:, j] for j in range(nx + nu)])
    made = [([x, u, p], [xdot]), ([x, Sx, Su, u, p], [xdot, *moved]), ([x, lam, u, p], [adj])]
    made += [([x, Sx, Su, lam, u, p], [adj, lower])]
    dx = ca.SX.sym("dx", nx)
    explicit = {name: ca.Function(name, *pair) for name, pair in zip(ODE, made, strict=True)}
    return explicit | residuals(dx - xdot, x, dx, u, p)


def residuals(f: ca.SX, x: ca.SX, dx: ca.SX, u: ca.SX, p: ca.SX) -> dict[str, ca.Function]:
    """acados' functions of an implicit ODE, as acados_template makes them (generate_c_code_implicit_ode)."""
    z, t, lam, w = ca.SX(0, 1), ca.SX(0, 1), ca.SX.sym("lam", f.numel()), ca.vertcat(x, dx, u)
    by_x, by_dx, by_u, by_z = ca.jacobian(f, x), ca.jacobian(f, dx), ca.jacobian(f, u), ca.SX(f.numel(), 0)
    curvature = ca.jacobian(ca.jtimes(f, w, lam, True), w)
    given = [[f], [f, by_x, by_dx, by_z], [f, by_x, by_dx, by_u, by_z], [f, by_x, by_dx, by_u]]
    made = [([x, dx, u, z, t, p], results) for results in (*given, [by_x, by_dx, by_u, by_z])]
    made += [([x, dx, u, z, lam, t, p], [curvature])]
    return {name: ca.Function(name, *pair) for name, pair in zip(RESIDUAL, made, strict=True)}


def library(folder: Path) -> ctypes.CDLL:
    """A shared library of all sources of a folder, but for the example."""
    sources = [str(path) for path in sorted(folder.glob("*.c")) if path.name != "example.c"]
    run("cc", folder, "-O1", "-shared", "-fPIC", *sources, "-lm", "-o", "library.so")
    return ctypes.CDLL(str(folder / "library.so"))


def shape(sparsity: object, k: int) -> tuple[int, int]:
    """The shape of a dense argument or result."""
    sparsity.restype = ctypes.POINTER(ctypes.c_int)
    rows, columns, dense = sparsity(k)[:3]
    assert dense == 1
    return rows, columns


def called(lib: ctypes.CDLL, name: str, given: list[np.ndarray | None], wanted: list[bool] | None = None):
    """What a function gives, called as acados calls it."""
    array = ctypes.POINTER(ctypes.c_double)
    n_in, n_out = getattr(lib, f"{name}_n_in")(), getattr(lib, f"{name}_n_out")()
    sizes = [ctypes.c_int(-1) for _ in range(4)]
    assert getattr(lib, f"{name}_work")(*map(ctypes.byref, sizes)) == 0
    assert [size.value for size in sizes[:3]] == [n_in, n_out, 0]
    taken = [shape(getattr(lib, f"{name}_sparsity_in"), k) for k in range(n_in)]
    made = [np.full(shape(getattr(lib, f"{name}_sparsity_out"), k), np.nan, order="F") for k in range(n_out)]
    kept = [None if x is None else np.asfortranarray(x.reshape(of)) for x, of in zip(given, taken, strict=True)]
    work = np.full(sizes[3].value + 2, np.nan)
    args = (array * n_in)(*[None if x is None else x.ctypes.data_as(array) for x in kept])
    keep = wanted or [True] * n_out
    results = (array * n_out)(*[y.ctypes.data_as(array) if k else None for y, k in zip(made, keep, strict=True)])
    assert getattr(lib, name)(args, results, None, work.ctypes.data_as(array), None) == 0
    assert np.isnan(work[-2:]).all()
    return made


def arguments(f: ca.Function, model: Model, seed: int = 1) -> list[np.ndarray]:
    """Random ones, with a state of the robot whose quaternions are no unit ones, and a step of some milliseconds."""
    rng = np.random.default_rng(seed)
    found = [rng.standard_normal(f.size_in(k)) for k in range(f.n_in())]
    q, v, _ = model.random(rng)
    found[0][:, 0] = np.concatenate([1.3 * q if model.nq > model.nv else q, v])
    if "disc" in f.name():
        found[-1][0] = 0.02
    return found


def worst(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest error over the largest entry."""
    return float(np.abs(found - wanted).max(initial=0) / max(np.abs(wanted).max(initial=0), 1e-300))


POINTS = {s * k: s * w for k, w in ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280)) for s in (1, -1)}
"""Where differences of eighth order take a function, in steps, and the weights of its values."""

CASES = [
    (ARM, "aba", {"parameters": ("gravity",)}),
    ("pinocchio spherical", "aba", {}),
    (ARM, "step", {}),
    (ARM, "rnea", {"parameters": ("gravity",)}),
    (ARM, "step_rk4", {}),
    (BALL, "rnea", {}),
    ("iiwa", "rnea", {}),
    (BALL, "aba", {}),
    (BALL, "step", {}),
    ("iiwa", "aba", {}),
    ("iiwa", "step", {}),
    ("mujoco prismatic", "step_implicit_midpoint", {}),
    ("iiwa", "ltl", {"external": ("lbr_iiwa_link_7", "lbr_iiwa_link_4")}),
    ("iiwa", "pv", {"contacts": ("lbr_iiwa_link_7:3",)}),
    ("four_bar", "step", {}),
    ("mini_cheetah", "aba", {}),
    ("go1", "aba", {}),
    ("chain:17", "step", {}),
]


@pytest.mark.parametrize(("robot", "algorithm", "options"), besides(CASES[1:3], CASES))
def test_functions_and_derivatives(robot, algorithm, options, tmp_path):
    """Against CasADi's automatic differentiation of the same dynamics, by acados' own formulas."""
    model = loaded(robot)
    codegen.generate(model, (algorithm,), tmp_path, prefix="my", interfaces=("acados",), **options)
    lib = library(tmp_path)
    for name, f in expected(model, algorithm, **options).items():
        given = arguments(f, model)
        found = called(lib, f"my_{algorithm}_{name}", given)
        for mine, theirs in zip(found, f.call(given), strict=True):
            assert mine.shape == theirs.shape
            assert worst(mine, theirs.full()) < NEAR


@pytest.mark.thorough
def test_jacobians_of_humanoids_are_those_of_differences(tmp_path):
    """Their products and loops over columns, against the value, which an algorithm without derivatives computes."""
    model, rng = loaded("talos"), np.random.default_rng(3)
    held = [model.contact(sole, 6) for sole in ("left_sole_link", "right_sole_link")]
    codegen.generate(
        model, ("pv_step",), tmp_path, prefix="my", interfaces=("acados",), contacts=held, derivative_order=1
    )
    lib, (q, v, tau), dt = library(tmp_path), model.random(rng), np.array([0.02])
    x, d, n = np.concatenate([tau, 1.3 * q, v]), rng.standard_normal(model.nq + 2 * model.nv), model.nv
    phi, jac = called(lib, f"my_pv_step_{STEP[1]}", [x[n:], x[:n], dt])

    def end(z: np.ndarray) -> np.ndarray:
        return called(lib, f"my_pv_step_{STEP[0]}", [z[n:], z[:n], dt])[0]

    assert worst(end(x), phi) < NEAR
    change = sum(weight * end(x + k * 1e-3 * d) for k, weight in POINTS.items()) / 1e-3
    assert worst(jac.T @ d[:, None], change) < 1e-8


@pytest.fixture(scope="module")
def ours(tmp_path_factory) -> Path:
    """A generated folder with two joints' dynamics and steps, and its library."""
    made = tmp_path_factory.mktemp("acados")
    codegen.generate(loaded(ARM), ("aba", "rnea", "step"), made, prefix="my", interfaces=("acados",))
    library(made)
    return made


def test_null_arguments_are_zeros_and_null_results_are_not_wanted(ours):
    lib, f = ctypes.CDLL(str(ours / "library.so")), expected(loaded(ARM), "aba")["expl_vde_forw"]
    given = arguments(f, loaded(ARM))
    given[1][:], given[3][:] = 0, 0
    found = called(lib, "my_aba_expl_vde_forw", [given[0], None, given[2], None, None], [True, False, True])
    for k in (0, 2):
        assert worst(found[k], f.call(given)[k].full()) < NEAR
    assert np.isnan(found[1]).all()


def test_sources_compile_without_warnings(ours):
    for compiler in COMPILERS:
        for name in ("my_aba_acados.c", "my_rnea_acados.c", "my_step_acados.c"):
            run(compiler, ours, *WARNINGS, "-std=c99", "-Wmissing-prototypes", "-c", name, "-o", "tried.o")


def test_casadi_refuses_functions_with_other_integers(ours):
    with pytest.raises(RuntimeError):
        ca.external("my_aba_expl_ode_fun", str(ours / "library.so"))


def test_the_order_of_derivatives(tmp_path):
    for order, names in enumerate((ODE[:1], ODE[:3])):
        made = codegen.generate(
            loaded(ARM), ("aba",), tmp_path / str(order), prefix="my", interfaces=("acados",), derivative_order=order
        )
        kernels = {path.stem.partition("acados_")[2] for path in made if path.match("my_aba_acados_*.c")}
        assert kernels == {*names}


@pytest.mark.parametrize(
    ("robot", "algorithm", "said"),
    [
        (ARM, "crba", "crba: acados takes dynamics"),
        ("four_bar", "rnea", "has implicit loops.*take a step"),
        ("four_bar", "aba", "has implicit loops.*take a step"),
    ],
)
def test_what_is_no_dynamics_is_refused(robot, algorithm, said, tmp_path):
    with pytest.raises(RobotError, match=said):
        codegen.generate(loaded(robot), (algorithm,), tmp_path, interfaces=("acados",))
    assert not list(tmp_path.iterdir())


STRUCTURES = """#pragma once
struct blasfeo_dmat_args { struct blasfeo_dmat *A; int ai, aj; };
struct blasfeo_dvec_args { struct blasfeo_dvec *x; int xi; };
"""
"""What the functions need of acados' external_function_generic.h, where acados is not installed."""

HELD = {
    "expl_ode_fun": ("array array", "array"),
    "expl_vde_forw": ("array array array array", "array array array"),
    "expl_vde_adj": ("array array array", "array"),
    "expl_ode_hess": ("array array array array array", "array array"),
    "impl_dae_fun": ("vector part array part array", "part"),
    "impl_dae_fun_jac_x_xdot_z": ("vector part array part array", "part matrix matrix matrix"),
    "impl_dae_fun_jac_x_xdot_u": ("vector part array part array", "part matrix matrix matrix"),
    "impl_dae_jac_x_xdot_u_z": ("vector part array part array", "matrix matrix matrix matrix"),
    "impl_dae_hess": ("vector part array part part array", "matrix"),
    "dyn_disc_phi_fun": ("part part", "part"),
    "dyn_disc_phi_fun_jac": ("part part", "part block"),
    "dyn_disc_phi_fun_jac_hess": ("part part part", "part block block"),
}
"""Where acados keeps what a function takes, but for parameters, and gives."""


class Part(ctypes.Structure):
    """acados' blasfeo_dvec_args and blasfeo_dmat_args."""

    _fields_: ClassVar = [("of", ctypes.c_void_p), ("row", ctypes.c_int), ("column", ctypes.c_int)]


class Held:
    """Numbers as acados keeps them, in a frame that nobody may write to."""

    def __init__(self, blasfeo: ctypes.CDLL, how: str, x: np.ndarray) -> None:
        self.blasfeo, self.how, self.shape = blasfeo, how, x.shape
        self.row, self.column = {"part": (2, 0), "block": (1, 2)}.get(how, (0, 0))
        self.kept = np.full((x.shape[0] + 2 * self.row, x.shape[1] + 2 * self.column), np.nan, order="F")
        self.kept[self.row : self.row + x.shape[0], self.column : self.column + x.shape[1]] = x
        self.room, (rows, columns) = ctypes.create_string_buffer(256), self.kept.shape
        self.part = Part(ctypes.addressof(self.room), self.row, self.column)
        if how in ("vector", "part"):
            blasfeo.blasfeo_allocate_dvec(rows, self.room)
            blasfeo.blasfeo_pack_dvec(rows, self._numbers(), 1, self.room, 0)
        elif how != "array":
            blasfeo.blasfeo_allocate_dmat(rows, columns, self.room)
            blasfeo.blasfeo_pack_dmat(rows, columns, self._numbers(), rows, self.room, 0, 0)

    def _numbers(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.kept.ctypes.data)

    @property
    def pointer(self) -> ctypes.c_void_p:
        """What a function is given."""
        if self.how == "array":
            return self._numbers()
        return ctypes.c_void_p(ctypes.addressof(self.part if self.how in ("part", "block") else self.room))

    @property
    def x(self) -> np.ndarray:
        """The numbers now."""
        rows, columns = self.kept.shape
        if self.how in ("vector", "part"):
            self.blasfeo.blasfeo_unpack_dvec(rows, self.room, 0, self._numbers(), 1)
        elif self.how != "array":
            self.blasfeo.blasfeo_unpack_dmat(rows, columns, self.room, 0, 0, self._numbers(), rows)
        inner = self.kept[self.row : rows - self.row, self.column : columns - self.column]
        assert np.isnan(self.kept).sum() - np.isnan(inner).sum() == self.kept.size - inner.size
        return inner


@pytest.fixture(scope="module")
def generic(ours) -> tuple[ctypes.CDLL, ctypes.CDLL]:
    """A library of all functions of the type 'generic', and BLASFEO of CasADi's wheel."""
    wheel, place = Path(ca.__file__).parent, os.environ.get("ACADOS_INSTALL_DIR")
    if not (wheel / "include" / "blasfeo.h").is_file():
        pytest.skip("this CasADi does not bring BLASFEO's headers")
    if not place:
        (ours / "acados" / "utils").mkdir(parents=True, exist_ok=True)
        (ours / "acados" / "utils" / "external_function_generic.h").write_text(STRUCTURES)
    headers = ("my_aba_acados_generic.h", "my_rnea_acados_generic.h", "my_step_acados_generic.h")
    (ours / "generic.c").write_text("".join(f'#include "{name}"\n' for name in headers))
    folders = ["-I.", f"-I{wheel / 'include'}", *([f"-I{Path(place) / 'include'}"] if place else [])]
    linked = ["-L.", "-l:library.so", f"-L{wheel}", "-l:libblasfeo.so", f"-Wl,-rpath,{ours},-rpath,{wheel}", "-lm"]
    warned = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wmissing-prototypes"]
    run("cc", ours, *warned, *folders, "-shared", "-fPIC", "generic.c", *linked, "-o", "generic.so")
    return ctypes.CDLL(str(ours / "generic.so")), ctypes.CDLL(str(wheel / "libblasfeo.so"))


@pytest.mark.parametrize("algorithm", ["aba", "rnea", "step"])
def test_generic_functions_on_vectors_and_matrices_of_blasfeo(algorithm, ours, generic):
    """They give what the functions of the usual type give, where acados keeps it."""
    lib, blasfeo = generic
    for name, f in expected(loaded(ARM), algorithm).items():
        if name not in HELD:
            assert not hasattr(lib, f"my_{algorithm}_{name}_generic")  # acados calls no such function
            continue
        given, (takes, gives) = arguments(f, loaded(ARM)), (how.split() for how in HELD[name])
        wanted = called(ctypes.CDLL(str(ours / "library.so")), f"my_{algorithm}_{name}", given)
        p = np.ascontiguousarray(given[-1])
        held = [Held(blasfeo, how, x) for how, x in zip(takes, given[:-1], strict=True)]
        found = [Held(blasfeo, how, np.full(y.shape, np.nan)) for how, y in zip(gives, wanted, strict=True)]
        both = [(ctypes.c_void_p * len(every))(*[one.pointer for one in every]) for every in (held, found)]
        assert getattr(lib, f"my_{algorithm}_{name}_generic")(*both, ctypes.c_void_p(p.ctypes.data)) == 0
        for mine, theirs in zip(found, wanted, strict=True):
            assert worst(mine.x, theirs) < ROUNDING


START, FORCE = np.array([0.1, 0.2, -0.3, 0.4]), np.array([0.5, -0.2])
SEED, GOAL = np.array([0.7, -1.1, 0.4, 0.9]), np.array([0.6, -0.4, 0, 0])


def integrated(steps: int = 3) -> list[np.ndarray]:
    """What acados' integrators have to find: steps of RK4 over 0.1 s, their Jacobian, gradient and Hessian."""
    f, x, u, h = expected(loaded(ARM), "aba")["expl_ode_fun"], ca.MX.sym("x", 4), ca.MX.sym("u", 2), 0.1 / steps
    end = x
    for _ in range(steps):
        k1 = f(end, u, [])
        k2 = f(end + h / 2 * k1, u, [])
        k3 = f(end + h / 2 * k2, u, [])
        end = end + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(end + h * k3, u, []))
    xu = ca.vertcat(x, u)
    H, g = ca.hessian(ca.dot(ca.DM(SEED), end), xu)
    return [y.full() for y in ca.Function("end", [x, u], [end, ca.jacobian(end, xu), g, H])(START, FORCE)]


def controlled() -> np.ndarray:
    """The solution of the optimal control problem by ipopt."""
    step, opti = expected(loaded(ARM), "step")["dyn_disc_phi_fun"], ca.Opti()
    x, u = opti.variable(4, 11), opti.variable(2, 10)
    opti.minimize(5 * ca.sumsqr(x - ca.repmat(ca.DM(GOAL), 1, 11)) + ca.sumsqr(u) / 2)
    opti.subject_to(x[:, 0] == START)
    opti.subject_to(x[:, 1:] == step.map(10)(x[:, :-1], u, ca.DM([[0.05] * 10])))
    opti.set_initial(x, ca.repmat(ca.DM(START), 1, 11))
    opti.solver("ipopt", {"print_time": False, "ipopt": {"print_level": 0, "tol": 1e-11}})
    found = opti.solve()
    both = np.vstack([found.value(x), np.hstack([found.value(u), np.zeros((2, 1))])])
    return both.T.ravel()[:-2]


def acados_program(ours: Path) -> tuple[Path, dict[str, str], bool]:
    """The program with acados, the variables that it runs with, and whether this acados is newer than 2023."""
    place = os.environ.get("ACADOS_INSTALL_DIR") or os.environ.get("ACADOS_SOURCE_DIR")
    if not place or not (Path(place) / "include" / "acados_c").is_dir():
        pytest.skip(
            "neither ACADOS_INSTALL_DIR nor ACADOS_SOURCE_DIR has include/acados_c; tests/acados.sh gets acados"
        )
    program, include, lib = Path(__file__).with_name("acados_program.c"), Path(place) / "include", Path(place) / "lib"
    folders = [
        "-I.",
        *(f"-I{include / name}" for name in (".", "blasfeo/include", "hpipm/include", "acados", "acados_c")),
    ]
    ready = ["-L.", "-l:library.so", f"-L{lib}", "-lacados", "-lhpipm", "-lblasfeo", "-lm", f"-Wl,-rpath-link,{lib}"]
    known = "external_function_opts" in (include / "acados" / "utils" / "external_function_generic.h").read_text()
    run("cc", ours, *folders, *["-DEARLIER"] * (not known), str(program), *ready, "-o", "program")
    return ours / "program", {**os.environ, "LD_LIBRARY_PATH": f"{ours}:{lib}"}, known


def test_acados_integrates_and_solves(ours):
    """An integration with second derivatives, and SQP with exact Hessians, where acados is installed."""
    program, found_at, known = acados_program(ours)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, env=found_at)
    assert done.returncode == 0, done.stdout + done.stderr
    found = np.array([float(line) for line in done.stdout.split()])
    wanted, exact = (np.concatenate([part.T.ravel() for part in integrated(steps)]) for steps in (3, 200))
    size, first = wanted.size, 28  # a lifted integrator has no second derivatives
    runs, lifted, solutions = np.split(found, np.cumsum([2 * size * (3 if known else 1), 2 * first * known]))
    for right, (usual, generic) in zip((wanted, exact, exact), runs.reshape(-1, 2, size), strict=False):
        assert worst(usual, right) < NEAR
        assert worst(generic, usual) < ROUNDING
    for one in lifted.reshape(-1, first):
        assert worst(one, exact[:first]) < NEAR
    for solution in np.split(solutions, 2):  # by both types of functions
        assert np.abs(solution - controlled()).max() < 1e-7


@pytest.mark.parametrize("problem", ["far", "nan"])
def test_a_problem_without_a_solution_has_a_status_in_acados(ours, problem):
    """Torques that are too small for the goal, and a state that is no number."""
    program, found_at, _ = acados_program(ours)
    done = subprocess.run([str(program), problem], capture_output=True, text=True, check=False, env=found_at)
    assert 0 < done.returncode < 10, done.stdout + done.stderr  # acados' status, where a crash is negative
    assert f"status {done.returncode} after" in done.stderr
