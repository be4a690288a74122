"""C functions of products, calls that make their factors and then each product, and the arrays between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.emission.functions import Argument, Call
from codegen.emission.text import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.emission.spec import Header
    from codegen.emission.tiles import Tiles
    from codegen.ir.graph import Port
    from codegen.ir.products import WithProducts


@dataclass(frozen=True, slots=True)
class ProductStep:
    """One product: its loops, the names that its function gives to its arguments, and the call of it."""

    tiles: Tiles
    arguments: tuple[str, ...]
    call: Call

    def __str__(self) -> str:
        return str(self.call)

    def head(self, real: str) -> str:
        """The function's arguments, of this type."""
        return ", ".join((*(f"const {real} *{name}" for name in self.arguments), f"{real} *to"))


def kept(function: WithProducts) -> dict[str, Port]:
    """The arrays that are no argument, by their names in C."""
    return {f"{port.name}_": port for port in function.kept}


def factors_call(name: str, function: WithProducts, given: Sequence[Argument]) -> Call:
    """The call of what makes the factors and all other results, for a kernel of this name and with these arguments."""
    names = _names(function, given)
    return Call(f"{name}_factors", tuple(names[port.name] for port in function.ports))


def product_steps(
    name: str, function: WithProducts, products: Sequence[Tiles], given: Sequence[Argument]
) -> tuple[ProductStep, ...]:
    """The products in order."""
    names, steps = _names(function, given), []
    for number, tiles in enumerate(products):
        own = tiles.product
        factors = {"left": own.left, "right": own.right, "plus": own.plus}
        taken = {what: names[port] for what, port in factors.items() if port}
        call = Call(f"{name}_product_{number}", (*taken.values(), names[own.port.name]))
        steps.append(ProductStep(tiles, tuple(taken), call))
    return tuple(steps)


def vectorised(tiles: Tiles, header: Header) -> tuple[str, ...]:
    """The lines of a product's C function: by small vectors where the processor has such, otherwise by single numbers.

    Its arguments are the matrices left, right, plus, if something is added, and to.
    """
    starts = [f"*(const P4_ANY *)&plus[{place}]" if tiles.product.plus else "{0}" for place in _places(tiles)]
    vectors = render("product_vectors.jinja", **header.names, tiles=tiles, starts=list(enumerate(starts)))
    return _lines(tiles, "T", vectors.rstrip("\n"), "#endif", f"{header.c_prefix}_all(0.0)")


def scalar(tiles: Tiles, real: str) -> tuple[str, ...]:
    """The same with single numbers, of this type."""
    return _lines(tiles, real, "", "", "0")


def _lines(tiles: Tiles, real: str, vectors: str, end: str, zero: str) -> tuple[str, ...]:
    starts = [f"plus[{place} + j]" if tiles.product.plus else zero for place in _places(tiles)]
    size = tiles.size[0]
    mirrored = f"for (int n = 0; n < {size}; ++n) for (int k = 0; k < n; ++k) to[n*{size} + k] = to[k*{size} + n];"
    slots = {"vectors": vectors, "end": end, "mirrored": mirrored if tiles.product.symmetric else ""}
    text = render("product.jinja", tiles=tiles, real=real, starts=list(enumerate(starts)), **slots)
    return tuple(line for line in text.splitlines() if line)


def _places(tiles: Tiles) -> list[str]:
    """Where the rows of a tile begin."""
    return [f"at + {k * tiles.size[1]}" for k in range(tiles.block)]


def _names(function: WithProducts, given: Sequence[Argument]) -> dict[str, str]:
    """What C calls the arrays, by the names of their ports."""
    return {a.port.name: a.name for a in given} | {port.name: name for name, port in kept(function).items()}
