"""The dense oracle: every algorithm again, in NumPy, from the textbook definitions and nothing else.

No recursion over spatial vectors, no symbols, no structure: world-frame Jacobians of every body,
M = sum J' I J, Newton-Euler for the bias, `numpy.linalg.solve` for the accelerations. It reads the numbers of
a `codegen.model.Model` and shares no mathematics with the generator, so that agreement means something. Robots with
loops are their spanning tree and dense constraints on it (`codegen.oracle.loops`).

`ORACLE[name](model, *inputs, frames=(), external=(), parameters=None)` takes the inputs of the generated
function of that name and returns its outputs. Dynamics, with contacts too, kinematics, quantities and steps also take
many states at once, in leading dimensions; derivatives, and inverses applied to vectors, one. Options:
  frames      names of frames (fk, jacobian); default: `model.tips`
  contacts    held frames (`Robot.contact`); default: all six rows at every tip
  external    names of frames that carry an external wrench; the last input is then f_ext (k, 6):
              [force; moment] on the body, in the frame's axes, at its origin
  parameters  {"gravity" | "payload:FRAME" | "inertia:BODY" | "offset:JOINT": values}, see `codegen.oracle.parameters`
Units are SI; spatial rows are [linear; angular] in world axes unless said otherwise.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.algorithms import BEHIND, HELD_STEPS, INTEGRATORS, OPTIONAL
from codegen.model.contacts import whole_tips
from codegen.oracle import (
    approximate,
    constrained,
    derivatives,
    dynamics,
    kinematics,
    loops,
    manifold,
    quantities,
    steps,
)
from codegen.oracle.parameters import with_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Contact, Model

    Outputs = NDArray[np.float64] | tuple[NDArray[np.float64], ...]

__all__ = ["ORACLE", "with_parameters"]


def _entry(
    algorithm: Callable[..., Outputs], looped: Callable[..., Outputs] | None = None, takes: str = ""
) -> Callable[..., Outputs]:
    """`algorithm`, or `looped` for a robot with loops, behind the one signature that all of `ORACLE` shares."""

    def evaluate(
        model: Model,
        *inputs: ArrayLike,
        frames: Sequence[str] = (),
        external: Sequence[str] = (),
        contacts: Sequence[Contact] | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> Outputs:
        model = with_parameters(model, parameters or {})
        chosen = looped if looped and model.loops else algorithm
        if takes == "frames":
            return chosen(model, *inputs, frames=tuple(frames) or model.tips)
        if takes == "wrenches":
            return chosen(model, *inputs, external=tuple(external))
        if takes == "contacts":
            held = whole_tips(model) if contacts is None else tuple(contacts)
            return chosen(model, *inputs, contacts=held)
        return chosen(model, *inputs)

    return evaluate


def _derivatives(of: str) -> Callable[..., Outputs]:
    """The derivatives of dynamics by q, v and a or tau; inputs and options are those of the dynamics."""

    def evaluate(model: Model, *inputs: ArrayLike, **options: Any) -> Outputs:
        q, v, x, *rest = (np.asarray(part, float) for part in inputs)
        step: Any = ORACLE["integrate"]
        if of in constrained.DYNAMICS:
            solution: Any = partial(ORACLE[of], model, **options)
            exact = constrained.smooth(of, _numbered(model, options), q, options.get("contacts"))
            slopes = derivatives.slopes(exact, quadratic=not constrained.by_law(of))
            return derivatives.constrained_dynamics(lambda *at: solution(*at, *rest), step, model, slopes, q, v, x)
        moved, external = _numbered(model, options), options.get("external", ())

        def dynamics_of(name: str) -> Callable[..., Any]:
            return lambda *state: ORACLE[name](moved, *state, *rest, external=external)

        rnea = dynamics_of("rnea")
        if of == "rnea":
            return derivatives.inverse_dynamics(rnea, step, moved, q, v, x)
        return derivatives.forward_dynamics(rnea, dynamics_of("aba"), step, moved, q, v, x)

    return evaluate


def _numbered(model: Model, options: Mapping[str, Any]) -> Model:
    """A model with the parameters among options that are numbers of it."""
    parameters = options.get("parameters") or {}
    return with_parameters(model, {name: x for name, x in parameters.items() if name not in {*OPTIONAL, *BEHIND}})


def _with_factors(model: Model, *inputs: ArrayLike, **options: Any) -> Outputs:
    """The derivatives of inverse dynamics by q and v, and the factors of M."""
    Q, V, _ = _derivatives("rnea")(model, *inputs, **options)
    moved = _numbered(model, options)
    return Q, V, *dynamics.factors(np.asarray(ORACLE["crba"](moved, inputs[0])))


def _step(of: str, integrator: str, derived: bool) -> Callable[..., Outputs]:
    """A step of time by the dynamics of this name, or its derivatives; options are those of the dynamics."""

    def evaluate(model: Model, *inputs: ArrayLike, **options: Any) -> Outputs:
        q, v, tau, dt, *rest = (np.asarray(part, float) for part in inputs)
        moved, parameters = _numbered(model, options), options.pop("parameters", None) or {}
        own = {name: x for name, x in parameters.items() if name in {*OPTIONAL, *BEHIND}}

        def step(q: Any, v: Any, tau: Any) -> Any:
            def dynamics(q: Any, v: Any) -> Any:
                if of in constrained.DYNAMICS:
                    solution: Any = partial(ORACLE[of], moved, **options, parameters=own)
                    return solution(q, v, tau, *rest)[0]
                wrenches = [np.broadcast_to(x, (*q.shape[:-1], *x.shape)) for x in rest]
                return ORACLE[of](moved, q, v, tau, *wrenches, **options)

            return steps.STEPS[integrator](moved, dynamics, q, v, float(dt))

        if derived:
            exact = constrained.smooth(of, moved, q, options.get("contacts"))
            return steps.derivatives(step, moved, q, v, tau, exact)
        after: Outputs = step(q, v, tau)
        return after

    return evaluate


_FORWARD = _entry(dynamics.aba, loops.aba, "wrenches")
_INVERSE = _entry(dynamics.rnea, loops.rnea, "wrenches")
_DELASSUS = _entry(loops.delassus, takes="contacts")
_OF_HELD = {constrained.ENTRIES[name]: _derivatives(name) for name in constrained.DYNAMICS}
"""Derivatives of constrained dynamics, once for all algorithms that compute the same."""

ORACLE: dict[str, Callable[..., Outputs]] = {
    "fk": _entry(kinematics.fk, loops.fk, "frames"),
    "jacobian": _entry(kinematics.jacobian, loops.jacobian, "frames"),
    "rnea": _INVERSE,
    "crba": _entry(dynamics.crba, loops.crba),
    "aba": _FORWARD,
    "ltl": _FORWARD,
    "minverse": _entry(dynamics.minverse, loops.minverse),
    "integrate": _entry(manifold.integrate, loops.integrate),
    "difference": _entry(manifold.difference, loops.difference),
    **{name: _entry(getattr(quantities, name), takes=takes) for name, takes in quantities.ENTRIES.items()},
    "rnea_derivatives": _derivatives("rnea"),
    "rnea_derivatives_ltl": _with_factors,
    "aba_derivatives": _derivatives("aba"),
    "integrate_derivatives": _entry(steps.integrate_derivatives),
    "difference_derivatives": _entry(steps.difference_derivatives),
    "project": _entry(loops.project),
    "efpa": _DELASSUS,
    "projected_rnea": _INVERSE,
    "projection_fd": _FORWARD,
    "lagrange_fd": _FORWARD,
    "projected_osim": _DELASSUS,
    "approximate_rnea": _entry(approximate.rnea, takes="wrenches"),
    "approximate_aba": _entry(approximate.aba, takes="wrenches"),
    "unconstrained_rnea": _entry(approximate.unconstrained_rnea, takes="wrenches"),
    "approximate_efpa": _entry(approximate.delassus, takes="contacts"),
    **constrained.ENTRIES,
    **{f"{name}_derivatives": _OF_HELD[constrained.ENTRIES[name]] for name in constrained.DYNAMICS},
    **{
        f"{f'{name}_' if name != 'aba' else ''}step{ending}{'_derivatives' * derived}": _step(name, integrator, derived)
        for name in ("aba", *HELD_STEPS)
        for integrator, ending in INTEGRATORS.items()
        for derived in (False, True)
    },
    "nsgs_step": _step("nsgs", "semi_implicit_euler", False),
    "nsgs_step_derivatives": _step("nsgs", "semi_implicit_euler", True),
}
