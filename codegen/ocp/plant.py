"""Robots for MuJoCo, as plants of closed loops: its own model of the same bodies, on a plane, and films of them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.ocp.peers import peer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Model


def mujoco() -> Any:
    """MuJoCo, set to draw without a screen where that is possible; BuildError if it is not installed."""
    if sys.platform == "linux":
        os.environ.setdefault("MUJOCO_GL", "egl")
    try:
        return peer("mujoco")
    except AttributeError:  # nothing draws for it here
        os.environ["MUJOCO_GL"] = "off"
        return peer("mujoco")


def mjcf(
    robot: Model,
    limits: Mapping[str, float],
    parts: Mapping[str, str],
    *,
    masses: ArrayLike = 1.0,
    losses: tuple[float, float] = (0.0, 0.0),
    friction: float = 0.8,
    stiffness: float = 0.02,
    timestep: float = 0.001,
    stick: float = 0.03,
    ground: float = 0.0,
    extra: str = "",
) -> str:
    """MJCF of a robot on a plane, with motors and losses at the joints that have limits of torques (N m).

    `parts` are elements in the axes of bodies and frames, by name, and `extra` ones of the file. `masses` are factors
    of all bodies or of each, `losses` damping (s/rad) and friction of joints in parts of the limits. Contacts with the
    plane, at the height `ground` (m), have this friction, and `stiffness` (s) is MuJoCo's time constant of them. Links
    are drawn as sticks of this radius (m).
    """
    factors = np.broadcast_to(np.asarray(masses, dtype=np.float64), len(robot.bodies))

    def body(i: int) -> str:
        own, children = robot.bodies[i], [j for j, other in enumerate(robot.bodies) if other.parent == i]
        joint, limit = own.joint, limits.get(own.joint.name)
        damping, loss = (part * limit for part in losses) if limit else (0.0, 0.0)
        hinge = f'<joint name="{joint.name}" axis="{_row(joint.axis)}" damping="{damping}" frictionloss="{loss}"/>'
        inside = _inertial(own.inertia, factors[i]) + (
            f'<freejoint name="{joint.name}"/>' if joint.type == "floating" else hinge
        )
        frames = [frame for frame in robot.frames if frame.body == i and frame.name in parts and frame.name != own.name]
        ends = [robot.bodies[j].placement.p for j in children] + [frame.placement.p for frame in frames]
        inside += "".join(_stick(end, stick) for end in ends if np.any(end)) + parts.get(own.name, "")
        inside += "".join(f"<body {_placed(frame)}>{parts[frame.name]}</body>" for frame in frames)
        return f'<body name="{own.name}" {_placed(own)}>{inside}{"".join(map(body, children))}</body>'

    motors = "".join(
        f'<motor joint="{name}" ctrllimited="true" ctrlrange="{-limit} {limit}"/>' for name, limit in limits.items()
    )
    return f"""<mujoco>
    <option timestep="{timestep}" gravity="{_row(robot.gravity)}" cone="elliptic" impratio="10"
     integrator="implicitfast"/>
    <visual><global offwidth="360" offheight="360"/></visual>
    <default>
      <default class="seen"><geom mass="0" contype="0" conaffinity="0" rgba="0.4 0.4 0.45 1"/></default>
    </default>
    <asset>
      <texture type="skybox" builtin="flat" rgb1="0.9 0.95 1" width="8" height="8"/>
      <texture name="tiles" type="2d" builtin="checker" rgb1="0.85 0.85 0.85" rgb2="0.7 0.75 0.8" width="64"
       height="64"/>
      <material name="tiles" texture="tiles" texrepeat="80 80"/>
    </asset>
    <worldbody>
      <light dir="0.2 0.3 -1" directional="true" castshadow="false" diffuse="0.9 0.9 0.9"/>
      <geom name="ground" type="plane" pos="0 0 {ground}" size="40 40 1" friction="{friction} 0.01 0.001"
       solref="{stiffness} 1" priority="1" material="tiles"/>
      {"".join(body(i) for i, own in enumerate(robot.bodies) if own.parent < 0)}
    </worldbody>
    <actuator>{motors}</actuator>{extra}</mujoco>"""


def _row(numbers: Any) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def _placed(what: Any) -> str:
    R = np.array(what.placement.R)
    return f'pos="{_row(what.placement.p)}" xyaxes="{_row([*R[:, 0], *R[:, 1]])}"'


def _stick(end: ArrayLike, radius: float) -> str:
    return f'<geom type="capsule" fromto="0 0 0 {_row(end)}" size="{radius}" class="seen"/>'


def _inertial(inertia: Any, factor: float) -> str:
    """Of a body, with moments that a solid can have, which MuJoCo insists on."""
    principal, axes = np.linalg.eigh(inertia.moment)
    principal[0] = max(principal[0], 1.001 * (principal[2] - principal[1]))
    moment = factor * axes @ np.diag(principal) @ axes.T
    six = _row([*np.diag(moment), moment[0, 1], moment[0, 2], moment[1, 2]])
    return f'<inertial mass="{max(factor * inertia.mass, 1e-9)}" pos="{_row(inertia.com)}" fullinertia="{six}"/>'


class Plant:
    """A robot in MuJoCo, in free fall or on its plane; options are those of `mjcf`.

    Only the joints with limits of torques have coordinates in `state`.
    """

    def __init__(self, robot: Model, limits: Mapping[str, float], parts: Mapping[str, str], **options: Any) -> None:
        self._peer = mujoco()
        self.model = self._peer.MjModel.from_xml_string(mjcf(robot, limits, parts, **options))
        self.data = self._peer.MjData(self.model)
        own = [self.model.joint(name) for name in limits]
        self._q = [*range(7), *(joint.qposadr[0] for joint in own)]
        self._v = [*range(6), *(joint.dofadr[0] for joint in own)]

    def __repr__(self) -> str:
        return f"Plant({self.data.time:g} s, {self.model.nv} degrees of freedom)"

    @property
    def state(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """q and v, by MuJoCo's conventions."""
        return self.data.qpos[self._q], self.data.qvel[self._v]

    def put(self, q: NDArray[np.float64]) -> None:
        """At rest at q, without pushes."""
        self.data.qpos[self._q], self.data.qvel[:], self.data.xfrc_applied[:] = q, 0.0, 0.0

    def push(self, body: str, force: ArrayLike) -> None:
        """Apply a force (N, world axes) at a body's centre of mass from now on."""
        self.data.body(body).xfrc_applied[:3] = force

    def step(self, seconds: float, torques: Callable[..., ArrayLike]) -> None:
        """Simulate, with torques(t, q, v) in every step; they saturate."""
        for _ in range(round(seconds / self.model.opt.timestep)):
            self.data.ctrl[:] = torques(self.data.time, *self.state)
            self._peer.mj_step(self.model, self.data)


