"""Breakdowns: their parts add up to the counts, labels change no graph, and phases are those that papers name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from thorough import besides, chosen

import codegen
import opcount
from codegen import api
from codegen.__main__ import main
from codegen.algorithms import ALGORITHMS
from codegen.errors import RobotError
from codegen.ir.counting import count
from codegen.ir.products import straight_line
from codegen.passes import run
from codegen.task.breakdown import BY, breakdown, labelled
from codegen.tracing.phases import INERTIA, ORDER, REST, TRANSFORMS
from codegen.tracing.provenance import recorded
from codegen.tracing.statements import statement
from opcount.breakdown import breakdowns
from opcount.count import tiers_of
from opcount.studies.measured import PAPER

if TYPE_CHECKING:
    from pathlib import Path

SMALL, STANDING = "chain:3,alternate", {"contacts": ["left_sole_link:6", "right_sole_link:6"]}
QUICK = ("fk", "rnea", "aba", "ltl", "minverse", "pv", "pv_early", "prox_pv", "constrained_aba", "prox_ltl", "prox_kkt")
LARGE = "solo12", "tello_humanoid"
ALIKE = tuple(
    name
    for name, own in ALGORITHMS.items()
    if own.group in ("derivatives", "steps")
    and name.startswith(tuple(f"{held}_" for held, of in ALGORITHMS.items() if of.group == "constrained"))
    and not name.startswith(("pv_derivatives", "prox_pv_derivatives"))
)
"""Derivatives and steps that constrained algorithms take from one place: small robots have all, large ones two."""
CASES = [
    case
    for robots, names in (
        ((SMALL, "four_bar"), ALGORITHMS),
        (LARGE, [name for name in ALGORITHMS if name not in ALIKE]),
    )
    for case in chosen(
        lambda robot, name: robot == SMALL and (name in QUICK or ALGORITHMS[name].group == "delassus"), robots, names
    )
]
ONE_POINT = [name for name in ALGORITHMS if name.startswith("nsgs")]
"""Of many points of large robots these have millions of values, whose graphs fill 10 GB."""
NAMED = 0.95
"""The least part of all operations that belongs to a phase with a name."""


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_the_parts_are_those_of_the_graphs_as_they_are_without_labels(robot: str, name: str) -> None:
    model = codegen.load(robot)
    contacts = [f"{model.tips[-1]}:3:friction=0.7"] if name in ONE_POINT and robot in LARGE else None
    for tier in tiers_of(name):
        try:
            plain = api.graphs(model, name, tier=tier, contacts=contacts)
        except RobotError:
            continue
        task = api.task(model, name, tier=tier, contacts=contacts)
        written, emitted, origins = labelled(task)
        for graph, own in ((straight_line(written), plain[0]), (straight_line(emitted), plain[1])):
            assert (graph.values, graph.results, graph.outputs) == (own.values, own.results, own.outputs)
            assert len(graph.labels) == len(graph.values)
            assert {*graph.labels} <= {*range(len(origins))}
        for own_tier, parts in breakdown(task).items():
            total = count(plain[own_tier == "emitted"])
            assert parts.count == total
            assert [sum(row[-1] for row in parts.by(by).values()) for by in BY] == [total.total] * len(BY)
            other = sum(own.total for origin, own in parts.parts.items() if origin.phase == REST)
            assert other <= (1 - NAMED) * total.total or name.endswith("_derivatives")


@pytest.mark.parametrize("scenario", besides(["go1 F3 x1"], PAPER))
def test_papers_phases_are_the_operations_of_the_algorithms_that_they_name(scenario: str) -> None:
    # CasADi simplifies the last products of M together with what takes them: a few operations in a hundred
    held = PAPER[scenario]
    model = held.model()
    alone = breakdowns(model, "crba")["published"].by("phase")
    for name in ("prox_ltl", "prox_kkt", "ltl_osim"):  # that of prox_ltls is of stiffened inertias
        phases = breakdown(api.task(model, name, **held.options, tier="published"))["published"].by("phase")
        assert phases[INERTIA][-1] == pytest.approx(alone[INERTIA][-1], rel=0.03)
        assert phases[TRANSFORMS][-1] >= alone[TRANSFORMS][-1]
    assert sum(row[-1] for row in alone.values()) == opcount.count(model, "crba", tier="published").total


def test_limbs_that_are_alike_take_alike_operations() -> None:
    bodies = breakdowns(codegen.load("go1"), "aba")["published"].by("body")
    for part in ("thigh", "calf"):
        assert len({bodies[f"{leg}_{part}"][-1] for leg in ("FR", "FL", "RR", "RL")}) == 1


def test_tables_have_phases_in_order_and_add_up() -> None:
    table = opcount.breakdown("iiwa", "aba")
    assert table.header[:4] == ("robot", "algorithm", "tier", "phase")
    for tier in tiers_of("aba"):
        rows = [row for row in table.rows if row[2] == tier]
        assert [row[3] for row in rows] == sorted((row[3] for row in rows), key=ORDER.index)
        assert sum(int(row[-2] or 0) for row in rows) == opcount.count("iiwa", "aba", tier=tier).total
    with pytest.raises(ValueError, match="phase, body, class"):
        opcount.breakdown("iiwa", "aba", "joint")  # type: ignore[arg-type]


def test_the_command_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["count", "iiwa", "-a", "crba", "--by", "phase", "--tier", "published", "--csv"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header == "robot,algorithm,tier,phase,add,mul,div,sqrt,sin,cos,other,total,percent"
    assert [row.split(",")[3] for row in rows] == [TRANSFORMS, INERTIA]


def test_sections_of_the_c_are_the_phases_and_change_no_statement(tmp_path: Path) -> None:
    model = codegen.load("iiwa")
    codegen.generate(model, ["aba"], tmp_path / "plain")
    codegen.generate(model, ["aba"], tmp_path / "sections", sections=True)
    plain, sections = ((tmp_path / name / "iiwa_aba.c").read_text() for name in ("plain", "sections"))
    found = {line.strip() for line in sections.splitlines()} - {line.strip() for line in plain.splitlines()}
    emitted = breakdown(api.task(model, "aba"))["emitted"].by("phase")
    assert found == {f"/* {phase} */" for phase in emitted}
    assert [line for line in sections.splitlines() if line.strip() not in found] == plain.splitlines()


def test_labels_are_kept_by_passes_that_make_values() -> None:
    written, _, _ = labelled(api.task(codegen.load("iiwa"), "minverse"))
    emitted = run(written)
    assert {*emitted.labels} <= {*written.labels}
    assert run(emitted).labels
    assert not run(api.graphs(codegen.load("iiwa"), "minverse")[0]).labels


def test_statements_are_found_by_their_lines() -> None:
    first = api.graphs.__code__.co_firstlineno
    assert statement(api.__file__, first).names == ()
    code = ALGORITHMS["aba"].run.__code__
    named = [statement(code.co_filename, line) for line in range(code.co_firstlineno, code.co_firstlineno + 40)]
    assert ("i", "tree.inwards") in {loop for one in named for loop in one.loops}
    assert {"IA", "pA", "u", "joint"} <= {name for one in named for name in one.names}


def test_operators_are_as_before_once_a_record_is_over() -> None:
    from casadi import SX

    before = dict(vars(SX))
    with recorded() as record:
        SX.sym("x") + 1
    assert repr(record) == "<Record of 1 results from 1 places>"
    assert dict(vars(SX)) == before
