"""An entry of the registry: an algorithm's function, arguments, results and error, and what the lowering may do."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from codegen.lowering.problem import Needs
from codegen.model import Model


class Tolerance(NamedTuple):
    """The relative error that an algorithm is allowed, by the type of its numbers."""

    float64: float
    float32: float

    def of(self, dtype: str) -> float:
        """The error for this type."""
        return self.float32 if dtype == "float32" else self.float64


PLAIN, WITH_CONTACTS = Tolerance(1e-10, 1e-3), Tolerance(1e-9, 1e-3)
EARLY = Tolerance(1e-6, 1e-3)  # rows are held softly at the few states at which one joint alone cannot follow them
WITH_MU = Tolerance(1e-8, 0.02)  # which costs digits: float32 keeps few at any mu that holds contacts in a few steps
WHOLE = Tolerance(1e-7, 0.02)  # no joint eliminated: multipliers of redundant rows, which grow, cost a digit more
LIMBS = Tolerance(1e-7, 1e-3)  # limb by limb: stretched ones cost digits

STIFFENING = ("pv_soft", "constrained_aba", "aba_prox_stiff", "prox_ltls", "caba_osim")
"""Algorithms, and what begins with their names, that add contacts to inertias before these are divided by."""

Independent = Literal["", "rows", "rows of limbs"]


@dataclass(frozen=True, slots=True)
class Algorithm:
    """An algorithm's function, title, and the names of its inputs and outputs (keys of `QUANTITIES`).

    `group` is what the command line calls it by: `common`, `quantities`, `derivatives` and `steps` (every robot),
    `constrained`, `frictional`, `delassus` and `damped` (robots with contacts), `loops` (the baselines for robots with
    loops).
    `declares` is what the lowering needs to know of it. Without `held` there, constrained dynamics is given the whole
    problem: no joint is eliminated. `auto` chooses among those of a group that compete. `independent` are the contacts'
    rows that must not depend on each other. `differentiates` are the results whose derivatives it gives, where other
    arguments than the state may be asked for: `run` then takes columns of symbols, `by`. `by_columns` is the same by
    loops over columns, for robots of many joints (`codegen.lowering.column_loops`). What `divides` takes `parts`, too:
    how it is made of expressions and loops. Of one that `breaks`, contacts may have friction; it has no second
    derivatives.
    """

    name: str
    run: Callable[..., Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    title: str
    group: str = "common"
    declares: Needs = field(default_factory=Needs)
    tolerance: Tolerance = PLAIN
    competes: bool = False
    independent: Independent = ""
    differentiates: tuple[str, ...] = ()
    by_columns: Callable[..., Any] | None = None
    divides: bool = False
    breaks: bool = False

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of what `run` takes beside the tree: of constrained dynamics, the problem that is left to solve."""
        if not self.declares.held:
            return self.inputs[1:]
        return ("p", "tau", "s", *(name for name in self.inputs if name in ("mu", "lam0", "R")))

    @property
    def derived(self) -> bool:
        """Whether its results are derivatives, whose own are long: by default solvers get none of these."""
        return "_derivatives" in self.name

    @property
    def iterates(self) -> bool:
        """Whether its steps may be left to a tolerance: proximal algorithms, and the implicit midpoint rule."""
        proximal = "lam0" in self.inputs and self.group in ("constrained", "frictional")
        return proximal or (self.group == "steps" and "implicit" in self.name)

    @property
    def inverts(self) -> bool:
        """Whether it has no solution where M is singular: forward dynamics, unless contacts add to inertias first."""
        solved = {"a", "Minv", "D", "da_dq", "v_next", "A", "W", "x"} & {*self.outputs}
        return bool(solved) and not self.name.startswith(STIFFENING)

    def needs(self, parameters: Collection[str] = ()) -> Needs:
        """What it declares to the lowering, with these parameters among its arguments."""
        dynamics = {*self.outputs} <= {"a", "lam", "W", "Winv", "x"} and "a" not in self.inputs
        both = "tau" in self.inputs or self.group == "derivatives"
        matrix = self.group in ("delassus", "damped")  # neither joints' motions nor their forces come in or out
        return replace(
            self.declares,
            swept="both" if both else "forces" if "a" in self.inputs else self.declares.swept,
            base_frame=self.group != "loops" and dynamics,  # forces go in and accelerations come out, if any
            base_link=matrix and not self.declares.joint_space,  # M has more zeros with the base in the middle
            # units of compliances are others, and factors of pairs of joints cost more than units save
            length_units=matrix and self.declares.contact_traffic in ("forces", "branches"),
            # what multiplies single rows would have to turn with them
            by_columns=self.by_columns is not None,
            contact_axes=(self.group == "constrained" or "x" in self.outputs) and not {"R", "weight"} & {*parameters},
        )

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.inputs)}) -> {', '.join(self.outputs)}: {self.title}"


OPTIONAL: dict[str, float] = {"k": 0.0, "mu": 1e5, "lam0": 0.0, "R": 1e-5}
"""Inputs that are these numbers unless they are asked for as arguments.

A stiffer mu loses what it wins: link inertias with mu added to them round off at 1e-16 mu. Single precision, which
rounds off at 6e-8 of it, takes others, and so do robots of less than 100 g and more than a tonne (`optional`).
"""

MASSES, MOST_MASSES = 100.0, 1e6
"""mu is at least so many times a robot's mass (kg), in single precision as many, and at most so many.

The compliance W of contacts is about one over the mass that they have to hold, or more: each proximal step then shrinks
errors by an order of magnitude, and three steps end where stiffened inertias round off in single precision.
"""


def optional(model: Model, dtype: str = "float64") -> dict[str, float]:
    """`OPTIONAL` for a robot and a type of numbers: mu follows from the mass where it has to, and R from mu."""
    mass = sum(body.inertia.mass for body in model.bodies) or 1.0
    usual = OPTIONAL["mu"] if dtype == "float64" else 0.0
    mu = min(max(usual, MASSES * mass), MOST_MASSES * mass)
    if mu == OPTIONAL["mu"]:
        return OPTIONAL
    mu = float(f"{mu:.1g}")
    return {**OPTIONAL, "mu": mu, "R": 1.0 / mu}


BEHIND: dict[str, str] = {
    **dict.fromkeys(("kp", "kd", "target_position", "target_rotation", "target_velocity"), "k"),
    "weight": "mu",
}
"""Further arguments, and the input of the algorithm that they change before it sees it.

Gains are those of the contacts unless asked for, and targets are arguments where gains need them; weights are one.
"""
