"""Loops and screws for a finished model: stated in Python, checked like a file's, and the tree clustered anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codegen.description.clusters import clustered
from codegen.description.description import SCALAR_JOINTS, DescribedLoop
from codegen.description.files import shown
from codegen.description.locking import body_of, settled
from codegen.description.loops import canonical, resolved
from codegen.description.validate import check_screw
from codegen.errors import RobotError
from codegen.expressions.derivatives import VARIABLE
from codegen.expressions.parsing import names
from codegen.expressions.texts import text_of, words_of, zero_of
from codegen.joints import SLIDE, TURN
from codegen.kinematic_loops.independent_joints import completed
from codegen.model import ScrewJoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
    known = variables or {joint: joint for joint in model.joint_names}
    words = words_of(known)
    given = {joint: text_of(formula, words) for joint, formula in (explicit or {}).items()}
    kept = [text_of(zero_of(formula), words) for formula in implicit]
    spelled = {words.get(name, name): joint for name, joint in known.items()}
    data: dict[str, Any] = {"variables": _variables((*given.values(), *kept), spelled)}
    lists = {"implicit": kept, "independent": independent, "scale": scale}
    data |= {key: list(entries) for key, entries in lists.items() if entries}
    if given:
        data["explicit"] = given
    joints = {body.joint.name: body.joint for body in model.bodies}
    loop = resolved(model.name, DescribedLoop(name, "expression", canonical(data)), joints, {})
    return completed(settled(clustered(replace(model, loops=(*model.loops, loop)))))


def with_screw(model: Model, name: str, turn: Any = TURN, slide: Any = SLIDE) -> Model:
    """See `Robot.with_screw`."""
    body = body_of(model, name)
    joint = body.joint
    if joint.type not in SCALAR_JOINTS:
        raise RobotError(
            f"{model.name}: joint {shown(name)} is {joint.type}; only joints of one coordinate become screws"
        )
    formulas = [text_of(formula, _only_variable(model, formula)) for formula in (turn, slide)]
    limits = (joint.lower, joint.upper, joint.velocity, joint.effort)
    check_screw(f"{model.name}: joint {shown(name)}", *formulas)
    screw = ScrewJoint(joint.name, "screw", joint.axis, *limits, joint.armature, *formulas)
    bodies = (replace(other, joint=screw) if other is body else other for other in model.bodies)
    return replace(model, bodies=tuple(bodies))


def _only_variable(model: Model, formula: Any) -> dict[str, str]:
    """q for the one symbol of a SymPy expression, whatever its name."""
    symbols = [symbol.name for symbol in getattr(formula, "free_symbols", ())]
    if len(symbols) > 1:
        raise RobotError(
            f"{model.name}: a screw's formula has one variable, not {', '.join(map(shown, sorted(symbols)))}"
        )
    return dict.fromkeys(symbols, VARIABLE)


def _variables(formulas: Iterable[str], known: Mapping[str, str]) -> dict[str, str]:
    """By names that formulas use, the joints that these are known to stand for."""
    used = dict.fromkeys(word for formula in formulas for word in names(formula))
    return {word: known[word] for word in used if word in known}