class Film:
    """Pictures of a plant from `begin` to `end` (s), `rate` a second, seen from `distance` (m) and two angles (deg)."""

    def __init__(
        self,
        model: Any,
        begin: float,
        end: float,
        *,
        rate: float = 20.0,
        size: tuple[int, int] = (360, 240),
        distance: float = 1.6,
        azimuth: float = 110.0,
        elevation: float = -15.0,
    ) -> None:
        self._begin, self._end, self._rate, self._distance = begin, end, rate, distance
        self._size, self._model, self.pictures = size, model, list[Any]()
        self._peer = mujoco()
        self._camera: Any = None
        self._renderer: Any = None
        if os.environ.get("MUJOCO_GL") != "off" and end > begin:
            try:
                self._renderer = self._peer.Renderer(model, size[1], size[0])
            except self._peer.FatalError:  # imported before it was told to do without a screen
                return
            self._camera = self._peer.MjvCamera()
            self._camera.distance, self._camera.azimuth, self._camera.elevation = distance, azimuth, elevation

    def __repr__(self) -> str:
        return f"Film({len(self.pictures)} pictures)"

    def show(self, data: Any) -> None:
        """Take a picture if it is time for one."""
        if not (self._begin <= data.time < self._end) or len(self.pictures) > self._rate * (data.time - self._begin):
            return
        image = peer("PIL.Image")
        picture = self._rendered(data) if self._renderer else self._lines(data)
        self.pictures.append(image.fromarray(picture).quantize(48, image.Quantize.FASTOCTREE))

    def save(self, path: str) -> None:
        """Write a GIF."""
        first, *others = self.pictures
        first.save(path, save_all=True, append_images=others, duration=round(1000 / self._rate), loop=0)

    def _rendered(self, data: Any) -> NDArray[np.uint8]:
        self._camera.lookat[:] = data.subtree_com[1]
        self._renderer.update_scene(data, camera=self._camera)
        found: NDArray[np.uint8] = self._renderer.render()
        return found

    def _lines(self, data: Any) -> NDArray[np.uint8]:
        """Lines from body to body and to what feels contact, where MuJoCo cannot draw."""
        plt, places, model = peer("matplotlib.pyplot"), data.xpos[:, ::2], self._model
        figure, half = plt.figure(figsize=(self._size[0] / 100, self._size[1] / 100)), 0.35 * self._distance
        middle = data.subtree_com[1, 0]
        low, high = -0.1 * half, -0.1 * half + 2 * half * self._size[1] / self._size[0]
        axis = figure.add_axes((0, 0, 1, 1), xlim=(middle - half, middle + half), ylim=(low, high))
        axis.axhline(0, color="k", lw=1)
        for number in range(2, model.nbody):
            axis.plot(*places[[model.body_parentid[number], number]].T, "C0", lw=3)
        for geom in np.flatnonzero(model.geom_contype[1:]) + 1:
            axis.plot(*np.array([places[model.geom_bodyid[geom]], data.geom_xpos[geom, ::2]]).T, "C1o-", lw=3)
        figure.canvas.draw()
        picture = np.asarray(figure.canvas.buffer_rgba())[:, :, :3].copy()
        plt.close(figure)
        return picture
