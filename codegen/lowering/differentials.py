"""Differentials as gears: an implicit loop that drives as many joints as it leaves independent, by constant ratios.

The ratios are those at the neutral configuration. The joints that the loop drives become independent, and those that
drove it, rotors that carry nothing, follow. Chignoli et al. (arXiv 2311.13732) apply approximate algorithms to Tello's
differentials, which need a constant inertia in the place of rotors.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from codegen.kinematic_loops.closure import closings, neutral
from codegen.kinematic_loops.constraints import velocity_scales
from codegen.model import Loop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]


class Differential(NamedTuple):
    """A differential: the number of its loop, rotors and driven bodies, and the rates of these by those of rotors."""

    loop: int
    rotors: tuple[int, ...]
    driven: tuple[int, ...]
    ratios: Array

    def gear(self, model: Model) -> Loop:
        """The gear in its place."""
        names = [[model.bodies[b].joint.name for b in bodies] for bodies in (self.rotors, self.driven)]
        data = {"dependent": names[0], "independent": names[1], "matrix": np.linalg.inv(self.ratios).tolist()}
        loop = model.loops[self.loop]
        return Loop(loop.name, "linear", loop.joints, tuple(names[1]), json.dumps(data))


def geared(model: Model) -> tuple[Model, Array]:
    """The model with gears in the place of differentials, and B (nv x nv) that makes its joint velocities of v."""
    found = differentials(model)
    gears = {one.loop: one.gear(model) for one in found.values()}
    made = replace(model, loops=tuple(gears.get(n, loop) for n, loop in enumerate(model.loops)))
    B, before, after = np.zeros((model.nv, model.nv)), model.v_slices, made.v_slices
    for own, new in zip(before, after, strict=True):
        if own.stop - own.start == new.stop - new.start:
            B[new, own] = np.eye(own.stop - own.start)
    for i, one in found.items():
        rows, columns = ([places[b].start for b in own] for places, own in ((after, one.driven), (before, one.rotors)))
        B[np.ix_(rows, columns)] = one.ratios * velocity_scales(model, i)
    return made, B


def differentials(model: Model) -> dict[int, Differential]:
    """The differentials of a model, by nodes."""
    found, carriers = dict[int, Differential](), {body.parent for body in model.bodies}
    for i, (node, closing, start) in enumerate(zip(model.nodes, closings(model), neutral(model), strict=True)):
        implicit = [n for n in node.loops if not model.loops[n].explicit]
        if closing is None or len(implicit) != 1:
            continue
        rotors = model.velocity_bodies[i]
        driven = tuple(b for b in model.position_bodies[i] if b not in rotors)
        if len(rotors) == len(driven) and not {*rotors} & carriers:
            K = closing.at(np.array(start))[1]
            ratios = -np.linalg.pinv(np.delete(K, closing.own, axis=1)) @ K[:, closing.own]
            found[i] = Differential(implicit[0], rotors, driven, np.asarray(ratios, float))
    return found
