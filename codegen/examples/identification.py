"""System identification of an arm: base parameters, and physically consistent ones by Clarabel.

The arm is MuJoCo's. Its links are deformed, it carries a payload that the nominal model lacks, and its joints have
friction. It follows a periodic motion, whose condition number is reduced along exact gradients (`vjp` of the
regressor). Positions and torques are measured with noise. Least squares run in Fourier coefficients: those of periodic
data are filtered and differentiated exactly (Swevers et al. 1997). They give base parameters, and no more. Consistent
parameters solve a semidefinite program: pseudo-inertias are positive (Wensing, Kim and Slotine 2018), and what the data
leave open stays near the nominal model (Lee, Wensing and Park 2020).
"""

import argparse
import time

import numpy as np

import codegen
from codegen.extras import extra
from codegen.progress import doing

with extra("control,figures"):
    import clarabel
    import matplotlib.pyplot as plt
    import mujoco
    from matplotlib.animation import FuncAnimation, PillowWriter
    from scipy import sparse

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--periods", type=int, default=3, help="measured periods of the motion (default: %(default)s)")
parser.add_argument("--noise", type=float, default=1.0, help="factor on the noise (default: %(default)s)")
parser.add_argument("--steps", type=int, default=150, help="steps of the optimisation (default: %(default)s)")
parser.add_argument("--seed", type=int, default=0, help="of motions, links and noise (default: %(default)s)")
parser.add_argument("--figure", default="identification.png", help="the picture to write (default: %(default)s)")
parser.add_argument("--film", default="identification.gif", help="the film, '' for none (default: %(default)s)")
args = parser.parse_args()

nominal = codegen.load("iiwa")
regressor, base = codegen.build(nominal, "regressor"), codegen.base_parameters(nominal)
n, columns = nominal.nv, list(base.columns)
pi_nominal, rng = codegen.inertial_parameters(nominal), np.random.default_rng(args.seed)
LIMIT = np.array([320.0, 320.0, 176.0, 176.0, 110.0, 40.0, 40.0])  # of torques (N m)
SPEED = np.array([1.4, 1.4, 1.7, 1.3, 2.2, 2.3, 2.3])  # of joints (rad/s)
LOWER, UPPER = (np.array([getattr(body.joint, side) for body in nominal.bodies]) for side in ("lower", "upper"))
NOISE_Q, NOISE_TAU = 1e-4 * args.noise, 0.01 * LIMIT * args.noise  # standard deviations (rad, N m)
FRICTION = np.concatenate([0.006 * LIMIT, 0.008 * LIMIT])  # viscous (N m s/rad), and of Coulomb (N m)
KP = np.array([800.0, 800.0, 400.0, 400.0, 80.0, 50.0, 20.0])  # of the controller (N m/rad)
KD = np.array([50.0, 50.0, 25.0, 25.0, 4.0, 2.0, 0.4])  # (N m s/rad)
T, H, SAMPLE, SUBSTEPS = 8.0, 0.001, 10, 2  # period, step of control (s), steps per sample, MuJoCo's per step
HARMONICS, KEPT = 5, 25  # of motions, and of measurements
PRIOR, LEAST = 30.0, 1e-3  # parts of the nominal model: a standard deviation, and the least pseudo-inertia
E = np.zeros((10, 4, 4))  # the pseudo-inertia [J h; h' m], where J = tr(I)/2 - I, is the sum of pi_k E_k
E[0, 3, 3] = 1.0
for axis, moment in enumerate((4, 6, 9)):
    E[1 + axis, axis, 3] = E[1 + axis, 3, axis] = 1.0
    E[moment, :3, :3] = 0.5 * np.eye(3) - np.diag(np.eye(3)[axis])
for product, (i, j) in {5: (0, 1), 7: (0, 2), 8: (1, 2)}.items():
    E[product, i, j] = E[product, j, i] = -1.0


