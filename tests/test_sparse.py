"""Results as their nonzeros: patterns, the same numbers as dense, the constants of headers, and builds."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from compilers import COMPILERS, WARNINGS, compiled, output
from thorough import besides

import codegen
from codegen import passes
from codegen.errors import RobotError
from codegen.ir.counting import count
from codegen.ir.graph import Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST
from codegen.ir.pattern import Pattern
from codegen.ir.sparse import sparse
from codegen.tracing.directional import matrices
from codegen.tracing.form import Form
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

M = np.array([[[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [4.0, 3.0, 0.0]]])
PATTERN = Pattern((3, 3), (1, 2, 0, 2), (0, 2, 4, 4))


def test_pattern():
    places = [(2, 1), (1, 0), (0, 1), (2, 0)]
    assert Pattern.of((3, 3), places) == PATTERN
    assert (str(PATTERN), repr(PATTERN)) == ("4 nonzeros of 3 x 3", "<Pattern 4 nonzeros of 3 x 3>")
    assert PATTERN.columns == (0, 0, 1, 1)
    assert (PATTERN.dense([[1.0, 4.0, 2.0, 3.0]]) == M).all()
    with pytest.raises(ValueError, match=r"give values of shape \(..., 4\)"):
        PATTERN.dense([1.0, 2.0])
    assert Pattern.of((0, 0), []).dense(np.zeros((2, 0))).shape == (2, 0, 0)


def test_scipy_takes_it():
    csc_array = pytest.importorskip("scipy.sparse").csc_array
    matrix = csc_array(([1.0, 4.0, 2.0, 3.0], PATTERN.indices, PATTERN.indptr), PATTERN.shape)
    matrix.check_format()
    assert (matrix.todense() == M[0]).all()


CASES = [
    *((robot, name) for robot in ("iiwa", "four_bar", "go1", "solo12") for name in ("rnea_derivatives", "jacobian")),
    ("go1", "crba"),
    ("solo12", "aba_derivatives"),
    ("six_bar", "aba_derivatives"),
]


@pytest.mark.parametrize(("robot", "algorithm"), besides([("iiwa", "rnea_derivatives"), ("go1", "crba")], CASES))
def test_sparse_is_dense(robot, algorithm):
    """The same numbers at the same cost; no structural zero is stored, and what is left out is zero."""
    model = codegen.load(robot)
    task = Task(model, algorithm)
    dense = passes.run(trace(task))
    found = sparse(dense, matrices(task))
    assert count(found) == count(dense)
    rng = np.random.default_rng(1)
    states = [model.random(rng) for _ in range(3)]
    given = [np.stack([state[k] for state in states]) for k in range(len(dense.inputs))]
    expected, values = interpret(dense, *given), interpret(found, *given)
    assert {port.name for port in found.outputs if port.pattern} == {*matrices(task)}
    for port, ends, whole, own in zip(found.outputs, found.results, expected, values, strict=True):
        if port.pattern:
            assert (port.pattern.dense(own).reshape(whole.shape) == whole).all()
            assert Value(CONST) not in {found.values[index] for index in ends}
        else:
            assert (own == whole).all()


def test_lists_of_vectors_stay_as_they_are():
    """Positions and rotations of frames are no matrices over joints; vectors are none either."""
    fk, rnea = (Task(codegen.load("four_bar"), name, form=Form(sparse=True)) for name in ("fk", "rnea"))
    assert matrices(fk) == matrices(rnea) == ()
    _, emitted = codegen.graphs(codegen.load("four_bar"), "rnea", sparse=True)
    assert emitted.outputs[0].shape == (1,)


@pytest.mark.parametrize("robot", besides(["chain:4,alternate"], ["chain:4,alternate", "go1", "four_bar"]))
def test_steps_have_sparse_derivatives_by_states(robot):
    """A by positions and velocities, B by forces: nothing changes with the place of a floating base but itself."""
    model = codegen.load(robot)
    f, dense = (codegen.build(model, "step_derivatives", sparse=own) for own in (True, False))
    q, v, tau = model.random(3)
    for name, own, whole in zip(("A", "B"), f(q, v, tau, 0.01), dense(q, v, tau, 0.01), strict=True):
        assert (f.pattern(name).dense(own) == whole).all()
    if robot == "go1":
        rows = {row for row, column in zip(f.pattern("A").indices, f.pattern("A").columns, strict=True) if column < 3}
        assert rows == {0, 1, 2}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_compiled(dtype):
    """States and batches, `out`, pickling, and the directional derivative of a sparse matrix."""
    model = codegen.load("chain:3")
    f = codegen.build(model, "rnea_derivatives", sparse=True, dtype=dtype)
    dense = codegen.build(model, "rnea_derivatives", dtype=dtype)
    rng = np.random.default_rng(4)
    given = [rng.standard_normal((9, model.nv)).astype(dtype) for _ in range(3)]
    for batch in (given, [x[0] for x in given]):
        for name, own, whole in zip(("dtau_dq", "dtau_dv", "M"), f(*batch), dense(*batch), strict=True):
            assert np.allclose(f.pattern(name).dense(own), whole, rtol=1e-5 if dtype == "float32" else 1e-13)
    again = pickle.loads(pickle.dumps(f))
    assert again.pattern("M") == f.pattern("M")
    assert f.count == dense.count
    assert f"M[{f.pattern('M')}]" in repr(f)


def test_a_function_without_such_a_result():
    f = codegen.build(codegen.load("chain:3"), "rnea_derivatives", sparse=True)
    with pytest.raises(ValueError, match="its sparse results are dtau_dq, dtau_dv, M"):
        f.pattern("tau")
    with pytest.raises(ValueError, match="build it with sparse=True"):
        codegen.build(codegen.load("chain:3"), "rnea").pattern("tau")


def numbers(text, name):
    """An integer constant array of a header."""
    (found,) = re.findall(rf"static const int {name}\[(\d+)\] = {{([^}}]*)}};", text)
    values = tuple(map(int, found[1].split(",")))
    assert int(found[0]) == len(values)
    return values


@pytest.mark.parametrize("backend", ["c", "c_portable"])
def test_header(tmp_path, backend):
    """The header has patterns as constants; the folder compiles without a warning and its example runs."""
    model = codegen.load("chain:3")
    codegen.generate(model, ["rnea_derivatives"], tmp_path, backend=backend, sparse=True, derivatives=["vjp"])
    _, graph = codegen.graphs(model, "rnea_derivatives", sparse=True)
    (text,) = (path.read_text() for path in tmp_path.glob("*.h") if not path.name.endswith("_real.h"))
    prefix = re.findall(r"#define (\w+)_NQ", text)[0].lower()
    for port in graph.outputs:
        name = f"{prefix}_rnea_derivatives_{port.name}"
        assert numbers(text, f"{name}_colind") == port.pattern.indptr
        assert numbers(text, f"{name}_row") == port.pattern.indices
        assert f"#define {name.upper()}_NNZ {port.pattern.nnz}\n" in text
        assert f"{port.name}[{port.pattern.nnz}] ({port.pattern})" in text
    sources = sorted(path.name for path in tmp_path.glob("*.c"))
    (tmp_path / "other.cpp").write_text(f'#include "{prefix}.h"\n', encoding="utf-8")
    for compiler in COMPILERS:
        compiled(compiler, tmp_path, "-std=c99", "-O0", *WARNINGS, *sources, "-lm", "-o", "example")
        compiled(compiler, tmp_path, "-std=c++17", *WARNINGS, "-c", "other.cpp")
    printed = output(tmp_path / "example")
    assert printed.count("\n") == graph.outputs[0].size


def test_no_such_derivative(tmp_path):
    with pytest.raises(RobotError, match="derivative 'x'"):
        codegen.generate(codegen.load("chain:3"), ["rnea"], tmp_path, derivatives=["x"])
    assert not any(tmp_path.iterdir())
