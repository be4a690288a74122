"""acados' functions of the type 'generic': where acados keeps what they take and give.

Such a function is given pointers without their types. The types are those of the integrator that calls it
(sim_erk_integrator.c; sim_irk_integrator.c; sim_lifted_irk_integrator.c; ocp_nlp_dynamics_disc.c): arrays, BLASFEO's
vectors and matrices, or parts of these at an offset. Numbers of a vector lie side by side, so that kernels read and
write them in place. Matrices lie in panels, and are packed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.interfaces.acados_functions import Function

ARRAY, VECTOR, PART, MATRIX, BLOCK = "COLMAJ", "BLASFEO_DVEC", "BLASFEO_DVEC_ARGS", "BLASFEO_DMAT", "BLASFEO_DMAT_ARGS"
"""The types' names in acados (external_function_generic.h)."""

RESIDUAL = {"x": VECTOR, "dx": PART, "u": ARRAY, "z": PART, "lam": PART, "t": ARRAY, "f": PART}
"""Those of an implicit ODE, whose Jacobians and Hessian are whole matrices."""

DISCRETE = {"jac": BLOCK, "hess": BLOCK}
"""Those of discrete dynamics, which else are parts of vectors."""


def generic(f: Function, slots: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the template says of a function besides `slots`; nothing of one that no integrator calls."""
    if f.name == "impl_dae_fun_jac_x_xdot_u_z":
        return []
    given = [_argument(f, k, port) for k, port in enumerate(slots["inputs"])]
    made = [_result(f, k, port) for k, port in enumerate(slots["outputs"])]
    results = [{**port, "k": k, "type": _type(f, port)} for k, port in enumerate(slots["outputs"])]
    matrices = [port for port in results if port["type"] in (MATRIX, BLOCK) and port["shape"][1]]
    return [{**slots, "arg": given, "res": made, "matrices": matrices}]


def _type(f: Function, port: Mapping[str, Any]) -> str:
    """Where acados keeps an argument or a result."""
    if f.name.startswith("expl"):
        return ARRAY
    if f.name.startswith("impl"):
        return RESIDUAL.get(port["name"], MATRIX)
    return DISCRETE.get(port["name"], PART)


def _argument(f: Function, k: int, port: Mapping[str, Any]) -> str:
    """C that says where an argument is; one without numbers is nowhere."""
    if port["name"] == "p":
        return "(const double *)p"
    return f"{_type(f, port)}_AT(in[{k}])" if port["shape"][0] else "0"


def _result(f: Function, k: int, port: Mapping[str, Any]) -> str:
    """C that says where a result goes; matrices stay in the workspace until they are packed."""
    held = _type(f, port)
    return "0" if held in (MATRIX, BLOCK) else f"{held}_AT(out[{k}])"
