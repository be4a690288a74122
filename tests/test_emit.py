"""The emitted C: what it computes, what it counts, who compiles it, and that it never varies."""

from __future__ import annotations

import ctypes
import platform
import re
import shutil
import struct
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from compilers import COMPILERS, SANITIZED, WARNINGS, compiled, output, written
from graph_cases import header, kernel, one_of_each, pendulum, pendulum_by_hand, powers, turn
from hypothesis import given
from hypothesis import strategies as st
from thorough import diagonal

import codegen
from codegen import passes, pipeline
from codegen.backends import BACKENDS
from codegen.compilation.identity import checked
from codegen.emission.emit import Style, arguments, emit_artifact, emit_folder, emit_source, write_folder
from codegen.emission.kernels import emit_drafts
from codegen.emission.splitting import Lengths
from codegen.errors import BuildError, RobotError
from codegen.ir.counting import Count, count
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST, INPUT, KINDS
from codegen.languages import SCALARS
from codegen.tracing.task import Task

PENDULUM = passes.run(pendulum())
LITERAL = re.compile(r"\(-[0-9.]+(?:e[+-]?\d+)?f?\)|(?<![\w.])[0-9]+\.?[0-9]*(?:e[+-]?\d+)?f?(?![\w.\]])")


def operators(source: str) -> Count:
    """Operators of a C source, counted from its text alone."""
    counted: Counter[str] = Counter()
    taken = set[str]()  # sines and cosines, which may be read out of their arrays in several parts
    variable, place = r"t\d+", r"\w+\[\d+\]"
    singly = re.sub(rf", (?={variable} = )", ";\nconst T ", source)  # one declaration on a line
    for expression in re.findall(rf"(?:const T {variable}|{place}) = (?:{place} = )*(.*);", singly):
        text = LITERAL.sub("c", expression)
        called = re.match(r"arm_(\w+)\(", text)
        angle = re.fullmatch(r"([sc])\d+\[\d+\]", text)
        if re.fullmatch(r"w\[\d+\]", text):
            continue
        if angle:
            counted["sin" if angle[1] == "s" else "cos"] += text not in taken
            taken.add(text)
        elif called and called[1] != "all":
            counted[called[1] if called[1] in ("sqrt", "sin", "cos") else "other"] += 1
        else:
            counted["mul"] += text.count("*")
            counted["div"] += text.count("/")
            counted["add"] += text.count("+") + text.count("-")
    return Count(**{kind: counted[kind] for kind in KINDS})


@pytest.mark.parametrize("dtype", list(SCALARS))
@pytest.mark.parametrize("longest", [4, 10_000])
@pytest.mark.parametrize("trig", ["fast", "libm"])
@pytest.mark.parametrize("graph", [PENDULUM, one_of_each(), pendulum()], ids=["pendulum", "each", "written"])
def test_the_count_is_the_number_of_operators(graph: Graph, longest: int, trig: str, dtype: str) -> None:
    style = Style(dtype, trig, lengths=Lengths(longest, longest))
    assert operators(emit_source(header(), kernel(graph), style)) == count(graph)


def program(graph: Graph, inputs: list[np.ndarray], real: str) -> str:
    """A main() that calls a kernel once and prints its results exactly."""
    lines = ["#include <stdio.h>", '#include "arm.h"', "int main(void)", "{"]
    for port, values in zip(graph.inputs, inputs, strict=True):
        text = ", ".join(f"({real}){float(x)!r}" for x in values.ravel())
        lines.append(f"const {real} {port.name}[] = {{{text}}};")
    lines += [f"{real} {port.name}[{port.size}];" for port in graph.outputs]
    names = ", ".join(port.name for port in (*graph.inputs, *graph.outputs))
    lines.append(f"arm_{graph.name}({names});")
    for port in graph.outputs:
        lines.append(f'for (int k = 0; k < {port.size}; ++k) printf("%.17g\\n", (double){port.name}[k]);')
    return "\n".join([*lines, "return 0;", "}", ""])


