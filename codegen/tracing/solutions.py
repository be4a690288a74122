"""Products of derivatives, by the implicit function theorem where results solve equations: the rule, in one place.

What is found makes R(x, y) vanish. It moves by -(dR/dy)^-1 dR, and weights w of it have the gradient -(dR/dx)' u, u =
(dR/dy)^-T w: neither goes through how it was found (Giles, An extended collection of matrix derivative results, 2008;
Carpentier and Mansard, RSS 2018). Second derivatives are those of weights' results less u' R: at solutions, and at the
multipliers u that make its gradient by these vanish. All else is algorithmic differentiation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

from casadi import (
    SX,
    densify,
    dot,
    gradient,
    hessian,
    is_equal,
    jacobian,
    jtimes,
    sparsify,
    substitute,
    vertcat,
    vertsplit,
)

from codegen.spatial import eliminated

if TYPE_CHECKING:
    from collections.abc import Sequence

FEW = 4
"""Directions up to which AD goes through results with each; more are multiplied by their Jacobian."""


class Implicit(Protocol):
    """Symbols y of what is found by solving equations R(x, y) = 0 (`residual`), and its value.

    Equations may be in coordinates of their own: multipliers u of theirs are given along the coordinates of y, and
    `turned` are those of the equations' own, where all that turns these stands still.
    """

    @property
    def unknown(self) -> SX: ...
    @property
    def value(self) -> SX: ...
    @property
    def residual(self) -> SX: ...
    def turned(self, u: SX) -> SX: ...
    def forward(self, x: SX, dx: SX) -> SX: ...
    def multipliers(self, w: SX) -> SX: ...
    def at(self, old: SX, new: SX) -> Implicit: ...


def contracted(own: Implicit, u: SX) -> SX:
    """u' R, with u along the coordinates of y."""
    return dot(own.turned(u), own.residual)


def congruent(H: SX, T: SX, Y: SX) -> SX:
    """D' H D of a symmetric matrix, with D = [T; Y]: half of what Y gives, then its transpose."""
    n = T.size1()
    half = T.T @ H[:n, n:] @ Y + Y.T @ (H[n:, n:] / 2) @ Y
    return T.T @ H[:n, :n] @ T + half + half.T


def swept(solutions: Sequence[Implicit], x: SX, seeds: SX) -> tuple[list[SX], SX]:
    """Multipliers of these solutions, each (dR/dy)^-T w for what `seeds` and later solutions give it, and what is left.

    x are symbols before all of them, and seeds the gradients by these and by the solutions, of one column or more.
    """
    moved = vertcat(x, *[own.unknown for own in solutions])
    ends = [*accumulate((own.unknown.size1() for own in solutions), initial=x.size1())]
    found = list[SX]()
    for own, start, end in reversed([*zip(solutions, ends, ends[1:], strict=False)]):
        u = own.multipliers(seeds[start:end, :])
        seeds = seeds[:start, :] - jtimes(own.residual, moved[:start], own.turned(u), True)
        found.append(u)
    return found[::-1], seeds


