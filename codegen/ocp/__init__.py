"""Optimal control by sequential quadratic programming: stages over SX, functions of compiled C, states on manifolds.

A `Stage` is written with CasADi's expressions. It calls functions of `codegen.to_casadi`, whose exact Jacobians enter
its own by the chain rule. A `Problem` repeats it over nodes and makes quadratic programs of constant sparsity. A `Gait`
says which feet are held when, and `States` moves configurations along tangents. `Riccati` takes Newton steps; a
`Horizon` takes one in every period of a closed loop, of which a `Plant` in MuJoCo is the other half. `WholeBody` makes
stages of a robot that walks, and a `Walker` is its controller.
"""

from codegen.ocp.gait import GAITS, Gait
from codegen.ocp.horizon import Delayed, Horizon, Plan, Spent
from codegen.ocp.legs import quadruped_feet, quadruped_stance
from codegen.ocp.nonlinear import Nonlinear
from codegen.ocp.piqp import Piqp, Solution
from codegen.ocp.plant import Film, Plant
from codegen.ocp.problem import Problem, Quadratic
from codegen.ocp.report import draw_events, draw_solves, of_solves, print_table
from codegen.ocp.riccati import Riccati
from codegen.ocp.stage import Stage
from codegen.ocp.states import States
from codegen.ocp.walker import Walker
from codegen.ocp.whole_body import Node, WholeBody

__all__ = [
    "GAITS",
    "Delayed",
    "Film",
    "Gait",
    "Horizon",
    "Node",
    "Nonlinear",
    "Piqp",
    "Plan",
    "Plant",
    "Problem",
    "Quadratic",
    "Riccati",
    "Solution",
    "Spent",
    "Stage",
    "States",
    "Walker",
    "WholeBody",
    "draw_events",
    "draw_solves",
    "of_solves",
    "print_table",
    "quadruped_feet",
    "quadruped_stance",
]
