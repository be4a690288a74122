"""A task's function in CasADi's expressions, and its derivatives of first and second order by all that it takes.

Quaternions are normalised before the algorithm sees them. So the function is one of any quaternions but zero, its
derivative along a quaternion is zero, and derivatives by the raw coordinates q are those of the function itself:
differences of it agree with them, and second derivatives are symmetric.

AD (of CasADi) does for any algorithm. Where the registry has the recursion NAME_derivatives, it gives the Jacobian: its
columns are along tangents v, and dq = T v with orthogonal columns of T, so v = (T' T)^-1 T' dq. Products of derivatives
of what solves equations R(x, y) = 0 are those of `codegen.tracing.implicit`, and so are Hessians of what is made of it.
With u = (dR/dy)^-1 w, the Hessian of w' y is -A' H A, with H that of u' R and A = d(x, y)/dx. Where no recursion gives
the Jacobian of such, as with implicit loops, it is the product -(dR/dy)^-1 dR/dx, with AD of R alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

from casadi import (
    DM,
    SX,
    densify,
    diag,
    dot,
    jacobian,
    jacobian_sparsity,
    jtimes,
    project,
    reshape,
    sparsify,
    vec,
    vertcat,
)

from codegen.algorithms import ALGORITHMS
from codegen.costs import LINKED, SOLVED
from codegen.recursions.block_matrix import BlockMatrix
from codegen.recursions.composition import INLINE, Composition
from codegen.recursions.expansion import entries
from codegen.recursions.products import (
    Product,
    Result,
    all_times,
    blocks_of,
    times_within,
)
from codegen.tracing import along_chains
from codegen.tracing.arguments import columns, matrix, results, tangent_maps
from codegen.tracing.blocks import Blocks, divided, patterned, plain, plain_of, spans, split, whole
from codegen.tracing.casadi_operators import direct_operators
from codegen.tracing.chained import JACOBIANS, SAME, chain, is_same
from codegen.tracing.closing import Closing
from codegen.tracing.congruence import Results, both_ways, congruence, moved_to, with_plain
from codegen.tracing.curvature import MOVED, Pairs, of_motion, second_derivatives
from codegen.tracing.equations import (
    Solver,
    derivable,
    forces,
    inverse_dynamics_slopes,
    of_inverse_dynamics,
    second_of_equations,
    solver,
    unknowns,
)
from codegen.tracing.expressed import Expressions, check_length
from codegen.tracing.implicit import program_of
from codegen.tracing.kinematics import jacobians
from codegen.tracing.solutions import Program, Root
from codegen.tracing.trace import multiplied, symbols_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.recursions.composition import Parts
    from codegen.tracing.task import Task


class Linearised(NamedTuple):
    """Results by name, and their Jacobian."""

    y: Mapping[str, SX]
    J: Blocks


class Curved(NamedTuple):
    """The same, and a Hessian of their sum with weights."""

    y: Mapping[str, SX]
    J: Blocks
    H: Blocks


class Derivatives(Protocol):
    """Derivatives of y (m) by x (n): dy/dx, dy/dx dx, (dy/dx)' w, and the Hessian of w' y at constant w.

    What comes together shares what it can. `check_second` tells where there are no Hessians. Who keeps blocks as they
    are may have them by `loops` over columns, which take more operations entry by entry, and of `parts` that C calls.
    All that is `linearised` is made so. Products with one vector are made of parts if it is `reaching` roots by these.
    """

    def value(self, parts: Parts) -> Mapping[str, SX]: ...
    def jacobian(self, *, loops: bool = False, parts: Parts = INLINE) -> Blocks: ...
    def linearised(self, parts: Parts) -> Linearised: ...
    def forward(self, dx: SX) -> SX: ...
    def adjoint(self, w: SX) -> SX: ...
    def reaching(self, parts: Parts) -> Derivatives: ...
    def check_second(self) -> None: ...
    def hessian(self, w: SX, *, loops: bool = False, parts: Parts = INLINE) -> Blocks: ...
    def curved(self, w: SX, *, loops: bool = False, parts: Parts = INLINE) -> Curved: ...


@direct_operators()
def differentiated(task: Task) -> tuple[Expressions, Derivatives]:
    """The function of a task, with a fixed number of iterations, and its derivatives."""
    return derivatives(task, {port.name: SX.sym(port.name, *matrix(port)) for port in task.signature[0]})


def derivatives(task: Task, inputs: dict[str, SX]) -> tuple[Expressions, Derivatives]:
    """The same of these symbols."""
    made = results(task, inputs)
    own = Expressions(inputs, dict(zip(made, entries(tuple(made.values())), strict=True)))
    if task.tier == "published":
        return own, Explicit(task, own)
    symbols = symbols_of(task.signature[0])
    program = program_of(task, symbols)
    if not program.solutions:
        return own, Explicit(task, own)
    return own, Implicit(task, own, program.at(densify(vertcat(*columns(task, inputs))), own.x))


def value(task: Task, own: Expressions, parts: Parts) -> Mapping[str, SX]:
    """Results, of parts if they are a composition."""
    run = task.entry.run
    if not (isinstance(run, Composition) and run.divides):
        return own.outputs
    return {name: plain_of(y) for name, y in results(task, own.inputs, loops=True, parts=parts).items()}


def recursion(task: Task, own: Expressions, *, loops: bool, curved: bool = False) -> Results:
    """The blocks of the Jacobian that the registry has a recursion for, by positions as they are, if it has one.

    By `loops` over columns where what these make is multiplied, or also `curved` by such.
    """
    name, inputs = f"{SAME.get(task.algorithm, task.algorithm)}_derivatives", own.inputs
    if not derivable(task):
        return Results({("tau", x): slope for x, slope in inverse_dynamics_slopes(task, inputs).items()})
    if task.algorithm in MOVED:
        return Results(jacobians(task, inputs, own.outputs))
    if name not in ALGORITHMS:
        return {}
    if task.entry.group == "steps":
        return steps(task, own, loops=loops)
    pairs = {(y, x): f"d{y}_d{x}" for y in task.entry.outputs for x in ("q", "v", "tau")}
    named = JACOBIANS.get(name.removesuffix("_derivatives"), pairs)
    if not {*named.values()} <= {*ALGORITHMS[name].outputs}:
        return {}
    part = replace(task, algorithm=name)
    found = results(part, inputs, loops=loops and (curved or multiplied(part)))
    _, E = tangent_maps(task.model, inputs["q"])
    by_q = [pair for pair in named if pair[1] == "q"]
    along = [found[named[pair]] for pair in by_q]
    raw = along if E.is_eye() else all_times(along, E)
    return {pair: found[block] for pair, block in named.items()} | dict(zip(by_q, raw, strict=True))


def steps(task: Task, own: Expressions, *, loops: bool) -> Results:
    """The blocks of a step's Jacobian: A and B are along tangents of positions at both ends."""
    model, nv = task.model, task.model.nv
    A, B = results(replace(task, algorithm=f"{task.algorithm}_derivatives"), own.inputs, loops=loops).values()
    assert isinstance(A, BlockMatrix)
    assert isinstance(B, BlockMatrix)
    E, T = tangent_maps(model, own.inputs["q"])[1], tangent_maps(model, own.outputs["q_next"])[0]
    (q_by_q, q_by_v), (v_by_q, v_by_v) = blocks_of(A, nv)
    (q_by_tau,), (v_by_tau,) = blocks_of(B, nv)
    q_by_q, v_by_q = all_times((times_within(T, q_by_q), v_by_q), E)
    return {
        ("q_next", "q"): q_by_q,
        ("q_next", "v"): times_within(T, q_by_v),
        ("q_next", "tau"): times_within(T, q_by_tau),
        ("v_next", "q"): v_by_q,
        ("v_next", "v"): v_by_v,
        ("v_next", "tau"): v_by_tau,
    }


