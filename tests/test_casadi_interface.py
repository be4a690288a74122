"""rigidc's C in CasADi: values, exact sparse derivatives, and the solvers that take them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from casadi_cases import FEET, NEAR, arguments, expressions, function, loaded, worst
from compilers import COMPILERS, WARNINGS
from compilers import compiled as run
from thorough import besides

import codegen
from codegen.api import task
from codegen.errors import BuildError, RobotError
from codegen.geometry import Inertia
from codegen.interfaces import casadi_functions
from codegen.tracing.blocks import joined
from codegen.tracing.differentiated import differentiated

ARM, NAME = "chain:2", "chain_2_z_aba_casadi"


def hessian(f: ca.Function, weights: list[np.ndarray]) -> ca.Function:
    x = [ca.MX.sym(f"x{k}", *f.size_in(k)) for k in range(f.n_in())]
    y = sum(ca.dot(ca.DM(w), part) for w, part in zip(weights, f.call(x), strict=True))
    return ca.Function("H", x, [ca.jacobian(ca.gradient(y, a), b) for a in x for b in x])


CASES = [
    (ARM, "rnea", ()),
    ("four_bar", "aba", ()),
    ("iiwa", "rnea", ()),
    ("iiwa", "aba", ()),
    ("go1", "aba", ()),
    ("go1", "prox_pv", FEET),
    ("mini_cheetah", "aba", ()),
    ("go1", "pv_step", FEET),
    ("chain:16", "step", ()),
    ("four_bar floating", "step", ()),
    ("tello_humanoid", "aba", ()),
]


@pytest.mark.parametrize(("robot", "algorithm", "contacts"), besides(CASES[:2], CASES))
def test_compiled_derivatives(robot, algorithm, contacts):
    """Against CasADi's own AD of the same operations, and as sparse as that says, or sparser."""
    options = {"contacts": contacts} if contacts else {}
    f, g = function(robot, algorithm, **options), expressions(robot, algorithm, **options)
    x = arguments(f, loaded(robot))
    y, rng = f.call(x), np.random.default_rng(2)
    w, dx = ([rng.standard_normal(part.shape) for part in parts] for parts in (y, x))
    assert worst(y, g.call(x)) < NEAR
    for derived, more in ((ca.Function.jacobian, []), *((lambda f, n=n: f.forward(n), n * [dx]) for n in (1, 3))):
        seeds = [np.hstack(parts) for parts in zip(*more, strict=True)]
        mine, theirs = derived(f), derived(g)
        assert worst(mine.call([*x, *y, *seeds]), theirs.call([*x, *y, *seeds])) < NEAR
        assert all(mine.nnz_out(k) <= theirs.nnz_out(k) for k in range(mine.n_out()))
    assert worst(f.reverse(1).call([*x, *y, *w]), g.reverse(1).call([*x, *y, *w])) < NEAR
    mine, theirs = hessian(f, w), hessian(g, w)
    assert worst(mine.call(x), theirs.call(x)) < NEAR
    assert sum(mine.nnz_out(k) for k in range(mine.n_out())) <= sum(theirs.nnz_out(k) for k in range(mine.n_out()))


def test_differences_of_the_function_agree_at_any_quaternion():
    """The function normalises quaternions: it is the one of `build` at unit ones, and constant along them."""
    robot = "pinocchio spherical revolute"
    f, model = expressions(robot), loaded(robot)
    (q, v, tau), step = arguments(f, model), 1e-5
    unit = q.copy()
    for joint, place in zip(model.joints, model.q_slices, strict=True):
        if joint.nq > joint.nv:
            at = slice(place.stop - 4, place.stop)
            unit[at] /= np.linalg.norm(unit[at])
    assert worst([f(q, v, tau)], [codegen.build(model, "aba")(unit[:, 0], v[:, 0], tau[:, 0])]) < NEAR
    own, found = differentiated(task(model, "aba"))
    J = ca.Function("J", [own.x], [joined(found.jacobian(), own.outputs, own.inputs)])(np.vstack([q, v, tau])).full()
    for k, e in enumerate(np.eye(model.nq)):
        h = step * e[:, None]
        change = 8 * (f(q + h, v, tau) - f(q - h, v, tau)) - (f(q + 2 * h, v, tau) - f(q - 2 * h, v, tau))
        assert worst([change / (12 * step) + 1e3], [J[:, k] + 1e3]) < 1e-9


