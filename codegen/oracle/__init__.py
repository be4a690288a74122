"""The dense oracle: every algorithm again, in NumPy, from the textbook definitions and nothing else.

No recursion over spatial vectors, no symbols, no structure: world-frame Jacobians of every body,
M = sum J' I J, Newton-Euler for the bias, `numpy.linalg.solve` for the accelerations. It reads the numbers of
a `codegen.model.Model` and shares no mathematics with the generator, so that agreement means something.

`ORACLE[name](model, *inputs, frames=(), external=(), parameters=None)` takes the inputs of the generated
function of that name, unbatched, and returns its outputs. Options:
  frames      names of frames (fk, jacobian); default: `model.tips`
  external    names of frames that carry an external wrench; the last input is then f_ext (k, 6):
              [force; moment] on the body, in the frame's axes, at its origin
  parameters  {"gravity" | "payload:FRAME" | "offset:JOINT": values}, see `codegen.oracle.parameters`
Units are SI; spatial rows are [linear; angular] in world axes unless said otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.errors import RobotError
from codegen.oracle import dynamics, kinematics, manifold
from codegen.oracle.parameters import with_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Model

    Outputs = NDArray[np.float64] | tuple[NDArray[np.float64], ...]

__all__ = ["ORACLE", "with_parameters"]


def _entry(
    algorithm: Callable[..., Outputs], takes_frames: bool = False, takes_wrenches: bool = False
) -> Callable[..., Outputs]:
    """`algorithm` behind the one signature that all of `ORACLE` shares."""

    def evaluate(
        model: Model,
        *inputs: ArrayLike,
        frames: Sequence[str] = (),
        external: Sequence[str] = (),
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> Outputs:
        if model.loops:
            raise RobotError(f"{model.name}: the oracle knows trees only, and this robot has loop constraints")
        model = with_parameters(model, parameters or {})
        if takes_frames:
            return algorithm(model, *inputs, frames=tuple(frames) or model.tips)
        if takes_wrenches:
            return algorithm(model, *inputs, external=tuple(external))
        return algorithm(model, *inputs)

    return evaluate


ORACLE: dict[str, Callable[..., Outputs]] = {
    "fk": _entry(kinematics.fk, takes_frames=True),
    "jacobian": _entry(kinematics.jacobian, takes_frames=True),
    "rnea": _entry(dynamics.rnea, takes_wrenches=True),
    "crba": _entry(dynamics.crba),
    "aba": _entry(dynamics.aba, takes_wrenches=True),
    "ltl": _entry(dynamics.aba, takes_wrenches=True),
    "minverse": _entry(dynamics.minverse),
    "integrate": _entry(manifold.integrate),
    "difference": _entry(manifold.difference),
}
