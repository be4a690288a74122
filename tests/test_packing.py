"""Limbs in step: the same numbers in fewer instructions, whatever is taken to be alike."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from compilers import COMPILERS, WARNINGS, compiled, output, written
from graph_cases import header
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import besides, diagonal

import codegen
from codegen import packing
from codegen.emission import statements
from codegen.emission.emit import emit_artifacts, emit_folder
from codegen.emission.flipped import flipped
from codegen.emission.spec import Kernel, Style
from codegen.emission.splitting import Lengths
from codegen.ir.counting import count
from codegen.ir.graph import Graph, Port, Value, verify
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST, INPUT, OPERATIONS
from codegen.model.contacts import contact_of
from codegen.packing import likeness
from codegen.packing.signs import Signs, value
from codegen.passes import depth_first
from codegen.pipeline import kernel
from codegen.task.limb_symmetry import limbs
from codegen.tracing.task import Task

TOGETHER = True  # one process makes what these tests share
ROBOTS = ("go1", "solo12", "talos_reduced", "mini_cheetah", "tello_humanoid")


@cache
def packed(robot: str, algorithm: str, *contacts: str) -> tuple[Graph, packing.Packed]:
    model = codegen.load(robot)
    made = kernel(Task(model, algorithm, contacts=tuple(contact_of(model, text) for text in contacts)))
    assert isinstance(made, Kernel)
    together = made.packed()
    assert together
    return made.graph, together


def same(graph: Graph, other: Graph, tolerance: float = 1e-11, batch: int = 3) -> None:
    """Both compute the same, to rounding (of which a large mu makes more)."""
    rng = np.random.default_rng(5)
    given = [rng.standard_normal((batch, *port.shape)) for port in graph.inputs]
    for expected, got in zip(interpret(graph, *given), interpret(other, *given), strict=True):
        size = np.abs(expected).max(initial=0.0)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=tolerance * size)


def test_long_functions_are_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, _ = packed("go1", "aba")
    ways = limbs(Task(codegen.load("go1"), "aba"))
    assert packing.pack(graph, ways)
    monkeypatch.setattr(packing, "LONG", count(graph).total + 10)
    assert packing.pack(graph, ways, beside=10)
    assert packing.pack(graph, ways, beside=11) is None


@pytest.mark.parametrize(
    ("robot", "algorithm"),
    besides(
        [("go1", "aba"), ("solo12", "rnea"), ("mini_cheetah", "crba")], [*product(ROBOTS, ["aba", "rnea", "crba"])]
    ),
)
def test_packing_changes_no_result(robot: str, algorithm: str) -> None:
    graph, made = packed(robot, algorithm)
    same(graph, verify(made.graph))


@pytest.mark.parametrize("algorithm", besides(["constrained_aba"], ["pv", "constrained_aba", "caba_osim"]))
def test_limbs_with_contacts_go_in_step(algorithm: str) -> None:
    feet = [f"{leg}_foot:3" for leg in ("FL", "FR", "RL", "RR")]
    graph, made = packed("go1", algorithm, *feet)
    same(graph, made.graph, 1e-9)
    assert made.steps < 0.75 * count(graph).total


def test_limbs_that_stand_go_in_step_and_so_do_those_that_do_not() -> None:
    """Two of four legs on the ground: two pairs, not four legs half of whose work differs."""
    model = codegen.load("solo12")
    contacts = tuple(contact_of(model, f"{leg}_FOOT:3") for leg in ("FL", "HR"))
    task = Task(model, "constrained_aba", contacts=contacts)
    made = kernel(task)
    assert isinstance(made, Kernel)
    together = made.packed()
    assert together
    assert {len(pack) for pack in together.packs} == {2}
    assert together.steps < 0.65 * made.count.total
    assert len(limbs(task)) == 2


@pytest.mark.parametrize(
    ("robot", "steps"),
    besides(
        [("go1", (520, 1050))],
        [("go1", (520, 1050)), ("talos_reduced", (2200, 4570)), ("tello_humanoid", (1550, 3210))],
    ),
)
def test_what_limbs_do_is_found_alike(robot: str, steps: tuple[int, int]) -> None:
    """Nearly all operations of limbs are done together; what is left is the trunk's."""
    for algorithm, most in zip(("rnea", "aba"), steps, strict=True):
        graph, made = packed(robot, algorithm)
        assert made.steps <= most, algorithm
        assert count(made.graph).total <= 1.01 * count(graph).total


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("robot", "algorithm", "saved"),
    [("tello_humanoid", "aba", 40), ("talos", "aba", 60)],
)
def test_of_several_alike_those_go_together_that_are_used_alike(
    monkeypatch: pytest.MonkeyPatch, robot: str, algorithm: str, saved: int
) -> None:
    graph, made = packed(robot, algorithm)
    monkeypatch.setattr(likeness, "_facing", lambda members, _: members)
    as_they_come = packing.pack(graph, limbs(Task(codegen.load(robot), algorithm)))
    assert as_they_come
    assert made.steps <= as_they_come.steps - saved


