"""The page: its sections, made of cells, studies, claims and formulas, and put into the template."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from codegen.algorithms import ALGORITHMS
from codegen.cli.table import Cell, Table
from codegen.emission.text import render
from codegen.errors import RobotError
from codegen.ir.operations import KINDS
from codegen.task.breakdown import BY
from codegen.tracing.task import TIERS
from opcount.claims import PAPERS
from opcount.claims.evaluation import shown as number
from opcount.report.bars import bars, legend
from opcount.report.elements import choice, data, folded, packed_code, table
from opcount.studies import STUDIES
from opcount.studies.authors import DAMPED, DYNAMICS, MATRICES, NEAR, PROXIMAL, reason
from opcount.studies.drawing import svg
from opcount.studies.places import PLACES, places

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from codegen.task.breakdown import By
    from codegen.tracing.task import Tier
    from opcount.claims.claim import Claim, Verdict
    from opcount.claims.evaluation import Finding
    from opcount.claims.expected import Verdicts
    from opcount.report.cells import Found

MOST = 0.55
"""What the best algorithm of a kind is to emit of its published operations, at most."""

CLAIM = ("claim", "quote", "compared", "paper", *TIERS)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page: its identifier, heading, and HTML."""

    id: str
    title: str
    body: str

    def __str__(self) -> str:
        return self.title


def page(sections: Sequence[Section], filters: Sequence[str], about: str) -> str:
    """The whole page."""
    return render("report.html.jinja", sections=sections, filters=filters, about=about)


def filters(found: Sequence[Found]) -> list[str]:
    """Choices of robots, contacts, algorithms and tiers."""
    cells = [one.cell for one in found]
    return [
        choice("robot", "Robot", dict.fromkeys(cell.robot for cell in cells)),
        choice("contacts", "Contacts", dict.fromkeys(cell.contacts for cell in cells)),
        choice("algorithm", "Algorithm", dict.fromkeys(cell.algorithm for cell in cells)),
        choice("tier", "Tier", TIERS),
    ]


def cells(found: Sequence[Found]) -> str:
    """One row per cell, under which its breakdown and its C are folded away."""
    head = "".join(f'<th scope="col"{_tier(name)}>{name}</th>' for name in ("robot", "contacts", "algorithm", *TIERS))
    head += '<th scope="col" class="number">emitted / published</th>'
    rows = "\n".join(_cell(one) for one in found)
    return f'<div class="wide"><table class="cells"><thead><tr>{head}</tr></thead>\n{rows}\n</table></div>'


def _cell(one: Found) -> str:
    cell = one.cell
    totals = "".join(
        f'<td class="number t-{tier}">{"" if (total := one.total(tier)) is None else f"{total:,}"}</td>'
        for tier in TIERS
    )
    ratio = "" if one.ratio is None else f"{one.ratio:.2f}"
    tables = "\n".join(table(_breakdown(one, by), f"by {by}") for by in BY)
    tables = f'<div class="beside">{tables}</div>'
    c = folded("C, with the phases as comments", packed_code(one.c))
    keys = data({"robot": cell.robot, "contacts": cell.contacts, "algorithm": cell.algorithm})
    names = "".join(f"<td>{escape(name)}</td>" for name in (cell.robot, cell.contacts, cell.algorithm))
    return (
        f'<tbody{keys}><tr>{names}{totals}<td class="number">{ratio}</td></tr>'
        f'<tr class="more"><td colspan="7">{folded("breakdown and C", tables + c)}</td></tr></tbody>'
    )


def _breakdown(one: Found, by: By) -> Table:
    """A breakdown of a cell: parts, and their operations at each tier."""
    tiers = [tier for tier in TIERS if tier in one.parts]
    names = dict.fromkeys(name for tier in reversed(tiers) for name in one.parts[tier][by])
    found = {tier: one.parts[tier][by] for tier in tiers}
    order = KINDS if by == "class" else names
    rows: list[tuple[Cell, ...]] = [
        (name, *(found[tier][name][-1] if name in found[tier] else 0 for tier in tiers))
        for name in order
        if name in names
    ]
    return Table((by, *tiers), (*rows, ("all", *(one.total(tier) for tier in tiers))))


def phases(found: Sequence[Found]) -> str:
    """A legend, and for every robot with contacts bars of its algorithms."""
    parts = [legend()]
    for scenario in dict.fromkeys(one.cell.scenario for one in found):
        own = [one for one in found if one.cell.scenario == scenario]
        keys = data({"robot": own[0].cell.robot, "contacts": own[0].cell.contacts})
        parts.append(f"<figure{keys}><figcaption>{escape(scenario)}</figcaption>{bars(scenario, own)}</figure>")
    return "\n".join(parts)


def best(found: Sequence[Found]) -> str:
    """For every robot, contact set and kind of problem the fewest operations emitted beside the fewest published."""
    rows: list[tuple[Cell, ...]] = []
    kinds: dict[tuple[str, str, str], list[Found]] = {}
    for one in found:
        kinds.setdefault((one.cell.robot, one.cell.contacts, kind(one.cell.algorithm)), []).append(one)
    for names, own in kinds.items():
        published, emitted = fewest(own, "published"), fewest(own, "emitted")
        if published and emitted:
            ratio = round(emitted[1] / published[1], 3)
            rows.append((*names, *published, *emitted, ratio, "yes" if ratio <= MOST else "no"))
    missed = [row for row in rows if row[-1] == "no"]
    said = (
        "<p>The fewest operations emitted beside the fewest published, by kind of problem: "
        f"{len(rows) - len(missed)} of {len(rows)} are at most {MOST} of what is published. Others come first.</p>"
    )
    header = ("robot", "contacts", "kind", "published by", "published", "emitted by", "emitted", "ratio")
    return said + table(Table((*header, f"at most {MOST}"), (*missed, *(row for row in rows if row[-1] == "yes"))))


