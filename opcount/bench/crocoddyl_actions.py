"""Crocoddyl's action of a bundled robot, and the same with our dynamics: equal states, actuations, costs, contacts."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import crocoddyl
import numpy as np
import pinocchio as pin

from codegen.interfaces.crocoddyl import to_crocoddyl
from opcount.bench.crocoddyl_program import DAMPING
from opcount.bench.pinocchio_model import pinocchio_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codegen.robot import Robot

    Array = NDArray[np.float64]


@cache
def state_of(robot: Robot) -> Any:
    """Crocoddyl's state of a robot; it looks for a floating base by the name `root_joint`."""
    model = pinocchio_model(robot)
    if robot.floating:
        model.names[1] = "root_joint"
    return crocoddyl.StateMultibody(model)


class Node:
    """The parts of an action: costs, and frames that are held (3 or 6 rows), along their own axes or the world's."""

    def __init__(
        self, robot: Robot, frames: Sequence[str] = (), rows: int = 3, damping: float = DAMPING, axes: str = "LOCAL"
    ) -> None:
        self.robot, self.state = robot, state_of(robot)
        full, floating = crocoddyl.ActuationModelFull, crocoddyl.ActuationModelFloatingBase
        self.actuation = (floating if robot.floating else full)(self.state)
        nu = self.nu = self.actuation.nu
        self.costs = crocoddyl.CostModelSum(self.state, nu)
        contacts: Any = crocoddyl.ContactModelMultiple(self.state, nu)
        self.contacts = contacts if frames else None
        for frame in frames:
            number, gains = self.state.pinocchio.getFrameId(frame), np.array([0.0, damping])
            kind, place = (
                (crocoddyl.ContactModel3D, np.zeros(3)) if rows == 3 else (crocoddyl.ContactModel6D, pin.SE3.Identity())
            )
            contacts.addContact(frame, kind(self.state, number, place, getattr(pin.ReferenceFrame, axes), nu, gains))

    def __repr__(self) -> str:
        return f"<Node of {self.robot.name}>"

    def cost(self, name: str, residual: Any, weight: float, activation: Any = None) -> None:
        """Add half of a weighted squared residual, or of another activation of it."""
        parts = (self.state, activation, residual) if activation else (self.state, residual)
        self.costs.addCost(name, crocoddyl.CostModelResidual(*parts), weight)

    def theirs(self) -> Any:
        """Crocoddyl's own action."""
        if not self.contacts:
            return crocoddyl.DifferentialActionModelFreeFwdDynamics(self.state, self.actuation, self.costs)
        return crocoddyl.DifferentialActionModelContactFwdDynamics(
            self.state, self.actuation, self.contacts, self.costs, 0.0, True
        )

    def ours(self, *, cplusplus: bool = False) -> Any:
        """The same with rigidc's C, called from Python or from C++."""
        parts = (self.state, self.actuation, self.costs, self.contacts)
        return to_crocoddyl(self.robot, *parts, enable_force=True, cplusplus=cplusplus)

    def point(self, seed: int = 0) -> tuple[Array, Array]:
        """A random state and control."""
        rng, model = np.random.default_rng(seed), self.state.pinocchio
        q = pin.integrate(model, pin.neutral(model), rng.standard_normal(model.nv))
        return np.concatenate([q, rng.standard_normal(model.nv)]), rng.standard_normal(self.nu)
