"""The damped dual system by motions of shared joints (`codegen.recursions.damped_dual`): they have one solution."""

from __future__ import annotations

import sys
from unittest import mock

import pytest
from casadi import SX
from scenarios import PAPER, TOLERANCE, of, with_corners, worst
from thorough import besides
from trees import symbolic_tree

import codegen
from codegen.ir.counting import count
from codegen.recursions import damped_dual as shared
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

WAYS = ("no motions", "the base's", "down to the first joint of the torso", "down to the second")
TALOS = next(case for case in PAPER if case.name == "talos F6^2 H6^2")


def split(model, contacts):
    return shared.split(symbolic_tree(model, SX.sym("q", model.nq), contacts=contacts, turned=False))


def split_by(n, algorithm):
    """An algorithm that splits in the n-th of the ways, while it lasts."""
    module = sys.modules[f"codegen.algorithms.{algorithm}"]
    return mock.patch.object(module, "split", lambda tree: shared.splits(tree)[n])


@pytest.mark.parametrize("algorithm", besides(["prox_pv"], ["prox_pv", "aba_prox"]))
@pytest.mark.parametrize("way", besides(WAYS[2:3], WAYS))
def test_one_solution(way, algorithm):
    given = of(TALOS)
    with split_by(WAYS.index(way), algorithm):
        a, lam = given.solved(algorithm)
    expected = given.expected()
    assert worst(a, expected[0]) < TOLERANCE[algorithm]
    assert worst(lam, expected[1]) < TOLERANCE[algorithm]


def test_hands_and_feet_share_torso_and_base():
    given = of(TALOS)
    nodes, blocks = split(given.model, given.contacts)
    assert [given.model.bodies[given.model.nodes[i].bodies[0]].joint.name for i in nodes] == [
        "floating_base",
        "torso_1_joint",
        "torso_2_joint",
    ]
    assert sorted(map(len, blocks)) == [6, 6, 6, 6]


@pytest.mark.thorough
def test_the_cheapest_way_is_taken():
    """By the operations of the graph, of which the choice knows sizes alone."""
    given = of(TALOS)
    chosen = count(trace(Task(given.model, "prox_pv", contacts=given.contacts))).total
    for n in range(len(WAYS)):
        with split_by(n, "prox_pv"):
            assert chosen <= count(trace(Task(given.model, "prox_pv", contacts=given.contacts))).total


def test_no_block_is_held_by_damping_alone():
    """Rows on the base itself, and eighteen rows of a foot behind five hinges."""
    go1 = codegen.load("go1")
    assert split(go1, (go1.contact("trunk", 6), go1.contact("FL_foot", 3)))[0] == ()
    model, corners = with_corners(codegen.load("tello_humanoid"), "left-foot")
    contacts = (*(model.contact(corner, 3) for corner in corners), model.contact("left-foot", 6))
    assert split(model, contacts)[0] == ()


def test_one_contact_shares_nothing():
    iiwa = codegen.load("iiwa")
    assert split(iiwa, (iiwa.contact("lbr_iiwa_link_7"),)) == ((), ([0, 1, 2, 3, 4, 5],))


@pytest.mark.thorough
def test_multipliers_nested_in_the_tree_fill_in_less(monkeypatch):
    """Right above the joints that a contact alone loads they meet few others; above the whole tree, all of them.

    Counted without led joints, which take most of these away.
    """
    given = of(TALOS)
    task = Task(given.model, "tree_kkt", contacts=given.contacts, without=("determined_joints",))
    inside = count(trace(task)).total
    monkeypatch.setattr(sys.modules["codegen.algorithms.tree_kkt"], "_above", lambda _: {})
    assert inside < 0.8 * count(trace(task)).total
    a, lam = given.solved("tree_kkt", without=("determined_joints",))
    expected = given.expected()
    assert worst(a, expected[0]) < TOLERANCE["tree_kkt"]
    assert worst(lam, expected[1]) < TOLERANCE["tree_kkt"]
