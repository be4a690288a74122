"""The callable: shapes, dtypes, batches, out=, names, threads, and what it says when it cannot."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import sys
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from graph_cases import header, kernel, pendulum, pendulum_by_hand
from thorough import diagonal
from work import calls

import codegen
from codegen import passes
from codegen.compilation.calls import Call, calling
from codegen.compilation.compiler import compile_extension, toolchain
from codegen.compilation.memory import LARGE
from codegen.compilation.runtime import Function, load
from codegen.emission.artifact import Artifact
from codegen.emission.emit import Style, emit_artifact
from codegen.errors import BuildError
from codegen.ir.counting import Count, count
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Q, V = np.array([0.3, -1.2]), np.array([0.7, 2.0])
READ_ONLY = np.frombuffer(bytes(32)).reshape(2, 2)
M, H = pendulum_by_hand(Q, V)


def built(graph: Graph, folder: Path, dtype: str = "float64", *, api: bool = True) -> Function:
    artifact = emit_artifact(header(), kernel(graph), Style(dtype, lanes=4))
    artifact, extension = compile_extension([artifact], folder, toolchain(api=api))
    return load(artifact, folder / extension)


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Function:
    return built(passes.run(pendulum()), tmp_path_factory.mktemp("arm"))


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> Function:
    """y = 2x + (0, 1, 2), a function with one result."""
    values = [Value(INPUT, port=0, element=k) for k in range(3)]
    values += [Value("twice", (k,)) for k in range(3)]
    values += [Value(CONST, constant=float(k)) for k in range(3)]
    values += [Value("add", (3 + k, 6 + k)) for k in range(3)]
    graph = Graph("step", (Port("x", (3,)),), (Port("y", (3,)),), tuple(values), ((9, 10, 11),))
    return built(graph, tmp_path_factory.mktemp("step"))


def stepped(x: Any) -> Any:
    return 2 * np.asarray(x, float) + np.arange(3)


def test_one_state(arm: Function) -> None:
    result = arm(Q, V)
    np.testing.assert_allclose(result.M, M, rtol=1e-14)
    np.testing.assert_allclose(result[1], H, rtol=1e-14)
    assert result.h.dtype == np.float64


@pytest.mark.parametrize(
    "call",
    [
        lambda f: f(q=Q, v=V),
        lambda f: f(Q, v=V),
        lambda f: f(v=V, q=Q),
        lambda f: f(list(Q), tuple(V)),
        lambda f: f(np.repeat(Q, 2)[::2], V[::-1][::-1]),
        lambda f: f(Q.astype(">f8"), V.astype(np.longdouble)),
        lambda f: f(np.frombuffer(b"\0" + Q.tobytes(), offset=1), V),
        lambda f: f(np.frombuffer(Q.tobytes()), V),
        lambda f: f(np.ma.masked_array(Q), V),
    ],
    ids=["names", "mixed", "order", "lists", "strides", "dtypes", "unaligned", "read-only", "subclass"],
)
def test_however_it_is_called(arm: Function, call: Callable[[Function], Any]) -> None:
    np.testing.assert_allclose(call(arm).h, H, rtol=1e-14)


def test_integers_booleans_and_halves_are_converted(step: Function) -> None:
    for dtype in (np.int64, np.uint8, np.bool_, np.float16, np.float32):
        x = np.array([1, 0, 1], dtype)
        np.testing.assert_array_equal(step(x), stepped([1, 0, 1]))


@pytest.mark.parametrize(
    ("q", "v", "batch"),
    [((5,), (), (5,)), ((), (4,), (4,)), ((5,), (5,), (5,)), ((3, 1), (1, 4), (3, 4)), ((2, 3), (3,), (2, 3)),
     ((0,), (), (0,)), ((3, 0), (1, 1), (3, 0)), ((1,), (), (1,))],
)  # fmt: skip
def test_batches_broadcast(arm: Function, q: tuple[int, ...], v: tuple[int, ...], batch: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    qs, vs = rng.standard_normal((*q, 2)), rng.standard_normal((*v, 2))
    result = arm(qs, vs)
    assert result.M.shape == (*batch, 2, 2)
    assert result.h.shape == (*batch, 3)
    wide_q, wide_v = np.broadcast_to(qs, (*batch, 2)), np.broadcast_to(vs, (*batch, 2))
    for index in np.ndindex(*batch):
        wanted = pendulum_by_hand(wide_q[index], wide_v[index])
        np.testing.assert_allclose(result.M[index], wanted[0], rtol=1e-13)
        np.testing.assert_allclose(result.h[index], wanted[1], rtol=1e-13)


def test_a_batch_takes_one_call(arm: Function, step: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """If its arrays are as the C wants them: no way round through Python."""
    rng = np.random.default_rng(0)
    cases = [(rng.standard_normal((*q, 2)), rng.standard_normal((*v, 2))) for q, v in (((5,), ()), ((), (2, 3)))]
    cases.append((rng.standard_normal((4, 2)), rng.standard_normal((4, 2))))
    wanted = [arm(*case, threads=np.int64(2)) for case in cases]
    monkeypatch.setattr(Call, "_general", None)
    for case, result in zip(cases, wanted, strict=True):
        for found, known in zip(arm(*case), result, strict=True):
            np.testing.assert_array_equal(found, known)
    x, y = rng.standard_normal((2, 3, 3)), np.empty((2, 3, 3))
    assert step(x, out=y) is y
    np.testing.assert_array_equal(y, stepped(x))


def test_batches_of_transposed_and_sliced_arrays(arm: Function) -> None:
    rng = np.random.default_rng(0)
    q = np.asfortranarray(rng.standard_normal((6, 4)))[::2, 1:3]
    np.testing.assert_allclose(arm(q, V).h[2], pendulum_by_hand(q[2], V)[1], rtol=1e-13)


@pytest.mark.parametrize("threads", [1, 2])
def test_large_results_are_parts_of_one_array(arm: Function, threads: int) -> None:
    """Which the C library keeps for the next call; each is as if it were alone."""
    q, v = np.random.default_rng(4).standard_normal((2, 3, LARGE // 100, 2))
    small = arm(q[:, :7], v[:, :7].copy(), threads=threads)
    assert all(result.base is None for result in small)
    large = arm(q, v, threads=threads)
    assert large.M.base is large.h.base is not None
    for one, other in zip(small, large, strict=True):
        assert other.flags.carray
        np.testing.assert_array_equal(one, other[:, :7])
    assert [x.shape for x in arm(np.zeros((0, 2)), V, threads=threads)] == [(0, 2, 2), (0, 3)]


def test_out_takes_the_results(arm: Function, step: Function) -> None:
    out = np.empty((2, 2)), np.empty(3)
    result = arm(Q, V, out=out)
    assert result.M is out[0]
    assert result.h is out[1]
    np.testing.assert_allclose(out[1], H, rtol=1e-14)
    y = np.empty((4, 3))
    assert step(np.ones((4, 3)), out=y) is y
    np.testing.assert_array_equal(y, np.tile(stepped([1, 1, 1]), (4, 1)))
    assert step(np.ones(3), out=y[1]) is not None
    assert step(np.ones(3), out=(y[0],)[0]).base is y


def test_out_and_plain_numbers_take_one_call(arm: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """As fast as without: several results, a batch of them, and Python's own numbers where a number is wanted."""
    monkeypatch.setattr(Call, "_general", None)
    for lead in ((), (5,)):
        out = np.empty((*lead, 2, 2)), np.empty((*lead, 3))
        result = arm(np.broadcast_to(Q, (*lead, 2)).copy(), V, out=out)
        assert result.M is out[0]
        np.testing.assert_allclose(out[1], np.broadcast_to(H, (*lead, 3)), rtol=1e-14)


