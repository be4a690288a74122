"""The backend c_portable: strictly ISO C99 for whichever compiler, and the same numbers."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compilers import COMPILERS, SANITIZED, WARNINGS, compiled, output, written
from graph_cases import header, kernel, one_of_each, pendulum, powers, turn
from test_emit import LITERAL, program
from thorough import chosen, diagonal

import codegen
from codegen import passes, pipeline
from codegen.backends import BACKENDS
from codegen.backends.c_portable import files, folder
from codegen.backends.c_portable import style as styled
from codegen.backends.c_portable.lines import WIDTH, fitted
from codegen.emission.emit import Style, emit_folder
from codegen.emission.folder import write_folder
from codegen.emission.spec import LoopKernel
from codegen.emission.splitting import Lengths
from codegen.errors import RobotError
from codegen.ir.counting import Count, count
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import INPUT, KINDS
from codegen.languages import SCALARS
from codegen.model.contacts import contact_of
from codegen.tracing.task import Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PENDULUM = passes.run(pendulum())
# What the text does on purpose: comparisons as operations of the graph, and declarations where values are made.
BY_DESIGN = ["float-equal", "declaration-after-statement"]
# What clang says of all C with arrays, and of warnings that it does not know.
ALWAYS = ["unsafe-buffer-usage", "padded", "unknown-warning-option"]
STRICT = {
    "gcc": [*WARNINGS, "-Wstrict-prototypes", "-Wfloat-conversion"],
    "clang": ["-Weverything", "-Werror", *(f"-Wno-{name}" for name in BY_DESIGN + ALWAYS)],
}
FORBIDDEN = re.compile(
    r"__\w*|_[A-Z]\w*|\b(goto|typedef|union|inline|restrict|volatile|register|extern|switch|do|malloc|alloca|mem\w+|"
    r"attribute|builtin\w*|asm|typeof|complex|vector\w*|simd|short|long|unsigned|auto)\b"
)


def portable(*kernels: Any, dtype: str = "float64", longest: int = 10_000) -> dict[str, str]:
    """The files of these kernels, in functions of at most so many statements."""
    style = replace(styled(Style(dtype)), lengths=Lengths(longest, longest))
    return folder(header(), kernels, style)


def operators(source: str) -> Count:
    """Operators of a C source, counted from its text alone."""
    counted: Counter[str] = Counter()
    for expression in re.findall(r"const \w+ \w+\s+=\s+([^;]*);", source):
        text = LITERAL.sub("c", expression)
        called = re.match(r"(sqrt|sin|cos|\w+)f?\(", text)
        if re.fullmatch(r"\w+\[\d+\]", text):
            continue
        if "?" in text or called:
            name = called[1].removesuffix("f") if called and "?" not in text else ""
            counted[name if name in ("sqrt", "sin", "cos") else "other"] += 1
        else:
            counted["mul"] += text.count("*")
            counted["div"] += text.count("/")
            counted["add"] += text.count("+") + text.count("-")
    return Count(**{kind: counted[kind] for kind in KINDS})


@pytest.mark.parametrize("dtype", list(SCALARS))
@pytest.mark.parametrize("longest", [4, 10_000])
@pytest.mark.parametrize("graph", [PENDULUM, one_of_each(), pendulum()], ids=["pendulum", "each", "written"])
def test_the_count_is_the_number_of_operators(graph: Graph, longest: int, dtype: str) -> None:
    files = portable(kernel(graph), dtype=dtype, longest=longest)
    assert operators(files["arm.c"]) == count(graph)
    assert str(count(graph)) in " ".join(files["arm.h"].replace(" * ", " ").split())


def test_the_count_of_a_robot_is_the_number_of_operators(tmp_path: Path) -> None:
    for robot, algorithm in (("iiwa", "aba"), ("four_bar", "aba")):
        codegen.generate(codegen.load(robot), [algorithm], tmp_path / robot, backend="c_portable")
        text = (tmp_path / robot / f"{robot}.c").read_text()
        assert operators(text) == count(codegen.graphs(codegen.load(robot), algorithm)[1])


LANGUAGES = [("-std=c99",), ("-std=c11",), ("-std=c17",), ("-x", "c++", "-std=c++17")]


@pytest.mark.parametrize(
    ("compiler", "language", "dtype", "longest"), diagonal(COMPILERS, LANGUAGES, [*SCALARS], [7, 999])
)
def test_every_operation(tmp_path: Path, compiler: str, language: tuple[str, ...], dtype: str, longest: int) -> None:
    graph = one_of_each()
    files = portable(kernel(graph), dtype=dtype, longest=longest)
    inputs = [np.array(0.625), np.array([-0.75])]
    files["main.c"] = program(graph, inputs, SCALARS[dtype].real)
    written(files, tmp_path)
    libraries = ["-lm", "-lstdc++"] if "c++" in language else ["-lm"]
    compiled(
        compiler,
        tmp_path,
        *language,
        "-pedantic-errors",
        *WARNINGS,
        "-O1",
        *SANITIZED,
        "main.c",
        "arm.c",
        *libraries,
        "-o",
        "main",
    )
    got = [float(line) for line in output(tmp_path / "main").split()]
    np.testing.assert_allclose(got, interpret(graph, *inputs)[0], rtol=1e-14 if dtype == "float64" else 2e-6)


def strictly(compiler: str, path: Path, *sources: str) -> None:
    for source in sources:
        # clang warns before it optimises, GCC of some things later
        how = ["-fsyntax-only"] if compiler == "clang" else ["-O1", "-c", "-o", "strict.o"]
        compiled(compiler, path, "-std=c99", "-pedantic-errors", *STRICT[compiler], *how, source)


def library(folder: Path, name: str) -> Any:
    """The functions of an emitted source, compiled strictly."""
    warnings = ["-std=c99", "-pedantic-errors", *STRICT[COMPILERS[0]]]
    compiled(COMPILERS[0], folder, *warnings, "-O1", "-shared", "-fPIC", f"{name}.c", "-lm", "-o", f"{name}.so")
    return ctypes.CDLL(str(folder / f"{name}.so"))


def call(library: Any, name: str, made: Any, arguments: Sequence[Any], dtype: str) -> tuple[list[np.ndarray], int]:
    """The results of a kernel's function, and what it returns."""
    given = [np.ascontiguousarray(np.reshape(x, -1), dtype) for x in arguments]
    results = [np.full(max(port.size, 1), np.nan, dtype) for port in made.outputs]
    returned = library[name](*[ctypes.c_void_p(array.ctypes.data) for array in (*given, *results)])
    return [np.reshape(r[: p.size], p.shape) for r, p in zip(results, made.outputs, strict=True)], returned


