"""Products of matrices among results: kept as such where there is much to multiply, otherwise entry by entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from casadi import SX

from codegen.costs import LOOPED
from codegen.ir.graph import Port
from codegen.ir.products import TILE, MatrixProduct
from codegen.recursions.products import Product, entries, multiplications, products_in, unrolled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.recursions.products import Result


class _Keeper:
    """Names the matrices of products: outputs, and ports of their own for those that are kept."""

    def __init__(self, outputs: Sequence[tuple[Result, Port]]) -> None:
        self.outputs = outputs
        self.named: list[tuple[Result, str]] = [(x, port.name) for x, port in outputs if isinstance(x, SX)]
        self.ports: list[Port] = []
        self.matrices: list[SX] = []
        self.products: list[MatrixProduct] = []

    def add(self, product: Product) -> None:
        """A product, after those that it takes."""
        left, right, *plus = (self._name(factor) for factor in product.factors)
        port = next((port for x, port in self.outputs if x is product), self._port(product))
        own = MatrixProduct(port, left, right, "".join(plus), product.transposed, product.symmetric)
        self.products.append(own)
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


def with_products(
    results: Sequence[Result], outputs: Sequence[Port], least: int = LOOPED
) -> tuple[tuple[SX, ...], tuple[Port, ...], tuple[MatrixProduct, ...]]:
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
