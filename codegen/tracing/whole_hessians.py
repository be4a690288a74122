"""Whole Hessians of steps, and of the dynamics of robots with many joints, by products of matrices and loops.

`codegen.tracing.chained_products` makes the symmetric part of how the gradient g = J' w of a function changes along
tangents. Those of a joint of several degrees of freedom do not commute: what is left is J' A(w) J - A(g), with A half
of their Lie brackets by weights. Where loops allow fewer tangents than there are coordinates, arguments move by these,
and what turns is differentiated as it is.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from casadi import DM, SX, densify, diagcat, jacobian, sparsify, substitute, vertcat, vertsplit

from codegen.costs import CALLED_ALONE, CALLED_IN_HESSIANS, LINKED, PLACED, STAGED
from codegen.kinematic_loops.states import neutral
from codegen.recursions.block_matrix import BlockMatrix, Placed
from codegen.recursions.composition import Composition
from codegen.recursions.products import Product, combined
from codegen.tracing.blocks import plain_of, vanishes
from codegen.tracing.chained import SAME, Chain, Link, chain, is_raw, places_of
from codegen.tracing.chained_products import curved
from codegen.tracing.curvature import RECURSIVE, bent_by, turns_no_axes
from codegen.tracing.differential import differential, moves
from codegen.tracing.products import with_products
from codegen.tracing.sharing import Sharing
from codegen.tracing.stages import Stages
from codegen.tracing.tangents import tangents
from codegen.tracing.trace import part_of, symbols_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.ir.graph import Port
    from codegen.model import Model
    from codegen.recursions.products import Result
    from codegen.tracing.chained import Rooted
    from codegen.tracing.products import Kept
    from codegen.tracing.task import Task


def by_products(task: Task) -> bool:
    """Whether a task's Hessian is made so: of dynamics of robots with so many joints, or with implicit loops and some,
    and of steps of these, and of several stages. Of others, limbs go in step in straight-line code, which is as fast.
    """
    run, many = task.entry.run, task.model.nv >= LINKED
    if task.tier == "published":
        return False
    if isinstance(run, Composition):
        return many or is_raw(task) or (run.divides and task.model.nv >= STAGED)
    if task.algorithm == "rnea":
        taken = tuple(port.name for port in task.signature[0])
        return task.model.nv >= PLACED and taken == RECURSIVE["rnea"] and turns_no_axes(task)
    some = many or (is_raw(task) and task.model.nv >= STAGED)
    return some and (task.algorithm in ("aba", *SAME) or task.entry.group == "constrained")


def kept_of(task: Task, symbols: list[SX], given: Sequence[Port], made: Sequence[Port]) -> Kept:
    """What a graph has to make of symbols of a task's arguments, then of weights, for its Hessian."""
    run = task.entry.run
    alone = is_raw(task) and not (isinstance(run, Composition) and run.divides)
    parts, number = Sharing(symbols, CALLED_ALONE if alone else CALLED_IN_HESSIANS), len(task.signature[0])
    if task.algorithm == "rnea":
        return with_products((_of_joint_forces(task, symbols),), made, stages=Stages(tuple(symbols), tuple(given)))
    way = _by_coordinates if is_raw(task) else _along_tangents
    found = way(task, symbols[:number], vertcat(*symbols[number:]), parts)
    return with_products((found,), made, stages=Stages(tuple(symbols), tuple(given), parts.opened))


def _of_joint_forces(task: Task, symbols: Sequence[SX]) -> BlockMatrix:
    """That of inverse dynamics, of blocks that a recursion makes."""
    nv, places = task.model.nv, list[Placed]()
    qq, qv, qa, vv = bent_by(part_of(task, "rnea_hessian"), symbols)
    for x, row, column in ((qq, 0, 0), (qv, 1, 0), (qa, 2, 0)):  # derivatives by q along a row's tangent of a column's
        places.append(Placed(x, row * nv, column * nv, 0, nv, transposed=True))
    for x, row, column in ((qv, 0, 1), (qa, 0, 2), (vv, 1, 1)):
        places.append(Placed(x, row * nv, column * nv, 0, nv))
    return BlockMatrix((3 * nv, 3 * nv), tuple(places))


