"""Graphs whose results are sparse matrices: their nonzeros, column by column, and where these are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from casadi import SX, Function, Sparsity, substitute, vec

from codegen.costs import LOOPED_NONZEROS
from codegen.ir.calls import GraphCall
from codegen.ir.counted import counted
from codegen.ir.counting import Count, count
from codegen.ir.graph import STATUS, Graph, Port, Value, from_casadi, verify
from codegen.ir.operations import CONST
from codegen.ir.pattern import Pattern
from codegen.ir.products import TILE, Gather, WithProducts, made_by, straight_line
from codegen.recursions.products import (
    MaskedProduct,
    Product,
    Result,
    last_factor,
    products_in,
    some_columns_of,
    transposes,
)
from codegen.tracing.blocks import Block, plain, unrolled
from codegen.tracing.products import Kept, with_loops, with_products
from codegen.tracing.stages import Stages
from codegen.tracing.status import with_status

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from numpy.typing import NDArray

    from codegen.tracing.stages import Opened


def pattern_of(matrix: SX) -> Pattern:
    """Where an expression has nonzeros."""
    return Pattern.of(matrix.shape, zip(*matrix.sparsity().get_triplet(), strict=True))


def sparsity_of(pattern: Pattern) -> Sparsity:
    """CasADi's."""
    return Sparsity(*pattern.shape, pattern.indptr, pattern.indices)


def compressed(pattern: Pattern) -> tuple[int, ...]:
    """A pattern as CasADi writes it: rows, columns, where columns begin among the nonzeros, the row of each.

    Of a full one, rows, columns and 1.
    """
    if pattern.nnz and pattern.nnz == pattern.shape[0] * pattern.shape[1]:
        return *pattern.shape, 1
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
    passes: Callable[[Graph | WithProducts], Graph | WithProducts],
    fixed: Mapping[str, Pattern],
    least: int | None = LOOPED_NONZEROS,
    opened: Opened = (),
) -> SparseGraph:
    """The function of expressions of symbols, after passes; what these find to be zero is left out.

    Products of matrices are kept as such from `least` multiplications on (see `with_products`), and all are if numbers
    of some are `opened`. Results that are `fixed` have these patterns.
    RobotError if there is an operation or number that C has not.
    """
    blocks = {key: y if isinstance(y, Block) else plain(y) for key, y in outputs.items()}
    blocks |= {key: replace(blocks[key], entries=sparsity_of(fixed[key])) for key in blocks.keys() & fixed.keys()}
    kept = _kept(blocks, least, opened)
    rest = {key: block for key, block in blocks.items() if key not in kept.sources}
    made = dict(zip(rest, unrolled(rest.values()), strict=True))
    given, found = ({key: pattern_of(x) for key, x in parts.items()} for parts in (inputs, made))
    taken, own = (
        tuple(_port(key, pattern) for key, pattern in known.items() if pattern.nnz) for known in (given, found)
    )
    loops = replace(kept.loops, ports=(*own, *kept.loops.ports))
    symbols = [*(vec(inputs[port.name].nz[:]) for port in taken), *loops.symbols]
    columns = [vec(made[port.name].nz[:]) for port in own]
    if loops.expressions:
        columns = substitute(columns, *map(list, zip(*loops.expressions, strict=True)))
    results = [*columns, *(vec(x.T) for x in loops.matrices)]
    traced = Function("f", symbols, results, {"live_variables": False})
    written = with_status(from_casadi(traced, (*taken, *loops.opened), loops.ports, name))
    before = with_loops(written, loops, (*own, *kept.results))
    after = passes(before)
    if isinstance(before, Graph):
        graph, found = _trimmed(straight_line(after), found, {*fixed, STATUS.name})
        return SparseGraph(graph, given, {key: found[key] for key in blocks}, count(written))
    assert isinstance(after, WithProducts), "passes keep products"
    others = {port.name for port in after.graph.outputs} - {*found}
    graph, found = _trimmed(after.graph, found, {*fixed, *others})
    entries = {key: pattern_of(SX(block.entries)) for key, block in blocks.items()}
    function, patterns = _gathered(replace(after, graph=graph), found, entries, kept.sources, fixed)
    return SparseGraph(function, given, {key: patterns[key] for key in blocks}, counted(before))


def _port(name: str, pattern: Pattern) -> Port:
    return Port(name, (pattern.nnz,), f"{name}, its nonzeros column by column")


class _Source(NamedTuple):
    """Where a block's entries are in the matrix of this name: numbers of elements, row by row; -1 where it has none."""

    name: str
    places: NDArray[np.int_]


@dataclass(frozen=True, slots=True)
class _Kept:
    """Large products and maps, and where results are among what they make, by results' names."""

    loops: Kept
    sources: dict[str, _Source]

    @property
    def results(self) -> tuple[Port, ...]:
        """Where these matrices are."""
        wanted = {source.name for source in self.sources.values()}
        made = (port for own in self.loops.products for port in made_by(own))
        return tuple(port for port in (*self.loops.ports, *made) if port.name in wanted)


