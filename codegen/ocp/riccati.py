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
from codegen.ocp.stage import OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from casadi import Sparsity
    from numpy.typing import NDArray

    from codegen.ocp.problem import Problem

    Array = NDArray[np.float64]
    Indices = NDArray[np.int64]

NAME, TEMPLATE = "riccati_step", "riccati.c.jinja"
FEW = 8
"""Unknowns of a bounded row that is put into the cost at once."""


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
        self._problem, self._barrier, self._step = problem, (barrier, near), _library(render(TEMPLATE, **slots))
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


class Layout:
    """Where numbers of a problem's stage are in the symmetric matrix of [chosen; multipliers; states; 1].

    `place` is that of each unknown and next unknown, and -1 of a next state which has an explicit row.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, stage, sizes = problem, problem.stage, problem.sizes
        each, _ = problem.functions
        width, states = sum(sizes.values()), problem.states
        if problem.known != states:
            raise RobotError(f"riccati: known={problem.known}, but all {states} states of node 0 must be known")
        begin = dict(zip(sizes, np.cumsum([0, *sizes.values()]), strict=False))
        self.explicit = np.full(each.size1_out("zero"), -1)
        self.place = np.full(2 * width, -1)
        for name, first in stage.moved.items():
            self.explicit[first : first + sizes[name]] = begin[name] + np.arange(sizes[name])
        self.still = np.setdiff1d(np.arange(states), self.explicit)
        chosen = np.concatenate([width + self.still, np.arange(states, width)])
        self.equalities = np.flatnonzero(self.explicit < 0)
        self.width, self.states, self.chosen = width, states, chosen.size
        self.pivots = chosen.size + self.equalities.size
        self.size = self.pivots + states + 1
        self.wide, self.tall = -8 * (-self.size // 8), -4 * (-self.size // 4)
        self.place[chosen], self.place[:states] = np.arange(chosen.size), self.pivots + np.arange(states)

    def __str__(self) -> str:
        return f"{self.states} states, {self.chosen} chosen, {self.equalities.size} equalities"

    def slots(self) -> dict[str, Any]:
        """Those of the template; RobotError if something depends on a next state that has an explicit row."""
        each, end = self.problem.functions
        rows, _ = _places(each.sparsity_out("bounded_by"))
        bounds, states = np.bincount(rows, minlength=each.size1_out("lower")), self.states
        tables = {**self._moved(), **self._put(), "BOUND_BEGIN": [0, *np.cumsum(bounds)]}
        dense = int(np.sum(bounds > FEW))
        sizes = {name: getattr(self, name) for name in ("states", "pivots", "chosen", "size", "wide", "tall", "width")}
        return {
            "name": NAME,
            "nodes": self.problem.nodes,
            **sizes,
            "bounds": dense,
            "rows": bounds.size,
            "few": FEW,
            "work": (dense + self.tall) * self.wide
            + (states + 1) ** 2
            + self.problem.nodes * self.pivots * (self.wide + 1),
            "zero_rows": self.explicit.size,
            "zero_nnz": each.nnz_out("zero_by"),
            "bounded_nnz": each.nnz_out("bounded_by"),
            "hessian_nnz": each.nnz_out("hessian"),
            "last_nnz": end.nnz_out("hessian"),
            "equal": len(tables["EQUAL_TO"]),
            "tables": [(name, ", ".join(map(str, [*numbers] or [0]))) for name, numbers in tables.items()],
        }

    def _moved(self) -> dict[str, Any]:
        """Rows of next states by [chosen; multipliers; states; 1], and which numbers of the rows that are zero."""
        rows, columns = _places(self.problem.functions[0].sparsity_out("zero_by"))
        explicit, after = np.flatnonzero(self.explicit >= 0), self.place[columns] < 0
        if not np.array_equal(self.explicit[rows[after]] + self.width, columns[after]):
            raise RobotError("riccati: rows must not depend on next states that `moves` gives")
        own, one = np.flatnonzero(~after & (self.explicit[rows] >= 0)), rows.size + self.explicit.size
        constant = self.size - 1
        return {
            "MOVED_ROW": [*self.explicit[rows[own]], *self.explicit[explicit], *self.still, self.states],
            "MOVED_COLUMN": [
                *self.place[columns[own]],
                *[constant] * explicit.size,
                *self.place[self.width + self.still],
                constant,
            ],
            "MOVED_FROM": [*own, *(rows.size + explicit), *[one] * self.still.size, one],
        }

    def _put(self) -> dict[str, Any]:
        """Places in the matrix of equalities, costs and bounds, and of the last cost in that of the states."""
        each, end = self.problem.functions
        rows, columns = _places(each.sparsity_out("zero_by"))
        hessian, (bounded, by) = _places(each.sparsity_out("hessian")), _places(each.sparsity_out("bounded_by"))
        if min([0, *self.place[hessian[0]], *self.place[hessian[1]], *self.place[by]]) < 0:
            raise RobotError("riccati: costs and bounded rows must not depend on next states that `moves` gives")
        multiplier = np.full(self.explicit.size, -1)
        multiplier[self.equalities] = self.chosen + np.arange(self.equalities.size)
        equal, order = np.flatnonzero(multiplier[rows] >= 0), np.argsort(bounded, kind="stable")
        last, end_columns = _places(end.sparsity_out("hessian"))
        constant, tall = self.size - 1, self.states + 1
        return {
            "COST_TO": self._upper(*(self.place[part] for part in hessian)),
            "GRADIENT_TO": np.where(self.place >= 0, self.place * self.wide + constant, -1),
            "EQUAL_TO": [
                *self._upper(multiplier[rows[equal]], self.place[columns[equal]]),
                *(multiplier[self.equalities] * self.wide + constant),
            ],
            "EQUAL_FROM": [*equal, *(rows.size + self.equalities)],
            "BOUND_COLUMN": self.place[by[order]],
            "BOUND_FROM": order,
            "LAST_TO": last * tall + end_columns,
            "LAST_MIRRORED": end_columns * tall + last,
            "FOUND_FROM": self.place[: self.width],
        }

    def _upper(self, i: Indices, j: Indices) -> Indices:
        """Indices in the upper half of the matrix."""
        return np.minimum(i, j) * self.wide + np.maximum(i, j)


def _places(sparsity: Sparsity) -> tuple[Indices, Indices]:
    """Rows and columns of nonzeros."""
    rows, columns = (np.array(part, dtype=np.int64) for part in sparsity.get_triplet())
    return rows, columns


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
