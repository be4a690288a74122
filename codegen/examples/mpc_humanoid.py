"""Whole-body MPC of a humanoid that reaches, is pushed and walks, closed loop against MuJoCo.

A period has one Newton step. The unknowns of a node are increments of q, v and the wrenches of two soles, in the axes
of these; a is the difference of velocities. The base obeys rnea(q, v, a) - J'w = 0. Torques, friction, centres of
pressure and the distance of the soles have barriers. A sole that is held keeps its place, another one has no wrench and
follows a height. Where a push has moved the feet, it steps on the spot. MuJoCo's robot has other masses, friction in
its joints and boxes for feet. A plan acts one period after the state that it starts from is measured, or later if its
solve took longer. Times are of the processor.
"""

import argparse
import gc
from dataclasses import replace

import casadi as ca
import numpy as np

import codegen
from codegen import ocp
from codegen.extras import extra
from codegen.progress import doing

with extra("mpc", "mujoco", "scipy"):
    import matplotlib.pyplot as plt

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--nodes", type=int, default=30, help="steps of the horizon (default: %(default)s)")
parser.add_argument("--step", type=float, default=0.025, help="length of one of them in s (default: %(default)s)")
parser.add_argument("--rate", type=float, default=100.0, help="solves a second, dividing 1000 (default: %(default)s)")
parser.add_argument("--standing", type=int, default=10, help="pushes while it stands (default: %(default)s)")
parser.add_argument("--walking", type=int, default=10, help="pushes while it walks (default: %(default)s)")
parser.add_argument("--impulse", type=float, default=25.0, help="of the largest (N s, default: %(default)s)")
parser.add_argument("--while-walking", type=float, default=15.0, help="the same (N s, default: %(default)s)")
parser.add_argument("--speed", type=float, default=0.2, help="of walking, in m/s (default: %(default)s)")
parser.add_argument("--seed", type=int, default=0, help="of pushes and masses (default: %(default)s)")
parser.add_argument("--figure", default="mpc_humanoid.png", help="the picture to write (default: %(default)s)")
parser.add_argument("--film", default="mpc_humanoid.gif", help="the film, '' for none (default: %(default)s)")
args = parser.parse_args()

whole = codegen.load("talos", convention="mujoco")  # q and v as MuJoCo has them
robot = whole.lock([name for name in whole.joint_names if "gripper" in name])
nq, nv, N, H, PERIOD = robot.nq, robot.nv, args.nodes, args.step, 1 / args.rate
if not np.isclose(round(1000 / args.rate) * args.rate, 1000):
    parser.error(f"--rate {args.rate:g}: choose a divisor of 1000, as torques are renewed at 1 kHz")
SOLES, TRUNK = ("left_sole_link", "right_sole_link"), "torso_2_link"
FRAMES = (*SOLES, "gripper_right_base_link")
JOINTS, LIMIT = robot.joint_names[1:], np.array([body.joint.effort for body in robot.bodies[1:]])  # N m
WEIGHT = -sum(body.inertia.mass for body in robot.bodies) * robot.gravity[2]
KP, KD = 5.0 * LIMIT, 0.1 * LIMIT  # of the joints between two plans
SETTLE, RETURN = 0.05, 1.0  # how soon the velocity of a held sole vanishes (s); its way back to the ground (1/s)
SOLE, GRIP, STIFF = (0.1, 0.06, 0.02), 0.8, 0.004  # of the plant: half a foot (m), its friction, its contact (s)
NARROW, CLOSE = 0.14, 0.03  # from sole to sole: the least, and what is close to that (m)
HALF, MU, TURN = (0.085, 0.05), 0.5, 0.02  # of the controller: half a foot (m), friction, and about z (m)
EVERY, PUSHED = 2.0, 0.1  # time between pushes, and of one (s)
WALK = EVERY * (args.standing + 1)  # when it begins to walk (s)
END = WALK + EVERY * (args.walking + 1)
LEGS = {"3": -0.45, "4": 0.9, "5": -0.45}
SPREAD = {"left_2": 0.05, "left_6": -0.05, "right_2": -0.05, "right_6": 0.05}  # besides, where it stands
ARMS = {"left_1": 0.3, "left_2": 0.3, "left_4": -1.4, "right_1": -0.3, "right_2": -0.3, "right_4": -1.4}
POSTURE = np.array([10.0 if "leg" in name else 100.0 if "torso" in name else 1.0 for name in JOINTS])  # weights
kinematics, inverse = codegen.build(robot, "fk", frames=FRAMES), codegen.build(robot, "rnea", external=SOLES)
centre_of_mass = codegen.build(robot, "com")
gait = ocp.Gait(SOLES, period=1.2, duty=0.65, phases=(0.0, 0.5), clearance=0.06, start=WALK)


