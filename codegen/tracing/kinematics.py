"""Jacobians of frames' poses and velocities, and of the centre of mass and its velocity, by recursions.

A displacement that turns a frame with omega changes each of its axes by omega x axis.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from casadi import SX, vertcat

from codegen.recursions.expansion import entries
from codegen.spatial import skew3
from codegen.tracing.arguments import results, tangent_maps
from codegen.tracing.curvature import turns_no_axes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.tracing.task import Task

    Known = dict[tuple[str, str], SX]


def jacobians(task: Task, inputs: Mapping[str, SX], outputs: Mapping[str, SX]) -> Known:
    """The blocks by output and input that are known: rows by the columns of an output, columns by q as it is, and v."""
    if task.algorithm == "fk":
        return _of_frames(task, inputs, outputs["rotation"])
    return _of_centre(task, inputs) if turns_no_axes(task) else {}


def _of_frames(task: Task, inputs: Mapping[str, SX], rotation: SX) -> Known:
    """Those of position, rotation and velocity."""
    by_q, J = _called(replace(task, algorithm="fk_derivatives"), inputs)
    frames, (_, E) = range(rotation.size1() // 3), tangent_maps(task.model, inputs["q"])
    place, rate = ([6 * k + row for row in range(rows) for k in frames] for rows in (3, 6))
    moved = J @ E
    turned = [
        -skew3(rotation[3 * k : 3 * k + 3, n]) @ moved[6 * k + 3 : 6 * k + 6, :] for n in range(3) for k in frames
    ]
    by_position = {"position": moved[place, :], "rotation": vertcat(*turned), "velocity": by_q[rate, :] @ E}
    return {**{(y, "q"): block for y, block in by_position.items()}, ("velocity", "v"): J[rate, :]}


def _of_centre(task: Task, inputs: Mapping[str, SX]) -> Known:
    """Those of com and vcom."""
    by_q, J = _called(replace(task, algorithm="com_derivatives"), inputs)
    _, E = tangent_maps(task.model, inputs["q"])
    return {("com", "q"): J @ E, ("vcom", "q"): by_q @ E, ("vcom", "v"): J}


def _called(task: Task, inputs: Mapping[str, SX]) -> tuple[SX, ...]:
    return entries(tuple(results(task, inputs).values()))
