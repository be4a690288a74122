"""What the arguments and results of algorithms are: their shapes, units and axes, by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quantity:
    """What an argument is: its shape in terms of nq, nv, nx (2 nv), nz (3 nv), frames and others, and a description."""

    shape: tuple[str | int, ...]
    about: str


QUANTITIES: dict[str, Quantity] = {
    "q": Quantity(("nq",), "configuration"),
    "guess": Quantity(("nq",), "configuration whose loops need not be closed"),
    "closed": Quantity(("nq",), "configuration with closed loops"),
    "residual": Quantity((), "how far the loops are from closed: the norm of their equations (m, rad)"),
    "q0": Quantity(("nq",), "start configuration"),
    "q1": Quantity(("nq",), "end configuration"),
    "v": Quantity(("nv",), "joint velocity"),
    "dv": Quantity(("nv",), "constant joint velocity over unit time"),
    "a": Quantity(("nv",), "joint acceleration"),
    "tau": Quantity(("nv",), "joint forces"),
    "f_ext": Quantity(("external", 6), "external wrenches [force; moment], in their frames' axes"),
    "k": Quantity(("contacts",), "wanted accelerations of the contacts' rows (m/s^2, rad/s^2)"),
    "kp": Quantity(("contacts",), "gains on errors of position of the contacts' rows (1/s^2)"),
    "kd": Quantity(("contacts",), "gains on errors of velocity of the contacts' rows (1/s)"),
    "target_position": Quantity(("held", 3), "wanted origins of the contacts' frames in the world (m)"),
    "target_rotation": Quantity(("held", 3, 3), "wanted axes of the contacts' frames in the world, as columns"),
    "target_velocity": Quantity(("held", 6), "wanted velocities of these frames [linear; angular] in world axes"),
    "weight": Quantity(("contacts",), "weights of the contacts' rows where they contradict one another, above zero"),
    "mu": Quantity((), "proximal penalty (inverse of the damping of the Delassus matrix)"),
    "lam0": Quantity(("contacts",), "multipliers to start from"),
    "R": Quantity(("contacts",), "softness of the contacts' rows, above zero"),
    "lam": Quantity(("contacts",), "multipliers: forces of the contacts on the robot, along their rows"),
    "M": Quantity(("nv", "nv"), "joint-space inertia matrix"),
    "L": Quantity(("nv", "nv"), "unit lower triangular factor of the joint-space inertia matrix L' diag(D) L"),
    "D": Quantity(("nv",), "its diagonal factor"),
    "b": Quantity(("contacts",), "right-hand side over the rows of all contacts"),
    "x": Quantity(("contacts",), "solution over the rows of all contacts"),
    "Winv": Quantity(("contacts", "contacts"), "inverse of the damped Delassus matrix W + 1/mu"),
    "WinvJMinv": Quantity(("contacts", "nv"), "this inverse times J M^-1: J's consistent inverse, transposed"),
    "Minv": Quantity(("nv", "nv"), "inverse of the joint-space inertia matrix"),
    "position": Quantity(("frames", 3), "frame origins in the world (m)"),
    "rotation": Quantity(("frames", 3, 3), "frame axes in the world, as columns"),
    "velocity": Quantity(("frames", 6), "frame velocities [linear; angular] in world axes (m/s, rad/s)"),
    "W": Quantity(("contacts", "contacts"), "Delassus matrix J M^-1 J' over the rows of all contacts"),
    "dtau_dq": Quantity(("nv", "nv"), "joint forces by the configuration, along the tangents of joints"),
    "dtau_dv": Quantity(("nv", "nv"), "joint forces by joint velocities"),
    "da_dq": Quantity(("nv", "nv"), "joint accelerations by the configuration, along the tangents of joints"),
    "da_dv": Quantity(("nv", "nv"), "joint accelerations by joint velocities"),
    "da_dtau": Quantity(("nv", "nv"), "joint accelerations by joint forces"),
    "dlam_dq": Quantity(("contacts", "nv"), "multipliers by the configuration, along the tangents of joints"),
    "dlam_dv": Quantity(("contacts", "nv"), "multipliers by joint velocities"),
    "dlam_dtau": Quantity(("contacts", "nv"), "multipliers by joint forces"),
    "dq1_dq": Quantity(("nv", "nv"), "end of a step by its start, along the tangents of joints at both"),
    "dq1_ddv": Quantity(("nv", "nv"), "end of a step, along the tangents of joints there, by the step"),
    "ddv_dq0": Quantity(("nv", "nv"), "difference by the start configuration, along the tangents of joints"),
    "ddv_dq1": Quantity(("nv", "nv"), "difference by the end configuration, along the tangents of joints"),
    "dt": Quantity((), "length of a step (s)"),
    "q_next": Quantity(("nq",), "configuration after a step"),
    "v_next": Quantity(("nv",), "joint velocity after a step"),
    "A": Quantity(("nx", "nx"), "[q_next; v_next] by [q; v], along the tangents of joints"),
    "B": Quantity(("nx", "nv"), "[q_next; v_next], along the tangents of joints, by joint forces"),
    "weights": Quantity(("nv",), "weights of joint forces"),
    "weights_position": Quantity(("frames", 3), "weights of frame origins"),
    "weights_rotation": Quantity(("frames", 3, 3), "weights of frame axes"),
    "weights_velocity": Quantity(("frames", 6), "weights of frame velocities [linear; angular]"),
    "weights_com": Quantity((3,), "weights of the centre of mass"),
    "weights_vcom": Quantity((3,), "weights of its velocity"),
    "H_q": Quantity(("nv",), "weighted sum by the configuration, along the tangents of joints"),
    "H_qq": Quantity(("nv", "nv"), "weighted sum by the configuration twice, along the tangents of joints"),
    "H_qv": Quantity(("nv", "nv"), "weighted sum by the configuration and by joint velocities"),
    "H_qa": Quantity(("nv", "nv"), "weighted sum by the configuration and by joint accelerations"),
    "H_vv": Quantity(("nv", "nv"), "weighted sum by joint velocities twice"),
    "rate": Quantity(("nv",), "rate of a step whose end moves"),
    "drate_ddv": Quantity(("nv", "nv"), "this rate by the step"),
    "drate_dv": Quantity(("nv", "nv"), "this rate by the velocity of the end"),
    "J": Quantity(("frames", 6, "nv"), "frame Jacobians, rows [linear; angular] in world axes"),
    "dvelocity_dq": Quantity(
        ("frames", 6, "nv"), "frame velocities by the configuration, along the tangents of joints"
    ),
    "dacceleration_dq": Quantity(("frames", 6, "nv"), "frame accelerations by the configuration, in the same way"),
    "dacceleration_dv": Quantity(("frames", 6, "nv"), "frame accelerations by joint velocities"),
    "dh_dq": Quantity((6, "nv"), "centroidal momentum by the configuration, along the tangents of joints"),
    "dhdot_dq": Quantity((6, "nv"), "rate of centroidal momentum by the configuration, along the tangents of joints"),
    "dhdot_dv": Quantity((6, "nv"), "rate of centroidal momentum by joint velocities"),
    "jdot_v": Quantity(("frames", 6), "frame accelerations [linear; angular] at zero joint acceleration"),
    "acceleration": Quantity(("frames", 6), "frame accelerations [linear; angular] in world axes (m/s^2, rad/s^2)"),
    "com": Quantity((3,), "centre of mass in the world (m)"),
    "vcom": Quantity((3,), "velocity of the centre of mass (m/s)"),
    "dvcom_dq": Quantity(
        (3, "nv"), "velocity of the centre of mass by the configuration, along the tangents of joints"
    ),
    "J_com": Quantity((3, "nv"), "Jacobian of the centre of mass"),
    "h": Quantity((6,), "centroidal momentum [linear; angular] in world axes"),
    "A_g": Quantity((6, "nv"), "centroidal momentum matrix, rows [linear; angular] in world axes"),
    "hdot": Quantity((6,), "rate of centroidal momentum [linear; angular] in world axes"),
    "kinetic": Quantity((), "kinetic energy (J), armatures included"),
    "potential": Quantity((), "potential energy (J), zero for a centre of mass at the origin of the world"),
    "bias": Quantity(("nv",), "Coriolis, centrifugal and gravity forces, less those of external wrenches"),
    "g": Quantity(("nv",), "gravity forces"),
    "C": Quantity(("nv", "nv"), "Coriolis matrix"),
    "Y": Quantity(("nv", "parameters"), "joint forces by inertial parameters of the bodies"),
}