@pytest.mark.parametrize(("robot", "algorithm", "contacts"), besides(CASES[:1], CASES))
def test_several_directions_at_once(robot, algorithm, contacts):
    """Products by four directions and by four weights are those of one after the other."""
    options = {"contacts": contacts} if contacts else {}
    four = function(robot, algorithm, directions=4, derivatives=1, **options)
    one, rng = function(robot, algorithm, **options), np.random.default_rng(5)
    x = [rng.standard_normal(one.size_in(k)) for k in range(one.n_in())]
    y = one.call(x)
    for several, each, like in ((four.forward(4), one.forward(1), x), (four.reverse(4), one.reverse(1), y)):
        assert several.is_a("External")
        seeds = [[rng.standard_normal(part.shape) for part in like] for _ in range(4)]
        found = several.call([*x, *y, *(np.hstack(parts) for parts in zip(*seeds, strict=True))])
        by_one = [each.call([*x, *y, *seed]) for seed in seeds]
        assert worst(found, [ca.horzcat(*parts) for parts in zip(*by_one, strict=True)]) < NEAR


def test_casadi_takes_several_directions_where_it_assembles_jacobians():
    """A Jacobian by five elements takes four directions at once, and then one."""
    f = function("chain:5", directions=4, derivatives=1)
    q, names = ca.MX.sym("q", 5), set()
    slope = ca.Function("slope", [q], [ca.jacobian(ca.sin(f(q, q**2, ca.cos(q))), q)])
    for k in range(slope.n_instructions()):
        if slope.instruction_id(k) == ca.OP_CALL:
            names.add(slope.instruction_MX(k).which_function().name())
    assert names == {f.name(), f"fwd4_{f.name()}", f"fwd1_{f.name()}"}
    plain, given = expressions("chain:5"), np.linspace(-1, 1, 5)
    expected = ca.Function("expected", [q], [ca.jacobian(ca.sin(plain(q, q**2, ca.cos(q))), q)])
    assert worst([slope(given)], [expected(given)]) < NEAR


def test_names_shapes_and_matrices():
    f = function(ARM, "crba", derivatives=1)
    assert f.name_in() == ["q"]
    assert f.name_out() == ["M"]
    assert f.is_a("External")
    model = loaded(ARM)
    q = model.random(3)[0]
    assert worst([f(q)], [codegen.build(model, "crba")(q)]) < NEAR
    assert f.jacobian().sparsity_out(0).shape == (4, 2)
    tip = loaded(ARM).tips[0]
    wrenched = expressions(ARM, "rnea", external=(tip,), parameters=("gravity",))
    assert [wrenched.size_in(k) for k in range(5)] == [(2, 1), (2, 1), (2, 1), (1, 6), (3, 1)]


def swing_up(f: ca.Function, nodes: int = 12):
    """Two hinges from hanging to rest at an angle: multiple shooting with explicit midpoint steps."""
    opti, h = ca.Opti(), 0.05
    x, u = opti.variable(4, nodes + 1), opti.variable(2, nodes)

    def rate(state, force):
        return ca.vertcat(state[2:], f(state[:2], state[2:], force))

    step_x, step_u = ca.MX.sym("x", 4), ca.MX.sym("u", 2)
    step = ca.Function("step", [step_x, step_u], [step_x + h * rate(step_x + h / 2 * rate(step_x, step_u), step_u)])
    opti.minimize(ca.sumsqr(u) + ca.sumsqr(x[2:, :]))
    opti.subject_to(x[:, 1:] == step.map(nodes, "serial")(x[:, :-1], u))
    opti.subject_to(x[:, 0] == ca.DM([0.1, 0.2, 0, 0]))
    opti.subject_to(x[:2, -1] == ca.DM([0.6, -0.4]))
    return opti, x


QUIET = {"print_time": False}
SOLVERS = {
    "ipopt": {"ipopt": {"print_level": 0}},
    "ipopt L-BFGS": {"ipopt": {"print_level": 0, "hessian_approximation": "limited-memory"}},
    "sqpmethod": {"qpsol": "qrqp", "print_header": False, "print_iteration": False, "print_status": False}
    | {"qpsol_options": {"print_iter": False, "print_header": False, "error_on_fail": False}},
    "fatrop": {"fatrop": {"print_level": 0}},
}


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_find_what_they_find_with_expressions(solver):
    name = solver.split()[0]
    if not ca.has_nlpsol(name):
        pytest.skip(f"this CasADi has no {name}")
    found = []
    for f in (function(ARM), expressions(ARM)):
        opti, x = swing_up(f)
        opti.solver(name, {**QUIET, **SOLVERS[solver]})
        found.append(opti.solve().value(x))
    assert np.abs(found[0] - found[1]).max() < 1e-6


