"""Nonlinear MPC of an arm at 1 kHz: exact Hessians of compiled C, closed loop against MuJoCo.

The unknowns are q, v and a at the nodes of the horizon, with bounds on tau = rnea(q, v, a) - load. `load` is an
observer's estimate of what the model does not explain: MuJoCo's arm carries a payload and has friction, neither of
which the controller knows, and it is pushed. In each period the solver takes one Newton step with barriers (riccati),
or solves the problem (fatrop, ipopt). Torques act a period after their state was measured, or as much later as their
solve took. The loop runs with rigidc's C, and again with CasADi's own derivatives of the same operations, in C that
CasADi generates and in its virtual machine. Times are of the processor.
"""

import argparse
import time

import numpy as np

import codegen
from codegen import ocp
from codegen.extras import extra
from codegen.ocp.plant import mujoco as simulator
from codegen.progress import doing

with extra("mpc", "mujoco", "scipy"):
    import matplotlib.pyplot as plt

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--seconds", type=float, default=4.0, help="simulated time (default: %(default)s)")
parser.add_argument("--nodes", type=int, default=12, help="steps of the horizon (default: %(default)s)")
parser.add_argument("--solver", choices=("riccati", "fatrop", "ipopt"), default="riccati", help="default: %(default)s")
parser.add_argument("--figure", default="mpc_arm.png", help="the picture to write (default: %(default)s)")
parser.add_argument("--film", default="mpc_arm.gif", help="the film, '' for none (default: %(default)s)")
args = parser.parse_args()

robot, mujoco = codegen.load("iiwa"), simulator()
inverse = codegen.build(robot, "rnea")
n, N = robot.nv, args.nodes
PERIOD, H, SUBSTEPS = 0.001, 0.04, 2  # of control and between nodes (s); steps of MuJoCo in a period
LIMIT = np.array([120.0, 100.0, 60.0, 50.0, 15.0, 8.0, 2.0])  # of torques (N m), so low that they matter
LOWER, UPPER = (np.array([getattr(body.joint, side) for body in robot.bodies]) for side in ("lower", "upper"))
START = np.array([0.0, 0.3, 0.0, -1.6, 0.0, 1.0, 0.0])
GOALS = np.array([[0.8, 0.6, 0.3, -1.2, 0.4, 0.8, 0.5], [-0.6, 0.9, -0.4, -0.7, -0.5, 1.2, -0.8]])
JUMP, MOVING, SWING = 1.2, 2.6, 0.25  # when the goal changes and when it begins to swing (s), and how far (rad)
PUSH, PUSHED = (60.0, 40.0, 0.0), (2.0, 2.1)  # force on the last link (N), and when (s)
PAYLOAD, FRICTION = 1.0, 0.002 * LIMIT  # at the hand (kg), in the joints (N m s/rad)
BARRIER = 1e-2, 0.05  # of bounds, which are scaled, and where it becomes a parabola
OPTIONS = {"tol": 1e-3, "mu_init": 1e-3, "max_iter": 50}  # of fatrop and ipopt
SOURCES = {  # of derivatives: whether CasADi makes them, and whether they are compiled
    "rigidc's C": (False, True),
    "CasADi's derivatives, in C": (True, True),
    "CasADi's derivatives": (True, False),
}


def target(now, times):
    """Joint positions wanted at `times`, a column each; a change is not known before it happens."""
    swing = SWING * np.sin(np.pi * np.maximum(times - MOVING, 0.0)) * (now >= MOVING)
    return GOALS[int(now >= JUMP)][:, None] + swing


def mjcf():
    """The arm for MuJoCo: a chain of hinges with motors and friction, and a payload."""

    def row(numbers):
        return " ".join(repr(float(x)) for x in numbers)

    links = '<light dir="0.2 0.3 -1" directional="true"/><geom type="plane" size="1 1 1" rgba="0.8 0.8 0.8 1"/>'
    for k, (body, friction) in enumerate(zip(robot.bodies, FRICTION, strict=True)):
        end = robot.bodies[k + 1].placement.p if k + 1 < n else (0.0, 0.0, 0.05)
        R, moment = np.array(body.placement.R), np.array(body.inertia.moment)
        six = row([*np.diag(moment), moment[0, 1], moment[0, 2], moment[1, 2]])
        links += (
            f'<body name="{body.name}" pos="{row(body.placement.p)}" xyaxes="{row([*R[:, 0], *R[:, 1]])}">'
            f'<inertial mass="{body.inertia.mass}" pos="{row(body.inertia.com)}" fullinertia="{six}"/>'
            f'<joint name="{body.joint.name}" axis="{row(body.joint.axis)}" damping="{friction}"/>'
            f'<geom type="capsule" fromto="0 0 0 {row(end)}" size="0.04" mass="0" rgba="0.5 0.5 0.6 1"/>'
        )
    payload = f'<body pos="0 0 0.05"><geom size="0.05" mass="{PAYLOAD}" rgba="0.8 0.4 0.1 1"/></body>' + n * "</body>"
    motors = "".join(f'<motor joint="{body.joint.name}"/>' for body in robot.bodies)
    step = f'<option timestep="{PERIOD / SUBSTEPS}" gravity="{row(robot.gravity)}"/>'
    step += '<default><geom contype="0" conaffinity="0"/></default>'  # nothing touches
    step += '<asset><texture type="skybox" builtin="flat" rgb1="0.9 0.95 1" width="8" height="8"/></asset>'
    return f"<mujoco>{step}<worldbody>{links}{payload}</worldbody><actuator>{motors}</actuator></mujoco>"


