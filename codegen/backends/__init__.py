"""Target languages: `c_scalar` and `language` spell what emission writes, `registry` lists what writes folders.

Emission stands on the first two, backends with a printer of their own (`c_portable`) on emission.
"""

from __future__ import annotations

from codegen.backends.c_scalar import FLOAT32, FLOAT64, Scalar
from codegen.backends.language import TRIG, Language

__all__ = ["SCALARS", "TRIG", "Language", "Scalar"]

SCALARS: dict[str, Scalar] = {scalar.dtype: scalar for scalar in (FLOAT64, FLOAT32)}
"""Real types by NumPy dtype name."""
