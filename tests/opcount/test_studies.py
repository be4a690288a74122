"""The studies: how counts grow with robots and contacts, and that every study prints itself."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from interpreted import operations as as_written
from thorough import besides

from opcount.studies import STUDIES, accuracy, branches, builds, chains, convergence, links
from opcount.studies.__main__ import main
from opcount.studies.measured import PAPER, Held, exponent, operations


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
    steps = increments([counted(chains.chain(n), algorithm) for n in (9, 13, 17, 21)])
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
        name: exponent(lengths, [counted(chains.chain(n), name) for n in lengths])
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
    assert exponent(lengths, [counted(links.chain(n), algorithm) for n in lengths]) < most
    assert exponent(lengths, [counted(links.chain(n), "pv_osim") for n in lengths]) > 2.7


@pytest.mark.thorough
def test_every_further_link_held_costs_the_same(counted):
    """O(n + m): the tip, which leads its joint, costs less than others, so that exponents settle at longer chains."""
    lengths = (8, 12, 16, 20, 24)
    counts = [counted(links.chain(n), "constrained_aba") for n in lengths]
    assert exponent(lengths[1:], counts[1:]) < 1.25
    assert np.diff(counts).max() < 1.01 * np.diff(counts).min()


@pytest.mark.thorough
def test_every_link_held_takes_half_of_what_was_published(counted):
    assert counted(links.chain(20), "pv_osimr") < 0.5 * links.PUBLISHED["pv_osimr", 20]


@pytest.mark.thorough
def test_branches_on_a_stem_take_less_than_was_published(counted):
    assert counted(branches.stem(branches.STEM, 4), "pv_osimr") < branches.PUBLISHED[4]["pv_osimr"]


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
    held = branches.stem(links_of_stem, number)
    assert counted(held, "pv_osimr") <= 1.03 * counted(held, "pv_osim")


@pytest.mark.parametrize("name", besides(["go1 F3 x4"], PAPER))
def test_pv_osimr_is_never_worse_than_pv_osim_on_robots(counted, name):
    assert counted(PAPER[name], "pv_osimr") <= 1.03 * counted(PAPER[name], "pv_osim")


@pytest.mark.parametrize("length", besides([4], [4, 12]))
def test_pv_osimr_is_never_worse_than_pv_osim_with_every_link_held(counted, length):
    held = links.chain(length)
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


@pytest.mark.thorough
def test_the_figure_of_convergence(monkeypatch, tmp_path, capsys):
    small = convergence.table(3, (1, 2), ("constrained_aba", "prox_pv"))
    monkeypatch.setitem(STUDIES, "convergence", type(STUDIES["convergence"])("convergence", lambda: small))
    path = tmp_path / "convergence.svg"
    assert main(["convergence", "--figure", str(path)]) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert said == f"wrote {path}" if path.exists() else "no figure: matplotlib is not installed"
    with pytest.raises(SystemExit):
        main(["chains", "--figure", "x.svg"])
    assert "only the study of convergence" in capsys.readouterr().err


def test_small_studies_print_in_every_form(monkeypatch, capsys):
    small = {"chains": chains.table((2, 3)), "branches": branches.table(2, (1,)), "links": links.table((2, 3))}
    for name, table in small.items():
        monkeypatch.setitem(STUDIES, name, type(STUDIES[name])(STUDIES[name].title, lambda table=table: table))
    assert main([*small]) == 0
    text = capsys.readouterr().out
    assert all(str(STUDIES[name]) in text for name in small)
    assert main(["chains", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["algorithm"] == "ltl_osim"
    assert main(["chains", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("## ")


def test_an_unknown_study_is_named(capsys):
    with pytest.raises(SystemExit):
        main(["chain"])
    assert "there is no study 'chain'" in capsys.readouterr().err


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
