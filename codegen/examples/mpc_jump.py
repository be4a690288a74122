"""Whole-body MPC of a humanoid with rotors and belts that jumps, closed loop against MuJoCo.

The motors of the MIT Humanoid turn rotors with gear ratios of 6 to 12, and the ankle's motor sits at the knee: a belt
couples both joints. `rnea` has rotors and belts exactly, or with `--rotors armature` their inertia about their own axes
alone. Limits are those of the motors. A period has one Newton step; the unknowns of a node are increments of q, v and
the forces at toes and heels, and a is the difference of velocities. The base obeys rnea(q, v, a) - J'f = 0. Points that
are held keep their place; all let go of the ground at once, and no plan says how high the robot jumps. In MuJoCo rotors
are bodies, tied to joints by constraints; masses differ, and joints are damped. A plan acts one period after the state
that it starts from is measured, or later if its solve took longer. Times are of the processor.
"""

import argparse
import gc
import json

import casadi as ca
import numpy as np

import codegen
from codegen import ocp
from codegen.extras import extra
from codegen.progress import doing

with extra("mpc", "mujoco", "scipy"):
    import matplotlib.pyplot as plt

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--rotors", choices=("exact", "armature"), default="exact", help="how the controller models them")
parser.add_argument("--nodes", type=int, default=40, help="steps of the horizon (default: %(default)s)")
parser.add_argument("--step", type=float, default=0.02, help="length of one of them in s (default: %(default)s)")
parser.add_argument("--rate", type=float, default=200.0, help="solves a second, dividing 1000 (default: %(default)s)")
parser.add_argument("--jumps", type=int, default=10, help="how many (default: %(default)s)")
parser.add_argument("--flight", type=float, default=0.3, help="time in the air in s (default: %(default)s)")
parser.add_argument("--push", type=float, default=0.1, help="change of velocity by one in m/s (default: %(default)s)")
parser.add_argument("--seed", type=int, default=0, help="of MuJoCo's masses and pushes (default: %(default)s)")
parser.add_argument("--figure", default="mpc_jump.png", help="the picture to write (default: %(default)s)")
parser.add_argument("--film", default="mpc_jump.gif", help="the film, '' for none (default: %(default)s)")
args = parser.parse_args()

robot = codegen.load("mit_humanoid", convention="mujoco")
nq, nv, N, H, PERIOD = robot.nq, robot.nv, args.nodes, args.step, 1 / args.rate
if not np.isclose(round(1000 / args.rate) * args.rate, 1000):
    parser.error(f"--rate {args.rate:g}: choose a divisor of 1000, as torques are renewed at 1 kHz")
POINTS = tuple(f"{side}_{end}_contact" for side in ("right", "left") for end in ("toe", "heel"))
LOOPS = [json.loads(loop.data) for loop in robot.loops]
ROTORS = [name for loop in LOOPS for name in loop["dependent"]]
JOINTS = [body.joint.name for body in robot.bodies[1:] if body.joint.name not in ROTORS]
GEARS = np.zeros((nv - 6, nv - 6))  # what rotors turn, by joints: torques of joints are GEARS' torques of motors
for loop in LOOPS:
    rows, columns = [ROTORS.index(name) for name in loop["dependent"]], [JOINTS.index(x) for x in loop["independent"]]
    GEARS[np.ix_(rows, columns)] = loop["matrix"]
