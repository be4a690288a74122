"""Whole-body MPC of a quadruped that trots and is pushed, closed loop against MuJoCo.

A period has one SQP step. The unknowns of a node are increments of q, v and the forces of the feet; a is the difference
of velocities. The base obeys rnea(q, v, a) - J'f = 0, joint torques stay within limits, and forces within friction
pyramids. Feet that are held have an acceleration of zero (with feedback), others have no force and follow a height.
MuJoCo's robot carries a payload and has friction in its joints, of which the controller knows nothing. A plan acts one
period after the state that it starts from is measured, or later if its solve took longer.
"""

import argparse
import json
import os
import sys
import time
from dataclasses import replace

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import codegen
from codegen import ocp
from codegen.progress import doing

if sys.platform == "linux":
    os.environ.setdefault("MUJOCO_GL", "egl")  # which draws without a screen
try:
    import mujoco
except (ImportError, AttributeError):  # nothing draws for MuJoCo here
    os.environ["MUJOCO_GL"] = "off"
    import mujoco

ROBOTS = {  # feet (front right, left, rear right, left), their radius (m), angles (rad) and torques (N m) of a leg
    "go1": (("FR_foot", "FL_foot", "RR_foot", "RL_foot"), 0.02, (0.0, 0.8, -1.5), (23.7, 23.7, 35.5)),
    "solo12": (("FR_FOOT", "FL_FOOT", "HR_FOOT", "HL_FOOT"), 0.016, (0.0, 0.7, -1.4), (2.7, 2.7, 2.7)),
    "mini_cheetah": (
        ("FR_foot_contact", "FL_foot_contact", "HR_foot_contact", "HL_foot_contact"),
        0.02,
        (0, -0.8, 1.6),
        (17, 17, 26),
    ),
}
parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--robot", default="go1", help=f"{', '.join(ROBOTS)} or a file (default: %(default)s)")
parser.add_argument("--feet", nargs=4, help="of a file: frames at the front right, front left, rear right, rear left")
parser.add_argument("--radius", type=float, default=0.02, help="of a file: of the feet in m (default: %(default)s)")
parser.add_argument("--leg", nargs="+", type=float, help="of a file: angles of a leg when it stands, or of all, in rad")
parser.add_argument(
    "--torques", nargs="+", type=float, help="of a file: limits in N m, in the same way (default: its own)"
)
parser.add_argument("--rotors", choices=("exact", "armature"), default="exact", help="how the controller models them")
parser.add_argument("--gait", choices=tuple(ocp.GAITS), default="trot", help="default: %(default)s")
parser.add_argument("--nodes", type=int, default=20, help="steps of the horizon (default: %(default)s)")
parser.add_argument("--step", type=float, default=0.025, help="length of one of them in s (default: %(default)s)")
parser.add_argument(
    "--rate", type=float, default=200.0, help="solves a second, a divisor of 1000 (default: %(default)s)"
)
parser.add_argument("--speed", type=float, default=0.5, help="of walking from 2 s on, in m/s (default: %(default)s)")
parser.add_argument("--pushes", type=int, default=20, help="how many, one every 1.5 s (default: %(default)s)")
parser.add_argument("--push", type=float, default=0.7, help="change of velocity by one in m/s (default: %(default)s)")
parser.add_argument("--payload", type=float, default=0.08, help="in parts of the mass (default: %(default)s)")
parser.add_argument("--figure", default="mpc_quadruped.png", help="the picture to write (default: %(default)s)")
parser.add_argument("--compare", action="store_true", help="measure functions against CasADi's own derivatives")
parser.add_argument("--film", default="mpc_quadruped.gif", help="the film, '' for none (default: %(default)s)")
args = parser.parse_args()


def knees_that_bend(cheetah):
    """Mini Cheetah with knees about y; in its file they turn about the axis of the shank, by which no leg bends."""
    bodies = []
    for body in cheetah.bodies:
        if "knee" in body.name:
            body = replace(body, joint=replace(body.joint, axis=(0.0, 1.0, 0.0)))
        if "knee_rotor" in body.name:
            (x, *_), _, (*_, z) = body.inertia.moment
            body = replace(body, inertia=replace(body.inertia, moment=((x, 0.0, 0.0), (0.0, z, 0.0), (0.0, 0.0, x))))
        bodies.append(body)
    return replace(cheetah, bodies=tuple(bodies))