def solved(P, c, A, b, *cones):
    """Clarabel's solution of: minimise x' P x / 2 + c' x, where b - A x is in the cones."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    P, A = sparse.triu(P, format="csc"), sparse.csc_matrix(A)
    return clarabel.DefaultSolver(P, c, A, b, cones, settings).solve()


def series(samples):
    """Sines and cosines over one period, and their first and second derivatives (samples, 2 HARMONICS)."""
    w = 2 * np.pi / T * np.arange(1, HARMONICS + 1)
    angle = np.outer(T / samples * np.arange(samples), w)
    s, c = np.sin(angle), np.cos(angle)
    return np.hstack([s, c]), np.hstack([c * w, -s * w]), -np.hstack([s, c]) * np.tile(w, 2) ** 2


def motion(x, samples):
    """Positions, velocities and accelerations (samples, n) over one period, of Fourier coefficients x."""
    B, dB, ddB = series(samples)
    return (UPPER + LOWER) / 2 + B @ x, dB @ x, ddB @ x


def within(x):
    """The coefficients nearest to x (2 HARMONICS, n) of a motion that keeps the limits of positions and speeds."""
    B, dB, _ = series(80)
    A, found = np.vstack([B, -B, dB, -dB]), []
    for wanted, most, speed in zip(x.T, 0.45 * (UPPER - LOWER), SPEED, strict=True):
        b = np.repeat([most, speed], 160)
        found.append(solved(np.eye(len(x)), -wanted, A, b, clarabel.NonnegativeConeT(len(b))).x)
    return np.array(found).T


def condition(x):
    """The condition number of the base regressor along a motion, and the gradient of its logarithm."""
    (B, dB, ddB), (q, v, a) = series(100), motion(x, 100)
    W = regressor(q, v, a)[:, :, columns] / LIMIT[:, None]
    U, S, Vt = np.linalg.svd(W.reshape(-1, len(columns)), full_matrices=False)
    change = np.outer(U[:, 0], Vt[0]) / S[0] - np.outer(U[:, -1], Vt[-1]) / S[-1]
    weights = np.zeros((len(q), n, len(pi_nominal)))
    weights[:, :, columns] = change.reshape(W.shape) / LIMIT[:, None]
    qbar, vbar, abar = regressor.vjp(q, v, a, weights)
    return S[0] / S[-1], B.T @ qbar + dB.T @ vbar + ddB.T @ abar


def exciting():
    """A motion of small condition number, by projected gradients from a random one, and the numbers on the way."""
    x, mean, found = within(rng.normal(size=(2 * HARMONICS, n))), 0.0, []
    for step in range(args.steps):
        number, gradient = condition(x)
        found.append((number, x))
        mean = (mean + gradient) / 2
        x = within(x - (1 - step / args.steps) * mean / np.linalg.norm(mean))
    return min(found, key=lambda pair: pair[0])[1], [number for number, _ in found]


def pseudo_inertias(pi):
    """Of all bodies (7, 4, 4)."""
    return np.einsum("bk,kij->bij", pi.reshape(-1, 10), E)


def deformed(pi):
    """Parameters of bodies whose points r move to B r + t: their pseudo-inertias are A P A'."""
    found = []
    for P in pseudo_inertias(pi):
        A = np.eye(4) + np.diag([1.0, 1.0, 1.0, 0.0]) @ rng.normal(size=(4, 4)) * [0.1, 0.1, 0.1, 0.01]
        found.append(np.linalg.lstsq(E.reshape(10, 16).T, rng.uniform(0.9, 1.2) * (A @ P @ A.T).ravel())[0])
    return np.concatenate(found)


def mjcf(pi):
    """The arm for MuJoCo: links with parameters pi, joints with motors and friction, and a payload."""

    def row(numbers):
        return " ".join(repr(float(x)) for x in numbers)

    links = ""
    for i, body in enumerate(nominal.with_inertial_parameters(pi).bodies):
        R, moment = np.array(body.placement.R), np.array(body.inertia.moment)
        six = row([*np.diag(moment), moment[0, 1], moment[0, 2], moment[1, 2]])
        links += (
            f'<body name="{body.name}" pos="{row(body.placement.p)}" xyaxes="{row([*R[:, 0], *R[:, 1]])}">'
            f'<inertial mass="{body.inertia.mass}" pos="{row(body.inertia.com)}" fullinertia="{six}"/>'
            f'<joint name="{body.joint.name}" axis="{row(body.joint.axis)}" damping="{FRICTION[i]}" '
            f'frictionloss="{FRICTION[n + i]}"/>'
        )
    payload = '<body pos="0.03 0.02 0.1"><geom type="box" size="0.05 0.04 0.06" mass="3"/></body>' + n * "</body>"
    motors = "".join(f'<motor joint="{body.joint.name}"/>' for body in nominal.bodies)
    step = f'<option timestep="{H / SUBSTEPS}" gravity="{row(nominal.gravity)}" integrator="implicitfast"/>'
    return f"<mujoco>{step}<worldbody>{links}{payload}</worldbody><actuator>{motors}</actuator></mujoco>"


