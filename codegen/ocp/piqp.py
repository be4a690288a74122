"""PIQP, a proximal interior-point method for quadratic programs (Schwan, Jiang, Kuhn and Jones, arXiv 2304.00290).

Its multistage factorisation works on the blocks that a horizon has. It needs no starting point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codegen.ocp.peers import peer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from codegen.ocp.problem import Quadratic

SETTINGS: dict[str, Any] = {
    "eps_rel": 0.0,
    "tau": 0.999,
    "delta_init": 1e-6,
    "check_duality_gap": False,
    "preconditioner_iter": 0,
    "max_iter": 50,
}
"""For steps of an SQP method: few iterations, and no scaling."""


@dataclass(frozen=True, slots=True)
class Solution:
    """Where the solver ended, whether it is a solution, in how many iterations, and the solver's word for it."""

    x: NDArray[np.float64]
    solved: bool
    iterations: int
    status: str

    def __str__(self) -> str:
        return f"{self.status} after {self.iterations} iterations"


class Piqp:
    """A solver of quadratic programs of one sparsity, up to residuals of `tolerance`; BuildError if PIQP is missing.

    Other options are PIQP's settings.
    """

    __slots__ = ("_options", "_peer", "_solver")

    def __init__(self, tolerance: float = 1e-2, **options: Any) -> None:
        self._peer = peer("piqp")
        self._options = {**SETTINGS, "eps_abs": tolerance, **options}
        self._solver: Any = None

    def __repr__(self) -> str:
        return f"Piqp({self._options})"

    def solve(self, qp: Quadratic) -> Solution:
        """The solution, or where the solver gave up."""
        if self._solver is None:
            self._solver = self._peer.SparseSolver()
            self._solver.settings.kkt_solver = self._peer.KKTSolver.sparse_multistage
            for name, value in self._options.items():
                setattr(self._solver.settings, name, value)
            self._solver.setup(qp.P, qp.c, qp.A, qp.b, qp.G, qp.lower, qp.upper)
        else:
            self._solver.update(P=qp.P, c=qp.c, A=qp.A, b=qp.b, G=qp.G, h_l=qp.lower, h_u=qp.upper)
        status, found = self._solver.solve(), self._solver.result
        return Solution(found.x.copy(), status == self._peer.PIQP_SOLVED, int(found.info.iter), status.name)
