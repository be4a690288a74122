"""Spatial algebra over CasADi SX that exploits structure; nothing else in rigidc knows about sparsity.

Spatial vectors are [angular; linear]. Matrices whose columns are spatial vectors are SX of 6 x c, and zeros
are kept structural wherever they are known.
"""

from codegen.spatial.axes import constant, cross3, skew3, unit_axis, zeros
from codegen.spatial.branched import LTDL, ltdl
from codegen.spatial.inertia import ArticulatedInertia, RigidInertia
from codegen.spatial.lie import so2_jacobian, so3_jacobian, so3_jacobian_inverse
from codegen.spatial.node import NodeInertia, NodeTransform, Subspace
from codegen.spatial.solve import LDL, ldl, mirrored, solve_square
from codegen.spatial.steps import AxisTurn, Shift, Step, Turn, placement_steps
from codegen.spatial.transform import Transform

__all__ = [
    "LDL",
    "LTDL",
    "ArticulatedInertia",
    "AxisTurn",
    "NodeInertia",
    "NodeTransform",
    "RigidInertia",
    "Shift",
    "Step",
    "Subspace",
    "Transform",
    "Turn",
    "constant",
    "cross3",
    "ldl",
    "ltdl",
    "mirrored",
    "placement_steps",
    "skew3",
    "so2_jacobian",
    "so3_jacobian",
    "so3_jacobian_inverse",
    "solve_square",
    "unit_axis",
    "zeros",
]