STRONG = ("hip_ry", "knee")
MOTOR = np.array([12.0 if any(name in rotor for name in STRONG) else 5.7 for rotor in ROTORS])  # limits (N m)
TO_MOTORS = np.linalg.inv(GEARS.T)
LIMIT = np.abs(GEARS.T) @ MOTOR  # of joints, if all motors that drive one help
KP, KD = 0.8 * LIMIT, 0.03 * LIMIT  # of the joints between two plans
MASS = sum(body.inertia.mass for body in robot.bodies)
WEIGHT = -MASS * robot.gravity[2]
MU, GRIP, SETTLE = 0.5, 0.8, 0.02  # friction for the controller, and in MuJoCo; how soon a held point rests (s)
MASSES, DAMPING = 0.05, 0.002  # what MuJoCo's masses differ by; damping of joints in parts of their limits (s/rad)
RADIUS, STIFF = 0.015, 0.004  # of spheres at toes and heels in MuJoCo (m), and of their contacts (s)
STANCE, START = 0.6, 1.0  # time on the ground between jumps, and before the first (s)
PUSHED = 0.2, 0.1  # when, after the feet came down, and for how long (s)
END = START + args.jumps * (STANCE + args.flight) + 1.0
RNEA = "rnea" if args.rotors == "exact" else "approximate_rnea"
kinematics, jacobian = (codegen.build(robot, name, frames=POINTS) for name in ("fk", "jacobian"))
inverse, com = codegen.build(robot, RNEA), codegen.build(robot, "com")
EVERY = STANCE + args.flight
gait = ocp.Gait(
    POINTS, EVERY, STANCE / EVERY, (0.0,) * 4, clearance=0.08, start=START - H / 2
)  # a step's middle counts
POSTURE = {"hip_ry": 4.0, "knee": 4.0, "ankle": 4.0, "hip": 200.0}  # weights
BENT = {"hip_ry": -0.48, "knee": 0.96, "ankle": -0.48, "shoulder_ry": 0.3, "elbow": -0.8}


def standing():
    """The robot with bent knees and its feet on the ground."""
    q = robot.neutral().copy()
    q[7:] = [next((angle for part, angle in BENT.items() if part in name), 0.0) for name in JOINTS]
    q[2] += RADIUS - kinematics(q, np.zeros(nv)).position[:, 2].min()
    return q


REST = standing()


def stages():
    """The stage of every node, and the last one, which is a cost of the state alone."""
    body, each, last = ocp.WholeBody(robot, H), ocp.Stage(), ocp.Stage()
    fk, rnea = body.functions(**{"fk": {"frames": POINTS}, RNEA: {"external": POINTS}})

    def follow(stage, q, v, factor):
        posture = [next((w for part, w in POSTURE.items() if part in name), 20.0) for name in JOINTS]
        q_weights = [30, 30, 200, 600, 600, 400, *posture]
        v_weights = [100, 100, 5, 20, 20, 10, *np.full(nv - 6, 0.1)]
        body.follow(stage, q, v, factor * np.array(q_weights), factor * np.array(v_weights))

    node = body.node(each, feet=4, forces=12)
    q, v, f, held = node.q, node.v, node.f, node.held
    position, rotation, velocity = each.call(fk, q, v)
    _, _, velocity_next = each.call(fk, q, node.v_next)
    forces = [rotation[3 * i : 3 * i + 3, :].T @ f[3 * i : 3 * i + 3] for i in range(4)]
    tau = each.call(rnea, q, v, node.a, ca.horzcat(ca.horzcat(*forces).T, ca.SX(4, 3)))
    each.zero(tau[:6])
    each.bounded(-1.0, ca.DM(TO_MOTORS) @ tau[6:] / MOTOR, 1.0)
    for i, name in enumerate(POINTS):
        force = f[3 * i : 3 * i + 3]
        rest = velocity_next[i, :3].T - max(1 - H / SETTLE, 0) * velocity[i, :3].T
        rest[2] += 200 * H * (position[i, 2] - RADIUS)
        rows = held[i] * rest / H + (1 - held[i]) * force
        rows[0] = force[0] if "heel" in name else rows[0]  # a toe that rests holds its heel along the foot
        each.zero(rows)
        x, y, z = ca.vertsplit(force)
        pyramid = ca.vertcat(z, MU * z - x, MU * z + x, MU * z - y, MU * z + y)
        each.bounded(-0.5 * (1 - held[i]), 4 * pyramid / WEIGHT, np.inf)  # without force, bounds are far
        height = position[i, 2] - RADIUS - node.height[i]
        each.cost(30 * (1 - held[i]), velocity[i, 2] - node.rate[i] + 20 * height)
    follow(each, q, v, 1.0)
    each.cost(1e-3, node.a)
    each.cost(10 / WEIGHT**2, f - each.parameter("f_wanted", 12))
    q, v, _ = body.state(last)
    follow(last, q, v, 10.0)
    return each, last


