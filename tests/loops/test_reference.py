"""Compiled C, the constraint maps and the oracle against the numbers of a peer library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
import pytest
from mechanisms_cases import error
from reference_cases import names, reference
from thorough import besides
from trees import symbolic_tree

import codegen
from codegen.ir.interpreter import interpret
from codegen.oracle import ORACLE
from codegen.oracle.loops import closed

if TYPE_CHECKING:
    from collections.abc import Callable

TOLERANCE = 1e-9
NAMES = names()
CURVED = [name for name in NAMES if reference(name).states[0].maps]


@pytest.mark.parametrize("name", besides(["four_bar", "mini_cheetah"], NAMES))
def test_compiled_c_agrees(build: Callable[..., Any], name: str) -> None:
    found = reference(name)
    rnea, aba, crba = (build(found.model, algorithm) for algorithm in ("rnea", "aba", "crba"))
    efpa = build(found.model, "efpa", contacts=found.contacts[:1])
    every = codegen.graphs(found.model, "efpa", contacts=found.contacts)[1]
    for state in found.states:
        (a, tau), (forces, caused) = state.inverse, state.forward
        assert error(rnea(state.q, state.v, a), tau) < TOLERANCE
        assert error(rnea(state.q, state.v, 0 * a), state.bias) < TOLERANCE
        assert error(aba(state.q, state.v, forces), caused) < TOLERANCE
        assert error(crba(state.q), state.M) < TOLERANCE
        assert error(efpa(state.q), state.W[:6, :6]) < TOLERANCE
        assert error(interpret(every, state.q)[0], state.W) < TOLERANCE


@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_agrees(name: str) -> None:
    found = reference(name)
    state = found.states[-1]
    (a, tau), (forces, caused) = state.inverse, state.forward
    assert error(ORACLE["rnea"](found.model, state.q, state.v, a), tau) < TOLERANCE
    assert error(ORACLE["aba"](found.model, state.q, state.v, forces), caused) < TOLERANCE
    assert error(ORACLE["crba"](found.model, state.q), state.M) < TOLERANCE
    assert error(ORACLE["efpa"](found.model, state.q, contacts=found.contacts), state.W) < TOLERANCE


@pytest.mark.parametrize("name", besides(["four_bar", "planar_leg_linkage", "tello_humanoid"], CURVED))
def test_constraint_maps_agree(name: str) -> None:
    """G and g are unique; the rows of K and k are scaled at will, so these are held against ours."""
    found = reference(name)
    model = found.model
    q, v = casadi.SX.sym("q", model.nq), casadi.SX.sym("v", model.nv)
    tree = symbolic_tree(model, q)
    bend = casadi.vertcat(*tree.accelerations(v, casadi.SX.zeros(model.nv)))
    maps = casadi.Function("maps", [q, v], [tree.G, bend, tree.K])
    for state in found.states:
        G, g, K = (np.array(matrix) for matrix in maps(state.q, state.v))
        g = g.ravel()
        assert np.abs(K @ G).max() < 1e-12 * np.abs(K).max() * np.abs(G).max()
        assert np.linalg.matrix_rank(K) == len(K) == len(G) - model.nv
        starts = [place.start for place in closed(model, state.q).tree.v_slices]
        for stated in state.maps:
            rows = [starts[b] for b in found.clusters[stated["cluster"]]]
            columns = [model.v_slices[b].start for b in found.own[stated["cluster"]]]
            theirs = {key: np.array(stated[key]) for key in ("G", "g", "K", "k")}
            assert error(G[np.ix_(rows, columns)], theirs["G"]) < TOLERANCE
            scale = max(float(np.abs(theirs["g"]).max()), float(np.abs(state.v).max()) ** 2)
            assert np.abs(g[rows] - theirs["g"]).max() < TOLERANCE * scale
            ours = K[np.any(K[:, rows], axis=1)][:, rows]
            assert np.linalg.matrix_rank(np.vstack([ours, theirs["K"]]), tol=1e-8) == len(theirs["K"])
            assert np.abs(theirs["K"] @ g[rows] - theirs["k"]).max() < TOLERANCE * scale * np.abs(theirs["K"]).max()
