"""Nonlinear MPC of an arm: exact Hessians of compiled C in CasADi, closed loop against MuJoCo.

The unknowns are q, v, a and tau at the nodes of the horizon, with rnea(q, v, a) - tau == load, and bounds on tau.
`load` is an observer's estimate of what the model does not explain: MuJoCo's arm carries a payload and has friction,
neither of which the controller knows, and it is pushed. The loop runs with rigidc's C, and again with CasADi's own
derivatives of the same operations. Times are of the processor; torques are applied in the period of their solve.
"""

import argparse
import time

import casadi as ca
import matplotlib.pyplot as plt
import mujoco
import numpy as np

import codegen
from codegen.progress import doing

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--seconds", type=float, default=4.0, help="simulated time (default: %(default)s)")
parser.add_argument("--nodes", type=int, default=12, help="steps of the horizon (default: %(default)s)")
parser.add_argument("--solver", choices=("fatrop", "ipopt"), default="fatrop", help="default: %(default)s")
parser.add_argument("--figure", default="mpc_arm.png", help="the picture to write (default: %(default)s)")
args = parser.parse_args()

robot = codegen.load("iiwa")
inverse = codegen.build(robot, "rnea")
n, N = robot.nv, args.nodes
PERIOD, H, SUBSTEPS = 0.01, 0.04, 10  # of control and between nodes (s); steps of MuJoCo in a period
LIMIT = np.array([120.0, 100.0, 60.0, 50.0, 15.0, 8.0, 2.0])  # of torques (N m), so low that they matter
LOWER, UPPER = (np.array([getattr(body.joint, side) for body in robot.bodies]) for side in ("lower", "upper"))
START = np.array([0.0, 0.3, 0.0, -1.6, 0.0, 1.0, 0.0])
GOALS = np.array([[0.8, 0.6, 0.3, -1.2, 0.4, 0.8, 0.5], [-0.6, 0.9, -0.4, -0.7, -0.5, 1.2, -0.8]])
JUMP, MOVING, SWING = 1.2, 2.6, 0.25  # when the goal changes and when it begins to swing (s), and how far (rad)
PUSH, PUSHED = (60.0, 40.0, 0.0), (2.0, 2.1)  # force on the last link (N), and when (s)
PAYLOAD, FRICTION = 1.0, 0.002 * LIMIT  # at the hand (kg), in the joints (N m s/rad)
OPTIONS = {"print_level": 0, "tol": 1e-4, "mu_init": 1e-3, "max_iter": 50}
SOLVERS = {"fatrop": {"structure_detection": "auto", "fatrop": OPTIONS}, "ipopt": {"ipopt": {**OPTIONS, "sb": "yes"}}}


def target(now, times):
    """Joint positions wanted at `times`, a column each; a change is not known before it happens."""
    swing = SWING * np.sin(np.pi * np.maximum(times - MOVING, 0.0)) * (now >= MOVING)
    return GOALS[int(now >= JUMP)][:, None] + swing


def mjcf():
    """The arm for MuJoCo: a chain of hinges with motors and friction, and a payload."""

    def row(numbers):
        return " ".join(repr(float(x)) for x in numbers)

    links = ""
    for body, friction in zip(robot.bodies, FRICTION, strict=True):
        R, moment = np.array(body.placement.R), np.array(body.inertia.moment)
        six = row([*np.diag(moment), moment[0, 1], moment[0, 2], moment[1, 2]])
        links += (
            f'<body name="{body.name}" pos="{row(body.placement.p)}" xyaxes="{row([*R[:, 0], *R[:, 1]])}">'
            f'<inertial mass="{body.inertia.mass}" pos="{row(body.inertia.com)}" fullinertia="{six}"/>'
            f'<joint name="{body.joint.name}" axis="{row(body.joint.axis)}" damping="{friction}"/>'
        )
    payload = f'<body pos="0 0 0.05"><geom size="0.05" mass="{PAYLOAD}"/></body>' + n * "</body>"
    motors = "".join(f'<motor joint="{body.joint.name}"/>' for body in robot.bodies)
    step = f'<option timestep="{PERIOD / SUBSTEPS}" gravity="{row(robot.gravity)}"/>'
    return f"<mujoco>{step}<worldbody>{links}{payload}</worldbody><actuator>{motors}</actuator></mujoco>"


def problem(rnea):
    """The optimal control problem, its unknowns stage by stage as fatrop wants them, and its parameters."""
    opti, cost = ca.Opti(), 0
    measured, wanted, load = opti.parameter(2 * n), opti.parameter(n, N + 1), opti.parameter(n)
    x, u = zip(*((opti.variable(2 * n), opti.variable(2 * n)) for _ in range(N)), strict=True)
    x = [*x, opti.variable(2 * n)]
    v_wanted = ca.diff(wanted, 1, 1) / H
    for k in range(N):
        q, v, a, tau = x[k][:n], x[k][n:], u[k][:n], u[k][n:]
        opti.subject_to(x[k + 1] == ca.vertcat(q + H * v + H**2 / 2 * a, v + H * a))
        opti.subject_to(x[k] == measured if k == 0 else opti.bounded(LOWER, q, UPPER))
        opti.subject_to(rnea(q, v, a) - tau == load)
        opti.subject_to(opti.bounded(-LIMIT, tau, LIMIT))
        cost += 100 * ca.sumsqr(q - wanted[:, k]) + ca.sumsqr(v - v_wanted[:, k]) + 1e-3 * ca.sumsqr(a)
    cost += 1000 * ca.sumsqr(x[N][:n] - wanted[:, N]) + 10 * ca.sumsqr(x[N][n:] - v_wanted[:, N - 1])
    opti.minimize(cost)
    opti.solver(args.solver, {"print_time": False, **SOLVERS[args.solver]})
    return opti, x, u, (measured, wanted, load)


