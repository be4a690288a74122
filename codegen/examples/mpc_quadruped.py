"""Whole-body MPC of a quadruped that trots and is pushed, closed loop against MuJoCo.

A period has one Newton step. The unknowns of a node are increments of q, v and the forces of the feet; a is the
difference of velocities. The base obeys rnea(q, v, a) - J'f = 0, and limits of torques and friction pyramids are
barriers (or bounds of a QP). Feet that are held keep their place, others have no force and follow a height.
MuJoCo's robot carries a payload and has friction in its joints, of which the controller knows nothing. A plan acts one
period after the state that it starts from is measured, or later if its solve took longer.
"""

import argparse
import gc
import json
import time
from dataclasses import replace

import casadi as ca
import numpy as np

import codegen
from codegen import ocp
from codegen.extras import extra
from codegen.progress import doing

with extra("mpc", "mujoco", "scipy"):
    import matplotlib.pyplot as plt

ENDS = ("FR", "FL", "HR", "HL")
ROBOTS = {  # feet (front right, left, rear right, left), their radius (m), angles (rad) and torques (N m) of a leg
    "go1": (("FR_foot", "FL_foot", "RR_foot", "RL_foot"), 0.02, (0.0, 0.8, -1.5), (23.7, 23.7, 35.5)),
    "solo12": (("FR_FOOT", "FL_FOOT", "HR_FOOT", "HL_FOOT"), 0.016, (0.0, 0.7, -1.4), (2.7, 2.7, 2.7)),
    "mini_cheetah": (tuple(f"{leg}_foot_contact" for leg in ENDS), 0.02, (0.0, -0.8, 1.6), (17.0, 17.0, 26.0)),
}
parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--robot", default="go1", help=f"{', '.join(ROBOTS)} or a file (default: %(default)s)")
parser.add_argument("--feet", nargs=4, help="of a file: front right and left, rear right and left (default: found)")
parser.add_argument("--radius", type=float, default=0.02, help="of a file: of the feet in m (default: %(default)s)")
parser.add_argument("--leg", nargs="+", type=float, help="of a file: angles of a leg or of all in rad (default: found)")
parser.add_argument(
    "--torques", nargs="+", type=float, help="of a file: limits in N m, in the same way (default: its own)"
)
parser.add_argument("--rotors", choices=("exact", "armature"), default="exact", help="how the controller models them")
parser.add_argument("--solver", choices=("riccati", "piqp"), default="riccati", help="of steps (default: %(default)s)")
parser.add_argument("--gait", choices=tuple(ocp.GAITS), default="trot", help="default: %(default)s")
parser.add_argument("--nodes", type=int, default=50, help="steps of the horizon (default: %(default)s)")
parser.add_argument("--step", type=float, default=0.02, help="length of one of them in s (default: %(default)s)")
parser.add_argument(
    "--rate", type=float, default=500.0, help="solves a second, a divisor of 1000 (default: %(default)s)"
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
try:
    robot = codegen.load(args.robot, base="floating", convention="mujoco")
    if args.robot == "mini_cheetah":
        robot = knees_that_bend(robot)
    FEET = FEET or ocp.quadruped_feet(robot)
    if POSTURE is None:
        POSTURE = ocp.quadruped_stance(robot, FEET)
        print(f"feet {' '.join(FEET)}; legs {' '.join(map('{:.2f}'.format, POSTURE))} (rad)")
    kinematics, jacobian = (codegen.build(robot, name, frames=FEET) for name in ("fk", "jacobian"))
except codegen.RobotError as error:
    parser.error(str(error))
DRIVEN = {}  # rotors: the joint that each follows, and the ratio
for loop in robot.loops:
    ratio = json.loads(loop.data)
    DRIVEN[ratio["dependent"][0]] = (ratio["independent"][0], ratio["matrix"][0][0])
JOINTS = [body.joint.name for body in robot.bodies[1:] if body.joint.name not in DRIVEN]
if (robot.nq, robot.nv) != (19, 18):
    parser.error(f"{robot.name}: a floating base and four legs of three joints are needed")
for option, given in (("--leg", args.leg), ("--torques", args.torques)):
    if given and len(given) not in (3, 12):
        parser.error(f"{option}: {len(given)} numbers; give 3 for all legs, or 12 in the order of the joints")
RNEA = "rnea" if args.rotors == "exact" else "approximate_rnea"
nq, nv, N, H, PERIOD = robot.nq, robot.nv, args.nodes, args.step, 1 / args.rate
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
DAMPING = 0.002  # of the joints in parts of the limits, of which the controller does not know (s/rad)
START, FIRST, APART, LASTS = 2.0, 3.5, 1.5, 0.1  # when walking and pushes begin, how far these are apart, and last (s)
SHOWN, FILMED, FILM = 9.5, (1.5, 7.0), 20  # how much of the run is in the picture and the film (s), frames a second
inverse = codegen.build(robot, RNEA)


def standing():
    """The robot in its posture, with its feet on the ground."""
    q = robot.neutral().copy()
    q[7:] = np.resize(POSTURE, nv - 6)
    q[2] += RADIUS - kinematics(q, np.zeros(nv)).position[:, 2].min()
    return q


def stages(expand):
    """The stage of every node, and the last one, which is a cost of the state alone."""
    body, each, last = ocp.WholeBody(robot, H, expand=expand), ocp.Stage(), ocp.Stage()
    fk, rnea = body.functions(**{"fk": {"frames": FEET}, RNEA: {"external": FEET}})

    def follow(stage, q, v, factor):
        q_weights = [200, 200, 800, 300, 300, 200, *(nv - 6) * [4]]
        body.follow(stage, q, v, factor * np.array(q_weights), factor * np.r_[20, 20, 20, 5, 5, 5, (nv - 6) * [0.05]])

    node = body.node(each, feet=4, forces=12)
    q, v, f, held = node.q, node.v, node.f, node.held
    position, rotation, velocity = each.call(fk, q, v)
    _, _, velocity_next = each.call(fk, q, node.v_next)
    forces = [rotation[3 * i : 3 * i + 3, :].T @ f[3 * i : 3 * i + 3] for i in range(4)]
    tau = each.call(rnea, q, v, node.a, ca.horzcat(ca.horzcat(*forces).T, ca.SX(4, 3)))
    each.zero(tau[:6])
    each.bounded(-1.0, tau[6:] / LIMIT, 1.0)
    for i in range(4):
        x, y, z = ca.vertsplit(f[3 * i : 3 * i + 3])
        rest = velocity_next[i, :3].T - max(1 - H / SETTLE, 0) * velocity[i, :3].T
        rest[2] += 200 * H * (position[i, 2] - RADIUS)
        each.zero(held[i] * rest / H + (1 - held[i]) * f[3 * i : 3 * i + 3])
        pyramid = ca.vertcat(z, MU * z - x, MU * z + x, MU * z - y, MU * z + y)
        each.bounded(-0.5 * (1 - held[i]), 4 * pyramid / WEIGHT, np.inf)  # without force, bounds are far
        height = position[i, 2] - RADIUS - node.height[i]
        each.cost(30 * (1 - held[i]), velocity[i, 2] - node.rate[i] + 20 * height)
    follow(each, q, v, 1.0)
    each.cost(2e-4, node.a)
    each.cost(30 / WEIGHT**2, f - each.parameter("f_wanted", 12))
    q, v, _ = body.state(last)
    follow(last, q, v, 10.0)
    return each, last


class Controller(ocp.Walker):
    """Steps of a solver; with `lanes` many nodes are evaluated at once."""

    def __init__(self, expand=True, lanes=True):
        problem = ocp.Problem(*stages(expand), N, known=2 * nv, compile_c=not expand, lanes=lanes)
        solver = ocp.Riccati(problem) if args.solver == "riccati" else ocp.Piqp(0.005)
        super().__init__(robot, problem, solver, gait, H, REST, WEIGHT)

    def torques(self):
        """Of the first step, of which the forces of the feet take a part."""
        plan = self.horizon
        pushes = np.einsum("fij,fi->j", jacobian(plan.q[0])[:, :3], plan.f[0].reshape(4, 3))
        return (inverse(plan.q[0], plan.v[0], plan.acceleration) - pushes)[6:]


REST = standing()
gait = ocp.Gait.named(args.gait, robot, FEET, clearance=0.25 * REST[2], start=0.2)


def trunk():
    """A box from hip to hip with a payload on it, as elements of MJCF."""
    hips = np.array([own.placement.p for own in robot.bodies if own.parent == 0])
    x, y, z = hips.max(axis=0) * [1, 1, 0] + [0, 0, 2 * RADIUS]
    box = f'<geom type="box" size="{x} {y} {z}" class="seen" rgba="0.2 0.4 0.7 1"/><body pos="{0.3 * x} 0 {1.7 * z}">'
    box += f'<geom type="box" size="{0.4 * x} {0.8 * y} {0.7 * z}" mass="{args.payload * MASS + 1e-6}" '
    return box + 'contype="0" conaffinity="0" rgba="0.8 0.4 0.1 1"/></body>'


class Quadruped(ocp.Plant):
    """MuJoCo's robot: spheres for feet, a payload, rotors on gears, and what the controller ignores."""

    def __init__(self):
        gears = "".join(
            f'<joint joint1="{rotor}" joint2="{joint}" polycoef="0 {ratio} 0 0 0" '
            'solref="0.002 1" solimp="0.9999 0.9999 0.001"/>'
            for rotor, (joint, ratio) in DRIVEN.items()
        )
        feet = {foot: f'<geom name="{foot}" size="{RADIUS}" mass="0" rgba="0.2 0.2 0.2 1"/>' for foot in FEET}
        super().__init__(
            robot,
            dict(zip(JOINTS, LIMIT, strict=True)),
            {**feet, robot.bodies[0].name: trunk()},
            losses=(DAMPING, 0.0),
            friction=GRIP,
            stick=0.8 * RADIUS,
            extra=f"<equality>{gears}</equality>",
        )
        self.feet = [self.model.geom(foot).id for foot in FEET]
        self.stand_up()

    def touching(self):
        """Which feet touch the ground."""
        pairs = {geom for contact in self.data.contact for geom in contact.geom}
        return [foot in pairs for foot in self.feet]

    def fallen(self):
        """Whether the trunk is close to the ground, or tilted by more than 60 degrees."""
        q = self.data.qpos
        return q[2] < 0.4 * REST[2] or 1 - 2 * (q[4] ** 2 + q[5] ** 2) < 0.5

    def stand_up(self):
        """Start again from rest, at this place."""
        self.put(np.array([*self.data.qpos[:2], *REST[2:]]))
        for rotor, (joint, ratio) in DRIVEN.items():
            self.data.joint(rotor).qpos[:] = ratio * self.data.joint(joint).qpos


def closed_loop(seconds):
    """A row for each period (time, q, v, place wanted, speed wanted, held, touching), solves, pushes, falls, a film."""
    plant, controller, rng = Quadruped(), Controller(), np.random.default_rng(0)
    film = ocp.Film(plant.model, *(FILMED if args.film else (0.0, 0.0)), rate=FILM, distance=5 * REST[2])
    loop = ocp.Delayed(controller.plan, PERIOD)
    gc.freeze()  # what was traced and compiled is no garbage
    loop.restart(0.0, *plant.state)
    rows, solves, pushes, falls, force = [], [], [], [], np.zeros(3)
    for period in range(round(seconds / PERIOD)):
        now, (q, v) = period * PERIOD, plant.state
        speed = args.speed * (now >= START)
        controller.move_on(q, (controller.where[0] + speed * PERIOD, 0.0), speed)
        solves.append(loop.update(now, q, v))
        rows.append((now, q, v, controller.where, controller.speed, gait.held(now), plant.touching()))
        if (due := FIRST + APART * len(pushes)) <= now and len(pushes) < args.pushes:
            pushes.append(due)
            angle = rng.uniform(0, 2 * np.pi)
            force = MASS * args.push / LASTS * np.array([np.cos(angle), np.sin(angle), 0.0])
        plant.push(robot.bodies[0].name, force * bool(pushes and now < pushes[-1] + LASTS - 1e-9))
        plant.step(PERIOD, lambda *state: loop.current.torques(*state, KP, KD))
        film.show(plant.data)
        if plant.fallen():
            falls.append(now)
            plant.stand_up()
            controller.restart(now, plant.state[0])
            loop.restart(now + PERIOD, *plant.state)
    return [np.array(column) for column in zip(*rows, strict=True)], [x for x in solves if x], pushes, falls, film


def summary(rows, solves, pushes, falls):
    """Print what the run was like."""
    t, q, v, where, speed, *_ = rows
    iterations = [solve.iterations for solve in solves]
    lost = sum(any(push <= fall < push + APART for fall in falls) for push in pushes)
    calm = np.array([not any(push <= now < push + 1.0 for push in pushes) for now in t]) & (t > START + 0.5)
    error = v[calm, 0] - speed[calm]
    ocp.print_table(
        ocp.of_solves(solves, PERIOD, t[-1] + PERIOD)
        | {
            "iterations in a QP": f"median {np.median(iterations):g}, most {max(iterations)}",
            "falls": f"{len(falls)}",
            "pushes recovered from": f"{len(pushes) - lost} of {len(pushes)} ({args.push:g} m/s each)",
            "error of velocity ahead": f"mean {error.mean():.3f}, rms {np.sqrt(np.mean(error**2)):.3f} m/s",
            "error of height": f"mean {np.mean(q[calm, 2] - REST[2]):.4f} m",
            "error across the way": f"rms {np.sqrt(np.mean((q[calm, 1] - where[calm, 1]) ** 2)):.3f} m",
        }
    )


def picture(rows, solves, pushes, falls):
    """Velocities and height against what is wanted, feet that are held and that touch, and the time of every solve."""
    t, q, v, _, speed, held, touching = rows
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
    ocp.draw_solves(axes[4], [solve for solve in solves if solve.begun < SHOWN], PERIOD)
    axes[4].set_xlim(0, min(t[-1], SHOWN))
    ocp.draw_events(axes, pushes, LASTS, falls)
    figure.savefig(args.figure, dpi=100)
    plt.close(figure)


def evaluation(name, expand, lanes):
    """Print the time of the functions and Jacobians of a whole horizon."""
    controller = Controller(expand, lanes)
    given, times = controller.parameters(), []
    for _ in range(20):
        begun = time.process_time()
        controller.horizon.problem.evaluated(*given)
        times.append(time.process_time() - begun)
    print(f"{name:32}{1e3 * np.median(times):.2f} ms")


with doing("closed loop"):
    *found, film = closed_loop(FIRST + APART * args.pushes + 0.5)
summary(*found)
picture(*found)
print(f"wrote {args.figure}")
if film.pictures:
    film.save(args.film)
    print(f"wrote {args.film}")
if args.compare:
    print("functions and Jacobians of a horizon")
    evaluation("nodes in SIMD lanes", True, True)
    evaluation("one node after the other", False, False)
    evaluation("CasADi's virtual machine", True, False)
