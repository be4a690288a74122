"""From a model to its tree over SX: canonical frames, regrouped inertias, loops, symbolic parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from casadi import SX

from codegen.basing import Based
from codegen.closing import closings, independent_rows
from codegen.frames import Canonical, canonical
from codegen.geometry import clean, times
from codegen.hinges import on_hinges
from codegen.holding import holding, leads, turns_outside
from codegen.loops import Spanning, constraints, free, spanning
from codegen.model import Contact, Model
from codegen.regroup import regrouped
from codegen.spatial import (
    NodeInertia,
    NodeTransform,
    RigidInertia,
    Subspace,
    Transform,
    constant,
    placement_steps,
)
from codegen.tree import Leading, Part, Swept, Tree, armatures


def symbolic_tree(
    model: Model,
    q: SX,
    frames: Sequence[str] = (),
    external: Sequence[str] = (),
    parameters: Mapping[str, SX] | None = None,
    contacts: Sequence[Contact] = (),
    turned: bool = True,
    swept: Swept = "inertias",
    bases: Mapping[int, Based] | None = None,
    leading: Leading = "",
) -> Tree:
    """The tree of `model` at configuration q (symbols); `parameters` replace numbers of the model by symbols.

    With `turned`, all rows of contacts are along the axes that the contacts name (see `codegen.holding`); `swept` is
    what the axes of bodies and the regrouping of their inertias are chosen for; `bases` are joints in place of floating
    ones, by bodies, whose coordinates are then those of the tree. Where contacts may lead joints (`leading`), those
    that do by levers stay along their bodies' own axes.
    """
    parameters, bases = parameters or {}, bases or {}
    reframed = canonical(model, {b: joint.pose for b, joint in bases.items()})
    inner = reframed.model
    joints = tuple(bases.get(b, joint) for b, joint in enumerate(inner.joints))
    fixed = [_offset(model, reframed, b, parameters) for b in range(len(inner.bodies))]

    def transform(b: int, at: SX) -> Transform:
        steps = placement_steps(inner.bodies[b].placement, fixed[b])
        return Transform(steps + joints[b].transform(at))

    own = _spanning(model, reframed, q, transform)
    positions = {
        b: at for node, s in zip(inner.nodes, own, strict=True) for b, at in zip(node.bodies, s.positions, strict=True)
    }
    inertias = _inertias(inner, parameters, swept)
    turning = contacts if swept == "both" and not turned else ()
    apart = [contact for contact in turning if not leads(inner, contacts, contact, leading)]
    used, held = _looked_at(inner, (*frames, *external), parameters, contacts, apart)
    described = on_hinges(inner, joints, positions, fixed, inertias, used, held, swept)
    owner = {b: i for i, node in enumerate(inner.nodes) for b in node.bodies}
    parts = tuple(
        Part(
            body.parent,
            owner[b],
            joint,
            positions[b],
            described[b].X,
            joint.subspace(positions[b]),
            described[b].inertia,
        )
        for b, (body, joint) in enumerate(zip(inner.bodies, joints, strict=True))
    )
    X = tuple(_node_transform(inner, parts, i) for i in range(len(inner.nodes)))
    S = tuple(Subspace(X[i], tuple(parts[b].S for b in node.bodies), own[i].G) for i, node in enumerate(inner.nodes))
    rigid = (NodeInertia(tuple(parts[b].I for b in node.bodies)) for node in inner.nodes)
    ends = np.cumsum([s.size for s in S])
    return Tree(
        model=inner,
        q=q,
        parts=parts,
        parent=tuple(node.parent for node in inner.nodes),
        X=X,
        S=S,
        spanning=own,
        I=(*rigid, NodeInertia((RigidInertia.none(),))),
        armature=tuple(s.G.T @ armatures(inner, i) @ s.G for i, s in enumerate(S)),
        dofs=tuple(slice(int(end) - s.size, int(end)) for s, end in zip(S, ends, strict=True)),
        gravity=parameters.get("gravity", constant(model.gravity)),
        frames=tuple(inner.frame(name) for name in frames),
        external=tuple(inner.frame(name) for name in external),
        contacts=holding(inner, parts, owner, contacts, turned, [body.inner for body in described]),
    )


def _looked_at(
    model: Model,
    names: Sequence[str],
    parameters: Mapping[str, SX],
    contacts: Sequence[Contact],
    apart: Sequence[Contact],
) -> tuple[set[int], dict[int, int]]:
    """The bodies that somebody looks at, and the rows of those that only one contact does whose axes can turn outside.

    `apart` are the contacts whose axes may.
    """
    on = [model.frame(contact.frame.name).body for contact in contacts]
    alone = {b: c for b, c in zip(on, contacts, strict=True) if c in apart and on.count(b) == 1 and turns_outside(c)}
    seen = {name for c in contacts if c not in alone.values() for name in (c.frame.name, c.axes)} - {"", "world"}
    loaded = {name.partition(":")[2] for name in parameters if name.startswith("payload:")}
    used = {model.frame(name).body for name in (*names, *seen, *loaded)}
    return used, {b: len(c.rows) for b, c in alone.items() if b not in used}


def _spanning(
    model: Model, reframed: Canonical, q: SX, transform: Callable[[int, SX], Transform]
) -> tuple[Spanning, ...]:
    """By nodes: all joints of its bodies in terms of its own coordinates."""
    inner, found = reframed.model, []
    for i, node in enumerate(inner.nodes):
        places = [inner.q_slices[b] for b in inner.position_bodies[i]]
        if not node.loops:
            found.append(free(inner.joints[node.bodies[0]], q[places[0]]))
            continue
        x = q[places[0].start : places[-1].stop]
        tied = constraints(inner, i, x, transform, reframed.moves)
        closing = closings(model)[i]
        found.append(spanning(tied, independent_rows(model)[i], closing.lengths if closing else ()))
    return tuple(found)


def _node_transform(model: Model, parts: Sequence[Part], i: int) -> NodeTransform:
    """X of node i; the bodies of a node hang on one body of its parent node, or on each other."""
    node = model.nodes[i]
    around = model.nodes[node.parent].bodies if node.parent >= 0 else (-1,)
    own = {b: place for place, b in enumerate(node.bodies)}
    links = tuple((own.get(parts[b].parent, -1), parts[b].X) for b in node.bodies)
    return NodeTransform(around.index(parts[node.bodies[0]].parent), len(around), links)


def _offset(model: Model, reframed: Canonical, b: int, parameters: Mapping[str, SX]) -> SX | None:
    """A symbolic joint offset, carried over to the canonical frames."""
    body = model.bodies[b]
    symbol = parameters.get(f"offset:{body.joint.name}")
    if symbol is None:
        return None
    turn = reframed.moves[body.parent].R.T if body.parent >= 0 else np.eye(3)
    slide = reframed.model.bodies[b].placement.p - times(turn, body.placement.p)
    return constant(turn) @ symbol + constant(clean(slide))


def _inertias(model: Model, parameters: Mapping[str, SX], swept: Swept) -> tuple[RigidInertia, ...]:
    """The regrouped rigid inertias by bodies, with symbolic payloads added."""
    shifting = {name.removeprefix("offset:") for name in parameters if name.startswith("offset:")}
    inertias = [
        RigidInertia.about_origin(SX(ten.m), constant(ten.h), constant(ten.I))
        for ten in regrouped(model, shifting, swept == "forces")
    ]
    for name, symbol in parameters.items():
        kind, _, target = name.partition(":")
        if kind == "payload":
            frame = model.frame(target)
            if frame.body >= 0:
                carried = Transform(placement_steps(frame.placement)).inertia(payload(symbol))
                inertias[frame.body] += carried
    return tuple(inertias)


def payload(ten: SX) -> RigidInertia:
    """A payload from [mass, com (3), Ixx, Iyy, Izz, Ixy, Ixz, Iyz about its centre of mass]."""
    m, x, y, z = ten[0], ten[1], ten[2], ten[3]
    xx, yy, zz = ten[4] + m * (y * y + z * z), ten[5] + m * (x * x + z * z), ten[6] + m * (x * x + y * y)
    xy, xz, yz = ten[7] - m * x * y, ten[8] - m * x * z, ten[9] - m * y * z
    moment = SX(3, 3)
    for (r, c), value in {(0, 0): xx, (1, 1): yy, (2, 2): zz, (0, 1): xy, (0, 2): xz, (1, 2): yz}.items():
        moment[r, c] = moment[c, r] = value
    return RigidInertia.about_origin(m, m * ten[1:4], moment)
