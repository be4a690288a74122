"""Packages that only some programs need, which come with extras of rigidc."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def extra(names: str, *later: str) -> Iterator[None]:
    """Import here what these extras bring; `later` are packages of theirs that are imported only then.

    The program ends with one sentence where one is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise SystemExit(_missing(str(error.name).partition(".")[0], names)) from None
    for name in later:
        if find_spec(name) is None:
            raise SystemExit(_missing(name, names))


def _missing(name: str, extras: str) -> str:
    return f"{name} is not installed; pip install 'rigidc[{extras}]'"
