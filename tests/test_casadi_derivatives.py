"""Derivatives for CasADi as expressions and graphs: recursions against automatic differentiation, and their loops."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi_cases import NEAR, arguments, loaded, stretched, worst
from thorough import besides

import codegen
from codegen import pipeline
from codegen.api import task
from codegen.emission.emit import emit_source
from codegen.interfaces.casadi_functions import exported
from codegen.ir.counted import counted
from codegen.ir.products import WithProducts
from codegen.recursions.composition import INLINE
from codegen.task.header import header
from codegen.tracing import along_chains
from codegen.tracing.arguments import columns
from codegen.tracing.blocks import joined, spans
from codegen.tracing.congruence import both_ways
from codegen.tracing.differentiated import Explicit, Implicit, differentiated
from codegen.tracing.equations import second_of_equations, unknowns

WRITTEN = [
    ("pinocchio spherical revolute", "aba", ()),
    ("mujoco prismatic", "aba", ()),
    ("mujoco planar spherical", "rnea", ()),
    ("pinocchio planar spherical", "rnea", ()),
    ("chain:3", "pv", ("link2:x,y:kp=20:kd=5",)),
    ("pinocchio planar spherical", "step", ()),
    ("chain:3", "step_rk4", ()),
    ("chain:3", "ltl", ()),
    ("chain:3", "pv_step", ("link2:x,y:kp=20:kd=5",)),
    ("chain:3", "step_implicit_midpoint", ()),
    ("mujoco planar spherical", "step", ()),
    ("pinocchio spherical revolute", "step_rk4", ()),
    ("pinocchio spherical revolute", "step_implicit_midpoint", ()),
    ("solo12", "prox_pv_step", ("FL_FOOT:3", "HR_FOOT:3")),
    ("chain12_geared", "step", ()),
    ("mini_cheetah", "step", ()),
    ("pinocchio spherical revolute", "integrate", ()),
    ("four_bar", "aba", ()),
    ("go1", "rnea", ()),
    ("solo12", "aba", ()),
    ("iiwa", "prox_pv", ("lbr_iiwa_link_7:3",)),
    ("iiwa", "pv_soft", ("lbr_iiwa_link_7:3",)),
    ("solo12", "constrained_aba", ("FL_FOOT:3", "HR_FOOT:3")),
    ("mini_cheetah", "aba", ()),
    ("four_bar", "step", ()),
    ("four_bar", "step_rk4", ()),
    ("four_bar", "step_implicit_midpoint", ()),
    ("planar_leg_linkage", "pv", ("foot:x",)),
    ("planar_leg_linkage", "prox_pv", ("foot:x:kp=20:kd=5",)),
    ("planar_leg_linkage", "pv_soft", ("foot:x",)),
    ("four_bar floating", "rnea", ()),
    ("four_bar floating", "step_rk4", ()),
    ("four_bar floating", "step_implicit_midpoint", ()),
    ("planar_leg_linkage", "step_rk4", ()),
    ("planar_leg_linkage", "pv_step_rk4", ("foot:x",)),
    ("four_bar floating", "pv", ("ee-0:x,y:kp=20:kd=5",)),
]


SOON = [*WRITTEN[:3], WRITTEN[5], *WRITTEN[7:9], *WRITTEN[24:26], WRITTEN[-1]]


@pytest.mark.parametrize(("robot", "algorithm", "contacts"), besides(SOON, WRITTEN))
def test_every_way_is_that_of_automatic_differentiation(robot, algorithm, contacts):
    """Recursions and implicit functions, at any norm of quaternions, against AD of the function; iterations settle."""
    model, rng = loaded(robot), np.random.default_rng(4)
    iterations = 8 if "implicit" in algorithm else 3
    own, found = differentiated(task(model, algorithm, contacts=contacts or None, iterations=iterations))
    x, y = own.x, own.y
    w, dx = ca.SX.sym("w", y.size1()), ca.SX.sym("dx", x.size1())
    plain = Explicit(task(model, "crba"), own)
    pairs = [(joined(found.jacobian(), own.outputs, own.inputs), ca.jacobian(y, x))]
    pairs += [(found.forward(dx), plain.forward(dx)), (found.adjoint(w), plain.adjoint(w))]
    pairs += [(joined(found.hessian(w), own.inputs, own.inputs), ca.jacobian(plain.adjoint(w), x))]
    q, v, _ = model.random(rng)
    given = np.concatenate([stretched(model, q), v, rng.standard_normal(x.size1() - q.size - v.size)])
    if "implicit" in algorithm:
        given[-1] = 0.05  # s
    seeds = rng.standard_normal(w.shape), rng.standard_normal(dx.shape)
    both = ca.Function("both", [x, w, dx], [part for pair in pairs for part in pair])(given, *seeds)
    for mine, theirs in zip(both[::2], both[1::2], strict=True):
        assert worst([mine], [theirs]) < (1e-9 if contacts else NEAR)


def test_hessians_of_constrained_dynamics_by_further_arguments():
    """External wrenches and gravity are inverse dynamics', targets the rows'."""
    model, rng = loaded("iiwa"), np.random.default_rng(5)
    held, pushed = ("lbr_iiwa_link_7:3:kp=30:kd=5",), ("lbr_iiwa_link_5",)
    own, found = differentiated(task(model, "pv", contacts=held, external=pushed, parameters=("gravity", "k", "kp")))
    w = ca.SX.sym("w", own.y.size1())
    plain = ca.jacobian(Explicit(task(model, "crba"), own).adjoint(w), own.x)
    both = ca.Function("both", [own.x, w], [joined(found.hessian(w), own.inputs, own.inputs), plain])
    q, v, _ = model.random(rng)
    others = rng.uniform(0.5, 1.5, own.x.size1() - q.size - v.size)
    mine, theirs = both(np.concatenate([q, v, others]), rng.standard_normal(w.shape))
    assert worst([mine], [theirs]) < NEAR


@pytest.mark.parametrize(
    ("robot", "contacts", "fewer"),
    [
        ("iiwa", ("lbr_iiwa_link_7",), 0.65),
        ("solo12", ("FL_FOOT:3", "HR_FOOT:3", "FL_SHOULDER"), 0.8),
        ("iiwa", ("lbr_iiwa_link_7:3:in=world",), 1.0),
    ],
)
def test_contacts_are_in_the_recursion_of_inverse_dynamics(robot, contacts, fewer, monkeypatch):
    """Second derivatives of their equations, in fewer operations; AD where rows turn against bodies."""
    own, found = differentiated(task(loaded(robot), "pv_soft", contacts=contacts, parameters=("R", "k")))
    assert isinstance(found, Implicit)
    (solution,) = found.program.solutions
    symbols = {**own.inputs, **unknowns(found.task, solution)}
    seed, given = ca.SX.sym("seed", solution.unknown.size1()), columns(found.task, own.inputs)
    made = both_ways(second_of_equations(found.task, symbols, given, seed, solution))
    monkeypatch.setattr("codegen.tracing.equations.of_equations", lambda *given, **how: {})
    plain = second_of_equations(found.task, symbols, given, seed, solution)
    both = [ca.Function("second", [*symbols.values(), seed], [x[pair] for pair in plain]) for x in (made, plain)]
    rng = np.random.default_rng(6)
    given = [rng.standard_normal(both[0].size_in(k)) for k in range(both[0].n_in())]
    assert worst(*(f.call(given) for f in both)) < NEAR
    assert both[0].n_instructions() <= fewer * both[1].n_instructions()


PRODUCTS = [
    ("iiwa", "pv_step_implicit_midpoint", ("lbr_iiwa_link_7:3:kp=20:kd=5",)),
    ("solo12", "prox_pv_step_implicit_midpoint", ("FL_FOOT:3", "HR_FOOT:3")),
    ("iiwa", "pv_step_rk4", ("lbr_iiwa_link_7:3",)),
    ("iiwa", "step_implicit_midpoint", ()),
    ("pinocchio planar spherical", "step_rk4", ()),
    ("four_bar floating", "step_implicit_midpoint", ()),
]


@pytest.mark.parametrize(("robot", "algorithm", "contacts"), besides(PRODUCTS[:1], PRODUCTS))
def test_products_with_vectors_are_those_of_the_jacobian(robot, algorithm, contacts):
    """Also where contacts' rows turn with what an implicit step finds."""
    asked = task(loaded(robot), algorithm, contacts=contacts or None, iterations=6)
    own, found = differentiated(asked)
    J = joined(found.jacobian(), own.outputs, own.inputs)
    w, dx = ca.SX.sym("w", own.y.numel()), ca.SX.sym("dx", own.x.numel())
    f = ca.Function("f", [own.x, w, dx], [J.T @ w, found.adjoint(w), J @ dx, found.forward(dx)])
    rng = np.random.default_rng(2)
    x = 0.3 * rng.standard_normal(own.x.numel())
    x[spans(own.inputs)["q"]] = stretched(asked.model, asked.model.random(3)[0])
    x[spans(own.inputs)["dt"]] = 0.01
    slope, adjoint, change, forward = f(x, *(rng.standard_normal(y.numel()) for y in (w, dx)))
    assert worst([adjoint], [slope]) < 1e-9
    assert worst([forward], [change]) < 1e-9


