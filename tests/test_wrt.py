"""Derivatives by further arguments (`wrt`), against differences of the dense oracle; the parts of users' calls."""

from __future__ import annotations

import numpy as np
import pytest
from mechanisms_cases import mechanism
from thorough import besides

import codegen
from codegen.cli.samples import samples
from codegen.errors import RobotError
from codegen.ir.graph import Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE
from codegen.oracle.derivatives import differences
from codegen.task.options import task_of
from codegen.tracing.trace import trace

NEAR, SHORT = 1e-8, 0.005


def agree(model, algorithm, wrt, *, external=(), contacts=None, parameters=(), near=NEAR):
    """Each derivative by an argument is that of the oracle's results, at a random state."""
    given = (model, f"{algorithm}_derivatives", (), external, parameters, contacts, 3)
    task = task_of(*given, wrt=wrt)
    held = task.contacts
    inputs, outputs = task.signature
    names = [*(port.name for port in inputs[: len(inputs) - len(task.numbers)]), *task.numbers]
    sizes = (sum(len(contact.rows) for contact in held or ()), len(held or ()))
    own = [name for name in names if name not in task.numbers]
    drawn = samples(model, own, len(external), task.numbers, 1, 3, *sizes)
    values = {name: x[0] for name, x in zip(names, drawn, strict=True)}
    found = dict(zip([port.name for port in outputs], interpret(trace(task), *values.values()), strict=False))
    options = {"contacts": held, "external": external}

    def results(changed):
        state = [changed.pop(name) for name in names if name in ("q", "v", "a", "tau", "f_ext")]
        made = ORACLE[algorithm](model, *state, **options, parameters=changed)
        return made if isinstance(made, tuple) else (made,)

    for spec in wrt:
        name = spec.replace(":", "_")
        for n, result in enumerate(task.entry.differentiates):
            step = SHORT if ":" in spec or spec == "R" else 1.0  # of what is small itself

            def moved(d, n=n, spec=spec, step=step):
                return results({**values, spec: values[spec] + step * d.reshape(values[spec].shape)})[n] / step

            mine = found[f"d{result}_d{name}"]
            theirs = differences(moved, values[spec].size).reshape(mine.shape)
            assert np.abs(mine - theirs).max() <= near * max(1e-3, np.abs(theirs).max()), (result, spec)


@pytest.mark.parametrize("algorithm", ["rnea", "aba"])
def test_dynamics_of_a_tree(algorithm):
    model = mechanism(("revolute", "spherical", "prismatic"), 7)
    body, joint = model.bodies[1].name, model.bodies[2].joint.name
    frame = model.frames[-1].name
    wrt = ("gravity", f"inertia:{body}", f"offset:{joint}", f"payload:{frame}", "f_ext")
    agree(model, algorithm, wrt, external=(frame,))


HELD = besides(
    [("iiwa", "prox_pv", ("lbr_iiwa_link_7:3:in=world:kp=20:kd=5",), ("k", "kp", "kd", "target_position"))],
    [
        ("iiwa", "prox_pv", ("lbr_iiwa_link_7:3:in=world:kp=20:kd=5",), ("k", "kp", "kd", "target_position")),
        ("iiwa", "pv", ("lbr_iiwa_link_7:6:kp=20",), ("target_position", "gravity", "inertia:lbr_iiwa_link_3")),
        ("iiwa", "prox_ltl", ("lbr_iiwa_link_7:6:in=world", "lbr_iiwa_link_7:3"), ("weight", "k")),
        ("solo12", "constrained_aba", ("FL_FOOT:3", "HR_FOOT:3:kd=3"), ("k", "f_ext", "target_velocity")),
        ("tello_humanoid", "tree_kkt", ("left-foot:6",), ("k", "gravity")),
    ],
)


@pytest.mark.parametrize(("robot", "algorithm", "texts", "wrt"), HELD)
def test_constrained_dynamics(robot, algorithm, texts, wrt):
    """Wanted accelerations, gains, targets, wrenches and parameters; weights where rows contradict one another."""
    model = codegen.load(robot)
    contacts = tuple(contact_of(model, text) for text in texts)
    external = (model.tips[0],) if "f_ext" in wrt else ()
    parameters = ("target_velocity",) if "target_velocity" in wrt else ()
    near = 1e-4 if "weight" in wrt else NEAR  # of multipliers
    agree(model, algorithm, wrt, contacts=contacts, external=external, parameters=parameters, near=near)


def test_softness():
    model = codegen.load("iiwa")
    agree(model, "pv_soft", ("R", "k"), contacts=(contact_of(model, "lbr_iiwa_link_7:6"),))


def test_where_rows_are_independent_weights_do_not_matter():
    model = codegen.load("iiwa")
    task = task_of(model, "prox_pv_derivatives", (), (), (), ["lbr_iiwa_link_7:3"], 3, wrt=("weight", "mu"))
    graph = trace(task)
    by = [result for port, result in zip(graph.outputs, graph.results, strict=True) if "_dweight" in port.name]
    assert len(by) == 2
    assert {graph.values[k] for result in by for k in result} == {Value(CONST)}


def test_names_and_patterns():
    model = codegen.load("iiwa")
    body = model.bodies[-1].name
    inputs, outputs = task_of(model, "rnea_derivatives", (), (), (), None, 3, wrt=(f"inertia:{body}",)).signature
    assert [port.name for port in inputs] == ["q", "v", "a", f"inertia_{body}"]
    assert (outputs[-1].name, outputs[-1].shape) == (f"dtau_dinertia_{body}", (7, 10))
    task = task_of(model, "prox_pv_derivatives", (), (), (), ["lbr_iiwa_link_7:3"], 3, wrt=("k", "mu"))
    assert [port.name for port in task.signature[1]][6:] == ["da_dk", "dlam_dk", "da_dmu", "dlam_dmu"]
    assert [port.shape for port in task.signature[1]][6:] == [(7, 3), (3, 3), (7,), (3,)]


def test_a_generated_folder(tmp_path):
    """Each function takes what concerns it, and the header says what comes out."""
    model = codegen.load("chain:2")
    codegen.generate(model, ["rnea", "rnea_derivatives"], tmp_path, wrt=["gravity"])
    header = (tmp_path / "chain_2_z.h").read_text(encoding="utf-8")
    assert "dtau_dgravity[6] (2 x 3): joint forces by gravity" in header
    assert "_rnea(const CHAIN_2_Z_REAL *q, const CHAIN_2_Z_REAL *v, const CHAIN_2_Z_REAL *a, " in header


def test_refusals():
    model = codegen.load("iiwa")
    with pytest.raises(RobotError, match="aba gives no derivatives by arguments"):
        codegen.graphs(model, "aba", wrt=("gravity",))
    with pytest.raises(RobotError, match="wrt 'f_ext': this is no argument of rnea_derivatives besides the state"):
        codegen.graphs(model, "rnea_derivatives", wrt=("f_ext",))
    with pytest.raises(RobotError, match=r"wrt 'q'.*there are no others"):
        codegen.graphs(model, "rnea_derivatives", wrt=("q",))
    with pytest.raises(RobotError, match="wrt must be a list of names"):
        codegen.graphs(model, "rnea_derivatives", wrt="gravity")
