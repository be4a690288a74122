"""The studies: how counts grow with robots and contacts, and that every study prints and draws itself."""

from __future__ import annotations

import json
import re
import sys
from functools import cache

import numpy as np
import pytest
from guide_pages import ROOT
from interpreted import operations as as_written
from thorough import besides

import codegen
import opcount
from codegen.cli.table import Table
from codegen.errors import RobotError
from codegen.model.contacts import contact_of
from opcount.studies import (
    STUDIES,
    accuracy,
    builds,
    cheapest,
    compared,
    convergence,
    crossovers,
    damped,
    damped_timings,
    grown,
    growth,
    growth_timings,
    kkt,
    links,
    loop_growth_timings,
    loop_timings,
    loops,
    pareto,
    timings,
    torque_errors,
    torques,
)
from opcount.studies.__main__ import main
from opcount.studies.authors import SIZES
from opcount.studies.drawing import saved, spread
from opcount.studies.measured import PAPER, Case, Held, chain, exponent, fitted_sizes, operations, stem
from opcount.studies.places import PLACES, places
from opcount.studies.show import listed, printed, show
from opcount.studies.swing import ALGORITHMS as SWUNG
from opcount.studies.swing import ARMATURE, BARE, EXACT, TIMES, error, swung


@cache
def written(held, algorithm):
    return as_written(held.model(), algorithm, contacts=held.contacts or None)


def emitted(held, algorithm):
    return operations(held, algorithm)["emitted"]


@pytest.fixture(params=[written, pytest.param(emitted, marks=pytest.mark.thorough)])
def counted(request):
    """Operations as written, which do not wait for passes, and as emitted."""
    return request.param


def increments(counts):
    """By how much counts at equal steps grow from step to step."""
    return np.diff(counts)


def held_links(number):
    """A chain of sixteen links with so many of its last ones held by points."""
    return Held("chain:16,alternate", tuple(f"link{15 - i}:3" for i in range(number)))


@pytest.mark.parametrize(
    "algorithm",
    besides(
        ["pv_osimr"],
        ["constrained_aba", "pv_soft", "pv_early", "pv_osim", "pv_osimr", "caba_osim", "kjr"],
    ),
)
def test_linear_in_the_length_of_a_chain(counted, algorithm):
    """Equal steps in length cost equally many operations."""
    steps = increments([counted(chain(n), algorithm) for n in (9, 13, 17, 21)])
    assert np.allclose(steps, steps[0], rtol=0.03)


@pytest.mark.parametrize("algorithm", besides(["constrained_aba"], ["constrained_aba", "pv_soft"]))
def test_linear_in_the_number_of_contacts(counted, algorithm):
    steps = increments([counted(held_links(number), algorithm) for number in (2, 5, 8, 11)])
    assert steps.max() < 1.1 * steps.min()


@pytest.mark.thorough
def test_exponents(counted):
    """O(n + m) and O(n + m^2), against the cubic growth of what factorises the inertia matrix."""
    lengths = (8, 16, 24)
    grows = {
        name: exponent(lengths, [counted(chain(n), name) for n in lengths])
        for name in ("constrained_aba", "pv_osimr", "caba_osim", "aba_osim", "ltl_osim")
    }
    assert max(grows[name] for name in ("constrained_aba", "pv_osimr", "caba_osim")) < 1.25
    assert grows["aba_osim"] > 1.4
    assert grows["ltl_osim"] > 1.7


@pytest.mark.thorough
@pytest.mark.parametrize(("algorithm", "most"), besides([("pv_osimr", 2.2)], [("caba_osim", 2.2), ("pv_osimr", 2.2)]))
def test_exponents_with_every_link_held(counted, algorithm, most):
    """O(n + m^2), where passing every row through every joint takes the third power."""
    lengths = (8, 12, 16)
    assert exponent(lengths, [counted(links.every(n), algorithm) for n in lengths]) < most
    assert exponent(lengths, [counted(links.every(n), "pv_osim") for n in lengths]) > 2.7