@pytest.mark.parametrize(
    ("compiler", "language", "dtype", "style"),
    diagonal(
        COMPILERS,
        [("-std=c99",), ("-x", "c++", "-std=c++17")],
        list(SCALARS),
        [Style(lengths=Lengths(7, 7), lanes=4), Style(trig="libm")],
    ),
)
def test_every_operation_in_c(
    tmp_path: Path, compiler: str, language: tuple[str, ...], dtype: str, style: Style
) -> None:
    graph = one_of_each()
    files = emit_folder(header(), (kernel(graph),), replace(style, dtype=dtype))
    inputs = [np.array(0.625), np.array([-0.75])]
    files["main.c"] = program(graph, inputs, SCALARS[dtype].real)
    written(files, tmp_path)
    sources = [name for name in files if name.endswith(".c") and name != "example.c"]
    libraries = ["-lm", "-lstdc++"] if "c++" in language else ["-lm"]
    compiled(compiler, tmp_path, *language, *WARNINGS, "-O1", *SANITIZED, *sources, *libraries, "-o", "main")
    got = np.array([float(line) for line in output(tmp_path / "main").split()])
    wanted = interpret(graph, *inputs)[0]
    np.testing.assert_allclose(got, wanted, rtol=1e-14 if dtype == "float64" else 2e-6)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("longest", [3, 10_000])
@pytest.mark.parametrize("graph", [turn(), powers()], ids=lambda graph: graph.name)
def test_outputs_may_be_inputs(tmp_path: Path, compiler: str, graph: Graph, longest: int) -> None:
    """In place."""
    n = graph.outputs[0].size
    files = emit_folder(header(), (kernel(graph),), Style(lengths=Lengths(longest, longest)))
    files["main.c"] = (
        f'#include <stdio.h>\n#include "arm.h"\nint main(void) {{ double x[{n}] = {{1.5, 2.5, 0.3}};\n'
        f'arm_{graph.name}(x, x); for (int k = 0; k < {n}; ++k) printf("%.17g ", x[k]); return 0; }}\n'
    )
    written(files, tmp_path)
    compiled(compiler, tmp_path, "-std=c99", "-O2", *WARNINGS, "main.c", f"arm_{graph.name}.c", "-lm", "-o", "main")
    got = [float(word) for word in output(tmp_path / "main").split()]
    np.testing.assert_allclose(got, interpret(graph, [1.5, 2.5, 0.3])[0], rtol=1e-15)


def late(angle: str) -> Graph:
    """A sine or cosine of x, and what a later part computes of both."""
    values = [Value(INPUT, port=0, element=0), Value("sin", (0,)), Value("cos", (0,)), Value("add", (1, 2))]
    values += [Value("mul", (k, 1 + k % 2)) for k in range(3, 9)]
    ports = (Port("x", (1,)),), (Port("y", (2,)),)
    return Graph(f"late_{angle}", *ports, tuple(values), ((1 if angle == "sin" else 2, len(values) - 1),))


@pytest.mark.parametrize("graph", [late("sin"), late("cos")], ids=lambda graph: graph.name)
def test_angles_may_be_results_and_needed_later(tmp_path: Path, graph: Graph) -> None:
    """They are in an array of their own then."""
    files = emit_folder(header(), (kernel(graph),), Style(lengths=Lengths(3, 3)))
    files["main.c"] = program(graph, [np.array([0.625])], "double")
    written(files, tmp_path)
    sources = f"arm_{graph.name}.c"
    compiled(COMPILERS[0], tmp_path, "-std=c99", "-O1", *WARNINGS, "main.c", sources, "-lm", "-o", "main")
    got = [float(line) for line in output(tmp_path / "main").split()]
    np.testing.assert_allclose(got, interpret(graph, [0.625])[0], rtol=1e-14)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_double_literals_read_back_exactly(number: float) -> None:
    assert float(SCALARS["float64"].literal(number).strip("()")) == number


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float_literals_read_back_exactly(number: float) -> None:
    text = SCALARS["float32"].literal(number).strip("()")
    assert text.endswith("f")
    assert struct.pack("f", float(text[:-1])) == struct.pack("f", number)
    assert re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?f", text)
    assert "." in text or "e" in text


def test_constants_beyond_float_are_refused() -> None:
    with pytest.raises(RobotError, match="float64"):
        SCALARS["float32"].literal(1e300)