def test_jacobians_of_steps_keep_products_of_matrices():
    (own,) = exported(task(loaded("chain:16"), "step"), 1, ("jac_",))
    assert isinstance(own.sparse.function, WithProducts)
    assert {product.port.shape for product in own.sparse.function.products} == {(16, 16)}


def test_hessians_of_steps_keep_products_of_matrices():
    """Those of the dynamics, and of the step what it adds: also where a block is a result as it is, and turned."""
    asked = task(loaded("chain:16"), "step")
    (own,) = exported(asked, 2, ("jac_adj1_",))
    function = own.sparse.function
    assert isinstance(function, WithProducts)
    assert {gather.source for gather in function.gathers} & {port.name for port in function.outputs}
    assert len(function.graph.values) < 14_000
    assert "chain_step_hessian_gather_0" in emit_source(header(asked.model, "chain", (asked,)), own.kernel)


SOLES = ("left_sole_link", "right_sole_link")
LOOPED = [
    ("chain:26", "rnea", ()),
    ("chain:26,alternate", "pv", ("tip:3",)),
    ("pinocchio " + " ".join(["spherical", "revolute", "planar", "spherical"] * 4), "aba", ()),
    *(("talos", name, ()) for name in ("rnea", "aba", "step")),
    *(("talos", name, SOLES) for name in ("pv", "prox_pv", "pv_soft_step")),
    ("talos", "pv", ("left_sole_link:6:kp=30:kd=5",)),
]


