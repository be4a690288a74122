"""Lowering: the way from a robot to the tree that an algorithm runs on, as one list of steps.

A step takes a problem and gives one; what it changes of results, it restores at the end. Steps that only save
operations have a plain form, in which they may be left out; what others found stays right without them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from codegen.errors import RobotError
from codegen.lowering.base_frame import base_frame
from codegen.lowering.build_tree import build_tree
from codegen.lowering.canonical_frames import aligned_axes, canonical_frames
from codegen.lowering.closed_forms import closed_forms
from codegen.lowering.column_loops import column_loops
from codegen.lowering.contact_rows import contact_axes, contact_rows, determined_joints, held_softly
from codegen.lowering.length_units import length_units
from codegen.lowering.link_axes import link_axes, own_axes
from codegen.lowering.loop_closure import loop_closure
from codegen.lowering.problem import Needs, Problem, Request
from codegen.lowering.reduced_problem import reduced_problem
from codegen.lowering.reflect_rotors import reflect_rotors
from codegen.lowering.regroup_inertias import own_inertias, regroup_inertias
from codegen.lowering.reroot import reroot
from codegen.lowering.simplified_formulas import simplified_formulas
from codegen.lowering.tip_axes import tip_axes
from codegen.recursions.iteration import Iteration

__all__ = ["ALL", "LOWERING", "Needs", "Problem", "Request", "Step", "checked", "lowered", "restored"]

ALL = "all"
"""In the place of a step's name: every step that can be left out."""

Lower = Callable[[Problem], Problem]


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the lowering: its name, what it does, and its plain form (None: it cannot be left out)."""

    run: Lower
    plain: Lower | None = None

    def __str__(self) -> str:
        return self.name if self.plain else f"{self.name} (cannot be left out)"

    @property
    def name(self) -> str:
        """What the step is called."""
        return self.run.__name__


def unchanged(problem: Problem) -> Problem:
    """The plain form of a step that changes a problem for one that costs less."""
    return problem


LOWERING: tuple[Step, ...] = (
    Step(reflect_rotors),
    Step(reroot, unchanged),
    Step(base_frame, unchanged),
    Step(canonical_frames, aligned_axes),
    Step(simplified_formulas, loop_closure),
    Step(closed_forms, unchanged),
    Step(regroup_inertias, own_inertias),
    Step(determined_joints, held_softly),
    Step(contact_axes, unchanged),
    Step(column_loops, unchanged),
    Step(link_axes, own_axes),
    Step(tip_axes, unchanged),
    Step(build_tree),
    Step(contact_rows),
    Step(length_units, unchanged),
    Step(reduced_problem),
)


def checked(without: Collection[str]) -> tuple[str, ...]:
    """The names of steps to leave out, in the order of the list; RobotError for others."""
    optional = [step.name for step in LOWERING if step.plain]
    for name in without:
        if name not in (*optional, ALL):
            near = get_close_matches(name, optional, n=1)
            mend = f"did you mean {near[0]}" if near else f"choose of {', '.join((*optional, ALL))}"
            raise RobotError(f"there is no step {name!r} of the lowering that can be left out; {mend}")
    return tuple(name for name in optional if ALL in without or name in without)


def lowered(problem: Problem, without: Collection[str] = ()) -> Problem:
    """The problem after all steps, but for those to leave out."""
    for step in LOWERING:
        problem = step.plain(problem) if step.plain and step.name in without else step.run(problem)
    return problem


def restored(problem: Problem, names: Sequence[str], results: Any) -> Any:
    """What an algorithm computed (iterative or not) of a lowered problem, as results of the robot that the user stated.

    `names` are those of the results.
    """
    if isinstance(results, Iteration):
        return replace(results, finish=lambda *state: restored(problem, names, results.finish(*state)))
    if problem.solved:
        results = problem.solved(results)
    results = results if isinstance(results, tuple) else (results,)
    for change in reversed(problem.restores):
        results = tuple(change[name](x) if name in change else x for name, x in zip(names, results, strict=True))
    return results