def problem(expand, compile_c):
    """The optimal control problem, for increments of q, v and a along a nominal trajectory."""
    rnea, stage, last = codegen.to_casadi(robot, "rnea", expand=expand), ocp.Stage(), ocp.Stage()
    q, v, a = (stage.parameter(x, n) + stage.unknown(f"d{x}", n)[0] for x in ("q", "v", "a"))
    stage.moves("dq", q + H * v + H**2 / 2 * a - stage.parameter("q_next", n))
    stage.moves("dv", v + H * a - stage.parameter("v_next", n))
    tau = stage.call(rnea, q, v, a) - stage.parameter("load", n)
    stage.bounded(-1, tau / LIMIT, 1)
    stage.bounded(LOWER, q, UPPER)
    stage.cost(200, q - stage.parameter("q_wanted", n))
    stage.cost(2, v - stage.parameter("v_wanted", n))
    stage.cost(2e-3, a)
    q, v = (last.parameter(x, n) + last.unknown(f"d{x}", n)[0] for x in ("q", "v"))
    last.cost(2000, q - last.parameter("q_wanted", n))
    last.cost(20, v - last.parameter("v_wanted", n))
    return ocp.Problem(stage, last, N, 2 * n, compile_c=compile_c, exact=BARRIER)


class Controller:
    """A trajectory q, v, a at the nodes that moves on with time, and a solver."""

    def __init__(self, expand, compile_c):
        self.problem = problem(expand, compile_c)
        if args.solver == "riccati":
            self.solver = ocp.Riccati(self.problem, *BARRIER)
        else:
            self.solver = ocp.Nonlinear(self.problem, args.solver, OPTIONS)
        self.q, self.v, self.a = np.tile(START, (N + 1, 1)), np.zeros((N + 1, n)), np.zeros((N + 1, n))

    def step(self, now, q, v, load):
        """Torques from this state on, and of the step the seconds, those in functions, and success."""
        begun = time.process_time()
        for x in (self.q, self.v, self.a):
            x[:-1] += PERIOD / H * (x[1:] - x[:-1])
        self.q[0], self.v[0], goals = q, v, target(now, now + H * np.arange(N + 1)).T
        rate = np.diff(goals, axis=0) / H
        each = {"q": self.q[:-1], "v": self.v[:-1], "a": self.a[:-1], "q_next": self.q[1:], "v_next": self.v[1:]}
        each |= {"load": np.tile(load, (N, 1)), "q_wanted": goals[:-1], "v_wanted": rate}
        last = {"q": self.q[-1:], "v": self.v[-1:], "q_wanted": goals[-1:], "v_wanted": rate[-1:]}
        if args.solver == "riccati":
            before = time.process_time()
            given = self.problem.evaluated(each, last)
            inside = time.process_time() - before
            found = self.solver.solve(given)
        else:
            found = self.solver.solve((each, last))
            inside = self.solver.inside
        if found.solved:
            by = self.problem.increments(found.x)
            self.q, self.v, self.a = self.q + by["dq"], self.v + by["dv"], self.a + by["da"]
        tau = np.clip(inverse(self.q[0], self.v[0], self.a[0]) - load, -LIMIT, LIMIT)
        return tau, time.process_time() - begun, inside, found.solved