@dataclass(frozen=True, slots=True)
class Program:
    """Results y (a column) of arguments x (a column of symbols), and of the solutions that they are computed from.

    A solution may depend on those before it. The only one may have a `value` that is known.
    """

    x: SX
    y: SX
    solutions: tuple[Implicit, ...] = ()
    value: SX | None = None

    @property
    def moved(self) -> SX:
        """The symbols of arguments and solutions."""
        return vertcat(self.x, *[own.unknown for own in self.solutions])

    @property
    def is_solution(self) -> bool:
        """Whether results are one solution, all of it."""
        unknown = vertcat(*[own.unknown for own in self.solutions])
        return len(self.solutions) == 1 and self.y.shape == unknown.shape and is_equal(self.y, unknown)

    def along(self, dx: SX) -> SX:
        """How arguments and solutions move, along dx."""
        moved, found = self.x, dx
        for own in self.solutions:
            moved, found = vertcat(moved, own.unknown), vertcat(found, own.forward(moved, found))
        return found

    def forward(self, dx: SX) -> SX:
        """dy along dx, of one column or more."""
        along = self.along(dx)
        few = along.size2() <= FEW
        return self.solved(jtimes(self.y, self.moved, along) if few else jacobian(self.y, self.moved) @ along)

    @property
    def inverts(self) -> bool:
        """Whether results are made of one solution of equations of motion."""
        return len(self.solutions) == 1 and isinstance(self.solutions[0], Dynamics)

    def inverse(self) -> SX | None:
        """How results that solve equations of motion, one after the other, change with forces, if they are such."""
        if not self.inverts:
            return None
        (own,) = self.solutions
        found = own.multipliers(SX.eye(own.unknown.size1()))
        return self.solved(jacobian(self.y, own.unknown) @ found)

    def forces(self, dx: SX) -> SX:
        """Those that changes of these results have to balance, along dx."""
        (solution,) = self.solutions
        assert isinstance(solution, Dynamics), "it solves equations of motion"
        return self.solved(sparsify(solution.forces(self.x, dx)))

    def reverse(self, weights: SX) -> SX:
        """The gradient of weights' y by x."""
        return self.solved(swept(self.solutions, self.x, jtimes(self.y, self.moved, weights, True))[1])

    def curved(self, weights: SX, dx: SX, dw: SX | None = None) -> SX:
        """How the gradient of weights' y by x changes along dx, one column or more; weights may depend on solutions,
        and change by dw themselves.

        It is that of weights' y - sum u' R, whose multipliers u make the gradient by solutions vanish: so they change
        by du, with (dR/dy)' du the change of that gradient at constant u.
        """
        moved, along, w = self.moved, self.along(dx), SX.sym("w", self.y.size1())
        constant = [SX.sym("u", own.unknown.size1()) for own in self.solutions]
        values, _ = swept(self.solutions, self.x, jtimes(self.y, moved, weights, True))
        slope = gradient(dot(w, self.y) - sum(map(contracted, self.solutions, constant)), moved)
        turned = jtimes(weights, moved, along)
        changing, change = vertcat(moved, w), vertcat(along, turned if dw is None else turned + dw)
        end = moved.size1()
        # last solution to first: its multipliers, which the gradient by those before it depends on
        for own, u in reversed([*zip(self.solutions, constant, strict=True)]):
            start = end - own.unknown.size1()
            du = own.multipliers(jtimes(slope[start:end], changing, change))
            changing, change, end = vertcat(changing, u), vertcat(change, du), start
        found = jtimes(slope[:end], changing, change)
        return self.solved(substitute(found, vertcat(w, *constant), densify(vertcat(weights, *values))))

    def bent(self, weights: SX) -> SX:
        """The second derivative of weights' y - sum u' R by arguments and solutions, at constant multipliers u: those
        that make the gradient by solutions vanish.
        """
        w, constant = SX.sym("w", self.y.size1()), [SX.sym("u", own.unknown.size1()) for own in self.solutions]
        values, _ = swept(self.solutions, self.x, jtimes(self.y, self.moved, weights, True))
        found = hessian(dot(w, self.y) - sum(map(contracted, self.solutions, constant)), self.moved)[0]
        return substitute(found, vertcat(w, *constant), densify(vertcat(weights, *values)))

    def curvature(self, weights: SX, T: SX, changes: SX | None = None) -> SX:
        """The changes of that gradient along the columns of T, by T: D' H D, with D how arguments and solutions move.

        H is `bent`: no change of u matters, as D' R' vanishes. `changes` are how solutions move, if that is known.
        """
        moved, along = self.moved, self.along(T) if changes is None else vertcat(T, changes)
        turned = jtimes(self.y, moved, along).T @ jtimes(weights, moved, along)
        return self.solved(congruent(self.bent(weights), T, along[T.size1() :, :]) + turned)

    def at(self, new: SX, x: SX) -> Program:
        """The same with expressions of other symbols x in the place of its arguments."""
        return Program(x, substitute(self.y, self.x, new), tuple(own.at(self.x, new) for own in self.solutions))

    def where(self, y: SX) -> Program:
        """The same where results are known to be y: nothing is solved if they are one solution."""
        return replace(self, value=densify(y)) if self.is_solution else self

    def reaching(self, root: SX) -> Program:
        """The same where an iteration reaches this root."""
        own = (replace(x, reached=root) if isinstance(x, Root) else x for x in self.solutions)
        return replace(self, solutions=tuple(own))

    def solved(self, expression: SX) -> SX:
        """An expression with the values of solutions in their places."""
        if self.value is not None:
            (known,) = self.solutions
            return substitute(expression, known.unknown, self.value)
        for own in reversed(self.solutions):
            expression = substitute(expression, own.unknown, own.value)
        return expression


