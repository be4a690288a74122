"""The graph: straight-line scalar code in single-assignment form, frozen, and its reading from CasADi.

Arrays at the border are flat and row-major (C order). `Graph -> Graph` is what every pass is; `verify` says
whether a graph is well formed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from codegen.errors import RobotError
from codegen.ir.operations import ARITY, CONST, INPUT, OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    import casadi

    from codegen.ir.pattern import Pattern


@dataclass(frozen=True, slots=True)
class Port:
    """One argument or result: its name, shape (row-major) and what it is (with units and frame).

    With a `pattern` it is the nonzeros of a matrix, and its shape is (number of nonzeros,).
    """

    name: str
    shape: tuple[int, ...]
    about: str = ""
    pattern: Pattern | None = None

    @property
    def size(self) -> int:
        """Number of scalars."""
        return math.prod(self.shape)

    def __str__(self) -> str:
        return f"{self.name}[{self.pattern or ', '.join(map(str, self.shape))}]"


STATUS = Port("status", (), "0, or how many directions were left out as singular here; also what the function returns")


NEW = tuple.__new__  # a named tuple without the call of the Python function that makes it


class Value(NamedTuple):
    """One scalar: an operation on earlier values, a constant, or an element of an input port.

    A named tuple: passes make and compare very many of them, and these are several times faster.
    """

    op: str
    args: tuple[int, ...] = ()
    constant: float = 0.0
    port: int = -1
    element: int = -1

    def __str__(self) -> str:
        if self.op == CONST:
            return repr(self.constant)
        if self.op == INPUT:
            return f"input {self.port}[{self.element}]"
        return f"{self.op}({', '.join(f'%{arg}' for arg in self.args)})"


@dataclass(frozen=True, slots=True, repr=False)
class Graph:
    """Straight-line code: `results[k][e]` is the index of the value that element e of output k takes.

    `labels`, if there are any, say of every value by a number what it is part of, as debug locations of compilers do:
    a pass gives the value that it makes the label of the value that it replaces, and takes no decision by labels.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    values: tuple[Value, ...]
    results: tuple[tuple[int, ...], ...]
    labels: tuple[int, ...] = ()

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, self.inputs))
        outputs = ", ".join(map(str, self.outputs))
        return f"<Graph {self.name}: ({inputs}) -> ({outputs}), {len(self.values)} values>"

    def uses(self) -> list[int]:
        """How often each value is used, by operations and results together."""
        used = chain(chain.from_iterable(map(itemgetter(1), self.values)), chain.from_iterable(self.results))
        uses: list[int] = np.bincount(np.fromiter(used, np.int64), minlength=len(self.values)).tolist()
        return uses

    def needed_by(self, ends: Iterable[int]) -> list[bool]:
        """Whether each value is one of the ends, or what one of them is computed from."""
        values, needed = self.values, [False] * len(self.values)
        for index in ends:
            needed[index] = True
        for index in range(len(values) - 1, -1, -1):
            if needed[index]:
                for arg in values[index].args:
                    needed[arg] = True
        return needed

    def read(self) -> tuple[range, ...]:
        """Of every input, the elements from the first to the last that anything uses."""
        ends = [(port.size, 0) for port in self.inputs]
        for value, uses in zip(self.values, self.uses(), strict=True):
            if value.op == INPUT and uses:
                first, last = ends[value.port]
                ends[value.port] = min(first, value.element), max(last, value.element + 1)
        return tuple(range(*pair) for pair in ends)


def verify(graph: Graph) -> Graph:
    """The same graph; ValueError if it is malformed in any way."""
    arity, sizes = ARITY.get, [port.size for port in graph.inputs]
    for index, (op, args, constant, port, element) in enumerate(graph.values):
        if arity(op) != len(args):
            raise ValueError(f"{graph.name}: value {index} ({op}{args}) is no operation with {len(args)} arguments")
        for arg in args:
            if not 0 <= arg < index:
                raise ValueError(f"{graph.name}: value {index} ({op}{args}) uses a value that is not there yet")
        if op == CONST and not math.isfinite(constant):
            raise ValueError(f"{graph.name}: value {index} is the constant {constant}")
        if op == INPUT and not (0 <= port < len(sizes) and 0 <= element < sizes[port]):
            raise ValueError(f"{graph.name}: value {index} (input {port}[{element}]) reads outside the inputs")
    if graph.labels and len(graph.labels) != len(graph.values):
        raise ValueError(f"{graph.name}: {len(graph.labels)} labels for {len(graph.values)} values")
    _verify_border(graph)
    return graph


