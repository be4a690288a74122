"""What an operation looks like in a target language: one backend per real type, by NumPy dtype name."""

from __future__ import annotations

from codegen.backends.c_scalar import FLOAT32, FLOAT64, Scalar

__all__ = ["BACKENDS", "Scalar"]

BACKENDS: dict[str, Scalar] = {backend.dtype: backend for backend in (FLOAT64, FLOAT32)}
