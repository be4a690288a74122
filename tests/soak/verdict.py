"""Whether a run is right: against the dense oracle, as nearly as the condition of the state allows, and by energy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import codegen
from codegen import passes
from codegen.algorithms import ALGORITHMS, BEHIND, OPTIONAL
from codegen.cli.check import relative_error
from codegen.cli.check_products import Product, near, product_error
from codegen.cli.samples import arguments
from codegen.errors import RobotError
from codegen.ir.interpreter import interpret
from codegen.oracle import ORACLE, constrained, dynamics, loops, with_parameters
from codegen.recursions.dual import UNSETTLED
from codegen.tracing.directional import signature, traced
from codegen.tracing.form import Form
from codegen.tracing.task import Task
from codegen.tracing.trace import trace
from soak.energy import balance, of_wrenches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.ir.graph import Graph, Port
    from codegen.model import Model
    from soak.cases import Run

    Array = NDArray[np.float64]

ROUNDINGS = 100.0  # of the last digit, times the condition of what is solved
WORTH = {"float64": 1e-4, "float32": 0.1}  # where no more digits than these are left, a comparison says nothing
LEFT = 1e-13  # what proximal steps may leave of the first error
BALANCED = 1e-7  # of the energies and powers, what they may fail to balance
OPENED = 1e-5  # of squared rates, how fast loops may open
LARGE = 6000  # operations of a graph which is interpreted as written: passes take most of the time
CONTRADICTED = (
    1e-9  # of squared rates, what loops may fail to follow: some only seem to have the freedom that they have
)
OPEN = {"float64": 1e-12, "float32": 1e-5}  # residuals of `project` from here on say that its steps did not suffice
HONEST = 1e-3  # of such a residual, what it may be off
TRIES = 6  # states drawn for each that is regular
FEW = 1e-9  # residual at which compiled iterations stop
PRIMAL = ("constrained_aba", "aba_prox_stiff", "prox_ltls", "caba_osim", "caba_osimf", "caba_osim_swept", "pv_soft")


class State(NamedTuple):
    """A state: inputs by name, numbers of the model, the model with them, its spanning tree, the rows of its contacts.

    `unique` says that no row depends on others, `condition` how many digits what is solved may cost, `response` how
    large accelerations multipliers make.
    """

    inputs: dict[str, Array]
    parameters: dict[str, Array]
    model: Model
    robot: loops.Closed
    J: Array
    unique: bool
    condition: float
    response: float


class Outcome(NamedTuple):
    """What is wrong, in words (empty: nothing), and how many states were compared, balanced, too near singular."""

    trouble: str
    tally: Counter[str]


def judged(model: Model, run: Run) -> Outcome:
    """The outcome of a run; what is refused in one sentence (a RobotError) counts as such."""
    options, tally = run.options(model), Counter({"runs": 1})
    try:
        ports, _ = Task(model, run.algorithm, **options).signature
        states = _states(model, run, ports, options)
        tally["near singular"] += run.states - len(states)
        if not states:
            return Outcome("", tally)
        if run.derivative:
            return Outcome(_product(model, run, options, states, tally), tally)
        graph = _made(model, run, options)
    except RobotError as refusal:
        if not str(refusal) or "\n" in str(refusal):
            return Outcome(f"refused in other than one sentence: {refusal}", tally)
        return Outcome("", tally + Counter({"refused": 1}))
    given = [np.stack([state.inputs[name] for state in states]) for name in states[0].inputs]
    numbers = [
        np.stack([s.parameters[name] for s in states]) for name in run.parameters if name in states[0].parameters
    ]
    extra = [np.asarray(FEW), np.asarray(50.0)] if run.iterations is None and ALGORITHMS[run.algorithm].iterates else []
    wanted = [*given, *numbers, *extra]
    trouble = ""
    if run.compiled is None:
        trouble = _compared(run, states, _named(graph, interpret(graph, *wanted)), "float64", tally)
    else:
        wanted = [x.astype(run.compiled.dtype) for x in wanted]
        together = _named(graph, _tuple(graph(*wanted, threads=1 + run.seed % 2)))
        first = [*(x[0] for x in wanted[: len(wanted) - len(extra)]), *extra]
        alone = _named(graph, _tuple(graph(*first)))
        trouble = _compared(run, states, together, run.compiled.dtype, tally)
        single = {name: np.asarray(x)[None] for name, x in alone.items()}
        trouble = trouble or _compared(run, states[:1], single, run.compiled.dtype, tally)
    return Outcome(trouble, tally)


@dataclass(frozen=True, slots=True)
class Interpreted:
    """What is asked of a compiled function, by the interpreter."""

    graph: Graph
    outputs: tuple[Port, ...]
    dtype: str = "float64"

    @property
    def inputs(self) -> tuple[Port, ...]:
        return self.graph.inputs

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        return interpret(self.graph, *arrays)


def _product(model: Model, run: Run, options: dict[str, Any], states: Sequence[State], tally: Counter[str]) -> str:
    """What is wrong with a product of derivatives, by differences of the oracle."""
    task = Task(model, run.algorithm, **options, form=Form(run.derivative))  # type: ignore[arg-type]
    product = Product(Interpreted(traced(task), signature(task)[1]))  # type: ignore[arg-type]
    told = [state for state in states if state.unique]
    given = {"frames": run.frames, "external": run.external, "contacts": run.held(model) or None}

    def evaluate(state: Mapping[str, Array]) -> dict[str, Array]:
        found = _tuple(ORACLE[run.algorithm](model, *state.values(), **given))
        return dict(zip(ALGORITHMS[run.algorithm].outputs, map(np.asarray, found), strict=True))

    try:
        error = product_error(model, run.derivative, product, [x.inputs for x in told], evaluate, run.seed)  # type: ignore[arg-type]
    except RobotError:
        tally["near singular"] += len(states)
        return ""
    allowed = max(near(run.algorithm, run.derivative), *(_allowed(run, state.condition, "float64") for state in told))
    tally["products of derivatives"] += len(told)
    return "" if error <= allowed else f"{run.derivative} is {error:.2g} off, {allowed:.2g} allowed"


def _made(model: Model, run: Run, options: dict[str, Any]) -> Any:
    """The graph of a run, or the compiled function."""
    if run.compiled is not None:
        made = {name: getattr(run.compiled, name) for name in ("compiler", "dtype", "trig", "target")}
        return codegen.build(model, run.algorithm, **options, **made).with_status()
    written = trace(Task(model, run.algorithm, **options))
    return passes.run(written) if len(written.values) < LARGE else written


def _inputs(run: Run) -> tuple[str, ...]:
    return ALGORITHMS[run.algorithm].inputs


def _tuple(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def _named(graph: Any, found: Sequence[Any]) -> dict[str, Array]:
    """Results by names."""
    return {port.name: np.asarray(x) for port, x in zip(graph.outputs, found, strict=True)}


def _states(model: Model, run: Run, ports: Sequence[Port], options: dict[str, Any]) -> list[State]:
    """Regular states, as many as there are of those asked for; compiled single precision sees rounded ones."""
    single = run.compiled is not None and run.compiled.dtype == "float32"
    dtype = "float32" if single else "float64"
    drawn = {**options, "contacts": options["contacts"] or ()}
    found: list[State] = []
    for attempt in range(TRIES):
        names, values = arguments(model, _Inputs(ports), drawn, run.states, run.seed + attempt)  # type: ignore[arg-type]
        for n in range(run.states - len(found)):
            given = {name: value[n] for name, value in zip(names, values, strict=True)}
            if single:
                given = {name: value.astype(np.float32).astype(float) for name, value in given.items()}
            state = _state(model, run, given, options)
            if state is not None and _allowed(run, state.condition, dtype) <= WORTH[dtype]:
                found.append(state)
        if len(found) == run.states:
            break
    return found


class _Inputs(NamedTuple):
    """All that `arguments` asks of a function."""

    inputs: Sequence[Port]


def _state(model: Model, run: Run, given: dict[str, Array], options: dict[str, Any]) -> State | None:
    """The state of some arguments, unless it is too near a singular one."""
    numbers = {spec: given.pop(spec) for spec in run.parameters if spec in given and spec not in {*OPTIONAL, *BEHIND}}
    moved = with_parameters(model, numbers)
    q = next(iter(given.values()))
    try:
        if "guess" not in given and any(spec.startswith("offset:") for spec in numbers):
            q, left = loops.project(moved, q)
            if left > 1e-12:
                return None
            given[next(iter(given))] = q
        robot = loops.closed(moved, q)
        rates = robot.G @ given.get("v", np.ones(moved.nv))
        if robot.contradiction(rates) > CONTRADICTED * max(1.0, float(rates @ rates)):
            return None
        condition, unique = float(np.linalg.cond(np.vstack([robot.K, robot.P]))) ** 2, True
        entry, M, J, held = ALGORITHMS[run.algorithm], np.eye(1), np.zeros((0, model.nv)), 1.0
        if options["contacts"]:
            at = constrained.equations(moved, q, np.zeros(model.nv), contacts=options["contacts"])
            (held, unique), M, J = _held(run, at, given), at.M, at.J
        elif not {"M", "tau", "J", "position", "q1", "dv", "closed"} & {*entry.outputs}:
            M = robot.G.T @ dynamics.crba(robot.tree, robot.q) @ robot.G
        condition *= max(held, float(np.linalg.cond(M)))
        response = float(np.abs(np.linalg.solve(M, J.T)).max(initial=0.0)) if len(J) else 0.0
    except (np.linalg.LinAlgError, RobotError):
        return None
    return State(given, numbers, moved, robot, J, unique, condition, response) if np.isfinite(condition) else None


def _held(run: Run, at: constrained.Equations, given: Mapping[str, Array]) -> tuple[float, bool]:
    """The condition of what contacts add, infinite where states are not regular; whether multipliers, or what settles
    in derivatives, are unique.
    """
    entry = ALGORITHMS[run.algorithm]
    mu = float(given.get("mu", at.mu)) * np.asarray(given.get("weight", np.ones(len(at.J))))
    rows, regular = constrained.rank(at)
    W = constrained.delassus(at)
    eigenvalues = np.linalg.eigvalsh(np.sqrt(mu)[:, None] * W * np.sqrt(mu))
    held = eigenvalues[len(at.J) - rows :]
    condition = float(held.max(initial=1.0) / held.min(initial=held.max(initial=1.0))) if rows else 1.0
    stiff = np.asarray(given.get("R", np.full(len(at.J), 1.0 / at.mu))) if "R" in entry.inputs else 1.0 / mu
    if entry.name in PRIMAL:
        condition = max(condition, float(np.linalg.cond(at.M + at.J.T @ (at.J / stiff[:, None]))))
    single = run.compiled is not None and run.compiled.dtype == "float32"
    # pivots tell dependent rows, but in single precision not from rounding
    regular &= rows == len(at.J) or not single or entry.independent != "rows"
    settles = "lam0" not in entry.inputs or float((1.0 / (1.0 + held)).sum()) <= UNSETTLED
    if entry.group == "derivatives":  # of rows that contradict each other there are none, or few digits if soft
        return (condition if rows == len(at.J) else np.inf), settles
    if entry.group not in ("constrained", "frictional"):
        return (condition if entry.group != "damped" or regular else np.inf), True
    if "mu" in entry.inputs and run.iterations is not None:
        regular &= (1.0 + held.min(initial=np.inf)) ** -float(run.iterations) < LEFT
    return (condition if regular else np.inf), rows == len(at.J) or entry.name == "pv_soft"


def _allowed(run: Run, condition: float, dtype: str) -> float:
    """The relative error that is left to rounding."""
    base = ALGORITHMS[run.algorithm].tolerance.float64 if dtype == "float64" else 1e-4
    return max(base, _rounding(dtype) * condition)


def _rounding(dtype: str) -> float:
    """What arithmetic may lose in a result of size one."""
    return ROUNDINGS * float(np.finfo(dtype).eps)


def _compared(run: Run, states: Sequence[State], found: Mapping[str, Array], dtype: str, tally: Counter[str]) -> str:
    """What is wrong with the results at these states."""
    entry, singular = ALGORITHMS[run.algorithm], found.get("status")
    for n, state in enumerate(states):
        given = {"frames": run.frames, "external": run.external, "contacts": run.held(state.model) or None}
        own = {name: x for name, x in state.inputs.items() if name not in {*OPTIONAL, *BEHIND}}
        extra = {name: x for name, x in state.inputs.items() if name in {*OPTIONAL, *BEHIND}}
        if singular is not None and singular[n] != 0:
            if state.unique and entry.independent != "rows of limbs" and "q1" not in entry.outputs:
                return f"state {n}: status {singular[n]:g} at a regular state"
            tally["with a status"] += 1
            continue
        try:
            expected = ORACLE[run.algorithm](state.model, *own.values(), **given, parameters=extra)
        except RobotError:
            tally["near singular"] += 1
            continue
        allowed = _allowed(run, state.condition, dtype)
        if entry.name == "project" and not found["residual"][n] <= OPEN[dtype]:  # near a singular position, that is
            left = loops.project(state.model, found["closed"][n].astype(float), steps=0)[1]
            if not relative_error(found["residual"][n].astype(float), left) <= HONEST:
                return f"state {n}: residual says {found['residual'][n]:.2g}, but {left:.2g} is left"
            tally["left open, and said so"] += 1
            continue
        results = zip(entry.outputs, _tuple(expected), strict=True)
        for place, (name, theirs) in enumerate(results):
            if place and not state.unique:
                continue
            ours, theirs = found[name][n].astype(float), np.asarray(theirs, float)
            scale = max(1.0, float(np.abs(theirs).max(initial=0.0))) if entry.name in ("project", "integrate") else 0.0
            error = float(np.abs(ours - theirs).max(initial=0.0)) / scale if scale else relative_error(ours, theirs)
            if not state.unique and name == "a" and "lam" in found:  # they grow where rows contradict one another
                grown = state.response * float(np.abs(found["lam"][n]).max(initial=0.0))
                allowed = max(allowed, _rounding(dtype) * grown / float(np.abs(theirs).max(initial=1e-300)))
            if not error <= allowed and name == "a" and entry.group == "constrained":
                error = relative_error(ours, theirs, _unheld(run, state))  # what contacts take away may be all
            if not error <= allowed:
                return f"state {n}: {name} is {error:.2g} off, {allowed:.2g} allowed"
        tally["states"] += 1
        if (
            n == 0
            and dtype == "float64"
            and {"a", "tau"} & {*entry.outputs}
            and not entry.name.startswith(("approximate", "unconstrained"))
        ):
            trouble = _unbalanced(run, state, {name: x[n] for name, x in found.items()}, allowed)
            if trouble:
                return f"state {n}: {trouble}"
            tally["balances"] += 1
    return ""


def _unheld(run: Run, state: State) -> float:
    """The largest joint acceleration that there would be without contacts."""
    inputs = [state.inputs[name] for name in ALGORITHMS["aba"].inputs if name in state.inputs]
    return float(np.abs(ORACLE["aba"](state.model, *inputs, external=run.external)).max(initial=0.0))


def _unbalanced(run: Run, state: State, found: Mapping[str, Array], allowed: float) -> str:
    """What the balance of energy lacks, in words; nothing if it is kept."""
    known = {**state.inputs, **found}
    v, a, tau = (known[name] for name in ("v", "a", "tau"))
    at = balance(state.robot, v, a)
    powers = [*(tau * v)]
    if run.external:
        powers.append(of_wrenches(state.robot, v, run.external, known["f_ext"]))
    if "lam" in found:
        powers += [*(found["lam"] * (state.J @ v))]
    size = float(np.abs(powers).sum()) + at.size
    if at.opening > OPENED * max(1.0, np.sqrt(state.condition)):
        return f"loops open: {at.opening:.2g}"
    if not abs(at.gained - sum(powers)) <= max(BALANCED, 10.0 * allowed) * size:
        return f"energy gains {at.gained:.9g}, what acts does {sum(powers):.9g}, of {size:.3g}"
    return ""