@dataclass(frozen=True, slots=True)
class Explicit:
    """Derivatives by AD, but for the blocks of the Jacobian that a recursion gives."""

    task: Task
    own: Expressions

    def value(self, parts: Parts) -> Mapping[str, SX]:
        """Results, of parts."""
        return value(self.task, self.own, parts)

    def jacobian(self, *, loops: bool = False, parts: Parts = INLINE) -> Blocks:
        """dy/dx (m x n)."""
        return assembled(self.own, recursion(self.task, self.own, loops=loops))

    def linearised(self, parts: Parts) -> Linearised:
        """Results, and dy/dx by loops."""
        return Linearised(self.own.outputs, self.jacobian(loops=True))

    def forward(self, dx: SX) -> SX:
        """dy/dx dx (m)."""
        return jtimes(self.own.y, self.own.x, dx)

    def adjoint(self, w: SX) -> SX:
        """(dy/dx)' w (n)."""
        return jtimes(self.own.y, self.own.x, w, True)

    def reaching(self, parts: Parts) -> Explicit:
        """The same: nothing is solved."""
        return self

    def hessian(self, w: SX, *, loops: bool = False, parts: Parts = INLINE) -> Blocks:
        """The second derivative of w' y (n x n)."""
        self.check_second()
        own = self.own
        found = second_derivatives(dot(w, own.y), own.inputs, self.known(w, loops=loops))
        blocks = {pair: plain(x) if isinstance(x, SX) else whole(x) for pair, x in found.items()}
        blocks |= {(other, one): block.T for (one, other), block in blocks.items() if one != other}
        return blocks if all(isinstance(x, SX) for x in found.values()) else felt(own, blocks, w)

    def curved(self, w: SX, *, loops: bool = False, parts: Parts = INLINE) -> Curved:
        """Results, dy/dx and the second derivative."""
        known = recursion(self.task, self.own, loops=loops, curved=True)
        return Curved(self.own.outputs, assembled(self.own, known), self.hessian(w, loops=loops))

    def check_second(self) -> None:
        """RobotError where the Hessian would be more straight-line code than any compiler takes."""
        if self.task.algorithm not in ("rnea", *MOVED):
            check_length(self.task, self.own)

    def known(self, w: SX, *, loops: bool) -> Pairs:
        """Those among them that recursions give."""
        own, name = self.own, self.task.algorithm
        if name == "rnea":
            return of_inverse_dynamics(self.task, own.inputs, w, loops=loops)
        if name in MOVED:
            weights = {y: reshape(w[at], *own.outputs[y].shape) for y, at in spans(own.outputs).items()}
            return of_motion(self.task, own.inputs, weights)
        return {}


