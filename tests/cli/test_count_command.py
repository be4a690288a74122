"""rigidc count, and the options that reach the generator."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

import codegen
from codegen.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Run


def test_count_agrees_with_itself_in_every_form(rigidc: Run) -> None:
    argv = ["count", "iiwa", "chain:3", "-a", "rnea,aba", "-a", "rnea"]
    rows = json.loads(rigidc(*argv, "--json"))
    assert [(row["robot"], row["algorithm"]) for row in rows[::2]] == [
        (codegen.load(robot).name, name) for robot in ("iiwa", "chain:3") for name in ("rnea", "aba")
    ]
    assert {row["tier"] for row in rows} == {"written", "emitted"}
    kinds = ("add", "mul", "div", "sqrt", "sin", "cos", "other")
    assert all(row["total"] == sum(row[kind] for kind in kinds) > 0 for row in rows)
    # gravity does not see a turn about the vertical first axis, and the last link is symmetric about its own; the
    # other five joints need sine and cosine
    assert {(row["sin"], row["cos"]) for row in rows if row["robot"] == "iiwa"} == {(5, 5)}
    rnea = [row for row in rows if row["algorithm"] == "rnea"]
    assert all(emitted["total"] <= written["total"] for written, emitted in zip(rnea[::2], rnea[1::2], strict=True))
    as_csv = list(csv.DictReader(io.StringIO(rigidc(*argv, "--csv"))))
    assert [{key: str(value) for key, value in row.items()} for row in rows] == as_csv
    text = rigidc(*argv)
    assert all(f"{row['total']:,}" in text for row in rows)


def test_a_group_is_all_algorithms_of_a_kind(rigidc: Run) -> None:
    contact = ("--contact", "lbr_iiwa_link_7:3")
    rows = json.loads(rigidc("count", "iiwa", *contact, "--group", "delassus", "-a", "crba", "--json"))
    delassus = [name for name, entry in codegen.ALGORITHMS.items() if entry.group == "delassus"]
    assert [row["algorithm"] for row in rows[::2]] == ["crba", *delassus]
    one, five = (
        json.loads(rigidc("count", "iiwa", *contact, "-a", "constrained_aba", "--iterations", n, "--json"))[1]["total"]
        for n in ("1", "5")
    )
    assert one < five


@pytest.mark.parametrize(
    "command", [("count",), ("count", "--without", "link_axes"), ("generate", "-o", "{}/c", "--force")]
)
def test_auto_takes_the_options_of_every_command(rigidc: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    name, *options = (word.format(tmp_path) for word in command)
    assert "ltl" in rigidc(name, "chain:2", "-a", "auto", *options)


@pytest.mark.thorough
def test_auto_is_named_as_what_it_took(rigidc: Run, tmp_path: Path) -> None:
    contact = ("--contact", "lbr_iiwa_link_7:3")
    taken = codegen.auto(codegen.load("iiwa"), contacts=contact[1:]).algorithm
    counted = json.loads(rigidc("count", "iiwa", "chain:3", "-a", "auto,aba,auto", "--json"))
    free = codegen.auto(codegen.load("chain:3")).algorithm
    assert [row["algorithm"] for row in counted[::2]] == ["aba", *dict.fromkeys((free, "aba"))]
    counted = json.loads(rigidc("count", "iiwa", *contact, "-a", "auto", "--json"))
    assert [row["algorithm"] for row in counted] == [taken] * 2
    assert taken in rigidc("check", "iiwa", *contact, "-a", "auto", "-n", "2", "--iterations", "3")
    rigidc("generate", "iiwa", *contact, "-a", "crba,auto", "-o", tmp_path)
    assert {path.stem for path in tmp_path.glob("iiwa_*.c")} == {"iiwa_crba", f"iiwa_{taken}", "iiwa_identity"}
    rigidc("generate", "iiwa", *contact, "-a", "auto", "--iterations", "none", "-o", tmp_path / "open")
    assert "max_iter" in (tmp_path / "open" / "iiwa.h").read_text()
    assert "no constrained algorithm has the inputs k" in rigidc(
        "count", "iiwa", "-a", "auto", "--parameter", "k", code=2
    )


def test_build_options_reach_the_generator(rigidc: Run) -> None:
    def total(*extra: str) -> int:
        rows: list[dict[str, Any]] = json.loads(rigidc("count", "iiwa", "-a", "rnea", "--json", *extra))
        return int(rows[1]["total"])

    tip = codegen.load("iiwa").tips[0]
    assert total("--external", tip) > total()
    assert total("--parameter", f"payload:{tip}") > total()
    assert total("--floating") > total()


def test_what_does_not_suit_a_robot_is_left_out_unless_it_is_named(
    rigidc: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    baselines = {name for name, entry in codegen.ALGORITHMS.items() if entry.group == "loops"}
    unsuited = [f"approximate_{name}" for name in ("rnea", "aba", "efpa")]
    assert main(["count", "four_bar", "--group", "loops", "--json"]) == 0
    out, err = capsys.readouterr()
    assert {row["algorithm"] for row in json.loads(out)} == baselines - set(unsuited)
    assert [line.split(" is left out: ")[0] for line in err.splitlines()] == [f"rigidc: {name}" for name in unsuited]
    assert main(["generate", "four_bar", "--group", "loops", "-o", str(tmp_path / "out")]) == 0
    assert "approximate" not in capsys.readouterr().out
    assert "no constant gear ratios" in rigidc("count", "four_bar", "-a", "approximate_aba", code=2)
