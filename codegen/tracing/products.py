"""Products of matrices among results, and maps that make their factors: kept as such where there is much to multiply,
otherwise entry by entry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from casadi import DM, SX, Function, vec

from codegen.costs import IN_ROWS, LOOPED
from codegen.ir.block_matrix import CopiedBlock, CopiedMatrix
from codegen.ir.calls import GraphCall
from codegen.ir.divided import divided
from codegen.ir.factors import FactoredMatrix, Substitution, Vanishing
from codegen.ir.graph import STATUS, Graph, Port, from_casadi
from codegen.ir.maps import GraphMap
from codegen.ir.products import TILE, VECTOR, MaskedMatrixProduct, MaskedPart, MatrixProduct, WithProducts, made_by
from codegen.ir.systems import SolvedSystem
from codegen.recursions.block_matrix import BlockMatrix
from codegen.recursions.calls import Output
from codegen.recursions.expansion import entries, multiplications, unrolled
from codegen.recursions.panels import Panel
from codegen.recursions.products import MaskedProduct, Product, made_in
from codegen.recursions.systems import Factored, Solved, Substituted
from codegen.spatial.solve import HUGE, VANISHING
from codegen.tracing.stages import NONE, Stages
from codegen.tracing.status import with_status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from casadi import Sparsity

    from codegen.ir.products import AnyProduct
    from codegen.recursions.calls import Body, Call
    from codegen.recursions.panels import Map
    from codegen.recursions.products import Made, Result

    Bodies = Callable[[Body], Graph]
    """How the graph of a function that is called is read."""


class _Keeper:
    """Names the matrices of products and maps: outputs, and ports of their own for those that are kept."""

    def __init__(self, outputs: Sequence[tuple[Result, Port]], stages: Stages, bodies: Bodies) -> None:
        self.outputs, self.stages, self.bodies = outputs, stages, bodies
        self.named: list[tuple[Result, str]] = [*zip(stages.given, (port.name for port in stages.ports), strict=True)]
        self.named += [(x, port.name) for x, port in outputs if isinstance(x, SX)]
        self.kept: list[tuple[SX, Port]] = [(x, port) for x, port in outputs if isinstance(x, SX)]
        self.plain = len(self.kept)
        self.products: list[AnyProduct] = []
        self.maps: dict[int, GraphMap] = {}
        self.called: dict[int, tuple[Call, int]] = {}
        self.graphs: dict[int, tuple[Graph, ...]] = {}

    def add(self, made: Made) -> None:
        """A product, or a panel and its map, after what it takes."""
        if isinstance(made, Panel):
            own = self.maps.setdefault(id(made.map), self._map(made.map))
            self.named.append((made, own.ports[made.number].name))
            return
        if isinstance(made, Output):
            self.named.append((made, self._output(made)))
            return
        names = [self._name(factor) for factor in made.factors]
        port = next((port for x, port in self.outputs if x is made), self._port(made))
        self.products.append(_product(made, port, names))
        self.named.append((made, port.name))

    def _output(self, own: Output) -> str:
        """The name of what a call makes, after all stages of it that make this, and what these take."""
        name, stages = made_name(own.number), self._stages(own.call.body)
        last = next(k for k, graph in enumerate(stages) if any(port.name == name for port in graph.outputs))
        return f"{self._call(own.call, last + 1)}{name}"

    def _call(self, own: Call, until: int) -> str:
        """How names of what a call makes begin; its stages up to this one are made."""
        number = [*self.called].index(id(own)) if id(own) in self.called else len(self.called)
        _, done = self.called.get(id(own), (own, 0))
        prefix = f"call{number}_"
        given = {name: k for k, name in enumerate(map(given_name, range(len(own.takes))))}
        for graph in self._stages(own.body)[done:until]:
            takes = (self._name(own.takes[given[x.name]]) if x.name in given else prefix + x.name for x in graph.inputs)
            ports = tuple(replace(port, name=prefix + port.name) for port in graph.outputs)
            self.products += [GraphCall(graph, tuple(takes), ports)] if ports else []
        self.called[id(own)] = own, max(done, until)
        return prefix

    def finish(self) -> None:
        """The stages of calls that nothing takes anything of: they may tell of what is singular."""
        for own, _ in [*self.called.values()]:
            self._call(own, len(self._stages(own.body)))

    def _stages(self, own: Body) -> tuple[Graph, ...]:
        """The graphs of a body's stages, read once."""
        if id(own) not in self.graphs:
            first, *later = divided(self.bodies(own), own.after)
            self.graphs[id(own)] = first, *(replace(graph, name=f"{own.name}_{graph.name}") for graph in later)
        return self.graphs[id(own)]

    def _map(self, own: Map) -> GraphMap:
        """A map, after those that it takes panels of."""
        if id(own) in self.maps:
            return self.maps[id(own)]
        function, number = own.function, len(self.maps)
        given = tuple(Port(f"x{k}", (function.size1_in(k),)) for k in range(function.n_in()))
        made = tuple(Port(f"y{k}", (function.size1_out(k),)) for k in range(function.n_out()))
        ports = (Port(f"map{number}_{k}", own.shape(k)) for k in range(function.n_out()))
        takes = (table(x) if isinstance(x, SX) and x.is_constant() else self._name(x) for x in own.takes)
        kernel = from_casadi(function, given, made, function.name())
        return GraphMap(kernel, tuple(takes), tuple(ports), own.count, own.by_rows)

    def _name(self, matrix: Result) -> str:
        """The name of a matrix, which is kept from now on if it had none."""
        matrix = next((result for symbols, result in self.stages.opened if symbols is matrix), matrix)
        for known, name in self.named:
            if known is matrix:
                return name
        assert isinstance(matrix, SX), f"products come after those that they take: {matrix}"
        self.kept.append((matrix, self._port(matrix)))
        self.named.append((matrix, self.kept[-1][1].name))
        return self.kept[-1][1].name

    def _port(self, matrix: Result) -> Port:
        return Port(f"kept{len(self.kept) - self.plain + len(self.products)}", tuple(matrix.shape))

    def given(self) -> tuple[tuple[SX, ...], tuple[Port, ...]]:
        """Columns of symbols for numbers of what was opened, and the ports that these numbers are at."""
        opened = [(vec(symbols.T), self._name(result)) for symbols, result in self.stages.opened]
        return tuple(x for x, _ in opened), tuple(Port(name, (x.numel(),)) for x, name in opened)


