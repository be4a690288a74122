"""A folder of C as one header: declarations, and definitions behind a macro that one source of a program defines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from codegen.emission.text import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_INCLUDE = re.compile(r"^#include (?:<(.+)>|\".+\")\n", re.MULTILINE)
_OPERATION = re.compile(r"\w+_(?:UNARY|BINARY)\(")
_SHORT = re.compile(r"^(?:typedef .*?(\w+)(?: __attribute__.*)?;|\w+_INLINE (?:T|void) ([A-Z]+)\(.*)$", re.MULTILINE)


def single_header(files: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The header alone, with the sources of a folder whose symbols begin with `prefix`, in their order.

    What has a short name in the sources is called otherwise there, so that the program's own may be called so.
    """
    header, shared = f"{prefix}.h", f"{prefix}_real.h"
    sources = [files[name] for name in (shared,) if name in files]
    sources += [text for name, text in files.items() if name.startswith(prefix) and name.endswith(".c")]
    libraries = dict.fromkeys(name for text in sources for name in _INCLUDE.findall(text) if name)
    found = (one or other for text in sources for one, other in _SHORT.findall(text))
    names = dict.fromkeys(name for name in found if not name.startswith(prefix))
    text = render(
        "single_header.h.jinja",
        prefix=prefix,
        PREFIX=prefix.upper(),
        declarations=files[header],
        libraries=libraries,
        names=names,
        definitions=list(_once(_INCLUDE.sub("", text).strip("\n") for text in sources)),
    )
    return {header: text}


def _once(sources: Iterable[str]) -> Iterator[str]:
    """The sources, of which the first alone makes an operation that several need (`SOLO12_BINARY(solo12_le, ...)`)."""
    made = set[str]()
    for text in sources:
        own = [line for line in text.split("\n") if _OPERATION.match(line)]
        kept = [line for line in text.split("\n") if line not in made or not _OPERATION.match(line)]
        made |= {*own}
        yield "\n".join(kept)