def posture(legs):
    """The robot with bent knees, its soles on the ground and its centre of mass above them."""
    q = robot.neutral().copy()
    for joint, part in zip(JOINTS, robot.q_slices[1:], strict=True):
        kind, _, name = joint.removesuffix("_joint").partition("_")
        angles = {"leg": legs, "arm": ARMS}.get(kind, {})
        q[part] = angles.get(name, angles.get(name[-1], 0.0))
    x, _, z = kinematics(q, np.zeros(nv)).position[0]
    q[[0, 2]] -= centre_of_mass(q, np.zeros(nv)).com[0] - x, z
    return q


def cone():
    """C of C wrench >= 0 in a sole's axes, in parts of the weight: pressing, friction, turning, centre of pressure."""
    rows = [[0, 0, 1, 0, 0, 0]]
    for sign in (1.0, -1.0):
        rows += [[sign / MU, 0, 1, 0, 0, 0], [0, sign / MU, 1, 0, 0, 0], [0, 0, 1, 0, 0, sign / TURN]]
        rows += [[0, 0, 1, sign / HALF[1], 0, 0], [0, 0, 1, 0, sign / HALF[0], 0]]
    return np.array(rows) / WEIGHT


REST, WALKING = posture(LEGS | SPREAD), posture(LEGS)
CENTRE = centre_of_mass(REST, np.zeros(nv)).com - [*REST[:2], 0.0]  # from the place of the base
LEFT, RIGHT, HAND = kinematics(REST, np.zeros(nv)).position - [*REST[:2], 0.0]
FALLING = np.sqrt(CENTRE[2] / 9.81)  # time constant of a body that falls from its feet (s)


def stages():
    """The stage of every node, and the last one, which is a cost of the state alone."""
    body, each, last = ocp.WholeBody(robot, H), ocp.Stage(), ocp.Stage()
    fk, rnea, com = body.functions(fk={"frames": FRAMES}, rnea={"external": SOLES}, com={})

    def follow(stage, q, v, factor):
        q_weights, v_weights = [20, 20, 200, 300, 300, 300, *POSTURE], [5, 5, 20, 10, 10, 10, *np.ones(nv - 6)]
        q_wanted, v_wanted = body.follow(stage, q, v, factor * np.array(q_weights), factor * np.array(v_weights))
        centre, rate = stage.call(com, q, v)
        capture = centre[:2] - q_wanted[:2] - CENTRE[:2] + FALLING * (rate[:2] - v_wanted[:2])
        stage.cost(1000 * factor, capture)  # the capture point is where a foot would stop the robot

    node = body.node(each, feet=2, forces=12)
    q, v, f, held = node.q, node.v, node.f, node.held
    position, rotation, velocity = each.call(fk, q, v)
    _, _, velocity_next = each.call(fk, q, node.v_next)
    tau = each.call(rnea, q, v, node.a, ca.reshape(f, 6, 2).T)
    each.zero(tau[:6])
    each.bounded(-1.0, tau[6:] / LIMIT, 1.0)
    for i in range(2):
        wrench, R = f[6 * i : 6 * i + 6], rotation[3 * i : 3 * i + 3, :]
        away = ca.vertcat(0, 0, position[i, 2], -R[1, 2], R[0, 2], 0)  # from the ground, and tilted
        rest = velocity_next[i, :].T - max(1 - H / SETTLE, 0) * velocity[i, :].T + RETURN * away
        each.zero(held[i] * rest / H + (1 - held[i]) * wrench)
        each.bounded(-0.5 * (1 - held[i]), cone() @ wrench, np.inf)  # without a wrench, bounds are far
        each.cost(30 * (1 - held[i]), velocity[i, 2] - node.rate[i] + 20 * (position[i, 2] - node.height[i]))
        each.cost(300 * (1 - held[i]), R[:2, 2])
    apart = rotation[3:6, 1].T @ (position[0, :] - position[1, :]).T  # of the left sole from the right one, to the left
    each.bounded(NARROW / CLOSE, apart / CLOSE, np.inf)
    follow(each, q, v, 1.0)
    each.cost(1000, position[2, :].T - each.parameter("hand", 3))
    each.cost(1e-3, node.a)
    scale = np.tile([1, 1, 1, 30, 30, 30], 2) / WEIGHT
    each.cost(30, scale * (f - each.parameter("f_wanted", 12)))
    q, v, _ = body.state(last)
    follow(last, q, v, 10.0)
    return each, last


