"""Joints that a loop holds still: they follow nothing that moves, and are fixed joints in all but name."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.description import snap
from codegen.description.description import SCALAR_JOINTS
from codegen.description.files import shown
from codegen.description.rotations import about
from codegen.geometry import Pose, vec3

if TYPE_CHECKING:
    from codegen.description.description import DescribedJoint, Description


def hold(description: Description) -> Description:
    """The description with such joints fixed where the loops hold them, these loops gone, and a note on each."""
    held: dict[str, float] = {}
    loops = list(description.loops)
    types = {joint.name: joint.type for joint in description.joints}
    while True:
        done = [loop for loop in loops if loop.kind == "linear" and _still(json.loads(loop.data), types, held)]
        if not done:
            break
        for loop in done:
            data = json.loads(loop.data)
            offsets = data.get("offset", [0.0] * len(data["dependent"]))
            for name, row, offset in zip(data["dependent"], data["matrix"], offsets, strict=True):
                held[name] = offset + sum(m * held[other] for m, other in zip(row, data["independent"], strict=True))
        loops = [loop for loop in loops if loop not in done]
    if not held:
        return description
    return replace(
        description,
        joints=tuple(_fixed(joint, held[joint.name]) if joint.name in held else joint for joint in description.joints),
        loops=tuple(loops),
        notes=(*description.notes, f"Joints that a loop holds still are fixed: {', '.join(map(shown, held))}."),
    )


def _still(data: dict[str, list[str]], types: dict[str, str], held: dict[str, float]) -> bool:
    """Whether a well-formed linear loop gives joints that nothing else gives from joints that do not move."""
    rows, columns = len(data["dependent"]), len(data["independent"])
    shaped = len(data["matrix"]) == rows and all(len(row) == columns for row in data["matrix"])
    fresh = all(types.get(name) in SCALAR_JOINTS and name not in held for name in data["dependent"])
    offsets = len(data.get("offset", data["dependent"])) == rows
    return shaped and fresh and offsets and all(name in held for name in data["independent"])


def _fixed(joint: DescribedJoint, q: float) -> DescribedJoint:
    axis = snap.axis(joint.axis, 0.0)
    turns = joint.type == "revolute"
    motion = Pose(about(axis, q)) if turns else Pose(translation=vec3([q * part for part in axis]))
    return replace(joint, type="fixed", placement=joint.placement @ motion)
