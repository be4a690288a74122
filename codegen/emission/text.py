"""Where the templates are, and how their slots are filled."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

if TYPE_CHECKING:
    if sys.version_info >= (3, 11):
        from importlib.resources.abc import Traversable
    else:
        from importlib.abc import Traversable


def template_folder() -> Traversable | Path:
    """The templates beside this package in a checkout, else as installed (`codegen.templates`)."""
    checkout = Path(__file__).resolve().parents[2] / "templates"
    return checkout if (checkout / "kernel.c.jinja").is_file() else resources.files("codegen.templates")


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    folder = template_folder()
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def render(template: str, **slots: Any) -> str:
    """A template with its slots filled; a slot that is not given is an error."""
    return _environment().get_template(template).render(**slots)


def place(row: str, length: int, column: int) -> str:
    """Where matrices with rows of so many numbers have an element, for a row that is an expression."""
    before = f"{row}*{length}" if length > 1 else row
    return f"{before} {'-' if column < 0 else '+'} {abs(column)}" if column else before
