"""What functions and their results become in a pickle, as no module holds the types of results or compiled code."""

from __future__ import annotations

from collections import namedtuple
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from codegen.runtime import Function


@lru_cache(maxsize=1024)
def named_results(name: str, fields: tuple[str, ...]) -> Any:
    """The type of several results: a named tuple that is pickled by its name and fields."""
    plain = cast("Any", namedtuple)(name, fields, rename=True)
    own = {"__slots__": (), "__reduce__": lambda self: (_unpickled, (name, fields, tuple(self)))}
    return type(name, (plain,), own)


def _unpickled(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """Several results, out of a pickle."""
    return named_results(name, fields)(*values)


def made_again(recipe: Callable[[], Function], status: bool) -> Function:
    """A function out of a pickle: built by its recipe, which shows its status or not."""
    return recipe().with_status() if status else recipe()