def follow(plant, x, periods, model, friction):
    """Positions, velocities, accelerations and torques in the middle of all steps but the first period's, and the
    largest error of a joint (rad), under torques of a model and of friction along the motion, and feedback."""
    q, v, a = motion(x, round(T / H))
    forward = codegen.build(model, "rnea")(q, v, a) + rubbing(v) @ friction
    data, rows = mujoco.MjData(plant), []
    data.qpos[:], data.qvel[:] = q[0], v[0]
    for k in np.tile(np.arange(len(q)), periods + 1):
        before, speed = data.qpos.copy(), data.qvel.copy()
        data.ctrl[:] = np.clip(forward[k] + KP * (q[k] - before) + KD * (v[k] - speed), -LIMIT, LIMIT)
        mujoco.mj_step(plant, data, SUBSTEPS)
        middle = (before + data.qpos) / 2, (speed + data.qvel) / 2, (data.qvel - speed) / H
        rows.append((*middle, data.ctrl.copy(), np.abs(q[k] - before)))
    *measured, errors = (np.array(column)[len(q) :] for column in zip(*rows, strict=True))
    return *measured, errors.max()


def rubbing(v):
    """What friction's parameters are multiplied by (samples, n, 2 n)."""
    return np.concatenate([v[:, :, None] * np.eye(n), np.sign(v)[:, :, None] * np.eye(n)], axis=2)


def coefficients(series):
    """Those of Fourier up to KEPT of one period, sines and cosines one after the other: white noise stays white."""
    found = np.sqrt(2.0) * np.fft.rfft(series, axis=0, norm="ortho")[: KEPT + 1]
    return np.concatenate([found[:1].real / np.sqrt(2.0), found[1:].real, found[1:].imag])