def published(held, algorithm):
    return opcount.count(held.model(), algorithm, tier="published", **held.options).total


@pytest.mark.parametrize(
    ("make", "algorithm", "lengths", "least", "most"),
    [
        (chain, "constrained_aba", (20, 35, 50), 0.98, 1.1),
        (growth.tree, "constrained_aba", (3, 4), 0.98, 1.1),
        (chain, "ltl_osim", (20, 35, 50), 2.0, 3.0),
        *(
            pytest.param(links.every, name, (10, 20, 30), *bounds, marks=pytest.mark.thorough)
            for name, bounds in {"pv_osim": (2.7, 3.0), "pv_osimr": (1.9, 2.4), "efpa": (1.9, 2.4)}.items()
        ),
    ],
)
def test_exponents_of_the_listings(make, algorithm, lengths, least, most):
    """Orders: constrained ABA linear, LTL above quadratic on chains, PV-OSIM cubic where all links are held."""
    sizes = [growth.links_of(length) if make is growth.tree else length for length in lengths]
    assert least < exponent(sizes, [published(make(length), algorithm) for length in lengths]) < most


@pytest.mark.thorough
def test_every_further_link_held_costs_the_same(counted):
    """O(n + m): the tip, which leads its joint, costs less than others, so that exponents settle at longer chains."""
    lengths = (8, 12, 16, 20, 24)
    counts = [counted(links.every(n), "constrained_aba") for n in lengths]
    assert exponent(lengths[1:], counts[1:]) < 1.25
    assert np.diff(counts).max() < 1.01 * np.diff(counts).min()


@pytest.mark.thorough
def test_every_link_held_takes_half_of_what_was_published(counted):
    assert counted(links.every(20), "pv_osimr") < 0.5 * SIZES["chain, every link held 20"]["pv_osimr"]


@pytest.mark.thorough
def test_branches_on_a_stem_take_less_than_was_published(counted):
    assert counted(stem(50, 4), "pv_osimr") < SIZES["stem, 4 branches 50"]["pv_osimr"]


@pytest.mark.parametrize("algorithm", besides(["pv_osimr"], ["pv_osimr", "caba_osim"]))
def test_quadratic_in_the_number_of_contacts(counted, algorithm):
    """Branches on a stem: from twice to four times as many contacts, counts less the stem's grow at most fourfold."""
    counts = {
        number: counted(Held(f"stem:8,{number},2", tuple(f"tip{n}:6" for n in range(2 * number))), algorithm)
        for number in (1, 2, 4)
    }
    assert counts[4] - counts[2] < 4.4 * (counts[2] - counts[1])


@pytest.mark.parametrize(("links_of_stem", "number"), besides([(3, 1)], [(3, 1), (3, 2), (16, 1), (16, 2)]))
def test_pv_osimr_is_never_worse_than_pv_osim_on_stems(counted, links_of_stem, number):
    held = stem(links_of_stem, number)
    assert counted(held, "pv_osimr") <= 1.03 * counted(held, "pv_osim")


@pytest.mark.parametrize("name", besides(["go1 F3 x4"], PAPER))
def test_pv_osimr_is_never_worse_than_pv_osim_on_robots(counted, name):
    assert counted(PAPER[name], "pv_osimr") <= 1.03 * counted(PAPER[name], "pv_osim")


@pytest.mark.parametrize("length", besides([4], [4, 12]))
def test_pv_osimr_is_never_worse_than_pv_osim_with_every_link_held(counted, length):
    held = links.every(length)
    assert counted(held, "pv_osimr") <= 1.03 * counted(held, "pv_osim")


