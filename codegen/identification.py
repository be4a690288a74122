"""Inertial parameters for identification: those of a robot, and the combinations of them that joint forces depend on.

Khalil and Dombre, Modeling, Identification and Control of Robots, ch. 9 and 12; Gautier, Numerical calculation of the
base inertial parameters of robots, 1991. Columns are those of the algorithm `regressor`, tau = Y pi + forces of
armatures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.errors import RobotError
from codegen.geometry import Inertia, mat3, vec3
from codegen.kinematic_loops import states
from codegen.progress import doing
from codegen.task.options import task_of
from codegen.tracing.trace import casadi_function

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Body, Model

    Array = NDArray[np.float64]

NAMES = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
INDEPENDENT = 1e-8  # what is left of a unit column beside those before it, from which it is independent
NOTHING = 1e-12  # of the longest column, what rounding may leave of a column of zeros
ROUNDING = 1e-9  # entries of combinations below this are none


@dataclass(frozen=True, slots=True, eq=False)
class BaseParameters:
    """The r combinations of inertial parameters that joint forces depend on, and nothing else.

    `columns` are those of Y that are independent, `combinations` (r, 10 n) is the matrix of beta = combinations pi:
    Y pi = Y[:, columns] beta at every state. `names` are those of all inertial parameters, NAME:BODY.
    """

    names: tuple[str, ...]
    columns: tuple[int, ...]
    combinations: Array

    def __str__(self) -> str:
        return f"{len(self.columns)} base parameters of {len(self.names)} inertial parameters"

    def text(self, row: int) -> str:
        """One combination in words, such as `Izz:link1 + 0.04 m:link2`."""
        terms = []
        for name, x in zip(self.names, self.combinations[row], strict=True):
            if x:
                factor = f"{abs(x):.6g} ".removeprefix("1 ")
                terms.append(f"{'- ' if x < 0.0 else '+ '}{factor}{name}")
        return " ".join(terms).removeprefix("+ ")


def inertial_parameters(robot: Model) -> Array:
    """pi (10 n) of all moving bodies: [m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz] in kg, kg m and kg m^2.

    They are in the frame that the body's joint moves, moments of inertia about its origin: the order of Pinocchio's
    `Inertia.toDynamicParameters`. Armatures are not among them.
    """
    found = []
    for body in robot.bodies:
        moment = body.inertia.about_origin
        entries = moment[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
        found.append([body.inertia.mass, *body.inertia.first_moment, *entries])
    return np.array(found).reshape(-1)


def bodies_with(robot: Model, pi: ArrayLike) -> tuple[Body, ...]:
    """The bodies of a robot with other inertial parameters pi (10 n), in the order of `inertial_parameters`.

    RobotError for another shape, for numbers that are not finite, and for bodies that forward dynamics cannot move:
    those of a mass or a principal moment of inertia below zero, and those of a first moment without mass.
    """
    rows = np.asarray(pi, float)
    if rows.shape != (len(NAMES) * len(robot.bodies),) or not np.isfinite(rows).all():
        raise RobotError(
            f"{robot.name}: inertial parameters have shape {rows.shape}; give {len(NAMES) * len(robot.bodies)} finite "
            "numbers, ten of each body, as codegen.inertial_parameters does"
        )
    pairs = zip(robot.bodies, rows.reshape(-1, len(NAMES)), strict=True)
    return tuple(replace(body, inertia=_inertia(robot, body, row)) for body, row in pairs)


def _inertia(robot: Model, body: Body, row: Array) -> Inertia:
    """The inertia that ten parameters stand for."""
    mass, first = float(row[0]), row[1:4]
    if mass < 0.0 or (mass == 0.0 and first.any()):
        raise RobotError(
            f"{robot.name}: body {body.name} would have the mass {mass:.6g}; identify under the constraint that it is "
            "positive"
        )
    com = first / mass if mass else first
    moment = row[[[4, 5, 7], [5, 6, 8], [7, 8, 9]]] - mass * (com @ com * np.eye(3) - np.outer(com, com))
    low = float(np.linalg.eigvalsh(moment)[0])
    if low < -ROUNDING * max(float(np.trace(moment)), 0.0):
        raise RobotError(
            f"{robot.name}: body {body.name} would have the negative principal moment of inertia {low:.6g}; identify "
            "under the constraint that the pseudo-inertia is positive"
        )
    return Inertia(mass, vec3(com), mat3(moment))


def base_parameters(robot: Model, seed: int = 0) -> BaseParameters:
    """The base parameters of a robot, from its regressor at random states (positions within the joint limits).

    A column that depends on those before it is left out, and its parameter added to theirs. RobotError for a robot that
    cannot move.
    """
    with doing(f"base parameters of {robot.name}"):
        W = _observed(robot, np.random.default_rng(seed))
        size = np.linalg.norm(W, axis=0)
        size[size < NOTHING * size.max()] = 1.0
        R = np.asarray(np.linalg.qr(W / size, mode="r"))
        columns = _independent(R)
        weights = np.linalg.lstsq(R[:, columns], R, rcond=None)[0] * size / size[columns][:, None]
    weights[np.abs(weights) < ROUNDING] = 0.0
    weights[:, columns] = np.eye(len(columns))
    names = tuple(f"{name}:{body.name}" for body in robot.bodies for name in NAMES)
    return BaseParameters(names, tuple(columns), weights)


def _observed(robot: Model, rng: np.random.Generator) -> Array:
    """Regressors at random states, one below the other: some four times as many rows as there are parameters."""
    Y, size = casadi_function(task_of(robot, "regressor", (), (), (), None, 3)), len(NAMES) * len(robot.bodies)
    rows = []
    for _ in range(4 * math.ceil(size / robot.nv) + 10):
        q, v, _ = states.random(robot, rng)
        rows.append(np.reshape(np.array(Y(q, v, rng.standard_normal(robot.nv))), (robot.nv, size)))
    return np.concatenate(rows)


def _independent(R: Array) -> list[int]:
    """The unit columns that do not depend on those before them."""
    basis, found = np.zeros((len(R), 0)), []
    for n, column in enumerate(R.T):
        left = column
        for _ in range(2):  # twice, as rounding leaves a part the first time
            left = left - basis @ (basis.T @ left)
        length = float(np.linalg.norm(left))
        if length > INDEPENDENT:
            found.append(n)
            basis = np.column_stack([basis, left / length])
    return found
