"""README.md and the guide: their code runs and prints what stands there; links, names and numbers are right."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from guide_pages import FILES, PAGES, ROOT, anchors, blocks, links, spans
from thorough import besides

from codegen import limits
from codegen.__main__ import main, parser
from codegen.algorithms import ALGORITHMS
from opcount.baseline import read
from opcount.bench import chart

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ("README", "getting-started", "robots", "algorithms", "how-a-robot-becomes-c")
NOT_RUN = ("make", "pip")  # they install things
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

PEERS = {"acados": "acados_template", "crocoddyl": "crocoddyl", "torch": "torch"}
"""Pages, and what of theirs is no part of the tests' environment."""

APART = ("acados", "jax", "torch")
"""Pages in a process of their own: peers start threads, beside which processes must not fork, or warn of themselves."""


def outputs_apart(page: str, folder: Path) -> list[str]:
    """What the blocks of a page print in a process of their own, in this folder."""
    end = "-- end of a block --"
    code = "".join(f"{block.code}\nprint({end!r})\n" for block in blocks(page, "python"))
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split(f"{end}\n")[:-1]


def of(language: str) -> list[object]:
    """The pages with such blocks; the quick tests run those that build little."""
    pages = [page for page in PAGES if blocks(page, language)]
    return besides([page for page in QUICK if page in pages], pages)