FEET, RADIUS, POSTURE, TORQUES = ROBOTS.get(
    args.robot, (args.feet and tuple(args.feet), args.radius, args.leg, args.torques)
)
if not (FEET and POSTURE):
    parser.error("a robot of a file needs --feet and --leg")
robot = codegen.load(args.robot, base="floating", convention="mujoco")
if args.robot == "mini_cheetah":
    robot = knees_that_bend(robot)
DRIVEN = {}  # rotors: the joint that each follows, and the ratio
for loop in robot.loops:
    ratio = json.loads(loop.data)
    DRIVEN[ratio["dependent"][0]] = (ratio["independent"][0], ratio["matrix"][0][0])
JOINTS = [body.joint.name for body in robot.bodies[1:] if body.joint.name not in DRIVEN]
if (robot.nq, robot.nv) != (19, 18):
    parser.error(f"{robot.name}: a floating base and four legs of three joints are needed")
RNEA = "rnea" if args.rotors == "exact" else "approximate_rnea"
nq, nv, N, H, PERIOD, TICK = robot.nq, robot.nv, args.nodes, args.step, 1 / args.rate, 0.001
MASS = sum(body.inertia.mass for body in robot.bodies)
WEIGHT = -MASS * robot.gravity[2]
LIMIT = np.resize(TORQUES or [body.joint.effort for body in robot.bodies if body.joint.name in JOINTS], nv - 6)
if not np.isfinite(LIMIT).all():
    parser.error(f"{robot.name}: the file has no limits of torques; give --torques")
if not np.isclose(round(1000 / args.rate) * args.rate, 1000):
    parser.error(f"--rate {args.rate:g}: choose a divisor of 1000, as torques are renewed at 1 kHz")
KP, KD = 0.8 * LIMIT, 0.04 * LIMIT  # of the joints between two plans
SETTLE = 0.025  # time in which the velocity of a foot that is held vanishes (s)
MU, GRIP = 0.5, 0.8  # friction that the controller relies on, and that there is
FRICTION = 0.002 * LIMIT[0]  # of the joints, of which the controller does not know (N m s/rad)
START, FIRST, APART, LASTS = 2.0, 3.5, 1.5, 0.1  # when walking and pushes begin, how far these are apart, and last (s)
SHOWN, FILMED, FILM = 9.5, (1.5, 7.0), 20  # how much of the run is in the picture and the film (s), frames a second
states, inverse = ocp.States(robot), codegen.build(robot, RNEA)
kinematics, jacobian = (codegen.build(robot, name, frames=FEET) for name in ("fk", "jacobian"))


def standing():
    """The robot in its posture, with its feet on the ground."""
    q = robot.neutral().copy()
    q[7:] = np.resize(POSTURE, nv - 6)
    q[2] += RADIUS - kinematics(q, np.zeros(nv)).position[:, 2].min()
    return q


