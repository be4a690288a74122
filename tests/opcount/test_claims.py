"""The papers' claims: complete records, quotes that stand in the texts, and the verdicts that are committed."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from guide_pages import PAGES, ROOT

from codegen.tracing.task import TIERS
from opcount.claims import CLAIMS, PAPERS, claim, quantities
from opcount.claims.__main__ import main
from opcount.claims.evaluation import HEADER, evaluate, table
from opcount.claims.expected import read, written

TOGETHER = True  # the findings stand once
TEXTS = ROOT.parent / "shared" / "papers"
QUICK = (
    "constrained_aba.ltl_quadruped",
    "constrained_aba.soft_is_first",
    "constrained_aba.inverse",
    "constrained_aba.time_fastest",
    "pv_osimr.two_sweeps",
    "pv_osimr.hand_alone",
    "recursive_loops.freedoms",
    "recursive_loops.cluster_belt",
    "recursive_loops.approximate_rnea_tello_humanoid",
    "recursive_loops.rnea_geared",
    "contact_rich.local",
    "proximal_slides.block",
)
PLAIN = str.maketrans({"\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-"})


def bare(text):
    """A text without blanks and asterisks, which extraction scatters, and with plain signs."""
    return re.sub(r"[\s*]", "", text.translate(PLAIN))


@pytest.fixture(scope="module")
def findings():
    return {finding.claim.id: finding for finding in evaluate([CLAIMS[id] for id in QUICK])}


def test_every_claim_is_a_whole_record():
    assert len(CLAIMS) == sum(len(paper.claims) for paper in PAPERS.values())
    for key, paper in PAPERS.items():
        for one in paper.claims:
            assert one.id == f"{key}.{one.id.partition('.')[2]}"
            assert all((one.place, one.quote, one.compared)), one
            assert (one.ours is None) == bool(one.open), one
            assert one.reason or not one.open, one


@pytest.mark.parametrize("key", PAPERS)
def test_quotes_stand_in_the_paper(key):
    file = TEXTS / PAPERS[key].text
    if not file.exists():
        pytest.skip(f"the text of {key} is not there")
    text = bare(file.read_text(encoding="utf-8"))
    assert [one.id for one in PAPERS[key].claims if bare(one.quote) not in text] == []


def test_every_claim_has_committed_verdicts_and_a_reason_where_it_does_not_hold():
    expected = read()
    assert [*expected] == [*CLAIMS]
    for id, verdicts in expected.items():
        assert [*verdicts] == [*TIERS], id
        said = {*verdicts.values()} - {"not decided here"}
        assert said <= {"holds"} or CLAIMS[id].reason, id
    assert written(expected) == written(dict(reversed(expected.items())))


@pytest.mark.parametrize("id", QUICK)
def test_verdicts_are_the_committed_ones(id, findings):
    assert findings[id].verdicts == read()[id], findings[id].numbers


@pytest.mark.thorough
def test_all_verdicts_are_the_committed_ones_and_the_page_has_all_numbers():
    expected = read()
    found = evaluate([one for one in CLAIMS.values() if one.id not in QUICK])
    assert {one.claim.id: one.numbers for one in found if one.verdicts != expected[one.claim.id]} == {}
    assert [cells for cells in printed(found) if cells != on_the_page()[cells[0]]] == []


def test_the_page_is_what_the_command_prints(findings):
    assert [*on_the_page()] == [*CLAIMS]
    assert [cells for cells in printed([*findings.values()]) if cells != on_the_page()[cells[0]]] == []
    assert all(f"## {paper}" in PAGES["claims"] for paper in PAPERS.values())


def on_the_page():
    """The cells of every claim of the guide's page, by claims."""
    return {cells[0]: cells for cells in map(cells_of, PAGES["claims"].splitlines()) if cells[0] in CLAIMS}


def printed(findings):
    """The cells of findings as the command prints them."""
    return [cells_of(line) for line in table(findings).markdown().splitlines()[2:]]


def cells_of(line):
    """The cells of a row of a Markdown table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] or [""]


def test_the_command_prints_what_is_named(capsys):
    assert main(["recursive_loops.freedoms", "pv_osimr.two_sweeps", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["claim"] for row in rows] == ["pv_osimr.two_sweeps", "recursive_loops.freedoms"]
    assert [*rows[0]] == [*HEADER]
    assert [row["published: verdict"] for row in rows] == ["not decided here", "holds"]
    assert rows[0]["reason"]
    assert not rows[1]["reason"]
    assert main(["recursive_loops.freedoms", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith(f"## {PAPERS['recursive_loops']}\n\n| claim")
    with pytest.raises(SystemExit):
        main(["recursive_loops.freedom"])
    assert "there is no claim or paper 'recursive_loops.freedom'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("judged", "number", "verdict"),
    [
        (claim.about(-20.0, within=5.0, toward=-2.0), -16.0, "holds"),
        (claim.about(-20.0, within=5.0, toward=-2.0), -9.0, "holds in direction"),
        (claim.about(-20.0, within=5.0, toward=-2.0), -40.0, "holds in direction"),
        (claim.about(-20.0, within=5.0, toward=-2.0), 3.0, "does not hold"),
        (claim.at_least(3.0, toward=1.1), 3.0, "holds"),
        (claim.at_least(3.0, toward=1.1), 1.2, "holds in direction"),
        (claim.at_least(3.0), 2.9, "does not hold"),
        (claim.at_most(2, toward=3), 3, "holds in direction"),
        (claim.exactly(2), 2, "holds"),
        (claim.exactly(2), 3, "does not hold"),
    ],
)
def test_judgements_follow_from_numbers(judged, number, verdict):
    assert judged.verdict(number) == verdict


def test_the_degree_of_growth_is_found():
    sizes = np.arange(6.0, 17.0, 2.0)
    for order in (1, 2, 3):
        assert quantities.degree(400.0 + 900.0 * sizes + 60.0 * sizes**order) == order
    assert quantities.degree(np.array([100.0, 180.0, 240.0, 280.0, 300.0])) == 1  # less and less
    assert quantities.slope(sizes, sizes**2) == pytest.approx(2.0)


def test_a_factorisation_costs_what_its_loops_do():
    """Cholesky, row by row: a root, quotients, and a product with a difference for every pair below."""
    m, counted = 7, 0
    for j in range(m):
        counted += (m - j) * (2 * j + 1)
    assert quantities.cholesky(m) == counted
    assert quantities.triangular(m) == 2 * m * m