def test_the_text_does_not_depend_on_hash_seeds() -> None:
    code = (
        "import hashlib, sys; sys.path[:0] = sys.argv[1:]\n"
        "from graph_cases import header, kernel, pendulum\n"
        "from codegen import passes\nfrom codegen.emission.splitting import Lengths\n"
        "from codegen.emission.emit import Style, emit_folder\n"
        "files = emit_folder(header(), (kernel(passes.run(pendulum())),), Style(lengths=Lengths(5, 5), lanes=8))\n"
        "print(hashlib.sha256(repr(list(files.items())).encode()).hexdigest())\n"
    )
    here = Path(__file__).resolve().parent
    seen = set()
    for seed in ("0", "1", "4242"):
        command = [sys.executable, "-c", code, str(here), str(here.parent)]
        done = subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)
        seen.add(done.stdout)
    assert len(seen) == 1


def test_the_header_says_what_is_in_it() -> None:
    text = emit_folder(header(), (kernel(PENDULUM),))["arm.h"]
    for fact in (
        "#define ARM_NQ 2",
        "#define ARM_NV 2",
        "in  q[2] (2): joint angles, rad",
        "out M[4] (2 x 2): mass matrix, kg m^2",
        str(count(PENDULUM)),
        "joint 1",
        'extern "C"',
        "0.0 0.0 -9.81",
    ):
        assert fact in text
    assert re.search(r'#define ARM_CONTENT "[0-9a-f]{64}"', text)
    assert "WORKSPACE" not in text
    cut = emit_folder(header(), (kernel(PENDULUM),), Style(lengths=Lengths(5, 5)))["arm.h"]
    assert re.search(r"#define ARM_PENDULUM_WORKSPACE [1-9]", cut)


def test_the_header_of_implicit_loops_asks_for_a_closed_configuration(tmp_path: Path) -> None:
    for name, tied in (("four_bar", True), ("chain12_geared", False)):
        codegen.generate(codegen.load(name), ["rnea"], tmp_path / name)
        text = " ".join((tmp_path / name / f"{name}.h").read_text().replace("\n *", " ").split())
        assert all((words in text) is tied for words in ("they have to close it", "Up to 1e-9", "`project`"))


@pytest.mark.parametrize("lanes", [1, 4])
def test_comments_tell_sections_and_variants(tmp_path: Path, lanes: int) -> None:
    files = codegen.generate(codegen.load("go1"), ["rnea"], tmp_path, lanes=lanes)
    scalars, _, simd = (tmp_path / "go1_rnea.c").read_text().partition("---- SIMD")
    assert "---- Scalars" in scalars
    for variant in (scalars, simd):
        for words in ("/* Angles: ", "/* First use of the coordinates of ", "/* Results, "):
            assert words in variant
    parts = emit_source(header(), kernel(PENDULUM), Style(lengths=Lengths(5, 5)))
    assert parts.count("/* Part ") == parts.count("ARM_PART void") > 1
    lines = [line for path in files for line in path.read_text().splitlines() if line.startswith("#")]
    assert not [line for line in lines if re.search(r"\b1 > 1\b|_WORKSPACE 0", line)]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    ("robot", "algorithm", "dtype"),
    [
        ("iiwa", "crba", "float32"),
        pytest.param("iiwa", "rnea", "float64", marks=pytest.mark.thorough),
        pytest.param("go1", "crba", "float64", marks=pytest.mark.thorough),
        pytest.param("solo12", "aba", "float32", marks=pytest.mark.thorough),
        pytest.param("talos", "rnea", "float64", marks=pytest.mark.thorough),
    ],
)
def test_calls_take_no_more_stack_than_the_header_says(
    tmp_path: Path, robot: str, algorithm: str, dtype: str, compiler: str
) -> None:
    """The frames that the compiler tells of: of one state and of many, functions that call each other added."""
    name = f"{robot}_{algorithm}"
    codegen.generate(codegen.load(robot), [algorithm], tmp_path, dtype=dtype, lanes=8)
    text = (tmp_path / f"{robot}.h").read_text()
    for source, macro, outer in (
        (name, "STACK", {name}),
        (f"{name}_lanes", "MANY_STACK", {f"{name}_{end}" for end in ("aos", "soa", "states", "lanes")}),
    ):
        found = re.search(rf"#define {name.upper()}_{macro} (\d+)", text)
        assert found
        for flags in (["-O2"], ["-O2", f"-D{robot.upper()}_PLAIN"]):
            compiled(compiler, tmp_path, *flags, "-w", "-fstack-usage", "-c", f"{source}.c", "-o", "out.o")
            (usage,) = tmp_path.glob("*.su")
            rows = [line.split("\t") for line in usage.read_text().splitlines()]
            usage.unlink()
            frames = {row[0].rpartition(":")[2]: int(row[1]) for row in rows}
            chain = [size for function, size in frames.items() if function in outer]
            inner = [size for function, size in frames.items() if function not in outer]
            assert sum(chain) + max(inner, default=0) <= int(found[1])


