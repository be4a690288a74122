"""PV as published: constrained forward dynamics.

Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676); Sathya and Carpentier 2024 (hal-04443056), Algorithm 4
without its proximal loop. Where the roots float, the dual is solved by branches and base, as in `PV_tr_fb` of the
authors' spatial_v2. The constraints must be independent. Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.plain_dual import popov_vereshchagin
from codegen.recursions.plain_sweeps import branches_follow, solved_by_branches
from codegen.recursions.plain_tree import PlainTree
from codegen.spatial import ldl


def pv(robot: PlainTree, v: SX, tau: SX, f_ext: SX, k: SX) -> tuple[SX, SX]:
    """Joint accelerations (nv) and multipliers (m)."""
    dual = popov_vereshchagin(robot, v, tau, f_ext, k)
    near = branches_follow(robot)
    lam = solved_by_branches(robot, dual.A, dual.rows, dual.s) if near else ldl(dual.L).solve(dual.s)
    return dual.accelerations(lam), lam
