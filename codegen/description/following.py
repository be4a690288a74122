"""Joints that explicit loops lock: their positions follow from those of locked joints.

The rows of linear loops and couplings are one system of linear equations; formulas are evaluated as they stand. Sums
are taken in one order, so that values round alike on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from casadi import SX

from codegen.description.files import shown
from codegen.description.validate import listed
from codegen.errors import RobotError
from codegen.expressions.parsing import parse
from codegen.kinematic_loops.constraints import linear_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.model import Model

AGREES = 1e-9  # rad or m, or this part of larger positions: two statements of one position
NOTHING = 1e-12  # a coefficient or pivot below this is zero


@dataclass(frozen=True, slots=True)
class Row:
    """A linear equation of joint positions, as a loop states it: coefficients (none zero) and right-hand side.

    `touched`: some joint of the loop's equation was known, and is part of the right-hand side.
    """

    loop: str
    terms: Mapping[str, float]
    side: float
    touched: bool = False


def followed(model: Model, known: Mapping[str, float]) -> dict[str, float]:
    """The positions of all joints (rad or m) that explicit loops fix once those of `known` stand still, with these.

    RobotError names a loop that they contradict.
    """
    found, rows = dict(known), _rows(model)
    while True:
        left = _substituted(model, rows, found)
        new = _by_formulas(model, found) or _by_rows(model, [row for row in left if len(row.terms) == 1])
        new = new or _by_rows(model, _touched(left))
        if not new:
            return found
        found |= new


def _rows(model: Model) -> list[Row]:
    number = {name: b for b, name in enumerate(model.joint_names)}
    return [
        Row(loop.name, {model.bodies[b].joint.name: factor for b, factor in terms.items() if factor}, side)
        for loop in model.loops
        for terms, side in linear_rows(model, number, loop)
    ]


def _substituted(model: Model, rows: Sequence[Row], found: Mapping[str, float]) -> list[Row]:
    """The rows in the joints that are not known yet; what is left without any must hold."""
    left = []
    for row in rows:
        side = row.side - sum(factor * found[name] for name, factor in row.terms.items() if name in found)
        terms = {name: factor for name, factor in row.terms.items() if name not in found}
        largest = max([1.0, *(abs(factor * found[name]) for name, factor in row.terms.items() if name in found)])
        if not terms and abs(side) > AGREES * largest:
            raise RobotError(
                f"{model.name}: loop {shown(row.loop)} does not hold where {listed([*row.terms])} stand still (it is "
                f"off by {abs(side):.3g}); let one of these joints move, or put it where the loop does"
            )
        if terms:
            left.append(Row(row.loop, terms, side, len(terms) < len(row.terms)))
    return left


def _touched(rows: Sequence[Row]) -> list[Row]:
    """The rows in which known joints were, and those that share joints with them."""
    names, before = {name for row in rows if row.touched for name in row.terms}, -1
    while len(names) > before:
        before = len(names)
        names |= {name for row in rows if names.intersection(row.terms) for name in row.terms}
    return [row for row in rows if names.intersection(row.terms)]


@np.errstate(all="ignore")  # numbers beyond all bounds are refused where they are taken for positions
def _by_rows(model: Model, rows: Sequence[Row]) -> dict[str, float]:
    """The positions that the rows give, as a system of equations."""
    if not rows:
        return {}
    names = list(dict.fromkeys(name for row in rows for name in row.terms))
    A = np.array([[*(row.terms.get(name, 0.0) for name in names), row.side] for row in rows])
    A, sides = np.hstack([A, np.eye(len(rows))]), len(names)  # what is done to the rows is noted beside them
    done = 0
    for column in range(len(names)):
        if done == len(rows):
            break
        pivot = done + int(np.argmax(np.abs(A[done:, column])))
        if abs(A[pivot, column]) < NOTHING:
            continue
        A[[done, pivot]] = A[[pivot, done]]
        A[done] = A[done] / A[done, column]
        others = np.where(np.arange(len(rows)) == done, 0.0, A[:, column])
        A = A - np.multiply.outer(others, A[done])
        done += 1
    largest = float(np.abs(A[:, sides]).max(initial=1.0))
    for combined in A[done:]:
        if abs(combined[sides]) > AGREES * largest:
            loops = dict.fromkeys(rows[int(n)].loop for n in np.flatnonzero(np.abs(combined[sides + 1 :]) > NOTHING))
            raise RobotError(
                f"{model.name}: the loops {listed([*loops])} contradict one another where joints stand still; let one "
                "of these move, or correct a loop"
            )
    kept = [(np.flatnonzero(np.abs(row[:sides]) > NOTHING), float(row[sides]) + 0.0) for row in A[:done]]
    return {names[at[0]]: position for at, position in kept if len(at) == 1}


def _by_formulas(model: Model, found: Mapping[str, float]) -> dict[str, float]:
    """The positions that formulas give whose variables are known (or do not matter)."""
    new: dict[str, float] = {}
    for loop in model.loops:
        data = loop.stated
        given, variables = data.get("explicit", {}), data.get("variables", {})
        known = {name: joint for name, joint in variables.items() if joint not in given}
        symbols = {name: SX(found[joint]) if joint in found else SX.sym(name) for name, joint in known.items()}
        for joint, text in given.items():
            value = _read(model, loop.name, text, symbols)
            if not value.is_constant():
                continue
            position = float(value) + 0.0
            if joint not in found:
                new[joint] = position
            elif abs(found[joint] - position) > AGREES * max(1.0, abs(position)):
                raise RobotError(
                    f"{model.name}: loop {shown(loop.name)} puts joint {shown(joint)} at {position:.9g}, not at "
                    f"{found[joint]:.9g}; keep one of the two"
                )
    return new


def _read(model: Model, loop: str, text: str, symbols: Mapping[str, SX]) -> SX:
    try:
        return parse(text, symbols)
    except RobotError as error:
        raise RobotError(f"{model.name}: loop {shown(loop)}: {error}") from None