def test_plain_numbers_are_arguments_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = (Value(INPUT, port=0, element=0), Value(INPUT, port=1, element=0), Value("add", (0, 1)))
    ports = (Port("x", ()), Port("y", (1,)))
    add = built(Graph("add", ports, (Port("z", (1,)),), values, ((2,),)), tmp_path)
    known = {one: add(np.array(one, float), np.array([2.0]))[0] for one in (1, 1.5)}
    assert add(2**60, np.array([2.0]))[0] == 2.0**60
    with pytest.raises(TypeError, match="x must be real numbers"):
        add(10**400, np.array([2.0]))
    monkeypatch.setattr(Call, "_general", None)
    for one, result in known.items():
        assert add(one, np.array([2.0]))[0] == add(np.float64(one), np.array([2.0]))[0] == result == one + 2


def test_results_and_functions_travel_between_processes() -> None:
    robot = codegen.load("iiwa")
    fk = codegen.build(robot, "fk", frames=("lbr_iiwa_link_7",))
    q, v, _ = robot.random(1)
    for twin in (pickle.loads(pickle.dumps(fk)), copy.deepcopy(fk)):
        assert (repr(twin), twin.source) == (repr(fk), fk.source)
        for one, other in zip(pickle.loads(pickle.dumps(twin(q, v))), fk(q, v), strict=True):
            np.testing.assert_array_equal(one, other)
    assert pickle.loads(pickle.dumps(fk(q, v)))._fields == fk(q, v)._fields
    assert codegen.build(robot, "fk", frames=("lbr_iiwa_link_7",)) == fk


