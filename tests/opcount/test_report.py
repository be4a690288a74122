"""The report: one page that holds all it shows, with counts that add up, seen in a real browser if there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

import opcount
from codegen.__main__ import main
from codegen.cli.table import Table
from codegen.tracing.phases import ORDER
from opcount.claims import CLAIMS
from opcount.report import cells, page, show
from opcount.report.bars import LOOKS, bars
from opcount.report.elements import table
from opcount.report.packing import unpack
from opcount.studies import authors
from opcount.studies.measured import Held

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CHAIN = Held("chain:3,alternate", ("tip:6",))
SMALL = show.Plan({"chain:3,alternate H6": CHAIN}, ("crba",), ("efpa", "aba_osim"), (), ("crba",), quick=True)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
in_a_browser = pytest.mark.skipif(BROWSER is None, reason=f"none of {', '.join(BROWSERS)} is installed")
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Reader(HTMLParser):
    """What a page is made of; fails where elements are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    with ThreadPoolExecutor(1) as threads:
        assert show.write(path, SMALL, threads) == path
    assert [*path.parent.iterdir()] == [path]
    return path.read_text(encoding="utf-8")


def test_a_page_is_whole_and_needs_no_network(text: str) -> None:
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert not {"link", "img", "iframe", "object", "embed"} & {tag for tag, _ in reader.elements}
    assert not [own for _, own in reader.elements if "src" in own or not (own.get("href") or "#").startswith("#")]
    assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttpRequest", text)


def test_a_page_can_be_used_without_a_mouse_and_without_eyes(text: str) -> None:
    reader = Reader()
    reader.feed(text)
    tags = [tag for tag, _ in reader.elements]
    ids = [own["id"] for _, own in reader.elements if "id" in own]
    assert len(ids) == len(set(ids))
    assert {(own.get("href") or "#")[1:] for tag, own in reader.elements if tag == "a"} <= {*ids}
    assert reader.elements[0] == ("html", {"lang": "en"})
    head = tags[: tags.index("body")]
    assert (tags.count("h1"), tags.count("main"), head.count("title")) == (1, 1, 1)
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(own.get("scope") == "col" for tag, own in reader.elements if tag == "th")
    assert all("aria-label" in own for tag, own in reader.elements if tag == "svg")
    assert tags.count("select") == tags.count("label") == 4


def test_a_page_has_every_cell_claim_and_formula(text: str) -> None:
    sources = [unpack(packed) for packed in re.findall(r'data-packed="([^"]+)"', text)]
    assert len(sources) == 3
    for algorithm in ("crba", "efpa", "aba_osim"):
        assert f'data-algorithm="{algorithm}"' in text
        assert any(f"chain_3_alternate_{algorithm})(const T *q" in c for c in sources)
    total = opcount.count(CHAIN.robot, "crba", tier="published").total
    assert f'<td>crba</td><td class="number t-published">{total:,}</td>' in text
    assert all(f"<td>{claim.id.partition('.')[2]} (" in text for claim in CLAIMS.values())
    assert "<math " in text
    assert "{matrix}" in text


def test_cells_are_kept_and_found_again(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert text
    monkeypatch.delattr(cells, "_made")
    found = cells.find(SMALL.cells)
    assert [str(one.cell) for one in found] == [
        "crba of chain:3,alternate",
        "efpa of chain:3,alternate H6",
        "aba_osim of chain:3,alternate H6",
    ]
    for one in found:
        for tier, parts in one.parts.items():
            count = opcount.count(
                one.cell.held.robot, one.cell.algorithm, tier=tier, contacts=one.cell.held.contacts or None
            )
            assert one.total(tier) == count.total
            assert all(sum(row[-1] for row in own.values()) == count.total for own in parts.values())


def test_the_best_of_each_kind_stand_beside_each_other() -> None:
    crba, efpa, ours = cells.find(SMALL.cells)
    written = page.best([crba, efpa, ours])
    assert written.count("<tr data") == 2
    least = min(efpa.total("emitted") or 0, ours.total("emitted") or 0)
    assert f'<td>efpa</td><td class="number t-published">{efpa.total("published"):,}</td>' in written
    assert f'<td class="number t-emitted">{least:,}</td>' in written


def test_every_program_of_the_authors_stands_beside_a_cell() -> None:
    programs = {*authors.MATRICES, *authors.DYNAMICS, *authors.PROXIMAL, *authors.DAMPED}
    assert programs <= {one.scenario for one in show.WHOLE.cells}
    assert {"constrained_aba", "caba_osim", "pv", "efpa"} <= {*page.known_of("go1 F3 x4")}


def test_bars_are_as_long_as_the_operations() -> None:
    assert tuple(LOOKS) == ORDER
    found = cells.find(SMALL.cells)
    drawn = bars("a chain", found)
    widths = [float(width) for width in re.findall(r'<rect x="[\d.]+" y="4" width="([\d.]+)"', drawn)]
    most = max(one.total("published") or 0 for one in found)
    assert sum(widths) == pytest.approx((found[0].total("published") or 0) / most * 700, rel=0.01)


def test_texts_are_escaped() -> None:
    assert "<b>" not in table(Table(("robot", "<b>"), (("<b>", 1),)), "<b>")


def test_a_folder_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["report", "--quick", "--out", str(tmp_path / "nowhere" / "report.html")]) == 2
    assert "make it, or name another place" in capsys.readouterr().err


