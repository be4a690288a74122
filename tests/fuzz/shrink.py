"""A failing mutant made small: parts are left out as long as the same finding remains (delta debugging)."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fuzz.files import Mutant
    from fuzz.pool import Pool

TRIALS = 500
SECONDS = 120.0


@dataclass(slots=True)
class _Search:
    """Trials of smaller contents, of which so many are left."""

    found: Mutant
    what: str
    pool: Pool
    left: int = TRIALS
    stop: float = field(default_factory=lambda: time.monotonic() + SECONDS)

    @property
    def over(self) -> bool:
        return self.left <= 0 or time.monotonic() > self.stop

    def accepts(self, content: bytes) -> bool:
        """Whether the finding remains with this content, which is kept then."""
        if self.over or len(content) >= len(self.found.content):
            return False
        self.left -= 1
        smaller = replace(self.found, content=content)
        (outcome,) = self.pool.outcomes([(-1, smaller)])
        if outcome.what == self.what:
            self.found = smaller
        return outcome.what == self.what


def shrunk(found: Mutant, what: str, pool: Pool) -> Mutant:
    """The smallest mutant that could be found with the same finding, in so many trials."""
    search = _Search(found, what, pool)
    parts: Callable[[bytes], Iterator[bytes]] = _json_without if found.suffix == "json" else _xml_without
    while not search.over and any(search.accepts(content) for content in parts(search.found.content)):
        pass
    size = len(search.found.content) // 2
    while size and not search.over:
        at = 0
        while at < len(search.found.content) and not search.over:
            content = search.found.content
            at += 0 if search.accepts(content[:at] + content[at + size :]) else size
        size //= 2
    return search.found


def _xml_without(content: bytes) -> Iterator[bytes]:
    """The same file without one of its elements or attributes, elements with most in them first."""
    try:
        root = etree.fromstring(content)
    except (etree.XMLSyntaxError, ValueError):
        return
    for element in sorted(list(root.iter("*"))[1:], key=lambda one: -len(list(one.iter()))):
        above, place = element.getparent(), element.getparent().index(element)
        above.remove(element)
        yield etree.tostring(root)
        above.insert(place, element)
    for element in root.iter("*"):
        for name, value in list(element.items()):
            del element.attrib[name]
            yield etree.tostring(root)
            element.set(name, value)


def _json_without(content: bytes) -> Iterator[bytes]:
    """The same file without one item of a list or an object, larger ones first."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return
    places: list[tuple[Any, Any]] = []
    stack = [data]
    while stack:
        at = stack.pop(0)
        inner = list(at.items() if isinstance(at, dict) else enumerate(at) if isinstance(at, list) else ())
        places += [(at, key) for key, _ in inner]
        stack += [item for _, item in inner]
    for at, key in places:
        kept = dict(at) if isinstance(at, dict) else list(at)
        del at[key]
        yield json.dumps(data).encode()
        at.clear()
        at.update(kept) if isinstance(at, dict) else at.extend(kept)