class Controller(ocp.Walker):
    """Newton steps."""

    def __init__(self):
        problem = ocp.Problem(*stages(), N, known=2 * nv, compile_c=False, lanes=True)
        super().__init__(robot, problem, ocp.Riccati(problem), gait, H, REST, WEIGHT)

    def torques(self):
        """Of the joints in the first step, of which the forces of the points take a part."""
        plan = self.horizon
        pushes = np.einsum("fij,fi->j", jacobian(plan.q[0])[:, :3], plan.f[0].reshape(4, 3))
        return (inverse(plan.q[0], plan.v[0], plan.acceleration) - pushes)[6:]


class Humanoid(ocp.Plant):
    """MuJoCo's robot: rotors as bodies that constraints tie to joints, spheres at toes and heels, and other masses."""

    def __init__(self, rng):
        tendons = equalities = ""
        for rotor, gears in zip(ROTORS, GEARS, strict=True):
            geared = [(rotor, -1.0), *((joint, ratio) for joint, ratio in zip(JOINTS, gears, strict=True) if ratio)]
            parts = "".join(f'<joint joint="{name}" coef="{ratio}"/>' for name, ratio in geared)
            tendons += f'<fixed name="{rotor}">{parts}</fixed>'
            equalities += f'<tendon tendon1="{rotor}" solref="0.002 1" solimp="0.9999 0.9999 0.001"/>'
        parts = {point: f'<geom name="{point}" size="{RADIUS}" mass="0" rgba="0.2 0.2 0.2 1"/>' for point in POINTS}
        parts |= {robot.bodies[0].name: '<geom type="box" size="0.06 0.09 0.16" class="seen" rgba="0.2 0.4 0.7 1"/>'}
        parts |= {f"{side}_hand_contact": '<geom size="0.03" class="seen"/>' for side in ("right", "left")}
        super().__init__(
            robot,
            dict(zip(JOINTS, LIMIT, strict=True)),
            parts,
            masses=rng.uniform(1 - MASSES, 1 + MASSES, len(robot.bodies)),
            losses=(DAMPING, 0.0),
            friction=GRIP,
            stiffness=STIFF,
            stick=0.025,
            extra=f"<tendon>{tendons}</tendon><equality>{equalities}</equality>",
        )
        self.points = [self.model.geom(point).id for point in POINTS]
        self.rotors = [self.model.joint(name).qposadr[0] for name in ROTORS]
        self.stand()

    def stand(self):
        """At rest, here."""
        self.put(np.array([*self.data.qpos[:2], *REST[2:]]))
        self.data.qpos[self.rotors] = GEARS @ REST[7:]

    def touching(self):
        """Which points touch the ground."""
        pairs = {geom for contact in self.data.contact for geom in contact.geom}
        return [point in pairs for point in self.points]

    def slack(self):
        """The largest angle of a rotor that is not that of its gears (rad)."""
        return np.abs(self.data.qpos[self.rotors] - GEARS @ self.state[0][7:]).max()


def motors(plan, t, q, v):
    """Torques of motors, which saturate (N m)."""
    return np.clip(TO_MOTORS @ plan.torques(t, q, v, KP, KD), -MOTOR, MOTOR)


def closed_loop():
    """Of every period: time, q, v, held and touching points, motors, the lowest point, slack of rotors.

    Then solves, times of pushes and falls, and a film.
    """
    rng = np.random.default_rng(args.seed)
    plant, controller = Humanoid(rng), Controller()
    film = ocp.Film(plant.model, START, END * bool(args.film), rate=15, size=(300, 300), distance=1.9, azimuth=120.0)
    loop = ocp.Delayed(controller.plan, PERIOD)
    gc.freeze()  # what was traced and compiled is no garbage
    loop.restart(0.0, *plant.state)
    rows, solves, falls, pushes, angle = [], [], [], [], 0.0
    for period in range(round(END / PERIOD)):
        now, (q, v) = period * PERIOD, plant.state
        controller.move_on(q, (0.0, 0.0), 0.0)
        if len(pushes) < args.jumps - 2 and now >= START + (len(pushes) + 2) * EVERY + PUSHED[0]:
            pushes.append(now)
            angle = rng.uniform(-np.pi, np.pi)
        last = PUSHED[1] * bool(pushes) and now < pushes[-1] + PUSHED[1] - 1e-9
        plant.push(
            robot.bodies[0].name, last * MASS * args.push / PUSHED[1] * np.array([np.cos(angle), np.sin(angle), 0])
        )
        solves.append(loop.update(now, q, v))
        lowest = kinematics(q, v).position[:, 2].min() - RADIUS
        rows.append((now, q, v, gait.held(now)[..., 0], plant.touching()))
        rows[-1] += (motors(loop.current, now, q, v), lowest, plant.slack())
        plant.step(PERIOD, lambda *state: GEARS.T @ motors(loop.current, *state))
        film.show(plant.data)
        if plant.state[0][2] < 0.6 * REST[2]:
            falls.append(now)
            plant.stand()
            controller.restart(now, plant.state[0])
            loop.restart(now + PERIOD, *plant.state)
    return [np.array(column) for column in zip(*rows, strict=True)], [x for x in solves if x], pushes, falls, film