def stages(expand=False):
    """The stage of every node, and the last one, which is a cost of the state alone."""

    def of(name, **options):
        return codegen.to_casadi(robot, name, derivatives=1, expand=expand, **options)

    integrate, difference = of("integrate"), of("difference")
    fk, rnea = of("fk", frames=FEET), of(RNEA, external=FEET)

    def state(stage):
        (dq, dq_next), (dv, dv_next) = stage.unknown("dq", nv), stage.unknown("dv", nv)
        return stage.call(integrate, stage.parameter("q", nq), dq), stage.parameter("v", nv) + dv, dq_next, dv_next

    def follow(stage, q, v, factor):
        q_wanted, v_wanted = stage.parameter("q_wanted", nq), stage.parameter("v_wanted", nv)
        joints = nv - 6
        stage.cost(
            factor * np.array([200, 200, 800, 300, 300, 200, *joints * [4]]), stage.call(difference, q_wanted, q)
        )
        stage.cost(factor * np.array([20, 20, 20, 5, 5, 5, *joints * [0.05]]), v - v_wanted)

    each = ocp.Stage()
    q, v, dq_next, dv_next = state(each)
    q_next, v_next = each.parameter("q_next", nq), each.parameter("v_next", nv) + dv_next
    f = each.parameter("f", 12) + each.unknown("df", 12)[0]
    held, height, rate = (each.parameter(name, 4) for name in ("held", "height", "rate"))
    a = (v_next - v) / H
    each.zero(each.call(difference, q_next, each.call(integrate, q, H * (v + v_next) / 2)) - dq_next)
    position, rotation, velocity = each.call(fk, q, v)
    _, _, velocity_next = each.call(fk, q, v_next)
    forces = [rotation[3 * i : 3 * i + 3, :].T @ f[3 * i : 3 * i + 3] for i in range(4)]
    tau = each.call(rnea, q, v, a, ca.horzcat(ca.horzcat(*forces).T, ca.SX(4, 3)))
    each.zero(tau[:6])
    each.bounded(-LIMIT, tau[6:], LIMIT)
    for i in range(4):
        x, y, z = ca.vertsplit(f[3 * i : 3 * i + 3])
        rest = velocity_next[i, :3].T - max(1 - H / SETTLE, 0) * velocity[i, :3].T
        rest[2] += 200 * H * (position[i, 2] - RADIUS)
        each.zero(held[i] * rest / H + (1 - held[i]) * f[3 * i : 3 * i + 3])
        pyramid = ca.vertcat(z, MU * z - x, MU * z + x, MU * z - y, MU * z + y)
        each.bounded(-0.1 * WEIGHT * (1 - held[i]), pyramid, np.inf)  # without force, bounds are not active
        each.cost(30 * (1 - held[i]), velocity[i, 2] - rate[i] + 20 * (position[i, 2] - RADIUS - height[i]))
    follow(each, q, v, 1.0)
    each.cost(2e-4, a)
    each.cost(30 / WEIGHT**2, f - each.parameter("f_wanted", 12))
    last = ocp.Stage()
    q, v, _, _ = state(last)
    follow(last, q, v, 10.0)
    return each, last


class Plan:
    """The first step of a trajectory: states at its ends, and torques."""

    def __init__(self, begin, q, v, f):
        a = (v[1] - v[0]) / H
        pushes = np.einsum("fij,fi->j", jacobian(q[0])[:, :3], f.reshape(4, 3))
        self.begin, self.q, self.v, self.tau = begin, q, v, (inverse(q[0], v[0], a) - pushes)[6:]

    def at(self, t):
        """The planned state at time t."""
        part = (t - self.begin) / H
        return states.between(self.q[0], self.q[1], part), self.v[0] + part * (self.v[1] - self.v[0])

    def torques(self, t, q, v):
        """Those of the plan, and feedback of the joints."""
        part = (t - self.begin) / H
        q_wanted, v_wanted = ((1 - part) * x[0] + part * x[1] for x in (self.q, self.v))
        return self.tau + KP * (q_wanted - q)[7:] + KD * (v_wanted - v)[6:]

    def ahead(self, t, q, v):
        """The state that comes a period after q and v at time t, by the plan."""
        (q0, v0), (q1, v1) = self.at(t), self.at(t + PERIOD)
        return states.moved(q, states.difference(q0, q1)), v + v1 - v0