def _kept(blocks: Mapping[str, Block], least: int | None, opened: Opened) -> _Kept:
    """What of the blocks is computed by loops; nothing if they have too little to multiply.

    A matrix that nothing else takes, nor its transpose, is computed by its columns, as its nonzeros are stored, unless
    these are too short for loops along them.
    """
    wanted = {key: block for key, block in blocks.items() if not isinstance(block.matrix, SX)}
    taken = {id(x) for own in products_in(tuple(block.matrix for block in wanted.values())) for x in own.factors}
    taken |= {id(block.matrix) for block in wanted.values() if block.transposed or not block.whole}
    columns, free = _columns(wanted), {key: x.matrix for key, x in wanted.items() if id(x.matrix) not in taken}
    free = {key: matrix for key, matrix in free.items() if columns[key]}
    free = dict(zip(free, _some(free, columns), strict=True))
    turned = {key: matrix for key, matrix in free.items() if not matrix.shape[0] < TILE <= matrix.shape[1]}
    turned = dict(zip(turned, transposes((*turned.values(),)), strict=True))
    results, sources = dict[int, Result](), dict[str, _Source]()
    for key, block in wanted.items():
        matrix, places = turned.get(key, free.get(key, block.matrix)), -np.ones(block.entries.shape, int)
        symmetric = isinstance(matrix, Product | MaskedProduct) and matrix.symmetric
        turn, numbers = key in turned or block.transposed or symmetric, _row_by_row(matrix.shape)
        if not block.whole:
            turn, numbers = block.transposed, (numbers.T if symmetric else numbers)[block.places]
        some = columns[key] if key in free else slice(None)
        places[:, some] = numbers.T if turn else numbers
        results[id(matrix)] = matrix
        sources[key] = _Source(f"whole{[*results].index(id(matrix))}", places)
    ports = [Port(f"whole{number}", x.shape) for number, x in enumerate(results.values())]
    own = with_products(tuple(results.values()), ports, least, Stages(opened=opened))
    return _Kept(own, sources) if own.products else _Kept(Kept((), (), expressions=own.expressions), {})


def _columns(blocks: Mapping[str, Block]) -> dict[str, list[int]]:
    """The columns where blocks have entries; those that multiply one matrix have the same, and share what they take."""
    own = {key: {c for c, (i, j) in enumerate(pairwise(y.entries.colind())) if j > i} for key, y in blocks.items()}
    last = {key: (id(last_factor(y.matrix)), y.transposed) for key, y in blocks.items()}
    return {key: sorted(set[int]().union(*(own[x] for x in blocks if last[x] == last[key]))) for key in blocks}


def _some(matrices: Mapping[str, Result], columns: Mapping[str, list[int]]) -> tuple[Result, ...]:
    """These columns of matrices."""
    found = dict(matrices)
    for places in {tuple(columns[key]) for key in matrices}:
        own = {key: x for key, x in matrices.items() if (*columns[key],) == places and len(places) < x.shape[1]}
        found |= dict(zip(own, some_columns_of((*own.values(),), [*places]), strict=True))
    return tuple(found.values())


def _row_by_row(shape: tuple[int, int]) -> NDArray[np.int_]:
    return np.arange(shape[0] * shape[1]).reshape(shape)


def _trimmed(graph: Graph, patterns: Mapping[str, Pattern], whole: Collection[str]) -> tuple[Graph, dict[str, Pattern]]:
    """The graph and its patterns without results that are zero, but in those that stay whole."""
    found, outputs, results = dict(patterns), list[Port](), list[tuple[int, ...]]()
    for port, result in zip(graph.outputs, graph.results, strict=True):
        kept = [k for k, index in enumerate(result) if port.name in whole or graph.values[index] != Value(CONST)]
        if port.name not in whole:
            own = found[port.name]
            places = [*zip(own.indices, own.columns, strict=True)]
            found[port.name] = Pattern.of(own.shape, [places[k] for k in kept])
        if kept:
            outputs.append(port if port.name in whole else replace(port, shape=(len(kept),)))
            results.append(tuple(result[k] for k in kept))
    return verify(replace(graph, outputs=tuple(outputs), results=tuple(results))), found


def _gathered(
    function: WithProducts,
    own: Mapping[str, Pattern],
    entries: Mapping[str, Pattern],
    sources: Mapping[str, _Source],
    fixed: Collection[str],
) -> tuple[WithProducts, dict[str, Pattern]]:
    """The function that gives all blocks, nonzeros of the graph's `own` and out of products; and all patterns."""
    made = (*function.graph.outputs, *(port for call in function.products for port in made_by(call)))
    ports, known, found = {port.name: port for port in made}, function.patterns(), {**own}
    outputs, gathers, names = list[Port](), list[Gather](), dict[str, str]()
    for key, pattern in entries.items():
        if key in sources:
            name, places = sources[key]
            nonzero = (places >= 0) & ((key in fixed) | known[name].ravel()[places])
            at = zip(pattern.indices, pattern.columns, strict=True)
            found[key] = Pattern.of(pattern.shape, [place for place in at if nonzero[place]])
            there = [int(places[place]) for place in zip(found[key].indices, found[key].columns, strict=True)]
            if there == [*range(known[name].size)] and name not in names:  # the matrix, as it is
                names[name] = key
                outputs.append(Port(key, known[name].shape, _port(key, found[key]).about))
            elif there:
                outputs.append(_port(key, found[key]))
                gathers.append(Gather(outputs[-1], name, tuple(there)))
        elif key in ports:
            outputs.append(ports[key])
    outputs += [STATUS] if STATUS in function.outputs else []
    gathers = [replace(gather, source=names.get(gather.source, gather.source)) for gather in gathers]
    renamed = function.renamed(names)
    products = tuple(
        product
        if isinstance(product, GraphCall)
        else replace(product, port=next((port for port in outputs if port.name == product.port.name), product.port))
        for product in renamed.products
    )
    return replace(renamed, products=products, outputs=tuple(outputs), gathers=tuple(gathers)), found
