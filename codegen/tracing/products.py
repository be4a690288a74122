"""Products of matrices among results, and maps that make their factors: kept as such where there is much to multiply,
otherwise entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from casadi import DM, SX

from codegen.costs import LOOPED
from codegen.ir.graph import Port, from_casadi
from codegen.ir.maps import GraphMap
from codegen.ir.products import TILE, MaskedMatrixProduct, MaskedPart, MatrixProduct
from codegen.recursions.panels import Panel
from codegen.recursions.products import MaskedProduct, Product, entries, made_in, multiplications, unrolled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from casadi import Sparsity

    from codegen.ir.products import AnyProduct
    from codegen.recursions.panels import Map
    from codegen.recursions.products import Made, Result


class _Keeper:
    """Names the matrices of products and maps: outputs, and ports of their own for those that are kept."""

    def __init__(self, outputs: Sequence[tuple[Result, Port]]) -> None:
        self.outputs = outputs
        self.named: list[tuple[Result, str]] = [(x, port.name) for x, port in outputs if isinstance(x, SX)]
        self.ports: list[Port] = []
        self.matrices: list[SX] = []
        self.products: list[AnyProduct] = []
        self.maps: dict[int, GraphMap] = {}

    def add(self, made: Made) -> None:
        """A product, or a panel and its map, after what it takes."""
        if isinstance(made, Panel):
            own = self.maps.setdefault(id(made.map), self._map(made.map))
            self.named.append((made, own.ports[made.number].name))
            return
        names = [self._name(factor) for factor in made.factors]
        port = next((port for x, port in self.outputs if x is made), self._port(made))
        self.products.append(_product(made, port, names))
        self.named.append((made, port.name))

    def _map(self, own: Map) -> GraphMap:
        """A map, after those that it takes panels of."""
        if id(own) in self.maps:
            return self.maps[id(own)]
        function, number = own.function, len(self.maps)
        given = tuple(Port(f"x{k}", (function.size1_in(k),)) for k in range(function.n_in()))
        made = tuple(Port(f"y{k}", (function.size1_out(k),)) for k in range(function.n_out()))
        ports = (Port(f"map{number}_{k}", own.shape(k)) for k in range(function.n_out()))
        takes = (table(x) if isinstance(x, SX) and x.is_constant() else self._name(x) for x in own.takes)
        return GraphMap(from_casadi(function, given, made, function.name()), tuple(takes), tuple(ports), own.by_rows)

    def _name(self, matrix: Result) -> str:
        """The name of a matrix, which is kept from now on if it had none."""
        for known, name in self.named:
            if known is matrix:
                return name
        assert isinstance(matrix, SX), "products come after those that they take"
        self.ports.append(self._port(matrix))
        self.matrices.append(matrix)
        self.named.append((matrix, self.ports[-1].name))
        return self.ports[-1].name

    def _port(self, matrix: Result) -> Port:
        return Port(f"kept{len(self.ports) + len(self.products)}", tuple(matrix.shape))


def _product(product: Product | MaskedProduct, port: Port, names: Sequence[str]) -> AnyProduct:
    """The product at a port, of matrices of these names."""
    if isinstance(product, MaskedProduct):
        rows = zip(product.parts, names[::2], names[1::2], strict=True)
        parts = (MaskedPart(left, right, runs(part.mask), part.transposed) for part, left, right in rows)
        return MaskedMatrixProduct(port, tuple(parts), product.symmetric)
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
    """What the graph has to make, results and kept matrices, and their ports; then the maps and products of these."""

    matrices: tuple[SX, ...]
    ports: tuple[Port, ...]
    products: tuple[AnyProduct, ...] = ()
    maps: tuple[GraphMap, ...] = ()

    def __str__(self) -> str:
        return f"{len(self.ports)} matrices, {len(self.maps)} maps and {len(self.products)} products"


def with_products(results: Sequence[Result], outputs: Sequence[Port], least: int = LOOPED) -> Kept:
    """The results with large products kept as such; there are none below so many multiplications."""
    wide = unrolled(tuple(results), TILE)
    made = made_in(wide)
    if any(own.shape[1] < TILE for own in made) or multiplications(wide) <= least:
        return Kept(entries(tuple(results)), tuple(outputs))
    pairs = list(zip(wide, outputs, strict=True))
    keeper = _Keeper(pairs)
    for own in made:
        keeper.add(own)
    plain = [(x, port) for x, port in pairs if isinstance(x, SX)]
    ports = (*(port for _, port in plain), *keeper.ports)
    matrices = (*(x for x, _ in plain), *keeper.matrices)
    return Kept(matrices, ports, tuple(keeper.products), tuple(keeper.maps.values()))
