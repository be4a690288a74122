"""rigidc: robot dynamics, written once and specialised to a robot as C, NumPy callables and operation counts.

import codegen
robot = codegen.load("talos")
aba = codegen.build(robot, "aba")
a = aba(*robot.random())

Names are imported when first used, so that `rigidc --help` and reading one module stay fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codegen.algorithms import ALGORITHMS
    from codegen.api import auto, build, generate, graphs
    from codegen.compilation.in_parallel import in_parallel
    from codegen.description import bundled
    from codegen.errors import BuildError, RobotError, SingularError
    from codegen.formulas import symbolic
    from codegen.identification import BaseParameters, base_parameters, inertial_parameters
    from codegen.interfaces.acados_model import to_acados
    from codegen.interfaces.casadi import to_casadi
    from codegen.interfaces.crocoddyl import to_crocoddyl
    from codegen.interfaces.jax import to_jax
    from codegen.interfaces.torch import to_torch
    from codegen.model import Contact, Frame, Model
    from codegen.model.wrenches import contact_wrenches
    from codegen.robot import Robot, load

__all__ = [
    "ALGORITHMS",
    "BaseParameters",
    "BuildError",
    "Contact",
    "Frame",
    "Model",
    "Robot",
    "RobotError",
    "SingularError",
    "auto",
    "base_parameters",
    "build",
    "bundled",
    "contact_wrenches",
    "generate",
    "graphs",
    "in_parallel",
    "inertial_parameters",
    "load",
    "symbolic",
    "to_acados",
    "to_casadi",
    "to_crocoddyl",
    "to_jax",
    "to_torch",
]

_HOMES = {
    "ALGORITHMS": "algorithms",
    "BaseParameters": "identification",
    "BuildError": "errors",
    "Contact": "model.contacts",
    "Frame": "model",
    "Model": "model",
    "Robot": "robot",
    "RobotError": "errors",
    "SingularError": "errors",
    "auto": "api",
    "base_parameters": "identification",
    "build": "api",
    "bundled": "description",
    "contact_wrenches": "model.wrenches",
    "generate": "api",
    "graphs": "api",
    "in_parallel": "compilation.in_parallel",
    "inertial_parameters": "identification",
    "load": "robot",
    "symbolic": "formulas",
    "to_acados": "interfaces.acados_model",
    "to_casadi": "interfaces.casadi",
    "to_crocoddyl": "interfaces.crocoddyl",
    "to_jax": "interfaces.jax",
    "to_torch": "interfaces.torch",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"codegen.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'codegen' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