def closed_loop(expand, compile_c):
    """A row for each solve: time, q, goal, tau that acts, and of its solve the seconds, those in functions, success."""
    controller, model = Controller(expand, compile_c), mujoco.MjModel.from_xml_string(mjcf())
    plant, hand, rows = mujoco.MjData(model), model.body(robot.bodies[-1].name).id, []
    films.append(film := ocp.Film(model, 0.0, args.seconds * bool(args.film and not films), distance=2.0))
    plant.qpos[:], last, load, ready = START, np.zeros(n), np.zeros(n), 0
    coming = acting = controller.step(0.0, START, np.zeros(n), load)[0]
    for k in range(round(args.seconds / PERIOD)):
        now, q, v = k * PERIOD, plant.qpos.copy(), plant.qvel.copy()
        if k:
            load = load + 0.1 * (inverse(q, v, (v - last) / PERIOD) - acting - load)
        if k >= ready:  # what was solved acts now, and the next solve is for the state a period ahead
            acting, a = coming, controller.a[0]
            ahead = q + PERIOD * v + PERIOD**2 / 2 * a, v + PERIOD * a
            coming, spent, inside, solved = controller.step(now + PERIOD, *ahead, load)
            rows.append((now, q, target(now, np.array([now]))[:, 0], acting, spent, inside, solved))
            ready = k + max(1, int(np.ceil(spent / PERIOD)))
        plant.ctrl[:], last = acting, v
        plant.xfrc_applied[hand, :3] = PUSH if PUSHED[0] <= now < PUSHED[1] else (0.0, 0.0, 0.0)
        mujoco.mj_step(model, plant, SUBSTEPS)
        film.show(plant)
    return [np.array(column) for column in zip(*rows, strict=True)]


def summary(t, q, goal, tau, spent, functions, success):
    """Print what one run was like."""
    milliseconds, inside, missed = 1e3 * spent, 1e3 * np.median(functions), np.sum(spent > PERIOD)
    print(f"  {len(t)} solves in {round(args.seconds / PERIOD)} periods,", end=" ")
    print(f"{np.sum(~success)} failed, {missed} longer than {1e3 * PERIOD:g} ms")
    print(f"  time of a solve: median {np.median(milliseconds):.3f} ms, in functions {inside:.3f} ms;", end=" ")
    print(f"99 % below {np.percentile(milliseconds, 99):.3f} ms, longest {milliseconds.max():.3f} ms")
    print(f"  solves with a torque at its limit: {(np.abs(tau) > 0.999 * LIMIT).any(axis=1).sum()}")
    events = {"the goal jumps": JUMP, "the push": PUSHED[0], "the goal swings": MOVING, "the end": args.seconds}
    for event, when in events.items():
        before = (t > when - 0.105) & (t < when - 0.001)
        if before.sum() > 9:
            print(f"  largest error in the 0.1 s before {event}: {np.abs(q - goal)[before].max():.4f} rad")


def picture(runs):
    """Positions against targets and torques against limits of the first run, and the times of all solves."""
    t, q, goal, tau, *_ = next(iter(runs.values()))
    figure = plt.figure(figsize=(10, 12), layout="constrained")
    grid = figure.add_gridspec(n + 1, 2, height_ratios=[*n * [1], 2])
    for i in range(n):
        left, right = figure.add_subplot(grid[i, 0]), figure.add_subplot(grid[i, 1])
        left.plot(t, goal[:, i], "k--", lw=1, label="target")
        left.plot(t, q[:, i], "C0", lw=1.6, label="position")
        left.set_ylabel(f"joint {i + 1}")
        right.plot(t, tau[:, i], "C0", lw=1.2, label="torque")
        for sign in (-1, 1):
            right.axhline(sign * LIMIT[i], color="k", ls=":", lw=1.2, label="limit")
        right.set(ylim=(-1.2 * LIMIT[i], 1.2 * LIMIT[i]), yticks=[-LIMIT[i], 0, LIMIT[i]])
        for axis in (left, right):
            axis.axvspan(*PUSHED, color="0.8", lw=0, label="push")
            axis.set_xlim(0, args.seconds)
            axis.tick_params(labelbottom=i == n - 1)
        left.set_title("position (rad)" if i == 0 else "")
        right.set_title("torque (N m)" if i == 0 else "")
    handles = [*left.lines, *right.lines[:2], *left.patches]
    figure.legend(handles=handles, ncols=5, loc="outside upper center")
    below = figure.add_subplot(grid[n, :])
    for (name, (t, *_, spent, _, success)), color in zip(reversed(runs.items()), ("0.75", "C1", "C0"), strict=True):
        below.semilogy(t, 1e3 * spent, ".", color=color, ms=2.5, label=name)
        below.semilogy(t[~success], 1e3 * spent[~success], "kx", ms=8)
    below.axhline(1e3 * PERIOD, color="k", ls=":", lw=1.2, label="period of control")
    ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10]
    below.set(xlim=(0, args.seconds), yticks=ticks, yticklabels=ticks, xlabel="time (s)", ylabel="solve (ms)")
    below.minorticks_off()
    below.legend(ncols=4, loc="upper center", fontsize="small", markerscale=4)
    figure.savefig(args.figure, dpi=120)
    plt.close(figure)


runs, films = {}, []  # the first run is filmed
for name, source in SOURCES.items():
    with doing(f"closed loop with {name}"):
        runs[name] = closed_loop(*source)
    print(name)
    summary(*runs[name])
picture(runs)
print(f"wrote {args.figure}")
if films[0].pictures:
    films[0].save(args.film)
    print(f"wrote {args.film}")
