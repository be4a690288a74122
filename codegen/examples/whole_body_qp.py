"""Whole-body control of a humanoid by a QP at 1 kHz: it balances under pushes, and reaches.

Unknowns are accelerations and the wrenches of two soles. The base's equations of motion and soles that stay are
equalities; torques, friction and centres of pressure have limits. Tasks are weighted least squares: centre of mass,
angular momentum, trunk, hand, posture. MuJoCo's robot has other masses, friction in its joints and boxes for feet.
States are measured with noise, and torques act one period later than the state that they are computed from. Times are
of the processor.
"""

import argparse
import time

import numpy as np

import codegen
from codegen.extras import extra
from codegen.progress import doing

with extra("control,figures", "proxsuite"):
    import matplotlib.pyplot as plt
    import mujoco
    from matplotlib.animation import FuncAnimation, PillowWriter

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--solver", choices=("proxqp", "piqp", "osqp"), default="proxqp", help="default: %(default)s")
parser.add_argument("--pushes", type=int, default=20, help="one every 2 s (default: %(default)s)")
parser.add_argument("--impulse", type=float, default=30.0, help="of the largest push (N s, default: %(default)s)")
parser.add_argument("--seed", type=int, default=0, help="of pushes, masses and noise (default: %(default)s)")
parser.add_argument("--figure", default="whole_body_qp.png", help="the picture to write (default: %(default)s)")
parser.add_argument("--film", default="whole_body_qp.gif", help="of the first 20 s, '' for none (default: %(default)s)")
args = parser.parse_args()

whole = codegen.load("talos", convention="mujoco")  # q and v as MuJoCo has them
robot = whole.lock([name for name in whole.joint_names if "gripper" in name])
n, joints, rng = robot.nv, robot.joint_names[1:], np.random.default_rng(args.seed)
FRAMES = ("left_sole_link", "right_sole_link", "torso_2_link", "base_link", "gripper_right_base_link")
LIMIT = np.array([body.joint.effort for body in robot.bodies[1:]])  # of torques (N m)
MASS = sum(body.inertia.mass for body in robot.bodies)
PERIOD, SUBSTEPS, EVERY, PUSHED = 0.001, 2, 2.0, 0.1  # of control (s), MuJoCo's steps in it, of pushes, of one (s)
SOLE, SLIDING = (0.1, 0.06, 0.02), 0.8  # half a foot of the plant (m), and its friction
HALF, MU, TURN, LEAST = (0.085, 0.05), 0.5, 0.02, 20.0  # of the controller: sole (m), friction, about z (m), force (N)
NOISE_Q, NOISE_V = 2e-4, 2e-3  # standard deviations of what is measured of joints (rad, rad/s)
UNIT = 100.0  # of the QP's wrenches (N)
BENT = {"3": -0.45, "4": 0.9, "5": -0.45}
ARMS = {"left_1": 0.3, "left_2": 0.3, "left_4": -1.4, "right_1": -0.3, "right_2": -0.3, "right_4": -1.4}
STAND = robot.neutral()
for joint, part in zip(joints, robot.q_slices[1:], strict=True):
    kind, _, name = joint.removesuffix("_joint").partition("_")
    STAND[part] = BENT.get(name[-1], 0.0) if kind == "leg" else ARMS.get(name, 0.0) if kind == "arm" else 0.0

fk, jacobian, jdot_v = (codegen.build(robot, name, frames=FRAMES) for name in ("fk", "jacobian", "jdot_v"))
crba, bias, com, centroidal, centroidal_bias = (
    codegen.build(robot, name) for name in ("crba", "bias", "com", "centroidal", "centroidal_bias")
)
STAND[2] -= fk(STAND, np.zeros(n)).position[0, 2]
SET = fk(STAND, np.zeros(n))  # poses of frames to keep, and of the hand to start from
HEIGHT = com(STAND, np.zeros(n)).com[2]