@pytest.mark.skipif(platform.machine() != "x86_64", reason="flags of x86-64")
@pytest.mark.skipif("gcc" not in COMPILERS, reason="needs gcc")
@pytest.mark.parametrize("dtype", list(SCALARS))
def test_half_precision_registers_leave_angles_inline(tmp_path: Path, dtype: str) -> None:
    """With AVX512-FP16, GCC's FLT_EVAL_METHOD is 16 unless -std=c99 and the like ask for ISO's."""
    written(emit_folder(header(), (kernel(PENDULUM),), Style(dtype)), tmp_path)
    done = subprocess.run(
        ["gcc", "-march=sapphirerapids", "-O2", "-E", "-dM", "arm_pendulum.c"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        pytest.skip("this gcc does not know the processor")
    assert "#define ARM_OWN_ANGLES 1\n" in done.stdout


@pytest.mark.parametrize("lanes", [1, 4])
def test_casadi_refuses_functions_that_are_not_of_its_interface(tmp_path: Path, lanes: int) -> None:
    """In a process of its own: to call what external() took for CasADi's would crash."""
    written(emit_folder(header(), (kernel(PENDULUM),), Style(lanes=lanes)), tmp_path)
    sources = [path.name for path in tmp_path.glob("arm_*.c")]
    compiled(COMPILERS[0], tmp_path, "-O2", "-w", "-shared", "-fPIC", *sources, "-lm", "-o", "arm.so")
    code = (
        "import casadi, sys\n"
        "try: casadi.external(sys.argv[1], './arm.so')(0)\n"
        "except RuntimeError as error: print('refused', error)\n"
    )
    for name in ("arm_pendulum", *(("arm_pendulum_aos", "arm_pendulum_soa") if lanes > 1 else ())):
        command = [sys.executable, "-c", code, name]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.startswith("refused")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_library_tells_its_interface_and_its_model(tmp_path: Path, backend: str) -> None:
    written(BACKENDS[backend].folder(header(), (kernel(PENDULUM),), Style(trig="libm"), {}), tmp_path)
    sources = [path.name for path in tmp_path.glob("arm*.c")]
    compiled(COMPILERS[0], tmp_path, "-O1", "-shared", "-fPIC", *sources, "-lm", "-o", "arm.so")
    checked(tmp_path / "arm.so", "arm", header().digest)
    library, text = ctypes.CDLL(str(tmp_path / "arm.so")), (tmp_path / "arm.h").read_text()
    library.arm_model.restype = ctypes.c_char_p
    assert f"#define ARM_ABI {library.arm_abi()}\n" in text
    assert f'#define ARM_MODEL "{library.arm_model().decode()}"\n' in text


@pytest.mark.skipif(platform.machine() != "x86_64", reason="extensions of x86-64")
def test_a_library_for_another_processor_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(emit_folder(header(), (kernel(PENDULUM),), Style(trig="libm")), tmp_path)
    sources = [path.name for path in tmp_path.glob("arm*.c")]
    compiled(COMPILERS[0], tmp_path, "-O1", "-mavx2", "-mfma", "-shared", "-fPIC", *sources, "-lm", "-o", "arm.so")
    for known, said in (({"sse2", "avx", "avx2"}, "with fma, which"), ({"sse2", "fma"}, "with avx, avx2, which")):
        monkeypatch.setattr("codegen.compilation.identity.extensions", lambda known=known: known)
        with pytest.raises(BuildError, match=f"{said} this one has not; generate and compile it again"):
            checked(tmp_path / "arm.so", "arm", header().digest)
    for known in ({"avx", "avx2", "fma", "bmi2"}, set()):  # nothing is known where there is no /proc/cpuinfo
        monkeypatch.setattr("codegen.compilation.identity.extensions", lambda known=known: known)
        checked(tmp_path / "arm.so", "arm", header().digest)


def test_the_content_hash_follows_the_sources() -> None:
    def hashed(graph: Graph) -> str:
        found = re.search(r'CONTENT "(\w+)"', emit_folder(header(), (kernel(graph),))["arm.h"])
        assert found
        return found[1]

    assert hashed(PENDULUM) == hashed(PENDULUM) != hashed(pendulum())


def test_hostile_names_reach_c_harmlessly(tmp_path: Path) -> None:
    evil = '*/ int evil; /* " \\ ??/ \n#error é'
    info = replace(header(robot=evil, prefix=evil), convention=evil, notes=(evil,), digest=evil)
    info = replace(info, joints=tuple(replace(row, name=evil, type=evil) for row in info.joints))
    taken = ["t0", "T", "w", "int", "sin", "a b"]
    taken += ["n", "k", "soa", "block", "blocks", "groups", "BLOCK", "x0", "y0", "s0"]
    ports, size = tuple(Port(name, (1,), evil) for name in taken), len(taken)
    values = tuple(Value(INPUT, port=k, element=0) for k in range(size))
    values += (Value("sin", (0,)), Value("add", (1, 2)), Value("mul", (size, 5)))
    graph = Graph("main", ports, (Port(evil, (3,)),), values, ((size, size + 1, size + 2),))
    files = emit_folder(info, (kernel(graph),), Style(lengths=Lengths(2, 2), lanes=4, built=evil))
    written(files, tmp_path)
    code = "".join(text for name, text in files.items() if name.endswith((".c", ".h")))
    assert "evil;" not in re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL)
    assert all("\n#error" not in text for text in files.values())
    assert all(re.fullmatch(r"[\w.]+", name) for name in files)
    for compiler in COMPILERS:
        sources = [name for name in files if name.endswith(".c")]
        compiled(compiler, tmp_path, "-std=c99", "-trigraphs", *WARNINGS, "-c", *sources)


def test_names_that_cannot_be_told_apart_are_refused() -> None:
    a, b = kernel(PENDULUM), kernel(replace(PENDULUM, name="Pendulum"))
    with pytest.raises(RobotError, match="cannot be told apart"):
        emit_folder(header(), (a, b))
    twins = replace(PENDULUM, inputs=(Port("q", (2,)), Port("Q", (2,))))
    with pytest.raises(RobotError, match="cannot be told apart"):
        arguments(twins)
    with pytest.raises(RobotError, match="name at least one"):
        emit_folder(header(), ())


CONSUMER = """
cmake_minimum_required(VERSION 3.13)
project(consumer LANGUAGES C)
find_package(arm 2 QUIET)
if(arm_FOUND)
  message(FATAL_ERROR "an interface that does not exist")
endif()
find_package(arm 1.0 REQUIRED)
add_executable(consumer example.c)
target_link_libraries(consumer PRIVATE arm::arm)
"""


@pytest.mark.skipif(not shutil.which("cmake"), reason="needs CMake")
def test_cmake_installs_a_package_that_others_find(tmp_path: Path) -> None:
    def cmake(*arguments: str) -> None:
        compiled("cmake", tmp_path, *arguments)

    files = emit_folder(header(), (kernel(PENDULUM),))
    written(files, tmp_path / "arm")
    written({"CMakeLists.txt": CONSUMER, "example.c": files["example.c"]}, tmp_path / "consumer")
    root = f"-DCMAKE_INSTALL_PREFIX={tmp_path / 'root'}"
    cmake("-S", "arm", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INSTALL_LIBDIR=lib", root)
    cmake("--build", "build", "--target", "install")
    cmake("-S", "consumer", "-B", "use", f"-DCMAKE_PREFIX_PATH={tmp_path / 'root'}")
    cmake("--build", "use")
    assert output(tmp_path / "use" / "consumer").startswith("M[0] =  5")
    if shutil.which("pkg-config"):
        found = tmp_path / "root" / "lib" / "pkgconfig" / "arm.pc"
        command = ["pkg-config", "--cflags", "--libs", str(found)]
        flags = subprocess.run(command, capture_output=True, text=True, check=True)
        (tmp_path / "flat").mkdir()
        sources = [str(tmp_path / "consumer" / "example.c"), *flags.stdout.split()]
        compiled(COMPILERS[0], tmp_path / "flat", *sources, "-o", "example")
        assert output(tmp_path / "flat" / "example").startswith("M[0] =  5")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_folder_builds_by_itself(tmp_path: Path, compiler: str) -> None:
    folder = tmp_path / "new" / "arm"
    paths = write_folder(emit_folder(header(), (kernel(PENDULUM), kernel(one_of_each()))), folder)
    assert {path.name for path in paths} == {path.name for path in folder.iterdir()}
    sources = sorted(path.name for path in folder.glob("*.c"))
    compiled(compiler, folder, "-std=c99", *WARNINGS, *sources, "-lm", "-o", "example")
    printed = [float(line.split("=")[1]) for line in output(folder / "example").splitlines()]
    np.testing.assert_allclose(printed, pendulum_by_hand(np.zeros(2), np.zeros(2))[0].ravel())
    assert [path.name for path in folder.parent.iterdir()] == ["arm"]


def test_write_folder_replaces_its_own_files_only(tmp_path: Path) -> None:
    files = emit_folder(header(), (kernel(PENDULUM),))
    write_folder(files, tmp_path)
    write_folder(files, tmp_path)
    (tmp_path / "arm.h").write_text("mine")
    (tmp_path / "example.c").unlink()
    with pytest.raises(RobotError, match=r"arm\.h was not generated by rigidc"):
        write_folder(files, tmp_path)
    assert (tmp_path / "arm.h").read_text() == "mine"
    assert not (tmp_path / "example.c").exists()
    with pytest.raises(RobotError, match="is a file"):
        write_folder(files, tmp_path / "arm.h")
    with pytest.raises(RobotError, match="no plain name"):
        write_folder({"../out.c": ""}, tmp_path)
    with pytest.raises(RobotError, match="cannot be written"):
        write_folder(files, tmp_path / "arm.h" / "below")


def test_artifacts_go_to_facts_and_back() -> None:
    from codegen.emission.artifact import from_facts

    artifact = emit_artifact(header(), kernel(PENDULUM), Style("float32", lanes=8))
    assert from_facts(artifact.facts(), artifact.files) == artifact
    assert "const float *q" in artifact.declarations
    assert artifact.header.startswith("/* Generated by rigidc")
    assert "arm_pendulum" in artifact.source


def test_neighbours_that_are_the_same_number_are_filled_at_once() -> None:
    """Eight at most; they are spread over the function."""
    graph = codegen.graphs(codegen.load("solo12"), "crba")[1]
    text = emit_source(header(), kernel(graph))
    fills = re.findall(r"ZEROS\(&M\[(\d+)\], (\d+)\);", text)
    filled = [int(first) + k for first, n in fills for k in range(int(n))]
    zero = {k for k, index in enumerate(graph.results[0]) if graph.values[index] == Value(CONST)}
    assert sorted(filled) == sorted(zero)
    runs = "".join("0" if k in zero else " " for k in range(len(graph.results[0]))).split()
    assert len(fills) == sum(-(-len(run) // 8) for run in runs)
    lines = text.splitlines()
    places = [k for k, line in enumerate(lines) if "ZEROS(&M" in line]
    assert places[-1] - places[0] > 0.5 * len(lines)


def test_results_that_are_there_together_are_stored_together() -> None:
    """With limbs in step: neighbours in an array, each element once."""
    made = pipeline.kernel(Task(codegen.load("go1"), "crba"))
    *_, emitted = emit_drafts(header(), made, Style())
    text = "\n".join(line for lines in emitted.variants[-1].statements for line in lines)
    rows = re.findall(r"P(\d)_AT\(M\[(\d+)\]\) = \(P\d\)\{(.*)\};", text)
    together = [int(first) + k for size, first, _ in rows for k in range(int(size))]
    assert all(len(values.split(", ")) == int(size) for size, _, values in rows)
    singly = [int(place) for place in re.findall(r"(?:^|= )M\[(\d+)\] = ", text, re.MULTILINE)]
    filled = re.findall(r"ZEROS\(&M\[(\d+)\], (\d+)\)", text)
    numbers = [int(first) + k for first, n in filled for k in range(int(n))]
    assert sorted(together + singly + numbers) == list(range(18 * 18))
    assert len(together) > len(singly)
