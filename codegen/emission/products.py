"""C functions of products and gathers, calls that make factors and then each of these, and the arrays between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.emission.functions import Argument, Call
from codegen.emission.text import render
from codegen.emission.tiles import VECTOR, tiled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codegen.emission.spec import Header
    from codegen.emission.tiles import Tiles
    from codegen.ir.graph import Port
    from codegen.ir.products import WithProducts


@dataclass(frozen=True, slots=True)
class Words:
    """How C spells the sums of a tile: their type of `width` numbers, how these are set to zero, read and written.

    So many of one row are made `together`.
    """

    type: str
    width: int
    together: int
    zero: str
    read: str
    write: str

    def __str__(self) -> str:
        return f"{self.together} sums of {self.type} in a row"


@dataclass(frozen=True, slots=True)
class Step:
    """Products or a gather: the lines of their function, the names of what it reads and writes, and its call."""

    lines: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    call: Call

    def __str__(self) -> str:
        return str(self.call)

    def head(self, real: str) -> str:
        """The function's arguments, of this type."""
        return ", ".join((*(f"const {real} *{x}" for x in self.reads), *(f"{real} *{x}" for x in self.writes)))


def kept(function: WithProducts) -> dict[str, Port]:
    """The arrays that are no argument, by their names in C."""
    return {f"{port.name}_": port for port in function.kept}


def factors_call(name: str, function: WithProducts, given: Sequence[Argument]) -> Call:
    """The call of what makes the factors and all other results, for a kernel of this name and with these arguments."""
    names = _names(function, given)
    return Call(f"{name}_factors", tuple(names[port.name] for port in function.ports))


def steps(
    name: str, function: WithProducts, given: Sequence[Argument], lines: Callable[[Tiles], tuple[str, ...]]
) -> tuple[Step, ...]:
    """The products, of which two may go together and have these lines, and then the gathers."""
    names, found = _names(function, given), list[Step]()
    for number, tiles in enumerate(tiled(function)):
        taken = {"left": names[tiles.products[0].left]}
        for k, own in enumerate(tiles.products):
            ports = {f"right{k}": own.right, f"plus{k}": own.plus}
            taken |= {what: names[port] for what, port in ports.items() if port}
        made = {f"to{k}": names[own.port.name] for k, own in enumerate(tiles.products)}
        call = Call(f"{name}_product_{number}", (*taken.values(), *made.values()))
        found.append(Step(lines(tiles), tuple(taken), tuple(made), call))
    for number, gather in enumerate(function.gathers):
        call = Call(f"{name}_gather_{number}", (names[gather.source], names[gather.port.name]))
        found.append(Step(_gather(gather.places), ("from",), ("to",), call))
    return tuple(found)


def _gather(places: Sequence[int]) -> tuple[str, ...]:
    """The lines of a gather's C function."""
    table = f"static const int places[] = {{ {', '.join(map(str, places))} }};"
    return table, f"for (int k = 0; k < {len(places)}; ++k) to[k] = from[places[k]];"


def vectorised(tiles: Tiles, header: Header) -> tuple[str, ...]:
    """The lines of a product's C function: by small vectors where the processor has such, otherwise by single numbers.

    Its arguments are the matrix left, and of each product right, plus, if something is added, and to.
    """
    vectors = Words("P4", VECTOR, tiles.width // VECTOR, "{0}", "*(const P4_ANY *)&", "*(P4_ANY *)&")
    small, single = _tile(tiles, "T", vectors), _singly(tiles, "T", f"{header.c_prefix}_all(0.0)")
    return _lines(tiles, "T", f"#if {header.c_prefix.upper()}_PACKS\n{small}\n#else\n{single}\n#endif")


def scalar(tiles: Tiles, real: str) -> tuple[str, ...]:
    """The same with single numbers, of this type."""
    return _lines(tiles, real, _singly(tiles, real, "0"))


def _lines(tiles: Tiles, real: str, body: str) -> tuple[str, ...]:
    size = tiles.size[0]
    copy = f"for (int n = 0; n < {size}; ++n) for (int k = 0; k < n; ++k) to0[n*{size} + k] = to0[k*{size} + n];"
    slots = {"body": body, "mirrored": copy if tiles.symmetric else ""}
    return tuple(line for line in render("product.jinja", tiles=tiles, real=real, **slots).splitlines() if line)


def _singly(tiles: Tiles, real: str, zero: str) -> str:
    """The sums of a tile one number at a time, two together: columns, or one of each product."""
    together = 2 // len(tiles.products)
    body = _tile(tiles, real, Words(real, 1, together, zero, "", ""), " + j")
    step = "++j" if together == 1 else f"j += {together}"
    return f"for (int j = 0; j < {tiles.width}; {step}) {{\n{body}\n}}"


def _tile(tiles: Tiles, real: str, words: Words, column: str = "") -> str:
    """The sums of a tile, from a `column` on."""
    across = [
        (f"{p}_{v}", p, f"{column} + {words.width * v}")
        for p in range(len(tiles.products))
        for v in range(words.together)
    ]
    added = [bool(product.plus) for product in tiles.products]
    sums = [
        (f"s{k}_{x}", p, f"[at + {k * tiles.size[1]}{place}]") for k in range(tiles.block) for x, p, place in across
    ]
    return render(
        "product_tile.jinja",
        tiles=tiles,
        real=real,
        type=words.type,
        sums=[
            (name, f"{words.read}plus{p}{place}" if added[p] else words.zero, f"{words.write}to{p}{place}")
            for name, p, place in sums
        ],
        loads=[(f"x{x}", f"{words.read}d{p}[{place.removeprefix(' + ')}]") for x, p, place in across],
        terms=[(f"s{k}_{x}", k * tiles.steps[0], f"x{x}") for k in range(tiles.block) for x, *_ in across],
    ).rstrip("\n")


def _names(function: WithProducts, given: Sequence[Argument]) -> dict[str, str]:
    """What C calls the arrays, by the names of their ports."""
    return {a.port.name: a.name for a in given} | {port.name: name for name, port in kept(function).items()}
