"""Numbers of a peer library (`reference.json`, which names source and licence), in rigidc's coordinates."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import codegen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.model import Contact, Model

    Array = NDArray[np.float64]

FILE = Path(__file__).with_name("reference.json")


@dataclass(frozen=True)
class State:
    """One state and what the peer makes of it; velocities and forces in rigidc's order."""

    q: Array
    v: Array
    inverse: tuple[Array, Array]
    forward: tuple[Array, Array]
    bias: Array
    M: Array
    W: Array
    maps: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Reference:
    """A bundled robot, its states, and by clusters the bodies in the peer's order."""

    model: Model
    contacts: tuple[Contact, ...]
    clusters: tuple[tuple[int, ...], ...]
    own: tuple[tuple[int, ...], ...]
    states: tuple[State, ...]


def names() -> tuple[str, ...]:
    """The robots that there are numbers for."""
    return tuple(json.loads(FILE.read_text(encoding="utf-8"))["robots"])


@cache
def reference(name: str) -> Reference:
    """The reference of one robot."""
    data = json.loads(FILE.read_text(encoding="utf-8"))["robots"][name]
    model = codegen.load(name)
    number = {body.name: b for b, body in enumerate(model.bodies)}
    clusters = tuple(tuple(number[body] for body in cluster["bodies"]) for cluster in data["clusters"])
    order: dict[int, int] = {}
    own = []
    for cluster, bodies in zip(data["clusters"], clusters, strict=True):
        driven = tuple(bodies[place] for place in cluster["independent"])
        own.append(driven)
        for b in driven:
            place = model.v_slices[b]
            # a free joint's velocity is [angular; linear] there, [linear; angular] here
            columns = (3, 4, 5, 0, 1, 2) if "free" in cluster else range(place.stop - place.start)
            for column in columns:
                order[place.start + column] = len(order)
    ours = np.array([order[k] for k in range(model.nv)])
    states = tuple(_state(model, clusters, ours, state) for state in data["states"])
    contacts = tuple(model.contact(frame) for frame in data["frames"])
    return Reference(model, contacts, clusters, tuple(own), states)


def _state(model: Model, clusters: tuple[tuple[int, ...], ...], ours: Array, state: dict[str, Any]) -> State:
    q, at = np.zeros(model.nq), 0
    for b in (b for bodies in clusters for b in bodies):
        width, place = model.joints[b].nq, model.q_slices[b]
        values = np.array(state["positions"][at : at + width])
        at += width
        if place.stop > place.start:
            q[place] = values[[0, 1, 2, 4, 5, 6, 3]] if width == 7 else values

    def vector(values: list[float]) -> Array:
        return np.array(values)[ours]

    return State(
        q=q,
        v=vector(state["v"]),
        inverse=(vector(state["rnea"]["a"]), vector(state["rnea"]["tau"])),
        forward=(vector(state["aba"]["tau"]), vector(state["aba"]["a"])),
        bias=vector(state["bias"]),
        M=_symmetric(state["M"])[np.ix_(ours, ours)],
        W=_symmetric(state["W"]),
        maps=tuple(state["maps"]),
    )


def _symmetric(upper: list[float]) -> Array:
    n = int((2 * len(upper)) ** 0.5)
    A = np.zeros((n, n))
    A[np.triu_indices(n)] = upper
    return A + np.triu(A, 1).T
