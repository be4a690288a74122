"""One Newton step of a problem by a Riccati recursion in C, with barriers for bounded rows.

Barriers are logarithms of the slack, and parabolas near zero and beyond it (Feller and Ebenbauer, Relaxed logarithmic
barrier function based model predictive control, IEEE TAC 62(3), 2017): a step exists wherever the robot is.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.compilation.cache import Build, kept
from codegen.compilation.compiler import toolchain
from codegen.compilation.shared_library import compile_library
from codegen.emission.text import render
from codegen.errors import RobotError
from codegen.ocp.piqp import Solution
from codegen.ocp.riccati_layout import Layout
from codegen.ocp.stage import OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from codegen.ocp.problem import Problem

    Array = NDArray[np.float64]

NAME, TEMPLATE = "riccati_step", "riccati.c.jinja"


class Riccati:
    """Newton steps of a problem whose bounded rows have barriers: -barrier log(slack), relaxed below `near`.

    Rows should be scaled so that a slack of one is far from the bound. States have the first unknowns of a stage, and
    node 0 has none of them free. Next states are those of `Stage.moves`, or free unknowns; equalities and costs depend
    on the latter. RobotError for other problems, and barriers or relaxations that are not positive.
    """

    __slots__ = ("_barrier", "_found", "_problem", "_sizes", "_step", "_work")

    def __init__(self, problem: Problem, barrier: float = 1e-2, near: float = 0.05) -> None:
        if not (0 < barrier < np.inf and 0 < near < np.inf):
            raise RobotError(f"riccati: barrier {barrier:g} and near {near:g}: give positive numbers")
        if problem.exact not in (None, (barrier, near)):
            raise RobotError(f"riccati: Hessians of the problem are exact for barriers {problem.exact}; give these")
        slots = Layout(problem).slots()
        self._problem, self._barrier = problem, (barrier, near)
        self._step = _library(render(TEMPLATE, name=NAME, **slots))
        each, end = problem.functions
        sizes = [problem.nodes * each.nnz_out(name) for name in OUTPUTS]
        self._sizes = [*sizes, end.nnz_out("gradient"), end.nnz_out("hessian")]
        self._work, self._found = np.zeros(slots["work"]), np.zeros((problem.nodes + 1, slots["width"]))

    def __repr__(self) -> str:
        return f"Riccati({self._problem}, barrier, near = {self._barrier})"

    def solve(self, linear: tuple[Mapping[str, Array], Mapping[str, Array]]) -> Solution:
        """The step of what `Problem.evaluated` gives, or that there is none."""
        found, ending = linear
        given = [found[name] for name in OUTPUTS] + [ending["gradient"], ending["hessian"]]
        if [x.size for x in given] != self._sizes:
            raise RobotError("riccati: these are numbers of another problem")
        failed = self._step(*map(_address, given), *self._barrier, _address(self._work), _address(self._found))
        x = self._found.ravel()[self._problem.known :][: self._problem.free].copy()
        solved = not failed and bool(np.isfinite(x).all())
        return Solution(x, solved, 1, "solved" if solved else "no minimum")


@lru_cache(maxsize=16)
def _library(text: str) -> Any:
    """The function of this C, compiled into the build cache; BuildError if no compiler works."""
    tools = toolchain()

    def build(work: Path) -> Build:
        return Build(compile_library(NAME, {f"{NAME}.c": text}, work, tools), (f"{NAME}.c",), {"symbol": NAME})

    place, made, _ = kept(text, build, tools)
    function = getattr(ctypes.CDLL(str(place / made.binary)), NAME)
    function.argtypes = [*[ctypes.c_void_p] * 9, *[ctypes.c_double] * 2, *[ctypes.c_void_p] * 2]
    return function


def _address(numbers: Array) -> int:
    return int(numbers.ctypes.data)