class Controller:
    """The trajectory that is planned, and one SQP step of it at a time."""

    def __init__(self, q, expand=False, compile_c=True):
        self.problem, self.solver = ocp.Problem(*stages(expand), N, known=2 * nv, compile_c=compile_c), ocp.Piqp(0.1)
        self.restart(0.0, q)

    def restart(self, t, q):
        """Forget what was planned, and stand."""
        self.q, self.v, self.begin = np.tile(q, (N + 1, 1)), np.zeros((N + 1, nv)), t
        self.f = np.tile([0.0, 0.0, WEIGHT / 4], (N + 1, 4))

    def parameters(self, where, speed):
        """What the stages are given: the gait, the wanted motion from here on, and the trajectory that is known."""
        times = self.begin + H * np.arange(N + 1)
        held = gait.held(times).astype(float)
        wanted, v_wanted, f_wanted = np.tile(REST, (N + 1, 1)), np.zeros((N + 1, nv)), np.zeros((N + 1, 12))
        wanted[:, :2] = where
        wanted[:, 0] += speed * H * np.arange(N + 1)
        v_wanted[:, 0] = speed
        f_wanted[:, 2::3] = held * WEIGHT / np.maximum(held.sum(axis=1, keepdims=True), 1)
        found = {"q": self.q, "v": self.v, "q_wanted": wanted, "v_wanted": v_wanted}
        schedule = {"held": held, "height": gait.height(times), "rate": gait.rate(times), "f_wanted": f_wanted}
        following = {"q_next": self.q[1:], "v_next": self.v[1:]}
        each = {name: x[:N] for name, x in {**found, **schedule, "f": self.f}.items()}
        return {**each, **following}, {name: x[N:] for name, x in found.items()}

    def plan(self, t, q, v, where, speed):
        """The plan from a state at time t, after one step; seconds in functions and in the QP, success, iterations."""
        begun = time.process_time()
        self.q, self.v = states.later(self.q, self.v, (t - self.begin) / H)
        self.q[0], self.v[0], self.begin = q, v, t
        qp = self.problem.quadratic(*self.parameters(where, speed))
        between = time.process_time()
        found = self.solver.solve(qp)
        if found.solved:
            step = self.problem.increments(found.x)
            self.q, self.v, self.f = states.moved(self.q, step["dq"]), self.v + step["dv"], self.f + step["df"]
        plan = Plan(t, self.q[:2], self.v[:2], self.f[0]) if found.solved else None
        return plan, between - begun, time.process_time() - begun, found.solved, found.iterations


REST = standing()
gait = ocp.Gait.named(args.gait, robot, FEET, clearance=0.25 * REST[2], start=0.2)


def mjcf():
    """The robot for MuJoCo: its bodies with drawn sticks, spheres as feet, motors, and what the controller ignores."""

    def row(numbers):
        return " ".join(repr(float(x)) for x in numbers)

    def stick(end, size):
        return f'<geom type="capsule" fromto="0 0 0 {row(end)}" size="{size}" class="seen"/>' if np.any(end) else ""

    def body(i):
        own, R, size = robot.bodies[i], np.array(robot.bodies[i].placement.R), 0.8 * RADIUS
        principal, axes = np.linalg.eigh(own.inertia.moment)
        principal[0] = max(principal[0], 1.001 * (principal[2] - principal[1]))  # what no solid has MuJoCo refuses
        moment = axes @ np.diag(principal) @ axes.T
        six = row([*np.diag(moment), moment[0, 1], moment[0, 2], moment[1, 2]])
        text = f'<body name="{own.name}" pos="{row(own.placement.p)}" xyaxes="{row([*R[:, 0], *R[:, 1]])}">'
        text += f'<inertial mass="{max(own.inertia.mass, 1e-9)}" pos="{row(own.inertia.com)}" fullinertia="{six}"/>'
        damping = FRICTION * (own.joint.name in JOINTS)
        hinge = f'<joint name="{own.joint.name}" axis="{row(own.joint.axis)}" damping="{damping}"/>'
        text += hinge if i else f"<freejoint/>{trunk}"
        for j, other in enumerate(robot.bodies):
            if other.parent == i:
                text += (stick(other.placement.p, size) if i and other.joint.name in JOINTS else "") + body(j)
        for frame in robot.frames:
            if frame.body == i and frame.name in FEET:
                foot = f'<geom name="{frame.name}" size="{RADIUS}" pos="{row(frame.placement.p)}" mass="0"/>'
                text += stick(frame.placement.p, size) + foot
        return text + "</body>"

    hips = np.array([own.placement.p for own in robot.bodies if own.parent == 0])
    half = hips.max(axis=0) * [1, 1, 0] + [0, 0, 2 * RADIUS]
    trunk = f'<geom type="box" size="{row(half)}" class="seen" rgba="0.2 0.4 0.7 1"/>'
    trunk += f'<body pos="{row(half * [0.3, 0, 1.7])}"><geom type="box" size="{row(half * [0.4, 0.8, 0.7])}" '
    trunk += f'mass="{args.payload * MASS + 1e-6}" contype="0" conaffinity="0" rgba="0.8 0.4 0.1 1"/></body>'
    motors = "".join(
        f'<motor joint="{name}" ctrllimited="true" ctrlrange="{-limit} {limit}"/>'
        for name, limit in zip(JOINTS, LIMIT, strict=True)
    )
    gears = "".join(
        f'<joint joint1="{rotor}" joint2="{joint}" polycoef="0 {ratio} 0 0 0" '
        'solref="0.002 1" solimp="0.9999 0.9999 0.001"/>'
        for rotor, (joint, ratio) in DRIVEN.items()
    )
    return f"""<mujoco>
    <option timestep="{TICK}" gravity="{row(robot.gravity)}" cone="elliptic" impratio="10"/>
    <visual><global offwidth="360" offheight="240"/></visual>
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
      <camera name="beside" mode="trackcom" pos="0.4 -1.4 0.75" xyaxes="1.3 0.3 0 -0.2 0.85 1.78"/>
      <geom type="plane" size="40 40 1" friction="{GRIP}" material="tiles"/>
      {body(0)}
    </worldbody>
    <equality>{gears}</equality><actuator>{motors}</actuator></mujoco>"""


