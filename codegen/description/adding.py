"""One loop more on a finished model: stated in Python, checked like a file's, and the tree clustered anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codegen.description.clusters import clustered
from codegen.description.description import DescribedLoop
from codegen.description.files import shown
from codegen.description.locking import settled
from codegen.description.loops import canonical, resolved
from codegen.description.texts import text_of
from codegen.errors import RobotError
from codegen.kinematic_loops.expressions import names
from codegen.kinematic_loops.independent_joints import completed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.model import Model


def with_loop(
    model: Model,
    name: str,
    *,
    explicit: Mapping[str, Any] | None = None,
    implicit: Sequence[Any] = (),
    independent: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    scale: Sequence[float] = (),
) -> Model:
    """See `Robot.with_loop`."""
    if name in {loop.name for loop in model.loops} or not name.isprintable() or not name:
        raise RobotError(f"{model.name}: a loop cannot be called {shown(name)}; choose a new printable name")
    given = {joint: text_of(formula) for joint, formula in (explicit or {}).items()}
    kept = [text_of(formula) for formula in implicit]
    known = variables or {joint: joint for joint in model.joint_names}
    used = dict.fromkeys(word for text in (*given.values(), *kept) for word in names(text))
    data: dict[str, Any] = {"variables": {word: known[word] for word in used if word in known}}
    if given:
        data["explicit"] = given
    if kept:
        data["implicit"] = kept
    if independent:
        data["independent"] = list(independent)
    if scale:
        data["scale"] = list(scale)
    joints = {body.joint.name: body.joint for body in model.bodies}
    loop = resolved(model.name, DescribedLoop(name, "expression", canonical(data)), joints, {})
    return completed(settled(clustered(replace(model, loops=(*model.loops, loop)))))
