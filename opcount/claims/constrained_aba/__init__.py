"""The claims of Sathya and Carpentier 2024, Constrained Articulated Body Dynamics Algorithms (hal-04443056).

One file for what they are about: operations of constrained dynamics, growth, proximal steps, inverses of the Delassus
matrix, and times.
"""

from __future__ import annotations

from opcount.claims.constrained_aba import dynamics, growth, inverses, steps, times

TITLE = "Sathya, Carpentier 2024: Constrained articulated body dynamics algorithms (hal-04443056)"
TEXT = "sathya_carpentier_2024_constrained_aba.txt"
CLAIMS = (*dynamics.CLAIMS, *growth.CLAIMS, *steps.CLAIMS, *inverses.CLAIMS, *times.CLAIMS)