def test_without_second_derivatives_only_approximate_hessians():
    f = function(ARM, derivatives=1)
    opti, x = swing_up(f, 4)
    opti.solver("ipopt", {**QUIET, **SOLVERS["ipopt L-BFGS"]})
    assert np.isfinite(opti.solve().value(x)).all()
    opti.solver("ipopt", {**QUIET, **SOLVERS["ipopt"]})
    with pytest.raises(RuntimeError):
        opti.solve()


@pytest.mark.parametrize("how", ["serial", "thread"])
def test_maps(how):
    f = function(ARM)
    x = [np.random.default_rng(6).standard_normal((2, 16)) for _ in range(3)]
    one_by_one = np.hstack([f(*(part[:, k] for part in x)).full() for k in range(16)])
    assert worst([f.map(16, how)(*x)], [one_by_one]) < NEAR
    J = f.jacobian().map(16, how)
    assert (
        worst([J(*x, one_by_one)[0][:, 2:4]], [f.jacobian()(*(part[:, 1] for part in x), one_by_one[:, 1])[0]]) < NEAR
    )


def test_it_is_saved_and_read_again(tmp_path):
    f = function(ARM)
    x = arguments(f, loaded(ARM))
    y = ca.MX.sym("q", 2)
    around = ca.Function("around", [y], [2 * f(y, x[1], x[2])])
    around.save(str(tmp_path / "around.casadi"))
    again = ca.Function.load(str(tmp_path / "around.casadi"))
    assert worst([again(x[0])], [2 * f(*x)]) < NEAR


def test_null_arguments_are_zeros_and_null_results_are_not_wanted():
    f = function(ARM)
    jacobian = f.jacobian()
    y = np.zeros((2, 1))
    v = np.array([0.3, -0.2])
    only = ca.Function("only", [V := ca.MX.sym("v", 2)], [jacobian(0, V, 0, 0)[1]])
    assert worst([only(v)], [jacobian(np.zeros(2), v, np.zeros(2), y)[1]]) < NEAR


def shared(*folders: Path, more: tuple[Path, ...] = ()) -> str:
    """A shared library of all sources in folders, but for examples.

    With more sources it has another name: a loaded library is not loaded again from its path.
    """
    sources = [*more, *(path for made in folders for path in sorted(made.glob("*.c")) if path.name != "example.c")]
    library = folders[0] / f"{more[0].stem if more else 'library'}.so"
    run("cc", folders[0], "-O1", "-shared", "-fPIC", *map(str, sources), "-lm", "-o", str(library))
    return str(library)


@pytest.fixture(scope="module")
def ours(tmp_path_factory) -> Path:
    """A generated folder, with its library."""
    made = tmp_path_factory.mktemp("casadi")
    codegen.generate(loaded(ARM), ("aba",), made, interfaces=("casadi",))
    shared(made)
    return made


def same_jacobian(library: str) -> bool:
    f, x = ca.external(NAME, library), arguments(function(ARM), loaded(ARM))
    return worst(f.jacobian().call([*x, f(*x)]), function(ARM).jacobian().call([*x, f(*x)])) < NEAR


def test_a_generated_folder(ours):
    """Its library is an external; its sources compile without warnings, also with another integer, as acados wants."""
    for compiler in COMPILERS:
        run(compiler, ours, *WARNINGS, "-c", "-Dcasadi_int=int", f"{NAME}.c", "-o", "tried.o")
    library = str(ours / "library.so")
    assert same_jacobian(library)
    with pytest.raises(RuntimeError):  # in a plain function CasADi would crash
        ca.external("chain_2_z_aba", library)


def test_a_library_made_of_a_folder(ours, tmp_path):
    """It is called after it has told its interface and its model."""
    library, arm = ours / "library.so", loaded(ARM)
    f, x = codegen.to_casadi(arm, "aba", library=library), arguments(function(ARM), arm)
    assert worst(f.call(x), function(ARM).call(x)) < NEAR
    with pytest.raises(
        BuildError, match=r"library.so was generated for another model .*; generate and compile it again"
    ):
        codegen.to_casadi(replace(arm, gravity=(0.0, 0.0, -1.6)), "aba", library=library)
    with pytest.raises(BuildError, match="has no your_abi and your_model"):
        codegen.to_casadi(arm, "aba", library=library, prefix="your")
    with pytest.raises(
        BuildError, match="has no function chain_2_z_rnea_casadi; generate its algorithm for this interface"
    ):
        codegen.to_casadi(arm, "rnea", library=library)
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(BuildError, match=r"text\.so does not load here"):
        codegen.to_casadi(arm, "aba", library=tmp_path / "text.so")
    identity = f'const char *my_model(void) {{ return "{arm.digest}"; }} int my_abi(void) {{ return 7; }}'
    (tmp_path / "later.c").write_text(identity)
    run("cc", tmp_path, "-shared", "-fPIC", "later.c", "-o", "later.so")
    with pytest.raises(BuildError, match="has version 7 of the interface, and this rigidc calls version 1"):
        codegen.to_casadi(arm, "aba", library=tmp_path / "later.so", prefix="my")