@pytest.mark.parametrize(
    ("name", "algorithm"),
    besides(
        [("iiwa H6", "pv_early")],
        [("iiwa H6", "pv_early"), ("talos F6^2", "constrained_aba"), ("go1 F3 x4", "pv_early")],
    ),
)
def test_contacts_cost_little_more_than_forward_dynamics(counted, name, algorithm):
    """The point of O(n + m): three proximal steps on two feet cost less than twice what forward dynamics do."""
    free = operations(Held(PAPER[name].robot, ()), "aba")["emitted"]
    assert counted(PAPER[name], algorithm) < 2 * free


@pytest.mark.thorough
def test_convergence_on_a_redundant_talos():
    """As published: proximal steps on the primal side end closer than those on the dual side alone."""
    table = convergence.table(4, (1, 3), ("constrained_aba", "prox_pv"))
    left = {(row[0], row[1]): row[4] for row in table.rows}
    assert left["prox_pv", 3] < 1e-3 * left["prox_pv", 1]
    assert left["constrained_aba", 3] < 0.1 * left["prox_pv", 3]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["iiwa H6", "solo12 F3^4"])
def test_accuracy_at_random_states(name):
    """A sample of the long study."""
    table = accuracy.table(150, (name,))
    assert {row[1] for row in table.rows} == set(accuracy.BOUND)
    assert {row[-1] for row in table.rows} == {"yes"}


def counts_of(work, executor=None):
    """What `measure` would return, by a formula in place of counting."""
    found = {}
    for case in (one if isinstance(one, Case) else Case(*one) for one in work):
        size = 1 + sum(map(ord, case.held.robot)) * (1 + len(case.held.contacts)) + case.held.steps
        totals = {tier: (3 - n) * size * (1 + len(case.algorithm)) for n, tier in enumerate(case.wanted)}
        found.setdefault(case.pair, {}).update(totals)
    return found


@pytest.fixture
def uncounted(monkeypatch):
    """Studies count, compute, compile and time nothing."""
    for module in (compared, crossovers, cheapest, damped, grown, loops, pareto, timings):
        monkeypatch.setattr(module, "measure", counts_of)
    for module in (timings, damped_timings, growth_timings, loop_growth_timings, loop_timings, pareto):
        monkeypatch.setattr(module, "compiled", lambda work: {})
        monkeypatch.setattr(module, "run", times_of)
        monkeypatch.setattr(module, "machine", lambda **_: "a machine")
    for module in (torques, torque_errors):
        monkeypatch.setattr(module, "swung", forces_of)
    monkeypatch.setattr(kkt, "factored", lambda system: {kkt.SPARSE: 10, kkt.DENSE: 30})


def times_of(ours, made, peers, more=()):
    """Times by labels: of all that Pinocchio has."""
    theirs = ("cABA", "proxPV", "proxLTL", "PV", "EFPA", "LTL", "LTL, factors alone")
    labels = [*ours, *(f"{label} {name}" for label in peers for name in theirs)]
    return {label: 0.5 + n for n, label in enumerate(labels)}


def forces_of(robot, leg, tier="emitted"):
    """Joint forces of two joints."""
    return {name: {joint: n + np.sin(np.arange(TIMES)) for joint in "ab"} for n, name in enumerate(SWUNG)}


TIMED = (
    *("timings", "damped_timings", "growth_timings", "kkt_timings", "loop_timings", "loop_growth_timings", "pareto"),
    *("torques", "torque_errors", "kkt"),
)
BUILT = ("accuracy", "builds", "ablation", "adjoints", "column_loops", "casadi_directions")  # themselves, elsewhere
COUNTED = [name for name in STUDIES if name not in ("convergence", *BUILT, *TIMED)]
RESIDUALS = Table(
    ("algorithm", "steps", *(f"residual p{q}" for q in (5, 25, 50, 75, 95))),
    tuple((name, step, *(10.0 ** (k - 3 * step) for k in range(5))) for name in ("a", "b") for step in (1, 2, 3)),
)


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("quick", [True, False])
def test_tables_of_counts(uncounted, name, quick):
    table = STUDIES[name].table(quick, None)
    assert table.rows
    assert {"published", "written", "emitted"} <= {*table.header}
    if not quick:
        assert len(table.rows) > len(STUDIES[name].table(True, None).rows)