def reach(t):
    """Where the hand is to be from the place of the base (times x 3, m): between points, on minimum-jerk paths of 1 s.

    It stays where it is from before the robot walks.
    """
    points = HAND + np.array([[0, 0, 0], [0.2, 0.15, 0.15], [0.15, 0.3, -0.15], [0.1, -0.1, 0.35]])
    number, since = np.divmod(np.minimum(t, WALK - 0.5), 3.0)
    k, s = number.astype(int), np.minimum(since, 1.0)[:, None]
    return points[k % 4] + s**3 * (10 - 15 * s + 6 * s**2) * (points[(k + 1) % 4] - points[k % 4])


class Controller(ocp.Walker):
    """Newton steps, and the hand's way."""

    def __init__(self):
        problem = ocp.Problem(*stages(), N, known=2 * nv, compile_c=False, lanes=True)
        super().__init__(robot, problem, ocp.Riccati(problem), gait, H, REST, WEIGHT)

    def place_feet(self, now, v, left, right):
        """While it stands, step on the spot once it is calm, until soles are where they should be."""
        self.rest = REST if now < WALK else WALKING  # whose feet are closer
        off = np.abs(left - right - LEFT + RIGHT)[:2].max()
        if now < self.gait.start and off > 0.08 and np.abs(v[:3]).max() < 0.1:
            self.gait = replace(gait, start=now)
        elif self.gait.start < now < WALK and off < 0.06 and self.gait.held(now + np.arange(3) * H).all():
            self.gait = gait

    def more(self, times, wanted):
        """Where the hand is to be."""
        return {"hand": reach(times) + np.pad(wanted[:, :2], [(0, 0), (0, 1)])}

    def torques(self):
        """Of the first step."""
        plan = self.horizon
        return inverse(plan.q[0], plan.v[0], plan.acceleration, plan.f[0].reshape(2, 6))[6:]


def talos(rng):
    """MuJoCo's robot: masses changed by up to 5 percent, boxes for feet, and a ball where the hand is to be."""
    box = f'type="box" size="{SOLE[0]} {SOLE[1]} {SOLE[2]}" pos="0 0 {SOLE[2]}"'
    ball = '<worldbody><body mocap="true"><geom size="0.04" class="seen" rgba="0.8 0.1 0.1 1"/></body></worldbody>'
    limits, feet = dict(zip(JOINTS, LIMIT, strict=True)), f'<geom {box} mass="0" rgba="0.8 0.4 0.1 1"/>'
    options = {"masses": rng.uniform(0.95, 1.05, len(robot.bodies)), "losses": (0.002, 0.002), "stiffness": STIFF}
    return ocp.Plant(robot, limits, dict.fromkeys(SOLES, feet), friction=GRIP, stick=0.05, extra=ball, **options)


def closed_loop():
    """Of every period: time, q, v, place and speed wanted, held, soles, error of the hand; then solves, pushes, falls.

    A push is its time, its impulse (N s) and its angle.
    """
    rng = np.random.default_rng(args.seed)
    plant, controller = talos(rng), Controller()
    film = ocp.Film(plant.model, 0.0, END * bool(args.film), rate=8, size=(270, 270), distance=2.4, azimuth=130.0)
    loop = ocp.Delayed(controller.plan, PERIOD)
    gc.freeze()  # what was traced and compiled is no garbage
    plant.put(REST)
    loop.restart(0.0, *plant.state)
    rows, solves, pushes, falls = [], [], [], []
    for period in range(round(END / PERIOD)):
        now, (q, v) = period * PERIOD, plant.state
        speed = args.speed * (now >= WALK)
        frames, target = kinematics(q, v), reach(np.array([now]))[0] + [*controller.where, 0.0]
        controller.place_feet(now, v, *frames.position[:2])
        controller.move_on(q, controller.where + np.array([speed * PERIOD, 0.0]), speed)
        solves.append(loop.update(now, q, v))
        number, since = divmod(now + 1e-9, EVERY)
        if since < PERIOD and number not in (0, args.standing + 1):
            most = args.impulse if now < WALK else args.while_walking
            pushes.append((now, most * rng.uniform(0.3, 1.0), rng.uniform(-np.pi, np.pi)))
        _, size, angle = pushes[-1] if pushes and now < pushes[-1][0] + PUSHED - 1e-9 else (now, 0.0, 0.0)
        plant.push(TRUNK, size / PUSHED * np.array([np.cos(angle), np.sin(angle), 0.0]))
        rows.append((now, q, v, controller.where, controller.speed, controller.gait.held(now), frames.position[:2]))
        rows[-1] += (np.linalg.norm(frames.position[2] - target),)
        plant.data.mocap_pos[0] = target
        plant.step(PERIOD, lambda *state: loop.current.torques(*state, KP, KD))
        film.show(plant.data)
        if plant.state[0][2] < 0.75 * REST[2]:
            falls.append(now)
            plant.put(np.array([*q[:2], *REST[2:]]))
            controller.restart(now, plant.state[0])
            loop.restart(now + PERIOD, *plant.state)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return columns, [solve for solve in solves if solve], np.array(pushes).reshape(-1, 3), np.array(falls), film


