"""Inverse dynamics of robots with loops and its derivatives, by way of the spanning tree, and equations of contacts.

The spanning tree has recursions for its own (`codegen.tracing.curvature`). Weights' tau of the robot is weights' tau of
that tree, where joints move at rates r of all, accelerations s and weights w that loops give: of every node K r = 0,
K s + d = 0, K w = 0, with d what K r changes by at constant r (`codegen.kinematic_loops.constraints`). With D how all
of these move, and H the second derivative of the tree's, that of the robot's is D' H D and what bends them, weighted by
the tree's gradients. Neither goes through what the loops' equations are solved by. As weights' tau is linear in
weights, its second derivatives by these and others are the derivatives of tau.

Contacts hold bodies of that tree: their forces, and what their rows lack, are differentiated there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from casadi import SX, densify, diagcat, hessian, horzcat, jacobian, jtimes, sparsify, substitute, vertcat, vertsplit

from codegen.lowering import ALL, Needs, checked, lowered
from codegen.recursions.expansion import entries
from codegen.recursions.products import times, times_left
from codegen.spatial import mirrored, zeros
from codegen.tracing.arguments import columns, normalised, results, tangent_maps
from codegen.tracing.blocks import spans
from codegen.tracing.curvature import RECURSIVE, of_joint_forces, of_multiplied, turns_no_axes
from codegen.tracing.implicit import contacts_only
from codegen.tracing.solutions import FEW, Program, congruent
from codegen.tracing.trace import part_of, problem_of, stated, symbols_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.kinematic_loops.constraints import Spanning
    from codegen.recursions.products import Result
    from codegen.tracing.curvature import Pairs
    from codegen.tracing.task import Task

MOTION = ("q", "v", "a")
"""What inverse dynamics take beside external forces and parameters."""


@dataclass(frozen=True, slots=True)
class DependentRates:
    """Rates of joints (or accelerations, or weights) that loops give, from linear equations, of every node its own.

    `inverse` is that of the equations' matrix, which no unknown changes.
    """

    unknown: SX
    residual: SX
    inverse: SX

    def __str__(self) -> str:
        return f"{self.unknown.size1()} rates that loops give"

    def turned(self, u: SX) -> SX:
        """The same: equations are as many as rates."""
        return u

    @property
    def value(self) -> SX:
        """What they are."""
        return -self.inverse @ substitute(self.residual, self.unknown, SX.zeros(self.unknown.size1()))

    def multipliers(self, w: SX) -> SX:
        """K^-T w, of one column or more."""
        return self.inverse.T @ w

    def forward(self, x: SX, dx: SX) -> SX:
        """How they change along dx, of one column or more."""
        few = dx.size2() <= FEW
        change = jtimes(self.residual, x, dx) if few else jacobian(self.residual, x) @ dx
        return -self.inverse @ sparsify(change)

    def at(self, old: SX, new: SX) -> DependentRates:
        """The same with expressions in the place of symbols."""
        residual, inverse = (substitute(x, old, new) for x in (self.residual, self.inverse))
        return replace(self, residual=residual, inverse=inverse)


def by_spanning_tree(task: Task) -> bool:
    """Whether derivatives of joint forces come by way of the spanning tree: loops are implicit, and it has recursions.

    Where all loops are explicit, AD has fewer joints to go through.
    """
    implicit = task.tier != "published" and any(not loop.explicit for loop in task.model.loops)
    return implicit and task.entry.declares.rotors == "bodies" and turns_no_axes(_of_tree(task))


def is_geared(task: Task) -> bool:
    """Whether a task is inverse or forward dynamics of which recursions of the spanning tree give all: all loops are
    gears, of constant ratios.
    """
    explicit = bool(task.model.loops) and all(loop.explicit for loop in task.model.loops)
    taken, known = tuple(port.name for port in task.signature[0]), ("rnea", "aba")
    if not (
        explicit and task.algorithm in known and taken == RECURSIVE[task.algorithm] and turns_no_axes(_of_tree(task))
    ):
        return False
    rnea = part_of(task, "rnea")
    return all(node.G.is_constant() for node in problem_of(rnea, symbols_of(rnea.signature[0])).built.spanning)


def of_gears(task: Task, state: Sequence[SX], u: SX, y: SX) -> tuple[Result, ...]:
    """Of dynamics with accelerations y of a robot with gears alone, what `of_multiplied` gives of others.

    Joints of the spanning tree move at constant rates: its second derivatives, multiplied by these on both sides.
    """
    given = dict(zip((*MOTION, "weights"), symbols_of(part_of(task, "rnea_hessian").signature[0]), strict=True))
    joints, tree = joint_rates(task, given, given["weights"]), replace(part_of(task, "aba"), model=task.model.opened)
    rates = joints.solved(joints.y)
    G = jacobian(rates, given["v"])[tree.model.nq : tree.model.nq + tree.model.nv, :]
    q, v, a, w = vertsplit(
        substitute(rates, vertcat(*given.values()), densify(vertcat(*state[:2], y, u))),
        [0, *accumulate((tree.model.nq, *(3 * [tree.model.nv])))],
    )
    return tuple(times_left(G.T, times(x, G)) for x in of_multiplied(tree, [q, v], w, a))


def slopes(task: Task, given: Mapping[str, SX]) -> dict[str, SX]:
    """How tau of inverse dynamics, less forces of contacts, changes with q (nv x nq), v and a, and below that what rows
    of contacts lack; quaternions may have any norm but zero.
    """
    held = _multipliers(task)
    found = _second(task, given, SX.sym("w", task.model.nv + sum(given[x].size1() for x in held)))
    rows = ("weights", *("weights_lam" for _ in held))
    return {x: vertcat(*[found[weights, x] for weights in rows]) for x in MOTION}


def by_joints(task: Task, given: Mapping[str, SX], weights: SX) -> Pairs:
    """Second derivatives by q, v and a of weights' tau, or by these and lam of weights' equations of motion and of
    contacts. All are symbols.
    """
    found, names = _second(task, given, weights), (*MOTION, *_multipliers(task))
    pairs = [(x, y) for n, x in enumerate(names) for y in names[: n + 1]]
    return {(x, y): mirrored(found[x, y]) if x == y else found[x, y] for x, y in pairs}


def _second(task: Task, given: Mapping[str, SX], weights: SX) -> dict[tuple[str, str], SX]:
    """The same by q, v, a and weights, and of contacts by lam and weights of their rows, in either order."""
    nv, tree = task.model.nv, replace(task, model=task.model.opened)
    symbols, joints = {**{x: given[x] for x in MOTION}, "weights": weights[:nv]}, joint_rates(task, given, weights[:nv])
    sizes = {"q": tree.model.nq, **dict.fromkeys(("v", "a", "weights"), tree.model.nv)}
    z = {x: SX.sym(x, size) for x, size in sizes.items()}
    gradient, H = of_spanning_tree(part_of(tree, "rnea"), {**given, **z})
    if _multipliers(task):
        more = {"lam": given["lam"], "weights_lam": weights[nv:]}
        symbols, z = symbols | more, z | {x: SX.sym(x, own.size1()) for x, own in more.items()}
        joints = replace(joints, x=vertcat(joints.x, *more.values()), y=vertcat(joints.y, *more.values()))
        of_contacts, bent = of_contact_terms(tree, {**given, **z}, vertcat(*z.values()))
        rows = SX.eye(of_contacts.size1())[: gradient.size1(), :]
        gradient, H = rows.T @ gradient + of_contacts, rows.T @ H @ rows + bent
    w, one = SX.sym("w", gradient.size1()), SX.eye(joints.x.size1())
    J, bent = jacobian(joints.y, joints.moved), joints.bent(w)
    found = congruent(J.T @ H @ J + bent, one, joints.along(one)[one.size1() :, :])
    found = joints.solved(substitute(found, w, densify(gradient)))
    found = sparsify(substitute(found, vertcat(*z.values()), densify(joints.solved(joints.y))))
    places = spans(symbols)
    return {(x, y): found[places[x], places[y]] for x in symbols for y in symbols}


def of_spanning_tree(tree: Task, given: Mapping[str, SX]) -> tuple[SX, SX]:
    """Of weights' tau of a tree the gradient by q, v, a and weights, and its second derivative."""
    q, weights = given["q"], given["weights"]
    tau = entries(tuple(results(tree, given).values()))[0]
    by_q, by_v, by_a = entries(tuple(results(replace(tree, algorithm="rnea_derivatives"), given).values()))
    linear = {"q": by_q @ tangent_maps(tree.model, q)[1], "v": by_v, "a": by_a, "weights": SX(*by_a.shape)}
    pairs = of_joint_forces(tree, given, weights)
    known = dict(zip(pairs, entries(tuple(pairs.values())), strict=True))
    known |= {("weights", x): slope for x, slope in linear.items()}
    known = {(y, x): found.T for (x, y), found in known.items()} | known
    gradient = vertcat(*[linear[x].T @ weights for x in MOTION], tau)
    return gradient, vertcat(*[horzcat(*[known[x, y] for y in linear]) for x in linear])