def summary(rows, solves, pushes, falls):
    """Print what the run was like."""
    t, q, _, held, touching, torques, lowest, slack = rows
    number = ((t - START) // EVERY).astype(int)
    lost = sum(any(push <= fall < push + EVERY for fall in falls) for push in pushes)
    jumps = [lowest[number == k].max() for k in range(args.jumps)]
    share = np.abs(torques / MOTOR).max(axis=0)
    ocp.print_table(
        ocp.of_solves(solves, PERIOD, END)
        | {
            "falls": f"{len(falls)}",
            "jumps": f"{sum(height > 0.01 for height in jumps)} of {args.jumps}, {args.flight:g} s each",
            "height of the lowest point": f"{1e3 * min(jumps):.0f} to {1e3 * max(jumps):.0f} mm",
            "in the air as scheduled": f"{100 * np.mean(touching.any(axis=1) == held):.1f} % of the time",
            "motors, most of their limits": ", ".join(
                f"{name.removesuffix('_rotor').removeprefix('left_')} {100 * share[ROTORS.index(name)]:.0f} %"
                for name in ROTORS
                if name.startswith("left") and "shoulder" not in name
            ),
            "pushes recovered from": f"{len(pushes) - lost} of {len(pushes)} ({args.push:g} m/s each)",
            "from its place": f"{np.linalg.norm(q[:, :2], axis=1).max():.2f} m at most",
            "rotors from their gears": f"{slack.max():.1e} rad at most",
        }
    )


def picture(rows, solves, pushes, falls):
    """Height, place, motors, points that are held and touch, and times of solves."""
    t, q, _, held, touching, torques, lowest, _ = rows
    figure, axes = plt.subplots(5, 1, figsize=(10, 11), sharex=True, layout="constrained")
    axes[0].plot(t, q[:, 2], label="base")
    axes[0].plot(t, lowest, label="lowest point of the feet")
    axes[0].axhline(REST[2], color="k", ls="--", lw=1, label="base at rest")
    axes[0].set_ylabel("height (m)")
    axes[1].plot(t, q[:, :2], label=["ahead", "to the left"])
    axes[1].set_ylabel("place of the base (m)")
    for name in ("left_hip_ry", "left_knee", "left_ankle"):
        k = ROTORS.index(f"{name}_rotor")
        axes[2].plot(t, torques[:, k] / MOTOR[k], lw=0.9, label=name)
    axes[2].set(ylabel="torque of motors,\nparts of the limits", ylim=(-1.1, 1.1))
    for k in range(4):
        axes[3].plot(t, np.where(touching[:, k], float(k), np.nan), "C0", lw=2.5, label=None if k else "touches")
    axes[3].fill_between(t, -0.5, 3.5, where=held, color="0.85", lw=0, label="held by the plan")
    axes[3].set(yticks=range(4), yticklabels=[name.removesuffix("_contact") for name in POINTS])
    ocp.draw_solves(axes[4], solves, PERIOD)
    ocp.draw_events(axes, pushes, PUSHED[1], falls)
    axes[4].set_xlim(0, END)
    figure.savefig(args.figure, dpi=100)
    plt.close(figure)


with doing("closed loop"):
    *found, film = closed_loop()
summary(*found)
picture(*found)
print(f"wrote {args.figure}")
if film.pictures:
    film.save(args.film)
    print(f"wrote {args.film}")
