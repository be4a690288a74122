"""Panels: matrices with a column for each degree of freedom, which loops make from others, by columns or by rows.

A function of columns, at every column, is short code, and so is a function of rows at every row, such as sums along the
tree, whatever the number of joints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from casadi import SX, Function, densify, horzcat, symvar, vertcat, vertsplit

from codegen.recursions.calls import Output
from codegen.recursions.tree import Tree


@dataclass(frozen=True, slots=True)
class Map:
    """A function of dense columns at every column of what it `takes`, or with `by_rows`, of rows at every row.

    The rows that it makes are one below the other or, with `end_to_end`, in one row.
    """

    function: Function
    takes: tuple[SX | Panel | Output, ...]
    by_rows: bool = False
    end_to_end: bool = False

    def __str__(self) -> str:
        return f"{self.function.name()} at {self.count} {'rows' if self.by_rows else 'columns'}"

    @property
    def count(self) -> int:
        """How many columns or rows there are."""
        return self.takes[0].shape[0 if self.by_rows else 1]

    def shape(self, number: int) -> tuple[int, int]:
        """That of a panel which it makes."""
        size = self.function.size1_out(number)
        if self.end_to_end:
            return 1, self.count * size
        return (self.count, size) if self.by_rows else (size, self.count)

    def of(self, matrices: Sequence[Any]) -> Map:
        """The same of other matrices."""
        return replace(self, takes=tuple(matrices))

    def entries(self, panels: Sequence[SX]) -> tuple[SX, ...]:
        """What it makes of these panels, entry by entry."""
        across = [densify(x.T if self.by_rows else x) for x in panels]
        lines = [self.function.call([x[:, k] for x in across]) for k in range(self.count)]
        if self.end_to_end:
            return tuple(vertcat(*columns).T for columns in zip(*lines, strict=True))
        made = (horzcat(*columns) for columns in zip(*lines, strict=True))
        return tuple(x.T if self.by_rows else x for x in made)


@dataclass(frozen=True, slots=True)
class Panel:
    """One of the matrices that a map makes, by number."""

    map: Map
    number: int

    def __str__(self) -> str:
        return f"panel {self.number} ({self.shape[0]} x {self.shape[1]}) of {self.map}"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.map.shape(self.number)

    @property
    def factors(self) -> tuple[SX | Panel | Output, ...]:
        """The matrices that its map takes."""
        return self.map.takes


def mapped(function: Callable[..., tuple[SX, ...]], *panels: SX | Panel) -> tuple[Panel, ...]:
    """The panels that a function of columns (r x 1 each) makes of columns of these (r x n each).

    It is traced once, with structural zeros for the rows that are zero in all columns, and numbers for those
    that are the same number in all, unless all panels are numbers. It takes what it needs.
    """
    columns, given = list[SX](), list[tuple[SX, SX | Panel]]()
    moves = any(isinstance(panel, Panel) or not panel.is_constant() for panel in panels)
    for panel in panels:
        rows, column = [*range(panel.shape[0])], SX(panel.shape[0], 1)
        if not isinstance(panel, Panel):
            same = _same(panel) if moves else {}
            rows = [row for row in sorted({*panel.sparsity().row()}) if row not in same]
            for row, number in same.items():
                column[row] = number
        own = SX.sym(f"x{len(columns)}", len(rows))
        column[rows] = own
        columns.append(column)
        if rows:
            given.append((own, panel if isinstance(panel, Panel) or len(rows) == panel.shape[0] else panel[rows, :]))
    made = function(*columns)
    used = {x.element_hash() for x in symvar(vertcat(*made))}
    needed = [x for x in given if not used.isdisjoint(e.element_hash() for e in vertsplit(x[0]))]
    symbols, taken = zip(*(needed or given[:1]), strict=True)
    return _panels(Map(_function(function.__name__, symbols, made), taken))


def end_to_end(function: Callable[..., tuple[SX, ...]], *matrices: SX) -> tuple[Panel, ...]:
    """The rows, end to end (1 x n s), that a function makes of rows of these (n x r each), both as columns."""
    symbols = [SX.sym(f"x{k}", x.shape[1]) for k, x in enumerate(matrices)]
    made = _function(function.__name__, symbols, function(*symbols))
    return _panels(Map(made, tuple(map(densify, matrices)), by_rows=True, end_to_end=True))


def outwards(tree: Tree, panel: SX | Panel, start: SX) -> Panel:
    """Sums of columns (r x nv) over each joint and all that carry it, from `start` (r) on.

    The columns of one joint are alike.
    """
    row, first = SX.sym("row", tree.nv), SX.sym("start")
    sums = list[SX]()
    for x, carrier in zip(tree.split(row), tree.parent, strict=True):
        sums.append(sum(vertsplit(x), sums[carrier] if carrier >= 0 else first))
    function = _function("outwards", [row, first], [_by_columns(tree, sums)])
    (made,) = _panels(Map(function, (panel, densify(start)), by_rows=True))
    return made


def inwards(tree: Tree, panel: SX | Panel) -> Panel:
    """Sums of columns (r x nv) over each joint and all that it carries. The columns of one joint are alike."""
    row = SX.sym("row", tree.nv)
    sums = [sum(vertsplit(x)[1:], x[0]) for x in tree.split(row)]
    for i in tree.inwards:
        if tree.parent[i] >= 0:
            sums[tree.parent[i]] += sums[i]
    (made,) = _panels(Map(_function("inwards", [row], [_by_columns(tree, sums)]), (panel,), by_rows=True))
    return made


def picked(panel: Panel, places: Sequence[int]) -> Panel:
    """The columns of a panel at these places."""
    row = SX.sym("row", panel.shape[1])
    (made,) = _panels(Map(_function("picked", [row], [row[[*places]]]), (panel,), by_rows=True))
    return made


def _same(panel: SX) -> dict[int, float]:
    """By rows, the number that is in all their columns, other than zero."""
    lines = {row: panel[row, :] for row in {*panel.sparsity().row()}}
    alone = {row: {*map(float, vertsplit(x.T))} for row, x in lines.items() if x.is_dense() and x.is_constant()}
    return {row: numbers.pop() for row, numbers in alone.items() if len(numbers) == 1}


def _by_columns(tree: Tree, by_joints: Sequence[SX]) -> SX:
    return vertcat(*[x for x, S in zip(by_joints, tree.S, strict=True) for _ in range(S.size)])


def _function(name: str, given: Sequence[SX], made: Sequence[SX]) -> Function:
    return Function(name, [*given], [densify(x) for x in made], {"live_variables": False})


def _panels(made: Map) -> tuple[Panel, ...]:
    return tuple(Panel(made, number) for number in range(made.function.n_out()))
