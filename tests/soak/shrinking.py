"""A failing case, cut down: whatever can go while it still fails in the same way goes."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.errors import RobotError
from soak.verdict import judged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codegen.description import Description
    from soak.cases import Case, Run


def trouble_of(case: Case) -> str:
    """What is wrong with the first run of a case that fails, and its algorithm; nothing if none does."""
    try:
        model = case.model
    except RobotError:
        return ""
    for run in case.runs:
        try:
            trouble = judged(model, run).trouble
        except RobotError:  # an option that no longer fits the robot
            continue
        except Exception as error:
            trouble = f"{type(error).__name__}: {error}"
        if trouble:
            return f"{run.algorithm}: {trouble}"
    return ""


def kind(trouble: str) -> str:
    """The part of what is wrong that stays the same while a case shrinks."""
    words = trouble.split()
    return " ".join(word for word in words[:5] if not any(letter.isdigit() for letter in word))


def shrunk(case: Case, trouble: str, seconds: float) -> Case:
    """The smallest case found in so many seconds that fails in the same way."""
    end, wanted = time.monotonic() + seconds, kind(trouble)
    place, progress = 0, False
    # again and again over all that may go, on from where something went, until nothing more does
    while time.monotonic() < end:
        others = list(_smaller(case))
        if place >= len(others):
            if not progress:
                break
            place, progress = 0, False
        elif kind(trouble_of(others[place])) == wanted:
            case, progress = others[place], True
        else:
            place += 1
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Cases with a little less."""
    if len(case.runs) > 1:
        yield from (replace(case, runs=(run,)) for run in case.runs)
    if case.convention != "pinocchio":
        yield replace(case, convention="pinocchio")
    if len(case.runs) == 1:
        yield from (replace(case, runs=(run,)) for run in _with_less(case.runs[0]))
    for description in _less(case.description):
        yield replace(case, description=description)


def _with_less(run: Run) -> Iterator[Run]:
    """Runs with one option less."""
    if run.compiled is not None and run.iterations is not None:
        yield replace(run, compiled=None)
    for name in ("parameters", "external", "frames"):
        own = getattr(run, name)
        yield from (replace(run, **{name: (*own[:n], *own[n + 1 :])}) for n in range(len(own)))
    if len(run.contacts) > 1:
        for n in range(len(run.contacts)):
            yield replace(run, contacts=(*run.contacts[:n], *run.contacts[n + 1 :]))
    for n, contact in enumerate(run.contacts):
        for key in contact.keys() - {"frame", "rows"}:
            less = {name: value for name, value in contact.items() if name != key}
            yield replace(run, contacts=(*run.contacts[:n], less, *run.contacts[n + 1 :]))
    if run.states > 1:
        yield replace(run, states=1)


def _less(stated: Description) -> Iterator[Description]:
    """Descriptions with one loop, tip, rotor or another thing less."""
    for n in range(len(stated.loops)):
        yield replace(stated, loops=(*stated.loops[:n], *stated.loops[n + 1 :]))
    carrying = {joint.parent for joint in stated.joints}
    for joint in reversed(stated.joints):
        if joint.child not in carrying and not any(_names(loop.data, joint.name, joint.child) for loop in stated.loops):
            yield replace(
                stated,
                links=tuple(link for link in stated.links if link.name != joint.child),
                joints=tuple(other for other in stated.joints if other is not joint),
                frames=tuple(frame for frame in stated.frames if frame.link != joint.child),
            )
    if stated.base == "floating":
        yield replace(stated, base="fixed")
    if stated.gravity != (0.0, 0.0, 0.0):
        yield replace(stated, gravity=(0.0, 0.0, 0.0))
    for n, joint in enumerate(stated.joints):
        if joint.armature:
            yield replace(stated, joints=(*stated.joints[:n], replace(joint, armature=0.0), *stated.joints[n + 1 :]))


def _names(data: str, *names: str) -> bool:
    """Whether the data of a loop names one of these."""
    return any(json.dumps(name) in data for name in names)