def summary(rows, solves, pushes, falls):
    """Print what the run was like."""
    t, q, v, _, _, held, soles, hand = rows
    walking = t > WALK + 1.0
    kept = recovered(pushes, falls)
    for name, chosen in (("standing", pushes[:, 0] < WALK), ("walking", pushes[:, 0] >= WALK)):
        sizes = f"of {pushes[chosen, 1].min():.0f} to {pushes[chosen, 1].max():.0f} N s" if chosen.any() else ""
        print(f"{'pushes recovered from, ' + name:32}{kept[chosen].sum()} of {chosen.sum()} {sizes}")
    lifted = [np.diff(held[:, foot].astype(int)).clip(max=0).sum() for foot in range(2)]
    ocp.print_table(
        ocp.of_solves(solves, PERIOD, END)
        | {
            "falls": f"{len(falls)}",
            "error of the hand, standing": f"rms {1e3 * np.sqrt(np.mean(hand[t < WALK] ** 2)):.1f} mm",
            "steps": f"{-sum(lifted)}, clearance {1e3 * soles[:, :, 2].max(initial=0.0):.0f} mm at most",
            "walked": f"{q[-1, 0] - q[np.searchsorted(t, WALK), 0]:.2f} m in {END - WALK:.0f} s",
            "velocity ahead": f"mean {v[walking, 0].mean():.3f} m/s, {args.speed:g} wanted",
        }
    )


def recovered(pushes, falls):
    """Which pushes no fall came after, before the next one."""
    return np.array([not any(begun <= fall < begun + EVERY for fall in falls) for begun in pushes[:, 0]], bool)


def picture(rows, solves, pushes, falls):
    """Base and soles from above, along and across, the hand, soles that are held, the time of solves, and pushes."""
    t, q, _, where, _, _, soles, hand = rows
    figure = plt.figure(figsize=(13, 9), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[2.5, 1])
    axes = left.subplots(5, sharex=True)
    for axis, k, name in zip(axes, range(2), ("ahead", "across"), strict=False):
        axis.plot(t, soles[:, :, k], "0.6", lw=0.8)
        axis.plot(t, where[:, k], "k--", lw=1, label="wanted")
        axis.plot(t, q[:, k], "C0", lw=1.2, label="base")
        axis.set_ylabel(f"{name} (m)")
    axes[2].plot(t, 1e3 * soles[:, :, 2], lw=0.9, label=["left sole", "right sole"])
    axes[2].set(ylabel="height (mm)", ylim=(-5, None))
    axes[3].plot(t, 1e3 * hand, "C3", lw=1)
    axes[3].set(ylabel="error of hand (mm)", ylim=(0, 120))
    ocp.draw_solves(axes[4], solves, PERIOD)
    ocp.draw_events(axes, pushes[:, 0], PUSHED, falls)
    axes[4].set_xlim(0, END)
    kept, stood = recovered(pushes, falls), pushes[:, 0] < WALK
    rounds = right.subplots(2, subplot_kw={"projection": "polar"})
    for axis, chosen, title in zip(rounds, (stood, ~stood), ("standing", "walking"), strict=True):
        for good, color, label in ((True, "C2", "recovered"), (False, "C3", "not")):
            those = chosen & (kept == good)
            axis.plot(pushes[those, 2], pushes[those, 1], "o", color=color, label=f"{label} ({those.sum()})")
        axis.set_title(f"pushes while {title} (N s),\nforwards to the right", fontsize="medium")
        axis.set_rlim(0, max(args.impulse, args.while_walking))
        axis.legend(loc="upper left", bbox_to_anchor=(-0.1, -0.1), fontsize="small", ncols=2)
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
