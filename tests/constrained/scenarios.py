"""Robots with contacts: the papers' scenarios, robots with loops, and random mechanisms; their graphs and oracles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import codegen
from codegen.algorithms import ALGORITHMS
from codegen.ir.interpreter import interpret
from codegen.model.contacts import contact_of
from codegen.oracle import constrained
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.ir.graph import Graph
    from codegen.model import Contact, Model

    Array = NDArray[np.float64]

OURS = {name: entry for name, entry in ALGORITHMS.items() if entry.group == "constrained" and entry.competes}
DIRECT = tuple(name for name, entry in OURS.items() if entry.independent)
PRIMAL = tuple(name for name, entry in OURS.items() if entry.declares.stiffened)
DUAL = tuple(name for name in OURS if name not in (*DIRECT, *PRIMAL))
HARD = (*DIRECT, *DUAL, *PRIMAL)
PUBLISHED = ("prox_ltl", "prox_kkt", "prox_ltls")  # in joint space; the last one rounds off a whole M + mu J'J
DELASSUS = tuple(name for name, entry in ALGORITHMS.items() if entry.group == "delassus")
ITERATIONS = 5
TOLERANCE = {**dict.fromkeys(DIRECT, 1e-9), **dict.fromkeys((*DUAL, *PRIMAL, *PUBLISHED), 1e-8), "prox_ltls": 1e-7}
FINGERS = tuple(f"{hand}_{finger}tip" for hand in ("lh", "rh") for finger in ("ff", "mf", "rf", "lf", "th"))
CORNERS = {"a": (0.1, 0.05), "b": (0.1, -0.05), "c": (-0.1, 0.05), "d": (-0.1, -0.05)}


@dataclass(frozen=True)
class Scenario:
    """A bundled robot, the frames that are held, and how many random states it is tried at."""

    name: str
    robot: str
    contacts: tuple[str, ...]
    states: int = 50
    base: str | None = None

    def __str__(self) -> str:
        return self.name


PAPER = (
    Scenario("iiwa H3", "iiwa", ("lbr_iiwa_link_7:3",)),
    Scenario("iiwa H6", "iiwa", ("lbr_iiwa_link_7:6",)),
    Scenario("solo12 F3^2", "solo12", ("FL_FOOT:3", "FR_FOOT:3")),
    Scenario("solo12 F3^4", "solo12", ("FL_FOOT:3", "FR_FOOT:3", "HL_FOOT:3", "HR_FOOT:3")),
    *(Scenario(f"go1 F3^{n}", "go1", ("FL_foot:3", "FR_foot:3", "RL_foot:3", "RR_foot:3")[:n]) for n in (1, 2, 3, 4)),
    Scenario("talos F6^2", "talos", ("left_sole_link:6", "right_sole_link:6"), 25),
    Scenario(
        "talos F6^2 H6^2",
        "talos",
        ("left_sole_link:6", "right_sole_link:6", "wrist_left_ft_tool_link:6", "wrist_right_ft_tool_link:6"),
        15,
    ),
    Scenario("atlas F6^2", "atlas", ("l_foot:6", "r_foot:6"), 25),
    Scenario("atlas F6^2 H6^2", "atlas", ("l_foot:6", "r_foot:6", "l_hand:6", "r_hand:6"), 15),
)
FINGERED = tuple(
    Scenario(
        f"atlas_shadow F6^2 T3^{n}", "atlas_shadow", ("l_foot:6", "r_foot:6", *(f"{tip}:3" for tip in FINGERS[:n])), 3
    )
    for n in (0, 5, 10)
)
LOOPED = (
    Scenario("mini_cheetah", "mini_cheetah", ("FR_foot_contact:3", "HL_foot_contact:3", "FL_foot_contact:3"), 25),
    Scenario("mit_humanoid", "mit_humanoid", ("right_toe_contact:3", "left_ankle_link:6"), 25),
    Scenario("tello_humanoid", "tello_humanoid", ("left-foot:6", "right-foot:6"), 25),
    Scenario("jvrc1", "jvrc1", ("left_ankle_p:6", "right_toe_contact:3", "right_wrist_contact:3"), 20),
)
FIXED = (
    Scenario("go1 on a stand", "go1", ("FL_foot:3", "RR_foot:3"), 20, "fixed"),
    Scenario("talos on a stand", "talos", ("left_sole_link:6", "wrist_left_ft_tool_link:3"), 10, "fixed"),
    Scenario("iiwa in flight", "iiwa", ("lbr_iiwa_link_7:6", "lbr_iiwa_link_3:3"), 20, "floating"),
)


@dataclass(frozen=True)
class Problem:
    """A model with contacts at regular random states, stacked along the first axis, and its equations there."""

    model: Model
    contacts: tuple[Contact, ...]
    q: Array
    v: Array
    tau: Array
    at: tuple[constrained.Equations, ...]

    @property
    def rows(self) -> int:
        """Rows of all contacts."""
        return sum(len(contact.rows) for contact in self.contacts)

    def graph(self, algorithm: str, **options: Any) -> Graph:
        """The algorithm as written, five iterations unless said otherwise."""
        return trace(Task(self.model, algorithm, contacts=self.contacts, **{"iterations": ITERATIONS, **options}))

    def solved(self, algorithm: str, *given: Array, **options: Any) -> tuple[Array, Array]:
        """Accelerations and multipliers (states, ...) by an algorithm; `given` are further arguments."""
        a, lam, *_ = interpret(self.graph(algorithm, **options), self.q, self.v, self.tau, *given)
        return a, lam

    def expected(self, k: Array | float = 0.0, lam0: Array | float = 0.0) -> tuple[Array, Array]:
        """The same by the dense oracle."""
        rows = np.zeros((len(self.q), self.rows))
        wanted = zip(self.at, self.tau, k + rows, lam0 + rows, strict=True)
        return tuple(np.array(part) for part in zip(*(constrained.solution(*each) for each in wanted), strict=True))

    def residual(self, a: Array, k: Array | float = 0.0) -> Array:
        """What the rows (states, m) still lack at accelerations a."""
        return k - np.array([at.J @ x + at.drift for at, x in zip(self.at, a, strict=True)])


def problem(
    model: Model, contacts: tuple[Contact, ...], states: int, *, regular: bool = True, redundant: bool = False
) -> Problem:
    """Random states; with `regular`, only those at which no row is almost dependent on others, nor (unless `redundant`)
    wholly so.
    """
    rng, kept = np.random.default_rng(0), []
    for _ in range(20 * states):
        q, v, tau = model.random(rng)
        at = constrained.equations(model, q, v, contacts=contacts)
        rank, clear = constrained.rank(at)
        if (clear and (redundant or rank == len(at.J))) or not regular:
            kept.append((q, v, tau, at))
        if len(kept) == states:
            break
    assert len(kept) == states
    q, v, tau, at = zip(*kept, strict=True)
    return Problem(model, contacts, np.array(q), np.array(v), np.array(tau), at)


@cache
def of(scenario: Scenario) -> Problem:
    """The problem of a scenario, set up once per process."""
    model = codegen.load(scenario.robot, base=scenario.base)
    return problem(model, tuple(contact_of(model, text) for text in scenario.contacts), scenario.states)


def worst(actual: Array, expected: Array) -> float:
    """The largest error of any state over the largest entry expected there; infinite for a NaN."""
    if not np.isfinite(actual).all():
        return float("inf")
    axes = tuple(range(1, expected.ndim))
    scale = np.abs(expected).max(axis=axes, initial=1e-300)
    return float((np.abs(actual - expected).max(axis=axes, initial=0.0) / scale).max())


def with_corners(model: Model, foot: str) -> tuple[Model, tuple[str, ...]]:
    """The model with four corner frames on a foot, and their names."""
    for corner, (x, y) in CORNERS.items():
        model = model.with_frame(f"{foot}_{corner}", foot, (x, y, -0.05))
    return model, tuple(f"{foot}_{corner}" for corner in CORNERS)


def optional(algorithm: str, name: str) -> bool:
    """Whether an algorithm takes that optional input."""
    return name in ALGORITHMS[algorithm].inputs
