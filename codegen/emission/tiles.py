"""Products of matrices as loops over tiles: what each tile takes from the factors.

A tile is a few columns of the result and a block of its rows, whose sums stay in registers while loops run along the
rows of the right factor that meet a number of the left one. The last tile and the last block overlap those before
where sizes do not divide. Two products of the same left factor go together, half a tile each: columns of one place in
two matrices have their zeros in the same rows more often than columns side by side. Small products are straight-line
code where a processor has small vectors (`codegen.emission.row_sums`), but not in very long functions; the longest have
tiles for eight numbers alone, which fewer at a time compute as well. Those of many terms have loops over these
(`codegen.emission.long_sums`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

import numpy as np

from codegen.emission.column_products import ColumnProduct
from codegen.emission.copies import Copies
from codegen.emission.factors import Factorisation, Substitutions, substitutions
from codegen.emission.in_place import owners, rows_of_blocks
from codegen.emission.long_sums import TABLE, LongSum, is_long, long_sum, starts
from codegen.emission.row_sums import overwritten_late, row_sums
from codegen.emission.segments import Segments, segmented
from codegen.emission.splitting import HUGE
from codegen.emission.systems import Elimination, elimination
from codegen.ir.block_matrix import CopiedMatrix
from codegen.ir.calls import GraphCall
from codegen.ir.factors import FactoredMatrix, Substitution
from codegen.ir.maps import GraphMap
from codegen.ir.products import TILE, VECTOR, MaskedMatrixProduct, MatrixProduct, made_by, names_taken
from codegen.ir.systems import SolvedSystem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.emission.masked_tiles import Read
    from codegen.emission.row_sums import RowSum
    from codegen.ir.graph import Port
    from codegen.ir.products import AnyProduct, WithProducts

    Pattern = NDArray[np.bool_]

BLOCKS = (6, 5, 4, 3)
"""Rows of a block: so many sums of tiles fit into registers, and keep the units of a core busy."""

UNITS, LOADS, INSTRUCTIONS, LATENCY = 2, 2, 5, 4
"""Multiply-adds of small vectors, reads and instructions of a core in a cycle, from which a block is chosen.

The last is the cycles after which a sum can be added to again. On an AMD EPYC (Zen 4) the sums of these cycles came
within a tenth of measured times.
"""

Way = Literal["numbers", "vectors"]
WAYS: tuple[Way, ...] = ("numbers", "vectors")
"""Ways in which loops compute products: by single numbers, or lanes of them, or by small vectors."""

LONG, LONGER = 300, 2000
"""Cycles from which loops of wide tiles are worth their text, in functions that are not very long and in others."""

LONGEST = 60_000
"""Statements of a function from which no product is straight-line code, to keep its text short.