@pytest.mark.parametrize(("robot", "algorithm", "contacts"), besides(LOOPED[:2], LOOPED))
def test_hessians_of_many_joints_have_loops_over_columns(robot, algorithm, contacts):
    """They are what the recursion gives, in little straight-line code, without narrow products."""
    asked = task(loaded(robot), algorithm, contacts=contacts or None)
    own, found = differentiated(asked)
    w = ca.SX.sym("w", own.y.size1())
    ways = [joined(found.hessian(w, loops=loops), own.inputs, own.inputs) for loops in (False, True)]
    q, v, _ = asked.model.random(rng := np.random.default_rng(7))
    x = np.concatenate([stretched(asked.model, q), v, rng.standard_normal(own.x.size1() - q.size - v.size)])
    plain, looped = ca.Function("both", [own.x, w], ways)(x, rng.standard_normal(w.shape))
    assert worst([looped], [plain]) < NEAR
    (made,) = exported(asked, 2, ("jac_adj1_",))
    function = made.sparse.function
    assert isinstance(function, WithProducts)
    assert function.maps
    assert all(product.port.shape[1] >= 8 for product in function.products)
    assert len(function.graph.values) < 70_000


STAGED = [
    ("iiwa", "step_rk4", ()),
    ("pinocchio spherical revolute", "step_rk4", ()),
    ("mujoco planar spherical", "step_rk4", ()),
    ("chain:26,alternate", "step_rk4", ()),
    ("solo12", "pv_step_rk4", ("FL_FOOT:3", "HR_FOOT:3:kp=30:kd=5")),
    ("iiwa", "step_implicit_midpoint", ()),
    ("mujoco planar spherical", "step_implicit_midpoint", ()),
    ("chain:26,alternate", "step_implicit_midpoint", ()),
    ("solo12", "pv_step_implicit_midpoint", ("FL_FOOT:3", "HR_FOOT:3:kp=30:kd=5")),
]