def observations(q, tau):
    """W and b, in standard deviations of the noise, of W [pi; friction] = b: noisy samples of whole periods."""
    q, tau = (series.reshape(args.periods, -1, n).mean(0) for series in (q, tau))
    f, w = np.fft.rfft(q, axis=0), 2j * np.pi / T * np.arange(len(q) // 2 + 1)[:, None]
    f[KEPT + 1 :] = 0.0
    q, v, a = (np.fft.irfft(f * w**order, axis=0) for order in range(3))
    rows = coefficients(np.concatenate([regressor(q, v, a), rubbing(v)], axis=2))
    scale = NOISE_TAU / np.sqrt(args.periods)
    return (rows / scale[:, None]).reshape(-1, rows.shape[2]), (coefficients(tau) / scale).ravel()


def least_squares(W, b):
    """Base parameters and friction, and their standard deviations by the noise of torques alone."""
    A = np.hstack([W[:, columns], W[:, len(pi_nominal) :]])
    return np.linalg.lstsq(A, b)[0], np.sqrt(np.diag(np.linalg.inv(A.T @ A)))


def consistent(W, b):
    """Parameters of possible bodies and friction: the solution of the semidefinite program.

    Least squares with a prior: the distance of pseudo-inertias tr((P0^-1 (P - P0))^2) does not depend on axes.
    """
    size, P0 = W.shape[1], pseudo_inertias(pi_nominal)
    P, c, rows, right = W.T @ W, -W.T @ b, [], []
    upper = [(i, j) for j in range(4) for i in range(j + 1)]  # Clarabel's triangle, by columns
    scale = np.array([1.0 if i == j else np.sqrt(2.0) for i, j in upper])
    for body, inertia in enumerate(P0):
        own, relative = slice(10 * body, 10 * body + 10), np.linalg.solve(inertia, E)
        P[own, own] += np.einsum("kij,lji->kl", relative, relative) / PRIOR**2
        c[own] -= np.einsum("kij,lji->kl", relative, relative) @ pi_nominal[own] / PRIOR**2
        block = np.zeros((len(upper), size))
        block[:, own] = -np.array([scale * [E[k][i, j] for i, j in upper] for k in range(10)]).T
        rows.append(block)
        right.append(-LEAST * scale * [inertia[i, j] for i, j in upper])
    rows.append(-np.eye(size)[len(pi_nominal) :])  # friction takes power
    right.append(np.zeros(2 * n))
    cones = [*n * [clarabel.PSDTriangleConeT(4)], clarabel.NonnegativeConeT(2 * n)]
    return solved(P, c, np.vstack(rows), np.concatenate(right), *cones)


def least_eigenvalue(pi):
    """Of the inertia matrix at 1000 random configurations, column by column from the regressor."""
    q = rng.uniform(LOWER, UPPER, (1000, n))
    rest, unit = np.zeros_like(q), np.eye(n)
    still = regressor(q, rest, rest)
    M = np.stack([(regressor(q, rest, rest + unit[j]) - still) @ pi for j in range(n)], axis=2)
    return np.linalg.eigvalsh(M).min()


def picture(numbers, times, tau, predicted, bodies):
    """The optimisation of the motion, torques of a fresh motion, their errors, and least eigenvalues of bodies."""
    figure = plt.figure(figsize=(11, 9), layout="constrained")
    grid, shown = figure.add_gridspec(3, 2), (1, 3, 6)
    for place, joint in enumerate(shown):
        axis = figure.add_subplot(grid[place, 0])
        for (name, series), style in zip(predicted.items(), ("C1-", "C2-", "C0--"), strict=True):
            axis.plot(times, series[:, joint], style, lw=1.4, label=name)
        axis.plot(times, tau[:, joint], "k:", lw=1.6, label="MuJoCo")
        axis.set(ylabel=f"joint {joint + 1} (N m)", xlim=(0, times[-1]))
    axis.set_xlabel("time of a motion not used before (s)")
    figure.legend(handles=axis.lines, ncols=4, loc="outside upper center")
    axis = figure.add_subplot(grid[0, 1])
    axis.plot(numbers, "C0")
    axis.set(xlabel="step of the optimisation", ylabel="condition number", ylim=(0, None))
    axis, width = figure.add_subplot(grid[1, 1]), 0.27
    for k, (series, color) in enumerate(zip(predicted.values(), ("C1", "C2", "C0"), strict=True)):
        errors = np.sqrt(np.mean((series - tau) ** 2, axis=0))
        axis.bar(np.arange(1, n + 1) + (k - 1) * width, errors, width, color=color)
    axis.plot(np.arange(1, n + 1), NOISE_TAU, "k_", ms=26, label="noise of one measured torque")
    axis.set(yscale="log", xlabel="joint", ylabel="RMS error (N m)")
    axis.legend(fontsize="small")
    axis = figure.add_subplot(grid[2, 1])
    for k, ((name, pi), color) in enumerate(zip(bodies.items(), ("C2", "C0"), strict=True)):
        relative = np.linalg.eigvals(np.linalg.solve(pseudo_inertias(pi_nominal), pseudo_inertias(pi))).real.min(1)
        axis.bar(np.arange(1, n + 1) + (k - 0.5) * width, relative, width, color=color, label=name)
    axis.axhline(0.0, color="k", lw=0.8)
    axis.set(xlabel="link", ylabel="least pseudo-inertia (of nominal)")
    axis.set_yscale("symlog", linthresh=LEAST)
    axis.legend(fontsize="small")
    figure.savefig(args.figure, dpi=110)
    plt.close(figure)


def film(runs):
    """The arm from two sides, where it is to be and where torques of each model take it, and the errors so far."""
    kinematics, step = codegen.build(nominal, "fk", frames=[body.name for body in nominal.bodies]), 100
    places = {name: kinematics(q[::step], np.zeros_like(q[::step])).position for name, q in runs.items()}
    errors = {name: np.abs(q - runs["wanted"]).max(1)[::step] for name, q in runs.items()}
    most = 1.3 * max(error.max() for error in errors.values())
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), width_ratios=[1, 1, 1.5], layout="constrained")
    colors, times = {"wanted": "0.8", "nominal": "C1", "identified": "C0"}, step * H * np.arange(len(errors["wanted"]))

    def draw(k):
        for axis in axes:
            axis.clear()
        for name, color in colors.items():
            for across, axis in enumerate(axes[:2]):
                arm = np.pad(places[name][k], [(1, 0), (0, 0)])
                axis.plot(arm[:, across], arm[:, 2], color, lw=8 if name == "wanted" else 2.5, marker="o", ms=4)
                axis.set(aspect="equal", xlim=(-0.9, 0.9), ylim=(-0.4, 1.4), xlabel="xy"[across] + " (m)")
            if name != "wanted":
                axes[2].plot(times[: k + 1], errors[name][: k + 1], color, label=f"torques of the {name} model")
        axes[0].set_title(f"{times[k]:.1f} s", loc="left")
        axes[2].set(xlim=(0, times[-1]), ylim=(0, most), xlabel="time (s)", ylabel="largest error (rad)")
        axes[2].legend(loc="upper right", fontsize="small")

    FuncAnimation(figure, draw, len(times)).save(args.film, PillowWriter(10), dpi=60)
    plt.close(figure)