Of 31,000 statements (the Hessian of Talos' `aba`) this took 13 percent more time, of 49,000 (`pv_step`, two soles) 3.
"""

ALONE = 40_000
"""Statements from which there are wide tiles alone, to keep the text short: without wide registers that takes up to 4
percent more time (the Hessian of Talos' `step_rk4`)."""

FEW = 1 / 32
"""The part of tiles to which something is added, up to which loops of their own are worth their text."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """The loops of one product, or of two with the same left factor, over tiles of `block` rows and `width` columns.

    `tiles` are first row, first column, and where their own rows of the right factors begin and end among `rows`, for
    each term. Matrices that they take have rows of so many numbers (`stored`), by names of ports. They are made of
    vectors of so `many` numbers. `bare` are further tiles, to which nothing is added. `wide` are those of twice as many
    numbers, for registers of twice the size. If there are `vectors` or `numbers`, straight-line code computes these
    instead, with small vectors or without. So it does with `eights` in registers of twice the size, whether there are
    others or not.
    """

    products: tuple[MatrixProduct, ...]
    stored: Mapping[str, int]
    tiles: tuple[tuple[int, ...], ...]
    rows: tuple[int, ...]
    width: int
    block: int
    many: int = VECTOR
    bare: Tiles | None = None
    wide: Tiles | None = None
    vectors: tuple[RowSum, ...] = ()
    numbers: tuple[RowSum, ...] = ()
    eights: tuple[RowSum, ...] = ()

    def __str__(self) -> str:
        wide = f", or {len(self.wide.tiles)} of {self.wide.block} x {self.wide.width}" if self.wide else ""
        return f"{', '.join(map(str, self.products))} in {len(self.tiles)} tiles of {self.block} x {self.width}{wide}"

    @property
    def size(self) -> tuple[int, ...]:
        """Rows and columns of a result."""
        return self.products[0].port.shape

    @property
    def symmetric(self) -> bool:
        """Whether only the upper triangle is computed."""
        return self.products[0].symmetric

    @property
    def steps(self) -> list[tuple[int, int]]:
        """From row to row of the left factor of each term as it is multiplied, and along a row."""
        return [term.steps(self.stored[term.left]) for term in self.products[0].terms]

    @property
    def table(self) -> list[str]:
        """The tiles as lines of C, which end between tiles, or between numbers where one takes more than a line."""
        rows = [f"{{{','.join(map(str, own))}}}," for own in self.tiles]
        if max(map(len, rows)) > TABLE:
            rows = [row.replace(",", ", ") for row in rows]
        return [line.replace(" ", "") for line in wrap(" ".join(rows), TABLE)]

    @property
    def cycles(self) -> float:
        """An estimate of the time that they take."""
        across = len(self.products) * self.width // self.many
        sums = self.block * across
        step = max(LATENCY, sums / UNITS, (self.block + across) / LOADS, (sums + across + INSTRUCTIONS) / INSTRUCTIONS)
        own = sum(step * _rows(own) + sums + INSTRUCTIONS * len(self.products[0].terms) for own in self.tiles)
        return own + (self.bare.cycles if self.bare else 0)

    def without(self, idle: Mapping[str, Pattern]) -> Tiles:
        """The same without zeros that nothing reads, of matrices by their ports' names."""
        if self.symmetric:
            return self

        def stays(own: MatrixProduct, row: int, column: int, *size: int) -> bool:
            """Whether anything reads a block of a product."""
            place = slice(row, row + size[0]), slice(column, column + size[1])
            return own.port.name not in idle or not idle[own.port.name][place].all()

        tiles = tuple(
            tile
            for tile in self.tiles
            if _rows(tile) or any(own.plus or stays(own, *tile[:2], self.block, self.width) for own in self.products)
        )
        vectors, numbers, eights = (
            tuple(
                x
                for x in sums
                if x.inner or x.plus or stays(self.products[x.product], x.row, x.column, x.rows, len(x.across))
            )
            for sums in (self.vectors, self.numbers, self.eights)
        )
        bare, wide = (own and own.without(idle) for own in (self.bare, self.wide))
        tiles = tiles or self.tiles[:1]
        return replace(self, tiles=tiles, bare=bare, wide=wide, vectors=vectors, numbers=numbers, eights=eights)

    def reads(self) -> Iterator[Read]:
        """What they read of matrices, the wide ones too."""
        for more in (self.bare, self.wide):
            yield from more.reads() if more else ()
        yield from self._of_tiles()
        yield from self._of_sums((*self.vectors, *self.eights))

    def read_in(self, way: Way) -> Iterator[Read]:
        """The same of one way to compute them."""
        in_vectors = way == "vectors"
        if in_vectors:
            yield from self.wide.reads() if self.wide else ()
            yield from self._of_sums((*self.vectors, *self.eights))
        if not (self.vectors and (in_vectors or self.numbers)):
            yield from self.bare.read_in(way) if self.bare else ()
            yield from self._of_tiles()
        elif not in_vectors:
            yield from self._of_sums(self.numbers)

    def _of_tiles(self) -> Iterator[Read]:
        """What tiles read."""
        for row, column, *ends in self.tiles:
            down, across = range(row, row + self.block), range(column, column + self.width)
            met = [self.rows[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True)]
            for own in self.products:
                yield from _read(own, met, down, across)

    def _of_sums(self, sums: Sequence[RowSum]) -> Iterator[Read]:
        """What straight-line code reads."""
        for made in sums:
            own = self.products[made.product]
            for down, inner in made.met:
                met = [inner if term == made.term else () for term in range(len(self.products[0].terms))]
                yield from _read(own if made.plus else replace(own, plus=""), met, down, made.across)


def _rows(tile: Sequence[int]) -> int:
    """How many rows of right factors a tile takes."""
    return sum(tile[3::2]) - sum(tile[2::2])


def _read(
    own: MatrixProduct, met: Sequence[Sequence[int]], down: Sequence[int], across: Sequence[int]
) -> Iterator[Read]:
    """What a block of a product reads where so many rows of each right factor are met."""
    for term, inner in zip(own.terms, met, strict=True):
        yield term.left, *((inner, down) if term.transposed else (down, inner))
        yield term.right, inner, across
    if own.plus:
        yield own.plus, down, [column for column in across if column < own.port.shape[1]]


AnyLoops = Tiles | LongSum | ColumnProduct | Segments | Copies | Elimination | Factorisation | Substitutions


def tiled(function: WithProducts) -> tuple[AnyLoops, ...]:
    """The loops of all products, in an order in which each comes after those that it takes."""
    known, length = function.patterns(), function.length
    together = (products for products in _together(function) if not isinstance(products[0], GraphCall))
    loops = tuple(_loops(products, known, length) for products in together)
    idle = _unread(function, loops, [own.port for own in function.products if isinstance(own, MatrixProduct)])
    return tuple(own.without(idle) if isinstance(own, Tiles) else own for own in loops)


def unread(function: WithProducts, ways: Sequence[Way] = WAYS) -> dict[str, Pattern]:
    """Where matrices that the graph makes for products only have zeros that no loop reads, by their ports' names.

    None does in these ways. Other elements stay, as the statements that compute them would have no use.
    """
    return _unread(function, tiled(function), function.graph.outputs, ways)


def reads_more_in_vectors(function: WithProducts) -> bool:
    """Whether loops with small vectors read zeros that those of single numbers do not."""
    found, others = unread(function), unread(function, ("numbers",))
    return any((others[name] & ~where).any() for name, where in found.items())


def zeros_unread(function: WithProducts, ports: Sequence[Port]) -> dict[str, Pattern]:
    """The same of these ports, whatever makes them."""
    return _unread(function, tiled(function), ports)


def _unread(
    function: WithProducts, loops: Sequence[AnyLoops], ports: Sequence[Port], ways: Sequence[Way] = ()
) -> dict[str, Pattern]:
    """The same of these ports, and without small products as straight-line code if there are no `ways`."""
    known, kept, owner = function.patterns(), {port.name for port in function.kept}, owners(function)
    kept -= {name for own in function.maps for name in own.names}
    found = {port.name: ~known[port.name] for port in ports if port.name in kept & known.keys()}
    for call in function.products:
        for name, element in call.reads() if isinstance(call, GraphCall) else ():
            if name in found:
                found[name].flat[element] = False
    for own in loops:
        read = chain.from_iterable(map(own.read_in, ways)) if ways and isinstance(own, Tiles) else own.reads()
        for name, rows, columns in read:
            name = owner.get(name, name)
            if name in found:
                found[name][np.ix_(rows, columns)] = False
    for gather in function.gathers:
        if (source := owner.get(gather.source, gather.source)) in found:
            found[source].flat[[*gather.places]] = False
    return found


def _loops(products: tuple[AnyProduct, ...], known: Mapping[str, Pattern], length: int) -> AnyLoops:
    """The loops of products that go together, in a function of so many statements.

    None becomes straight-line code of small vectors where these are many, nor of others where they are more.
    """
    long, longest = length > HUGE, length > LONGEST
    if isinstance(products[0], CopiedMatrix):
        return Copies(products[0], tuple(known[name].shape for name in products[0].takes))
    if isinstance(products[0], SolvedSystem):
        return elimination(products[0], known[products[0].matrix])
    if isinstance(products[0], FactoredMatrix):
        return Factorisation(products[0])
    if isinstance(products[0], Substitution):
        return substitutions(products[0], known)
    masked = tuple(product for product in products if isinstance(product, MaskedMatrixProduct))
    if masked:
        made = segmented(masked, known)
        return replace(made, wide=()) if longest else made
    plain = tuple(product for product in products if isinstance(product, MatrixProduct))
    if plain[0].port.shape[1] == 1:
        inner = tuple(len(known[term.right]) for term in plain[0].terms)
        return ColumnProduct(plain[0], {name: known[name].shape[1] for name in plain[0].takes}, inner)
    if is_long(plain[0]):
        return replace(long_sum(plain[0], known, VECTOR), wide=long_sum(plain[0], known, 2 * VECTOR))
    factors, least = [], LONGER if long else LONG
    for terms in zip(*(product.terms for product in plain), strict=True):
        both = [term.factors(known, plain[0].port.shape) for term in terms]
        factors.append((both[0][0], np.any([right for _, right in both], axis=0)))
    height, width = plain[0].port.shape
    stored = {name: known[name].shape[1] for own in plain for name in own.takes}
    if plain[0].onto:
        blocks, long = {block: rows_of_blocks(factors[0][0], block) for block in BLOCKS}, True
    else:
        sizes = sorted({min(block, height) for block in BLOCKS}, reverse=True)
        blocks = {block: starts(height, block) for block in sizes}

    adds = np.any(
        [known[own.plus][:, :width] if own.plus else np.zeros((height, width), bool) for own in plain], axis=0
    )

    def best(many: int) -> Tiles:
        ways = (_tiles(plain, factors, stored, block, rows, many) for block, rows in blocks.items() if rows)
        found = min(ways, key=lambda tiles: tiles.cycles)
        return found if plain[0].onto else _parted(found, adds)

    tiles, vectors = best(VECTOR), () if long else row_sums(plain, known, VECTOR)
    wide = None if vectors or width < 2 * VECTOR or tiles.cycles < least else best(2 * VECTOR)
    if length > ALONE and wide:
        return wide
    some = not longest and (plain[0].symmetric or overwritten_late(plain[0], known))  # others meet more in as many rows
    eights = row_sums(plain, known, 2 * VECTOR) if (vectors and width > VECTOR) or (wide and some) else ()
    return replace(
        tiles,
        wide=None if eights else wide,
        vectors=vectors,
        numbers=() if long else row_sums(plain, known, 1),
        eights=eights,
    )


def _together(function: WithProducts) -> Iterator[tuple[AnyProduct, ...]]:
    """The products one after the other, or two at a time, each after those that it takes."""
    waiting = [*function.steps]
    while waiting:
        missing = {port.name for own in waiting for port in made_by(own)}
        ready = [own for own in waiting if not {*names_taken(own)} & missing]
        waiting = [own for own in waiting if all(own is not other for other in ready)]
        products = [own for own in ready if not isinstance(own, GraphMap)]
        while products:
            first, *others = products
            second = next((own for own in others if _alike(first, own)), None)
            yield (first,) if second is None else (first, second)
            products = [own for own in others if own is not second]


def _alike(first: AnyProduct, second: AnyProduct) -> bool:
    """Whether two products take the same numbers of the same left factors in turn."""

    def way(product: AnyProduct) -> tuple[object, ...]:
        if isinstance(product, CopiedMatrix | SolvedSystem | FactoredMatrix | Substitution | GraphCall):
            return tuple(port.name for port in made_by(product))
        if isinstance(product, MaskedMatrixProduct):
            return product.port.shape, *((part.left, part.transposed, part.runs) for part in product.parts)
        return product.port.shape, product.onto, *((term.left, term.transposed) for term in product.terms)

    apart = isinstance(first, GraphCall) or isinstance(second, GraphCall)
    apart |= isinstance(first, MatrixProduct) and (is_long(first) or first.port.shape[1] == 1)
    return not apart and way(first) == way(second) and not (first.symmetric or second.symmetric)


def _tiles(
    products: tuple[MatrixProduct, ...],
    factors: Sequence[tuple[Pattern, Pattern]],
    stored: Mapping[str, int],
    block: int,
    tops: Sequence[int],
    many: int,
) -> Tiles:
    """The loops of products of matrices that may differ from zero there, term by term.

    Blocks have so many rows and start at these, and vectors have so `many` numbers.
    """
    width, onto = products[0].port.shape[1], products[0].onto
    columns = min(TILE // VECTOR * many // len(products), width // many * many)
    columns = many if onto and width % columns else columns
    tiles, rows, known = [], list[int](), dict[tuple[int, ...], int]()
    padded = all(stored[term.right] % TILE == 0 for own in products for term in own.terms)
    lead = 0 if onto or padded else _lead(factors, width, columns)
    for column in (*range(0, lead, columns), *(lead + start for start in starts(width - lead, columns))):
        for row in tops:
            if products[0].symmetric and row > column + columns - 1:
                continue
            tile = [row, column]
            for left, right in factors:
                some = right[:, column : column + columns].any(axis=1) & (column >= lead)
                met = left[row : row + block].any(axis=0) & some
                own = tuple(int(k) for k in np.flatnonzero(met))
                if own not in known:
                    known[own] = len(rows)
                    rows += own
                tile += [known[own], known[own] + len(own)]
            if not onto or own:
                tiles.append(tuple(tile))
    return Tiles(products, stored, tuple(tiles), tuple(rows) or (0,), columns, block, many)


def _lead(factors: Sequence[tuple[Pattern, Pattern]], width: int, columns: int) -> int:
    """Where tiles of products begin: at the first column that may differ from zero, if fewer have products then."""
    used = np.flatnonzero(np.any([right.any(axis=0) for _, right in factors], axis=0))
    first = min(int(used[0]), width - columns) if len(used) else 0
    fewer = len(starts(width - first, columns)) < len(starts(width, columns)) - first // columns
    return first if fewer else 0


def _parted(tiles: Tiles, adds: Pattern) -> Tiles:
    """The same with tiles apart to which nothing is added, which come last, if others are so `FEW`.

    One of zeros may reach into the next one, which something is added to: it stays before that.
    """
    own, bare = list[tuple[int, ...]](), list[tuple[int, ...]]()
    for tile in tiles.tiles:
        across = tiles.width if _rows(tile) else 2 * tiles.width
        here = adds[tile[0] : tile[0] + tiles.block, tile[1] : tile[1] + across].any()
        (own if here else bare).append(tile)
    if not (own and bare) or len(own) > FEW * len(tiles.tiles):
        return tiles
    plain = tuple(replace(product, plus="") for product in tiles.products)
    return replace(tiles, tiles=tuple(own), bare=replace(tiles, products=plain, tiles=tuple(bare)))