@pytest.mark.thorough
def test_a_portable_folder(tmp_path):
    codegen.generate(loaded(ARM), ("aba",), tmp_path, interfaces=("casadi",), backend="c_portable")
    assert same_jacobian(shared(tmp_path))


def test_within_code_that_casadi_generates(ours, tmp_path):
    """Our C and CasADi's are one library: the external is a static symbol there."""
    f = function(ARM)
    q, v, tau = (ca.MX.sym(name, 2) for name in ("q", "v", "tau"))
    energy = ca.sumsqr(f(q, v, tau))
    whole = ca.Function("whole", [q, v, tau], [energy, ca.gradient(energy, q), ca.jacobian(f(q, v, tau), v)])
    generator = ca.CodeGenerator("whole.c")
    generator.add(whole)
    generator.generate(f"{tmp_path}/")
    x = arguments(f, loaded(ARM))
    assert worst(ca.external("whole", shared(ours, more=(tmp_path / "whole.c",))).call(x), whole.call(x)) < NEAR


def test_a_status_that_is_not_zero():
    """Six rows on two joints: the results are finite, unless failures are wanted."""
    tips = (f"{loaded(ARM).tips[0]}:6",)
    options = {"algorithm": "pv", "contacts": tips, "derivatives": 0}
    f = function(ARM, **options)
    x = arguments(f, loaded(ARM))
    assert all(np.isfinite(part.full()).all() for part in f.call(x))
    with pytest.raises(RuntimeError):
        function(ARM, on_singular="fail", **options).call(x)
    assert np.isfinite(function(ARM, on_singular="fail")(*arguments(function(ARM), loaded(ARM))).full()).all()


@pytest.mark.parametrize("solver", ["fatrop", "ipopt"])
def test_solvers_stop_where_functions_overflow(solver):
    """With failures wanted; without, fatrop 1.1 does not end."""
    if not ca.has_nlpsol(solver):
        pytest.skip(f"this CasADi has no {solver}")
    f, fast = function(ARM, on_singular="fail"), np.array([0.0, 0.0, 1e160, 1e160])
    opti, h = ca.Opti(), 0.05
    x, u, x_next = opti.variable(4), opti.variable(2), opti.variable(4)
    opti.subject_to(x_next == x + h * ca.vertcat(x[2:], f(x[:2], x[2:], u)))
    opti.subject_to(x == fast)
    opti.minimize(ca.sumsqr(u) + ca.sumsqr(x_next))
    opti.set_initial(x, fast)
    structure = {"structure_detection": "manual", "N": 1, "nx": [4, 4], "nu": [2, 0], "ng": [4, 0]}
    opti.solver(solver, {**QUIET, **SOLVERS[solver], **(structure if solver == "fatrop" else {})})
    with pytest.raises(RuntimeError):
        opti.solve()
    assert not np.isfinite(function(ARM)(fast[:2], fast[2:], [0.0, 0.0]).full()).all()
    with pytest.raises(RuntimeError):
        f(fast[:2], fast[2:], [0.0, 0.0])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"derivatives": 3}, "derivatives must be 0, 1 or 2"),
        ({"directions": 3}, "directions must be 1 or 4"),
        ({"directions": 4, "lean": True}, "lean=True leaves functions out"),
        ({"constant": ("q",)}, "constant q: with lean=True, some of q, v, tau"),
        ({"constant": ("x",), "lean": True}, "constant x: with lean=True, some of q, v, tau"),
        ({"on_singular": "stop"}, "on_singular 'stop': choose one of ignore, fail"),
        ({"iterations": 0}, "iterations"),
        ({"algorithm": "flight"}, "there is no algorithm 'flight'"),
    ],
)
def test_mistakes(options, said):
    with pytest.raises(RobotError, match=said):
        codegen.to_casadi(loaded(ARM), **{"algorithm": "aba", **options})