def felt(own: Expressions, second: Blocks, w: SX) -> Blocks:
    """Second derivatives of w' y where AD finds that there are any."""
    return patterned(second, jacobian_sparsity(jtimes(own.y, own.x, w, True), own.x), own.inputs, own.inputs)


def assembled(own: Expressions, known: Results) -> Blocks:
    """dy/dx (m x n) of these blocks, and what they leave out by AD; AD also tells which entries are zero."""
    if not known:
        return split(jacobian(own.y, own.x), own.outputs, own.inputs)
    found = split(SX(DM(jacobian_sparsity(own.y, own.x), 1)), own.outputs, own.inputs)
    for (y, x), block in found.items():
        matrix = known[y, x] if (y, x) in known else jacobian(vec(own.outputs[y]), vec(own.inputs[x]))
        found[y, x] = replace(block, matrix=project(matrix, block.entries) if isinstance(matrix, SX) else matrix)
    for x in own.inputs:
        found |= within({(y, x): found[y, x] for y in own.outputs if not isinstance(found[y, x].matrix, SX)})
    return found


def within(blocks: Blocks) -> Blocks:
    """Products without columns that are known to be zero in all of them, so that they still share what they take."""
    ends = [block.entries.colind() for block in blocks.values()]
    some = [float(any(a < b for a, b in column)) for column in zip(*map(pairwise, ends), strict=True)]
    if all(some):
        return blocks
    matrices = all_times([block.matrix for block in blocks.values()], sparsify(diag(SX(DM(some)))))
    return {key: replace(block, matrix=x) for (key, block), x in zip(blocks.items(), matrices, strict=True)}


