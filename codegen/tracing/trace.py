"""Tracing: what an algorithm makes of symbols, as expressions of CasADi's and as a graph."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from casadi import SX, Function, densify, reshape, sqrt, sumsqr, vec

from codegen.algorithms import BEHIND, QUANTITIES, concerning
from codegen.costs import CALLED
from codegen.errors import RobotError
from codegen.geometry import Inertia
from codegen.ir.graph import Graph, Port, from_casadi
from codegen.ir.products import WithProducts, straight_line
from codegen.ir.staging import NEXT, RESIDUAL, START, STATE
from codegen.lowering import ALL, Needs, Problem, Request, checked, lowered, restored
from codegen.lowering.column_loops import differs_in_vectors as robot_differs
from codegen.recursions.composition import INLINE, Called, Composition, Parts
from codegen.recursions.expansion import entries
from codegen.recursions.iteration import Iteration, flat
from codegen.recursions.plain_tree import PlainTree
from codegen.recursions.products import Result
from codegen.spatial import constant
from codegen.tracing.casadi_operators import direct_operators
from codegen.tracing.form import Form
from codegen.tracing.products import body, with_loops, with_products
from codegen.tracing.sharing import Sharing
from codegen.tracing.singular_inertia import light_links, unresisted, unsuited
from codegen.tracing.stages import Stages
from codegen.tracing.status import with_status
from codegen.tracing.task import Task, parameter_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codegen.algorithms.entry import Algorithm
    from codegen.model import Contact, Model
    from codegen.recursions.calls import Body
    from codegen.tracing.products import Kept


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
    symbols, kept = kept_of(task, called)
    given, ports = [*symbols, *kept.symbols], (*inputs, *kept.opened)
    return with_loops(read(task, given, ports, kept.matrices, kept.ports), kept, outputs)


def kept_of(
    task: Task, called: tuple[int, int] = CALLED, bodies: Callable[[Body], Graph] = body
) -> tuple[list[SX], Kept]:
    """Symbols of a task's arguments, and what its graph has to make of them; `bodies` reads graphs that are called."""
    inputs, outputs = task.signature
    symbols = symbols_of(inputs)
    parts = Sharing(symbols, called)
    results = results_or_products(task, symbols, loops=True, parts=parts)
    stages = Stages(tuple(symbols), inputs, parts.opened)
    return symbols, with_products(results, outputs, stages=stages, bodies=bodies)


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
        if task.algorithm != "crba":  # which divides by no inertia, and is what tells
            check_regular(task)
        raise


def check_regular(task: Task) -> None:
    """UnsuitedError where M is singular at every configuration, as joints can move without moving any inertia."""
    if joints := _unresisted(task.model, task.numbers):
        raise unsuited(task, joints) from None


@lru_cache(maxsize=32)
def _unresisted(model: Model, numbers: tuple[str, ...]) -> tuple[str, ...]:
    return unresisted(model, trace(Task(model, "crba", parameters=numbers))) if light_links(model) else ()


def results_or_products(
    task: Task, symbols: list[SX], *, loops: bool = False, parts: Parts = INLINE
) -> tuple[Result, ...]:
    """What the algorithm makes of these symbols, with its iterations unrolled; by `loops` over columns if they pay."""
    results = _run(task, symbols, loops=loops, parts=parts)
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
        return composed(task, symbols, partial(called, loops=loops, parts=parts), parts)
    columns = {port.name: x for port, x in zip(ports, symbols, strict=True)}
    by: dict[str, Any] = {"by": [columns[parameter_name(x)] for x in task.form.wrt]} if task.form.wrt else {}
    sparse = task.form.sparse and "da_dq" not in entry.outputs  # accelerations change with nearly everything
    problem = problem_of(task, symbols, loops=loops and not by and not sparse)
    run = (problem.by_columns and entry.by_columns) or entry.run
    how = {"parts": parts} if entry.divides and not by else {}
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
    parameters, loops = concerning(name, (task.algorithm,), task.parameters), task.small_vectors or _repeats(task)
    return replace(task, algorithm=name, parameters=parameters, form=Form(), small_vectors=loops)


def _repeats(task: Task) -> bool:
    """Whether a task calls derivatives of accelerations several times: what is multiplied then takes most of the time.

    All C has loops over columns for them: it is half as long, and as fast.
    """
    run = task.entry.run
    if not (isinstance(run, Composition) and run.divides):
        return False
    return any("da_dq" in replace(task, algorithm=name).entry.outputs for name in run.parts)


def called(task: Task, name: str, given: Mapping[str, SX], loops: bool = False, parts: Parts = INLINE) -> Called:
    """An algorithm that a task's own calls, as a function of arguments by name; others are those `given` to it.

    At these themselves it is made of `parts`, as the task is, elsewhere of those that it is told.
    """
    part = part_of(task, name)
    ports = part.signature[0]
    known: dict[type[Parts], tuple[list[SX], Parts, tuple[Result, ...]]] = {}

    def call(within: Parts = INLINE, **own: SX) -> tuple[Result, ...]:
        if all(port.name in given and own.get(port.name, given[port.name]) is given[port.name] for port in ports):
            return results_or_products(part, [given[port.name] for port in ports], loops=loops, parts=parts)
        kind = type(within)
        if kind not in known:
            symbols = symbols_of(ports)
            apart = within.apart(symbols)
            known[kind] = (symbols, apart, results_or_products(part, symbols, loops=loops, parts=apart))
        symbols, apart, results = known[kind]
        arguments = [vec(SX(own[port.name]).T) if port.name in own else given[port.name] for port in ports]
        return within.at(apart, results, symbols, arguments)

    return call


def differs_in_vectors(task: Task) -> bool:
    """Whether C with small vectors may have loops over columns for a task, and other C has none."""
    form = task.form
    sparse = form.sparse and not multiplied(task)
    plain = task.tier == "emitted" and not form.derivative and not form.wrt and not sparse
    plain = plain and not {ALL, "column_loops"} & {*task.without} and not _repeats(task)
    plain = plain and all(own.axes in ("", own.frame.name) for own in task.contacts or ())
    return plain and any(entry.by_columns for entry in _entries(task)) and robot_differs(task.model)


def multiplied(task: Task) -> bool:
    """Whether what loops over columns make is multiplied further: by the inverse of M."""
    return any("da_dq" in entry.outputs for entry in _entries(task))


def _entries(task: Task) -> list[Algorithm]:
    """The algorithm, or those that it is composed of."""
    run = task.entry.run
    return [part_of(task, name).entry for name in run.parts] if isinstance(run, Composition) else [task.entry]


def problem_of(task: Task, symbols: list[SX], *, loops: bool = False) -> Problem:
    """The problem that the algorithm runs on, lowered, for these symbols of its arguments; for `loops` over columns."""
    needs = task.entry.needs(task.parameters)
    needs = replace(needs, by_columns=needs.by_columns and loops, small_vectors=task.small_vectors)
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