def graph_of(name: str, symbols: Sequence[SX], ports: Sequence[Port], made: Sequence[tuple[SX, Port]]) -> Graph:
    """The graph of matrices of symbols, with its status."""
    results = [vec(SX(x).T) for x, _ in made]
    function = Function(name, [*symbols], results, {"live_variables": False})
    return with_status(from_casadi(function, tuple(ports), tuple(port for _, port in made), name))


def with_loops(graph: Graph, kept: Kept, outputs: tuple[Port, ...]) -> Graph | WithProducts:
    """The graph of what is kept, with its status, and the loops behind it that make the other outputs.

    What takes numbers that loops and calls have made is called after these.
    """
    if not kept.products:
        return graph
    status, products = graph.outputs[len(kept.ports) :], kept.products
    others = [port for own in products for port in made_by(own) if port.shape == ()]
    if others:
        first = [replace(port, name="stage0_status") for port in status]
        graph, status = replace(graph, outputs=(*kept.ports, *first)), (STATUS,)
        products = (*products, _sum([*first, *others]))
    arguments = len(graph.inputs) - len(kept.opened)
    own, *later = divided(graph, [max(0, k - arguments + 1) for k in range(len(graph.inputs))])
    calls = (GraphCall(x, tuple(port.name for port in x.inputs), x.outputs) for x in later if x.outputs)
    return WithProducts(own, (*products, *calls), (*outputs, *status), maps=kept.maps)


def _sum(ports: Sequence[Port]) -> GraphCall:
    """The status of all, the sum of these."""
    given, symbols = [replace(port, shape=(1,)) for port in ports], [SX.sym(port.name) for port in ports]
    function = Function("statuses", symbols, [sum(symbols, SX(0))], {"live_variables": False})
    graph = from_casadi(function, tuple(given), (STATUS,), "statuses")
    return GraphCall(graph, tuple(port.name for port in ports), (STATUS,))


def body(own: Body) -> Graph:
    """The graph of a function that is called."""
    return graph_of(own.name, own.given, *body_ports(own))


def body_ports(own: Body) -> tuple[list[Port], list[tuple[SX, Port]]]:
    """The ports of what it takes, and what it makes with theirs."""
    given = [Port(given_name(k), (x.numel(),)) for k, x in enumerate(own.given)]
    return given, [(x, Port(made_name(k), tuple(x.shape))) for k, x in enumerate(own.made)]


def given_name(number: int) -> str:
    """The port of what a body takes."""
    return f"in{number}"


def made_name(number: int) -> str:
    """The port of what it makes."""
    return f"out{number}"


