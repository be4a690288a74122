"""A leg with differentials in an optimiser: exact dynamics against reflected rotors, and against none.

Tello drives hip, knee and ankle by differentials, two rotors each (gear ratio 6). The leg swings forward, from rest to
rest, with the least squares of torques: the optimisation keeps the loops closed by `integrate`, and takes torques from
`rnea`, with exact derivatives of both. It is solved with the exact model, with rotors as armatures of the driven joints
(what they feel of other links' motion is left out), and without rotors. The exact robot then follows the torques.

MuJoCo is the plant of a closed loop besides: its leg has other masses and friction, and is pushed. It has no
differentials, so its joints are tied by forces: with its inertia matrix and bias, and the loops of the oracle. The
controller adds feedback to the torques of the plan, 1,000 times a second; they saturate.
"""

import argparse
import time
from dataclasses import replace

import casadi as ca
import numpy as np

import codegen
from codegen import ocp
from codegen.extras import extra
from codegen.ocp.plant import mjcf, mujoco
from codegen.oracle.loops import closed
from codegen.progress import doing

with extra("mpc", "mujoco", "scipy"):
    import matplotlib.pyplot as plt

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--seconds", type=float, default=0.2, help="of the swing (default: %(default)s)")
parser.add_argument("--nodes", type=int, default=25, help="steps of the plan (default: %(default)s)")
parser.add_argument("--figure", default="differential_leg.png", help="the picture to write (default: %(default)s)")
parser.add_argument("--film", default="differential_leg.gif", help="the film, '' for none (default: %(default)s)")
args = parser.parse_args()

tello = codegen.load("tello_humanoid")
leg = tello.lock_all_but(*(name for name in tello.joint_names if name.startswith("left-")))
n, nq, N, H = leg.nv, leg.nq, args.nodes, args.seconds / args.nodes
CHAIN = ("left-hip-clamp", "left-thigh", "left-shin", "left-foot", "left-toe_contact")
FAR, HIGH, SUBSTEPS = 0.2, 0.15, 8  # of the toe (m); steps of the replay in one of the plan
OPTIONS = {"print_level": 0, "sb": "yes", "max_iter": 300}
RANGE = np.array([1.0, 5.0, 5.0, 1.1, 1.6, 7.0, 7.0, 2.0, 1.7])  # of positions (rad), within which the loops close
PERIOD, MASSES, LOSS = (
    0.001,
    0.05,
    0.01,
)  # of control (s); what MuJoCo's masses differ by; damping of joints (N m s/rad)
LIMIT, KP, KD = 8.0, 20.0, 0.3  # of torques (N m); feedback of independent joints (N m/rad, N m s/rad)
PUSH, PUSHED = (30.0, 0.0, 0.0), (0.4, 0.5)  # on the shin (N), and when, in parts of the swing
RATIO = 6.0  # of the rotor that the hip's first joint drives; the other rotors are coordinates themselves


def approximate(reflected):
    """The leg with rotors that do not spin, and with armatures in their place if they are `reflected`."""
    bodies, clamp = [], 0.0
    for body in leg.bodies:
        if "rotor" in body.name:
            (xx, xy, xz), (yx, yy, yz), (zx, zy, spin) = body.inertia.moment
            body = replace(body, inertia=replace(body.inertia, moment=((xx, xy, xz), (yx, yy, yz), (zx, zy, 0.0))))
            if body.name == "left-hip-clamp-rotor":
                clamp = RATIO**2 * spin
            elif reflected:
                body = replace(body, joint=replace(body.joint, armature=spin))
        bodies.append(body)
    if reflected:
        bodies[0] = replace(bodies[0], joint=replace(bodies[0].joint, armature=clamp))
    return replace(leg, bodies=tuple(bodies))


def middle(integrate, x, a):
    """Position and velocity in the middle of a step of constant acceleration."""
    q, v = x[:nq], x[nq:]
    return integrate(q, H / 2 * v + H**2 / 8 * a), v + H / 2 * a