def closed_loop(rnea):
    """A row for each period: time, q, goal, tau, and of its solve the seconds, those in functions, and success."""
    opti, x, u, parameters = problem(rnea)
    model = mujoco.MjModel.from_xml_string(mjcf())
    plant, hand, rows = mujoco.MjData(model), model.body(robot.bodies[-1].name).id, []
    plant.qpos[:], last, load = START, np.zeros(n), np.zeros(n)
    tau = inverse(START, np.zeros(n), np.zeros(n))
    for k in range(N + 1):  # at rest, until solutions are known
        opti.set_initial(x[k], np.append(START, np.zeros(n)))
        opti.set_initial(u[min(k, N - 1)], np.append(np.zeros(n), tau))
    for now in PERIOD * np.arange(round(args.seconds / PERIOD)):
        q, v = plant.qpos.copy(), plant.qvel.copy()
        if rows:
            load = load + 0.5 * (inverse(q, v, (v - last) / PERIOD) - tau - load)
        goals = target(now, now + H * np.arange(N + 1))
        for parameter, value in zip(parameters, (np.append(q, v), goals, load), strict=True):
            opti.set_value(parameter, value)
        begun = time.process_time()
        try:
            solution = opti.solve()
            spent, stats = time.process_time() - begun, opti.stats()
            tau = solution.value(u[0])[n:]
            opti.set_initial(opti.x, solution.value(opti.x))  # where the next solve begins
        except RuntimeError:  # no solution: the torques stay
            spent, stats = time.process_time() - begun, opti.stats()
        functions = sum(seconds for key, seconds in stats.items() if key.startswith("t_proc_nlp_"))
        rows.append((now, q, goals[:, 0], tau, spent, functions, stats["success"]))
        plant.ctrl[:], last = tau, v
        plant.xfrc_applied[hand, :3] = PUSH if PUSHED[0] <= now < PUSHED[1] else (0.0, 0.0, 0.0)
        mujoco.mj_step(model, plant, SUBSTEPS)
    return [np.array(column) for column in zip(*rows, strict=True)]


def summary(t, q, goal, tau, spent, functions, success):
    """Print what one run was like."""
    milliseconds, inside = 1e3 * spent, 1e3 * np.median(functions)
    print(f"  {len(t)} solves, {np.sum(~success)} failed, {np.sum(spent > PERIOD)} longer than {1e3 * PERIOD:g} ms")
    print(
        f"  time of a solve: median {np.median(milliseconds):.2f} ms, of which in functions {inside:.2f} ms;", end=" "
    )
    print(f"worst {milliseconds[1:].max(initial=0):.2f} ms, first {milliseconds[0]:.2f} ms")
    beyond, full = np.abs(tau) > LIMIT, (np.abs(tau) > 0.999 * LIMIT).any(axis=1)
    print(f"  torques beyond their limits: {beyond.sum()}; periods with a torque at its limit: {full.sum()}")
    events = {"the goal jumps": JUMP, "the push": PUSHED[0], "the goal swings": MOVING, "the end": args.seconds}
    for event, when in events.items():
        before = (t > when - 0.105) & (t < when - 0.001)
        if before.sum() > 9:
            print(f"  largest error in the 0.1 s before {event}: {np.abs(q - goal)[before].max():.4f} rad")


def picture(t, q, goal, tau, spent, success, peer):
    """Positions against targets, torques against limits, and the time of every solve."""
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
            axis.set_xlim(0, t[-1])
            axis.tick_params(labelbottom=i == n - 1)
        left.set_title("position (rad)" if i == 0 else "")
        right.set_title("torque (N m)" if i == 0 else "")
    handles = [*left.lines, *right.lines[:2], *left.patches]
    figure.legend(handles=handles, ncols=5, loc="outside upper center")
    below = figure.add_subplot(grid[n, :])
    below.semilogy(t, 1e3 * peer, "s", color="0.6", ms=2.5, label="with CasADi's own derivatives")
    below.semilogy(t, 1e3 * spent, "o", color="C0", ms=2.5, label="with rigidc's C")
    below.semilogy(t[~success], 1e3 * spent[~success], "kx", ms=8, label=f"failed ({np.sum(~success)})")
    below.axhline(1e3 * PERIOD, color="k", ls=":", lw=1.2, label="period of control")
    ticks = [1, 2, 5, 10, 20, 50, 100, 200]
    below.set(xlim=(0, t[-1]), ylim=(1, 300), yticks=ticks, yticklabels=ticks, xlabel="time (s)", ylabel="solve (ms)")
    below.legend(ncols=4, loc="upper center", fontsize="small")
    figure.savefig(args.figure, dpi=120)
    plt.close(figure)


runs = {}
for name, expand in (("rigidc's C", False), ("CasADi's own derivatives", True)):
    rnea = codegen.to_casadi(robot, "rnea", expand=expand)
    with doing(f"closed loop with {name}"):
        runs[name] = closed_loop(rnea)
    print(name)
    summary(*runs[name])
(*ours, spent, functions, success), (*_, peer, peer_functions, _) = runs.values()
print(f"CasADi's functions take {np.median(peer_functions) / np.median(functions):.1f} times as long", end="")
print(f", its solves {np.median(peer) / np.median(spent):.1f} times")
picture(*ours, spent, success, peer)
print(f"wrote {args.figure}")