@pytest.mark.thorough
def test_packs_hardly_depend_on_the_order_of_the_graph() -> None:
    """With leftovers by place alone, a sixth fewer packs were found in one of these orders."""
    graph, made = packed("atlas", "rnea_derivatives")
    turned = depth_first(replace(graph, outputs=graph.outputs[::-1], results=graph.results[::-1]))
    other = packing.pack(turned, limbs(Task(codegen.load("atlas"), "rnea_derivatives")))
    assert other
    assert len(other.packs) == pytest.approx(len(made.packs), rel=0.001)


def test_packs_stand_together_and_do_the_same() -> None:
    _, made = packed("go1", "aba")
    for pack in made.packs:
        assert len({made.graph.values[index].op for index in pack}) == 1
        assert all(b == a + 1 for a, b in pairwise(pack))


def test_drafts_differ_in_the_kernel_alone() -> None:
    """What goes in step is found last: the loop over states is compiled meanwhile."""
    model = codegen.load("solo12")
    drafts = list(emit_artifacts(header("dog"), kernel(Task(model, "aba")), Style(lanes=4)))
    first, whole = (dict(artifact.files) for artifact in drafts)
    assert "#if DOG_PACKS" in whole["dog_aba.c"]
    assert "#if DOG_PACKS" not in first["dog_aba.c"]
    assert {name for name, text in whole.items() if text != first[name]} == {"dog.h", "dog_aba.c"}
    assert replace(drafts[0], files=()) == replace(drafts[1], files=())


def test_a_robot_without_like_limbs_is_not_packed() -> None:
    made = kernel(Task(codegen.load("iiwa"), "aba"))
    assert isinstance(made, Kernel)
    assert made.packed() is None


def test_limbs_are_subtrees_of_one_shape_on_one_body() -> None:
    (roles,) = limbs(Task(codegen.load("go1"), "rnea"))
    knees = [roles["q", 7 + 3 * leg + 2] for leg in range(4)]
    assert {role for *_, role in knees} == {knees[0][2]}
    assert sorted(limb for _, limb, _ in knees) == [0, 1, 2, 3]
    assert ("q", 0) not in roles


NAMES = ("add", "sub", "mul", "add", "sub", "mul", "fmax", "neg", "sq", "twice", "sin", "cos", "fabs")


@st.composite
def any_graph(draw: st.DrawFn) -> Graph:
    """Any operations on eight inputs."""
    values = [Value(INPUT, port=0, element=k) for k in range(8)]
    values += [Value(CONST, constant=number) for number in (1.5, -0.25, 2.0)]
    for _ in range(draw(st.integers(5, 40))):
        places = st.integers(0, len(values) - 1)
        name = draw(st.sampled_from(NAMES))
        arguments = tuple(draw(places) for _ in range(OPERATIONS[name].arity))
        if any(values[place].op != CONST for place in arguments):
            values.append(Value(name, arguments))
    results = draw(st.lists(st.integers(8, len(values) - 1), min_size=4, max_size=12))
    return verify(Graph("any", (Port("x", (8,)),), (Port("y", (len(results),)),), tuple(values), (tuple(results),)))


