"""What an operation looks like in a target language: one backend per real type, by NumPy dtype name."""

from __future__ import annotations

from codegen.backends.c_scalar import FLOAT32, FLOAT64, Scalar
from codegen.backends.language import TRIG, Language

__all__ = ["BACKENDS", "TRIG", "Language", "Scalar"]

BACKENDS: dict[str, Scalar] = {backend.dtype: backend for backend in (FLOAT64, FLOAT32)}
