"""The action that `codegen.interfaces.crocoddyl` makes: read only where Crocoddyl is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import crocoddyl
import numpy as np
import pinocchio as pin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.interfaces.crocoddyl_dynamics import Dynamics

    Array = NDArray[np.float64]

CONSTANT = ("ActuationModelFull", "ActuationModelFloatingBase")
"""Actuations whose controls are the last joint forces, whatever the state."""

WITHOUT_KINEMATICS = (
    "ResidualModelState",
    "ResidualModelControl",
    "ResidualModelJointAcceleration",
    "ResidualModelJointEffort",
    "ResidualModelContactForce",
    "ResidualModelContactFrictionCone",
    "ResidualModelContactWrenchCone",
    "ResidualModelContactCoPPosition",
)
"""Residuals that read nothing of Pinocchio's data."""


class Action(crocoddyl.DifferentialActionModelAbstract):
    """Forward dynamics by C, free or with contacts, and Crocoddyl's costs.

    Pinocchio computes kinematics if some cost reads them, and not otherwise.
    """

    def __init__(
        self, dynamics: Dynamics, state: Any, actuation: Any, costs: Any, contacts: Any, enable_force: bool
    ) -> None:
        super().__init__(state, actuation.nu, costs.nr)
        self.dynamics, self.actuation, self.costs, self.contacts = dynamics, actuation, costs, contacts
        self.enable_force = enable_force and contacts is not None
        limits = state.pinocchio.effortLimit[state.nv - actuation.nu :]
        self.u_lb, self.u_ub = -limits, limits

    def createData(self) -> ActionData:
        """Data of one node."""
        return ActionData(self)

    def calc(self, data: ActionData, x: Array, u: Array | None = None) -> None:
        """`data.xout` (nv), the acceleration, and `data.cost`, of a state and a control; without one the cost alone."""
        if data.kinematics:
            self._move(data, x)
        if u is None:
            self.costs.calc(data.costs, x)
        else:
            self.actuation.calc(data.actuation, x, u)
            data.arguments = self.dynamics.arguments(x, data.actuation.tau)
            a, lam = self.dynamics.solution(data.arguments)
            data.acceleration[:] = a
            data.joint.a, data.joint.tau = a, u
            if self.contacts:
                self.contacts.updateAcceleration(data.contacts, a)
                self.contacts.updateForce(data.contacts, lam)
            self.costs.calc(data.costs, x, u)
        data.cost = data.costs.cost

    def calcDiff(self, data: ActionData, x: Array, u: Array | None = None) -> None:
        """`data.Fx` (nv x 2 nv), `data.Fu` (nv x nu) and the derivatives of the cost, where `calc` was before."""
        if u is None:
            self.costs.calcDiff(data.costs, x)
            return
        (a_q, a_v, a_tau), forces = self.dynamics.slopes(data.arguments)
        nv = a_q.shape[0]
        data.by_x[:, :nv], data.by_x[:, nv:] = a_q, a_v
        if data.constant:
            data.by_u[...] = a_tau[:, nv - self.nu :].reshape(data.by_u.shape)
        else:
            self.actuation.calcDiff(data.actuation, x, u)
            data.by_x[...] += a_tau @ data.actuation.dtau_dx
            data.by_u[...] = (a_tau @ data.actuation.dtau_du).reshape(data.by_u.shape)
        data.joint.da_dx, data.joint.da_du = data.by_x, data.by_u
        if self.enable_force:
            self._forces(data, *forces)
        if data.kinematics:
            q, v = x[: self.state.nq], x[self.state.nq :]
            wrenches = [data.contacts.fext] if self.contacts else []
            pin.computeRNEADerivatives(self.state.pinocchio, data.pinocchio, q, v, data.acceleration, *wrenches)
        self.costs.calcDiff(data.costs, x, u)

    def _move(self, data: ActionData, x: Array) -> None:
        """What Crocoddyl's own actions compute of the kinematics."""
        q, v = x[: self.state.nq], x[self.state.nq :]
        pin.computeAllTerms(self.state.pinocchio, data.pinocchio, q, v)
        pin.computeCentroidalMomentum(self.state.pinocchio, data.pinocchio)
        if self.contacts:
            self.contacts.calc(data.contacts, x)

    def _forces(self, data: ActionData, lam_q: Array, lam_v: Array, lam_tau: Array) -> None:
        """Derivatives of contacts' forces, for costs."""
        nv = lam_q.shape[1]
        by_x, by_u = data.force_by_x, lam_tau[:, nv - self.nu :]
        by_x[:, :nv], by_x[:, nv:] = lam_q, lam_v
        if not data.constant:
            by_x, by_u = by_x + lam_tau @ data.actuation.dtau_dx, lam_tau @ data.actuation.dtau_du
        self.contacts.updateAccelerationDiff(data.contacts, data.by_x)
        self.contacts.updateForceDiff(data.contacts, by_x, by_u)


class ActionData(crocoddyl.DifferentialActionDataAbstract):
    """Data of one node: those of Crocoddyl's parts, which share its derivatives of the cost."""

    def __init__(self, model: Action) -> None:
        super().__init__(model)
        state, contacts = model.state, model.contacts
        self.pinocchio = state.pinocchio.createData()
        self.actuation = model.actuation.createData()
        self.joint = crocoddyl.JointDataAbstract(state, model.actuation, model.nu)
        self.joint.dtau_du = np.eye(model.nu)
        parts = [self.pinocchio, self.actuation, self.joint]
        if contacts:
            self.contacts = contacts.createData(self.pinocchio)
            self.force_by_x = np.zeros((contacts.nc, 2 * state.nv))
            self.multibody = crocoddyl.DataCollectorJointActMultibodyInContact(*parts, self.contacts)
        else:
            self.multibody = crocoddyl.DataCollectorJointActMultibody(*parts)
        self.costs = model.costs.createData(self.multibody)
        self.costs.shareMemory(self)
        self.acceleration, self.by_x, self.by_u = self.xout, self.Fx, self.Fu
        self.arguments: tuple[Array, ...] = ()
        self.constant = type(model.actuation).__name__ in CONSTANT
        residuals = [type(item.cost.residual).__name__ for item in model.costs.costs.todict().values()]
        self.kinematics = any(name not in WITHOUT_KINEMATICS for name in residuals)