def mjcf():
    """The robot for MuJoCo, masses changed by up to 5 percent, on boxes for feet and a plane."""

    def row(numbers):
        return " ".join(repr(float(x)) for x in numbers)

    def element(i, body):
        inertia, joint, factor = body.inertia, body.joint, rng.uniform(0.95, 1.05)
        moment, R = factor * np.array(inertia.moment), body.placement.R
        six = row([*np.diag(moment), moment[0, 1], moment[0, 2], moment[1, 2]])
        inside = f'<inertial mass="{factor * inertia.mass}" pos="{row(inertia.com)}" fullinertia="{six}"/>'
        if i == 0:
            inside += f'<freejoint name="{joint.name}"/>'
        else:
            loss = 0.002 * joint.effort
            inside += f'<joint name="{joint.name}" axis="{row(joint.axis)}" damping="{loss}" frictionloss="{loss}"/>'
        for frame in robot.frames:
            if frame.name in FRAMES[:2] and frame.body == i:
                place = frame.placement.p + np.array([0.0, 0.0, SOLE[2]])
                inside += f'<geom type="box" size="{row(SOLE)}" pos="{row(place)}" friction="{SLIDING} 0.01 0.001"/>'
        children = "".join(element(j, child) for j, child in enumerate(robot.bodies) if child.parent == i)
        place = f'pos="{row(body.placement.p)}" xyaxes="{row([*R[:, 0], *R[:, 1]])}"'
        return f'<body name="{body.name}" {place}>{inside}{children}</body>'

    motors = "".join(f'<motor joint="{joint}"/>' for joint in joints)
    return (
        f'<mujoco><option timestep="{PERIOD / SUBSTEPS}" integrator="implicitfast"/><worldbody>'
        f'<geom type="plane" size="5 5 1" friction="{SLIDING} 0.01 0.001"/>{element(0, robot.bodies[0])}</worldbody>'
        f"<actuator>{motors}</actuator></mujoco>"
    )


def cone():
    """C of C wrench >= 0 in a sole's axes: friction, centre of pressure and turning."""
    rows = []
    for sign in (1.0, -1.0):
        rows += [[sign, 0, MU, 0, 0, 0], [0, sign, MU, 0, 0, 0], [0, 0, TURN, 0, 0, sign]]
        rows += [[0, 0, HALF[1], sign, 0, 0], [0, 0, HALF[0], 0, sign, 0]]
    return np.array([*rows, [0, 0, 1, 0, 0, 0]])


def turn_between(R, wanted):
    """The rotation vector (world axes) that leads from R to the wanted one, for small angles."""
    D = wanted @ R.T
    return 0.5 * np.array([D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]])


CONE = cone()
WEIGHTS = {"centre": 10.0, "momentum": 0.05, "trunk": 2.0, "base": 1.0, "hand": 10.0, "posture": 0.02}


def measured(q, v):
    """What rigidc's functions give at a state."""
    return crba(q), bias(q, v), fk(q, v), jacobian(q), jdot_v(q, v), com(q, v), centroidal(q, v), centroidal_bias(q, v)


def between(frames):
    """The place of the centre of mass: above the middle between the soles."""
    return np.append(frames.position[:2, :2].mean(0), HEIGHT)


def tasks(q, v, quantities, hand):
    """J, and the wanted J a, of all tasks below one another, weighted; `hand` is what `reach` gives."""
    _, _, frames, J, drift, centre, momentum, rate = quantities
    rows, right = [], []

    def add(name, jacobian, wanted):
        weight = np.sqrt(WEIGHTS[name])
        rows.append(weight * jacobian)
        right.append(weight * wanted)

    wanted = 40.0 * (between(frames) - centre.com) - 14.0 * centre.vcom
    add("centre", momentum.A_g[:3] / MASS, wanted - rate[:3] / MASS)
    add("momentum", momentum.A_g[3:], -5.0 * momentum.h[3:] - rate[3:])
    for name, k in (("trunk", 2), ("base", 3)):
        wanted = 100.0 * turn_between(frames.rotation[k], SET.rotation[k]) - 20.0 * frames.velocity[k, 3:]
        add(name, J[k, 3:], wanted - drift[k, 3:])
    place, speed, rate_of_speed = hand
    wanted = rate_of_speed + 200.0 * (place - frames.position[4]) + 28.0 * (speed - frames.velocity[4, :3])
    add("hand", J[4, :3], wanted - drift[4, :3])
    add("posture", np.eye(n)[6:], 50.0 * (STAND[7:] - q[7:]) - 14.0 * v[6:])
    return np.concatenate(rows), np.concatenate(right)


