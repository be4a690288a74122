"""MJCF to a Description, through the `mujoco` package (extra `rigidc[mjcf]`).

MuJoCo resolves includes, defaults, angles and inertias (of meshes, too); this file reads the compiled model.
The root link is "world". A body with several joints becomes a chain of massless links. A joint's moving frame sits at
its anchor, and `ref` goes into the placement: a coordinate has MuJoCo's value. A free joint's placement is the
world's origin, as MuJoCo's coordinates are; where the file puts the body is its home.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.description.description import DescribedFrame, DescribedJoint, Description, Link
from codegen.description.files import fresh, label
from codegen.description.mjcf_compile import compiled
from codegen.description.mjcf_loops import loops
from codegen.description.rotations import about, from_wxyz
from codegen.geometry import Inertia, Pose, Vec3, mat3, vec3

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from pathlib import Path

_TYPES = ("floating", "spherical", "prismatic", "revolute")
"""MuJoCo's joint types free, ball, slide, hinge, by number."""


def read(text: str, path: Path) -> Description:
    """The description in an MJCF file; RobotError in one sentence if it cannot be used."""
    file = compiled(text, path)
    model = file.model
    bodies = _named([model.body(i).name for i in range(model.nbody)], "body")
    joint_names = _named([model.joint(i).name for i in range(model.njnt)], "joint")
    children = _children(model, bodies, joint_names)
    taken = frozenset({*joint_names, *bodies})
    links, joints = [Link("world")], []
    for body in range(1, model.nbody):
        made = _joints(model, body, bodies, joint_names, children, taken)
        links += [Link(joint.child) for joint in made[:-1]]
        links.append(Link(bodies[body], _inertia(model, body, file.inertias.get(body))))
        joints += made
    return Description(
        name=_text(model.names) or path.stem,
        links=tuple(links),
        joints=tuple(joints),
        frames=_frames(model, bodies, frozenset({*bodies, *children})),
        loops=loops(model, bodies, joint_names),
        gravity=vec3(model.opt.gravity),
        notes=_notes(model, file.left_out),
        where=label(path),
    )


def _text(names: bytes) -> str:
    """The model's own name, which leads the table of names."""
    return names.split(b"\0", 1)[0].decode("utf-8", "replace")


def _named(stated: Sequence[str], kind: str) -> list[str]:
    """The names of all elements of one kind; the nameless are called by their number."""
    taken = set(stated)
    names = []
    for i, name in enumerate(stated):
        names.append(name or fresh(taken, f"{kind}_{i}"))
        taken.add(names[-1])
    return names


def _children(model: Any, bodies: Sequence[str], joint_names: Sequence[str]) -> list[str]:
    """The link that each joint moves: its body, or a link between two joints of one body."""
    taken = set(bodies)
    children = []
    for joint, name in enumerate(joint_names):
        body = int(model.jnt_bodyid[joint])
        last = joint == model.body_jntadr[body] + model.body_jntnum[body] - 1
        children.append(bodies[body] if last else fresh(taken, f"{bodies[body]}_{name}"))
        taken.add(children[-1])
    return children


def _joints(
    model: Any,
    body: int,
    bodies: Sequence[str],
    joint_names: Sequence[str],
    children: Sequence[str],
    taken: Container[str],
) -> list[DescribedJoint]:
    """The chain of joints that carries a body: one fixed joint, or one for each of its joints."""
    parent = bodies[model.body_parentid[body]]
    pose = Pose(from_wxyz(model.body_quat[body]), vec3(model.body_pos[body]))
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    if count == 0:
        return [DescribedJoint(fresh(taken, f"{bodies[body]}_fixed"), "fixed", parent, bodies[body], pose)]
    made = []
    for joint in range(first, first + count):
        made.append(_joint(model, joint, joint_names[joint], parent, children[joint], pose))
        parent, pose = children[joint], Pose()
    return made


def _joint(model: Any, joint: int, name: str, parent: str, child: str, pose: Pose) -> DescribedJoint:
    kind = _TYPES[int(model.jnt_type[joint])]
    armature = float(model.dof_armature[model.jnt_dofadr[joint]]) + 0.0
    if kind == "floating":
        return DescribedJoint(name, kind, parent, child, armature=armature, home=pose)
    anchor, axis = vec3(model.jnt_pos[joint]), vec3(model.jnt_axis[joint])
    ref = float(model.qpos0[model.jnt_qposadr[joint]]) if kind != "spherical" else 0.0
    placed = pose @ Pose(translation=anchor) @ _back(kind, axis, ref)
    limited = bool(model.jnt_limited[joint]) and kind != "spherical"
    low, high = (float(x) + 0.0 for x in model.jnt_range[joint]) if limited else (-math.inf, math.inf)
    return DescribedJoint(
        name,
        kind,
        parent,
        child,
        placed,
        axis if kind != "spherical" else (0.0, 0.0, 1.0),
        Pose(translation=vec3([-x for x in anchor])),
        low,
        high,
        armature=armature,
    )


def _back(kind: str, axis: Vec3, ref: float) -> Pose:
    """The motion from the coordinate `ref` back to zero."""
    if kind == "revolute" and ref:
        return Pose(about(axis, -ref))
    return Pose(translation=vec3([-ref * x for x in axis])) if kind == "prismatic" else Pose()


def _inertia(model: Any, body: int, stated: Sequence[float] | None) -> Inertia:
    """The compiled inertia, or the same one as stated: MuJoCo's principal axes lose some of its digits."""
    mass, (xx, yy, zz) = float(model.body_mass[body]), model.body_inertia[body]
    about_com = Inertia(mass, moment=mat3([[xx, 0.0, 0.0], [0.0, yy, 0.0], [0.0, 0.0, zz]]))
    if about_com == Inertia():
        return about_com
    found = about_com.moved(Pose(from_wxyz(model.body_iquat[body]), vec3(model.body_ipos[body])))
    if stated is None:
        return found
    xx, yy, zz, xy, xz, yz = stated
    exact = replace(found, moment=mat3([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    off = np.abs(np.array(exact.moment) - np.array(found.moment)).max()
    return exact if off < 1e-6 * (xx + yy + zz) else found


def _frames(model: Any, bodies: Sequence[str], links: frozenset[str]) -> tuple[DescribedFrame, ...]:
    """The sites; one that shares its name with a link gets `_site` behind it."""
    stated = [model.site(i).name for i in range(model.nsite)]
    taken = {*links, *stated}
    frames = []
    for i, name in enumerate(stated):
        own = name
        if not name or name in links:
            own = fresh(taken, f"{name}_site" if name else f"site_{i}")
            taken.add(own)
        place = Pose(from_wxyz(model.site_quat[i]), vec3(model.site_pos[i]))
        frames.append(DescribedFrame(own, bodies[model.site_bodyid[i]], place))
    return tuple(frames)


def _notes(model: Any, left_out: Sequence[str]) -> tuple[str, ...]:
    ignored = [
        word
        for word, values in (
            ("damping", model.dof_damping),
            ("stiffness", model.jnt_stiffness),
            ("friction loss", model.dof_frictionloss),
            ("gravity compensation", model.body_gravcomp),
            ("fluid forces", np.array([model.opt.density, model.opt.viscosity])),
            ("wind", model.opt.wind),
        )
        if values.any()
    ]
    ignored.extend(left_out)
    return (f"Not part of the model: {', '.join(ignored)}.",) if ignored else ()