@dataclass(frozen=True, slots=True)
class Implicit:
    """Derivatives of what solves equations; of a proximal iteration those of the solution that it settles at."""

    task: Task
    own: Expressions
    program: Program

    def value(self, parts: Parts) -> Mapping[str, SX]:
        """Results, of parts."""
        return value(self.task, self.own, parts)

    def jacobian(self, *, loops: bool = False, parts: Parts = INLINE, solves: Solver | None = None) -> Blocks:
        """dy/dx (m x n): the recursion, and -(dR/dy)^-1 dR/dp of what it leaves out, or by loops along a chain.

        `solves` is what solves its equations of motion, if that is there: equal factors that are made twice stay two.
        """
        if loops and self.chained:
            return self.linearised(parts).J
        blocks = recursion(self.task, self.own, loops=loops)
        dynamics = None if blocks else self.dynamics()
        if dynamics is not None and dynamics is not self:
            return self.through(dynamics, dynamics.jacobian(loops=loops))
        return assembled(self.own, blocks | self.others(blocks, solves))

    def linearised(self, parts: Parts) -> Linearised:
        """Results, and dy/dx by loops."""
        if not self.chained:
            return Linearised(self.own.outputs, self.jacobian(loops=True))
        y, J = along_chains.linearised(self.task, self.own, parts)
        return Linearised(y, self.patterned(J))

    def solver(self) -> Solver:
        """What solves its equations of motion."""
        return solver(self.task, self.program, self.own.inputs, columns(self.task, self.own.inputs))

    def others(self, known: Results, solves: Solver | None) -> Results:
        """The blocks that are not among these, by changes of solutions."""
        own, found, first = self.own, Results(), next(iter(self.own.outputs))
        wanted = [x for x in own.inputs if (first, x) not in known]
        composed = isinstance(self.task.entry.run, Composition)
        solves = Solver(self.program) if known or composed else solves or self.solver()
        left = None if known or composed else solves.rows
        if left is None:
            one, places = SX.eye(own.x.size1()), spans(own.inputs)
            changes = {x: self.program.forward(one[:, places[x]]) for x in wanted}
        else:
            changes = forces(self.task, solves.program, own.inputs, wanted)
        for x, change in changes.items():
            for y, rows in spans(own.outputs).items():
                found[y, x] = change[rows, :] if left is None else Product(left[rows, :], change)
        return found

    def forward(self, dx: SX) -> SX:
        """dy/dx dx (m)."""
        return self.program.forward(dx)

    def adjoint(self, w: SX) -> SX:
        """(dy/dx)' w (n)."""
        return self.program.reverse(w)

    def reaching(self, parts: Parts) -> Implicit:
        """The same, where a root is found by parts."""
        if not any(isinstance(own, Root) for own in self.program.solutions):
            linked = self.chained and self.task.model.nv >= LINKED
            return Reaching(self.task, self.own, self.program, parts) if linked else self
        if self.task.model.nv >= SOLVED:
            return Reaching(self.task, self.own, self.program, parts)
        return replace(self, program=self.program.reaching(along_chains.root(self.task, self.own, parts)))

    def check_second(self) -> None:
        """RobotError where derivatives are known that have none of their own."""
        self.task.check_second()

    def hessian(self, w: SX, *, loops: bool = False, parts: Parts = INLINE) -> Blocks:
        """The second derivative of w' y (n x n), by that of the equations at constant multipliers."""
        return self.curved(w, loops=loops, parts=parts).H

    def curved(self, w: SX, *, loops: bool = False, parts: Parts = INLINE) -> Curved:
        """Results, dy/dx and the second derivative."""
        self.check_second()
        own, closes = self.own, any(isinstance(x, Closing) for x in self.program.solutions)
        if closes and not isinstance(self.task.entry.run, Composition):
            second = divided(self.program.curvature(w, SX.eye(own.x.size1())), own.inputs, own.inputs)
            return Curved(own.outputs, self.jacobian(loops=loops), felt(own, second, w))
        dynamics = self.dynamics()
        if dynamics is not None:
            solves = dynamics.solver()
            known = dynamics.jacobian(loops=loops, solves=solves)
            slopes = known if dynamics is self else self.through(dynamics, known)
            second = self.of_one(dynamics, solves, known, w, loops=loops)
            return Curved(own.outputs, slopes, felt(own, second, w))
        y, J, H = along_chains.curved(self.task, self.own, w, loops=loops, parts=parts)
        return Curved(y, self.patterned(J), felt(own, divided(H, own.inputs, own.inputs), w))

    def patterned(self, J: Result) -> Blocks:
        """dy/dx where AD finds that there is any."""
        own, slopes = self.own, divided(J, self.own.outputs, self.own.inputs)
        if isinstance(J, SX):
            return assembled(own, {pair: block.matrix for pair, block in slopes.items()})
        return patterned(slopes, jacobian_sparsity(own.y, own.x), own.outputs, own.inputs)

    @property
    def chained(self) -> bool:
        """Whether results are made of several solutions, or of the root of an equation: along a chain of parts."""
        solutions = [own for own in self.program.solutions if not isinstance(own, Closing)]
        several = len(solutions) > 1 or any(isinstance(own, Root) for own in solutions)
        return several and isinstance(self.task.entry.run, Composition)

    def dynamics(self) -> Implicit | None:
        """The one solution that results are made of, where that takes arguments as they are, with its derivatives."""
        task, inputs = self.task, self.own.inputs
        if not isinstance(task.entry.run, Composition):
            return self
        if self.chained:
            return None
        symbols = symbols_of(task.signature[0])
        known, first = dict(zip(inputs, symbols, strict=True)), chain(task, symbols).chain.links[0]
        names = [port.name for port in first.part.signature[0]]
        if not all(is_same(known[name], x) for name, x in zip(names, first.takes, strict=True)):
            return None
        found = derivatives(first.part, {name: inputs[name] for name in names})[1]
        return found if isinstance(found, Implicit) else None

    @property
    def ends(self) -> Program:
        """Results of arguments and of the first solution, where others close loops."""
        first, *closings = self.program.solutions
        return Program(vertcat(self.own.x, first.unknown), self.program.y, tuple(closings))

    def through(self, dynamics: Implicit, J: Blocks) -> Blocks:
        """dy/dx of results that are made of one solution, which moves by J, and may close loops."""
        own, ends = self.own, self.ends
        moved = self.program.solved(ends.forward(SX.eye(ends.x.size1())))
        by_x, by_z = moved[:, : own.x.size1()], moved[:, own.x.size1() :]
        found: Results = {pair: D.matrix for pair, D in split(by_x, own.outputs, own.inputs).items()}
        for (result, z), D in split(by_z, own.outputs, dynamics.own.outputs).items():
            for x in dynamics.own.inputs:
                if D.entries.nnz() and J[z, x].entries.nnz():
                    found[result, x] = Product(D.matrix, J[z, x].matrix, found[result, x])
        return assembled(own, found)

    def of_one(self, dynamics: Implicit, solves: Solver, J: Blocks, w: SX, *, loops: bool) -> Blocks:
        """Of results y that are made of one solution z: A' H A, with H of w' y - u' R by x and z at constant u."""
        (solution, *_), own, ends = self.program.solutions, self.own, self.ends
        seed = SX.sym("seed", solution.unknown.size1())
        task, given = dynamics.task, dynamics.own.inputs
        unknown = unknowns(task, solution)
        taken = columns(task, given)
        y = solves.program.solved(dynamics.program.solutions[0].unknown)
        u = solves.multipliers(ends.reverse(w)[own.x.size1() :])
        bent = second_of_equations(task, {**given, **unknown}, taken, seed, solution, loops=loops)
        symbols = {**own.inputs, **unknown}
        blocks = divided(sparsify(ends.curvature(w, SX.eye(ends.x.size1()))), symbols, symbols)
        names = [*symbols]
        pairs = [(one, other) for n, one in enumerate(names) for other in names[n:]]
        found = with_plain(moved_to(bent, seed, -u), {pair: blocks[pair].matrix for pair in pairs})
        return congruence(both_ways(moved_to(found, solution.unknown, y)), J, own.inputs)


@dataclass(frozen=True, slots=True)
class Reaching(Implicit):
    """The same of a step that iterates, with products of derivatives and vectors made of parts.

    Of robots with fewer freedoms, limbs go in step in what AD makes, which is faster.
    """

    parts: Parts

    def forward(self, dx: SX) -> SX:
        """dy/dx dx, of one column or more."""
        return along_chains.pushed(self.task, self.own, dx, self.parts)

    def adjoint(self, w: SX) -> SX:
        """(dy/dx)' w, of one column or more."""
        return along_chains.pulled(self.task, self.own, w, self.parts)