def wanted(made: Any, arguments: Sequence[Any]) -> list[np.ndarray]:
    """The same by the interpreter of graphs, and a loop in Python around those of an iteration."""
    if not isinstance(made, LoopKernel):
        return [*interpret(made.graph, *arguments)]
    *own, tolerance, most = arguments
    work, state = interpret(made.stages.prepare, *own)
    after, left = interpret(made.stages.step, work, state)
    taken = 1
    while left[0] > tolerance and taken < most:
        state, taken = after, taken + 1
        after, left = interpret(made.stages.step, work, state)
    results = {
        p.name: r for p, r in zip(made.stages.finish.outputs, interpret(made.stages.finish, work, state), strict=True)
    }
    results |= {"iterations": np.array(float(taken)), "residual": left[0]}
    return [results[port.name] for port in made.outputs]


FEET = ("FL_FOOT:3", "HR_FOOT:3")
QUICK = {1: "float32", 2: "float64"}
HOLDING = ("constrained_aba", "prox_pv")
CASES = (
    ("iiwa", ("rnea", "crba", "aba"), (), 3),
    ("iiwa", ("constrained_aba",), ("lbr_iiwa_link_7:3",), None),
    ("four_bar", ("aba", "integrate"), (), 3),
    ("go1", ("aba", "constrained_aba"), ("FL_foot:3", "RR_foot:3"), 3),
    ("tello_humanoid", ("aba", "crba"), (), 3),
    ("solo12", ("constrained_aba", "prox_pv"), FEET, None),
    ("talos", ("rnea", "aba"), (), 3),
)


