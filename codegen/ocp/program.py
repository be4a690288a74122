"""The unknowns, rows and cost of a problem over CasADi's MX, and their derivatives, assembled of those of its stages.

Each is a function of a stage, mapped over the nodes, whose nonzeros are summed into a matrix of constant sparsity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
from casadi import DM, MX, SX, Function, Sparsity, vec, vertcat

from codegen.errors import RobotError
from codegen.ocp.blocks import Pattern
from codegen.ocp.compiled import compiled
from codegen.ocp.parts import as_it_is, parts_of
from codegen.ocp.stage import linked

if TYPE_CHECKING:
    from codegen.ocp.chain import Compiler
    from codegen.ocp.problem import Problem
    from codegen.ocp.stage import Stage

LARGE = 1e30
"""What of more fatrop is not told."""

AXES = ("rows", "columns")
Called = tuple[list[MX], list[MX]]
"""Results of a function at all nodes, and at the last one."""


@dataclass(frozen=True, slots=True)
class Derivatives:
    """A stage's cost and rows, their derivatives, and the Hessian of the Lagrangian, as functions.

    They are of unknowns, parameters, and the Hessian is of multipliers of the cost and of the rows, too. With it comes
    the gradient of the Lagrangian. `libraries` are those that they call, besides those of the stage's calls.
    """

    cost: Function
    rows: Function
    gradient: Function
    jacobian: Function
    hessian: Function
    libraries: tuple[str, ...]

    def __str__(self) -> str:
        return str(self.rows)

    @classmethod
    def of(cls, stage: Stage, name: str, part: Compiler) -> Derivatives:
        """Those of a stage. Its rows begin with next states minus what `moves` makes them, as fatrop wants it."""
        zero, residual, _, bounded, _ = stage.parts()
        moves = [first + k for key, first in stage.moves_first() for k in range(stage.unknowns[key].numel())]
        others = [k for k in range(zero.numel()) if k not in moves]
        rows, cost = vertcat(-zero[moves], zero[others], bounded), casadi.sumsqr(residual) / 2
        at = MX.sym("at", 2 * sum(x.numel() for x in stage.unknowns.values()))
        inputs = {key: MX.sym(key, x.sparsity()) for key, x in stage.parameters.items()}
        chain = stage.chain(name, inputs, part, at)
        weights = [MX.sym("lam_f"), MX.sym("lam_g", rows.numel())]
        lam_f, lam_g = symbols = [SX.sym("lam_f"), SX.sym("lam_g", rows.numel())]
        chain.learn(symbols, weights)
        lagrangian, slope = lam_f * cost + casadi.dot(lam_g, rows), casadi.densify(chain.derivative(cost).T)
        parts = {
            "cost": [cost],
            "rows": [casadi.densify(rows)],
            "gradient": [slope],
            "jacobian": [chain.derivative(rows)],
        }
        found: list[tuple[str, list[MX], list[MX]]]
        found = [(key, [], chain.evaluated(key, expressions)) for key, expressions in parts.items()]
        hessian = casadi.triu2symm(casadi.triu(chain.hessian(lagrangian)))
        both = [hessian, casadi.densify(chain.derivative(lagrangian).T)]
        found.append(("hessian", weights, chain.evaluated("hessian", both)))
        given = [at, *inputs.values()]
        functions = {key: Function(f"{name}_{key}", given + more, results) for key, more, results in found}
        return cls(**functions, libraries=tuple(chain.libraries))


def limited(results: list[MX]) -> list[MX]:
    """The nonzeros within LARGE, and -LARGE for what is no number: fatrop 1.1 does not end where it is given others."""
    return [MX(x.sparsity(), casadi.fmin(casadi.fmax(x.nz[:], -LARGE), LARGE)) if x.nnz() else x for x in results]


class Program:
    """min f(x, p) with rows g(x, p), those of a node below those of the one before."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.nodes, width, states = problem, problem.nodes, sum(problem.sizes.values()), problem.states
        libraries = linked(problem.stage, problem.last) if problem.compile_c else None
        part = parts_of(libraries) if problem.compile_c else as_it_is
        self.each = Derivatives.of(problem.stage, "each_program", part)
        self.last = Derivatives.of(problem.last, "last_program", part)
        made = (*self.each.libraries, *self.last.libraries)
        self.libraries = None if libraries is None else [*libraries, *made]
        self.x = MX.sym("x", problem.free)
        first = np.arange(self.nodes)[None] * width - problem.known + np.arange(2 * width)[:, None]
        places = np.where((first >= 0) & (first < problem.free), first, problem.free)  # zeros are behind x
        at = casadi.reshape(vertcat(self.x, 0)[places.ravel(order="F").tolist()], 2 * width, self.nodes)
        end = vertcat(self.x[problem.free - states :], MX.zeros(states))
        own = [MX.sym(key, x.numel(), self.nodes) for key, x in problem.stage.parameters.items()]
        last = [MX.sym(key, x.numel()) for key, x in problem.last.parameters.items()]
        self.p = vertcat(MX(0, 1), *map(vec, own), *last)
        self.given = [at, *own], [end, *last]
        (cost,), (end,) = self._called("cost")
        (rows,), _ = self._called("rows")
        self.f, self.g, self.rows = casadi.sum2(cost) + end, vec(rows), rows.size1()
        self.axes = {"x": (width, -problem.known, problem.free), "g": (self.rows, 0, self.g.numel()), "": (0, 0, 1)}

    def __str__(self) -> str:
        return f"{self.x.numel()} unknowns, {self.g.numel()} rows"

    def structure(self) -> dict[str, Any]:
        """What fatrop is told: numbers of states, controls and rows of all nodes; RobotError for other structures."""
        states, (width, _, _), nodes = self.problem.states, self.axes["x"], self.nodes
        rows, columns = self.each.jacobian.sparsity_out(0).get_triplet()
        after = sorted((j - width, i) for i, j in zip(rows, columns, strict=True) if j >= width)
        _, columns = self.each.hessian.sparsity_out(0).get_triplet()
        if after != [(k, k) for k in range(states)] or max(columns, default=0) >= width:
            raise RobotError("fatrop: next states must be those of `moves`, and nothing else may depend on a next node")
        return {
            "structure_detection": "manual",
            "N": nodes,
            "nx": [states - self.problem.known, *[states] * nodes],
            "nu": [*[width - states] * nodes, 0],
            "ng": [*[self.rows - states] * nodes, 0],
        }

    def derivatives(self, solver: str) -> dict[str, Function]:
        """The functions that a solver looks for, by their names."""
        lam_f, lam_g = MX.sym("lam_f"), MX.sym("lam_g", self.g.numel())
        weights = casadi.repmat(lam_f, 1, self.nodes), casadi.reshape(lam_g, self.rows, self.nodes)
        second = self._called("hessian", list(weights), [lam_f, MX(0, 1)])
        gradient = self._summed("gradient", self._called("gradient"), 0, "x", "")
        jacobian = self._summed("jacobian", self._called("jacobian"), 0, "g", "x")
        hessian, slope = self._summed("hessian", second, 0, "x", "x"), self._summed("hessian", second, 1, "x", "")
        at, weighed, whole = [self.x, self.p], [self.x, self.p, lam_f, lam_g], solver == "fatrop"
        found = {
            "nlp_f": (at, [self.f]),
            "nlp_g": (at, [self.g]),
            "nlp_grad_f": (at, [gradient] if whole else [self.f, gradient]),
            "nlp_jac_g": (at, [self.g, jacobian]),
            "nlp_hess_l": (weighed, [slope, hessian] if whole else [casadi.triu(hessian)]),
            "nlp_grad": (weighed, [self.f, self.g, MX(*self.x.shape), MX(*self.p.shape)]),  # multipliers of bounds
        }
        end = limited if whole else list
        functions = {name: Function(name, given, end(results)) for name, (given, results) in found.items()}
        if self.libraries is None:
            return functions
        return {name: compiled(function, self.libraries) for name, function in functions.items()}

    def _called(self, part: str, each: list[MX] | None = None, last: list[MX] | None = None) -> Called:
        own, end = self.given
        mapped = getattr(self.each, part).map(self.nodes)
        return mapped.call([*own, *(each or [])]), getattr(self.last, part).call([*end, *(last or [])])

    def _summed(self, part: str, called: Called, output: int, down: str, right: str) -> MX:
        """A matrix of all nodes' nonzeros of an output, whose rows and columns are along axes."""
        axes = self.axes[down], self.axes[right]
        (high, top, height), (wide, left, width) = axes
        own, end = (getattr(found, part).sparsity_out(output) for found in (self.each, self.last))
        places = (
            Pattern.repeated(own, self.nodes, high, wide).moved(top, left),
            Pattern.repeated(end, 1, 0, 0).moved(self.nodes * high + top, self.nodes * wide + left),
        )
        found = [(x[output], p) for x, p in zip(called, places, strict=True) if x[output].nnz()]  # CasADi knows zeros
        rows, columns = (np.concatenate([np.zeros(0, int), *(getattr(p, key) for _, p in found)]) for key in AXES)
        inside = np.flatnonzero((rows >= 0) & (rows < height) & (columns >= 0) & (columns < width))
        kept, where = np.unique(columns[inside] * height + rows[inside], return_inverse=True)
        ones = np.ones(inside.size)
        sparsity = Sparsity.triplet(height, width, (kept % height).tolist(), (kept // height).tolist())
        numbers = vertcat(MX(0, 1), *(x.nz[:] for x, _ in found))
        if kept.size == inside.size:
            return MX(sparsity, numbers[inside[np.argsort(where)].tolist()])
        return MX(sparsity, DM.triplet(where.tolist(), inside.tolist(), ones, kept.size, rows.size) @ numbers)
