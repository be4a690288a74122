"""The lines of C functions of masked products, without head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.emission.text import render
from codegen.ir.products import VECTOR

if TYPE_CHECKING:
    from codegen.emission.masked_tiles import MaskedTiles
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
        lefts, rights = own.factors(k)
        singles = [" + ".join(f"a{n}*{x}" for n, x in enumerate(right)) for right in rights]
        vectors = [" + ".join(f"a{n}**(const P4_ANY *)&{x}" for n, x in enumerate(right)) for right in rights]
        parts.append(([(f"a{n}", x) for n, x in enumerate(lefts)], vectors, singles))
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


def by_tiles(own: Segments, tiles: MaskedTiles, mirrored: str) -> tuple[str, ...]:
    """The same by tiles of eight columns."""
    products, parts = range(len(own.products)), []
    results = [f"to{p}[row*{own.size[1]} + j]" for p in products]
    for k, only in enumerate(own.only):
        lefts, rights = own.factors(k)
        kept = {} if only else {x: f"b{p}_{n}" for p, row in enumerate(rights) for n, x in enumerate(row)}
        sums = [" + ".join(f"a{n}*{kept.get(x, f'P8_OF({x})')}" for n, x in enumerate(row)) for row in rights]
        parts.append(
            {
                "rights": [(name, x) for x, name in kept.items()],
                "lefts": [(f"a{n}", x) for n, x in enumerate(lefts)],
                "sums": list(zip(results, sums, strict=True)),
            }
        )
    masks = [", ".join("-1" if chosen else "0" for chosen in mask) for mask in tiles.masks]
    slots = {"masks": masks, "parts": parts, "results": results, "tables": own.tables, "mirrored": mirrored}
    return tuple(line for line in render("product_masked.jinja", own=tiles, **slots).splitlines() if line)
