"""Spatial algebra over CasADi SX that exploits structure; nothing else in rigidc knows about sparsity.

Spatial vectors are [angular; linear]. Matrices whose columns are spatial vectors are SX of 6 x c, and zeros
are kept structural wherever they are known.
"""

from codegen.spatial.articulated_joint import ArticulatedJoint, articulated_joint, own_axes, unit_axes
from codegen.spatial.axes import constant, cross3, diagonal, others, skew3, unit_axis, units, without_rows, zeros
from codegen.spatial.branched import LTDL, ltdl
from codegen.spatial.coriolis import Coriolis
from codegen.spatial.cross import force_cross, motion_cross
from codegen.spatial.eliminate import eliminated
from codegen.spatial.inertia import ArticulatedInertia, RigidInertia, yielding
from codegen.spatial.lie import (
    exp_derivatives,
    log_derivatives,
    slope,
    so2_jacobian,
    so3_exp,
    so3_jacobian,
    so3_jacobian_inverse,
    so3_log,
)
from codegen.spatial.node import NodeInertia, NodeTransform, Subspace
from codegen.spatial.solve import (
    HUGE,
    LDL,
    Reflections,
    Square,
    divisor,
    flagged,
    ldl,
    mirrored,
    reflections,
    semidefinite_ldl,
)
from codegen.spatial.steps import AxisRotation, MeasuredRotation, Rotation, Step, Translation, placement_steps
from codegen.spatial.transform import Transform

__all__ = [
    "HUGE",
    "LDL",
    "LTDL",
    "ArticulatedInertia",
    "ArticulatedJoint",
    "AxisRotation",
    "Coriolis",
    "MeasuredRotation",
    "NodeInertia",
    "NodeTransform",
    "Reflections",
    "RigidInertia",
    "Rotation",
    "Square",
    "Step",
    "Subspace",
    "Transform",
    "Translation",
    "articulated_joint",
    "constant",
    "cross3",
    "diagonal",
    "divisor",
    "eliminated",
    "exp_derivatives",
    "flagged",
    "force_cross",
    "ldl",
    "log_derivatives",
    "ltdl",
    "mirrored",
    "motion_cross",
    "others",
    "own_axes",
    "placement_steps",
    "reflections",
    "semidefinite_ldl",
    "skew3",
    "slope",
    "so2_jacobian",
    "so3_exp",
    "so3_jacobian",
    "so3_jacobian_inverse",
    "so3_log",
    "unit_axes",
    "unit_axis",
    "units",
    "without_rows",
    "yielding",
    "zeros",
]