@pytest.mark.parametrize(("robot", "algorithm", "contacts"), besides((*STAGED[:2], *STAGED[5:7], STAGED[8]), STAGED))
def test_hessians_of_several_stages_are_those_of_the_chain_rule_entry_by_entry(robot, algorithm, contacts):
    """With products of matrices between the stages; Jacobians beside them, too."""
    asked = task(loaded(robot), algorithm, contacts=contacts or None)
    own, found = differentiated(asked)
    w, made = ca.SX.sym("w", own.y.size1()), []
    for loops in (False, True):
        _, J, H = found.curved(w, loops=loops)
        assert loops is any(not isinstance(block.matrix, ca.SX) for block in H.values())
        made += [joined(J, own.outputs, own.inputs), joined(H, own.inputs, own.inputs)]
    q, v, _ = asked.model.random(rng := np.random.default_rng(8))
    known = {"q": stretched(asked.model, q), "v": v, "dt": [5e-3]}
    x = np.concatenate([known.get(name, rng.standard_normal(x.numel())) for name, x in own.inputs.items()])
    J, H, *others = ca.Function("both", [own.x, w], made)(x, rng.standard_normal(w.shape))
    assert worst([J], others[:1]) < NEAR
    assert worst([H], others[1:]) < NEAR


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("robot", "algorithm", "contacts"),
    [
        *(("go1", name, ()) for name in ("step_rk4", "step_implicit_midpoint")),
        ("chain:26,alternate", "pv", ("tip:3",)),
        *(("talos", name, ()) for name in ("rnea", "aba")),
    ],
)
def test_compiled_hessians(robot, algorithm, contacts):
    """By loops over columns, over several stages and of roots: against AD of the expressions of what is computed."""
    model, held = loaded(robot), contacts or None
    compiled, plain = (codegen.to_casadi(model, algorithm, contacts=held, expand=expand) for expand in (False, True))
    x, rng = arguments(compiled, model), np.random.default_rng(9)
    if "step" in algorithm:
        x[3] = np.full((1, 1), 0.05 if algorithm == "step_rk4" else 1e-3)  # three steps of Newton's method settle
    w = [rng.standard_normal(compiled.size_out(k)) for k in range(compiled.n_out())]
    nominal, adjoint = compiled.call(x), compiled.reverse(1)
    seeds = [*x, *nominal, *w]
    H = adjoint.jacobian().call([*seeds, *adjoint.call(seeds)])
    symbols = [ca.SX.sym(f"x{k}", part.shape[0]) for k, part in enumerate(x)]
    y = ca.vertcat(*plain.call(symbols))
    slope = ca.gradient(ca.dot(ca.vertcat(*w), y), ca.vertcat(*symbols))
    directions = rng.standard_normal((slope.size1(), 1))
    moved = ca.Function("moved", symbols, [ca.jtimes(slope, ca.vertcat(*symbols), directions)]).call(x)
    rows = [ca.horzcat(*H[k : k + len(x)]) for k in range(0, len(H), len(seeds))]
    assert worst([ca.vertcat(*rows) @ directions], moved) < 1e-9


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ["prox_pv", "pv_step"])
def test_compiled_jacobians_of_humanoids(algorithm):
    """On one foot; loops over columns against products of derivatives, for which no recursion for columns is run."""
    talos = codegen.load("talos")
    f = codegen.to_casadi(talos, algorithm, contacts=[talos.contact("left_sole_link", 6)], derivatives=1)
    x, rng = arguments(f, talos), np.random.default_rng(6)
    dx, y = [rng.standard_normal(part.shape) for part in x], f.call(x)
    blocks = f.jacobian().call([*x, *y])
    rows = [blocks[k : k + len(x)] for k in range(0, len(blocks), len(x))]
    moved = [sum((J @ d for J, d in zip(row, dx, strict=True)), ca.DM(0)) for row in rows]
    assert worst(moved, f.forward(1).call([*x, *y, *dx])) < 1e-9


