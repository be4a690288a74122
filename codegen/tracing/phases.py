"""The phases of algorithms, by the functions, modules and symbols that compute them.

An operation is part of the phase of the outermost call on its stack whose function stands here; if none does, of the
outermost one whose module stands here; and if none does, of the innermost statement of an algorithm or a recursion that
assigns a symbol which stands here. Symbols mean the same in all algorithms (`codegen.algorithms`).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

TRANSFORMS, MOTION, FORCES = "joint transforms", "motion", "bias forces"
ARTICULATED, INERTIA, FACTORS = "articulated inertias H^A", "joint-space inertia M", "factorisation"
SOLUTION, DELASSUS, RHS = "solution with M", "Delassus matrix", "constraint right-hand side"
STEPS, MULTIPLIERS, ACCELERATIONS = "proximal steps", "multipliers", "accelerations"
KINEMATICS, DERIVATIVES, LOOPS = "kinematics", "derivatives", "loop closure"
MOMENTUM, REGRESSOR, INTEGRATION = "momentum and energy", "regressor", "integration"
REST, STATUS = "other", "status"
ORDER = (
    *(TRANSFORMS, KINEMATICS, MOTION, FORCES, ARTICULATED, INERTIA, FACTORS, SOLUTION, DELASSUS, RHS, STEPS),
    *(MULTIPLIERS, ACCELERATIONS, MOMENTUM, REGRESSOR, DERIVATIVES, INTEGRATION, LOOPS, REST, STATUS),
)
"""The phases in the order in which tables have them."""

ROBOT = "whole robot"


class Place(NamedTuple):
    """A call on the stack: module and function, and the names that the statement assigns at which it is."""

    module: str
    function: str
    names: tuple[str, ...]


def _by_name(phases: Mapping[str, str]) -> dict[str, str]:
    return {name: phase for phase, names in phases.items() for name in names.split()}


FUNCTIONS = _by_name(
    {
        TRANSFORMS: "plain_tree.of",
        MOTION: "motion.motions motion.bias_motion motion.moved plain_tree.motion",
        FORCES: "motion.forces rnea.inverse plain_tree.bias_forces sweeps.bias_force_sweep plain_sweeps.inward "
        "tree.armature_forces plain_tree.joint_forces sweeps.add_contact_forces plain_tree.pushed",
        ARTICULATED: "sweeps.inertia_sweep sweeps.stiffened plain_sweeps.articulated plain_sweeps.stiffened "
        "articulated_joint.articulated_joint articulated_joint.projected_inertia",
        INERTIA: "crba.crba crba.composite",
        FACTORS: "branched.ltdl solve.ldl solve.semidefinite_ldl",
        SOLUTION: "branched.solve minverse.scaled minverse.solve expansion.unrolled",
        DELASSUS: "delassus.jacobian_transpose ltl_osim.jacobian aba_osim.half aba_osim.factors sweeps.joint_forces "
        "plain_sweeps.propagated force_propagators.force_propagators reduced.reduced delassus.by_joints",
        RHS: "motion.constraint_rhs plain_tree.wanted plain_tree.missing force_propagators.row_accelerations",
        STEPS: "step",
        MULTIPLIERS: "plain_sweeps.solved_by_branches branch_solver.branch_solver branch_solver.solve "
        "early_elimination.eliminate_rows",
        ACCELERATIONS: "sweeps.acceleration_sweep sweeps.accelerated plain_sweeps.outward finish completed "
        "plain_dual.accelerations eliminate.outwards",
    }
)
MODULES = _by_name(
    {
        KINEMATICS: "fk jacobian poses spanning_rates frame_accelerations jdot_v",
        FORCES: "coriolis",
        MOMENTUM: "momentum com com_jacobian centroidal centroidal_bias energy",
        REGRESSOR: "regressor",
        INTEGRATION: "integrate difference dexpinv semi_implicit_euler rk4 implicit_midpoint",
        DELASSUS: "ltl_osim aba_osim kjr efpa pv_osim pv_osimr pv_osimf caba_osim caba_osimf caba_osim_swept "
        "kkt_inverse projected_osim delassus parent_side_osim plain_branching force_propagators bundling reduced",
        DERIVATIVES: "rnea_derivatives rnea_derivatives_by_columns rnea_derivatives_ltl aba_derivatives "
        "articulated_changes constrained_derivatives contact_changes_by_columns by_arguments dual displacements "
        "frame_changes",
        FACTORS: "tree_kkt",
        MULTIPLIERS: "early_elimination",
        LOOPS: "project projected_rnea projection_fd lagrange_fd closure constraints parsing states",
    }
)
SYMBOLS = _by_name(
    {
        MOTION: "acceleration velocity",
        FORCES: "pA p u f F tau C missing",
        ARTICULATED: "IA joint Ia",
        INERTIA: "M H",
        FACTORS: "damped factors halves held S",
        DELASSUS: "K Omega W Y L J",
        RHS: "s own free dual lacking",
        MULTIPLIERS: "lam x felt left gone Q R D",
        ACCELERATIONS: "a y qdd pushed",
    }
)
AROUND = {"lowered": TRANSFORMS, "restored": ACCELERATIONS}
"""What is left to functions that prepare a robot, and turn results back."""


@cache
def phase_of(places: tuple[Place, ...]) -> str:
    """The phase of an operation, by the calls in which it is, outer ones first."""
    functions = (FUNCTIONS.get(f"{at.module}.{at.function}") or FUNCTIONS.get(at.function) for at in places)
    modules = (MODULES.get(at.module) for at in places)
    symbols = (SYMBOLS.get(name) for at in reversed(places) for name in at.names)
    around = (AROUND.get(at.function) for at in places)
    for found in (functions, modules, around, symbols):
        if phase := next(filter(None, found), None):
            return phase
    return REST