Case = tuple[str, tuple[str, ...], tuple[str, ...], int | None]


@pytest.mark.skipif(not COMPILERS, reason="no C compiler")
@pytest.mark.parametrize(
    ("case", "dtype"), chosen(lambda case, dtype: dtype == QUICK.get(CASES.index(case)), CASES, [*SCALARS])
)
def test_the_numbers_are_those_of_the_graphs(tmp_path: Path, case: Case, dtype: str) -> None:
    agrees(tmp_path, case, dtype)


@pytest.mark.skipif(not COMPILERS, reason="no C compiler")
@pytest.mark.parametrize("case", [CASES[1], pytest.param(CASES[3], marks=pytest.mark.thorough)])
def test_functions_in_parts_give_the_same(tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LENGTHS", Lengths(150, 150))
    agrees(tmp_path, case, "float64")
    text = (tmp_path / f"{case[0]}.c").read_text()
    assert text.count("static void") > text.count("/* Part 1 of ") > 0


def agrees(tmp_path: Path, case: Case, dtype: str) -> None:
    """The functions of a robot compile strictly and compute what their graphs do."""
    name, algorithms, contacts, iterations = case
    robot, held = codegen.load(name), contacts or None
    asked = {"contacts": held, "iterations": iterations, "dtype": dtype, "backend": "c_portable"}
    codegen.generate(robot, algorithms, tmp_path, **asked)
    strictly(COMPILERS[0], tmp_path, "example.c")
    for compiler in COMPILERS:
        for language in LANGUAGES[1:]:
            compiled(compiler, tmp_path, *language, "-pedantic-errors", *WARNINGS, "-fsyntax-only", f"{name}.c")
    for compiler in COMPILERS[1:]:
        strictly(compiler, tmp_path, f"{name}.c", "example.c")
    functions = library(tmp_path, name)
    for algorithm in algorithms:
        frames = tuple(contact_of(robot, text) for text in contacts) if algorithm in HOLDING else None
        made = pipeline.kernel(Task(robot, algorithm, (), (), (), frames, iterations, dtype))
        for seed in range(3):
            q, v, tau = robot.random(seed)
            arguments = [{"q": q, "v": v, "a": tau, "tau": tau, "dv": v}.get(p.name, 1e-3) for p in made.inputs]
            arguments = [6.0 if p.name == "max_iter" else x for p, x in zip(made.inputs, arguments, strict=True)]
            got, returned = call(functions, f"{name}_{algorithm}", made, arguments, dtype)
            exact = [np.asarray(x, dtype).astype(float) for x in arguments]
            expected = wanted(made, exact)
            for port, x, y in zip(made.outputs, got, expected, strict=True):
                size = np.abs(y).max(initial=1.0)
                assert np.abs(x - y).max(initial=0.0) < (1e-10 if dtype == "float64" else 2e-2) * size, port.name
            assert not made.can_fail or returned == got[-1] == 0


@pytest.mark.skipif(not COMPILERS, reason="no C compiler")
def test_a_singular_state_is_told(tmp_path: Path) -> None:
    """The bars of the parallelogram lie in one line."""
    robot = codegen.load("four_bar")
    codegen.generate(robot, ["aba"], tmp_path, backend="c_portable")
    made = pipeline.kernel(Task(robot, "aba"))
    results, returned = call(library(tmp_path, "four_bar"), "four_bar_aba", made, [[0.0] * 3, [0.0], [0.0]], "float64")
    assert returned == results[-1] == interpret(made.graph, [0.0] * 3, [0.0], [0.0])[-1] == 1


@pytest.mark.parametrize(
    ("name", "algorithm", "iterations", "dtype"),
    [("iiwa", "crba", 3, "float64"), ("four_bar", "aba", 3, "float32"), ("iiwa", "constrained_aba", None, "float32")],
)
def test_the_text_keeps_to_a_few_words(
    tmp_path: Path, name: str, algorithm: str, iterations: int | None, dtype: str
) -> None:
    options: dict[str, Any] = {"iterations": iterations, "dtype": dtype, "backend": "c_portable"}
    paths = codegen.generate(codegen.load(name), [algorithm], tmp_path, **options)
    assert [path.name for path in paths] == [f"{name}.h", f"{name}.c", "CMakeLists.txt", "example.c"]
    for path in (path for path in paths if path.suffix in (".c", ".h")):
        assert max(map(len, path.read_text().splitlines())) <= WIDTH
    code = re.sub(r"/\*.*?\*/", "", (tmp_path / f"{name}.c").read_text(), flags=re.DOTALL)
    assert re.findall(r"^#.*", code, re.MULTILINE) == ["#include <math.h>", f'#include "{name}.h"']
    assert not FORBIDDEN.search(code)
    assert {*re.findall(r"\b(?:double|float)\b", code)} == {SCALARS[dtype].real}
    assert not re.search(r"\bstatic (?!void\b)", code), "static data"
    assert all(function.count("return") <= 1 for function in code.split("\n}\n"))
    computing = code.partition(f"int {name}_abi")[0]
    straight = re.sub(r"\b(for|while) \(.*|int used_ = 1|used_ \+= 1|\[\d+\]", "", computing)
    assert all(len(re.findall(r"(?<![<>!=])=(?!=)", statement)) <= 1 for statement in straight.split(";"))
    assert "++" not in straight
    literals = re.findall(r"(?<![\w.])[\d.]+(?:e[+-]?\d+)?f?", straight)
    assert literals
    assert all("." in literal and literal.endswith("f") is (dtype == "float32") for literal in literals)


def test_values_are_called_after_joints(tmp_path: Path) -> None:
    codegen.generate(codegen.load("iiwa"), ["rnea"], tmp_path, backend="c_portable")
    text = (tmp_path / "iiwa.c").read_text()
    for line in (
        "const double q_lbr_iiwa_joint_2 = q[1];",
        "const double s_lbr_iiwa_joint_2 = sin(q_lbr_iiwa_joint_2);",
        "tau[6] = tau_lbr_iiwa_joint_7;",
        "/* Sines and cosines. */",
        "/* First use of the coordinates of lbr_iiwa_joint_4. */",
    ):
        assert line in text


def test_functions_are_declared_as_by_the_other_backend(tmp_path: Path) -> None:
    options: dict[str, Any] = {"contacts": ["lbr_iiwa_link_7:3"], "dtype": "float32"}
    heads = []
    for name in BACKENDS:
        codegen.generate(codegen.load("iiwa"), ["rnea", "pv"], tmp_path / name, backend=name, **options)
        text = re.sub(r"/\*.*?\*/", "", (tmp_path / name / "iiwa.h").read_text(), flags=re.DOTALL)
        heads.append([" ".join(head.split()) for head in re.findall(r"\w+ iiwa_\w+\([^;]*\);", text)])
    assert heads[0] == heads[1] != []


@pytest.mark.skipif(not COMPILERS, reason="no C compiler")
@pytest.mark.parametrize("longest", [3, 999])
@pytest.mark.parametrize("graph", [turn(), powers()], ids=lambda graph: graph.name)
def test_outputs_may_be_inputs(tmp_path: Path, graph: Graph, longest: int) -> None:
    """In place."""
    written(portable(kernel(graph), longest=longest), tmp_path)
    x = np.zeros(graph.outputs[0].size)
    x[:3] = 1.5, 2.5, 0.3
    expected = interpret(graph, x[:3])[0]
    pointer = ctypes.c_void_p(x.ctypes.data)
    library(tmp_path, "arm")[f"arm_{graph.name}"](pointer, pointer)
    np.testing.assert_allclose(x, expected, rtol=1e-15)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_hostile_names_reach_c_harmlessly(tmp_path: Path, compiler: str) -> None:
    evil = '*/ int evil; /* " \\ ??/ \n#error é'
    info = replace(header(robot=evil, prefix=evil), convention=evil, notes=(evil,), digest=evil)
    info = replace(info, joints=tuple(replace(row, name=evil, type=evil) for row in info.joints))
    taken = ["t0", "w", "k", "int", "sin", "a b", "s0", "q_x", "s_x"]
    ports = (Port("q", (2,), evil), *(Port(name, (1,), evil) for name in taken))
    values = [Value(INPUT, port=k, element=0) for k in range(len(ports))] + [Value(INPUT, port=0, element=1)]
    values += [Value("sin", (0,)), Value("sin", (len(ports),)), Value("add", (1, 2))]
    values += [Value("mul", (len(values) - 2, len(values) - 3))]
    last = len(values) - 1
    graph = Graph("main", ports, (Port(evil, (3,)),), tuple(values), ((last, last - 1, last - 2),))
    files = folder(info, (kernel(graph),), styled(Style()))
    written(files, tmp_path)
    code = "".join(text for name, text in files.items() if name.endswith((".c", ".h")))
    assert "evil;" not in re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL)
    assert all(re.fullmatch(r"[\w.]+", name) for name in files)
    strictly(compiler, tmp_path, *(name for name in files if name.endswith(".c")))


