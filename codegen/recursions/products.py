"""Results that are products of matrices, stated as such: C computes large ones by loops, not entry by entry."""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX


@dataclass(frozen=True, slots=True)
class Product:
    """plus + left @ right (left' if `transposed`). `right` may be sparse, the others may be products themselves."""

    left: SX | Product
    right: SX
    plus: SX | Product | None = None
    transposed: bool = False

    def __str__(self) -> str:
        added = "" if self.plus is None else "a matrix + "
        return f"{added}({self.shape[0]} x {self.right.size1()}) @ ({self.right.size1()} x {self.shape[1]})"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        return (self.left.shape[1 if self.transposed else 0], self.right.size2())

    @property
    def multiplications(self) -> int:
        """Products of two entries, of which that of `right` may differ from zero."""
        own = int(self.shape[0] * self.right.nnz())
        return own + sum(x.multiplications for x in (self.left, self.plus) if isinstance(x, Product))

    @property
    def unrolled(self) -> SX:
        """The matrix, entry by entry."""
        left = entries(self.left)
        product = (left.T if self.transposed else left) @ self.right
        return product if self.plus is None else entries(self.plus) + product


Result = SX | Product


def entries(matrix: SX | Product) -> SX:
    """A matrix entry by entry."""
    return matrix.unrolled if isinstance(matrix, Product) else matrix