def plan(model):
    """States (N + 1, nq + n), accelerations and torques (N, n) of the swing, iterations and seconds of the solve."""
    rnea, integrate = codegen.to_casadi(model, "rnea"), codegen.to_casadi(leg, "integrate")
    fk, opti, cost, torques = codegen.to_casadi(leg, "fk", frames=CHAIN), ca.Opti(), 0.0, []
    X, U = [opti.variable(nq + n) for _ in range(N + 1)], [opti.variable(n) for _ in range(N)]
    start = np.append(leg.neutral(), np.zeros(n))
    opti.subject_to(X[0] == start)
    for k in range(N):
        q, v = X[k][:nq], X[k][nq:]
        opti.subject_to(X[k + 1] == ca.vertcat(integrate(q, H * v + H**2 / 2 * U[k]), v + H * U[k]))
        torques.append(rnea(*middle(integrate, X[k], U[k]), U[k]))
        cost += H * ca.sumsqr(torques[-1])
        opti.subject_to(opti.bounded(-RANGE, X[k + 1][:nq], RANGE))
        opti.set_initial(X[k], start)
    opti.set_initial(X[N], start)
    toe = fk(X[N][:nq], X[N][nq:])[0][-1, :].T
    opti.subject_to(toe == fk(start[:nq], start[nq:])[0][-1, :].T + np.array([FAR, 0.0, HIGH]))
    opti.subject_to(X[N][nq:] == 0)
    opti.solver("ipopt", {"print_time": False, "detect_simple_bounds": True, "ipopt": OPTIONS})
    opti.minimize(sum(H * 1e-4 * ca.sumsqr(u) for u in U))  # to start from: the least accelerations
    opti.set_initial(opti.solve().value_variables())
    opti.minimize(cost)
    begun = time.process_time()
    solution = opti.solve()
    spent = time.process_time() - begun
    found = (np.array([solution.value(x) for x in part]) for part in (X, U, torques))
    return *found, opti.stats()["iter_count"], spent


def replayed(tau):
    """States of the exact robot under the torques of a plan, and no feedback (N + 1, nq + n)."""
    step, states = codegen.build(leg, "step", integrator="rk4"), [np.append(leg.neutral(), np.zeros(n))]
    for torque in tau:
        q, v = states[-1][:nq], states[-1][nq:]
        for _ in range(SUBSTEPS):
            q, v = step(q, v, torque, H / SUBSTEPS)
        states.append(np.append(q, v))
    return np.array(states)


class Plant:
    """The leg in MuJoCo, whose joints are tied by forces; `state` is that of independent joints."""

    def __init__(self):
        self.peer, factors = mujoco(), 1 + np.random.default_rng(0).uniform(-MASSES, MASSES, len(leg.bodies))
        text = mjcf(leg, {}, {}, masses=factors, timestep=PERIOD / 2, stick=0.02, ground=-1.0)
        self.model = self.peer.MjModel.from_xml_string(text)
        self.data, self.project = self.peer.MjData(self.model), codegen.build(leg, "project")
        self.order = [self.model.joint(body.joint.name).dofadr[0] for body in leg.bodies]  # MuJoCo's, of our joints
        self.own = [b for b, place in enumerate(leg.q_slices) if place.stop > place.start]
        self.state = leg.neutral(), np.zeros(n)
        self.data.qpos[self.order] = closed(leg, self.state[0]).q

    def step(self, tau, push):
        """One step of MuJoCo with torques on the independent joints and a force on the shin."""
        (q, v), data, M = self.state, self.data, np.zeros((self.model.nv, self.model.nv))
        loops = closed(leg, q)
        rates = loops.G @ v
        data.qpos[self.order], data.qvel[self.order], data.qfrc_applied[:] = loops.q, rates, 0.0
        data.body("left-shin").xfrc_applied[:3] = push
        self.peer.mj_forward(self.model, data)
        self.peer.mj_fullM(self.model, *((M, data.qM) if hasattr(data, "qM") else (data, M)))  # MuJoCo 3, or 4
        M, free = M[np.ix_(self.order, self.order)], data.qacc[self.order]  # as if no loop tied the joints
        forces, G, g = M @ free - LOSS * rates, loops.G, loops.g(rates)
        a = G @ np.linalg.solve(G.T @ M @ G, tau + G.T @ (forces - M @ g)) + g
        data.qfrc_applied[self.order] = M @ (a - free)
        self.peer.mj_step(self.model, data)
        q, _ = self.project(data.qpos[self.order][self.own])
        self.state = q, loops.P @ data.qvel[self.order]


