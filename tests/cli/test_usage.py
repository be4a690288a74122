"""Help, usage errors, and what is said of robots, names and files that are not there or broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codegen.cli import COMMANDS

if TYPE_CHECKING:
    from command_line import Run


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_examples(rigidc: Run, command: str) -> None:
    text = rigidc(command, "--help")
    examples = text.partition("examples:\n")[2].strip().splitlines()
    assert 2 <= len(examples) <= 3
    assert all("rigidc " + command in line for line in examples)
    assert max(map(len, text.splitlines())) <= 100


def test_help_on_contacts_names_all_that_their_texts_say(rigidc: Run) -> None:
    assert "FRAME[:ROWS][:in=AXES][:kp=N][:kd=N][:friction=N][:spatial]" in rigidc("generate", "--help")


def test_the_overview_names_every_command(rigidc: Run) -> None:
    text = rigidc("--help")
    assert all(f"\n    {command} " in text for command in COMMANDS)


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["fly"],
        ["check"],
        ["check", "iiwa", "-n", "0"],
        ["check", "iiwa", "-n", "many"],
        ["check", "iiwa", "--seed", "-1"],
        ["bench", "iiwa", "--seconds", "nan"],
        ["info", "iiwa", "--fixed", "--floating"],
        ["info", "iiwa", "--convention", "drake"],
        ["generate", "iiwa", "-o", "somewhere"],
        ["count", "iiwa", "--json", "--csv"],
        ["robots", "--unknown"],
    ],
)
def test_bad_usage_is_one_sentence_and_two(rigidc: Run, argv: list[str]) -> None:
    assert "--help" in rigidc(*argv, code=2)


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (["info", "iwa"], "iiwa"),
        (["info", "no/such/file.urdf"], "no/such/file.urdf"),
        (["info", "/dev/null"], "/dev/null"),
        (["info", "chain:-3"], "chain"),
        (["count", "iiwa", "-a", "abba"], "abba"),
        (["count", "iiwa", "-a", ""], "rnea"),
        (["count", "iiwa", "-a", "fk", "--frame", "nose"], "nose"),
        (["count", "iiwa", "-a", "aba", "--external", "nose"], "nose"),
        (["count", "iiwa", "-a", "aba", "--parameter", "luck"], "luck"),
        (["count", "iiwa", "-a", "aba", "--parameter", "offset:nose"], "nose"),
        (["info", "iiwa", "--with-frame", "tool=nose:0,0,1"], "nose"),
        (["info", "iiwa", "--with-frame", "tool=lbr_iiwa_link_7"], "NAME=FRAME:X,Y,Z"),
        (["info", "iiwa", "--with-frame", "tool=lbr_iiwa_link_7:0,0,nan"], "NAME=FRAME:X,Y,Z"),
        (["info", "iiwa", "--with-frame", "tool=lbr_iiwa_link_7:0,0,1e999"], "finite"),
        (["info", "iiwa", "--with-frame", "lbr_iiwa_link_7=lbr_iiwa_link_6:0,0,1"], "lbr_iiwa_link_7"),
    ],
)
def test_what_does_not_exist_is_named_in_one_sentence(rigidc: Run, argv: list[str], named: str) -> None:
    assert named in rigidc(*argv, code=2)