def _product(
    product: Product | MaskedProduct | BlockMatrix | Solved | Factored | Substituted, port: Port, names: Sequence[str]
) -> AnyProduct:
    """The product at a port, of matrices of these names."""
    status = Port(f"{port.name}_status", ())
    if isinstance(product, Factored):
        matrix, *sizes = names
        vanishing = Vanishing(status, product.part, HUGE, "".join(sizes)) if product.part else None
        return FactoredMatrix(port, matrix, vanishing)
    if isinstance(product, Substituted):
        factors, *rights = names
        return Substitution(port, factors, "".join(rights), product.way, product.negative)
    if isinstance(product, Solved):
        n, (matrix, right, *others) = product.shape[0], names
        added = "" if product.plus is None else others[0]
        pivots = None if product.size is None else Vanishing(status, VANISHING, HUGE, others[-1])
        return SolvedSystem(port, Port(f"{port.name}_factors", (n, n)), matrix, right, added, pivots)
    if isinstance(product, BlockMatrix):
        pairs = zip(names, product.blocks, strict=True)
        return CopiedMatrix(
            port, tuple(CopiedBlock(x, b.row, b.column, b.first, b.columns, b.transposed, b.rows) for x, b in pairs)
        )
    if isinstance(product, MaskedProduct):
        rows = zip(product.parts, names[::2], names[1::2], strict=True)
        parts = (MaskedPart(left, right, runs(part.mask), part.transposed) for part, left, right in rows)
        return MaskedMatrixProduct(port, tuple(part for part in parts if part.runs), product.symmetric)
    left, right, *plus = names
    return MatrixProduct(port, left, right, "".join(plus), product.transposed, product.symmetric)


def table(matrix: SX) -> tuple[float, ...]:
    """Constants, row by row."""
    return tuple(float(x) for row in DM(matrix).full() for x in row)


def runs(mask: Sparsity) -> tuple[tuple[int, int, int], ...]:
    """Where rows of a mask have entries without gaps: row, first column, end."""
    found: list[tuple[int, int, int]] = []
    for row, column in sorted(zip(*mask.get_triplet(), strict=True)):
        if found and found[-1][0] == row and found[-1][2] == column:
            found[-1] = (row, found[-1][1], column + 1)
        else:
            found.append((row, column, column + 1))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Kept:
    """What the graph has to make, results and kept matrices, and their ports; then the maps and products of these.

    `symbols` are columns for numbers that products have made at the ports `opened`; other ones are `expressions`.
    """

    matrices: tuple[SX, ...]
    ports: tuple[Port, ...]
    products: tuple[AnyProduct, ...] = ()
    maps: tuple[GraphMap, ...] = ()
    symbols: tuple[SX, ...] = ()
    opened: tuple[Port, ...] = ()
    expressions: tuple[tuple[SX, SX], ...] = ()

    def __str__(self) -> str:
        return f"{len(self.ports)} matrices, {len(self.maps)} maps and {len(self.products)} products"


def with_products(
    results: Sequence[Result],
    outputs: Sequence[Port],
    least: int | None = None,
    stages: Stages = NONE,
    bodies: Bodies = body,
) -> Kept:
    """The results with large products kept as such; there are none below so many multiplications.

    By default these are those from which C is faster so. If there are `stages` all are kept. `bodies` reads the graphs
    of functions that are called.
    """
    given = (*(result for _, result in stages.opened), *results)
    few = all(isinstance(own, Product) and own.shape[1] < 2 * TILE for own in made_in(given))
    columns, usual = (VECTOR, IN_ROWS) if few else (TILE, LOOPED)
    wide = unrolled(given, columns)
    made, divides = made_in(wide), bool(stages.opened)
    least = usual if least is None else least
    if not divides and (any(_narrow(own, columns) for own in made) or multiplications(wide) <= least):
        return Kept(entries(tuple(results)), tuple(outputs))
    stages, final = stages.of_results(wide[: len(stages.opened)], wide[len(stages.opened) :])
    keeper = _Keeper([*zip(final, outputs, strict=True)], stages, bodies)
    for own in made_in((*(result for _, result in stages.opened), *final)):
        keeper.add(own)
    keeper.finish()
    symbols, places = keeper.given()
    matrices, ports = tuple(x for x, _ in keeper.kept), tuple(port for _, port in keeper.kept)
    maps = tuple(keeper.maps.values())
    return Kept(matrices, ports, tuple(keeper.products), maps, symbols, places, stages.expressions)


def _narrow(own: Made, columns: int) -> bool:
    """Whether it has too few columns for small vectors or tiles, or is of a robot with so few joints."""
    return not isinstance(own, Solved | Output) and own.shape[1] < columns
