"""Packages that only optimal control needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from codegen.errors import BuildError


def peer(name: str) -> Any:
    """A module of another project; BuildError if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise BuildError(f"{name} is not installed; pip install rigidc[mpc]") from None
