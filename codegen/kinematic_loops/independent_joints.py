"""Independent joints: chosen for loops that name none, and checked for all.

A joint may follow if the constraints determine its motion from the others'; of those that may, the ones that follow
best do, and joints nearer to a loop's beginning stay independent where that costs little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.errors import RobotError
from codegen.kinematic_loops.closure import DISTINCT, closings, independent_rows, neutral, points_of, rank_of, words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.model import Model


def completed(model: Model) -> Model:
    """The model with independent joints chosen for loops that name none; checked.

    RobotError if a loop cannot be closed, leaves nothing to move, or does not determine the joints that follow.
    """
    explicit = [loop.explicit and loop.kind != "coupling" for loop in model.loops]  # these say what follows
    open_loops = [n for n, loop in enumerate(model.loops) if not loop.independent and not explicit[n]]
    for n in open_loops:
        model = _named(model, n, [] if model.loops[n].kind != "coupling" else [_last_loose(model, n)])
    for n in open_loops:
        model = model if model.loops[n].explicit else _chosen(model, n)
    for i, bodies in enumerate(model.position_bodies):
        if not bodies:
            raise RobotError(f"{words(model, i)} lets every joint follow another one; let one move by itself")
        if not model.velocity_bodies[i]:
            raise RobotError(f"{words(model, i)} leaves nothing to move; make its joints fixed")
    if model.loops:
        independent_rows(model)
    return model


def _last_loose(model: Model, n: int) -> str:
    """The last joint of loop n that no other loop gives."""
    others = [loop for loop in model.loops if loop.independent and loop is not model.loops[n]]
    given = {name for loop in others for name in set(loop.joints) - set(loop.independent)}
    joints = model.loops[n].joints
    return next((name for name in reversed(joints) if name not in given), joints[-1])


def _chosen(model: Model, n: int) -> Model:
    """The model with independent joints for loop n: those that are left when the best followers are taken."""
    loop = model.loops[n]
    loose = _named(model, n, [])
    i = next(i for i, node in enumerate(loose.nodes) if n in node.loops)
    closing, start = closings(loose)[i], neutral(loose)[i]
    assert closing is not None
    assert start is not None
    K = max(points_of(closing, np.array(start)), key=rank_of)
    bodies = loose.position_bodies[i]
    starts = np.cumsum([0, *(loose.joints[b].nv for b in bodies)])
    own = {
        loose.bodies[b].joint.name: tuple(range(int(at), int(at) + loose.joints[b].nv))
        for at, b in zip(starts, bodies, strict=False)
        if not loose.bodies[b].joint.free
    }
    given = [c for c in range(K.shape[1]) if c not in closing.own]
    candidates = {name: own[name] for name in reversed(loop.joints) if name in own and own[name][0] not in given}
    return _named(model, n, _followers(K, given, candidates))


def _followers(K: NDArray[np.float64], given: Sequence[int], candidates: Mapping[str, Sequence[int]]) -> list[str]:
    """Joints whose columns, with those given, span K's: joints with most freedoms first, then the best ones.

    Of joints that do at least a fifth of what the best one does, the one stated first is taken.
    """
    left, taken = K.copy(), list[str]()
    for column in given:
        left = _without(left, [column])
    least = DISTINCT * float(np.linalg.norm(K, axis=0).max(initial=1e-300))
    for size in sorted({len(columns) for columns in candidates.values()}, reverse=True):
        while True:
            reach = {
                name: float(np.linalg.svd(left[:, list(columns)], compute_uv=False)[-1])
                for name, columns in candidates.items()
                if len(columns) == size <= len(K) and name not in taken
            }
            best = max(reach.values(), default=0.0)
            if best < least:
                break
            taken.append(next(name for name, value in reach.items() if value >= best / 5))
            left = _without(left, candidates[taken[-1]])
    return taken


def _without(A: NDArray[np.float64], columns: Sequence[int]) -> NDArray[np.float64]:
    """A, less what lies in the span of some of its columns."""
    basis, sizes, _ = np.linalg.svd(A[:, list(columns)], full_matrices=False)
    basis = basis[:, sizes > 0.0]
    return np.asarray(A - basis @ (basis.T @ A))


def _named(model: Model, n: int, dependent: Sequence[str]) -> Model:
    """The model whose loop n has all its joints but `dependent` as independent ones."""
    loop = model.loops[n]
    independent = tuple(name for name in loop.joints if name not in dependent)
    loops = (*model.loops[:n], replace(loop, independent=independent), *model.loops[n + 1 :])
    return replace(model, loops=loops)
