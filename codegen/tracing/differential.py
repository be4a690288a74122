"""A task's function along the tangents of its configurations: what its derivatives of either order are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from casadi import SX, densify, diagcat, jtimes, substitute, vertsplit

from codegen.algorithms import QUANTITIES
from codegen.tracing.implicit import program_of
from codegen.tracing.tangents import tangents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.ir.graph import Port
    from codegen.tracing.solutions import Program
    from codegen.tracing.task import Task


@dataclass(frozen=True, slots=True)
class Differential:
    """A program, and what makes changes of its arguments of tangents, and tangents of changes of its results."""

    program: Program
    inwards: SX
    outwards: SX

    def only(self, rows: list[int]) -> Differential:
        """Of these rows of results that are no configurations."""
        return replace(self, program=replace(self.program, y=self.program.y[rows]), outwards=self.outwards[rows, rows])

    def where(self, y: SX) -> Differential:
        """The same where results are known to be y."""
        return replace(self, program=self.program.where(y))

    def jvp(self, dx: SX) -> SX:
        """Changes of results along directions."""
        return self.program.solved(self.outwards) @ self.program.forward(self.inwards @ dx)

    def vjp(self, weights: SX) -> SX:
        """The gradient of results' sum with weights."""
        return self.inwards.T @ self.program.reverse(self.outwards.T @ weights)

    def hvp(self, weights: SX, dx: SX, dw: SX | None = None) -> SX:
        """Changes of this gradient along directions: those of what it is made of, and of the tangents.

        Weights may change by dw, too.
        """
        raw, w, dw = self.inwards @ dx, self.outwards.T @ weights, None if dw is None else self.outwards.T @ dw
        return self.inwards.T @ self.program.curved(w, raw, dw) + self.turning(self.program.reverse(w), raw)

    def hessian(self, weights: SX, changes: SX | None = None) -> SX:
        """The same along all arguments; `changes` are how solutions move along these, if that is known."""
        w = self.outwards.T @ weights
        return self.program.curvature(w, self.inwards, changes) + self.turning(self.program.reverse(w), self.inwards)

    def turning(self, slope: SX, raw: SX) -> SX:
        """How tangents of arguments change a gradient by these, as they move."""
        constant = SX.sym("gradient", raw.size1())
        found = jtimes(self.inwards.T @ constant, self.program.x, raw)
        return substitute(found, constant, densify(slope))


def differential(task: Task, arguments: list[SX]) -> Differential:
    """The program of a task at symbols of its arguments."""
    (inputs, outputs), program = task.signature, program_of(task, arguments)
    numbers = dict(zip(task.numbers, arguments[len(arguments) - len(task.numbers) :], strict=True))

    def rates(port: Port, q: SX) -> tuple[SX, SX]:
        one = SX.eye(port.size)
        return tangents(task.model, numbers, q) if moves(port.name) else (one, one)

    inwards = [rates(*row)[0] for row in zip(inputs, arguments, strict=True)]
    outwards = [rates(*row)[1] for row in zip(outputs, split(program.y, outputs), strict=True)]
    return Differential(program, diagcat(*inwards), diagcat(*outwards))


def raw(task: Task, arguments: list[SX]) -> Differential:
    """The same by the elements of configurations themselves."""
    program = program_of(task, arguments)
    return Differential(program, SX.eye(program.x.size1()), SX.eye(program.y.size1()))


def split(column: SX, ports: Sequence[Port]) -> list[SX]:
    """The parts of a column that belong to these ports."""
    return list(vertsplit(column, [0, *accumulate(port.size for port in ports)]))


def moves(name: str) -> bool:
    """Whether an argument or a result is a configuration."""
    return name in QUANTITIES and QUANTITIES[name].shape == ("nq",)
