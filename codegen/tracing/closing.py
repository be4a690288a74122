"""Steps of configurations that close implicit loops, by the implicit function theorem.

Dependent joints move from where they close the loops by r along their tangents, and r is zero: of a quaternion c, to
c + T r - c |T r|^2 / 2, which is of unit length to second order. With these positions phi vanishes, so dr = -K^-1 dphi,
wherever the search for them began.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from casadi import SX, densify, diagcat, jtimes, sparsify, substitute, sumsqr, vertcat

from codegen.algorithms.integrate import straight
from codegen.algorithms.project import closed
from codegen.lowering import restored
from codegen.tracing.trace import problem_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.recursions.tree import Tree
    from codegen.tracing.task import Task


@dataclass(frozen=True, slots=True)
class Closing:
    """Positions `found`, whose value is `reached`, and how far beyond these loops close, `moves`, which is zero.

    They close where phi (`residual`) vanishes; `inverse` is that of its derivative by moves.
    """

    moves: SX
    found: SX
    reached: SX
    residual: SX
    inverse: SX

    def __str__(self) -> str:
        return f"{self.moves.size1()} moves of joints that close loops"

    @property
    def unknown(self) -> SX:
        """Moves, then positions, which stand still."""
        return vertcat(self.moves, self.found)

    @property
    def value(self) -> SX:
        """Their values."""
        return vertcat(SX.zeros(self.moves.size1()), self.reached)

    def turned(self, u: SX) -> SX:
        """Those of moves."""
        return u[: self.moves.size1(), :]

    def multipliers(self, w: SX) -> SX:
        """K^-T w, of one column or more."""
        return vertcat(self.inverse.T @ w[: self.moves.size1(), :], SX(self.found.size1(), w.size2()))

    def forward(self, x: SX, dx: SX) -> SX:
        """How moves, and positions, change along dx, of one column or more."""
        change = sparsify(jtimes(self.residual, x, dx))
        return vertcat(-self.inverse @ change, SX(self.found.size1(), dx.size2()))

    def renamed(self) -> Closing:
        """The same with unknowns of its own."""
        moves, found = SX.sym("r", self.moves.size1()), SX.sym("found", self.found.size1())
        own = replace(self, moves=moves, found=found)
        return own.at(self.unknown, own.unknown)

    def at(self, old: SX, new: SX) -> Closing:
        """The same with expressions in the place of symbols."""
        reached, residual, inverse = (substitute(x, old, new) for x in (self.reached, self.residual, self.inverse))
        return Closing(self.moves, self.found, reached, residual, inverse)


def closing(task: Task, columns: Sequence[SX]) -> tuple[SX, Closing] | None:
    """What `integrate` gives, at symbols of its arguments, with positions that close loops unknown, if any are."""
    if task.algorithm != "integrate" or all(loop.explicit for loop in task.model.loops):
        return None
    problem = problem_of(task, list(columns))
    tree = problem.built
    q = straight(tree, problem.arguments["dv"])
    known = closed(tree, q, told=True)[0]
    moves, found, values, lacks, inverses = (list[SX]() for _ in range(5))
    for i, own in enumerate(tree.spanning):
        if not own.constraints.dependent:
            continue
        places = [tree.model.q_slices[b] for b in tree.model.position_bodies[i]]
        place = slice(places[0].start, places[-1].stop)
        T = own.constraints.T[:, list(own.constraints.dependent)]
        rows = sorted({*T.sparsity().row()})
        moves.append(SX.sym("r", T.size2()))
        found.append(SX.sym("found", len(rows)))
        values.append(known[place][rows])
        start = SX(q[place])
        start[rows] = found[-1]
        q[place] = _beyond(tree, i, start, substitute(T, own.constraints.x, start) @ moves[-1])
        lacks.append(substitute(own.phi.value, own.constraints.x, q[place]))
        inverses.append(substitute(own.Kd.solve(SX.eye(T.size2())), own.constraints.x, start))
    if not moves:
        return None
    (result,) = restored(problem, ["q1"], q)
    r, at, reached, phi = (densify(vertcat(*own)) for own in (moves, found, values, lacks))
    return densify(result), Closing(r, at, reached, phi, diagcat(*inverses))


def _beyond(tree: Tree, i: int, start: SX, step: SX) -> SX:
    """Positions of node i a step beyond others, to second order: quaternions stay of unit length."""
    after, at = start + step, 0
    for b in tree.model.position_bodies[i]:
        joint = tree.parts[b].joint
        at += joint.nq
        if joint.nq > joint.nv:
            own = slice(at - 4, at)
            after[own] -= start[own] * sumsqr(step[own]) / 2
    return after