begun = time.perf_counter()
with doing("motion of small condition number"):
    exciting_motion, numbers = exciting()
searched = time.perf_counter() - begun
print(f"condition number: {numbers[0]:.0f} of a random motion, {min(numbers):.0f} after {searched:.1f} s")

plant = mujoco.MjModel.from_xml_string(mjcf(deformed(pi_nominal)))
with doing(f"{args.periods + 1} periods of MuJoCo"):
    q, _, _, tau, _ = follow(plant, exciting_motion, args.periods, nominal, np.zeros(2 * n))
q, tau = q[::SAMPLE] + NOISE_Q * rng.normal(size=q[::SAMPLE].shape), tau[::SAMPLE]
W, b = observations(q, tau + NOISE_TAU * rng.normal(size=q.shape))

begun = time.perf_counter()
beta, deviations = least_squares(W, b)
fitted = time.perf_counter() - begun
freedom = len(b) - len(beta)
full = pi_nominal + np.linalg.pinv(base.combinations) @ (beta[: len(columns)] - base.combinations @ pi_nominal)
guess = np.append(full, beta[len(columns) :])  # the parameters nearest to nominal of which beta are the base parameters
begun = time.perf_counter()
solution = consistent(W, b)
found = np.array(solution.x)
solved_in = time.perf_counter() - begun
print(f"{len(q)} samples, {len(b)} rows; least squares {1e3 * fitted:.1f} ms", end="; ")
print(f"semidefinite program {1e3 * solved_in:.1f} ms, {solution.iterations} iterations, {solution.status}")
print(f"residual in deviations of the noise: {np.sqrt(np.sum((W @ guess - b) ** 2) / freedom):.2f}", end=", ")
print(f"consistent {np.sqrt(np.sum((W @ found - b) ** 2) / freedom):.2f}")

fresh = within(rng.normal(size=exciting_motion.shape))
q, v, a, tau, error = follow(plant, fresh, 1, nominal, np.zeros(2 * n))
models = {
    "nominal": np.append(pi_nominal, np.zeros(2 * n)),
    "base parameters": guess,
    "consistent": found,
}
predicted, rows = {}, np.concatenate([regressor(q, v, a), rubbing(v)], axis=2)
print("\nRMS error of torques on a motion not used before (N m)")
print(f"{'':18}" + "".join(f"{f'joint {j + 1}':>9}" for j in range(n)) + f"{'possible links':>16}{'least M':>10}")
for name, x in models.items():
    predicted[name], pi = rows @ x, x[: len(pi_nominal)]
    possible = np.sum(np.linalg.eigvalsh(pseudo_inertias(pi)).min(1) > 0.0)
    errors = np.sqrt(np.mean((predicted[name] - tau) ** 2, axis=0))
    print(f"{name:18}" + "".join(f"{e:9.3f}" for e in errors) + f"{possible:>11} of {n}{least_eigenvalue(pi):10.2g}")
print(f"{'of torques':18}" + "".join(f"{e:9.3f}" for e in np.sqrt(np.mean(tau**2, axis=0))))

identified = nominal.with_inertial_parameters(found[: len(pi_nominal)])  # compiled as any robot
q_identified, *_, better = follow(plant, fresh, 1, identified, found[len(pi_nominal) :])
print(f"\nlargest error of a joint with torques of the model along that motion: nominal {error:.4f} rad", end=", ")
print(f"identified {better:.4f} rad")
picture(
    numbers, H * np.arange(len(tau)), tau, predicted, {"base parameters": full, "consistent": found[: len(pi_nominal)]}
)
print(f"wrote {args.figure}")
if args.film:
    film({"wanted": motion(fresh, len(q))[0], "nominal": q, "identified": q_identified})
    print(f"wrote {args.film}")
