"""A problem as a nonlinear program of CasADi's solvers, with the exact derivatives of its stages.

CasADi would differentiate the program by directional derivatives, of which a stage takes many. Here its solvers find
the gradient, the Jacobian and the Hessian of the Lagrangian where they look for them, in their cache of functions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from casadi import Function, nlpsol

from codegen.errors import RobotError
from codegen.ocp.evaluated import Evaluated
from codegen.ocp.piqp import Solution
from codegen.ocp.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from codegen.ocp.problem import Problem
    from codegen.ocp.stage import Stage

SOLVERS: dict[str, dict[str, Any]] = {"fatrop": {"print_level": 0}, "ipopt": {"print_level": 0, "sb": "yes"}}
OPTIONS = {"print_time": False, "calc_lam_x": False, "calc_lam_p": False}


class Nonlinear:
    """`fatrop` or `ipopt`, which come with CasADi, on a problem, with options of the solver.

    Bounds of rows depend on parameters alone. For fatrop all next states are those of `Stage.moves`, and nothing else
    depends on a next node. RobotError for other problems. `inside` are the seconds of the processor that the last
    solution took in functions.
    """

    __slots__ = ("_bounds", "_buffer", "_given", "_last", "_names", "_run", "_solver", "_total", "_x", "inside")

    def __init__(self, problem: Problem, solver: str = "fatrop", options: Mapping[str, Any] | None = None) -> None:
        if solver not in SOLVERS:
            raise RobotError(f"solver {solver!r}: choose one of {', '.join(SOLVERS)}")
        program = Program(problem)
        structure = program.structure() if solver == "fatrop" else {}
        given = {"cache": program.derivatives(solver), solver: SOLVERS[solver] | dict(options or {}), **structure}
        nlp = {"x": program.x, "p": program.p, "f": program.f, "g": program.g}
        try:
            self._solver = nlpsol("horizon", solver, nlp, {**OPTIONS, **given})
        except RuntimeError as error:
            raise RobotError(f"{solver}: {_short(error)}") from None
        self._bounds, self._last = Evaluated(_bounds(problem.stage), problem.nodes), Evaluated(_bounds(problem.last), 1)
        self._buffer: Any
        self._buffer, self._run = self._solver.buffer()
        sizes = {name: self._solver.nnz_in(name) for name in ("p", "lbx", "ubx", "lbg", "ubg")}
        self._given = {name: np.zeros(size) for name, size in sizes.items()}
        self._given["lbx"][:], self._given["ubx"][:] = -np.inf, np.inf
        for name, numbers in self._given.items():
            self._buffer.set_arg(self._solver.index_in(name), numbers.data)
        self._x, self._names = np.zeros(problem.free), ([*problem.stage.parameters], [*problem.last.parameters])
        self._buffer.set_res(self._solver.index_out("x"), self._x.data)
        self.inside = self._total = 0.0

    def __repr__(self) -> str:
        return f"Nonlinear({self._solver})"

    def solve(self, given: tuple[Mapping[str, ArrayLike], Mapping[str, ArrayLike]]) -> Solution:
        """The increments from parameters of the nodes and of the last one, which `Problem.quadratic` takes, too.

        RobotError for sizes that differ and numbers that are not finite.
        """
        each, last = given
        found, _ = self._bounds(each), self._last(last)
        numbers = [np.ravel(part[name]) for part, names in zip(given, self._names, strict=True) for name in names]
        self._given["p"][:] = np.concatenate([np.zeros(0), *numbers])
        for name, bounds in (("lbg", found["lower"]), ("ubg", found["upper"])):
            rows = self._given[name].reshape(len(bounds), -1)
            rows[:, rows.shape[1] - bounds.shape[1] :] = bounds
        try:
            self._run()
        except RuntimeError as error:
            return Solution(np.zeros(self._x.size), False, 0, _short(error))
        stats, x, before = self._buffer.stats(), self._x.copy(), self._total
        self._total = sum(spent for key, spent in stats.items() if key.startswith("t_proc_nlp_"))  # of all solutions
        self.inside = self._total - before
        solved = bool(stats["success"]) and bool(np.isfinite(x).all())
        return Solution(x, solved, int(stats["iter_count"]), str(stats["unified_return_status"]))


def _short(error: RuntimeError) -> str:
    """What CasADi says, without the places in its sources."""
    return re.sub(r"^.*\.[ch]pp:\d+: ", "", str(error).strip().splitlines()[-1])


def _bounds(stage: Stage) -> Function:
    """Bounds of rows by the parameters; RobotError if they depend on anything else."""
    _, _, low, _, up = stage.parts()
    found = Function(
        "bounds", [*stage.parameters.values()], [low, up], [*stage.parameters], ["lower", "upper"], {"allow_free": True}
    )
    if found.has_free():
        raise RobotError(f"bounds must depend on parameters alone, not on {', '.join(found.get_free())}")
    return found
