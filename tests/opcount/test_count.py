"""Counts and their tables: against a count done by hand, and against each other."""

from __future__ import annotations

import json

import pytest

import codegen
import opcount
from codegen import api
from codegen.ir.counting import count
from opcount.count import counts
from opcount.tables import by_class, totals

PENDULUM = """<robot name="pendulum">
  <link name="base"/>
  <link name="bob"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
    <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="pivot" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint>
</robot>
"""


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> codegen.Model:
    path = tmp_path_factory.mktemp("pendulum") / "pendulum.urdf"
    path.write_text(PENDULUM)
    return codegen.load(str(path))


def test_a_pendulum_costs_what_a_hand_count_says(pendulum: codegen.Model) -> None:
    # tau = m l^2 a + m g l sin q: one sine, two products, one sum; M = m l^2 is a constant
    assert opcount.count(pendulum, "rnea") == opcount.Count(add=1, mul=2, sin=1)
    assert opcount.count(pendulum, "crba").total == 0
    # a = (tau - m g l sin q) / (m l^2), with the reciprocal of a constant folded
    assert opcount.count(pendulum, "aba") == opcount.Count(add=1, mul=2, sin=1)


def test_tiers_are_labelled_and_the_passes_save() -> None:
    written = opcount.count("solo12", "aba", tier="written")
    emitted = opcount.count("solo12", "aba")
    assert emitted == opcount.count("solo12", "aba", tier="emitted")
    assert emitted.total < written.total
    # 12 angles, each used as sine and cosine
    assert (emitted.sin, emitted.cos) == (12, 12)
    with pytest.raises(ValueError, match="written, emitted"):
        opcount.count("solo12", "aba", tier="compiled")  # type: ignore[arg-type]


def test_the_count_as_emitted_is_that_of_the_compiled_function() -> None:
    function = codegen.build(codegen.load("iiwa"), "crba")
    assert function.count == opcount.count("iiwa", "crba")
    assert function.count_written == opcount.count("iiwa", "crba", tier="written")


@pytest.mark.parametrize("name", ["minverse", "aba_derivatives"])
def test_counts_of_loops_are_those_of_their_straight_line_code(name: str) -> None:
    model = codegen.load("go1")
    assert tuple(counts(model, name).values()) == tuple(map(count, api.graphs(model, name)))


def test_tables_show_the_counts(pendulum: codegen.Model) -> None:
    rows = json.loads(by_class(["iiwa"], ["crba", "rnea"]).json())
    assert [(row["algorithm"], row["tier"]) for row in rows] == [
        ("crba", "published"),
        ("crba", "written"),
        ("crba", "emitted"),
        ("rnea", "published"),
        ("rnea", "written"),
        ("rnea", "emitted"),
    ]
    crba = opcount.count("iiwa", "crba")
    assert (rows[2]["add"], rows[2]["mul"], rows[2]["total"]) == (crba.add, crba.mul, crba.total)
    table = totals(["iiwa", "panda"], ["crba"])
    assert table.header == ("as emitted", "crba")
    assert table.rows[0] == ("iiwa", crba.total)
    assert table.markdown().startswith("| as emitted | crba |\n| ---------- | ---: |\n| iiwa")