CHOOSE = """<script>
const select = document.getElementById("by-algorithm");
select.value = "efpa";
select.dispatchEvent(new Event("change", { bubbles: true }));
document.title = "wide: " + (document.documentElement.scrollWidth - document.documentElement.clientWidth);
</script>"""


CHOOSE_ALL = """<script>
const cells = () => [...document.querySelectorAll("table.cells > tbody")].filter(cell => !cell.hidden);
const select = (name, value) => {
  const own = document.getElementById("by-" + name);
  own.value = value;
  own.dispatchEvent(new Event("change", { bubbles: true }));
};
const said = [];
for (const name of ["robot", "contacts", "algorithm"])
  for (const option of document.getElementById("by-" + name).options) {
    select(name, option.value);
    said.push(name + " " + option.value + ": " + cells().map(cell => cell.dataset.algorithm).join(" "));
    select(name, "");
  }
for (const option of document.getElementById("by-tier").options) {
  select("tier", option.value);
  const heads = [...document.querySelectorAll("table.cells > thead th")];
  const shown = heads.filter(th => getComputedStyle(th).display !== "none");
  said.push("tier " + option.value + ": " + shown.map(th => th.textContent).join(" "));
}
select("robot", "chain:3,alternate");
document.querySelector("form button[type=reset]").click();
setTimeout(() => {
  said.push("reset: " + cells().length);
  document.title = said.join("; ");
});
</script>"""

OPEN = """<script>
for (const folded of document.querySelectorAll('tbody[data-algorithm="crba"] details')) folded.open = true;
</script>"""


@pytest.fixture
def seen(text: str, tmp_path: Path) -> Callable[..., str]:
    """The page as a browser has it in the end, with more at its end, in a window so many pixels wide."""

    def see(more: str, width: int) -> str:
        path = tmp_path / "report.html"
        path.write_text(text.replace("</body>", f"{more}</body>"), encoding="utf-8")
        command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
        command += [
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--window-size={width},900",
            "--virtual-time-budget=5000",
            "--dump-dom",
            path.as_uri(),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        assert "Uncaught" not in done.stderr
        return done.stdout

    return see


@in_a_browser
def test_filters_work_in_a_browser(seen: Callable[..., str]) -> None:
    assert ">3 of 3 cells shown</output>" in seen("", 1280)
    chosen = seen(CHOOSE, 1280)
    assert ">1 of 3 cells shown</output>" in chosen
    assert re.search(r'<tbody data-robot="[^"]*" data-contacts="[^"]*" data-algorithm="crba" hidden', chosen)
    assert not re.search(r'<tbody data-robot="[^"]*" data-contacts="[^"]*" data-algorithm="efpa" hidden', chosen)


@in_a_browser
def test_every_choice_shows_its_cells(seen: Callable[..., str]) -> None:
    title = re.search("<title>(.*?)</title>", seen(CHOOSE_ALL, 1280))
    assert title
    names = "robot contacts algorithm"
    assert title[1].split("; ") == [
        "robot : crba efpa aba_osim",
        "robot chain:3,alternate: crba efpa aba_osim",
        "contacts : crba efpa aba_osim",
        "contacts none: crba",
        "contacts H6: efpa aba_osim",
        "algorithm : crba efpa aba_osim",
        "algorithm crba: crba",
        "algorithm efpa: efpa",
        "algorithm aba_osim: aba_osim",
        f"tier : {names} published written emitted emitted / published",
        f"tier published: {names} published emitted / published",
        f"tier written: {names} written emitted / published",
        f"tier emitted: {names} emitted emitted / published",
        "reset: 3",
    ]


@in_a_browser
def test_c_is_unpacked_in_a_browser(seen: Callable[..., str], text: str) -> None:
    shown = seen(OPEN, 1280)
    assert shown.count("data-packed") == text.count("data-packed") - 1
    assert "chain_3_alternate_crba)(const T *q" in shown


@in_a_browser
@pytest.mark.parametrize("width", [pytest.param(1280, marks=pytest.mark.thorough), 500])
def test_nothing_is_wider_than_the_window(seen: Callable[..., str], width: int) -> None:
    assert "<title>wide: 0</title>" in seen(CHOOSE, width)


@pytest.mark.thorough
def test_the_quick_report_is_written(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert main(["report", "--quick", "--out", str(path)]) == 0
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    assert reader.open == []
    assert sum("data-algorithm" in own for tag, own in reader.elements if tag == "tbody") == len(show.QUICK.cells)
