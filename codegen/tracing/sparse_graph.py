"""Graphs whose results are sparse matrices: their nonzeros, column by column, and where these are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from casadi import SX, Function, Sparsity, vec

from codegen.ir.counting import Count, count
from codegen.ir.graph import STATUS, Graph, Port, Value, from_casadi, verify
from codegen.ir.operations import CONST
from codegen.ir.pattern import Pattern
from codegen.ir.products import Gather, MatrixProduct, WithProducts, straight_line
from codegen.recursions.products import Product
from codegen.tracing.blocks import Block, plain, unrolled
from codegen.tracing.products import with_products
from codegen.tracing.status import with_status

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping


def pattern_of(matrix: SX) -> Pattern:
    """Where an expression has nonzeros."""
    return Pattern.of(matrix.shape, zip(*matrix.sparsity().get_triplet(), strict=True))


def sparsity_of(pattern: Pattern) -> Sparsity:
    """CasADi's."""
    return Sparsity(*pattern.shape, pattern.indptr, pattern.indices)


def compressed(pattern: Pattern) -> tuple[int, ...]:
    """A pattern as CasADi writes it: rows, columns, where columns begin among the nonzeros, the row of each."""
    return *pattern.shape, *pattern.indptr, *pattern.indices


@dataclass(frozen=True, slots=True)
class SparseGraph:
    """A function of nonzeros, and the patterns of all arguments and results by name.

    The function has those that have nonzeros, in this order, and the status if it can fail. `written` is its count
    before the passes.
    """

    function: Graph | WithProducts
    inputs: dict[str, Pattern]
    outputs: dict[str, Pattern]
    written: Count

    def __str__(self) -> str:
        return f"{self.function}: {', '.join(f'{name} {pattern}' for name, pattern in self.outputs.items())}"

    @property
    def graph(self) -> Graph:
        """The function as straight-line code."""
        return straight_line(self.function)


def sparse_graph(
    name: str,
    inputs: Mapping[str, SX],
    outputs: Mapping[str, SX | Block],
    passes: Callable[[Graph], Graph],
    fixed: Mapping[str, Pattern],
) -> SparseGraph:
    """The function of expressions of dense symbols (or of none), after passes; what these find to be zero is left out.

    Large products of matrices are kept as such. Results that are `fixed` have these patterns.
    RobotError if there is an operation or number that C has not.
    """
    blocks = {key: y if isinstance(y, Block) else plain(y) for key, y in outputs.items()}
    blocks |= {key: replace(blocks[key], entries=sparsity_of(fixed[key])) for key in blocks.keys() & fixed.keys()}
    kept = _kept(blocks.values())
    rest = {key: block for key, block in blocks.items() if id(block.matrix) not in kept.names}
    made = dict(zip(rest, unrolled(rest.values()), strict=True))
    given, found = ({key: pattern_of(x) for key, x in parts.items()} for parts in (inputs, made))
    taken, own = (
        tuple(_port(key, pattern) for key, pattern in known.items() if pattern.nnz) for known in (given, found)
    )
    results = [*(vec(made[port.name].nz[:]) for port in own), *(vec(x.T) for x in kept.matrices)]
    traced = Function("f", [vec(inputs[port.name]) for port in taken], results, {"live_variables": False})
    written = with_status(from_casadi(traced, taken, (*own, *kept.ports), name))
    graph, found = _trimmed(passes(written), found, {*fixed, STATUS.name, *(port.name for port in kept.ports)})
    before = WithProducts(written, kept.products, tuple(own.port for own in kept.products))
    function, patterns = _gathered(replace(before, graph=graph), blocks, found, kept.names, fixed)
    return SparseGraph(function, given, patterns, count(straight_line(before)))


def _port(name: str, pattern: Pattern) -> Port:
    return Port(name, (pattern.nnz,), f"{name}, its nonzeros column by column")


@dataclass(frozen=True, slots=True)
class _Kept:
    """Large products, matrices for them with ports, and what products are called, by the identity of results."""

    matrices: tuple[SX, ...]
    ports: tuple[Port, ...]
    products: tuple[MatrixProduct, ...]
    names: dict[int, str]


def _kept(blocks: Iterable[Block]) -> _Kept:
    """What of the blocks is computed by loops; nothing if they have too little to multiply."""
    results = {id(block.matrix): block.matrix for block in blocks if isinstance(block.matrix, Product)}
    ports = [Port(f"whole{number}", x.shape) for number, x in enumerate(results.values())]
    matrices, own, products = with_products(tuple(results.values()), ports)
    if not products:
        return _Kept((), (), (), {})
    return _Kept(matrices, own, products, dict(zip(results, (port.name for port in ports), strict=True)))


def _trimmed(graph: Graph, patterns: Mapping[str, Pattern], whole: Collection[str]) -> tuple[Graph, dict[str, Pattern]]:
    """The graph and its patterns without results that are zero, but in those that stay whole."""
    found, outputs, results = dict(patterns), list[Port](), list[tuple[int, ...]]()
    for port, result in zip(graph.outputs, graph.results, strict=True):
        kept = [k for k, index in enumerate(result) if port.name in whole or graph.values[index] != Value(CONST)]
        if port.name not in whole:
            own = found[port.name]
            found[port.name] = Pattern.of(own.shape, [(own.indices[k], own.columns[k]) for k in kept])
        if kept:
            outputs.append(port if port.name in whole else replace(port, shape=(len(kept),)))
            results.append(tuple(result[k] for k in kept))
    return verify(replace(graph, outputs=tuple(outputs), results=tuple(results))), found


def _gathered(
    function: WithProducts,
    blocks: Mapping[str, Block],
    patterns: Mapping[str, Pattern],
    names: Mapping[int, str],
    fixed: Mapping[str, Pattern],
) -> tuple[Graph | WithProducts, dict[str, Pattern]]:
    """The function that gives all blocks: nonzeros of the graph's own, and out of products; and all patterns."""
    graph = function.graph
    if not function.products:
        return graph, {key: patterns[key] for key in blocks}
    own, known, found = {port.name: port for port in graph.outputs}, function.patterns(), dict[str, Pattern]()
    outputs, gathers = list[Port](), list[Gather]()
    for key, block in blocks.items():
        if key in patterns:
            found[key] = patterns[key]
            outputs += [own[key]] if key in own else []
            continue
        source = names[id(block.matrix)]
        some = known[source].T if block.transposed else known[source]
        may = some | (key in fixed)
        places = zip(*block.entries.get_triplet(), strict=True)
        found[key] = Pattern.of(some.shape, [place for place in places if may[place]])
        if found[key].nnz:
            outputs.append(_port(key, found[key]))
            width = known[source].shape[1]
            gathers.append(Gather.of(outputs[-1], source, found[key], width, transposed=block.transposed))
    outputs += [STATUS] if STATUS in graph.outputs else []
    return replace(function, outputs=tuple(outputs), gathers=tuple(gathers)), found
