"""What loops cost: nothing for trees, linear growth for clusters, and less than the papers' own implementation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import codegen
import opcount
from codegen.description.assemble import assemble
from codegen.mechanisms import describe_chain, describe_geared_chain

# Operations over CasADi SX of the peer library of Chignoli et al. (arXiv 2311.13732): rnea, aba, efpa of one frame
PEER = {
    "mini_cheetah": (3015, 7971, 6141, "FR_foot_contact"),
    "mit_humanoid": (5856, 16824, 13331, "right_toe_contact"),
    "tello_humanoid": (7650, 19752, 14666, "left-toe_contact"),
    "jvrc1": (8796, 22834, 15656, "left_toe_contact"),
    "chain12_geared": (8353, 31224, 30486, "cp-11"),
    "chain12_belt": (9622, 49903, 58094, "cp-B-5"),
}
LENGTHS = (6, 12, 24, 100)


@pytest.mark.parametrize("name", PEER)
def test_no_more_operations_than_the_peer(name: str) -> None:
    model = codegen.load(name)
    *limits, frame = PEER[name]
    for algorithm, most in zip(("rnea", "aba", "efpa"), limits, strict=True):
        contacts = (frame,) if algorithm == "efpa" else ()
        assert opcount.count(model, algorithm, contacts=contacts).total <= most


def written(model: codegen.Model, algorithm: str) -> int:
    """Operations as written."""
    return opcount.count(model, algorithm, stage="written").total


@pytest.mark.parametrize("algorithm", ["rnea", "crba", "aba", "minverse", "efpa"])
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
    model, tree, loops = assemble(both), assemble(plain), assemble(geared)
    assert (len(model.nodes), len(model.bodies)) == (8, 11)
    if algorithm == "efpa":
        tips = (tree.tips[0], f"g_{loops.tips[0]}")
        together = opcount.count(model, "efpa", contacts=tips, stage="written").total
        apart = [opcount.count(m, "efpa", contacts=(m.tips[0],), stage="written").total for m in (tree, loops)]
        assert together == sum(apart)
    else:
        assert written(model, algorithm) == written(tree, algorithm) + written(loops, algorithm)


@pytest.mark.parametrize("kind", ["geared_chain", "belt_chain"])
@pytest.mark.parametrize("algorithm", ["rnea", "aba", "efpa"])
def test_cluster_algorithms_grow_linearly(kind: str, algorithm: str) -> None:
    counts = np.array([written(codegen.load(f"{kind}:{n}"), algorithm) for n in LENGTHS])
    slopes = np.diff(counts) / np.diff(LENGTHS)
    assert np.ptp(slopes) == 0, "every pair of links more costs the same"
    assert counts[0] > 0
    assert exponent(LENGTHS[1:], counts[1:]) < 1.1


@pytest.mark.parametrize(
    ("algorithm", "least", "lengths"), [("projection_fd", 2.0, (6, 12, 24)), ("lagrange_fd", 2.4, (6, 12, 24))]
)
@pytest.mark.parametrize("kind", ["geared_chain", "belt_chain"])
def test_the_baselines_do_not(kind: str, algorithm: str, least: float, lengths: tuple[int, ...]) -> None:
    counts = [written(codegen.load(f"{kind}:{n}"), algorithm) for n in lengths]
    assert exponent(lengths, counts) > least


def exponent(lengths: tuple[int, ...], counts: object) -> float:
    """The power of the length with which the counts grow, fitted to their logarithms."""
    return float(np.polyfit(np.log(lengths), np.log(np.asarray(counts, float)), 1)[0])