def _verify_border(graph: Graph) -> None:
    names = [port.name for port in (*graph.inputs, *graph.outputs)]
    if len(set(names)) != len(names):
        raise ValueError(f"{graph.name}: two ports have the same name: {', '.join(names)}")
    if any(extent < 0 for port in (*graph.inputs, *graph.outputs) for extent in port.shape):
        raise ValueError(f"{graph.name}: a port has a negative extent")
    if [len(result) for result in graph.results] != [port.size for port in graph.outputs]:
        raise ValueError(f"{graph.name}: the results do not fill the outputs")
    count = len(graph.values)
    if any(not 0 <= index < count for result in graph.results for index in result):
        raise ValueError(f"{graph.name}: a result is no value of the graph")


def from_casadi(function: casadi.Function, inputs: tuple[Port, ...], outputs: tuple[Port, ...], name: str) -> Graph:
    """The graph of an SX function that was made with `{"live_variables": False}`.

    It has one dense column per input port and one column per output port; an element that the output's
    sparsity leaves out is zero. RobotError if it holds an operation that rigidc has no C for.
    """
    _match_ports(function, inputs, outputs, name)
    return verify(_Reader(function, inputs, outputs, name).read())


def _match_ports(function: casadi.Function, inputs: tuple[Port, ...], outputs: tuple[Port, ...], name: str) -> None:
    if not function.is_a("SXFunction"):
        raise RobotError(f"{name}: only a function of SX expressions can be read; expand it first")
    given = [[function.size_in(k) for k in range(function.n_in())]]
    given += [[function.size_out(k) for k in range(function.n_out())]]
    for shapes, ports, what in zip(given, (inputs, outputs), ("inputs", "outputs"), strict=True):
        if shapes != [(port.size, 1) for port in ports]:
            stated = ", ".join(map(str, ports))
            raise RobotError(f"{name}: the function's {what} {shapes} are not the columns of {stated}")
    if any(function.nnz_in(k) != port.size for k, port in enumerate(inputs)):
        raise RobotError(f"{name}: every input must be a dense column")


class _Reader:
    """Walks the instructions once; `at` maps CasADi's work vector, which every instruction extends, to values."""

    def __init__(
        self, function: casadi.Function, inputs: tuple[Port, ...], outputs: tuple[Port, ...], name: str
    ) -> None:
        self.function, self.inputs, self.outputs, self.name = function, inputs, outputs, name
        self.values: list[Value] = []
        self.at: list[int] = []
        self.results = [dict[int, int]() for _ in outputs]

    def read(self) -> Graph:
        f, at, values = self.function, self.at, self.values
        names, special = _opcodes()
        code, used = f.instruction_id, f.instruction_input
        for k in range(f.n_instructions()):
            opcode = code(k)
            name = names.get(opcode)
            if name is not None:
                at.append(len(values))
                values.append(NEW(Value, (name, tuple(map(at.__getitem__, used(k))), 0.0, -1, -1)))
            elif opcode == special["OP_INPUT"]:
                port, element = used(k)
                at.append(len(values))
                values.append(Value(INPUT, port=port, element=element))
            elif opcode == special["OP_CONST"]:
                at.append(len(values))
                values.append(Value(CONST, constant=self._finite(f.instruction_constant(k))))
            elif opcode == special["OP_OUTPUT"]:
                port, nonzero = f.instruction_output(k)
                self.results[port][nonzero] = at[used(k)[0]]
            elif opcode in (special["OP_ASSIGN"], special["OP_LIFT"]):
                at.append(at[used(k)[0]])
            else:
                raise RobotError(f"{self.name}: CasADi operation {_opcode_name(opcode)} cannot be generated")
        if len(at) != f.sz_w():
            raise ValueError(f"{self.name}: the function uses places of its work vector again; make it without them")
        return self._graph()

    def _finite(self, constant: float) -> float:
        if not math.isfinite(constant):
            raise RobotError(f"{self.name}: the expression holds the constant {constant}, which is not finite")
        return float(constant)

    def _graph(self) -> Graph:
        zero = -1
        results = []
        for k, port in enumerate(self.outputs):
            rows = self.function.sparsity_out(k).row()
            if len(rows) < port.size and zero < 0:
                zero = len(self.values)
                self.values.append(Value(CONST))
            result = [zero] * port.size
            for nonzero, index in self.results[k].items():
                result[rows[nonzero]] = index
            results.append(tuple(result))
        return Graph(self.name, self.inputs, self.outputs, tuple(self.values), tuple(results))


def _opcodes() -> tuple[dict[int, str], dict[str, int]]:
    import casadi

    names = {getattr(casadi, code): op.name for op in OPERATIONS.values() for code in op.opcodes}
    special = ("OP_INPUT", "OP_CONST", "OP_OUTPUT", "OP_ASSIGN", "OP_LIFT")
    return names, {code: getattr(casadi, code) for code in special}


def _opcode_name(opcode: int) -> str:
    import casadi

    found: list[Any] = [name for name in dir(casadi) if name.startswith("OP_") and getattr(casadi, name) == opcode]
    return str(found[0]) if found else str(opcode)