class Plant:
    """MuJoCo's robot, with pushes, and a film of it."""

    def __init__(self):
        self.model = mujoco.MjModel.from_xml_string(mjcf())
        self.data, self.rng = mujoco.MjData(self.model), np.random.default_rng(0)
        self.feet, self.trunk = [self.model.geom(name).id for name in FEET], self.model.body(robot.bodies[0].name).id
        self.at_q, self.at_v = list(range(7)), list(range(6))
        for joint in map(self.model.joint, JOINTS):
            self.at_q.append(joint.qposadr[0])
            self.at_v.append(joint.dofadr[0])
        self.pictures = []
        self.stand_up()
        self.renderer = (
            mujoco.Renderer(self.model, 240, 360) if args.film and os.environ["MUJOCO_GL"] != "off" else None
        )

    def state(self):
        """q and v."""
        return self.data.qpos[self.at_q], self.data.qvel[self.at_v]

    def touching(self):
        """Which feet touch the ground."""
        pairs = {geom for contact in self.data.contact for geom in contact.geom}
        return [foot in pairs for foot in self.feet]

    def push(self, begins):
        """Begin or end a push in a random horizontal direction."""
        angle = self.rng.uniform(0, 2 * np.pi)
        force = MASS * args.push / LASTS * begins * np.array([np.cos(angle), np.sin(angle), 0.0])
        self.data.xfrc_applied[self.trunk, :3] = force

    def fallen(self):
        """Whether the trunk is close to the ground, or tilted by more than 60 degrees."""
        q = self.data.qpos
        return q[2] < 0.4 * REST[2] or 1 - 2 * (q[4] ** 2 + q[5] ** 2) < 0.5

    def stand_up(self):
        """Start again from rest, at this place."""
        self.data.qpos[self.at_q[2:]], self.data.qvel[:] = REST[2:], 0.0
        for rotor, (joint, ratio) in DRIVEN.items():
            self.data.joint(rotor).qpos[:] = ratio * self.data.joint(joint).qpos
        self.data.xfrc_applied[:] = 0.0

    def step(self, plan):
        """A period with torques by a plan."""
        for _ in range(round(PERIOD / TICK)):
            self.data.ctrl[:] = plan.torques(self.data.time, *self.state())
            mujoco.mj_step(self.model, self.data)
        if args.film and len(self.pictures) < FILM * (self.data.time - FILMED[0]) and self.data.time < FILMED[1]:
            self.pictures.append(Image.fromarray(self.drawn()).quantize(48, Image.Quantize.FASTOCTREE))

    def drawn(self):
        """A picture by MuJoCo, or lines from body to body where it cannot draw."""
        if self.renderer:
            self.renderer.update_scene(self.data, camera="beside")
            return self.renderer.render()
        figure, places = plt.figure(figsize=(3.6, 2.4)), self.data.xpos[:, ::2]
        axis = figure.add_axes((0, 0, 1, 1), xlim=places[1, 0] + [-0.6, 0.6], ylim=(-0.1, 0.7))
        axis.axhline(0, color="k", lw=1)
        for body in range(2, self.model.nbody):
            axis.plot(*places[[self.model.body_parentid[body], body]].T, "C0", lw=3)
        for foot in self.feet:
            axis.plot(*np.array([places[self.model.geom_bodyid[foot]], self.data.geom_xpos[foot, ::2]]).T, "C1", lw=3)
        figure.canvas.draw()
        picture = np.asarray(figure.canvas.buffer_rgba())[:, :, :3].copy()
        plt.close(figure)
        return picture