@pytest.mark.parametrize(
    "name", besides([*COUNTED[1::4], *TIMED[1::4], "convergence"], [*COUNTED, *TIMED, "convergence"])
)
def test_every_figure_draws(uncounted, name, tmp_path):
    """With a panel for each robot or mechanism, and no empty one."""
    pytest.importorskip("matplotlib", reason="the extra [figures] is not installed")
    table = RESIDUALS if name == "convergence" else STUDIES[name].table(False, None)
    figure = STUDIES[name].figure(table)
    assert all(ax.has_data() or ax.texts for ax in figure.axes)
    assert all(ax.get_title(loc="left") for ax in figure.axes)
    figure.savefig(tmp_path / f"{name}.svg")


def test_times_against_size(uncounted):
    """Short functions are timed at all sizes, others up to the size `ours`; exponents stand at the largest."""
    found = [
        dict(zip(table.header, row, strict=True)) for table in [growth_timings.STUDY.table()] for row in table.rows
    ]
    assert len(found) == 2 * 2 * 4 * 5
    sizes = {"constrained_aba": 100, "prox_pv": 100, "prox_ltls": 50, "prox_ltl": 50}
    for algorithm, most in sizes.items():
        own = [row for row in found if row["algorithm"] == algorithm and row["mechanism"] == "chain, three steps"]
        assert [row["links"] for row in own] == [5, 10, 20, 50, 100]
        assert [row["links"] for row in own if row["rigidc"]][-1] == most
        assert [row["links"] for row in own if row["rigidc exponent"] is not None] == [most]
        theirs = [row["links"] for row in own if row["Pinocchio"]]
        assert theirs == ([] if algorithm == "prox_ltls" else [5, 10, 20, 50, 100])
        assert all(row["times as fast"] for row in own if row["rigidc"] and row["Pinocchio"])


@pytest.mark.parametrize("name", besides(["delassus"], ["delassus", "chains"]))
def test_the_same_table_is_drawn_to_the_same_files(uncounted, name, tmp_path):
    pytest.importorskip("matplotlib", reason="the extra [figures] is not installed")
    table, texts = STUDIES[name].table(True, None), []
    for stem_of in ("first", "second"):
        paths = saved(STUDIES[name].figure(table), tmp_path / stem_of)
        assert [path.suffix for path in paths] == [".png", ".svg", ".pdf"]
        texts.append([path.read_bytes() for path in paths])
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", [*COUNTED, *TIMED])
def test_latex_is_well_formed(uncounted, name):
    text = printed(STUDIES[name], STUDIES[name].table(False, None), "latex")
    lines = [line for line in text.splitlines() if line and not line.startswith("% ")]
    columns = re.fullmatch(r"\\begin\{tabular\}\{([lr]+)\}", lines[0])[1]
    assert lines[-1] == r"\end{tabular}"
    assert [line for line in lines[1:-1] if not line.endswith(r" \\")] == [r"\toprule", r"\midrule", r"\bottomrule"]
    for line in (line for line in lines[1:-1] if line.endswith(r" \\")):
        assert len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1
        assert not re.search(r"(?<!\\)[%$#_]", line)
        assert "^" not in line
        assert line.count("{") == line.count("}")


def test_words_beside_lines_stand_apart():
    assert spread([0.0, 5.0, 9.0], 1.0) == [0.0, 5.0, 9.0]
    assert spread([1.0, 1.0, 1.0], 1.0) == [0.0, 1.0, 2.0]
    found = spread([0.0, 0.1, 0.9, 4.0, 4.0], 0.5)
    assert np.diff(found).min() >= 0.5 - 1e-12
    assert [fitted_sizes(known) for known in (1, 2, 3, 9)] == [1, 2, 3, 3]


