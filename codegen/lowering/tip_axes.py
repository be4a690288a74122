"""Tips turned by themselves: where forces are swept, a body that carries nothing is described along its carrier's axes.

Its inertia is then turned by its angle, not all that passes its hinge. That is less if it is carried about freely,
unless a zero product of inertia with the hinge's axis would be filled. Bodies that somebody looks at, or that a contact
holds, keep their axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen import costs
from codegen.lowering.link_axes import carried, looked_at
from codegen.lowering.problem import LinkAxes
from codegen.spatial import Transform, unit_axis

if TYPE_CHECKING:
    from codegen.lowering.problem import Problem


def tip_axes(problem: Problem) -> Problem:
    """The step."""
    used, held = looked_at(problem)
    links, model = list(problem.bodies.links), problem.canonical.model
    for b, body in enumerate(model.bodies if problem.request.needs.swept != "inertias" else ()):
        if body.joint.hinge and not (carried(model, b) or b in used or b in held):
            k, _ = unit_axis(body.joint.axis)
            if links[b].inertia.only_spins != k and _turns(problem, body.parent):
                links[b] = _turned(links[b], k)
    return problem.found(links=tuple(links))


def _turned(link: LinkAxes, k: int) -> LinkAxes:
    """A tip along its carrier's axes, if its inertia keeps its zeros there; its last step turns about axis k."""
    *steps, last = link.X.steps
    inertia = last.carry(link.inertia)
    filled = inertia.I[k, :].nnz() > link.inertia.I[k, :].nnz()
    return link if filled else LinkAxes(Transform(tuple(steps)), inertia)


def _turns(problem: Problem, b: int) -> bool:
    """Whether body b may turn about all axes, by its freedoms."""
    freedoms = 0
    while b >= 0:
        freedoms, b = freedoms + problem.bodies.joints[b].nv, problem.canonical.model.bodies[b].parent
    return freedoms >= costs.FREE_AXES
