"""A horizon of equal stages as quadratic programs of constant sparsity: the steps of an SQP method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.errors import RobotError
from codegen.ocp.blocks import Blocks, Pattern
from codegen.ocp.evaluated import Evaluated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from codegen.ocp.stage import Stage

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Quadratic:
    """min x'Px / 2 + c'x with A x = b and lower <= G x <= upper; P (upper half), A and G are SciPy's csc_matrix."""

    P: Any
    c: Array
    A: Any
    b: Array
    G: Any
    lower: Array
    upper: Array

    def __str__(self) -> str:
        return f"QP: {self.c.size} unknowns, {self.b.size} equalities, {self.lower.size} bounded rows"


class Problem:
    """`nodes` equal stages and a `last` one, which has the first unknowns of the others, and costs alone.

    The first `known` increments of node 0 are zero: those of the state, which is measured. Without `compile_c` CasADi's
    virtual machine evaluates what is between functions. With `lanes`, for which all functions must be expanded, many
    nodes are evaluated at once. `exact` = (barrier, near) gives Hessians for a `Riccati` with these barriers that are
    exact if rows that are zero are linear. RobotError for a last stage that does not fit.
    """

    __slots__ = (
        "_blocks",
        "_last",
        "_stage",
        "_width",
        "compile_c",
        "exact",
        "free",
        "functions",
        "known",
        "last",
        "nodes",
        "sizes",
        "stage",
        "states",
    )

    def __init__(
        self,
        stage: Stage,
        last: Stage,
        nodes: int,
        known: int = 0,
        *,
        compile_c: bool = True,
        lanes: bool = False,
        exact: tuple[float, float] | None = None,
    ) -> None:
        if exact is not None and not (len(exact) == 2 and all(0 < x < np.inf for x in exact)):
            raise RobotError(f"exact: {exact}: a barrier and where it becomes a parabola are needed, both positive")
        self.sizes, ends = ({name: x.numel() for name, x in s.unknowns.items()} for s in (stage, last))
        fits = [*self.sizes.items()][: len(ends)] == [*ends.items()] and not (last.zero_rows or last.bounded_rows)
        if not fits or not isinstance(nodes, (int, np.integer)) or nodes < 1 or not sum(self.sizes.values()):
            raise RobotError(
                "a problem needs a node, unknowns, and a last stage with the first unknowns of the others, without rows"
            )
        if known not in range(sum(ends.values()) + 1):
            raise RobotError(f"known={known}, but the state of node 0 has {sum(ends.values())} increments")
        self.stage, self.last, self.compile_c, self.exact = stage, last, compile_c, exact
        self.nodes, self.known, self._width = nodes, known, sum(self.sizes.values())
        self.states = sum(ends.values())
        self.free = nodes * self._width + self.states - known
        named = ("each", stage), ("last", last)
        options: dict[str, Any] = {"compile_c": compile_c and not lanes, "exact": exact}
        self.functions = each, end = tuple(s.linearised(f"{name}_node", **options) for name, s in named)
        self._stage, self._last = Evaluated(each, nodes, lanes=lanes), Evaluated(end, 1, lanes=lanes)
        self._blocks = {name: self._rows(each.sparsity_out(name)) for name in ("zero_by", "bounded_by")}
        w, after = self._width, nodes * self._width - known
        halves = Pattern.repeated(each.sparsity_out("hessian"), nodes, w, w).moved(-known, -known)
        own = _within(end.sparsity_out("hessian"), sum(ends.values())).moved(after, after)
        self._blocks["hessian"] = Blocks((self.free, self.free), halves, own)

    def __repr__(self) -> str:
        return f"Problem({self.nodes} nodes, {self.free} unknowns)"

    def evaluated(
        self, each: Mapping[str, ArrayLike], last: Mapping[str, ArrayLike]
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """Nonzeros of a linearised stage's OUTPUTS for all nodes, and for the last one; see `quadratic`."""
        return self._stage(each), self._last(last)

    def quadratic(self, each: Mapping[str, ArrayLike], last: Mapping[str, ArrayLike]) -> Quadratic:
        """The quadratic program at these parameters: by name, nodes x size, and 1 x size for the last stage.

        RobotError for sizes that differ and numbers that are not finite. Matrices are overwritten by the next call.
        """
        found, ending = self.evaluated(each, last)
        c, w = np.zeros((self.nodes + 2) * self._width), self._width
        c[: self.nodes * w] += found["gradient"][:, :w].ravel()
        c[w : (self.nodes + 1) * w] += found["gradient"][:, w:].ravel()
        own = ending["gradient"].size // 2
        c[self.nodes * w :][:own] += ending["gradient"][0, :own]
        return Quadratic(
            self._blocks["hessian"].filled(found["hessian"], ending["hessian"]),
            c[self.known :][: self.free],
            self._blocks["zero_by"].filled(found["zero_by"]),
            -found["zero"].ravel(),
            self._blocks["bounded_by"].filled(found["bounded_by"]),
            found["lower"].ravel(),
            found["upper"].ravel(),
        )

    def increments(self, x: Array) -> dict[str, Array]:
        """Unknowns by name of a solution (nodes + 1 x size), zero where there are none; RobotError for another size."""
        if np.shape(x) != (self.free,):
            raise RobotError(f"a solution has {self.free} numbers, not those of shape {np.shape(x)}")
        whole = np.zeros((self.nodes + 1) * self._width)
        whole[self.known :][: self.free] = x
        ends = np.cumsum([*self.sizes.values()])[:-1]
        return dict(zip(self.sizes, np.split(whole.reshape(self.nodes + 1, -1), ends, axis=1), strict=True))

    def _rows(self, sparsity: Any) -> Blocks:
        """Blocks of rows: those of a stage are below those of the one before."""
        pattern = Pattern.repeated(sparsity, self.nodes, sparsity.size1(), self._width).moved(0, -self.known)
        return Blocks((self.nodes * sparsity.size1(), self.free), pattern)


def _within(sparsity: Any, size: int) -> Pattern:
    """The places of one block; the last stage's has unknowns of a next node besides, on which nothing may depend."""
    pattern = Pattern.repeated(sparsity, 1, 0, 0)
    if pattern.columns.size and pattern.columns.max() >= size:
        raise RobotError("the last stage must not depend on unknowns of a next node")
    return pattern
