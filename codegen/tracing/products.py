"""Products of matrices among results: kept as such where there is much to multiply, otherwise entry by entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from casadi import SX

from codegen.costs import LOOPED
from codegen.ir.graph import Port
from codegen.ir.products import TILE, MaskedMatrixProduct, MaskedPart, MatrixProduct
from codegen.recursions.products import MaskedProduct, Product, entries, multiplications, products_in, unrolled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from casadi import Sparsity

    from codegen.ir.products import AnyProduct
    from codegen.recursions.products import Result


class _Keeper:
    """Names the matrices of products: outputs, and ports of their own for those that are kept."""

    def __init__(self, outputs: Sequence[tuple[Result, Port]]) -> None:
        self.outputs = outputs
        self.named: list[tuple[Result, str]] = [(x, port.name) for x, port in outputs if isinstance(x, SX)]
        self.ports: list[Port] = []
        self.matrices: list[SX] = []
        self.products: list[AnyProduct] = []

    def add(self, product: Product | MaskedProduct) -> None:
        """A product, after those that it takes."""
        names = [self._name(factor) for factor in product.factors]
        port = next((port for x, port in self.outputs if x is product), self._port(product))
        self.products.append(_product(product, port, names))
        self.named.append((product, port.name))

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


def runs(mask: Sparsity) -> tuple[tuple[int, int, int], ...]:
    """Where rows of a mask have entries without gaps: row, first column, end."""
    found: list[tuple[int, int, int]] = []
    for row, column in sorted(zip(*mask.get_triplet(), strict=True)):
        if found and found[-1][0] == row and found[-1][2] == column:
            found[-1] = (row, found[-1][1], column + 1)
        else:
            found.append((row, column, column + 1))
    return tuple(found)


def with_products(
    results: Sequence[Result], outputs: Sequence[Port], least: int = LOOPED
) -> tuple[tuple[SX, ...], tuple[Port, ...], tuple[AnyProduct, ...]]:
    """What the graph has to make: results and kept matrices, and their ports; and the products of these.

    There are none below so many multiplications.
    """
    wide = unrolled(tuple(results), TILE)
    products = products_in(wide)
    if any(product.shape[1] < TILE for product in products) or multiplications(wide) <= least:
        return entries(tuple(results)), tuple(outputs), ()
    pairs = list(zip(wide, outputs, strict=True))
    keeper = _Keeper(pairs)
    for product in products:
        keeper.add(product)
    plain = [(x, port) for x, port in pairs if isinstance(x, SX)]
    ports = (*(port for _, port in plain), *keeper.ports)
    return (*(x for x, _ in plain), *keeper.matrices), ports, tuple(keeper.products)
