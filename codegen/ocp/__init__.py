"""Optimal control by sequential quadratic programming: stages over SX, functions of compiled C, states on manifolds.

A `Stage` is written with CasADi's expressions. It calls functions of `codegen.to_casadi`, whose exact Jacobians enter
its own by the chain rule. A `Problem` repeats it over nodes and makes quadratic programs of constant sparsity. A `Gait`
says which feet are held when, and `States` moves configurations along tangents. `Riccati` takes Newton steps; a
`Horizon` takes one in every period of a closed loop, of which a `Plant` in MuJoCo is the other half.
"""

from codegen.ocp.gait import GAITS, Gait
from codegen.ocp.horizon import Delayed, Horizon, Plan, Spent
from codegen.ocp.nonlinear import Nonlinear
from codegen.ocp.piqp import Piqp, Solution
from codegen.ocp.plant import Film, Plant
from codegen.ocp.problem import Problem, Quadratic
from codegen.ocp.riccati import Riccati
from codegen.ocp.stage import Stage
from codegen.ocp.states import States

__all__ = [
    "GAITS",
    "Delayed",
    "Film",
    "Gait",
    "Horizon",
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
]
