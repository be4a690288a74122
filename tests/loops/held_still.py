"""The dynamics of a robot with some joints held still, from the dense equations of the whole robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codegen.oracle import dynamics, kinematics
from codegen.oracle.loops import closed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Held:
    """A state of a robot with locked joints as one of the whole robot, whose spanning tree is `tree`.

    q and `rates` are those of all joints, `gap` how far these and the accelerations are from what the loops of the
    whole robot ask for, `freedoms` how many motions these leave while the locked joints stand still. `tau` are the
    joint forces of the coordinates that are left, M the inertia matrix in them.
    """

    tree: Model
    q: Array
    rates: Array
    gap: float
    freedoms: int
    tau: Array
    M: Array

    def frames(self, names: tuple[str, ...]) -> tuple[Array, ...]:
        """Positions, rotations and velocities of frames."""
        return kinematics.fk(self.tree, self.q, self.rates, frames=names)


def positions(model: Model, q: Array) -> dict[str, Array]:
    """By name the positions of all joints, also those that loops give."""
    at = closed(model, q).at
    return {name: at[b] for b, name in enumerate(model.joint_names)}


def held(whole: Model, left: Model, still: Mapping[str, Array], q: Array, v: Array, a: Array) -> Held:
    """The state (q, v, a) of `left`, which is `whole` with joints locked; `still` has the positions of these."""
    small = closed(left, q)
    at = {**still, **{name: small.at[b] for b, name in enumerate(left.joint_names)}}
    own = [name for name, place in zip(whole.joint_names, whole.q_slices, strict=True) if place.stop > place.start]
    big = closed(whole, np.concatenate([np.zeros(0), *(at[name] for name in own)]))
    moving = np.zeros((big.tree.nv, small.tree.nv))
    places = dict(zip(left.joint_names, small.tree.v_slices, strict=True))
    for name, place in zip(whole.joint_names, big.tree.v_slices, strict=True):
        if name in places:
            moving[place, places[name]] = np.eye(place.stop - place.start)
    G = moving @ small.G
    rates, accelerations = G @ v, G @ a + moving @ small.g(small.G @ v)
    wrong = [
        np.concatenate([np.zeros(0), *(at[name] for name in whole.joint_names)]) - big.q,
        big.K @ rates,
        big.K @ accelerations - big.k(rates),
        *(tie.residual(big.at).real for tie in big.tied),
    ]
    resting = np.eye(big.tree.nv)[~moving.any(axis=1)]
    M, bias = dynamics.equations(big.tree, big.q, rates, None, ())
    return Held(
        tree=big.tree,
        q=big.q,
        rates=rates,
        gap=max(float(np.abs(x).max(initial=0.0)) for x in wrong),
        freedoms=big.tree.nv - int(np.linalg.matrix_rank(np.vstack([big.K, resting]), 1e-9)),
        tau=G.T @ (M @ accelerations + bias),
        M=G.T @ M @ G,
    )
