"""What loops cost: nothing for trees, linear growth for clusters, and less than the papers' own implementation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from interpreted import operations
from thorough import besides

import codegen
import opcount
from codegen.description.mechanisms import describe_chain, describe_geared_chain
from codegen.geometry import Inertia
from codegen.robot import Robot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# Operations over CasADi SX of the peer library of Chignoli et al. (arXiv 2311.13732): rnea, aba, efpa of one frame
PEER = {
    "mini_cheetah": (3015, 7971, 6141, "FR_foot_contact"),
    "mit_humanoid": (5856, 16824, 13331, "right_toe_contact"),
    "tello_humanoid": (7650, 19752, 14666, "left-toe_contact"),
    "jvrc1": (8796, 22834, 15656, "left_toe_contact"),
    "chain12_geared": (8353, 31224, 30486, "cp-11"),
    "chain12_belt": (9622, 49903, 58094, "cp-B-5"),
}
SHARE = {"rnea": 0.6, "aba": 0.5, "efpa": 0.5}  # of the peer's operations, at most
KINDS = ("geared_chain", "belt_chain")
LENGTHS = (2, 4, 8, 16, 24, 100)


@pytest.mark.thorough
@pytest.mark.parametrize("name", PEER)
def test_about_half_of_the_operations_of_the_peer(name: str) -> None:
    model = codegen.load(name)
    *theirs, frame = PEER[name]
    for (algorithm, share), known in zip(SHARE.items(), theirs, strict=True):
        contacts = (frame,) if algorithm == "efpa" else ()
        assert opcount.count(model, algorithm, contacts=contacts).total <= share * known


def written(model: codegen.Model, algorithm: str) -> int:
    """Operations as written."""
    return operations(model, algorithm)


@pytest.mark.parametrize("algorithm", besides(["rnea", "aba", "efpa"], ["rnea", "crba", "aba", "minverse", "efpa"]))
def test_a_tree_costs_the_same_beside_clusters(algorithm: str) -> None:
    """Two mechanisms on one fixed base do not feel each other: their operations add up."""
    plain, geared = describe_chain(5, "alternate", 1), describe_geared_chain(3, "alternate", 2)
    renamed = {link.name: f"g_{link.name}" if link.name != "base" else "base" for link in geared.links}
    both = replace(
        plain,
        name="both",
        links=(*plain.links, *(replace(link, name=renamed[link.name]) for link in geared.links[1:])),
        joints=(
            *plain.joints,
            *(
                replace(joint, name=f"g_{joint.name}", parent=renamed[joint.parent], child=renamed[joint.child])
                for joint in geared.joints
            ),
        ),
        loops=tuple(
            replace(loop, name=f"g_{loop.name}", data=loop.data.replace('"link', '"g_link')) for loop in geared.loops
        ),
    )
    model, tree, loops = Robot.assembled(both), Robot.assembled(plain), Robot.assembled(geared)
    assert (len(model.nodes), len(model.bodies)) == (8, 11)
    if algorithm == "efpa":
        tips = (tree.tips[0], f"g_{loops.tips[0]}")
        together = operations(model, "efpa", contacts=tips)
        apart = [operations(m, "efpa", contacts=(m.tips[0],)) for m in (tree, loops)]
        assert together == sum(apart)
    else:
        assert written(model, algorithm) == written(tree, algorithm) + written(loops, algorithm)


@pytest.mark.parametrize("algorithm", besides(["rnea"], ["rnea", "crba", "ltl"]))
def test_a_rotor_without_inertia_costs_nothing(algorithm: str) -> None:
    geared = describe_geared_chain(6, "alternate", 2)
    rotors = {joint.child for joint in geared.joints if "rotor" in joint.child}
    light = tuple(replace(link, inertia=Inertia()) if link.name in rotors else link for link in geared.links)
    links = tuple(link for link in geared.links if link.name not in rotors)
    joints = tuple(joint for joint in geared.joints if joint.child not in rotors)
    clusters, tree = (
        Robot.assembled(replace(geared, links=light)),
        Robot.assembled(replace(geared, links=links, joints=joints, loops=())),
    )
    assert (len(clusters.bodies), len(tree.bodies)) == (12, 6)
    assert written(clusters, algorithm) == written(tree, algorithm)


@cache
def counts(kind: str, algorithm: str, lengths: tuple[int, ...]) -> Array:
    """Operations as written of chains with so many links, turning about two directions by turns."""
    return np.array([written(codegen.load(f"{kind}:{n},alternate"), algorithm) for n in lengths], float)


def exponent(kind: str, algorithm: str, lengths: tuple[int, ...]) -> float:
    """The power of their number with which links add operations, fitted to logarithms.

    Links beyond the fourth: the first ones, whose carriers have few freedoms yet, cost less.
    """
    added = counts(kind, algorithm, lengths)[2:] - counts(kind, algorithm, lengths)[1]
    return float(np.polyfit(np.log(np.array(lengths[2:]) - lengths[1]), np.log(added), 1)[0])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "algorithm"), besides([("geared_chain", "aba")], [*product(KINDS, ["rnea", "aba", "efpa"])])
)
def test_cluster_algorithms_grow_linearly(kind: str, algorithm: str) -> None:
    slopes = np.diff(counts(kind, algorithm, LENGTHS)) / np.diff(LENGTHS)
    assert np.ptp(slopes[2:]) < 0.01 * slopes[-1], "links beyond the eighth cost all the same"
    assert slopes.max() < 1.02 * slopes[-1]
    assert exponent(kind, algorithm, LENGTHS) == pytest.approx(1.0, abs=0.01)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("algorithm", "least"), [("projection_fd", 1.4), ("lagrange_fd", 1.8), ("projected_osim", 1.4)]
)
@pytest.mark.parametrize("kind", KINDS)
def test_the_baselines_do_not(kind: str, algorithm: str, least: float) -> None:
    lengths = LENGTHS[:-1]
    assert exponent(kind, algorithm, lengths) > least
    slopes = np.diff(counts(kind, algorithm, lengths)) / np.diff(lengths)
    assert (np.diff(slopes) > 0.5 * slopes[:-1]).all(), "every link more costs far more than those before"
