"""The lines of C functions of masked products, without head."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from codegen.emission.text import place, render
from codegen.ir.products import VECTOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codegen.emission.masked_tiles import AlikeRows, Mask
    from codegen.emission.segments import Segments


def along(
    own: Segments, real: str, zero: str, mirrored: str, vector: str = "", wide: str = "", lanes: int = 1
) -> tuple[str, ...]:
    """Along the segments of rows, by small vectors, too, if a macro `vector` says so; last is what copies a triangle.

    Where a macro `wide` says that there are lanes, zeros that fill squares of so many are left out.
    """
    columns, parts = own.size[1], []
    results = [f"to{p}[row*{columns} + j]" for p in range(len(own.products))]
    for k in range(len(own.inner)):
        pairs = [own.pairs(k, p, f"right{k}_{p}", "j") for p in range(len(own.products))]
        singles = [" + ".join(f"a{n}*{x}" for n, (_, x) in enumerate(each)) for each in pairs]
        vectors = [" + ".join(f"a{n}**(const P4_ANY *)&{x}" for n, (_, x) in enumerate(each)) for each in pairs]
        parts.append(([(f"a{n}", x) for n, (x, _) in enumerate(pairs[0])], vectors, singles))
    parts.append(([], ["(P4){0}"] * len(results), [zero] * len(results)))
    text = render(
        "product_segments.jinja",
        own=own,
        real=real,
        width=VECTOR,
        lanes=lanes,
        vector=vector,
        wide=wide,
        tables=own.tables,
        mirrored=mirrored,
        parts=[
            {
                "lefts": lefts,
                "vectors": list(zip(results, vectors, strict=True)),
                "singles": list(zip(results, singles, strict=True)),
            }
            for lefts, vectors, singles in parts
        ],
    )
    return tuple(line for line in text.splitlines() if line)


def by_tiles(own: Segments, mirrored: str, unroll: str, preset: bool = False) -> tuple[str, ...]:
    """The same by tiles of eight columns, of one product after the other; loops over unlike rows begin with a word.

    Tiles of zeros may be `preset` by the caller.
    """
    known = {mask: k for k, mask in enumerate(dict.fromkeys(x for rows in own.wide for row in rows.masks for x in row))}
    tiles, tables = [], own.tables
    for (column, parts), same in groupby(own.wide, lambda rows: (rows.column, rows.parts)):
        pairs = {part: own.pairs(part, 0, f"right{part}", str(column)) for part in parts}
        kept = {x: f"b{k}_{n}" for k in parts if not own.only[k] for n, (_, x) in enumerate(pairs[k])}
        sums = [_halves([f"{a}*{kept.get(x, f'P8_OF({x})')}" for a, x in pairs[k]]) for k in parts]
        rows = []
        for alike in same:
            masks = [_mask(alike, k, known) for k in range(len(parts))]
            tables += [table for _, table in masks if table]
            many = f"{unroll} " if any(table for _, table in masks) else ""
            loop = f"{many}for (int row = {alike.rows.start}; row < {alike.rows.stop}; ++row)"
            to = f"to[{place('row', own.size[1], column)}]"
            total = _masked([*zip(sums, [mask for mask, _ in masks], strict=True)])
            rows.append((loop, f"P8_ZEROS({to})" if preset and not parts else f"P8_AT({to}) = {total}"))
        tiles.append({"kept": [(name, x) for x, name in kept.items()], "rows": rows})
    slots = {
        "tables": [*tables, *_table(known)],
        "head": "for (int p = 0; p < 2; ++p) {" if len(own.products) > 1 else "{",
        "pointers": _pointers(own),
        "mirrored": mirrored,
    }
    text = render("product_masked.jinja", tiles=tiles, **slots)
    return tuple(line for line in text.splitlines() if line)


def _table(known: Iterable[Mask]) -> list[str]:
    """These masks as lines of C, unless none leaves anything out."""
    rows = [", ".join("-1" if here else "0" for here in mask) for mask in known]
    if all(map(all, known)):
        return []
    return ["static const P8_BITS masks[] = {", *(f"    {{ {row} }}," for row in rows), "};"]


def _mask(own: AlikeRows, k: int, known: Mapping[Mask, int]) -> tuple[str, str]:
    """The mask of such a part in C, none where it has all eight, and a table if it differs from row to row."""
    masks = [row[k] for row in own.masks]
    if len({*masks}) == 1:
        return "" if all(masks[0]) else f"masks[{known[masks[0]]}]", ""
    name = f"of{own.parts[k]}_{own.rows.start}_{own.column}"
    numbers = ", ".join(str(known[mask]) for mask in masks)
    return f"masks[{name}[row - {own.rows.start}]]", f"static const unsigned char {name}[] = {{ {numbers} }};"


def _pointers(own: Segments) -> list[str]:
    """What a product takes and makes, in the place of product p."""
    two = len(own.products) > 1
    made = f"T *const to = {'p ? to1 : to0' if two else 'to0'}"
    names = (f"right{k}" for k in range(len(own.inner)))
    return [made, *(f"const T *const {x} = {f'p ? {x}_1 : {x}_0' if two else f'{x}_0'}" for x in names)]


def _masked(parts: Sequence[tuple[str, str]]) -> str:
    """Eight numbers of sums, each where its mask says; one without a mask has all, and zeros are what nothing makes."""
    chosen = [f"((P8_BITS)({own}) & {mask})" for own, mask in parts if mask]
    return f"(P8)({' | '.join(chosen)})" if chosen else next((own for own, _ in parts), "(P8){0}")


def _halves(terms: Sequence[str]) -> str:
    """A sum, a long one in two halves that do not wait for each other."""
    half = len(terms) // 2
    return " + ".join(terms) if half < 3 else " + ".join(f"({' + '.join(own)})" for own in (terms[:half], terms[half:]))