def closed_loop(seconds):
    """A row for each period (time, q, v, place wanted, speed wanted, held, touching) and for each solve (time, ...)."""
    plant, controller, where = Plant(), Controller(REST), REST[:2].copy()
    plan, *_ = [controller.plan(0.0, REST, np.zeros(nv), where, 0.0)[0] for _ in range(5)][-1:]
    rows, solves, pushes, falls, upcoming, ready = [], [], [], [], None, 0
    for period in range(round(seconds / PERIOD)):
        now, (q, v) = period * PERIOD, plant.state()
        speed = args.speed * (now >= START)
        where = np.clip([where[0] + speed * PERIOD, 0.0], q[:2] - 0.2, q[:2] + 0.2)
        if period >= ready:
            plan = upcoming or plan
            upcoming, *spent = controller.plan(now + PERIOD, *plan.ahead(now, q, v), where, speed)
            solves.append((now, *spent))
            ready = period + max(1, int(np.ceil(spent[1] / PERIOD)))
        rows.append((now, q, v, where, speed, gait.held(now), plant.touching()))
        if (due := FIRST + APART * len(pushes)) <= now and len(pushes) < args.pushes:
            pushes.append(due)
            plant.push(1)
        elif pushes and pushes[-1] + LASTS <= now < pushes[-1] + LASTS + PERIOD:
            plant.push(0)
        plant.step(plan)
        if plant.fallen():
            falls.append(now)
            plant.stand_up()
            controller.restart(now, plant.state()[0])
            upcoming, ready = controller.plan(now + PERIOD, *plant.state(), where, speed)[0], period + 1
    columns = [[np.array(column) for column in zip(*table, strict=True)] for table in (rows, solves)]
    return *columns, pushes, falls, plant.pictures


def summary(rows, solves, pushes, falls):
    """Print what the run was like."""
    (t, q, v, where, speed, *_), (_, functions, spent, solved, iterations) = rows, solves
    milliseconds = 1e3 * spent
    half, most = np.percentile(milliseconds, [50, 99])
    lost = sum(any(push <= fall < push + APART for fall in falls) for push in pushes)
    calm = np.array([not any(push <= now < push + 1.0 for push in pushes) for now in t]) & (t > START + 0.5)
    error = v[calm, 0] - speed[calm]
    for what, said in {
        "solves": f"{len(spent)} in {t[-1] + PERIOD:.2f} s, {len(spent) / (t[-1] + PERIOD):.1f} Hz",
        "time of a solve": f"median {half:.2f} ms, 99 % {most:.2f} ms, longest {milliseconds.max():.2f} ms",
        "of which in functions": f"median {1e3 * np.median(functions):.2f} ms",
        "iterations in a QP": f"median {np.median(iterations):g}, most {iterations.max()}",
        f"missed deadlines ({1e3 * PERIOD:g} ms)": f"{np.sum(spent > PERIOD)}",
        "failed solves": f"{np.sum(~solved)}",
        "falls": f"{len(falls)}",
        "pushes recovered from": f"{len(pushes) - lost} of {len(pushes)} ({args.push:g} m/s each)",
        "error of velocity ahead": f"mean {error.mean():.3f}, rms {np.sqrt(np.mean(error**2)):.3f} m/s",
        "error of height": f"mean {np.mean(q[calm, 2] - REST[2]):.4f} m",
        "error across the way": f"rms {np.sqrt(np.mean((q[calm, 1] - where[calm, 1]) ** 2)):.3f} m",
    }.items():
        print(f"{what:32}{said}")