def of_contact_terms(tree: Task, given: Mapping[str, SX], z: SX) -> tuple[SX, SX]:
    """What forces of contacts, and what their rows lack, add on a tree to the gradient by z, and how it changes."""
    known, u = {**given, "tau": zeros(tree.model.nv)}, vertcat(given["weights"], given["weights_lam"])
    H, slope = hessian(contacts_only(tree, columns(tree, known), [given["a"], given["lam"]], u), z)
    return slope, H


def joint_rates(task: Task, given: Mapping[str, SX], weights: SX) -> Program:
    """Positions of all joints of a robot, then their rates, accelerations and weights, by its q, v, a and weights."""
    rnea, own = part_of(task, "rnea"), (given["v"], given["a"], weights)
    ports = rnea.signature[0]
    tree = lowered(stated(rnea, Needs(), ports, [given[port.name] for port in ports]), checked([ALL])).built
    nodes = tree.spanning
    K, E = (diagcat(*x) for x in ([node.K for node in nodes], [node.constraints.E for node in nodes]))
    inverse = diagcat(*[node.Kd.solve(SX.eye(len(node.constraints.dependent))) for node in nodes])
    parts = [[_all_rates(*pair) for pair in zip(nodes, tree.split(x), strict=True)] for x in own]
    bend, drift = zip(*[_turning(*pair) for pair in zip(nodes, parts[0], strict=True)], strict=True)
    still, solutions, moved = (zeros(K.size1()), zeros(E.size1())), list[DependentRates](), list[SX]()
    # rates, accelerations, weights: of all joints, and what these lack to keep loops closed
    for every, (bent, turned) in zip(parts, (still, (vertcat(*bend), vertcat(*drift)), still), strict=True):
        r = vertcat(*every)
        unknown = [x[c] for node, x in zip(nodes, every, strict=True) for c in node.constraints.dependent]
        solutions.append(DependentRates(vertcat(*unknown), K @ r + bent, inverse))
        moved.append(E @ r + turned)
    rates = Program(vertcat(given["q"], *own), vertcat(*moved), tuple(solutions))
    rates = rates.at(vertcat(normalised(task.model, given["q"])[0], *own), rates.x)
    return replace(rates, y=vertcat(*[part.q for part in tree.parts], rates.y))


def _all_rates(node: Spanning, own: SX) -> SX:
    """Rates of the joints of a node that have positions, from its own, with symbols for those that loops give."""
    constraints = node.constraints
    r = SX.sym("r", constraints.T.size2())
    r[list(constraints.own)] = constraints.scale @ own
    return r


def _turning(node: Spanning, r: SX) -> tuple[SX, SX]:
    """How K r and the rates of all joints of a node change at constant r."""
    own = node.constraints
    if not own.phi.value.size1() and own.E.is_constant():
        return zeros(0), zeros(own.E.size1())
    bend, drift = substitute([node.phi.drift, own.drift], [own.r], [r])
    return bend, drift


def _multipliers(task: Task) -> tuple[str, ...]:
    """The name of contacts' multipliers, if a task's equations have some."""
    return ("lam",) if task.entry.group == "constrained" else ()


def _of_tree(task: Task) -> Task:
    """Inverse dynamics of the spanning tree of a task's robot."""
    return replace(part_of(task, "rnea"), model=task.model.opened)