@settings(deadline=None, max_examples=200)
@given(
    any_graph(), st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 2)), min_size=8, max_size=8)
)
def test_whatever_is_called_alike_the_results_stay(graph: Graph, given: list[tuple[int, int, int]]) -> None:
    roles = {("x", k): role for k, role in enumerate(given)}
    made = packing.pack(graph, [roles], worth=1e9)
    if made is not None:
        same(graph, verify(made.graph))


def test_sums_of_any_length() -> None:
    """Five thousand terms of either limb, one sum inside the other."""
    size = 5000
    values = [Value(INPUT, port=0, element=k) for k in range(2 * size)]
    ends = []
    for limb in range(2):
        total = limb * size
        for k in range(1, size):
            values.append(Value("sub" if (k + limb) % 3 else "add", (total, limb * size + k)))
            total = len(values) - 1
        ends.append(total)
    graph = verify(Graph("long", (Port("x", (2, size)),), (Port("y", (2,)),), tuple(values), (tuple(ends),)))
    made = packing.pack(graph, [{("x", k): (0, k // size, k % size) for k in range(2 * size)}], worth=2.0)
    assert made
    assert len(made.packs) == size - 1
    same(graph, verify(made.graph))


@given(st.lists(st.integers(0, 2**9 - 1), max_size=20))
def test_signs_satisfy_every_equation_that_was_accepted(forms: list[int]) -> None:
    signs = Signs()
    for _ in range(8):
        signs.unknown()
    accepted = [form for form in forms if signs.vanish(form)]
    solution = signs.solution()
    assert all(value(form, solution) == 0 for form in accepted)
    refused = [form for form in forms if form not in accepted]
    assert all(value(form, solution) == 1 for form in refused)


def test_operators_in_the_packed_text_are_those_of_its_graph() -> None:
    _, made = packed("solo12", "aba")
    text = emit_folder(header(), (kernel(Task(codegen.load("solo12"), "aba")),), Style())["arm_aba.c"]
    counted = dict.fromkeys(("add", "mul", "div"), 0)
    for width, expression in re.findall(r"const (P\d|T) t\d+ = (.*);", text.partition("#if ARM_PACKS")[2]):
        plain = re.sub(r"\(P\d\)\{[^}]*\}|\(-[^()]*\)|\*\([^()]*\*\)&[\w\[\]]*|\d+e-\d+", "c", expression)
        many = 1 if width == "T" else int(width[1])
        counted["add"] += many * (plain.count("+") + plain.count("-"))
        counted["mul"] += many * plain.count("*")
        counted["div"] += many * plain.count("/")
    found = count(made.graph)
    assert counted == {"add": found.add, "mul": found.mul, "div": found.div}


def calls(made: Kernel, real: str) -> str:
    """A program that prints all results of five calls, the floating base turned differently at each."""
    given, taken = made.graph.inputs, made.graph.outputs
    arrays = [f"{real} {port.name}[{port.size}];" for port in (*given, *taken)]
    fill = [
        f"for (int k = 0; k < {port.size}; ++k) {port.name}[k] = ({real})sin({seed}.0 + {seed}*k + 7*i);"
        for seed, port in enumerate(given, 1)
    ]
    show = [f'for (int k = 0; k < {port.size}; ++k) printf("%.17g\\n", (double){port.name}[k]);' for port in taken]
    names, newline = ", ".join(port.name for port in (*given, *taken)), "\n"
    return f"""#include <stdio.h>
#include <math.h>
#include "arm.h"
int main(void)
{{
    {" ".join(arrays)}
    for (int i = 0; i < 5; ++i) {{
{newline.join(fill)}
        const {real} n = ({real})sqrt((double)(q[3]*q[3] + q[4]*q[4] + q[5]*q[5] + q[6]*q[6]));
        for (int k = 3; k < 7; ++k) q[k] /= n;
        arm_{made.graph.name}({names});
{newline.join(show)}
    }}
    return 0;
}}
"""


@pytest.mark.parametrize(
    ("compiler", "dtype", "longest", "robot", "algorithm"),
    diagonal(COMPILERS, ["float64", "float32"], [200, 10_000], ["solo12", "talos_reduced"], ["crba", "aba"]),
)
def test_packed_and_plain_code_agree(
    tmp_path: Path, compiler: str, dtype: str, longest: int, robot: str, algorithm: str
) -> None:
    """Compiled with all warnings as errors, in parts and whole, with limbs that are mirror images too."""
    made = kernel(Task(codegen.load(robot), algorithm))
    assert isinstance(made, Kernel)
    program, source = calls(made, "double" if dtype == "float64" else "float"), f"arm_{algorithm}.c"
    results, style = [], Style(dtype, lengths=Lengths(longest, longest))
    alone = replace(style, small_vectors=True)
    for name, flags, own in (("plain", ["-DARM_PLAIN"], style), ("packed", [], style), ("alone", [], alone)):
        files = emit_folder(header(), (made,), own)
        assert ("#if ARM_PACKS" in files[source]) == (own == style)
        folder = written(files | {"main.c": program}, tmp_path / name)
        options = ["-std=c99", "-O1", *WARNINGS, *flags]
        compiled(compiler, folder, *options, "main.c", source, "-o", "main", "-lm")
        results.append(np.array(output(folder / "main").split(), float))
    plain, together, alone_too = results
    assert len(plain) == 5 * sum(port.size for port in made.graph.outputs)
    assert (alone_too == together).all()
    scale = np.abs(plain).max()
    np.testing.assert_allclose(together, plain, rtol=0, atol=scale * (1e-12 if dtype == "float64" else 2e-4))


@pytest.mark.parametrize("algorithm", besides(["crba"], ["crba", "aba", "rnea_derivatives"]))
def test_signs_of_mirrored_limbs_are_flipped_together(monkeypatch: pytest.MonkeyPatch, algorithm: str) -> None:
    """One vector of both signs in the place of values taken out, negated and put together again; the results stay."""
    _, made = packed("talos_reduced", algorithm)
    found = flipped(made.graph, made.packs)
    assert found
    for members, own in found.items():
        assert members == own.members
        assert own.pack in made.packs
        for member, of, sign in zip(members, own.pack, own.signs.split(", "), strict=True):
            assert (sign == "-0.0") == (member != of)
            assert member == of or made.graph.values[member] == Value("neg", (of,))
    task = Task(codegen.load("talos_reduced"), algorithm)
    text = emit_folder(header(), (kernel(task),), Style())[f"arm_{algorithm}.c"]
    monkeypatch.setattr(statements, "flipped", lambda *_: {})
    before = emit_folder(header(), (kernel(task),), Style())[f"arm_{algorithm}.c"]
    assert "P2_SIGNED(" not in before
    assert text.count("P2_SIGNED(") >= len(found)  # parts that need one each make it
    gathered = [len(re.findall(r"\bg\d+ ?= ?{", c)) for c in (text, before)]
    assert gathered[0] < gathered[1]


@pytest.mark.parametrize("place", [1, 2])
def test_an_output_may_lie_where_an_input_lies(place: int) -> None:
    """Inputs are gathered into vectors before the first output is stored."""
    robot = codegen.load("solo12")
    function, state = codegen.build(robot, "aba"), list(robot.random(3))
    expected = function(*state)
    state[place] = state[place].copy()
    assert np.array_equal(function(*state, out=state[place]), expected)


def test_sines_of_a_pack_come_after_the_angles_of_all_its_members() -> None:
    """One limb's angle is made of inputs, the other's of another sine."""
    one, minus = Value("add", (0, 0)), Value("neg", (0,))
    values = (
        *(Value(INPUT, port=0, element=k) for k in range(8)),
        *(Value(CONST, constant=number) for number in (1.5, -0.25, 2.0)),
        *(one, minus, Value("sin", (3,)), *[one] * 4, Value("add", (8, 13)), one, minus, one, one, minus, minus),
        *(one, one, minus, minus, Value("sin", (18,)), one, one, minus, one, Value("sin", (14,))),
    )
    graph = verify(Graph("any", (Port("x", (8,)),), (Port("y", (4,)),), values, ((8, 8, 8, 8),)))
    made = packing.pack(graph, [{("x", k): (0, int(k == 3), 0) for k in range(8)}], worth=1e9)
    assert made
    assert made.packs
    same(graph, verify(made.graph))