def picture(rows, solves, pushes, falls):
    """Velocities and height against what is wanted, feet that are held and that touch, and the time of every solve."""
    (t, q, v, _, speed, held, touching), (when, functions, spent, solved, _) = rows, solves
    figure, axes = plt.subplots(5, 1, figsize=(10, 11), sharex=True, layout="constrained")
    wanted = (
        (v[:, 0], speed, "velocity ahead (m/s)"),
        (v[:, 1], 0 * t, "across (m/s)"),
        (q[:, 2], 0 * t + REST[2], "height (m)"),
    )
    for axis, (actual, reference, label) in zip(axes, wanted, strict=False):
        axis.plot(t, reference, "k--", lw=1, label="wanted")
        axis.plot(t, actual, "C0", lw=1.2, label="MuJoCo")
        axis.set_ylabel(label)
    for foot in range(4):
        axes[3].fill_between(
            t, foot - 0.4, foot + 0.4, where=held[:, foot], color="0.8", lw=0, label="held" if not foot else None
        )
        touches = np.where(touching[:, foot], float(foot), np.nan)
        axes[3].plot(t, touches, "C0", lw=2.5, label="touches" if not foot else None)
    axes[3].set(yticks=range(4), yticklabels=FEET, ylim=(-0.6, 3.6))
    axes[4].plot(when, 1e3 * spent, "C0.", ms=2, label="a solve")
    axes[4].plot(when, 1e3 * functions, "C1.", ms=2, label="functions in it")
    axes[4].plot(when[~solved], 1e3 * spent[~solved], "kx", ms=8, label=f"failed ({np.sum(~solved)})")
    axes[4].axhline(1e3 * PERIOD, color="k", ls=":", lw=1.2, label="period")
    axes[4].set(ylabel="time (ms)", xlabel="time (s)", xlim=(0, min(t[-1], SHOWN)))
    axes[4].set(ylim=(0, 1.1e3 * max(*spent[when < SHOWN], PERIOD)))
    for axis in axes:
        for push in pushes:
            axis.axvspan(push, push + LASTS, color="C3", alpha=0.3, lw=0, label="push" if push == pushes[0] else None)
        for fall in falls:
            axis.axvline(fall, color="k", lw=2, label="fall" if fall == falls[0] else None)
        axis.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")
    figure.savefig(args.figure, dpi=100)
    plt.close(figure)


def evaluation(name, expand, compile_c):
    """Print the time of the functions and Jacobians of a whole horizon."""
    controller = Controller(REST, expand=expand, compile_c=compile_c)
    given, times = controller.parameters(REST[:2], 0.0), []
    for _ in range(20):
        begun = time.process_time()
        controller.problem.quadratic(*given)
        times.append(time.process_time() - begun)
    print(f"{name:32}{1e3 * np.median(times):.2f} ms")


with doing("closed loop"):
    *found, pictures = closed_loop(FIRST + APART * args.pushes + 0.5)
summary(*found)
picture(*found)
print(f"wrote {args.figure}")
if pictures:
    pictures[0].save(args.film, save_all=True, append_images=pictures[1:], duration=1000 // FILM, loop=0)
    print(f"wrote {args.film}")
if args.compare:
    print("functions and Jacobians of a horizon, with their places in the QP")
    evaluation("rigidc's C", False, True)
    evaluation("CasADi's AD, virtual machine", True, False)
    evaluation("CasADi's AD, compiled C", True, True)