def test_what_has_no_recipe_is_not_pickled(arm: Function) -> None:
    with pytest.raises(TypeError, match=r"pendulum was not made by codegen\.build"):
        pickle.dumps(arm)


def test_out_may_overlap_the_inputs(step: Function) -> None:
    rng = np.random.default_rng(0)
    for first, second in ((slice(0, 6), slice(0, 6)), (slice(0, 6), slice(1, 7)), (slice(1, 7), slice(0, 6))):
        memory = rng.standard_normal((7, 3))
        wanted = stepped(memory[first])
        np.testing.assert_array_equal(step(memory[first], out=memory[second]), wanted)
    line = rng.standard_normal(5)
    wanted = stepped(line[:3])
    np.testing.assert_array_equal(step(line[:3], out=line[1:4]), wanted)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda f: f(Q), TypeError, "missing: v"),
        (lambda f: f(Q, V, V), TypeError, "2 arguments, not 3"),
        (lambda f: f(Q, V, q=Q), TypeError, "q is given twice"),
        (lambda f: f(Q, V, tau=Q), TypeError, "no argument 'tau'"),
        (lambda f: f(Q * 1j, V), TypeError, r"q must be real numbers of shape \(\.\.\., 2\), not complex128"),
        (lambda f: f(["a", "b"], V), TypeError, "q must be real"),
        (lambda f: f(None, V), TypeError, "q must be real"),
        (lambda f: f(np.zeros(3), V), ValueError, r"q must be .* of shape \(\.\.\., 2\), not \(3,\)"),
        (lambda f: f(Q, 1.0), ValueError, r"v must be .* not \(\)"),
        (lambda f: f([[1.0], [1.0, 2.0]], V), ValueError, "q must be .* ragged"),
        (lambda f: f([Q] * 3, [V] * 4), ValueError, r"do not broadcast: q \(3,\), v \(4,\)"),
        (lambda f: f(Q, V, out=np.empty(3)), TypeError, "tuple of 2 arrays"),
        (lambda f: f(Q, V, out=(np.empty(3),)), TypeError, "tuple of 2 arrays"),
        (lambda f: f(Q, V, out=(np.empty((2, 2)), [1, 2, 3])), TypeError, "out for h must be an array of"),
        (lambda f: f(Q, V, out=(np.empty((2, 2), np.float32), np.empty(3))), TypeError, "not float32"),
        (lambda f: f(Q, V, out=(np.empty(4), np.empty(3))), ValueError, r"M must have shape \(2, 2\)"),
        (lambda f: f(Q, V, out=(np.empty((2, 2)).T, np.empty(3))), ValueError, "C-contiguous"),
        (lambda f: f(Q, V, out=(READ_ONLY, np.empty(3))), ValueError, "writable"),
        (lambda f: f(Q[None], V, out=(np.empty((2, 2)), np.empty(3))), ValueError, r"shape \(1, 2, 2\)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(
    arm: Function, call: Callable[[Function], Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        call(arm)


def test_outputs_that_overlap_each_other_are_refused(arm: Function) -> None:
    memory = np.empty(6)
    with pytest.raises(ValueError, match="overlap"):
        arm(Q, V, out=(memory[:4].reshape(2, 2), memory[3:]))


def test_what_it_says_of_itself(arm: Function) -> None:
    assert repr(arm).startswith("<Function arm_pendulum(q[2], v[2]) -> M[2, 2], h[3], float64, ")
    assert "\n" not in repr(arm)
    assert arm.name == "pendulum"
    assert str(inspect.signature(arm)) == "(q, v, *, out=None, threads=1)"
    assert "artifact" in inspect.signature(Function).parameters
    assert [port.name for port in (*arm.inputs, *arm.outputs)] == ["q", "v", "M", "h"]
    assert arm.count == arm.count_written == count(passes.run(pendulum()))
    assert "ARM_FUNCTION(arm_pendulum)(" in arm.source
    assert "ARM_NQ" in arm.header
    with pytest.raises(AttributeError):
        arm.artifact = arm.artifact  # type: ignore[misc]


@pytest.mark.parametrize(("api", "dtype"), diagonal([True, False], ["float32", "float64"]), ids=str)
def test_both_modes_and_types(tmp_path: Path, api: bool, dtype: str) -> None:
    f = built(passes.run(pendulum()), tmp_path, dtype, api=api)
    result = f(np.stack([Q, Q]), V)
    assert f.dtype == result.h.dtype == np.dtype(dtype)
    np.testing.assert_allclose(result.h[1], H, rtol=1e-13 if dtype == "float64" else 1e-5)


@pytest.mark.parametrize("api", [True, False], ids=["api", "abi"])
def test_the_kernel_takes_what_c_can_take_as_it_is(tmp_path: Path, api: bool) -> None:
    f = built(passes.run(pendulum()), tmp_path, api=api)
    kernel, out = f._bound.kernel, [np.empty(port.shape) for port in f.outputs]
    q, v = np.array(Q), np.array(V)
    assert kernel(q, v, *out) == 0
    np.testing.assert_allclose(out[1], H, rtol=1e-13)
    fixed = [np.array(array) for array in out]
    for array in fixed:
        array.flags.writeable = False
    bad = [
        np.zeros((4, *q.shape))[0, ..., ::-1],
        q.astype(">f8"),
        q.astype(np.float32),
        np.stack([q, q]),
        q[:-1],
        list(q),
        None,
    ]
    for wrong in bad:
        assert kernel(wrong, v, *out) == -1
        assert kernel(q, v, *out[:-1], wrong) == -1
    assert kernel(q, v, *fixed) == -1
    many = [np.empty((3, *port.shape)) for port in f.outputs]
    assert kernel(np.stack([q, q, q]), v, *many) == (0 if api else -1)
    if api:
        np.testing.assert_allclose(many[1][2], H, rtol=1e-13)
    assert kernel(np.stack([q, q]), v, *many) == kernel(q, v, many[0], out[1]) == kernel(q, v, out[0], many[1]) == -1
    both = np.empty((2, *f.outputs[0].shape)), np.empty((2, *f.outputs[1].shape))
    shared = both[0].reshape(-1)[: 2 * q.size].reshape(2, *q.shape)
    assert kernel(shared, v, *both) == kernel(np.stack([q, q]), both[1].reshape(-1)[: v.size], *both) == -1
    assert kernel(q, v, *out[:-1]) == kernel(q, v, *out, q) == kernel() == -1


def test_arrays_that_must_not_be_written_to_are_read(arm: Function) -> None:
    q, v = np.array(Q), np.array(V)
    q.flags.writeable = v.flags.writeable = False
    np.testing.assert_allclose(arm(q, v).h, H, rtol=1e-13)


def test_empty_and_scalar_ports(tmp_path: Path) -> None:
    ports = (Port("none", (0,)), Port("a", ())), (Port("nothing", (0, 3)), Port("b", ()))
    values = (Value(INPUT, port=1, element=0), Value("sq", (0,)))
    f = built(Graph("odd", *ports, values, ((), (1,))), tmp_path)
    nothing, b = f([], 3.0)
    assert nothing.shape == (0, 3)
    assert b.shape == ()
    assert float(b) == 9.0
    np.testing.assert_array_equal(f(np.zeros((2, 0)), [1.0, 2.0])[1], [1.0, 4.0])


def test_many_threads_at_once(arm: Function) -> None:
    rng = np.random.default_rng(0)
    states = rng.standard_normal((8, 400, 2))
    failures: list[int] = []

    def work(k: int) -> None:
        wanted = [pendulum_by_hand(q, V)[1] for q in states[k]]
        for _ in range(5):
            single = [arm(q, V).h for q in states[k]]
            if not (np.allclose(single, wanted) and np.allclose(arm(states[k], V).h, wanted)):
                failures.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_gil_is_released(arm: Function) -> None:
    """Another thread runs while this one is inside the C, though nobody is asked to let go of the GIL."""
    q, out = np.zeros((300_000, 2)), (np.empty((300_000, 2, 2)), np.empty((300_000, 3)))
    turns, over = 0, False

    def count() -> None:
        nonlocal turns
        while not over:
            turns += 1
            time.sleep(0)

    before = sys.getswitchinterval()
    thread = threading.Thread(target=count)
    sys.setswitchinterval(1000.0)
    try:
        thread.start()
        seen = 0
        for _ in range(100):  # the other thread may come late, on a machine that is busy
            start = turns
            arm(q, V, out=out)
            seen += turns > start
        over = True
        thread.join()
    finally:
        over = True
        sys.setswitchinterval(before)
    assert seen


def test_a_call_costs_little_over_the_kernel(step: Function) -> None:
    """Python's part: this lambda, the call itself, and its end."""
    x = np.ones(3)
    step(x)
    assert calls(lambda: step(x)) < 4


@pytest.mark.parametrize("lead", [(), (1,), (5,), (2, 3)], ids=str)
def test_arrays_that_c_can_take_stay_within_the_extension(
    arm: Function, monkeypatch: pytest.MonkeyPatch, lead: tuple[int, ...]
) -> None:
    places = np.empty((*lead, 2, 2)), np.empty((*lead, 3))
    q = np.broadcast_to(Q, (*lead, 2)).copy()
    named = arm(q, V, out=places)
    monkeypatch.setattr(Call, "__call__", None)
    for out in (None, places, named, list(places)):
        result = arm(q, V, out=out)
        assert type(arm(v=V, out=out, q=q)) is type(arm(q, v=V, out=out)) is type(result)
        assert type(result) is type(named)
        np.testing.assert_allclose(result.h, np.broadcast_to(H, (*lead, 3)), rtol=1e-14)
        if out is not None:
            assert all(one is other for one, other in zip(result, places, strict=True))


def test_any_other_call_goes_to_python(arm: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    places = np.empty((2, 2)), np.empty(3)
    monkeypatch.setattr(Call, "__call__", None)
    for fallen_back in (
        lambda: arm(Q, q=V),
        lambda: arm(Q, V, v=V),
        lambda: arm(Q, V, threads=1),
        lambda: arm(Q),
        lambda: arm(Q, V, out=places[:1]),
        lambda: arm(Q, V, out=[*places, Q]),
        lambda: arm(Q, list(V)),
        lambda: arm(Q, V, out=(READ_ONLY, places[1])),
        lambda: arm(Q, V, out=(places[0], places[0].reshape(-1)[1:])),
        lambda: arm(Q, V, None),
        lambda: arm(Q, V, out=None, threads=1),
        lambda: arm(np.zeros((3, 2)), np.zeros((2, 2))),
        lambda: arm(np.zeros((3, 2)), V, out=places),
        lambda: arm(np.zeros((0, 2)), V),
        lambda: arm(np.zeros((LARGE, 2)), V),
    ):
        with pytest.raises(TypeError, match="NoneType"):
            fallen_back()


def test_calls_hold_on_to_nothing(arm: Function, step: Function) -> None:
    """Whether they end in the extension or in Python, with results or an error."""
    out, x = (np.empty((2, 2)), np.empty(3)), np.ones(3)
    kept = (Q, V, *out, out, x, step, arm.artifact, arm._bound.dtype, arm._bound.pack)

    def every_way() -> None:
        arm(Q, V)
        arm(Q, V, out=out)
        arm(list(Q), V)
        step(x, out=x)
        for wrong in ((Q,), (x, V)):
            with pytest.raises((TypeError, ValueError)):
                arm(*wrong)
        with pytest.raises(ValueError, match="overlap"):
            arm(Q, V, out=(out[0], out[0].reshape(-1)[1:]))

    every_way()
    before = [sys.getrefcount(one) for one in kept]
    for _ in range(50):
        every_way()
    assert [sys.getrefcount(one) for one in kept] == before


def test_functions_that_are_gone_leave_nothing_behind(arm: Function) -> None:
    gc.collect()
    before = sys.getrefcount(arm.artifact)
    for _ in range(3):
        twins = [replace(arm), arm.with_status(), calling(arm.artifact, arm._bound)]
        del twins
    after = sys.getrefcount(arm.artifact)
    assert after == before


def test_an_extension_that_does_not_load_is_reported(tmp_path: Path) -> None:
    artifact = Artifact(
        "f", "f", (), (), "float64", 1, 0, Count(), Count(), "void f(void);", (("f.h", ""), ("f.c", ""))
    )
    for name in ("f.so", "_rigidc_f.so"):
        (tmp_path / name).write_bytes(b"no machine code")
        with pytest.raises(BuildError, match="does not load"):
            load(artifact, tmp_path / name)