@pytest.mark.skipif(not shutil.which("tcc"), reason="needs tcc")
def test_a_compiler_without_extensions_takes_it(tmp_path: Path) -> None:
    paths = codegen.generate(codegen.load("iiwa"), ["rnea", "aba"], tmp_path, backend="c_portable")
    assert [path.name for path in paths] == ["iiwa.h", "iiwa.c", "CMakeLists.txt", "example.c"]
    compiled("tcc", tmp_path, "-Wall", "-Werror", "example.c", "iiwa.c", "-lm", "-o", "example")
    printed = [float(line.split("=")[1]) for line in output(tmp_path / "example").splitlines()]
    robot = codegen.load("iiwa")
    still = np.zeros(7)
    expected = interpret(codegen.graphs(robot, "rnea")[1], robot.neutral(), still, still)[0]
    np.testing.assert_allclose(printed, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.thorough
@pytest.mark.skipif(not shutil.which("cppcheck"), reason="needs cppcheck")
def test_a_checker_of_misra_rules_finds_nothing_in_the_source(tmp_path: Path) -> None:
    """The header has macros for who includes it, which the source has no use for (rule 2.5)."""
    options: dict[str, Any] = {"iterations": None, "contacts": ["lbr_iiwa_link_7:3"], "backend": "c_portable"}
    codegen.generate(codegen.load("iiwa"), ["crba", "constrained_aba"], tmp_path, **options)
    command = ["cppcheck", "--std=c99", "--addon=misra", "--enable=style", "--quiet", "iiwa.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    if "misra" not in done.stderr:
        pytest.skip("this cppcheck has no rules of MISRA")
    assert {*re.findall(r"^iiwa.*\[(.*)\]$", done.stderr, re.MULTILINE)} == {"misra-c2012-2.5"}


@pytest.mark.skipif(not shutil.which("cmake") or not COMPILERS, reason="needs CMake and a C compiler")
def test_cmake_builds_and_installs_it(tmp_path: Path) -> None:
    written(portable(kernel(PENDULUM)), tmp_path / "arm")
    root = f"-DCMAKE_INSTALL_PREFIX={tmp_path / 'root'}"
    compiled("cmake", tmp_path, "-S", "arm", "-B", "build", "-DCMAKE_INSTALL_LIBDIR=lib", root)
    compiled("cmake", tmp_path, "--build", "build", "--target", "arm_example", "install")
    assert output(tmp_path / "build" / "arm_example").startswith("M[0] =  5")
    assert (tmp_path / "root" / "include" / "arm.h").is_file()
    assert not list((tmp_path / "root").rglob("*.pc"))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_calls_take_no_more_stack_than_the_header_says(tmp_path: Path, compiler: str) -> None:
    codegen.generate(codegen.load("iiwa"), ["rnea", "crba"], tmp_path, backend="c_portable")
    told = dict(re.findall(r"#define IIWA_(\w+)_STACK (\d+)", (tmp_path / "iiwa.h").read_text()))
    compiled(compiler, tmp_path, "-O2", "-w", "-fstack-usage", "-c", "iiwa.c", "-o", "out.o")
    (usage,) = tmp_path.glob("*.su")
    rows = [line.split("\t") for line in usage.read_text().splitlines()]
    frames = {row[0].rpartition(":")[2]: int(row[1]) for row in rows}
    assert len(told) == len(frames) - 2 == 2  # two more tell the library's identity
    assert all(frames[f"iiwa_{name.lower()}"] <= int(size) for name, size in told.items())


def test_what_it_has_not_is_refused(tmp_path: Path) -> None:
    iiwa = codegen.load("iiwa")
    with pytest.raises(RobotError, match="functions of one state only; leave lanes out"):
        codegen.generate(iiwa, ["rnea"], tmp_path / "out", lanes=4, backend="c_portable")
    with pytest.raises(RobotError, match="'fortran': choose one of c, c_portable"):
        codegen.generate(iiwa, ["rnea"], tmp_path / "out", backend="fortran")
    with pytest.raises(RobotError, match=r"example\.c is the example program; choose another prefix"):
        codegen.generate(iiwa, ["crba"], tmp_path / "out", prefix="example", backend="c_portable")
    with pytest.raises(RobotError, match="name at least one"):
        codegen.generate(iiwa, [], tmp_path / "out", backend="c_portable")
    with pytest.raises(RobotError, match="float64"):
        portable(
            kernel(Graph("big", (), (Port("y", ()),), (Value("const", constant=1e300),), ((0,),))), dtype="float32"
        )
    assert not (tmp_path / "out").exists()


def test_a_folder_changes_its_backend(tmp_path: Path) -> None:
    """Whoever compiles arm*.c gets the functions of the latest generation, and no others."""
    other = emit_folder(header(), (kernel(PENDULUM),))
    for made in (other, portable(kernel(PENDULUM)), other):
        write_folder(made, tmp_path)
        sources = {name for name in made if name.endswith(".c")}
        assert {path.name for path in tmp_path.glob("*.c")} == sources


def test_long_lines_go_on_in_the_next() -> None:
    words = " ".join(["word"] * 30)
    text = fitted(
        f" * {words}\n * and so on.\n *   in  x[1]: {words}\n *   out y[1]: y\n/* {words} */\n#define X {words}\n"
    )
    lines = text.split("\n")
    assert [line for line in lines if len(line) > WIDTH] == [f"#define X {words}"]
    assert lines[1].endswith("word and so on.")
    assert lines[3].startswith(" *     word")
    assert lines[4] == " *   out y[1]: y"
    assert lines[6].startswith("   word")
    call = fitted('    print("a, b,  c", ' + ", ".join(["argument"] * 20) + ");")
    assert '("a, b,  c",' in call
    assert all(line.startswith("    ") and len(line) <= WIDTH for line in call.split("\n"))
    assert " ".join(call.split()) == 'print("a, b, c", ' + ", ".join(["argument"] * 20) + ");"
    assert fitted(f"x = {'a' * 60} * {'b' * 60};") == f"x = {'a' * 60} *\n    {'b' * 60};"
