"""C functions of products and gathers, calls that make factors and then each of these, and the arrays between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.emission.column_products import ColumnProduct
from codegen.emission.copies import Copies
from codegen.emission.factors import Factorisation, Substitutions, scalar_words, words_of
from codegen.emission.functions import Argument, Call, Function
from codegen.emission.gathers import gathered
from codegen.emission.in_place import owners
from codegen.emission.long_sums import LongSum
from codegen.emission.masked_products import along, by_tiles
from codegen.emission.row_sums import Spelling
from codegen.emission.row_sums import lines as sums_in_rows
from codegen.emission.segments import Segments
from codegen.emission.systems import Elimination
from codegen.emission.text import render
from codegen.emission.tiles import WAYS, Tiles, tiled, unread
from codegen.emission.words import Words
from codegen.ir.calls import GraphCall
from codegen.ir.products import VECTOR

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from codegen.emission.spec import Header
    from codegen.emission.tiles import AnyLoops as Loops
    from codegen.emission.tiles import Way
    from codegen.ir.block_matrix import CopiedMatrix
    from codegen.ir.graph import Port
    from codegen.ir.products import MaskedMatrixProduct, MatrixProduct, WithProducts


SMALL = Spelling("P4", "(P4){0}", "P4_OF({})", "P4_AT({})")
"""Small vectors of sums in straight-line code."""

EIGHT = Spelling("P8", "(P8){0}", "P8_OF({})", "P8_AT({})")
"""The same where registers hold eight numbers."""

SPELLED = {VECTOR: SMALL, 2 * VECTOR: EIGHT}


@dataclass(frozen=True, slots=True)
class Step:
    """Products, a gather or a map: the lines of their function, the names of what it reads and writes, and its call.

    Arrays that it writes overlap no others; a `restrict` macro for pointers tells compilers so.
    """

    lines: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    call: Call
    restrict: str = ""

    def __str__(self) -> str:
        return str(self.call)

    def takes_of(self, other: Step) -> bool:
        """Whether it reads an array that the other one writes."""
        read, written = self.call.arguments[: len(self.reads)], other.call.arguments[len(other.reads) :]
        return not {*read}.isdisjoint(written)

    def head(self, real: str) -> str:
        """The function's arguments, of this type."""
        to = f"*{self.restrict} " if self.restrict else "*"
        return ", ".join((*(f"const {real} {to}{x}" for x in self.reads), *(f"{real} {to}{x}" for x in self.writes)))


def kept(function: WithProducts) -> dict[str, Port]:
    """The arrays that are no argument, by their names in C."""
    shared = owners(function)
    return {f"{port.name}_": port for port in function.kept if port.name not in shared}


def unneeded(function: WithProducts, made: Sequence[Argument], ways: Sequence[Way] = WAYS) -> frozenset[str]:
    """Elements of the arrays that are `made` for products of which loops read none in these ways."""
    names = {argument.port.name: argument.name for argument in made}
    found = unread(function, ways)
    return frozenset(f"{names[port]}[{k}]" for port, where in found.items() for k in np.flatnonzero(where))


def factors_call(name: str, function: WithProducts, given: Sequence[Argument]) -> Call:
    """The call of what makes the factors and all other results, for a kernel of this name and with these arguments."""
    names = names_of(function, given)
    return Call(f"{name}_factors", tuple(names[port.name] for port in function.ports))


def steps(
    name: str,
    function: WithProducts,
    given: Sequence[Argument],
    lines: Callable[[Loops], tuple[str, ...]],
    turn: str = "",
) -> tuple[Step, ...]:
    """The products, of which two may go together and have these lines, and then the gathers.

    C has a function `turn` for rectangles of these, if there is such a name.
    """
    names, found = names_of(function, given), list[Step]()
    for number, tiles in enumerate(tiled(function)):
        taken = {what: names[port] for what, port in _taken(tiles).items()}
        made = _made(tiles, names)
        call = Call(f"{name}_product_{number}", (*taken.values(), *made.values()))
        found.append(Step(lines(tiles), tuple(taken), tuple(made), call))
    shapes = {port.name: port.shape for port in (*function.kept, *function.outputs)}
    for number, gather in enumerate(function.gathers):
        call = Call(f"{name}_gather_{number}", (names[gather.source], names[gather.port.name]))
        own = gathered(gather.places, shapes[gather.source][-1])
        found.append(Step(own.lines(turn), ("from",), ("to",), call))
    return tuple(found)


