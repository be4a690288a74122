"""What a seed stands for: a mechanism, and a few algorithms with options of all kinds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from compilers import COMPILERS
from loops.loop_mechanisms import anything

from codegen.algorithms import ALGORITHMS, BEHIND, OPTIONAL
from codegen.errors import RobotError
from codegen.robot import Robot

if TYPE_CHECKING:
    from codegen.description import Description
    from codegen.model import Contact, Convention, Model

TRIALS = 20  # mechanisms that may be drawn in vain, as their loops leave nothing to move
PRODUCTS = ("jvp", "vjp", "hvp")
DIFFERENTIATED = ("rnea", "aba", "pv", "constrained_aba", "fk", "difference", "centroidal", "energy", "step")
MOVING = 5  # freedoms of robots whose products of derivatives, and steps, are compared: the oracle takes long
DYNAMICS = ("rnea", "aba", "ltl", "crba", "constrained_aba", "pv", "aba_prox", "prox_ltl", "efpa")


@dataclass(frozen=True, slots=True)
class Compiled:
    """How C is made of a graph: the options of `codegen.build`."""

    compiler: str
    dtype: str
    trig: str
    target: str


@dataclass(frozen=True, slots=True)
class Run:
    """One algorithm with its options; contacts are the arguments of `Robot.contact`. `seed` draws the states.

    With `derivative`, a product of its derivatives.
    """

    algorithm: str
    seed: int
    states: int
    frames: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    contacts: tuple[dict[str, Any], ...] = ()
    iterations: int | None = 5
    compiled: Compiled | None = None
    derivative: str = ""

    def held(self, model: Model) -> tuple[Contact, ...]:
        """The contacts on a model."""
        return tuple(model.contact(**contact) for contact in self.contacts)

    def options(self, model: Model) -> dict[str, Any]:
        """The options of `codegen.graphs`."""
        names = {name: getattr(self, name) for name in ("frames", "external", "parameters", "iterations")}
        return {**names, "contacts": self.held(model) or None}


@dataclass(frozen=True, slots=True)
class Case:
    """A mechanism and what is asked of it."""

    seed: int
    description: Description
    convention: Convention
    runs: tuple[Run, ...] = field(default=())

    @property
    def model(self) -> Model:
        """The mechanism; RobotError if it is none."""
        return Robot.assembled(self.description, convention=self.convention)

    def stated(self) -> dict[str, Any]:
        """Everything but the robot, as JSON has it."""
        return {"seed": self.seed, "convention": self.convention, "runs": [asdict(run) for run in self.runs]}


def run_of(stated: dict[str, Any]) -> Run:
    """A run from what `Case.stated` wrote."""
    named = {name: tuple(stated[name]) for name in ("frames", "external", "parameters", "contacts")}
    compiled = stated["compiled"] and Compiled(**stated["compiled"])
    return Run(**{**stated, **named, "compiled": compiled})


def case(seed: int, compiled: bool = False) -> Case:
    """The case of a seed; RobotError if nothing that moves was found. With `compiled`, its first run is compiled."""
    rng = np.random.default_rng([seed, 2])
    modules = int(rng.choice([1, 2, 3, 4], p=(0.55, 0.3, 0.1, 0.05)))
    modules = 1 if compiled else modules  # compilers take minutes over what is proved on graphs
    for trial in range(TRIALS):
        description, convention = anything(seed, modules, trial)
        drawn = Case(seed, description, convention)
        try:
            model = drawn.model
        except RobotError:
            continue
        runs = tuple(_run(model, rng, seed) for _ in range(int(rng.integers(1, 4))))
        if compiled:
            return replace(drawn, runs=(_to_compile(runs[0], rng),))
        return replace(drawn, runs=(*runs, *_moving(model, np.random.default_rng([seed, 3]))))
    raise RobotError(f"seed {seed}: no mechanism of {TRIALS} has anything to move")


def _moving(model: Model, rng: np.random.Generator) -> tuple[Run, ...]:
    """A product of derivatives, and a step of time or its derivatives, of small robots."""
    if model.nv > MOVING:
        return ()
    steps = [name for name in ALGORITHMS if name.startswith("step")]
    product = _plain(str(rng.choice(DIFFERENTIATED)), model, rng)
    kinds = PRODUCTS[:2] if product.algorithm == "step" else PRODUCTS
    return replace(product, derivative=str(rng.choice(kinds))), _plain(str(rng.choice(steps)), model, rng)


def _plain(name: str, model: Model, rng: np.random.Generator) -> Run:
    """An algorithm without parameters; rows of contacts, where it takes any, on one frame."""
    run = Run(name, int(rng.integers(2**31)), 2)
    if "k" not in ALGORITHMS[name].inputs:
        return run
    frames = [frame.name for frame in model.frames if frame.body >= 0]
    return replace(run, contacts=(_contact(str(rng.choice(frames)), frames, rng),))


def _to_compile(run: Run, rng: np.random.Generator) -> Run:
    """The run with a compiler; proximal algorithms now and then until their residual is small."""
    stiff = {"mu", "R"} & {*ALGORITHMS[run.algorithm].inputs}  # which leaves single precision no digits to compare
    options = Compiled(
        compiler=str(rng.choice(COMPILERS)),
        dtype=str(rng.choice(["float64"] if stiff else ["float64", "float32"])),
        trig=str(rng.choice(["fast", "libm"])),
        target=str(rng.choice(["native", "native", "portable"])),
    )
    until = ALGORITHMS[run.algorithm].iterates and rng.random() < 0.4
    return replace(run, compiled=options, states=int(rng.integers(3, 20)), iterations=None if until else run.iterations)


def _run(model: Model, rng: np.random.Generator, seed: int) -> Run:
    """Any algorithm, those that most people use more often, with whatever it takes."""
    others = [name for name, entry in ALGORITHMS.items() if entry.group != "steps"]  # whose oracle takes long
    name = str(rng.choice(DYNAMICS if rng.random() < 0.3 else others))
    entry = ALGORITHMS[name]
    frames = [frame.name for frame in model.frames]
    run = Run(name, int(rng.integers(2**31)), 2)
    if {"J", "position", "jdot_v", "acceleration"} & {*entry.outputs}:
        run = replace(run, frames=tuple(_some(frames, rng, 3)))
    if "f_ext" in entry.inputs and rng.random() < 0.5:
        run = replace(run, external=tuple(_some(frames, rng, 3)))
    held = entry.group in ("constrained", "frictional", "delassus", "damped") or {"W", "dlam_dq"} & {*entry.outputs}
    if held:
        own = [frame.name for frame in model.frames if frame.body >= 0]
        number = int(rng.choice([1, 2, 3, 4], p=(0.4, 0.3, 0.2, 0.1)))
        contacts = tuple(_contact(str(rng.choice(own)), own, rng) for _ in range(number))
        run = replace(run, contacts=contacts, iterations=int(rng.integers(5, 8)))
    if "guess" in entry.inputs or entry.name.removesuffix("_derivatives") in ("integrate", "difference"):
        return run
    numbers = ["gravity"] if entry.group not in ("delassus", "damped") else []
    numbers += [f"payload:{name}" for name in _some(frames, rng, 1)]
    likely = (
        0.5 if all(loop.explicit for loop in model.loops) else 0.1
    )  # others have to be closed again, which takes long
    numbers += [f"offset:{name}" for name in _some([*model.joint_names], rng, 1) if rng.random() < likely]
    inputs = [spec for spec in (*OPTIONAL, *BEHIND) if BEHIND.get(spec, spec) in entry.inputs]
    inputs = [spec for spec in inputs if spec not in ("target_position", "target_rotation", "target_velocity")]
    if entry.group == "damped":
        inputs = [spec for spec in inputs if spec != "weight"]
    chosen = [spec for spec in (*numbers, *inputs) if rng.random() < 0.35]
    if any("kd" in contact for contact in run.contacts) and "k" in entry.inputs and rng.random() < 0.5:
        chosen.append("target_velocity")
    return replace(run, parameters=tuple(chosen))


def _some(names: list[str], rng: np.random.Generator, most: int) -> list[str]:
    """One or more of some names, in any order."""
    return [str(name) for name in rng.permutation(names)[: int(rng.integers(1, most + 1))]]


def _contact(frame: str, frames: list[str], rng: np.random.Generator) -> dict[str, Any]:
    """Rows of any kind on a frame."""
    rows: Any = [3, 6, "x,rz", "z", "hinge-y", "foot-0.2x0.1,z", None, None][int(rng.integers(8))]
    found: dict[str, Any] = {"frame": frame}
    count = {3: 3, 6: 6, "x,rz": 2, "z": 1, "hinge-y": 5, "foot-0.2x0.1,z": 4}.get(rows)
    if rows is None:
        count = int(rng.integers(1, 4))
        rows = rng.standard_normal((count, 6)).tolist()
        if rng.random() < 0.3:
            found["points"], count = rng.uniform(-0.3, 0.3, (2, 3)).tolist(), 2 * count
    found["rows"] = rows
    if rng.random() < 0.4:
        found["axes"] = str(rng.choice(["world", *frames]))
    if rng.random() < 0.15:
        found["kp"], found["kd"] = rng.uniform(1.0, 20.0, count).tolist(), rng.uniform(1.0, 5.0, count).tolist()
    if rng.random() < 0.2:
        found["spatial"] = True
    return found
