"""What to generate: a robot, an algorithm and its options; and its tracing into a graph."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from casadi import SX, Function, densify, reshape, sqrt, sumsqr, vec

from codegen.algorithms import ALGORITHMS, BEHIND, KNOWN, OPTIONAL, QUANTITIES, Algorithm, concerning, optional
from codegen.algorithms.published import PUBLISHED
from codegen.algorithms.regressor import NUMBERS
from codegen.costs import CALLED
from codegen.errors import RobotError, UnsuitedError
from codegen.geometry import Inertia
from codegen.ir.graph import Graph, Port, Value, from_casadi
from codegen.ir.names import identifier
from codegen.ir.operations import CONST
from codegen.ir.products import WithProducts, straight_line
from codegen.ir.staging import NEXT, RESIDUAL, START, STATE
from codegen.lowering import ALL, Needs, Problem, Request, checked, lowered, restored
from codegen.model.contacts import placed, whole_tips
from codegen.recursions.composition import INLINE, Called, Composition, Parts
from codegen.recursions.iteration import Iteration, flat
from codegen.recursions.plain_tree import PlainTree
from codegen.recursions.products import Result, entries, substituted
from codegen.spatial import constant
from codegen.tracing.casadi_operators import direct_operators
from codegen.tracing.form import Form
from codegen.tracing.products import with_loops, with_products
from codegen.tracing.sharing import Sharing
from codegen.tracing.stages import Stages
from codegen.tracing.status import with_status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codegen.model import Contact, Model

Tier = Literal["published", "written", "emitted"]
TIERS: tuple[Tier, ...] = ("published", "written", "emitted")

PARAMETERS = {"gravity": 3, "payload": 10, "inertia": 10, "offset": 3}
TARGETS = ("target_position", "target_rotation")
"""Arguments wherever gains need them."""

ALWAYS = ("q", "v", "a", "tau")
"""Arguments that functions of derivatives differentiate by in any case."""

ABOUT = {
    "gravity": "acceleration of free fall in world axes (m/s^2)",
    "payload": "payload [mass, com (3), Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the com] in frame {}",
    "inertia": "[mass, com (3), Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the com] of body {}, in its joint's frame",
    "offset": "origin of joint {} in its parent body (m)",
}


@dataclass(frozen=True, slots=True)
class Task:
    """One function to generate.

    `frames` are those of fk, jacobian and the like (default: the tips of the tree), `external` the frames that carry
    external wrenches, `parameters` the numbers left symbolic: `gravity`, `payload:FRAME`, `inertia:BODY`,
    `offset:JOINT`. `contacts` are the held frames (default: all six rows of every tip); what works on contacts refuses
    an empty tuple.
    `dtype` is the type of the numbers that it is going to be computed in, which decides how stiff contacts may be.
    `without` names the steps of the lowering (`codegen.lowering`) that are left out. `tier` says what becomes of the
    algorithm: `published` is the paper's listing over matrices, `written` ours after lowering, `emitted` with passes.
    `form` says what is given of its results.
    """

    model: Model
    algorithm: str
    frames: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    contacts: tuple[Contact, ...] | None = None
    iterations: int | None = 3
    dtype: str = "float64"
    without: tuple[str, ...] = ()
    tier: Tier = "emitted"
    form: Form = field(default_factory=Form)

    def __str__(self) -> str:
        return f"{self.name} of {self.model.name}"

    @property
    def name(self) -> str:
        """What the generated function is called."""
        return f"{self.algorithm}_{self.form.derivative}" if self.form.derivative else self.algorithm

    @property
    def request(self) -> str:
        """Everything that the generated text depends on, as text; but for its style, of which the type is part."""
        options = (self.algorithm, self.frames, self.external, self.parameters, self.contacts, self.iterations)
        which = f"{options!r} {self.without!r} {self.tier} {self.form}"
        return f"{self.model.name} {self.model.digest} {self.model.notes!r} {which}"

    @property
    def entry(self) -> Algorithm:
        """The algorithm's registry entry; RobotError if there is none of that name."""
        if self.algorithm not in KNOWN:
            known = ", ".join(ALGORITHMS)
            raise RobotError(f"there is no algorithm {self.algorithm!r}; the algorithms are {known}")
        return KNOWN[self.algorithm]

    @property
    def listing(self) -> Callable[..., Any]:
        """The paper's listing of the algorithm; RobotError if none states it."""
        if self.algorithm not in PUBLISHED:
            raise RobotError(f"no paper lists {self.algorithm!r}; as published there are {', '.join(PUBLISHED)}")
        return PUBLISHED[self.algorithm]

    @property
    def signature(self) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """The inputs and outputs of the algorithm."""
        entry = self.entry
        for name in self.parameters:
            if name in {*OPTIONAL, *BEHIND} and BEHIND.get(name, name) not in entry.inputs:
                raise RobotError(f"parameter {name!r}: {self.algorithm} has no such input; leave it out")
        if "target_velocity" in self.parameters and not self._gained("kd"):
            raise RobotError("parameter 'target_velocity': no contact has a gain kd; give one, or leave it out")
        behind = [name for name, changed in BEHIND.items() if changed in entry.inputs]
        inputs = [self._port(name) for name in (*entry.inputs, *behind) if self._is_argument(name)]
        others = [name for name in (*OPTIONAL, *BEHIND) if BEHIND.get(name, name) in entry.inputs]
        inputs += [parameter_port(self.model, spec, others) for spec in self.numbers]
        more = [self._derivative(y, x) for x in self._wrt(inputs) for y in entry.differentiates]
        return tuple(inputs), (*(self._port(name) for name in entry.outputs), *more)

    def _wrt(self, inputs: Sequence[Port]) -> list[Port]:
        """The arguments of `form.wrt`, of these; RobotError for others."""
        if self.form.wrt and not self.entry.differentiates:
            raise RobotError(
                f"wrt: {self.algorithm} gives no derivatives by arguments; take rnea_derivatives, aba_derivatives or "
                "those of an algorithm on contacts"
            )
        known = {port.name: port for port in inputs if port.name not in ALWAYS}
        for spec in self.form.wrt:
            if parameter_name(spec) not in known:
                others = f"others are {', '.join(known)}" if known else "there are no others"
                raise RobotError(f"wrt {spec!r}: this is no argument of {self.algorithm} besides the state; {others}")
        return [known[parameter_name(spec)] for spec in self.form.wrt]

    def _derivative(self, result: str, by: Port) -> Port:
        """What the derivative of a result by an argument is."""
        about = QUANTITIES[result].about.partition(":")[0]
        return Port(f"d{result}_d{by.name}", (*self._port(result).shape, *by.shape), f"{about} by {by.name}")

    def chosen_frames(self) -> tuple[str, ...]:
        """The frames asked for, or the tips of the tree."""
        return self.frames or self.model.tips

    def chosen_contacts(self) -> tuple[Contact, ...]:
        """The contacts asked for, or all six rows of every tip; RobotError for an empty list of them."""
        if self.contacts is None:
            return whole_tips(self.model)
        if not self.contacts:
            raise RobotError(
                f"{self.model.name}: {self.algorithm} works on contacts, and the list of them is empty; take aba, "
                "which holds nothing, or leave contacts out, which holds every tip"
            )
        return self.contacts

    def _is_argument(self, name: str) -> bool:
        if name == "f_ext":
            return bool(self.external)
        if name in TARGETS:
            drawn = self._gained("kp")
            return any(contact.turns or name == "target_position" for contact in drawn)
        return name not in {*OPTIONAL, *BEHIND} or name in self.parameters

    def _gained(self, gain: str) -> tuple[Contact, ...]:
        """The contacts that have a gain `kp` or `kd`."""
        given = gain in self.parameters
        return tuple(contact for contact in self.chosen_contacts() if given or getattr(contact, gain))

    @property
    def optional(self) -> dict[str, float]:
        """The numbers that stand for inputs that are no arguments."""
        return optional(self.model, self.dtype)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The parameters that are numbers of the model, not optional inputs of the algorithm."""
        return tuple(spec for spec in self.parameters if spec not in {*OPTIONAL, *BEHIND})

    def _port(self, name: str) -> Port:
        quantity = QUANTITIES[name]
        shape = tuple(self._size(width) if isinstance(width, str) else width for width in quantity.shape)
        along = next((names for width in quantity.shape if (names := self._names(width))), ())
        return Port(name, shape, f"{quantity.about}; {', '.join(along)}" if along else quantity.about)

    def _size(self, width: str) -> int:
        """How long an argument is along an axis of this name."""
        sizes = {"nq": self.model.nq, "nv": self.model.nv, "nx": 2 * self.model.nv}
        if width in sizes:
            return sizes[width]
        if width == "contacts":
            return sum(len(contact.rows) for contact in self.chosen_contacts())
        return (NUMBERS if width == "parameters" else 1) * len(self._names(width))

    def _names(self, width: str | int) -> tuple[str, ...]:
        """The frames or contacts along an axis of an argument."""
        if width == "contacts":
            return tuple(f"{contact.frame.name} {place}" for place, contact in placed(self.chosen_contacts()))
        if width == "held":
            return tuple(contact.frame.name for contact in self.chosen_contacts())
        bodies = tuple(body.name for body in self.model.bodies)
        along = {"frames": self.chosen_frames(), "external": self.external, "parameters": bodies}
        return along.get(str(width), ())


def parameter_port(model: Model, spec: str, others: Sequence[str] = ()) -> Port:
    """The argument of one symbolic parameter; RobotError if it names nothing in the model, nor one of `others`."""
    kind, colon, target = spec.partition(":")
    if kind not in PARAMETERS or (kind == "gravity") == bool(colon):
        more = (name for name in others if name not in TARGETS)
        *names, last = ("gravity", "payload:FRAME", "inertia:BODY", "offset:JOINT", *more)
        raise RobotError(f"parameter {spec!r}: write {', '.join(names)} or {last}")
    if kind == "payload":
        model.frame(target)
    if kind == "inertia" and target not in {body.name for body in model.bodies}:
        raise RobotError(f"parameter {spec!r}: {model.name} has no moving body {target!r}")
    if kind == "offset" and target not in model.joint_names:
        raise RobotError(f"parameter {spec!r}: {model.name} has no joint {target!r}")
    return Port(parameter_name(spec), (PARAMETERS[kind],), ABOUT[kind].format(repr(target)))


def parameter_name(spec: str) -> str:
    """What the argument of a parameter is called."""
    kind, _, target = spec.partition(":")
    return f"{kind}_{identifier(target)}" if target else kind


def trace(task: Task) -> Graph:
    """The algorithm's own graph as written, specialised to the model; an iterative one with its iterations unrolled.

    `codegen.tracing.directional.traced` makes that of the form that a task asks for.
    """
    return straight_line(trace_products(task))


@direct_operators()
def trace_products(task: Task, called: tuple[int, int] = CALLED) -> Graph | WithProducts:
    """The same, with large products of matrices kept as such, and calls of parts that have so many operations.

    The second number is that of parts without matrices.
    """
    inputs, outputs = task.signature
    symbols = symbols_of(inputs)
    parts = INLINE if task.form.sparse else Sharing(symbols, called)
    results = results_or_products(task, symbols, loops=True, parts=parts)
    kept = with_products(results, outputs, stages=Stages(tuple(symbols), inputs, parts.opened))
    given, ports = [*symbols, *kept.symbols], (*inputs, *kept.opened)
    return with_loops(read(task, given, ports, kept.matrices, kept.ports), kept, outputs)


def symbols_of(ports: Sequence[Port]) -> list[SX]:
    """One column of symbols per argument."""
    return [SX.sym(port.name, port.size) for port in ports]


def results_of(task: Task, symbols: list[SX]) -> tuple[SX, ...]:
    """What the algorithm makes of these symbols, entry by entry; with its iterations unrolled."""
    return entries(results_or_products(task, symbols))


@direct_operators()
def trace_iteration(task: Task) -> Graph:
    """The graph of an iterative algorithm for any number of iterations, as `codegen.ir.staging.staged` takes it."""
    inputs, outputs = task.signature
    symbols = symbols_of(inputs)
    iteration = _run(task, symbols)
    if not isinstance(iteration, Iteration):
        raise RobotError(f"{task.algorithm} does not iterate; leave out the number of iterations")
    column = SX.sym(STATE, iteration.state.size1())
    state = iteration.named(column)
    lack = sqrt(sumsqr(iteration.residual(*state)))  # a norm that does not lose a NaN, as a maximum would
    size = column.size1()
    results = (iteration.state, flat(iteration.step(*state)), lack, *iteration.finish(*state))
    ports = (Port(START, (size,)), Port(NEXT, (size,)), Port(RESIDUAL, (1,)), *outputs)
    return read(task, [*symbols, column], (*inputs, Port(STATE, (size,))), results, ports)


@direct_operators()
def casadi_function(task: Task, *, dense: bool = True) -> Function:
    """The algorithm as a function of CasADi's, as written or as published: columns, matrices row by row.

    Results are `dense`, or without their structural zeros.
    """
    symbols = symbols_of(task.signature[0])
    made = results_of(task, symbols)
    return expression(task, symbols, [SX(densify(x)) for x in made] if dense else made)


def expression(task: Task, symbols: list[SX], results: Sequence[SX]) -> Function:
    """Results as a function of symbols, matrices row by row."""
    return Function(task.name, symbols, [vec(result.T) for result in results], {"live_variables": False})


def read(
    task: Task, symbols: list[SX], inputs: tuple[Port, ...], results: Sequence[SX], outputs: tuple[Port, ...]
) -> Graph:
    """The graph of results on symbols, with its status; UnsuitedError where a joint meets no inertia."""
    traced = expression(task, symbols, results)
    try:
        return with_status(from_casadi(traced, inputs, outputs, task.name))
    except RobotError:
        if still := _weightless(task):
            others = f" (with {len(still) - 1} more)" if len(still) > 1 else ""
            raise UnsuitedError(
                f"{task.model.name}: {task.algorithm} divides by the inertia that each joint meets, and joint "
                f"{still[0]!r}{others} meets none; give what it moves mass or a moment of inertia, give the joint "
                "armature, or fix it"
            ) from None
        raise


def _weightless(task: Task) -> list[str]:
    """The joints that meet no inertia at any configuration: zeros on the diagonal of M."""
    if task.algorithm == "crba":
        return []
    felt, nv = trace(Task(task.model, "crba", parameters=task.numbers)), task.model.nv
    light = {i for i in range(nv) if felt.values[felt.results[0][i * (nv + 1)]] == Value(CONST)}
    parts = zip(task.model.joint_names, task.model.v_slices, strict=True)
    return [name for name, part in parts if light & {*range(part.start, part.stop)}]


def results_or_products(
    task: Task, symbols: list[SX], *, loops: bool = False, parts: Parts = INLINE
) -> tuple[Result, ...]:
    """What the algorithm makes of these symbols, with its iterations unrolled; by `loops` over columns if they pay."""
    results = _run(task, symbols, loops=loops and not task.form.sparse, parts=parts)
    if isinstance(results, Iteration):
        results = results.unrolled(task.iterations or 1)
    return results if isinstance(results, tuple) else (results,)


def _run(task: Task, symbols: list[SX], *, loops: bool = False, parts: Parts = INLINE) -> Any:
    """What the algorithm returns on these symbols, by `loops` over columns if that is worth it."""
    entry, (ports, outputs) = task.entry, task.signature
    if task.tier == "published":
        problem = lowered(stated(task, Needs(rotors=entry.declares.rotors), ports, symbols), checked([ALL]))
        given = [problem.arguments[name] for name in entry.inputs[1:]]
        return restored(problem, entry.outputs, task.listing(PlainTree.of(problem.built), *given))
    if isinstance(entry.run, Composition):
        return composed(task, symbols, partial(called, loops=loops), parts)
    columns = {port.name: x for port, x in zip(ports, symbols, strict=True)}
    by: dict[str, Any] = {"by": [columns[parameter_name(x)] for x in task.form.wrt]} if task.form.wrt else {}
    problem = problem_of(task, symbols, loops=loops and not by)
    run = (problem.by_columns and entry.by_columns) or entry.run
    how = {"parts": parts} if entry.divides else {}
    results = run(problem.built, *(problem.arguments[name] for name in entry.takes), **by, **how)
    return restored(problem, [port.name for port in outputs], results)


def composed(
    task: Task,
    symbols: Sequence[SX],
    call: Callable[[Task, str, Mapping[str, SX]], Called],
    parts: Parts = INLINE,
) -> Any:
    """What a composition returns on these symbols, of parts as `call` makes them."""
    own = {port.name: x for port, x in zip(task.signature[0], symbols, strict=True)}
    run = task.entry.run
    assert isinstance(run, Composition)
    return run(parts, *(call(task, name, own) for name in run.parts), *(own[name] for name in run.takes))


def part_of(task: Task, name: str) -> Task:
    """An algorithm that a task's own calls, as a task."""
    return replace(task, algorithm=name, parameters=concerning(name, (task.algorithm,), task.parameters), form=Form())


