"""The bench with contacts: states, peers against the oracle, what Pinocchio is handed, and one short run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from thorough import besides

import codegen
from codegen.algorithms import ALGORITHMS
from codegen.model.contacts import contact_of
from codegen.oracle import constrained
from opcount.bench import __main__ as bench
from opcount.bench import casadi_peer, ours, peers, pinocchio_peer
from opcount.bench.build_dir import Absent, BuildDir, compilers
from opcount.bench.contact_scenarios import SCENARIOS, standing
from opcount.bench.race import Contestant, Scenario, disagreement, scenario

needs_compiler = pytest.mark.skipif(not compilers(), reason="no C compiler")
MU = 1e5
DYNAMICS = ("pv", "pv_early", "prox_pv", "constrained_aba", "prox_ltl")


def race(name: str, algorithm: str, states: int = 3) -> Scenario:
    robot, texts = SCENARIOS[name]
    model = codegen.load(robot)
    names = ("q", "v", "tau") if ALGORITHMS[algorithm].group == "constrained" else ("q",)
    return scenario(model, algorithm, names, states, tuple(contact_of(model, text) for text in texts))


def expected(given: Scenario, *state: np.ndarray) -> tuple[np.ndarray, ...]:
    """What an algorithm gives, from the dense equations and its definition."""
    q, v, tau = state if len(state) == 3 else (*state, *np.zeros((2, given.model.nv)))
    at = constrained.equations(given.model, q, v, contacts=given.contacts)
    W, lam = at.J @ np.linalg.solve(at.M, at.J.T), np.zeros(given.rows)
    if given.group == "delassus":
        return (W,)
    if given.algorithm == "caba_osim":
        return (np.linalg.inv(W + np.eye(given.rows) / MU),)
    missing = -at.drift - at.J @ np.linalg.solve(at.M, tau - at.bias)
    damping = 0.0 if ALGORITHMS[given.algorithm].independent else 1 / MU
    for _ in range(
        given.iterations if given.algorithm in ("constrained_aba", "prox_pv", "prox_ltl", "aba_prox") else 1
    ):
        lam = np.linalg.solve(W + damping * np.eye(given.rows), missing + damping * lam)
    return np.linalg.solve(at.M, tau - at.bias + at.J.T @ lam), lam


@pytest.mark.parametrize("algorithm", [*DYNAMICS, "ltl_osim", "kjr", "efpa", "pv_osim", "pv_osimr", "caba_osim"])
def test_what_casadi_compiles_is_right(algorithm: str) -> None:
    given = race("iiwa H6", algorithm)
    function, _ = casadi_peer.source(given.model, algorithm, given.contacts, given.iterations)
    for state in zip(*given.inputs, strict=True):
        moving = (state[0], *(np.cos(1.0 + np.arange(len(x))) for x in state[1:]))  # contacts that do not stand still
        found, wanted = [np.array(x) for x in function.call(moving)], expected(given, *moving)
        for mine, theirs in zip(found, wanted, strict=True):
            assert np.abs(np.ravel(mine) - np.ravel(theirs)).max() <= 1e-9 * np.abs(theirs).max()


@pytest.mark.parametrize("name", besides(["iiwa H3", "solo12 F3^2", "talos F6^2"], SCENARIOS))
def test_contacts_stand_still(name: str) -> None:
    robot, texts = SCENARIOS[name]
    model = codegen.load(robot)
    contacts = tuple(contact_of(model, text) for text in texts)
    state = standing(model, contacts, np.random.default_rng(0))
    at = constrained.equations(model, state.q, state.v, contacts=contacts)
    assert np.abs(at.J @ state.v).max() < 1e-10
    assert np.abs(state.v).max() > 1e-2
    assert constrained.rank(at) == (len(at.J), True)


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("algorithm", ["caba_osim", "pv_soft"])
def test_our_part_and_the_casadi_c_agree_with_the_definition(algorithm: str, tmp_path: Path) -> None:
    given, build_dir, compiler = race("iiwa H3", algorithm, 9), BuildDir(tmp_path), compilers()[0]
    found = (*ours.contestants(given, compiler, build_dir), *casadi_peer.contestants(given, compiler, build_dir))
    assert len(found) == 6
    rows = [np.ravel(expected(given, *state)[0]) for state in zip(*given.inputs, strict=True)]
    truth = Contestant("definition", lambda _: 0.0, 9, np.array(rows))
    for contestant in found:
        assert disagreement(contestant, truth) < 1e-7


def test_pinocchio_is_handed_the_contacts() -> None:
    given = race("atlas_shadow F6^2 T3^5", "constrained_aba", 1)
    count, joints, rows, places, mu, iterations = pinocchio_peer._contacts(given)
    assert (count.value, mu.value, iterations.value) == (7, 1e-5, 3)
    assert list(rows) == [6, 6, 3, 3, 3, 3, 3]
    for k, contact in enumerate(given.contacts):
        assert joints[k] == contact.frame.body + 1
        assert np.array_equal(places[12 * k + 9 : 12 * k + 12], contact.frame.placement.p)
    direct = pinocchio_peer._contacts(race("iiwa H6", "pv", 1))
    assert (direct[4].value, direct[5].value) == (0.0, 1)
    model = codegen.load("iiwa")
    hinge = scenario(model, "pv", ("q", "v", "tau"), 1, (model.contact("lbr_iiwa_link_7", np.eye(6)[1:]),))
    with pytest.raises(Absent, match="points"):
        pinocchio_peer._contacts(hinge)


def test_rows_of_welds_are_put_in_our_order() -> None:
    given = race("atlas_shadow F6^2 T3^5", "caba_osim", 1)
    welds = [13, 14, 15, 10, 11, 12], [23, 24, 25, 20, 21, 22]  # [linear; angular]
    theirs = np.concatenate([*welds, np.arange(30, 45)])
    width, order = pinocchio_peer._layout(given)
    assert width == given.rows**2 == len(order)
    W = np.outer(theirs, 100 + theirs).ravel()[order].reshape(27, 27)
    ours_order = np.concatenate([np.arange(10, 16), np.arange(20, 26), np.arange(30, 45)])
    assert np.array_equal(W, np.outer(ours_order, 100 + ours_order))


def test_one_sign_of_pinocchio_is_put_right(tmp_path: Path) -> None:
    header = tmp_path / "pinocchio/src/algorithm/delassus.hxx"
    header.parent.mkdir(parents=True)
    header.write_text("a\ndata.oYaba[parent].noalias() = Ia - x;\nb\n")
    assert pinocchio_peer._mended(tmp_path) == {
        "pinocchio/src/algorithm/delassus.hxx": "a\ndata.oYaba[parent].noalias() += Ia - x;\nb\n"
    }


def test_algorithms_go_to_the_robots_that_they_suit() -> None:
    asked = bench.chosen(bench._arguments(["iiwa", "iiwa H3", "-a", "aba,pv"]))
    assert [str(race) for race in asked] == ["aba of iiwa", "pv of iiwa H3"]
    (held,) = bench.chosen(bench._arguments(["iiwa", "-a", "pv", "--contact", "lbr_iiwa_link_7:3"]))
    assert str(held) == "pv of iiwa lbr_iiwa_link_7:3"
    assert len(bench.chosen(bench._arguments([]))) == 4 * len(peers.ALGORITHMS) + len(SCENARIOS) * len(peers.HELD)
    assert bench.main(["iiwa", "-a", "pv"]) == 2
    assert bench.main(["iiwa", "-a", "pv", "--contact", "lbr_iiwa_link_7:6:in=world"]) == 2


@pytest.mark.thorough
@needs_compiler
def test_a_short_run_with_contacts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def away() -> tuple[Path, Path]:
        raise Absent("Pinocchio is away")

    monkeypatch.setattr(pinocchio_peer, "includes", away)
    monkeypatch.setenv("RIGIDC_CC", compilers()[0].c)
    out = str(tmp_path / "out")
    assert bench.main(["iiwa H3", "-a", "constrained_aba", "--seconds", "0", "--states", "8", "--out", out]) == 0
    assert "iiwa H3" in capsys.readouterr().out
    (found,) = json.loads((tmp_path / "out" / "bench.json").read_text())["races"]
    assert (found["robot"], found["algorithm"]) == ("iiwa H3", "constrained_aba")
    assert len(found["nanoseconds"]) == 6
    assert set(found["faster"]) == {"CasADi C"}