def _along_tangents(task: Task, arguments: list[SX], w: SX, parts: Sharing) -> Result:
    """How the gradient of results' sum with weights changes along tangents."""
    made, nv = _chain(task, arguments), task.model.nv
    ends = [0, *accumulate(place.size(nv) for place in made.arguments)]
    A = brackets(task.model, w[:nv]) if _ends_in_configuration(task) else SX(nv, nv)
    rows = sorted({*A.sparsity().row()})
    last = sum(place.size(nv) for place in made.chain.links[-1].gives)
    found = curved(made, w, SX(last, last), SX.eye(ends[-1]), SX.eye(w.size1())[rows or [0], :], parts)
    along = zip(made.arguments, vertsplit(plain_of(found.slope), ends), strict=True)
    turned = diagcat(*[brackets(task.model, g) if place.moves else SX(g.size1(), g.size1()) for place, g in along])
    H = _plus(found.second, SX.eye(ends[-1]), -turned)
    return _plus(H, found.J, combined([(A[rows, rows], found.J)])) if rows else H


def _by_coordinates(task: Task, arguments: list[SX], w: SX, parts: Sharing) -> Result:
    """The same where arguments move by coordinates, along those tangents that loops allow."""
    own, made, nv = differential(task, arguments), _chain(task, arguments), task.model.nv
    end, last = made.results[0], sum(place.size(nv) for place in made.chain.links[-1].gives)
    turning, rows = SX(last, last), 1
    configured = _ends_in_configuration(task)
    if configured:
        raw = tangents(task.model, {}, end)[1].T @ w[:nv]
        w, turning, rows = vertcat(raw, w[nv:]), jacobian(raw, end), raw.size1()
    found = curved(made, w, turning, own.inwards, SX.eye(w.size1())[:rows, :], parts)
    H = _plus(found.second, SX.eye(own.inwards.size2()), own.turning(plain_of(found.slope), own.inwards))
    if not configured:
        return H
    around = substitute(turning - turning.T, end, densify(found.y[0])) / 2
    return _plus(H, found.J, combined([(around, found.J)]))


def brackets(model: Model, weights: SX) -> SX:
    """Half of the weighted Lie brackets of tangents (nv x nv), which are the same at every configuration."""
    q = SX.sym("q", model.nq)
    T, E = tangents(model, {}, q)
    turning = substitute(T.T @ jacobian(E.T @ weights, q) @ T, q, DM(neutral(model)))
    return sparsify(turning - turning.T) / 2


def _plus(H: Result, left: Result, right: Result) -> Result:
    """H, which may be symmetric, and left' right, which is not."""
    if isinstance(H, SX) and isinstance(left, SX) and isinstance(right, SX):
        return H + left.T @ right
    if isinstance(left, SX) and isinstance(right, SX):
        rows = sorted({*left.sparsity().row()} & {*right.sparsity().row()})
        left, right = left[rows, :], right[rows, :]
    return H if vanishes(left) or vanishes(right) else Product(left, right, H, transposed=True)


def _chain(task: Task, arguments: list[SX]) -> Chain | Rooted:
    """A composition, or one link."""
    if isinstance(task.entry.run, Composition):
        return chain(task, arguments)
    inputs, outputs = task.signature
    task = replace(task, algorithm=SAME.get(task.algorithm, task.algorithm))
    link = Link(task, tuple(arguments), places_of(task, outputs, symbols_of(outputs)))
    return Chain(task.model.nv, places_of(task, inputs, arguments), (link,), tuple(x.symbol for x in link.gives))


def _ends_in_configuration(task: Task) -> bool:
    return moves(task.signature[1][0].name)
