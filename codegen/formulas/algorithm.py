"""An algorithm's graph as SymPy expressions: closed forms of small robots, or what the algorithm computes as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sympy import nan, zoo

from codegen.errors import RobotError, UnsuitedError
from codegen.formulas.expressions import Expressions
from codegen.formulas.meaning import evaluated
from codegen.formulas.numbers import with_floats
from codegen.formulas.symbols import expressions_of, symbols_of
from codegen.formulas.trigonometric import BY_ZERO, NoClosedForm, closed_forms
from codegen.ir.graph import STATUS
from codegen.lowering import ALL
from codegen.passes.dead import drop_dead
from codegen.pipeline import graphs
from codegen.progress import doing
from codegen.task.auto_select import resolved
from codegen.task.options import names_of, task_of

if TYPE_CHECKING:
    from codegen.ir.graph import Graph
    from codegen.model import Contact, Model

MOST_OPERATIONS = 100_000  # of expressions that share nothing


def symbolic(
    robot: Model,
    algorithm: str,
    *,
    parameters: Sequence[str] | Mapping[str, Any] = (),
    simplify: bool = True,
    rational: bool = False,
    frames: Sequence[str] = (),
    external: Sequence[str] = (),
    contacts: Sequence[Contact | str] | None = None,
    iterations: int = 3,
    without: Sequence[str] = (ALL,),
    tier: str = "written",
) -> Expressions:
    """SymPy expressions of one algorithm's outputs, with real symbols such as q_shoulder for its inputs.

    `parameters` are the numbers of the robot that stay symbols, as for `build`; a mapping gives expressions for their
    elements: {"inertia:arm": (m, l, 0, 0), "offset:elbow": (l, 0, 0), "gravity": (0, 0, -g)}, None for symbols. Four
    numbers of an inertia are the mass and place of a point. `simplify` makes closed forms: rational functions of
    symbols and of sines and cosines of sums of angles, factored where that is shorter. Terms below 1e-14 of the largest
    are taken for rounding. Without it, expressions are as the algorithm computes them. `rational` keeps fractions
    instead of floats: those of fewest digits that are the robot's numbers as doubles. The other options are those of
    `graphs`; by default no step of the lowering changes the robot, and no pass the graph.
    Divisors are taken for regular, and there is no status. UnsuitedError, in one sentence, if the graph is too large.
    """
    specs = names_of("parameters", [*parameters])
    given = dict(parameters) if isinstance(parameters, Mapping) else dict.fromkeys(specs)
    task = resolved(
        task_of(robot, algorithm, frames, external, specs, contacts, iterations, without=without, tier=tier)
    )
    with doing(f"{task.algorithm} of {robot.name} in SymPy"):
        written, emitted = graphs(task)
        return _expressions(robot, emitted if tier == "emitted" else written, given, simplify, rational)


def _expressions(
    robot: Model, graph: Graph, parameters: Mapping[str, Any], simplify: bool, rational: bool
) -> Expressions:
    """The expressions of a graph."""
    given = expressions_of(robot, parameters)
    inputs = tuple(port for port in graph.inputs if port.name not in given)
    symbols = symbols_of(robot, inputs, parameters)
    more = _parameters(given, symbols)
    graph, entries = _without_status(graph), [(symbols | given)[port.name] for port in graph.inputs]
    results = _computed(robot, graph, entries, simplify)
    if not rational:
        results = [tuple(map(with_floats, result)) for result in results]
    arguments = tuple(symbols[port.name] for port in inputs)
    return Expressions(graph.name, robot.name, inputs, graph.outputs, arguments, more, tuple(results))


def _parameters(given: Mapping[str, tuple[Any, ...]], symbols: Mapping[str, tuple[Any, ...]]) -> tuple[Any, ...]:
    """The symbols of given expressions, by names; RobotError if one is that of an argument."""
    found = {symbol for entries in given.values() for entry in entries for symbol in entry.free_symbols}
    twice = found.intersection(symbol for own in symbols.values() for symbol in own)
    if twice:
        raise RobotError(f"{min(map(str, twice))} is the symbol of an argument; choose another one for parameters")
    return tuple(sorted(found, key=str))


def _computed(robot: Model, graph: Graph, entries: Sequence[tuple[Any, ...]], simplify: bool) -> list[tuple[Any, ...]]:
    """The outputs of a graph, flat, at SymPy expressions; UnsuitedError if it is too large, or divides by zero."""
    inputs = {(k, e): entry for k, own in enumerate(entries) for e, entry in enumerate(own)}
    try:
        if simplify:
            return closed_forms(graph, inputs)
        if (size := written_out(graph)) > MOST_OPERATIONS:
            raise NoClosedForm(f"has {size:.1g} operations with nothing shared, more than {MOST_OPERATIONS:,}")
        results = evaluated(graph, inputs)
        if any(entry.has(nan, zoo) for result in results for entry in result):
            raise NoClosedForm(BY_ZERO)
        return results
    except NoClosedForm as why:
        mend = "; take a smaller robot" if why.large else ""
        if why.large and simplify and written_out(graph) <= MOST_OPERATIONS:
            mend = "; have it as the algorithm computes it by simplify=False"
        raise UnsuitedError(f"{robot.name}: {graph.name} as a formula {why}{mend}") from None


def written_out(graph: Graph) -> int:
    """How many operations the outputs have if every one is written out, and nothing is computed once for many uses."""
    sizes = list[int]()
    for value in graph.values:
        sizes.append(bool(value.args) + sum(sizes[arg] for arg in value.args))
    return sum(sizes[index] for result in graph.results for index in result)


def _without_status(graph: Graph) -> Graph:
    """The graph without its status."""
    kept = [(port, result) for port, result in zip(graph.outputs, graph.results, strict=True) if port != STATUS]
    return drop_dead(replace(graph, outputs=tuple(p for p, _ in kept), results=tuple(result for _, result in kept)))