@pytest.mark.parametrize("robot", [ARM, "mujoco revolute spherical"])
def test_expressions_with_our_jacobian(robot):
    """They agree with CasADi's AD, from the cache too."""
    plain = expressions(robot, "rnea")
    given = arguments(plain, loaded(robot))
    given += plain.call(given)
    for _ in range(2):
        ours = codegen.to_casadi(loaded(robot), "rnea", expand=True, derivatives=1)
        for found, expected in zip(ours.jacobian().call(given), plain.jacobian().call(given), strict=True):
            np.testing.assert_allclose(np.array(found), np.array(expected), atol=1e-9 * abs(np.array(expected)).max())


def test_an_older_casadi(monkeypatch):
    monkeypatch.setattr("codegen.interfaces.casadi.version", lambda name: "3.7.2")
    with pytest.raises(BuildError, match=r"3.7.2 is too old.*rigidc\[mpc\]"):
        codegen.to_casadi(loaded(ARM), "aba")


def test_a_joint_that_moves_nothing():
    model = loaded(ARM)
    light = replace(model, bodies=tuple(replace(body, inertia=Inertia()) for body in model.bodies))
    with pytest.raises(RobotError, match="can move without moving any; give link"):
        codegen.to_casadi(light, "aba", expand=True)


def test_mistakes_in_folders(tmp_path):
    with pytest.raises(RobotError, match="interface 'matlab': choose one of acados, casadi, crocoddyl, fatrop"):
        codegen.generate(loaded(ARM), ("aba",), tmp_path, interfaces=("matlab",))
    with pytest.raises(RobotError, match="add the interface casadi"):
        codegen.generate(loaded(ARM), ("aba",), tmp_path, interfaces=("acados",), on_singular="fail")
    with pytest.raises(RobotError, match="directions=4 are for CasADi; add the interface casadi"):
        codegen.generate(loaded(ARM), ("aba",), tmp_path, interfaces=("acados",), directions=4)
    with pytest.raises(RobotError, match="double precision"):
        codegen.generate(loaded(ARM), ("aba",), tmp_path, interfaces=("casadi",), dtype="float32")
    contacts = [f"{loaded(ARM).tips[0]}:x"]
    with pytest.raises(RobotError, match="the number of iterations is fixed"):
        codegen.generate(
            loaded(ARM), ("prox_pv",), tmp_path, contacts=contacts, iterations=None, interfaces=("casadi",)
        )
    assert not list(tmp_path.iterdir())


def test_jacobians_are_not_too_large(tmp_path, monkeypatch):
    """As that of derivatives of a humanoid would be."""
    monkeypatch.setattr(casadi_functions, "MOST_SLOPES", 10)
    with pytest.raises(RobotError, match="2 results of 6 arguments, and its Jacobian up to 12 elements"):
        codegen.generate(loaded(ARM), ("aba",), tmp_path, interfaces=("casadi",))
    codegen.generate(loaded(ARM), ("aba",), tmp_path, interfaces=("casadi",), derivative_order=0)


def test_hessians_by_differentiation_are_not_too_long(tmp_path, monkeypatch):
    """As that of Talos' `pv` on all tips, which would fill a machine's memory. Others are not as long."""
    monkeypatch.setattr("codegen.tracing.expressed.MOST_BY_AD", 10)
    with pytest.raises(RobotError, match=r"the Hessian of crba would be about [\d,]+ operations of straight-line code"):
        codegen.generate(loaded(ARM), ("crba",), tmp_path, interfaces=("casadi",))
    assert not list(tmp_path.iterdir())
    codegen.generate(loaded(ARM), ("rnea",), tmp_path, interfaces=("casadi",))
    codegen.generate(loaded(ARM), ("crba",), tmp_path, interfaces=("casadi",), derivative_order=1)


def test_derivatives_have_none_by_default(tmp_path):
    """Which would be long: CasADi gets the value alone, others what they get of any function."""
    for order, starts in ((None, {""}), (1, {"", "jac_", "fwd1_", "adj1_"})):
        names, out = ("aba_derivatives",), tmp_path / str(order)
        codegen.generate(loaded(ARM), names, out, prefix="my", interfaces=("casadi",), derivative_order=order)
        text = (out / "my_aba_derivatives_casadi.c").read_text()
        exported = {start for start in casadi_functions.ORDERS if f"int {start}my_aba_derivatives_casadi_n_in" in text}
        assert exported == starts
    value = codegen.to_casadi(loaded(ARM), "aba_derivatives")
    with pytest.raises(RuntimeError, match="Derivatives cannot be calculated"):
        value.jacobian()