@dataclass(frozen=True, slots=True)
class Dynamics:
    """Forward dynamics: the residual R of the unknown y as the lowered robot has it, `inner`.

    `response` is the value with symbols `causes` for tau (nv) and k, which are `given`.
    """

    unknown: SX
    residual: SX
    inner: SX
    response: SX
    causes: SX
    given: SX
    nv: int

    def __str__(self) -> str:
        return f"{self.unknown.size1()} unknowns of forward dynamics"

    @property
    def value(self) -> SX:
        """a, or a and lam."""
        return substitute(self.response, self.causes, self.given)

    def turned(self, u: SX) -> SX:
        """Multipliers as the lowered robot has them."""
        return jtimes(self.inner, self.unknown, u)

    def multipliers(self, w: SX) -> SX:
        """(dR/dy)^-1 w, of one column or more; dR/dy is symmetric."""
        found = jtimes(self.response, self.causes, vertcat(w[: self.nv, :], -w[self.nv :, :]))
        return substitute(found, self.causes, self.given)

    def forward(self, x: SX, dx: SX) -> SX:
        """dy along dx, of one column or more."""
        return self.multipliers(self.forces(x, dx))

    def forces(self, x: SX, dx: SX) -> SX:
        """Those along dx that a change of y has to balance: dR/dy dy."""
        return -jtimes(self.inner, self.unknown, jtimes(self.residual, x, dx), True)

    def at(self, old: SX, new: SX) -> Dynamics:
        """The same with expressions in the place of symbols."""
        parts = (self.residual, self.inner, self.response, self.given)
        residual, inner, response, given = (substitute(x, old, new) for x in parts)
        return Dynamics(self.unknown, residual, inner, response, self.causes, given, self.nv)


@dataclass(frozen=True, slots=True)
class Root:
    """What an iteration finds: the root of `lack`, with the solutions there that it is made of; K is its derivative."""

    root: SX
    reached: SX
    lack: SX
    K: SX
    solutions: tuple[Implicit, ...]

    def __str__(self) -> str:
        return f"{self.root.size1()} unknowns of an iteration"

    @property
    def unknown(self) -> SX:
        """The root, then the solutions."""
        return vertcat(self.root, *[own.unknown for own in self.solutions])

    @property
    def value(self) -> SX:
        """Their values."""
        return substitute(
            Program(self.root, self.unknown, self.solutions).solved(self.unknown), self.root, self.reached
        )

    @property
    def residual(self) -> SX:
        """What the root lacks, and the equations of the solutions."""
        return vertcat(self.lack, *[own.residual for own in self.solutions])

    def turned(self, u: SX) -> SX:
        """Those of the root, then those of the solutions in their own coordinates, which may turn with the root."""
        ends = accumulate((x.size1() for x in (self.root, *[own.unknown for own in self.solutions])), initial=0)
        first, *others = vertsplit(u, list(ends))
        return vertcat(first, *[own.turned(x) for own, x in zip(self.solutions, others, strict=True)])

    def multipliers(self, w: SX) -> SX:
        """(dR/dy)^-T w, by way of those of the root."""
        size, unknown = self.root.size1(), self.unknown
        u = eliminated(self.K.T, swept(self.solutions, self.root, w)[1])
        if not self.solutions:
            return u
        left = w[size:, :] - jtimes(self.lack, unknown[size:], u, True)
        return vertcat(u, *swept(self.solutions, self.root, vertcat(SX(size, w.size2()), left))[0])

    def forward(self, x: SX, dx: SX) -> SX:
        """dy along dx, of one column or more."""
        lacks = Program(x, self.lack, self.solutions)
        droot = -eliminated(self.K, jtimes(self.lack, lacks.moved, lacks.along(dx)))
        moved = vertcat(x, self.root)
        return Program(moved, self.lack, self.solutions).along(vertcat(dx, droot))[x.size1() :, :]

    def at(self, old: SX, new: SX) -> Root:
        """The same with expressions in the place of symbols."""
        reached, lack, K = (substitute(x, old, new) for x in (self.reached, self.lack, self.K))
        return Root(self.root, reached, lack, K, tuple(own.at(old, new) for own in self.solutions))


@dataclass(frozen=True, slots=True)
class Linear:
    """A solution of which the derivative J is known, by arguments x: y less J x stands still; y, then J by columns.

    Changes of J are left out, so that it has no second derivative.
    """

    unknown: SX
    value: SX
    residual: SX

    def __str__(self) -> str:
        return f"{self.residual.size1()} results with their derivatives"

    def turned(self, u: SX) -> SX:
        """Those of y."""
        return u[: self.residual.size1(), :]

    def multipliers(self, w: SX) -> SX:
        """w, of one column or more: dR/dy is the identity."""
        return w

    def forward(self, x: SX, dx: SX) -> SX:
        """dy along dx, of one column or more."""
        moved = -jtimes(self.residual, x, dx)
        return vertcat(moved, SX(self.unknown.size1() - moved.size1(), dx.size2()))

    def at(self, old: SX, new: SX) -> Linear:
        """The same with expressions in the place of symbols."""
        return Linear(self.unknown, *(substitute(x, old, new) for x in (self.value, self.residual)))
