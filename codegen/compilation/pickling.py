"""Pickling of functions and results, as no module holds the types of results or compiled code."""

from __future__ import annotations

from collections import namedtuple
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self


class Remade(Protocol):
    """What comes out of a pickle again, by a recipe."""

    def with_status(self) -> Self:
        """The same that shows its status."""


R = TypeVar("R", bound=Remade)


@lru_cache(maxsize=1024)
def named_results(name: str, fields: tuple[str, ...]) -> Any:
    """The type of several results: a named tuple that is pickled by its name and fields."""
    plain = cast("Any", namedtuple)(name, fields, rename=True)
    own = {"__slots__": (), "__reduce__": lambda self: (_unpickled, (name, fields, tuple(self)))}
    return type(name, (plain,), own)


def _unpickled(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """Several results, out of a pickle."""
    return named_results(name, fields)(*values)


def made_again(recipe: Callable[[], R], status: bool) -> R:
    """A function out of a pickle: built by its recipe, which shows its status or not."""
    return recipe().with_status() if status else recipe()