def call_steps(name: str, function: WithProducts, given: Sequence[Argument]) -> tuple[Step, ...]:
    """Calls of the functions of graphs, without their lines."""
    names, found = names_of(function, given), list[Step]()
    for own in function.products:
        if isinstance(own, GraphCall):
            reads, writes = (tuple(names[x] for x in part) for part in (own.takes, [port.name for port in own.ports]))
            found.append(Step((), reads, writes, Call(f"{name}_{own.graph.name}", (*reads, *writes))))
    return tuple(found)


def in_order(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Steps, each after those whose arrays it reads."""
    waiting, found = [*steps], list[Step]()
    while waiting:
        ready = next(own for own in waiting if not any(own.takes_of(other) for other in waiting if other is not own))
        found.append(ready)
        waiting.remove(ready)
    return tuple(found)


def functions_once(steps: Sequence[Step], head: Callable[[Step], str]) -> tuple[tuple[Function, ...], tuple[Call, ...]]:
    """The functions of steps, one for all that have the same lines, and their calls."""
    known, calls = dict[tuple[object, ...], Step](), list[Call]()
    for own in steps:
        first = known.setdefault((own.lines, own.reads, own.writes) if own.lines else (own.call.name,), own)
        calls.append(replace(own.call, name=first.call.name))
    return tuple(Function(head(own), own.lines) for own in known.values() if own.lines), tuple(calls)


def _made(loops: Loops, names: Mapping[str, str]) -> dict[str, str]:
    """What C calls the arrays that loops write, by the names of their arguments."""
    if isinstance(loops, Elimination | Factorisation | Substitutions):
        return {argument: names[port] for argument, port in loops.made.items()}
    products: Sequence[MatrixProduct | MaskedMatrixProduct | CopiedMatrix] = loops.products
    return {f"to{k}": names[own.port.name] for k, own in enumerate(products)}


def _taken(loops: Loops) -> dict[str, str]:
    """The ports that loops read, by the names of their arguments."""
    if isinstance(loops, Copies | Elimination | Factorisation | Substitutions):
        return loops.taken
    if isinstance(loops, Segments):
        lefts = {f"left{k}": part.left for k, part in enumerate(loops.products[0].parts)}
        parts = ((p, k, part) for p, own in enumerate(loops.products) for k, part in enumerate(own.parts))
        return lefts | {f"right{k}_{p}": part.right for p, k, part in parts}
    taken = {f"left{t}": term.left for t, term in enumerate(loops.products[0].terms)}
    for p, own in enumerate(loops.products):
        taken |= {f"right{t}_{p}": term.right for t, term in enumerate(own.terms)}
        taken |= {f"plus{p}": own.plus} if own.plus else {}
    return taken


def vectorised(loops: Loops, header: Header, apart: Collection[str] = (), lanes: int = 1) -> tuple[str, ...]:
    """The lines of a product's C function: by small vectors where the processor has such, otherwise by single numbers.

    Its arguments are left factors, and of each product right ones, plus, if something is added, and to. Of results that
    are `apart`, zeros that fill squares of so many `lanes` need not be there in lanes, and tiles of them may be the
    caller's.
    """
    zero, mirror, macro = "ALL(0.0)", f"{header.c_prefix}_mirror", header.c_prefix.upper()
    if isinstance(loops, Copies):
        return loops.lines(zero)
    if isinstance(loops, ColumnProduct):
        return loops.lines("T", zero, ((f"{macro}_P8", 2 * VECTOR), (f"{macro}_PACKS", VECTOR)))
    if isinstance(loops, Elimination | Factorisation | Substitutions):
        return loops.lines(words_of(header.c_prefix))
    if isinstance(loops, Segments):
        alone = all(own.port.name in apart for own in loops.products)
        wide = f"{macro}_WIDE" if alone else ""
        others = along(loops, "T", zero, _mirrored(loops, mirror), f"{macro}_PACKS", wide, lanes)
        if not loops.wide:
            return others
        first = by_tiles(loops, _mirrored(loops, mirror), f"{macro}_UNROLL", alone)
        return f"#if {macro}_P8", *first, "#else", *others, "#endif"
    return _by_registers(loops, macro, zero, mirror)


def _by_registers(loops: Tiles | LongSum, macro: str, zero: str, mirror: str) -> tuple[str, ...]:
    """The ways of a product, by what registers hold: eight numbers, four or two, and any others."""
    eight = "8" if isinstance(loops, Tiles) and loops.many > VECTOR else ""
    read, write = (f"{macro}_{way}{eight}({{}})" for way in ("READ", "WRITE"))
    columns = Words(f"COLUMNS{eight}", f"{macro}_ACROSS{eight}", f"(COLUMNS{eight}){{0}}", read, write)
    eights = Words("P8", "8", "(P8){0}", "P8_OF({})", "P8_AT({})")
    others = _lines(loops, "T", columns, mirror)
    if isinstance(loops, LongSum):
        assert loops.wide is not None, "there are wide ones of each"
        first = _lines(loops.wide, "T", eights, mirror)
        return *loops.tables, f"#if {macro}_P8", *first, "#else", *others, "#endif"
    copied = [line for line in [_mirrored(loops, mirror)] if line]
    ways = list[str]()
    if loops.eights:
        straight = sums_in_rows(loops.eights, loops.products, loops.stored, SPELLED)
        ways += [f"#if {macro}_P8", *straight, *copied]
    elif loops.wide:
        ways += [f"#if {macro}_P8", *_lines(loops.wide, "T", eights, mirror)]
    if loops.vectors:
        straight = sums_in_rows(loops.vectors, loops.products, loops.stored, SPELLED)
        ways += [f"#{'el' if ways else ''}if {macro}_PACKS", *straight, *copied]
        if loops.numbers:
            numbers = Spelling("T", zero, "{}", "{}")
            others = *sums_in_rows(loops.numbers, loops.products, loops.stored, {1: numbers}), *copied
    return (*ways, "#else", *others, "#endif") if ways else others


def scalar(loops: Loops, real: str) -> tuple[str, ...]:
    """The same with single numbers, of this type."""
    if isinstance(loops, Copies):
        return loops.lines("0")
    if isinstance(loops, ColumnProduct):
        return loops.lines(real, "0")
    if isinstance(loops, Elimination | Factorisation | Substitutions):
        return loops.lines(scalar_words(real))
    if isinstance(loops, Segments):
        return along(loops, real, "0", _mirrored(loops, ""))
    tables = loops.tables if isinstance(loops, LongSum) else ()
    return *tables, *_lines(loops, real, Words(real, "1", "0", "{}", "{}"))


def _lines(tiles: Tiles | LongSum, real: str, words: Words, mirror: str = "") -> tuple[str, ...]:
    lines, copied = list[str](), [line for line in [_mirrored(tiles, mirror)] if line]
    if isinstance(tiles, LongSum):
        return *tiles.lines(real, words), *copied
    for own in (tiles, tiles.bare) if tiles.bare else (tiles,):
        added = [(p, tiles.stored[product.plus]) for p, product in enumerate(own.products) if product.plus]
        text = render("product.jinja", tiles=own, real=real, body=_tile(own, real, words), added=added)
        text = f"{{\n{text}\n}}" if tiles.bare else text
        lines += [line for line in text.splitlines() if line]
    return *lines, *copied


def _mirrored(loops: Tiles | LongSum | Segments, mirror: str) -> str:
    """A line that copies what is above the diagonal, if that is all that loops compute; by a function of this name."""
    size = loops.size[0]
    copy = f"for (int n = 0; n < {size}; ++n) for (int k = 0; k < n; ++k) to0[n*{size} + k] = to0[k*{size} + n];"
    return (f"{mirror}(to0, {size});" if mirror else copy) if loops.symmetric else ""


def _tile(tiles: Tiles, real: str, words: Words) -> str:
    """The sums of a tile, as many columns at a time as words say."""
    together = tiles.width // tiles.many
    across = [
        (f"{p}_{v}", p, f" + {v}*{words.width}" if v else "")
        for p in range(len(tiles.products))
        for v in range(together)
    ]

    def place(row: int, columns: int, rest: str) -> str:
        return f"[j{f' + {row * columns}' if row else ''}{rest}]"

    def start(p: int, row: int, rest: str) -> str:
        plus = tiles.products[p].plus
        return words.read.format(f"p{p}{place(row, tiles.stored[plus], rest)}") if plus else words.zero

    def end(p: int, row: int, rest: str) -> str:
        return words.write.format(f"r{p}{place(row, tiles.size[1], rest)}")

    return render(
        "product_tile.jinja",
        tiles=tiles,
        real=real,
        type=words.type,
        step=words.width if together == 1 else f"{together}*{words.width}",
        sums=[(f"s{k}_{x}", start(p, k, rest), end(p, k, rest)) for k in range(tiles.block) for x, p, rest in across],
        loads=[(f"x{x}", words.read.format(f"d{p}[j{rest}]")) for x, p, rest in across],
        terms=[
            [(f"s{k}_{x}", k * down, f"x{x}") for k in range(tiles.block) for x, *_ in across]
            for down, _ in tiles.steps
        ],
    ).rstrip("\n")


def names_of(function: WithProducts, given: Sequence[Argument]) -> dict[str, str]:
    """What C calls the arrays, by the names of their ports."""
    found = {a.port.name: a.name for a in given} | {port.name: name for name, port in kept(function).items()}
    return found | {name: found[owner] for name, owner in owners(function).items()}