def problem(q, v, quantities, hand):
    """Of x = [a; wrenches]: H, g, A, b, C, low, high to minimise x' H x / 2 + g' x, A x = b, low <= C x <= high."""
    M, h, frames, J, drift, *_ = quantities
    T, wanted = tasks(q, v, quantities, hand)
    H, g = 1e-6 * np.eye(n + 12), np.zeros(n + 12)
    H[:n, :n] += T.T @ T
    g[:n] = -T.T @ wanted
    H[range(n, n + 12), range(n, n + 12)] += 1e-3
    held = J[:2].reshape(12, n)
    moving = np.hstack([M, -UNIT * held.T])
    A = np.vstack([moving[:6], np.hstack([held, np.zeros((12, 12))])])
    b = np.concatenate([-h[:6], -drift[:2].ravel() - 20.0 * frames.velocity[:2].ravel()])
    pressed = np.zeros((2 * len(CONE), n + 12))
    for k in range(2):
        columns = slice(n + 6 * k, n + 6 * k + 6)
        inwards = frames.rotation[k].T
        pressed[len(CONE) * k : len(CONE) * (k + 1), columns] = np.hstack(
            [CONE[:, :3] @ inwards, CONE[:, 3:] @ inwards]
        )
    least = np.zeros(len(pressed))
    least[len(CONE) - 1 :: len(CONE)] = LEAST / UNIT
    C = np.vstack([moving[6:], pressed])
    low, high = np.append(-LIMIT - h[6:], least), np.append(LIMIT - h[6:], np.full(len(least), np.inf))
    return H, g, A, b, C, low, high


def proxqp():
    """ProxQP: a function of a problem, its solution or None, started from the one before."""
    from proxsuite import proxqp

    qp = proxqp.dense.QP(n + 12, 18, len(LIMIT) + 2 * len(CONE))
    qp.settings.eps_abs, qp.settings.eps_rel, ready = 1e-5, 0.0, []
    qp.settings.max_iter, qp.settings.max_iter_in = 50, 100  # a QP without solution is given up in time

    def solve(*given):
        if ready:
            qp.settings.initial_guess = proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT
            qp.update(*given)
        else:
            qp.init(*given)
            ready.append(True)
        qp.solve()
        return qp.results.x if qp.results.info.status == proxqp.QPSolverOutput.PROXQP_SOLVED else None

    return solve


def piqp():
    """PIQP, likewise."""
    import piqp

    qp, ready = piqp.DenseSolver(), []
    qp.settings.eps_abs, qp.settings.eps_rel = 1e-5, 0.0
    qp.settings.eps_duality_gap_abs = 1e-5  # rounding does not always allow 1e-8, which is usual

    def solve(*given):
        (qp.update if ready else qp.setup)(*given)
        ready.append(True)
        return qp.result.x if qp.solve() == piqp.PIQP_SOLVED else None

    return solve


def osqp():
    """OSQP, likewise; its matrices are sparse, with the zeros that a problem has at a random state."""
    import osqp
    from scipy import sparse

    q, v, _ = robot.random(0)
    H, _, A, _, C, _, _ = problem(q, v, measured(q, v), reach(0.0))
    P, rows = sparse.csc_matrix(np.triu(H)), sparse.csc_matrix(np.vstack([A, C]))
    (i, j), (k, m) = (M.tocoo().coords for M in (P, rows))
    qp = osqp.OSQP()
    qp.setup(
        P,
        np.zeros(len(H)),
        rows,
        np.zeros(rows.shape[0]),
        np.zeros(rows.shape[0]),
        verbose=False,
        eps_abs=1e-4,
        eps_rel=1e-4,
        max_iter=4000,
    )

    def solve(H, g, A, b, C, low, high):
        qp.update(Px=H[i, j], Ax=np.vstack([A, C])[k, m], q=g, l=np.append(b, low), u=np.append(b, high))
        found = qp.solve(raise_error=False)
        return found.x if found.info.status == "solved" else None

    return solve


