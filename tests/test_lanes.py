"""Many states at once: every layout, remainder, lane count, target and thread count gives what one state gives."""

from __future__ import annotations

import ctypes
import platform
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compilers import COMPILERS, WARNINGS, compiled, output, written
from graph_cases import header, kernel, one_of_each, pendulum
from test_angles import turning
from thorough import diagonal

import codegen
from codegen import passes
from codegen.compilation.compiler import WHOLE, compile_extension, machine_flags, toolchain
from codegen.compilation.runtime import load
from codegen.emission.emit import Style, emit_artifact, emit_folder
from codegen.emission.kernels import emit_kernel
from codegen.emission.splitting import TURNS, Lengths
from codegen.errors import RobotError
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST, INPUT
from codegen.oracle import ORACLE

if TYPE_CHECKING:
    from pathlib import Path

PENDULUM = passes.run(pendulum())


def pointer(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@pytest.mark.parametrize(
    ("compiler", "lanes", "dtype", "longest"), diagonal(COMPILERS, [2, 4, 8, 16], ["float64", "float32"], [2000, 5])
)
def test_both_layouts_in_c(tmp_path: Path, longest: int, dtype: str, lanes: int, compiler: str) -> None:
    """9 angles leave a remainder of every transposition; gaps between states and the end of `work` stay as they are."""
    made, style = kernel(turning(9)), Style(dtype, lanes=lanes, lengths=Lengths(longest, longest))
    room = emit_kernel(header(), made, style).work(lanes)
    written(emit_folder(header(), (made,), style), tmp_path)
    sources = ["arm_turning.c", "arm_turning_lanes.c"]
    flags = ["-std=c99", "-O2", *WARNINGS, "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
    compiled(compiler, tmp_path, *flags, "-shared", "-fPIC", *sources, "-lm", "-o", "arm.so")
    library = ctypes.CDLL(str(tmp_path / "arm.so"))
    step = 11
    for n in (0, 1, lanes - 1, lanes, lanes + 1, 3 * lanes, 4 * TURNS + lanes + 1):
        x = np.random.default_rng(n).uniform(-9, 9, (n, step)).astype(dtype)
        wanted = np.sin(x[:, :9].astype(float)), np.cos(x[:, :9].astype(float))
        work = np.empty(room + 1, dtype)
        work[-1] = 7
        for layout in ("aos", "soa"):
            columns = layout == "soa"
            given = np.ascontiguousarray(x[:, :9].T) if columns else x.copy()
            out = [np.full(given.shape, 7, dtype) for _ in range(2)]
            length = n if columns else step
            arguments = [word for array in (given, *out) for word in (pointer(array), ctypes.c_ssize_t(length))]
            getattr(library, f"arm_turning_{layout}")(ctypes.c_size_t(n), *arguments, pointer(work))
            for got, exact in zip(out, wanted, strict=True):
                kept = got.T if columns else got[:, :9]
                np.testing.assert_allclose(kept, exact, rtol=4 * np.finfo(dtype).eps)
                assert columns or (got[:, 9:] == 7).all()
            # The sines may take the place of the angles.
            arguments[2:4] = arguments[:2]
            getattr(library, f"arm_turning_{layout}")(ctypes.c_size_t(n), *arguments, pointer(work))
            kept = given.T if columns else given[:, :9]
            np.testing.assert_allclose(kept, wanted[0], rtol=4 * np.finfo(dtype).eps)
            assert work[-1] == 7


def gapped(*runs: tuple[int, int]) -> Graph:
    """x, with so many elements of twice x and then so many zeros, again and again; zero is the last value."""
    places = [place for length, zeros in runs for place in (*range(length), *[-1] * zeros)]
    used = range(max(places) + 1)
    inputs = [Value(INPUT, port=0, element=k) for k in used]
    twice = [Value("twice", (k,)) for k in used]
    result = tuple(2 * len(used) if place < 0 else len(used) + place for place in places)
    ports = (Port("x", (9,)),), (Port("y", (len(places),)),)
    return Graph("gapped", *ports, (*inputs, *twice, Value(CONST)), (result,))


GAPS = [
    ((3, 16), (1, 40), (9, 5), (8, 17), (0, 3), (2, 21)),
    ((0, 64), (7, 9), (9, 0)),
    ((3, 21), (5, 0)),
    ((1, 47), (2, 0)),
    ((1, 1), (1, 0)),
    ((0, 33),),
]


@pytest.mark.parametrize("runs", GAPS, ids=str)
@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_lanes_keep_each_value_once_and_no_squares_of_zeros(lanes: int, runs: tuple[tuple[int, int], ...]) -> None:
    graph = gapped(*runs)
    (result,), zero = graph.results, len(graph.values) - 1
    kept = emit_kernel(header(), kernel(graph), Style(lanes=lanes)).kept["y"]
    at = [k for k in kept if k >= 0]
    assert len({*at}) == len({result[k] for k in at})
    assert all(result[place] == own for place, own in zip(kept, result, strict=True) if place >= 0)
    for first in range(0, len(kept) - lanes + 1, lanes):
        square = slice(first, first + lanes)
        last = first + 2 * lanes > len(kept) and len(kept) % lanes > 0
        empty = {*result[first:]} == {zero} if last else {*result[square]} == {zero}
        assert {place < 0 for place in kept[square]} == {empty}


@pytest.mark.parametrize(
    ("compiler", "lanes", "dtype", "runs"), diagonal(COMPILERS, [2, 4, 8, 16], ["float64", "float32"], GAPS)
)
def test_results_of_lanes_go_where_rows_begin(
    tmp_path: Path, dtype: str, lanes: int, compiler: str, runs: tuple[tuple[int, int], ...]
) -> None:
    """Rows begin anywhere in a line of memory; what lies around results stays as it is.

    Lanes as long as a line are compiled for this processor, which may fill lines, others for any.
    """
    graph = gapped(*runs)
    made, style = kernel(graph), Style(dtype, lanes=lanes)
    emitted = emit_kernel(header(), made, style)
    written(emit_folder(header(), (made,), style), tmp_path)
    sources = ["arm_gapped.c", "arm_gapped_lanes.c"]
    own = machine_flags("native") if lanes * np.dtype(dtype).itemsize == 64 else ()
    flags = ["-std=c99", "-O2", *own, *WARNINGS, "-shared", "-fPIC"]
    compiled(compiler, tmp_path, *flags, *sources, "-lm", "-o", "arm.so")
    library, size = ctypes.CDLL(str(tmp_path / "arm.so")), graph.outputs[0].size
    for n, before in ((1, 0), (lanes - 1, 1), (lanes, 0), (lanes, 3), (3 * lanes + 1, 5)):
        x = np.random.default_rng(n).uniform(1, 2, (n, 9)).astype(dtype)
        wanted, work = interpret(graph, x)[0], np.full(emitted.work(lanes), 7, dtype)
        for layout, given, step in (("aos", x, (9, size + 2)), ("soa", np.ascontiguousarray(x.T), (n, n))):
            room = np.full(before + (n * (size + 2) if layout == "aos" else size * n), 7, dtype)
            out = room[before:].reshape((n, size + 2) if layout == "aos" else (size, n))
            arrays = pointer(given), ctypes.c_ssize_t(step[0]), pointer(out), ctypes.c_ssize_t(step[1])
            getattr(library, f"arm_gapped_{layout}")(ctypes.c_size_t(n), *arrays, pointer(work))
            got = out[:, :size] if layout == "aos" else out.T
            assert (got == wanted).all()
            assert (room[:before] == 7).all()
            assert layout == "soa" or (out[:, size:] == 7).all()
        one = np.full(size, 7, dtype)
        library.arm_gapped(pointer(x), pointer(one))
        assert (one == wanted[0]).all()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="flags of x86-64")
@pytest.mark.parametrize(("compiler", "own"), diagonal(COMPILERS, [(), WHOLE]))
def test_registers_are_used_whole_on_every_processor(tmp_path: Path, own: tuple[str, ...], compiler: str) -> None:
    written(emit_folder(header(), (kernel(PENDULUM),), Style(lanes=8)), tmp_path)
    flags = ["-std=c99", "-O2", "-march=skylake-avx512", *own, *WARNINGS, "-S"]
    compiled(compiler, tmp_path, *flags, "arm_pendulum_lanes.c", "-o", "arm.s")
    registers = re.findall(r"%([yz]mm)", (tmp_path / "arm.s").read_text())
    assert registers.count("zmm") > 5 * registers.count("ymm")


@pytest.mark.parametrize(("compiler", "lanes", "dtype"), diagonal(COMPILERS, [1, 4, 16], ["float64", "float32"]))
def test_a_workspace_is_aligned_as_its_lanes(tmp_path: Path, dtype: str, lanes: int, compiler: str) -> None:
    """GCC and clang take an alignment that is asked for even where it is less than the type's own."""
    written(emit_folder(header(), (kernel(PENDULUM),), Style(dtype, lanes=lanes)), tmp_path)
    text = """#define ARM_WIDE
#include "arm_real.h"
int main(void) { T w[3] ARM_ALIGNED = {{0}}; return (int)(__alignof__(w)%sizeof(T)) + (sizeof w == 0); }
"""
    (tmp_path / "aligned.c").write_text(text.replace("{{0}}", "{0}" if lanes == 1 else "{{0}}"))
    compiled(compiler, tmp_path, "-std=c99", "-D_GNU_SOURCE", "aligned.c", "-lm", "-o", "aligned")
    output(tmp_path / "aligned")


def test_what_states_bring_and_keep_is_little() -> None:
    """A floating base's place is not fetched, and outputs take the room of inputs."""
    emitted = emit_kernel(header(), kernel(codegen.graphs(codegen.load("go1"), "rnea")[1]), Style(lanes=8))
    assert [(a.name, place) for a, place in emitted.places()] == [("q", 0), ("v", 19), ("a", 37), ("tau", 0)]
    assert emitted.arguments[0].used == range(3, 19)
    assert emitted.work(8) == 8 * (1 + 8 + 55)


@pytest.mark.parametrize(("compiler", "lanes", "graph"), diagonal(COMPILERS, [4, 1, 8, 2], [one_of_each(), PENDULUM]))
def test_every_operation_in_lanes(tmp_path: Path, graph: Graph, lanes: int, compiler: str) -> None:
    artifact = emit_artifact(header(), kernel(graph), Style(lanes=lanes, lengths=Lengths(9, 9)))
    artifact, extension = compile_extension([artifact], tmp_path, toolchain(compiler=compiler))
    f = load(artifact, tmp_path / extension)
    rng = np.random.default_rng(0)
    inputs = [rng.uniform(0.1, 0.9, (2 * TURNS + 2 * lanes + 3, *port.shape)) for port in graph.inputs]
    got = f(*inputs)
    for array, wanted in zip(got if isinstance(got, tuple) else (got,), interpret(graph, *inputs), strict=True):
        np.testing.assert_allclose(array, wanted, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(
    ("target", "trig", "dtype", "name"),
    diagonal(["native", "portable", "x86-64-v3"], ["fast", "libm"], ["float64", "float32"], ["solo12", "iiwa"]),
)
def test_every_build_of_a_robot(target: str, trig: str, dtype: str, name: str) -> None:
    robot = codegen.load(name)
    if target not in codegen.compilation.compiler.TARGETS or (target.startswith("x86") and toolchain().lanes(8) < 4):
        pytest.skip("this processor cannot run it")
    f = codegen.build(robot, "rnea", target=target, trig=trig, dtype=dtype)
    states = [np.array(column, dtype) for column in zip(*[robot.random(k) for k in range(19)], strict=True)]
    exact = interpret(codegen.graphs(robot, "rnea")[1], *states)[0]
    close = {"rtol": 0, "atol": abs(exact).max() * (1e-13 if dtype == "float64" else 1e-5)}
    whole = f(*states)
    np.testing.assert_allclose(whole, exact, **close)
    np.testing.assert_allclose([f(*state) for state in zip(*states, strict=True)], exact, **close)
    for threads in (2, 3, 40):
        np.testing.assert_array_equal(f(*states, threads=threads), whole)
    out = np.empty_like(whole)
    assert f(*states, out=out, threads=2) is out


@pytest.mark.parametrize("fewer", [1, 2, 8])
def test_callables_have_no_more_lanes_than_the_stack_has_room_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fewer: int
) -> None:
    model, wanted = codegen.load("chain:3,alternate"), Style(lanes=8)
    own = codegen.pipeline.kernel(codegen.api.task(model, "minverse"))
    room = emit_kernel(header(), own, wanted).many_stack(fewer, 8)
    monkeypatch.setattr("codegen.emission.emit.MOST_STACK", room if fewer > 1 else 0)
    artifact, extension = compile_extension([emit_artifact(header(), own, wanted)], tmp_path, toolchain())
    assert artifact.lanes == fewer
    q = np.linspace(-1.0, 2.0, 3 * 11).reshape(11, 3)
    exact = np.linalg.inv([ORACLE["crba"](model, state) for state in q])
    np.testing.assert_allclose(load(artifact, tmp_path / extension)(q), exact, rtol=0, atol=1e-12 * abs(exact).max())


def test_a_state_does_not_depend_on_the_others() -> None:
    robot = codegen.load("iiwa")
    f = codegen.build(robot, "aba")
    states = [np.array(column) for column in zip(*[robot.random(k) for k in range(9)], strict=True)]
    for n in range(2, 9):
        np.testing.assert_array_equal(f(*[column[:n] for column in states]), f(*states)[:n])


def test_a_state_that_a_thread_has_for_itself() -> None:
    """One more than full lanes: the last thread gets it alone, and computes it as it would with others."""
    robot = codegen.load("solo12")
    f = codegen.build(robot, "aba")
    for count in (f.artifact.lanes + 1, 2 * f.artifact.lanes + 1):
        states = [np.array(column) for column in zip(*[robot.random(k) for k in range(count)], strict=True)]
        for threads in (2, 3):
            np.testing.assert_array_equal(f(*states, threads=threads), f(*states))


def test_threads_are_checked() -> None:
    robot = codegen.load("iiwa")
    f, (q, *_) = codegen.build(robot, "crba"), robot.random(0)
    for wrong in (0, -1, 1.5, "2"):
        with pytest.raises(ValueError, match="threads must be a whole number of at least 1"):
            f(q, threads=wrong)
    np.testing.assert_array_equal(f(q, threads=3), f(q))


def test_what_does_not_exist_is_refused(tmp_path: Path) -> None:
    robot = codegen.load("iiwa")
    with pytest.raises(RobotError, match="lanes 3: choose one of 1, 2, 4"):
        codegen.generate(robot, ["rnea"], tmp_path, lanes=3)
    with pytest.raises(RobotError, match="trig 'slow': choose one of fast, libm"):
        codegen.generate(robot, ["rnea"], tmp_path, trig="slow")


def test_the_header_says_how_the_text_is_meant() -> None:
    style = Style(lanes=8, built="Compiled for portable processors")
    text = emit_folder(header(), (kernel(PENDULUM),), style)["arm.h"]
    for fact in ("#define ARM_LANES 8", "arm_pendulum_soa(size_t n", "at most 1 ulp", "portable processors"):
        assert fact in text
    assert "C library" in emit_folder(header(), (kernel(PENDULUM),), replace(style, trig="libm"))["arm.h"]
    assert "LANES" not in emit_folder(header(), (kernel(PENDULUM),))["arm.h"]