def closed_loop(x, tau, film=None):
    """The states of MuJoCo's leg that follows a plan (N + 1, nq + n), and the torques of feedback."""
    plant, states, more = Plant(), [], []
    difference = codegen.build(leg, "difference")
    picture = ocp.Film(plant.model, 0.0, args.seconds * bool(film), rate=200, distance=1.6, azimuth=120.0)
    for k in range(round(args.seconds / PERIOD) + 1):
        at = min(k * PERIOD / H, N - 1e-9)
        node, part = int(at), at % 1
        (q, v), start, end = plant.state, x[node], x[node + 1]
        wanted = integrate(start[:nq], part * difference(start[:nq], end[:nq]))
        more.append(KP * difference(q, wanted) + KD * ((1 - part) * start[nq:] + part * end[nq:] - v))
        states.append(np.concatenate([q, v]))
        push = PUSH if PUSHED[0] <= at / N < PUSHED[1] else (0.0, 0.0, 0.0)
        for _ in range(2):
            plant.step(np.clip(tau[node] + more[-1], -LIMIT, LIMIT), push)
        picture.show(plant.data)
    if film:
        picture.save(film)
    return np.array(states), np.array(more)


def picture(plans, replays, exact_torques):
    """The leg under the torques of each plan, and the torques that each model misses along its own."""
    figure, axes = plt.subplots(2, 3, figsize=(12, 8), layout="constrained", height_ratios=[1.5, 1])
    places, times = codegen.build(leg, "fk", frames=CHAIN), H * (np.arange(N) + 0.5)
    for above, below, (name, (x, _, tau, *_)) in zip(axes[0], axes[1], plans.items(), strict=True):
        for state in replays[name][:: max(N // 6, 1)]:
            line = places(state[:nq], state[nq:]).position
            above.plot(line[:, 0], line[:, 2], "C0-", lw=2, alpha=0.5)
        for states, style, label in ((x, "k--", "toe as planned"), (replays[name], "C3-", "toe of the exact robot")):
            toe = np.array([places(state[:nq], state[nq:]).position[-1] for state in states])
            above.plot(toe[:, 0], toe[:, 2], style, lw=1.6, label=label)
        above.set(aspect="equal", title=name, xlabel="x (m)")
        for joint in range(n):
            below.plot(times, tau[:, joint] - exact_torques[name][:, joint], label=f"coordinate {joint + 1}")
        below.set(xlabel="time (s)", ylim=(-10, 10))
        below.set_yscale("symlog", linthresh=0.01)
    axes[0, 0].set_ylabel("z (m)")
    axes[1, 0].set_ylabel("torque less the exact one (N m)")
    axes[0, 0].legend(fontsize="small", loc="upper right")
    axes[1, 0].legend(fontsize="small", ncols=2, loc="lower center")
    figure.savefig(args.figure, dpi=110)
    plt.close(figure)


models = {"exact": leg, "rotors reflected": approximate(True), "no rotors": approximate(False)}
exact, toe = codegen.build(leg, "rnea"), codegen.build(leg, "fk", frames=CHAIN[-1:])
integrate, plans, replays, exact_torques = codegen.build(leg, "integrate"), {}, {}, {}
print(
    f"{'model':18}{'iterations':>11}{'seconds':>9}{'torque RMS':>12}{'its error':>11}{'most':>8}{'the toe misses':>16}"
)
for name, model in models.items():
    with doing(f"plan: {name}"):
        x, a, tau, iterations, spent = plans[name] = plan(model)
    exact_torques[name] = np.array([exact(*middle(integrate, *pair), pair[1]) for pair in zip(x[:-1], a, strict=True)])
    error, replays[name] = tau - exact_torques[name], replayed(tau)
    missed = np.linalg.norm(np.diff([toe(s[-1][:nq], s[-1][nq:]).position[0] for s in (x, replays[name])], axis=0))
    rms = (np.sqrt(np.mean(series**2)) for series in (exact_torques[name], error))
    numbers = "{:12.3f}{:11.4f}".format(*rms)
    print(f"{name:18}{iterations:11}{spent:9.2f}{numbers}{np.abs(error).max():8.3f}{1e3 * missed:13.1f} mm")
picture(plans, replays, exact_torques)
print(f"wrote {args.figure}")
print(f"{'in MuJoCo':18}{'torques of feedback RMS':>24}{'most':>8}{'the toe misses':>16}")
for name, (x, _, tau, *_) in plans.items():
    with doing(f"closed loop: {name}"):
        states, more = closed_loop(x, tau, args.film if name == "exact" else "")
    missed = np.linalg.norm(np.diff([toe(s[-1][:nq], s[-1][nq:]).position[0] for s in (x, states)], axis=0))
    print(f"- {name:16}{np.sqrt(np.mean(more**2)):24.3f}{np.abs(more).max():8.2f}{1e3 * missed:13.1f} mm")
if args.film:
    print(f"wrote {args.film}")
