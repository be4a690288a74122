"""The status of a result: how many directions were left out because a matrix to invert was singular.

`codegen.spatial` adds HUGE to a divisor that vanishes, HUGE times a test, or flags a number by one. Wherever a result
depends on such a test, the graph gets one more output, the number of those that are true: 0 says that all was regular.
What depends on none cannot fail, and has no status. A divisor that vanishes whatever the state may be has become the
number HUGE itself.
"""

from __future__ import annotations

from codegen.ir.graph import STATUS, Graph, Value, verify
from codegen.ir.operations import CONST
from codegen.spatial.solve import HUGE


def with_status(graph: Graph) -> Graph:
    """The graph with its status as last output, if a result depends on a divisor that may vanish."""
    tests = _tests(graph)
    if not tests:
        return graph
    values, status = [*graph.values, Value(CONST, constant=1.0)], tests[0]
    for test in tests[1:]:
        values.append(Value("add", (status, test)))
        status = len(values) - 1
    return verify(Graph(graph.name, graph.inputs, (*graph.outputs, STATUS), tuple(values), (*graph.results, (status,))))


def _tests(graph: Graph) -> list[int]:
    """The tests that results depend on, in order, of equal ones the first; one that is always true comes after all."""
    values = graph.values
    if not any(_huge(value) for value in values):
        return []
    living = graph.needed_by([index for result in graph.results for index in result])
    found: dict[int, None] = {}
    known: dict[Value, int] = {}
    first: list[int] = []
    for index, value in enumerate(values):
        args = tuple([first[arg] for arg in value.args])
        first.append(known.setdefault(value if args == value.args else value._replace(args=args), index))
        if living[index] and _huge(value) and _divides(graph, index):
            found[len(values)] = None
        if living[index] and value.op == "mul":
            huge, test = sorted(args, key=lambda arg: values[arg].op != CONST)
            if _huge(values[huge]):
                found[test] = None
    return list(found)


def _huge(value: Value) -> bool:
    """Whether a value is the number HUGE."""
    return value.op == CONST and value.constant == HUGE


def _divides(graph: Graph, index: int) -> bool:
    """Whether a value is a divisor."""
    return any(
        (value.op == "div" and value.args[1] == index) or (value.op == "inv" and value.args[0] == index)
        for value in graph.values
    )
