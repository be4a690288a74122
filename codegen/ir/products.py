"""A graph with products of matrices behind it: results that loops compute from others, and from matrices kept for them.

Results may also be chosen elements of such a matrix: its nonzeros, or its transpose.

`expanded` says what that means as straight-line code, and with it how many operations it takes. Structural zeros are
multiplied by nothing there; loops may multiply those that fill up a tile.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.block_matrix import CopiedMatrix
from codegen.ir.calls import GraphCall
from codegen.ir.factors import FactoredMatrix, Substitution
from codegen.ir.graph import Graph, Port, Value, verify
from codegen.ir.maps import GraphMap
from codegen.ir.operations import CONST, INPUT
from codegen.ir.systems import SolvedSystem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Pattern = NDArray[np.bool_]


TILE = 8
"""Columns of a right factor that loops take at a time."""

VECTOR = 4
"""Numbers of a small vector."""


@dataclass(frozen=True, slots=True)
class Term:
    """left @ right (left' if `transposed`), each by the name of its port."""

    left: str
    right: str
    transposed: bool = False

    def __str__(self) -> str:
        return f"{self.left}{chr(39) if self.transposed else ''} @ {self.right}"

    def renamed(self, now: Callable[[str], str]) -> Term:
        """The same with other names of ports."""
        return replace(self, left=now(self.left), right=now(self.right))

    def factors(self, known: Mapping[str, Pattern], size: tuple[int, ...]) -> tuple[Pattern, Pattern]:
        """Where the factors of a product of this size, as they are multiplied, may differ from zero.

        Their rows may be longer (`codegen.ir.padded`).
        """
        left, right = known[self.left], known[self.right]
        left = left.T if self.transposed else left
        return left[: size[0], : len(right)], right[:, : size[1]]

    def steps(self, stored: int) -> tuple[int, int]:
        """From row to row of the left factor, as it is multiplied, and along one: its rows are of so many numbers."""
        return (1, stored) if self.transposed else (stored, 1)


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """port = plus + left @ right (left' if `transposed`) and `more` terms, each by the name of its port.

    Of a `symmetric` one, the upper triangle is computed; the rest are copies. One that goes `onto` what it adds to
    shares the array of that.
    """

    port: Port
    left: str
    right: str
    plus: str = ""
    transposed: bool = False
    symmetric: bool = False
    more: tuple[Term, ...] = ()
    onto: bool = False

    def __str__(self) -> str:
        return f"{self.port} = {self.plus + ' + ' if self.plus else ''}{' + '.join(map(str, self.terms))}"

    @property
    def terms(self) -> tuple[Term, ...]:
        """What is added up, in order."""
        return (Term(self.left, self.right, self.transposed), *self.more)

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of what it takes."""
        factors = tuple(name for term in self.terms for name in (term.left, term.right))
        return (*factors, self.plus) if self.plus else factors

    def of(self, plus: str, terms: Sequence[Term]) -> MatrixProduct:
        """The same port as a sum of these."""
        first, *more = terms
        return replace(
            self, plus=plus, left=first.left, right=first.right, transposed=first.transposed, more=tuple(more)
        )

    def renamed(self, now: Callable[[str], str]) -> MatrixProduct:
        """The same with other names of ports."""
        own = replace(self, port=replace(self.port, name=now(self.port.name)))
        return own.of(self.plus and now(self.plus), [term.renamed(now) for term in self.terms])

    def pattern(self, known: Mapping[str, Pattern]) -> Pattern:
        """Where it may differ from zero."""
        factors = (term.factors(known, self.port.shape) for term in self.terms)
        found: Pattern = np.any([left @ right for left, right in factors], axis=0)
        found |= known[self.plus][:, : self.port.shape[1]] if self.plus else False
        return np.triu(found) | np.triu(found).T if self.symmetric else found


@dataclass(frozen=True, slots=True)
class MaskedPart:
    """left @ right (left' if `transposed`), each by the name of its port, at some places: (row, start, stop) each."""

    left: str
    right: str
    runs: tuple[tuple[int, int, int], ...]
    transposed: bool = False

    def __str__(self) -> str:
        return f"{self.left}{chr(39) if self.transposed else ''} @ {self.right} in {len(self.runs)} runs"

    def factors(self, known: Mapping[str, Pattern]) -> tuple[Pattern, Pattern]:
        """Where the factors, as they are multiplied, may differ from zero; their rows may be longer."""
        left, right = known[self.left], known[self.right]
        return (left.T if self.transposed else left)[:, : len(right)], right

    def steps(self, stored: int) -> tuple[int, int]:
        """From row to row of the left factor, as it is multiplied, and along one: its rows are of so many numbers."""
        return (1, stored) if self.transposed else (stored, 1)


@dataclass(frozen=True, slots=True)
class MaskedMatrixProduct:
    """port = entry by entry the product of the part that has the entry among its runs, elsewhere zero.

    Of a `symmetric` one, runs are of the upper triangle; the rest are copies.
    """

    port: Port
    parts: tuple[MaskedPart, ...]
    symmetric: bool = False

    def __str__(self) -> str:
        return f"{self.port} = {' or '.join(map(str, self.parts))}"

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of what it takes."""
        return tuple(name for part in self.parts for name in (part.left, part.right))

    def renamed(self, now: Callable[[str], str]) -> MaskedMatrixProduct:
        """The same with other names of ports."""
        parts = tuple(replace(part, left=now(part.left), right=now(part.right)) for part in self.parts)
        return replace(self, port=replace(self.port, name=now(self.port.name)), parts=parts)

    def pattern(self, known: Mapping[str, Pattern]) -> Pattern:
        """Where it may differ from zero."""
        found = np.zeros(self.port.shape, bool)
        for part in self.parts:
            left, right = part.factors(known)
            product = left @ right
            for row, start, stop in part.runs:
                found[row, start:stop] = product[row, start:stop]
        return found | found.T if self.symmetric else found


AnyProduct = (
    MatrixProduct | MaskedMatrixProduct | CopiedMatrix | SolvedSystem | FactoredMatrix | Substitution | GraphCall
)


def made_by(step: AnyProduct | GraphMap) -> tuple[Port, ...]:
    """What a step makes, the arrays that it works in with it."""
    return step.ports if isinstance(step, SolvedSystem | FactoredMatrix | GraphCall | GraphMap) else (step.port,)


def names_taken(step: AnyProduct | GraphMap) -> tuple[str, ...]:
    """The names of the matrices that a step takes."""
    return step.names if isinstance(step, GraphMap) else step.takes


@dataclass(frozen=True, slots=True)
class Gather:
    """port = the elements at these places, counted row by row, of the matrix of a port's name."""

    port: Port
    source: str
    places: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.port} out of {self.source}"


@dataclass(frozen=True, slots=True)
class WithProducts:
    """`graph` makes some of the `outputs` and what loops take: `maps`, `products` and `gathers` make the others."""

    graph: Graph
    products: tuple[AnyProduct, ...]
    outputs: tuple[Port, ...]
    gathers: tuple[Gather, ...] = ()
    maps: tuple[GraphMap, ...] = ()

    def __str__(self) -> str:
        inputs, outputs = (", ".join(map(str, ports)) for ports in (self.inputs, self.outputs))
        loops = f"{len(self.maps) + len(self.products)} loops"
        gathers = f" and {len(self.gathers)} gathers" if self.gathers else ""
        return f"{self.graph.name}: ({inputs}) -> ({outputs}), {len(self.graph.values)} values, {loops}{gathers}"

    @property
    def inputs(self) -> tuple[Port, ...]:
        """What the graph takes."""
        return self.graph.inputs

    @property
    def kept(self) -> tuple[Port, ...]:
        """What the graph, maps and products make that is no output."""
        made = (*self.graph.outputs, *(port for own in (*self.maps, *self.products) for port in made_by(own)))
        return tuple(port for port in made if port not in self.outputs)

    @property
    def ports(self) -> tuple[Port, ...]:
        """What the graph takes and makes."""
        return (*self.graph.inputs, *self.graph.outputs)

    def read(self) -> tuple[range, ...]:
        """Of every input, the elements from the first to the last that anything uses."""
        taken = {name for own in self.products for name in own.takes}
        own = zip(self.inputs, self.graph.read(), strict=True)
        return tuple(range(port.size) if port.name in taken else used for port, used in own)

    @property
    def called(self) -> tuple[Graph, ...]:
        """The graphs that are called, each once."""
        calls = (product.graph for product in self.products if isinstance(product, GraphCall))
        return tuple({id(graph): graph for graph in calls}.values())

    @property
    def length(self) -> int:
        """Values of the graph and of those that are called, each once."""
        return sum(len(graph.values) for graph in (self.graph, *self.called))

    @property
    def steps(self) -> Iterator[GraphMap | AnyProduct]:
        """Maps and products, each after what it takes."""
        waiting: list[GraphMap | AnyProduct] = [*self.maps, *self.products]
        missing = {port.name for own in waiting for port in made_by(own)}
        while waiting:
            later = list[GraphMap | AnyProduct]()
            for own in waiting:
                if missing & {*names_taken(own)}:
                    later.append(own)
                    continue
                missing -= {port.name for port in made_by(own)}
                yield own
            waiting = later

    def after(self, step: Callable[[Graph], Graph]) -> WithProducts:
        """The same after a step on the graph, on those that are called, and on the kernels of maps."""
        called = {id(graph): step(graph) for graph in self.called}
        products = tuple(
            replace(own, graph=called[id(own.graph)]) if isinstance(own, GraphCall) else own for own in self.products
        )
        maps = tuple(own.after(step) for own in self.maps)
        return replace(self, graph=step(self.graph), products=products, maps=maps)

    def renamed(self, names: Mapping[str, str]) -> WithProducts:
        """The same with other names of ports that the graph and the products make."""

        def now(ports: Iterable[Port]) -> tuple[Port, ...]:
            return tuple(replace(port, name=names.get(port.name, port.name)) for port in ports)

        graph = replace(self.graph, outputs=now(self.graph.outputs))
        products = tuple(own.renamed(lambda name: names.get(name, name)) for own in self.products)
        maps = tuple(own.renamed(lambda name: names.get(name, name)) for own in self.maps)
        return replace(self, graph=graph, products=products, outputs=now(self.outputs), maps=maps)

    def patterns(self) -> dict[str, Pattern]:
        """Where the matrices that the graph and the products make may differ from zero, by their ports' names."""
        graph, zero = self.graph, Value(CONST)
        known = {port.name: np.ones((port.size, 1), bool) for port in self.inputs}
        known |= {
            port.name: np.array([graph.values[index] != zero for index in result], bool).reshape(port.shape)
            for port, result in zip(graph.outputs, graph.results, strict=True)
            if len(port.shape) == 2
        }
        for own in self.steps:
            if isinstance(own, GraphMap):
                known |= own.laid([np.ones(len(result), bool) for result in own.kernel.results])
            elif isinstance(own, GraphCall | FactoredMatrix | SolvedSystem):
                known |= own.patterns()
            else:
                known[own.port.name] = own.pattern(known)
        return known


def straight_line(function: Graph | WithProducts) -> Graph:
    """A function as straight-line code, if it is not."""
    return expanded(function) if isinstance(function, WithProducts) else function


def expanded(blocked: WithProducts) -> Graph:
    """The same function as straight-line code."""
    graph = blocked.graph
    values, labels = [*graph.values, Value(CONST)], [*graph.labels, *graph.labels[-1:]]
    zero = len(values) - 1
    known = {port.name: result for port, result in zip(graph.outputs, graph.results, strict=True)}
    shapes = {port.name: port.shape for port in graph.outputs}
    known |= _inputs(blocked, values)
    labels += labels[-1:] * (len(values) - len(labels))
    for product in blocked.steps:
        shapes |= {port.name: port.shape for port in made_by(product)}
        if isinstance(product, GraphMap):
            known |= product.entries(values, zero, known)
            labels += [product.label] * (len(values) - len(labels)) if labels else []
            continue
        if isinstance(product, GraphCall):
            known |= product.entries(values, known)
            labels += product.labels if labels else []
            continue
        if isinstance(product, MaskedMatrixProduct):
            known[product.port.name] = _masked(values, labels, zero, product, known, shapes)
        elif isinstance(product, FactoredMatrix):
            known |= product.entries(values, zero, known)
            _label(values, labels, zero, known[product.matrix])
        elif isinstance(product, Substitution):
            known[product.port.name] = product.entries(values, zero, known)
            right = [index for index in known.get(product.right, ()) if values[index].op != INPUT]
            _label(values, labels, zero, right or known[product.factors])
        elif isinstance(product, SolvedSystem):
            known |= product.entries(values, zero, known)
            _label(values, labels, zero, known[product.right])
        elif isinstance(product, CopiedMatrix):
            known[product.port.name] = tuple(product.entries(zero, known, shapes))
        else:
            entries = _first_columns(product, known, shapes) if product.plus else [zero] * product.port.size
            for term in product.terms:
                entries = _entries(values, zero, product, term, entries, known, shapes)
                _label(values, labels, zero, known[term.right])
            known[product.port.name] = tuple(entries)
    known |= {own.port.name: tuple(known[own.source][place] for place in own.places) for own in blocked.gathers}
    results = tuple(known[port.name] for port in blocked.outputs)
    return verify(Graph(graph.name, graph.inputs, blocked.outputs, tuple(values), results, tuple(labels)))


def _inputs(blocked: WithProducts, values: list[Value]) -> dict[str, tuple[int, ...]]:
    """The values of arguments that are called with, appended to the others."""
    found, taken = dict[str, tuple[int, ...]](), {name for own in blocked.products for name in own.takes}
    for number, port in enumerate(blocked.inputs):
        if port.name in taken:
            first = len(values)
            values += [Value(INPUT, port=number, element=element) for element in range(port.size)]
            found[port.name] = tuple(range(first, len(values)))
    return found


def _label(values: Sequence[Value], labels: list[int], zero: int, right: Sequence[int]) -> None:
    """What has no label yet, of a product, is part of what its right factor is part of."""
    if labels:
        last = max((index for index in right if values[index] != Value(CONST)), default=zero)
        labels += [labels[last]] * (len(values) - len(labels))


def _masked(
    values: list[Value],
    labels: list[int],
    zero: int,
    product: MaskedMatrixProduct,
    known: Mapping[str, Sequence[int]],
    shapes: Mapping[str, tuple[int, ...]],
) -> tuple[int, ...]:
    """Row by row the entries of a masked product, whose values are appended to the others, with labels."""
    rows, columns = product.port.shape
    entries = [zero] * product.port.size
    for part in product.parts:
        inner, wide = shapes[part.right]
        left, right = known[part.left], known[part.right]
        absent = {index for index in {*left, *right} if values[index] == Value(CONST)}
        steps = part.steps(shapes[part.left][1])
        for row, start, stop in part.runs:
            factors = left[row * steps[0] :: steps[1]][:inner]
            for column in range(start, stop):
                pairs = zip(factors, right[column::wide], strict=True)
                found = [(x, y) for x, y in pairs if x not in absent and y not in absent]
                entries[row * columns + column] = _sum(values, zero, found)
        _label(values, labels, zero, right)
    if product.symmetric:
        return tuple(entries[min(at) * columns + max(at)] for at in np.ndindex(rows, columns))
    return tuple(entries)


def _sum(values: list[Value], zero: int, pairs: Iterable[tuple[int, int]]) -> int:
    """The sum of products of two values, appended to them."""
    total = zero
    for pair in pairs:
        values.append(Value("mul", pair))
        if total != zero:
            values.append(Value("add", (total, len(values) - 1)))
        total = len(values) - 1
    return total


def _first_columns(
    product: MatrixProduct, known: Mapping[str, Sequence[int]], shapes: Mapping[str, tuple[int, ...]]
) -> list[int]:
    """What is added to a product, whose rows may be longer, row by row."""
    rows, columns = product.port.shape
    own, wide = known[product.plus], shapes[product.plus][1]
    return [own[row * wide + column] for row in range(rows) for column in range(columns)]


def _entries(
    values: list[Value],
    zero: int,
    product: MatrixProduct,
    term: Term,
    added: Sequence[int],
    known: Mapping[str, Sequence[int]],
    shapes: Mapping[str, tuple[int, ...]],
) -> list[int]:
    """Row by row what is `added` and a term of a product, whose values are appended to the others."""
    inner, wide = shapes[term.right]
    rows, columns = product.port.shape
    left, right, entries = known[term.left], known[term.right], list(added)
    absent = {index for index in {*left, *right, *entries} if values[index] == Value(CONST)}

    def put(op: str, *args: int) -> int:
        values.append(Value(op, args))
        return len(values) - 1

    steps = term.steps(shapes[term.left][1])
    for row in range(rows):
        for k in range(inner):
            factor = left[row * steps[0] + k * steps[1]]
            if factor in absent:
                continue
            for column in range(columns):
                if right[k * wide + column] not in absent and not (product.symmetric and column < row):
                    one, at = put("mul", factor, right[k * wide + column]), row * columns + column
                    entries[at] = one if entries[at] in absent else put("add", entries[at], one)
    if product.symmetric:
        return [entries[min(at) * columns + max(at)] for at in np.ndindex(rows, columns)]
    return entries