def authors(found: Sequence[Found]) -> str:
    """Operations as published beside those of the authors' programs, where these are known; far ones first."""
    rows: list[tuple[float, tuple[Cell, ...]]] = []
    for one in found:
        theirs, ours = known_of(one.cell.scenario).get(one.cell.algorithm), one.total("published")
        if theirs and ours:
            beyond = 100 * (ours / theirs - 1)
            names = (one.cell.robot, one.cell.contacts, one.cell.algorithm)
            why = reason(one.cell.scenario, one.cell.algorithm) if abs(beyond) > NEAR else ""
            rows.append((-abs(beyond), (*names, ours, theirs, f"{beyond:+.0f}", why)))
    near = sum(distance >= -NEAR for distance, _ in rows)
    said = (
        f"<p>{near} of {len(rows)} listings are within {NEAR:g} percent of the authors' programs of 2023 and 2024, "
        "which are counted as they stand, on the same robots. Of the others the table says why.</p>"
    )
    header = ("robot", "contacts", "algorithm", "published", "authors' program", "percent", "reason")
    return said + folded("table", table(Table(header, tuple(row for _, row in sorted(rows)))))


def known_of(scenario: str) -> Mapping[str, int]:
    """Operations of the authors' programs by algorithm; those by LTL of 2023 take no proximal steps."""
    direct = {name: count for name, count in DYNAMICS.get(scenario, {}).items() if name != "prox_ltl"}
    return {**MATRICES.get(scenario, {}), **direct, **PROXIMAL.get(scenario, {}), **DAMPED.get(scenario, {})}


def kind(algorithm: str) -> str:
    """What an algorithm solves: algorithms of a kind compete."""
    entry = ALGORITHMS[algorithm]
    if entry.group != "constrained":
        return entry.group if entry.group != "common" else f"{', '.join(entry.outputs)} without contacts"
    return "proximal" if "lam0" in entry.inputs else "soft" if "R" in entry.inputs else "direct"


def fewest(found: Sequence[Found], tier: Tier) -> tuple[str, int] | None:
    """The algorithm with the fewest operations at a tier, and these."""
    known = [(total, one.cell.algorithm) for one in found if (total := one.total(tier)) is not None]
    return min(known)[::-1] if known else None


def study(name: str, made: Table) -> str:
    """A study's figure, if there is something to draw with, and its table."""
    own = STUDIES[name]
    title = escape(str(own)[0].upper() + str(own)[1:])
    try:
        labelled = f'<svg role="img" aria-label="{title}"'
        drawn = svg(own.figure(made), name).replace("<svg", labelled, 1) if own.figure else ""
        drawing = f'<figure class="drawn">{drawn}</figure>' if drawn else ""
    except RobotError as missing:
        drawing = f'<p class="note">{escape(str(missing))}</p>'
    note = f'<p class="note">{escape(own.note)}</p>' if own.note else ""
    return f'<h3 id="study-{name}">{title}</h3>\n{drawing}\n{note}\n{folded("table", table(made))}'


def figures(shown: Collection[str]) -> str:
    """Where the figures and tables of the papers are, with links to the studies shown."""
    head = "".join(f'<th scope="col">{name}</th>' for name in places().header)
    rows = []
    for one in PLACES:
        links = (f'<a href="#study-{name}">{name}</a>' if name in shown else name for name in one.studies)
        cells = (escape(one.paper), escape(one.figure), ", ".join(links), escape(one.differs))
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    body = "\n".join(rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def claims(rows: Mapping[str, Sequence[Finding]], verdicts: Verdicts) -> str:
    """The claims paper by paper: evaluated ones with our numbers, others with the verdicts that tests keep."""
    parts = []
    for key, paper in PAPERS.items():
        found = {finding.claim.id: finding for finding in rows.get(key, ())}
        lines = [_claim(claim, found.get(claim.id), verdicts.get(claim.id, {})) for claim in paper.claims]
        tally = ", ".join(f"as {tier} {_holding(lines, tier)}" for tier in TIERS)
        summary = f"{len(paper.claims)} claims; hold, at least in direction: {tally}"
        parts.append(f"<h3>{escape(paper.title)}</h3>\n{folded(summary, table(Table(CLAIM, tuple(lines))))}")
    return "\n".join(parts)


def _claim(claim: Claim, finding: Finding | None, kept: Mapping[Tier, Verdict]) -> tuple[Cell, ...]:
    """The row of a claim: verdicts with our numbers, or as tests keep them."""
    verdicts = finding.verdicts if finding else kept
    numbers = finding.numbers if finding else {}
    ours = (f"{number(numbers.get(tier))} {verdicts.get(tier, '')}".strip() for tier in TIERS)
    reason = finding.reason if finding else claim.reason
    where = f"{claim.id.partition('.')[2]} ({claim.place})"
    compared = f"{claim.compared}. {reason}" if reason else claim.compared
    return (where, f"“{claim.quote}”", compared, number(claim.number), *ours)


def _holding(lines: Sequence[tuple[Cell, ...]], tier: Tier) -> int:
    at = CLAIM.index(tier)
    return sum("holds" in str(line[at]) for line in lines)


def _tier(name: str) -> str:
    return f' class="t-{name}"' if name in TIERS else ""