@pytest.mark.parametrize("page", of("python"))
def test_python_runs_in_order(page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if page in PEERS and importlib.util.find_spec(PEERS[page]) is None:
        pytest.skip(f"{PEERS[page]} is not installed")
    if page in APART:
        assert outputs_apart(page, tmp_path) == [block.output for block in blocks(page, "python")]
        return
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(block.code, names)
        assert block.output in (None, capsys.readouterr().out)


@pytest.mark.parametrize("page", of("sh"))
def test_command_lines_run_in_order(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks(page, "sh"):
        for line in block.code.splitlines():
            run(line, monkeypatch)
        assert block.output in (None, capsys.readouterr().out)


def run(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One command line, `rigidc` in this process; what it prints goes to the standard output."""
    word, *others = shlex.split(line, comments=True)
    if word == "rigidc":
        assert main(others) == 0
    elif word == "cd":
        monkeypatch.chdir(*others)
    elif word not in NOT_RUN:
        if shutil.which(word) is None:
            pytest.skip(f"there is no {word} here")
        print(subprocess.run(line, shell=True, check=True, capture_output=True, text=True).stdout, end="")


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_the_text_and_their_options_exist(page: str) -> None:
    for span in spans(page):
        if re.match(r"make [a-z]", span):
            assert span.split()[1] in TARGETS, span
        elif re.match(r"rigidc [a-z]+ \S", span):
            assert parser().parse_args(shlex.split(span)[1:]).run, span


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for link in links(page):
        target, _, anchor = link.partition("#")
        path = (FILES[page].parent / target).resolve() if target else FILES[page].resolve()
        assert path.is_file(), link
        assert not anchor or anchor in anchors(path.stem), link


def test_readme_is_a_page_and_the_guide_leaves_no_page_out() -> None:
    assert len(PAGES["README"].splitlines()) <= 150
    assert sorted(links("index")) == sorted(f"{name}.md" for name in PAGES if name not in ("README", "index"))


def test_every_algorithm_is_in_the_guide() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \|", PAGES["algorithms"].split("## Options")[0], re.MULTILINE)
    named = {name: inputs for name, inputs in rows if name in ALGORITHMS}
    assert list(named) == [name for name, algorithm in ALGORITHMS.items() if algorithm.group == "common"]
    mentioned = {span for page in PAGES for span in spans(page)}
    assert {*ALGORITHMS} <= mentioned


ON_CONTACTS = ("constrained", "frictional", "delassus", "damped")
HELD = {name: entry for name, entry in ALGORITHMS.items() if entry.group in ON_CONTACTS}


def test_inputs_of_algorithms_with_contacts_are_those_of_the_registry() -> None:
    rows = re.findall(r"^\| (`.+`) \| (q.*?) \| (?:a|W|Winv|x)\b", PAGES["contacts"], re.MULTILINE)
    stated = {name: re.findall(r"\w+", inputs) for names, inputs in rows for name in re.findall(r"`(\w+)`", names)}
    asked = {name: ["tol", "max_iter"] if entry.iterates else [] for name, entry in HELD.items()}
    assert stated == {name: [*entry.inputs, *asked[name]] for name, entry in HELD.items()}


def test_roles_of_algorithms_with_contacts_are_those_of_the_registry() -> None:
    table = PAGES["choosing-an-algorithm"].split("## Which one to take")[1].split("##")[0]
    rows = {
        words: re.findall(r"`(\w+)`", names) for names, words in re.findall(r"^\| (`.+?) \|(.+)", table, re.MULTILINE)
    }
    assert {name for names in rows.values() for name in names} == {*HELD}
    (published,) = (names for words, names in rows.items() if "published" in words)
    assert not any(HELD[name].competes for name in published)
    (dependent,) = re.findall(r"linearly dependent contact rows in (.+?) and `lagrange_fd`", PAGES["algorithms"])
    assert re.findall(r"`(\w+)`", dependent) == [name for name, entry in HELD.items() if entry.independent]


def test_the_counts_of_the_readme_are_those_of_the_baseline() -> None:
    counts, table = read(), PAGES["README"].split("## Counts")[1]
    rows = re.findall(r"^\| `(\w+)` \(\d+\) \| (.+?) \|$", table, re.MULTILINE)
    assert [name for name, _ in rows] == ["iiwa", "solo12", "talos"]
    for robot, entries in rows:
        for algorithm, entry in zip(("rnea", "crba", "aba"), entries.split(" | "), strict=True):
            written, emitted = (counts[robot, algorithm, stage]["total"] for stage in ("written", "emitted"))
            assert entry == f"{written:,} / {emitted:,}"


def test_the_counts_of_published_algorithms_are_those_of_the_baseline() -> None:
    counts, page = read(), PAGES["choosing-an-algorithm"].split("## The published algorithms in joint space")[1]
    first, _, *rows = [line[2:-2].split(" | ") for line in page.splitlines() if line.startswith("| ")]
    assert len(rows) == 3
    for robot, *entries in rows:
        for names, entry in zip(first[1:], entries, strict=True):
            emitted = (counts[robot, name, "emitted"]["total"] for name in re.findall(r"`(\w+)`", names))
            assert entry == " / ".join(f"{total:,}" for total in emitted)


def test_the_chart_is_that_of_the_table() -> None:
    assert chart.PICTURE.read_text(encoding="utf-8") == chart.drawn(chart.factors(PAGES["speed"]))


def test_the_limits_are_those_of_the_readers() -> None:
    table = PAGES["robots"].split("## Limits of files")[1]
    numbers = (limits.MOST_LINKS, limits.MOST_JOINTS, limits.MOST_LOOPS, limits.MOST_TIED, limits.MOST_CLOSED)
    more = (limits.LONGEST_FORMULA, limits.LONGEST_NAME, limits.DEEPEST, limits.MOST_ELEMENTS, limits.MOST_COPIES)
    for number in (*numbers, *more, limits.MOST_FILES):
        assert f"{number:,}" in table
    assert f"{limits.LARGEST_FILE // 2**20} MiB, " in table


@pytest.mark.thorough
def test_the_documentation_builds_without_a_warning(tmp_path: Path) -> None:
    """As `make docs` builds it; broken links are warnings."""
    for name in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(name, reason="the extra [docs] is not installed")
    options = ("--fail-on-warning", "--keep-going", "--quiet", "-c", ".docs", "codegen/guide")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, tmp_path], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert 'id="codegen.build"' in (tmp_path / "api.html").read_text(encoding="utf-8")
