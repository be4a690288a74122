"""Where numbers are in the matrices of a Riccati recursion, and which of them are never zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.errors import RobotError

if TYPE_CHECKING:
    from casadi import Sparsity
    from numpy.typing import NDArray

    from codegen.ocp.problem import Problem

    Indices = NDArray[np.int64]

FEW = 8
"""Unknowns of a bounded row that is put into the cost at once."""


class Layout:
    """Where numbers of a problem's stage are in the symmetric matrix of [chosen; multipliers; states; 1].

    `place` is that of each unknown and next unknown, and -1 of a next state which has an explicit row. Unknowns of the
    node are chosen before next states: they touch fewer others. Number j of row i is at row[i] + j.
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
        chosen = np.concatenate([np.arange(states, width), width + self.still])
        self.equalities = np.flatnonzero(self.explicit < 0)
        self.width, self.states, self.chosen = width, states, chosen.size
        self.pivots = chosen.size + self.equalities.size
        self.size = self.pivots + states + 1
        self.wide, self.tall, self.ends = -8 * (-self.size // 8), -4 * (-self.size // 4), -8 * (-(states + 1) // 8)
        self.place[chosen], self.place[:states] = np.arange(chosen.size), self.pivots + np.arange(states)
        self.multiplier = np.full(self.explicit.size, -1)
        self.multiplier[self.equalities] = chosen.size + np.arange(self.equalities.size)
        tile = np.arange(self.tall) // 8 * 8
        self.row = np.cumsum(self.wide - tile) - self.wide

    def __str__(self) -> str:
        return f"{self.states} states, {self.chosen} chosen, {self.equalities.size} equalities"

    def slots(self) -> dict[str, Any]:
        """Those of the template; RobotError if something depends on a next state that has an explicit row."""
        each, end = self.problem.functions
        rows, _ = _places(each.sparsity_out("bounded_by"))
        bounds, states = np.bincount(rows, minlength=each.size1_out("lower")), self.states
        moved = self._moved()
        by = moved.pop("MOVED_COLUMN")
        sources = self._sources(by)
        tables = {
            **moved,
            **self._put(),
            "ROW": self.row,
            "BOUND_BEGIN": [0, *np.cumsum(bounds)],
            "SOURCE": np.concatenate(sources),
            "SOURCE_END": np.cumsum([some.size for some in sources]),
        }
        slacks = int(np.sum(bounds > FEW))
        names = ("states", "pivots", "chosen", "size", "wide", "tall", "width", "ends")
        sizes = {name: getattr(self, name) for name in names}
        kept, inverses = int(self.row[self.pivots] + self.pivots // 8 * 8), 8 * (1 + (slacks + self.pivots) // 8)
        moves = 8 * (1 + by.size // 8)
        common = (slacks + self.ends) * self.wide + (states + 1) * self.ends + self.row[-1] + 2 * self.wide
        return {
            "nodes": self.problem.nodes,
            **sizes,
            "slacks": slacks,
            "rows": bounds.size,
            "few": FEW,
            "kept": kept,
            "inverses": inverses,
            "moves": moves,
            "work": int(common + self.problem.nodes * (kept + inverses + moves)),
            "zero_rows": self.explicit.size,
            "zero_nnz": each.nnz_out("zero_by"),
            "bounded_nnz": each.nnz_out("bounded_by"),
            "hessian_nnz": each.nnz_out("hessian"),
            "last_nnz": end.nnz_out("hessian"),
            "equal": len(tables["EQUAL_TO"]),
            "tables": [(name, ", ".join(map(str, [*numbers] or [0]))) for name, numbers in tables.items()],
        }

    def _sources(self, moved: Indices) -> list[Indices]:
        """Of every four rows: which slacks and which unknowns before them have numbers in their columns."""
        each, _ = self.problem.functions
        hessian, (rows, columns) = _places(each.sparsity_out("hessian")), _places(each.sparsity_out("zero_by"))
        bounded, by = _places(each.sparsity_out("bounded_by"))
        some = np.eye(self.size, dtype=bool)
        some[-1] = some[:, -1] = True
        some[np.ix_(moved, moved)] = True  # by the cost to go
        some[self.place[hessian[0]], self.place[hessian[1]]] = True
        equal = self.explicit[rows] < 0
        some[self.multiplier[rows[equal]], self.place[columns[equal]]] = True
        slacks = []
        for row in range(each.size1_out("lower")):
            one = np.r_[self.place[by[bounded == row]], self.size - 1]
            some[np.ix_(one, one)] = True
            if one.size > FEW + 1:
                slacks.append(np.isin(np.arange(self.size), one))
        some |= some.T
        for pivot in range(self.pivots):  # which numbers become nonzero
            after = np.flatnonzero(some[pivot, pivot:]) + pivot
            some[np.ix_(after, after)] = True
        above = np.vstack([*slacks, np.triu(some[: self.pivots])])
        number = np.arange(above.shape[0]) - len(slacks)
        return [np.flatnonzero(above[:, k : k + 4].any(axis=1) & (number < k)) for k in range(0, self.tall, 4)]

    def _moved(self) -> dict[str, Any]:
        """Rows of next states by [chosen; multipliers; states; 1], and which numbers of the rows that are zero."""
        rows, columns = _places(self.problem.functions[0].sparsity_out("zero_by"))
        explicit, after = np.flatnonzero(self.explicit >= 0), self.place[columns] < 0
        if not np.array_equal(self.explicit[rows[after]] + self.width, columns[after]):
            raise RobotError("riccati: rows must not depend on next states that `moves` gives")
        own, one = np.flatnonzero(~after & (self.explicit[rows] >= 0)), rows.size + self.explicit.size
        constant = self.size - 1
        to = [*self.explicit[rows[own]], *self.explicit[explicit], *self.still, self.states]
        by = [*self.place[columns[own]], *[constant] * explicit.size, *self.place[self.width + self.still], constant]
        source = [*own, *(rows.size + explicit), *[one] * self.still.size, one]
        order = np.argsort(by, kind="stable")
        return {
            "MOVED_ROW": np.array(to)[order],
            "MOVED_COLUMN": np.array(by)[order],
            "MOVED_FROM": np.array(source)[order],
            "MOVED_END": np.cumsum(np.bincount(by, minlength=self.size)),
        }

    def _put(self) -> dict[str, Any]:
        """Places in the matrix of equalities, costs and bounds, and of the last cost in that of the states."""
        each, end = self.problem.functions
        rows, columns = _places(each.sparsity_out("zero_by"))
        hessian, (bounded, by) = _places(each.sparsity_out("hessian")), _places(each.sparsity_out("bounded_by"))
        if min([0, *self.place[hessian[0]], *self.place[hessian[1]], *self.place[by]]) < 0:
            raise RobotError("riccati: costs and bounded rows must not depend on next states that `moves` gives")
        multiplier = self.multiplier
        equal, order = np.flatnonzero(multiplier[rows] >= 0), np.lexsort((self.place[by], bounded))
        last, end_columns = _places(end.sparsity_out("hessian"))
        constant = self.size - 1
        return {
            "COST_TO": self._upper(*(self.place[part] for part in hessian)),
            "GRADIENT_TO": np.where(self.place >= 0, self.row[self.place] + constant, -1),
            "EQUAL_TO": [
                *self._upper(multiplier[rows[equal]], self.place[columns[equal]]),
                *(self.row[multiplier[self.equalities]] + constant),
            ],
            "EQUAL_FROM": [*equal, *(rows.size + self.equalities)],
            "BOUND_COLUMN": self.place[by[order]],
            "BOUND_FROM": order,
            "LAST_TO": last * self.ends + end_columns,
            "LAST_MIRRORED": end_columns * self.ends + last,
            "FOUND_FROM": self.place[: self.width],
        }

    def _upper(self, i: Indices, j: Indices) -> Indices:
        """Indices in the upper half of the matrix."""
        return self.row[np.minimum(i, j)] + np.maximum(i, j)


def _places(sparsity: Sparsity) -> tuple[Indices, Indices]:
    """Rows and columns of nonzeros."""
    rows, columns = (np.array(part, dtype=np.int64) for part in sparsity.get_triplet())
    return rows, columns