def test_a_folder_of_tables_and_figures(uncounted, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="the extra [figures] is not installed")
    assert main(["chains", "--quick", "--figures", str(tmp_path)]) == 0
    endings = ("csv", "json", "md", "pdf", "png", "svg", "tex", "txt")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"chains.{ending}" for ending in endings]
    assert capsys.readouterr().err.count("wrote ") == len(endings)


def test_figures_without_matplotlib(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(RobotError, match=r"figures need matplotlib, which is not installed; pip install 'rigidc\[fig"):
        show(["chains"], folder=tmp_path / "figures")
    assert not (tmp_path / "figures").exists()


def test_studies_print_in_every_form(uncounted, capsys):
    assert main(["chains", "stems", "--quick"]) == 0
    text = capsys.readouterr().out
    assert all(str(STUDIES[name]) in text for name in ("chains", "stems"))
    assert main(["chains", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["algorithm"] == "ltl_osim"
    assert main(["chains", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("## ")
    assert main([]) == 0
    assert capsys.readouterr().out == listed().text()


def test_an_unknown_study_is_named(capsys):
    with pytest.raises(SystemExit):
        main(["chain"])
    assert "there is no study 'chain'; the studies are constrained, " in capsys.readouterr().err


@pytest.mark.thorough
def test_builds_are_timed_from_the_model_to_the_callable():
    wanted = [builds.Build("iiwa", "rnea"), builds.Build("iiwa H3", "constrained_aba", alone=True)]
    table = builds.table(wanted, runs=1)
    assert len(table.rows) % len(wanted) == 0
    for row in table.rows:
        _, scenario, algorithm, cores, graph, whole, memory = row
        assert (scenario, algorithm) in {("iiwa", "rnea"), ("iiwa H3", "constrained_aba")}
        assert cores == 1 or scenario == "iiwa"
        assert graph >= 0
        assert whole >= 0
        assert memory > 10


def test_factors_of_the_kkt_matrix_are_those_of_m_and_the_delassus_matrix():
    """By counting them, and at the order of a full matrix by a formula."""
    held = kkt.ROBOTS["solo8 F3^4"]
    model = held.model()
    found = kkt.factored(kkt.System.of(model, tuple(contact_of(model, text) for text in held.contacts)))
    assert abs(found[kkt.SPARSE] - found[kkt.DELASSUS]) <= 1
    n = model.nv + 12
    assert found[kkt.DENSE] == n * (n - 1) // 2 + n * (n * n - 1) // 3
    assert kkt.coordinates(codegen.load("solo8"))[:9] == (-1, 0, 1, 2, 3, 4, 5, 6, 5)


@pytest.mark.thorough
def test_the_leg_of_the_paper_lacks_what_the_paper_says():
    """At the joint that the paper calls the ankle: 4.31 and 1.04 N m."""
    knee = {name: forces[torques.KNEE] for name, forces in swung(torques.ROBOT, torques.LEG, "published").items()}
    assert error(knee[EXACT], knee[BARE]) == pytest.approx(4.31, rel=1e-2)
    assert error(knee[EXACT], knee[ARMATURE]) == pytest.approx(1.04, rel=1e-2)


def test_the_guide_says_where_the_papers_figures_are():
    """Every study that is named exists, and every study that reproduces something is named."""
    named = {name for place in PLACES for name in place.studies}
    assert named <= {*STUDIES}
    assert {name for name, study in STUDIES.items() if study.place} == named
    guide = (ROOT / "codegen" / "guide" / "counting.md").read_text(encoding="utf-8")
    for row in places().rows:
        paper, figure, studies, differs = row
        names = ", ".join(f"`{name}`" for name in studies.split(", "))
        assert f"| {paper} | {figure} | {names} | {differs or '-'} |" in guide
