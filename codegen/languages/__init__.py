"""Target languages: `language` says what emission has to spell, `c_scalar` and `angles` spell it in C."""

from __future__ import annotations

from codegen.languages.c_scalar import FLOAT32, FLOAT64, Scalar
from codegen.languages.language import TRIG, Language

__all__ = ["SCALARS", "TRIG", "Language", "Scalar"]

SCALARS: dict[str, Scalar] = {scalar.dtype: scalar for scalar in (FLOAT64, FLOAT32)}
"""Real types by NumPy dtype name."""
