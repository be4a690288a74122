"""What it takes to build an optimal control problem of a humanoid with exact Hessians: C, time and memory.

Talos with its grippers locked stands on two soles and reaches: whole-body dynamics by inverse dynamics, with wrenches
in cones, torques within limits, soles that are held, and costs on the state, the capture point and a hand. Built are
all functions that the stages call, with their derivatives, the stage of a node, and the last one.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

import codegen
from codegen import ocp
from codegen.errors import BuildError
from codegen.progress import note, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

STEP, BARRIER = 0.025, (1e-2, 0.05)  # s; a barrier, and from where on it is a parabola
SOLES, HAND = ("left_sole_link", "right_sole_link"), "gripper_right_base_link"
HALF, MU, TURN = (0.085, 0.05), 0.5, 0.02  # half a foot (m), friction, and about z (m)
APART, CLOSE = 0.14, 0.03  # from sole to sole, the least, and what is close to that (m)
FALLING = 0.3  # time constant of a body that falls from its feet (s)


@shown()
def main() -> int:
    """Build in an empty cache and print; 2 without a compiler."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ["RIGIDC_CACHE"] = folder
        begun, processor = time.perf_counter(), seconds()
        try:
            named = dict(zip(("each_node", "last_node"), stages(), strict=True))
            functions = seconds()
            for name, stage in named.items():
                stage.linearised(name, exact=BARRIER)
        except BuildError as error:
            note(f"bench: {error}")
            return 2
        ours, others = (b - a for a, b in zip(processor, seconds(), strict=True))
        sizes = {path.name: path.stat().st_size for path in Path(folder).rglob("*.c")}
    print(f"C: {sum(sizes.values()) / 1e6:.2f} MB")
    for name, size in sorted(sizes.items(), key=lambda pair: -pair[1])[:8]:
        print(f"   {size / 1e3:6.0f} kB {name}")
    of_stages = others - functions[1] + processor[1]
    print(
        f"processor: {ours:.1f} s of this process, {others:.1f} s of others, {of_stages:.1f} s of these for the stages"
    )
    print(f"wall: {time.perf_counter() - begun:.1f} s; memory: {memory():.2f} GB of one process at most")
    return 0


def seconds() -> tuple[float, float]:
    """Of the processor, of this process and of those that it waited for."""
    times = os.times()
    return times.user + times.system, times.children_user + times.children_system


def memory() -> float:
    """Of the largest process, in GB."""
    scale = 1e9 if sys.platform == "darwin" else 1e6
    whose = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return max(resource.getrusage(who).ru_maxrss for who in whose) / scale


def stages() -> tuple[ocp.Stage, ocp.Stage]:
    """The stage of every node, and the last one."""
    whole = codegen.load("talos")
    robot = whole.lock([name for name in whole.joint_names if "gripper" in name])
    nv, limit = robot.nv, np.array([body.joint.effort for body in robot.bodies[1:]])
    body = ocp.WholeBody(robot, STEP, expand=False, exact=True)
    fk, rnea, com = body.functions(fk={"frames": (*SOLES, HAND)}, rnea={"external": SOLES}, com={})
    each, last = ocp.Stage(), ocp.Stage()

    def follow(stage: ocp.Stage, q: ca.SX, v: ca.SX) -> None:
        q_wanted, v_wanted = body.follow(stage, q, v, np.ones(nv), np.ones(nv))
        centre, rate = stage.call(com, q, v)
        stage.cost(1000.0, (centre - q_wanted[:3] + FALLING * (rate - v_wanted[:3]))[:2])

    node = body.node(each, feet=2, forces=12)
    position, rotation, velocity = each.call(fk, node.q, node.v)
    _, _, after = each.call(fk, node.q, node.v_next)
    tau = each.call(rnea, node.q, node.v, node.a, ca.reshape(node.f, 6, 2).T)
    each.zero(tau[:6])
    each.bounded(-1.0, tau[6:] / limit, 1.0)
    weight = -robot.gravity[2] * sum(one.inertia.mass for one in robot.bodies)
    for i, held in enumerate(ca.vertsplit(node.held)):
        wrench, R = node.f[6 * i : 6 * i + 6], rotation[3 * i : 3 * i + 3, :]
        away = ca.vertcat(0, 0, position[i, 2], -R[1, 2], R[0, 2], 0)  # from the ground, and tilted
        rest = after[i, :].T - velocity[i, :].T / 2 + away
        each.zero(held * rest / STEP + (1 - held) * wrench)
        each.bounded(held - 1, cone() @ wrench / weight, np.inf)
        each.cost(30 * (1 - held), velocity[i, 2] - node.rate[i] + 20 * (position[i, 2] - node.height[i]))
        each.cost(300 * (1 - held), R[:2, 2])
    beside = rotation[3:6, 1].T @ (position[0, :] - position[1, :]).T
    each.bounded(APART / CLOSE, beside / CLOSE, np.inf)
    follow(each, node.q, node.v)
    each.cost(1000.0, position[2, :].T - each.parameter("hand", 3))
    each.cost(1e-3, node.a)
    each.cost(1e-3, node.f - each.parameter("f_wanted", 12))
    q, v, _ = body.state(last)
    follow(last, q, v)
    return each, last


def cone() -> Any:
    """C of C wrench >= 0 in a sole's axes: pressing, friction, turning, centre of pressure."""
    rows: list[Sequence[float]] = [(0, 0, 1, 0, 0, 0)]
    for sign in (1.0, -1.0):
        rows += [(sign / MU, 0, 1, 0, 0, 0), (0, sign / MU, 1, 0, 0, 0), (0, 0, 1, 0, 0, sign / TURN)]
        rows += [(0, 0, 1, sign / HALF[1], 0, 0), (0, 0, 1, 0, sign / HALF[0], 0)]
    return np.array(rows)


if __name__ == "__main__":
    sys.exit(main())