def reach(t):
    """Where the hand is to be (m), velocity and acceleration: between points, along minimum-jerk paths of 1 s."""
    points = SET.position[4] + np.array([[0, 0, 0], [0.2, 0.15, 0.15], [0.15, 0.3, -0.15], [0.1, -0.1, 0.35]])
    k, s = int(t // 3.0), min(t % 3.0, 1.0)
    start, end = points[k % len(points)], points[(k + 1) % len(points)]
    along, speed, rate = s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2, 60 * s * (1 - s) * (1 - 2 * s)
    return start + along * (end - start), speed * (end - start), rate * (end - start)


def control(q, v, hand, solve):
    """Torques (None if the solve failed), wrenches of soles (N, N m), times of the three parts (s), and the QP."""
    times = [time.process_time()]
    quantities = measured(q, v)
    times.append(time.process_time())
    given = problem(q, v, quantities, hand)
    times.append(time.process_time())
    x, tau, wrenches = solve(*given), None, np.full((2, 6), np.nan)
    if x is not None:
        wrenches = UNIT * x[n:].reshape(2, 6)
        tau = quantities[0][6:] @ x[:n] + quantities[1][6:] - wrenches.ravel() @ quantities[3][:2].reshape(12, n)[:, 6:]
    times.append(time.process_time())
    return tau, wrenches, np.diff(times), given


def pressure(wrenches, position):
    """The common centre of pressure of both soles (m), of wrenches along world axes at their origins."""
    force = wrenches[:, 2]
    moved = np.stack([-wrenches[:, 4], wrenches[:, 3]], axis=1) + force[:, None] * position[:2, :2]
    return moved.sum(0) / force.sum()


def simulated(solve):
    """Of every period: time, centres of mass and pressure, hand and its target, times, failure, torques at limits.

    Of pushes: impulse, angle, and whether the robot recovered. And QPs, and places of bodies, every 50 ms.
    """
    model = mujoco.MjModel.from_xml_string(mjcf())
    plant, trunk, tau = mujoco.MjData(model), model.body("torso_2_link").id, np.zeros(len(LIMIT))
    plant.qpos[:] = STAND
    pushes = np.column_stack([rng.uniform(0.3, 1.0, args.pushes), rng.uniform(-np.pi, np.pi, args.pushes)])
    rows, recovered, problems, places, fallen, falls = [], [], [], [], False, 0
    for step in range(round(EVERY * (len(pushes) + 1) / PERIOD)):
        t, (number, since) = step * PERIOD, divmod(step, round(EVERY / PERIOD))
        q, v, hand = plant.qpos.copy(), plant.qvel + NOISE_V * rng.normal(size=n), reach(t)
        q[7:] += NOISE_Q * rng.normal(size=len(LIMIT))
        new, wrenches, spent, given = control(q, v, hand, solve)
        plant.ctrl[:] = np.clip(tau if step else new, -LIMIT, LIMIT)  # the torques of the period before
        tau = tau if new is None else new
        plant.xfrc_applied[trunk, :2] = 0.0
        if number and since * PERIOD < PUSHED:
            size, angle = pushes[number - 1]
            plant.xfrc_applied[trunk, :2] = size * args.impulse / PUSHED * np.array([np.cos(angle), np.sin(angle)])
        mujoco.mj_step(model, plant, SUBSTEPS)
        frames, full = fk(plant.qpos, plant.qvel), np.sum(np.abs(plant.ctrl) > 0.999 * LIMIT)
        centre, middle = plant.subtree_com[1].copy(), between(frames)
        seen = centre, middle, pressure(wrenches, frames.position), frames.position[4], hand[0]
        rows.append((t, *seen, spent, new is None, full))
        if step % 50 == 0:
            problems.append(given)
            places.append(np.vstack([plant.xpos[1:], frames.position]))
        if centre[2] < 0.8 * HEIGHT:
            fallen, falls, plant.qpos[:], plant.qvel[:] = True, falls + 1, STAND, 0.0  # it is put back
        if (step + 1) % round(EVERY / PERIOD) == 0:
            if number:
                recovered.append(not fallen and np.abs(centre - middle)[:2].max() < 0.03)
            fallen = False
    return (
        [np.array(column) for column in zip(*rows, strict=True)],
        (pushes, np.array(recovered, bool), falls),
        problems,
        places,
    )


def summary(t, centre, middle, _, hand, target, spent, failed, full):
    """Print what the run was like."""
    microseconds = 1e6 * np.column_stack([spent, spent.sum(1)])
    print(f"{'microseconds':26}{'median':>8}{'99 %':>8}{'most':>8}")
    for name, series in zip(
        ("rigidc's eight functions", "QP from them", "its solution", "a period"), microseconds.T, strict=True
    ):
        print(f"  {name:24}{np.median(series):8.0f}{np.percentile(series, 99):8.0f}{series.max():8.0f}")
    late = np.sum(spent.sum(1) > PERIOD)
    print(f"{len(t)} periods, {late} longer than {1e3 * PERIOD:g} ms; failed solves {failed.sum()}", end="; ")
    print(f"periods with a torque at its limit {np.sum(full > 0)}")
    errors = np.linalg.norm(hand - target, axis=1)
    rest = (t % EVERY > 1.5) & (t % 3.0 > 1.5)
    print(f"error of the hand: RMS {1e3 * np.sqrt(np.mean(errors**2)):.1f} mm", end=", ")
    print(f"at rest, 1.5 s after a push, {1e3 * np.sqrt(np.mean(errors[rest] ** 2)):.1f} mm")
    print(f"farthest the centre of mass was from its place: {1e3 * np.abs(centre - middle)[:, :2].max():.0f} mm")


def compared(problems):
    """Print how long every solver that is installed takes for the same QPs, one after the other."""
    print(f"{len(problems)} QPs of the run, 50 ms apart: microseconds")
    for name in ("proxqp", "piqp", "osqp"):
        try:
            solve = globals()[name]()
        except ImportError:
            continue
        spent, failures = [], 0
        for given in problems:
            begun = time.process_time()
            failures += solve(*given) is None
            spent.append(1e6 * (time.process_time() - begun))
        print(f"  {name:8} median {np.median(spent):6.0f}, 99 % {np.percentile(spent, 99):6.0f}, failed {failures}")


def skeleton(axis, places, target, across):
    """Links as lines, seen along x (across 1) or y (across 0)."""
    first = len(robot.bodies)
    ends = [(body.parent, i) for i, body in enumerate(robot.bodies) if body.parent >= 0]
    ends += [(robot.frame(name).body, first + k) for k, name in enumerate(FRAMES)]
    lines = np.pad(places[np.array(ends)], [(0, 0), (0, 1), (0, 0)], constant_values=np.nan).reshape(-1, 3)
    axis.plot(lines[:, across], lines[:, 2], "C0-", lw=3, solid_capstyle="round")
    for x, z in places[first : first + 2, [across, 2]]:
        axis.plot([x - SOLE[across], x + SOLE[across]], [z, z], "k-", lw=4)
    axis.plot(target[across], target[2], "C3o", ms=6)
    axis.set(aspect="equal", xlim=(-0.75, 0.75), ylim=(-0.05, 1.85), xlabel="xy"[across] + " (m)")
    axis.set_xticks((-0.5, 0.0, 0.5))


def picture(rows, pushes, recovered, places):
    """The robot, centres of mass and pressure, the hand, pushes, and times."""
    t, centre, middle, cop, hand, target, spent, *_ = rows
    figure = plt.figure(figsize=(13, 9), layout="constrained")
    grid = figure.add_gridspec(4, 3, width_ratios=[1, 1, 1.8])
    starts, most = EVERY * np.arange(1, len(pushes) + 1), np.abs(centre - middle)[:, :2].max(1)
    for across in range(2):
        worst = int(np.argmax(most)) // 50
        skeleton(figure.add_subplot(grid[:2, across]), places[worst], target[50 * worst], across)
        axis = figure.add_subplot(grid[across, 2])
        axis.plot(t, cop[:, across], "0.6", lw=0.7, label="centre of pressure")
        axis.plot(t, centre[:, across], "C0", lw=1.5, label="centre of mass")
        reach = HALF[across] + across * SET.position[0, 1]
        for side in (-reach, reach):
            axis.plot(t, middle[:, across] + side, "k:", lw=1.2)
        axis.set(ylabel="xy"[across] + " (m)", xlim=(0, t[-1]))
    figure.axes[0].set_title(f"farthest from its place, {50 * worst * PERIOD:.2f} s", loc="left")
    axis.legend(ncols=2, fontsize="small", loc="lower right", bbox_to_anchor=(1, 1))
    axis = figure.add_subplot(grid[2, 2])
    axis.plot(t, 1e3 * np.linalg.norm(hand - target, axis=1), "C3", lw=1.2)
    axis.set(ylabel="error of the hand (mm)", xlim=(0, t[-1]), ylim=(0, None))
    for panel in figure.axes:
        if panel.get_ylabel():
            for start in starts:
                panel.axvspan(start, start + PUSHED, color="C1", alpha=0.4, lw=0)
    axis = figure.add_subplot(grid[3, 2])
    axis.semilogy(t[::5], 1e3 * spent.sum(1)[::5], ".", color="C0", ms=1.5, label="a period")
    axis.semilogy(t[::5], 1e3 * spent[::5, 0], ".", color="C2", ms=1.5, label="rigidc's functions in it")
    axis.axhline(1e3 * PERIOD, color="k", ls=":", lw=1.2)
    axis.set(xlabel="time (s)", ylabel="processor (ms)", xlim=(0, t[-1]))
    axis.legend(ncols=2, fontsize="small", markerscale=6)
    axis = figure.add_subplot(grid[2:, :2], projection="polar")
    for good, color, label in ((True, "C2", "recovered"), (False, "C3", "not")):
        chosen = pushes[recovered == good]
        axis.plot(chosen[:, 1], args.impulse * chosen[:, 0], "o", color=color, label=f"{label} ({len(chosen)})")
    axis.set_title("pushes on the trunk (N s), forwards to the right")
    axis.set_rgrids(np.arange(10, args.impulse + 1, 10))
    axis.set_rlim(0, 1.05 * args.impulse)
    axis.legend(loc="upper right", bbox_to_anchor=(1.3, 1.1))
    figure.savefig(args.figure, dpi=110)
    plt.close(figure)


def film(places, targets):
    """The robot from two sides, 10 pictures a second."""
    figure, axes = plt.subplots(1, 2, figsize=(6, 4), layout="constrained")

    def draw(k):
        for across, axis in enumerate(axes):
            axis.clear()
            skeleton(axis, places[k], targets[k], across)
        axes[0].set_title(f"{0.1 * k:.1f} s", loc="left")

    FuncAnimation(figure, draw, len(places)).save(args.film, PillowWriter(10), dpi=60)
    plt.close(figure)


with doing(f"{args.pushes} pushes"):
    rows, (pushes, recovered, falls), problems, places = simulated(globals()[args.solver]())
summary(*rows)
print(
    f"recovered from {recovered.sum()} of {len(pushes)} pushes of {0.3 * args.impulse:.1f} to {args.impulse:.1f} N s",
    end="",
)
print(f" on the trunk; falls {falls}")
compared(problems)
picture(rows, pushes, recovered, places)
print(f"wrote {args.figure}")
if args.film:
    film(places[:400:2], rows[5][::100])
    print(f"wrote {args.film}")
