"""Products of matrices among results: kept as such where there is much to multiply, otherwise entry by entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from casadi import SX

from codegen.costs import LOOPED
from codegen.ir.graph import Port
from codegen.ir.products import TILE, MatrixProduct
from codegen.recursions.products import Product, entries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.recursions.products import Result


class _Keeper:
    """Names the matrices of products: outputs, and ports of their own for those that are kept."""

    def __init__(self, outputs: Sequence[tuple[Result, Port]]) -> None:
        self.outputs = outputs
        self.named: list[tuple[Result, str]] = [(x, port.name) for x, port in outputs if isinstance(x, SX)]
        self.factors: list[tuple[SX, str]] = []
        self.ports: list[Port] = []
        self.matrices: list[SX] = []
        self.products: list[MatrixProduct] = []

    def name(self, matrix: Result | None) -> str:
        """The name of what is multiplied from the left, or added; none for nothing."""
        if matrix is None:
            return ""
        for known, name in self.named:
            if known is matrix:
                return name
        name = self._product(matrix) if isinstance(matrix, Product) else self._keep(matrix)
        self.named.append((matrix, name))
        return name

    def _product(self, product: Product) -> str:
        """The name of a product, which comes after those that it takes."""
        left, plus, right = self.name(product.left), self.name(product.plus), self._factor(product.right)
        port = next((port for x, port in self.outputs if x is product), self._port(product))
        self.products.append(MatrixProduct(port, left, right, plus, product.transposed))
        return port.name

    def _factor(self, matrix: SX) -> str:
        """The name of a right factor, which nothing but products takes."""
        for known, name in self.factors:
            if known is matrix:
                return name
        self.factors.append((matrix, self._keep(matrix)))
        return self.factors[-1][1]

    def _keep(self, matrix: SX) -> str:
        self.ports.append(self._port(matrix))
        self.matrices.append(matrix)
        return self.ports[-1].name

    def _port(self, matrix: Result) -> Port:
        return Port(f"kept{len(self.ports) + len(self.products)}", tuple(matrix.shape))


def unrolled(results: Sequence[Result]) -> tuple[SX, ...]:
    """The results entry by entry."""
    return tuple(entries(result) for result in results)


def with_products(
    results: Sequence[Result], outputs: Sequence[Port]
) -> tuple[tuple[SX, ...], tuple[Port, ...], tuple[MatrixProduct, ...]]:
    """What the graph has to make: results and kept matrices, and their ports; and the products of these."""
    products = [result for result in results if isinstance(result, Product)]
    few = any(product.shape[1] < TILE for product in products)
    if few or sum(product.multiplications for product in products) <= LOOPED:
        return unrolled(results), tuple(outputs), ()
    pairs = list(zip(results, outputs, strict=True))
    keeper = _Keeper(pairs)
    for product in products:
        keeper.name(product)
    plain = [(x, port) for x, port in pairs if isinstance(x, SX)]
    ports = (*(port for _, port in plain), *keeper.ports)
    return (*(x for x, _ in plain), *keeper.matrices), ports, tuple(keeper.products)