def called(task: Task, name: str, given: Mapping[str, SX], loops: bool = False) -> Called:
    """An algorithm that a task's own calls, as a function of arguments by name; others are those `given` to it."""
    part = part_of(task, name)
    ports = part.signature[0]
    symbols = symbols_of(ports)
    results = results_or_products(part, symbols, loops=loops)

    def call(**own: SX) -> tuple[Result, ...]:
        arguments = [vec(SX(own[port.name]).T) if port.name in own else given[port.name] for port in ports]
        return substituted(results, symbols, arguments)

    return call


def problem_of(task: Task, symbols: list[SX], *, loops: bool = False) -> Problem:
    """The problem that the algorithm runs on, lowered, for these symbols of its arguments; for `loops` over columns."""
    needs = task.entry.needs(task.parameters)
    needs = needs if loops else replace(needs, by_columns=False)
    return lowered(stated(task, needs, task.signature[0], symbols), task.without)


def stated(
    task: Task,
    needs: Needs,
    ports: Sequence[Port],
    symbols: Sequence[SX],
    solution: Mapping[str, SX] | None = None,
) -> Problem:
    """What the user states: the robot at symbolic coordinates, and the algorithm's other arguments; and a solution."""
    entry, numbers = task.entry, task.numbers
    sizes = {width for name in (*entry.inputs, *entry.outputs) for width in QUANTITIES[name].shape}
    contacts = task.chosen_contacts() if "contacts" in sizes else ()
    m, bodies = sum(len(contact.rows) for contact in contacts), tuple(body.name for body in task.model.bodies)
    defaults = {name: value * SX.ones(1 if name == "mu" else m) for name, value in task.optional.items()}
    gains = {name: gains_of(contacts, name) for name in ("kp", "kd")}
    given = {port.name: shaped(x, port.shape) for x, port in zip(symbols, ports, strict=True)}
    given = {"f_ext": SX(0, 6), **defaults, **gains, **given}
    return Problem(
        request=Request(
            needs=needs,
            frames=task.chosen_frames() if "frames" in sizes else bodies if "parameters" in sizes else (),
            external=task.external,
            numbers=dict(zip(numbers, symbols[len(symbols) - len(numbers) :], strict=True)),
        ),
        model=_without_inertias(task.model, numbers),
        q=given[entry.inputs[0]],
        arguments={
            **{name: x for name, x in given.items() if BEHIND.get(name, name) in entry.inputs[1:]},
            **(solution or {}),
        },
        contacts=contacts,
    )


def _without_inertias(model: Model, numbers: Sequence[str]) -> Model:
    """The model whose bodies of which the inertia is an argument have none of their own."""
    given = {spec.removeprefix("inertia:") for spec in numbers if spec.startswith("inertia:")}
    bodies = (replace(body, inertia=Inertia()) if body.name in given else body for body in model.bodies)
    return replace(model, bodies=tuple(bodies)) if given else model


def gains_of(contacts: Sequence[Contact], name: str) -> SX:
    """The numbers kp or kd of the contacts' rows (m)."""
    gains = [getattr(contact, name) or (0.0,) * len(contact.rows) for contact in contacts]
    return constant([gain for own in gains for gain in own])


def shaped(column: SX, shape: tuple[int, ...]) -> SX:
    """A flat row-major column as a matrix whose columns are the last axis."""
    return column if len(shape) < 2 else reshape(column, shape[-1], column.size1() // shape[-1]).T