@pytest.mark.parametrize(
    ("robot", "algorithm", "contacts"),
    [
        ("pinocchio spherical revolute", "step_implicit_midpoint", ()),
        ("chain:3", "pv_step_implicit_midpoint", ("link2:x,y:kp=20:kd=5",)),
    ],
)
def test_vectors_go_through_implicit_steps_link_by_link(robot, algorithm, contacts):
    """Several at once, as through derivatives of the solution."""
    asked = task(loaded(robot), algorithm, contacts=contacts or None)
    own, found = differentiated(asked)
    w, dx = ca.SX.sym("w", own.y.size1(), 3), ca.SX.sym("dx", own.x.size1(), 3)
    mine = along_chains.pushed(asked, own, dx, INLINE), along_chains.pulled(asked, own, w, INLINE)
    both = ca.Function("both", [own.x, w, dx], [*mine, found.forward(dx), found.adjoint(w)])
    rng = np.random.default_rng(8)
    x = rng.uniform(0.5, 1.0, own.x.shape)
    x[spans(own.inputs)["dt"]] = 0.01
    made = both(x, rng.standard_normal(w.shape), rng.standard_normal(dx.shape))
    assert worst(made[:2], made[2:]) < NEAR


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("algorithm", "contacts"),
    [("step_implicit_midpoint", ()), ("pv_step_implicit_midpoint", ("left_sole_link", "right_sole_link"))],
)
def test_compiled_products_of_implicit_steps_of_humanoids(algorithm, contacts):
    """Both ways, against the Jacobian."""
    talos = codegen.load("talos")
    held = [talos.contact(name, 6) for name in contacts] or None
    f = codegen.to_casadi(talos, algorithm, contacts=held, derivatives=1)
    x, rng = arguments(f, talos), np.random.default_rng(7)
    x[3] = np.full((1, 1), 1e-3)  # three steps of Newton's method settle
    y = f.call(x)
    dx, w = ([rng.standard_normal(part.shape) for part in own] for own in (x, y))
    blocks = f.jacobian().call([*x, *y])
    rows = [blocks[k : k + len(x)] for k in range(0, len(blocks), len(x))]
    moved = [sum((J @ d for J, d in zip(row, dx, strict=True)), ca.DM(0)) for row in rows]
    assert worst(moved, f.forward(1).call([*x, *y, *dx])) < 1e-9
    slopes = [sum((J.T @ u for J, u in zip(column, w, strict=True)), ca.DM(0)) for column in zip(*rows, strict=True)]
    assert worst(slopes, f.reverse(1).call([*x, *y, *w])) < 1e-9


@pytest.mark.thorough
@pytest.mark.parametrize("contacts", [("left_sole_link",), ("left_sole_link", "right_sole_link")])
@pytest.mark.parametrize("algorithm", ["pv", "prox_pv", "pv_step"])
def test_jacobians_of_humanoids_have_loops_over_columns(algorithm, contacts):
    """As their own derivatives have, little straight-line code, and no narrow products."""
    talos = codegen.load("talos")
    held = [talos.contact(contact, 6) for contact in contacts]
    (own,) = exported(task(talos, algorithm, contacts=held), 1, ("jac_",))
    function = own.sparse.function
    assert isinstance(function, WithProducts)
    assert function.maps
    assert all(product.port.shape[1] >= 8 for product in function.products)
    assert len(function.graph.values) < 45_000


@pytest.mark.thorough
def test_jacobians_column_by_column_take_few_more_operations_than_dense_derivatives():
    solo = codegen.load("solo12")
    feet = [solo.contact(f"{limb}_FOOT", 3) for limb in ("FL", "FR", "HL", "HR")]
    dense, sparse = (
        counted(function).total
        for function in (
            pipeline.kernel(task(solo, "pv_derivatives", contacts=feet)).function,
            exported(task(solo, "pv", contacts=feet), 1, ("jac_",))[0].sparse.function,
        )
    )
    assert sparse < 1.1 * dense
