"""Second derivatives of compositions: those of every part, and the chain rule.

Of weights' f(g(x)): with w the gradient of weights' f by what g gives, and D how g moves it along x, they are those of
w' g and D' H D, with H those of weights' f by what g gives. All are along the tangents of joints, at configurations
between parts, too: a second derivative is how a gradient, a covector of tangents, changes along tangents. So no part's
quaternions are differentiated with another's, and what a part's recursion gives is taken as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from casadi import (
    SX,
    densify,
    depends_on,
    dot,
    hessian,
    horzcat,
    horzsplit,
    is_equal,
    jacobian,
    substitute,
    symvar,
    vec,
    veccat,
    vertcat,
    vertsplit,
)

from codegen.algorithms import KNOWN
from codegen.ir.graph import Port
from codegen.recursions.composition import INLINE, Composition
from codegen.recursions.expansion import entries
from codegen.recursions.iteration import Iteration
from codegen.recursions.products import Product, Result
from codegen.spatial import eliminated
from codegen.tracing.differential import differential, moves, raw
from codegen.tracing.equations import Solver, forces, inverse_dynamics_slopes, of_results, solver
from codegen.tracing.implicit import LINEARISED
from codegen.tracing.trace import called, composed, part_of, results_of, results_or_products, shaped, symbols_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codegen.recursions.composition import Called, Parts
    from codegen.tracing.differential import Differential
    from codegen.tracing.task import Task

JACOBIANS = {
    "rnea": {("tau", "q"): "dtau_dq", ("tau", "v"): "dtau_dv", ("tau", "a"): "M"},
    "aba": {("a", "q"): "da_dq", ("a", "v"): "da_dv", ("a", "tau"): "Minv"},
}
"""What recursions call the blocks of a Jacobian, by output and input; others are named as dlam_dq is."""

SAME = {"ltl": "aba"}
"""Algorithms without a recursion for derivatives of their own, and those that give the same results."""


@dataclass(frozen=True, slots=True)
class Place:
    """Symbols of an argument, or of what a part gives; configurations are `raw` where they have no tangents."""

    port: Port
    symbol: SX
    raw: bool = False

    def size(self, nv: int) -> int:
        """How many tangents it has."""
        return nv if self.moves else self.port.size

    @property
    def moves(self) -> bool:
        """Whether it is a configuration with tangents."""
        return moves(self.port.name) and not self.raw


@dataclass(frozen=True, slots=True)
class Link:
    """A part, what it takes: expressions of what is before, and places of what others take of its results."""

    part: Task
    takes: tuple[SX, ...]
    gives: tuple[Place, ...]

    def __str__(self) -> str:
        return f"{self.part.algorithm} -> {', '.join(place.port.name for place in self.gives)}"

    @property
    def unknown(self) -> SX:
        """The symbols of what it gives."""
        return vertcat(*[place.symbol for place in self.gives])

    @property
    def value(self) -> SX:
        """What it gives."""
        symbols = symbols_of(self.part.signature[0])
        return substitute(self.column(symbols), vertcat(*symbols), densify(vertcat(*self.takes)))

    def column(self, symbols: list[SX]) -> SX:
        """What it gives of symbols of what it takes."""
        names = [port.name for port in self.part.signature[1]]
        made = dict(zip(names, results_of(self.part, symbols), strict=True))
        return vertcat(*[vec(made[place.port.name].T) for place in self.gives])

    def differential(self, symbols: list[SX]) -> Differential:
        """Derivatives of what it gives by symbols of what it takes."""
        own = (raw if is_raw(self.part) else differential)(self.part, symbols)
        wanted = {place.port.name for place in self.gives}
        rows = [port.name in wanted for port in self.part.signature[1] for _ in range(port.size)]
        return own if all(rows) else own.only([n for n, own in enumerate(rows) if own])

    def solver(self, symbols: list[SX]) -> Solver:
        """What solves its equations of motion, if it does and the robot has implicit loops."""
        part, program = self.part, self.differential(symbols).program
        given = {port.name: x for port, x in zip(part.signature[0], symbols, strict=True)}
        return solver(part, program, given, symbols)

    def jacobian(self) -> SX:
        """How what it gives moves along what it takes."""
        symbols = symbols_of(self.part.signature[0])
        made = iter(entries(tuple(x for row in self.slopes(symbols) for x in row)))
        J = vertcat(*[horzcat(*[next(made) for _ in symbols]) for _ in self.gives])
        return substitute(J, vertcat(*symbols), densify(vertcat(*self.takes)))

    def slopes(
        self, symbols: list[SX], *, loops: bool = False, parts: Parts = INLINE, solves: Solver | None = None
    ) -> list[list[Result]]:
        """The blocks of this at symbols, by what it gives and what it takes, by the part's recursion if there is one.

        By `loops` over columns if they pay. Recursions give that of solutions: they do not hold where iterations are
        differentiated as they are.
        """
        part, ports = self.part, self.part.signature[0]
        made = dict[str, Result]()
        solution = part.entry.group != "constrained" or self.differential(symbols).program.solutions
        along = solution and not is_raw(part)
        only_a = loops and [place.port.name for place in self.gives] == ["a"]
        ways = [f"{part.algorithm}_{way}" for way in (*["linearised"] * only_a, "derivatives")]
        if along and (name := next((way for way in ways if way in KNOWN), "")):
            own = replace(part, algorithm=name, small_vectors=loops)
            names = [port.name for port in own.signature[1]]
            made = dict(zip(names, results_or_products(own, symbols, loops=loops, parts=parts), strict=True))
        named = [[_block(part, place.port, port) for place in self.gives] for port in ports]
        missing = [n for n, names in enumerate(named) if not {*names} <= made.keys()]
        others = dict(zip(missing, self.by_changes(symbols, missing, solves), strict=True))
        columns = [others[n] if n in others else [made[name] for name in names] for n, names in enumerate(named)]
        return [list(row) for row in zip(*columns, strict=True)]

    def by_changes(self, symbols: list[SX], places: Sequence[int], solves: Solver | None) -> list[list[Result]]:
        """The columns of blocks that belong to what it takes in these places, by changes of solutions."""
        if not places:
            return []
        nv, own, ports = self.part.model.nv, self.differential(symbols), self.part.signature[0]
        tops = [0, *accumulate(place.size(nv) for place in self.gives)]
        given = {port.name: x for port, x in zip(ports, symbols, strict=True)}
        solves = solves or self.solver(symbols)
        left = solves.rows if is_raw(self.part) else None
        if left is not None:
            changes = forces(self.part, solves.program, given, [ports[n].name for n in places])
            return [[Product(x, changes[ports[n].name]) for x in vertsplit(left, tops)] for n in places]
        sizes = [place.size(nv) for place in places_of(self.part, ports, symbols)]
        seeds = horzsplit(SX.eye(sum(sizes)), [0, *accumulate(sizes)])
        known = inverse_dynamics_slopes(self.part, given) if is_raw(self.part) else {}
        named = {n: ports[n].name for n in places}
        return [[*vertsplit(known[x] if x in known else own.jvp(seeds[n]), tops)] for n, x in named.items()]

    def curvature(self, weights: SX, J: SX) -> tuple[SX, SX]:
        """Of the sum with weights of what it gives the gradient by what it takes, and its changes; J is `jacobian`."""
        symbols = symbols_of(self.part.signature[0])
        constants = [SX.sym("J", J.sparsity()), SX.sym("w", weights.size1())]
        found = of_results(self.part, self.differential(symbols), symbols, constants[1], constants[0])
        given = [*map(densify, self.takes), J, densify(weights)]
        slope, second = substitute([*found], [*symbols, *constants], given)
        return slope, second


class Step(NamedTuple):
    """A link, how it takes what moves with all places, and these along arguments; its J, and its places among all."""

    link: Link
    taken: SX
    change: SX
    J: SX
    at: slice


class Curved(NamedTuple):
    """How results move along arguments, and of their sum with weights the gradient, and how that changes."""

    J: SX
    slope: SX
    second: SX


@dataclass(frozen=True, slots=True)
class Chain:
    """A composition as what it calls, one after the other, and its results of what these give."""

    nv: int
    arguments: tuple[Place, ...]
    links: tuple[Link, ...]
    results: tuple[SX, ...]

    def __str__(self) -> str:
        return "; ".join(map(str, self.links))

    @property
    def chain(self) -> Chain:
        """Itself."""
        return self

    def of(self, links: tuple[Link, ...]) -> Chain:
        """The same of these links."""
        return replace(self, links=links)

    @property
    def places(self) -> list[Place]:
        """Of arguments, then of what links give."""
        return [*self.arguments, *(place for link in self.links for place in link.gives)]

    @property
    def spans(self) -> list[range]:
        """Where the tangents of places are among those of all."""
        ends = [0, *accumulate(place.size(self.nv) for place in self.places)]
        return [range(start, end) for start, end in pairwise(ends)]

    @property
    def vectors(self) -> SX:
        """The symbols of all that is no configuration."""
        return vertcat(*[place.symbol for place in self.places if not place.moves])

    @property
    def of_vectors(self) -> SX:
        """What gives their changes of those of all places."""
        spans = zip(self.places, self.spans, strict=True)
        return SX.eye(self.spans[-1].stop)[[row for place, at in spans if not place.moves for row in at], :]

    def takes(self, place: Place) -> bool:
        """Whether results, or what links take, depend on a place."""
        return any(depends_on(x, place.symbol) for x in (*self.results, *(x for own in self.links for x in own.takes)))

    def configuration(self, x: SX) -> range | None:
        """The tangents of the configuration that an expression is, if it is one."""
        spans = zip(self.places, self.spans, strict=True)
        return next((at for place, at in spans if place.moves and is_same(place.symbol, x)), None)

    def taken(self, expressions: Sequence[SX]) -> SX:
        """How expressions of vectors, or configurations, move along the tangents of all places."""
        return vertcat(*self.each_taken(expressions))

    def each_taken(self, expressions: Sequence[SX]) -> list[SX]:
        """The same of each."""
        found, one = list[SX](), SX.eye(self.spans[-1].stop)
        for x in expressions:
            at = self.configuration(x)
            found.append(jacobian(x, self.vectors) @ self.of_vectors if at is None else one[[*at], :])
        return found

    def curved(self, weights: SX, turning: SX | None = None) -> Curved:
        """How results move along all arguments, and the second derivatives of their sum with weights.

        Weights may depend on the configuration that the last part gives: along its tangents they change by `turning`.
        """
        n = sum(place.size(self.nv) for place in self.arguments)
        along, steps, takes = SX.eye(n), list[Step](), [self.taken(link.takes) for link in self.links]
        # first to last: how places move along arguments
        for link, taken in zip(self.links, takes, strict=True):
            change, J = taken[:, : along.size1()] @ along, link.jacobian()
            steps.append(Step(link, taken, change, J, slice(along.size1(), along.size1() + J.size1())))
            along = vertcat(along, J @ change)
        ends = self.taken(self.results)
        moved, slope, spread = ends @ along, ends.T @ weights, [(self.results, weights)]
        second = SX(n, n)
        # last to first: gradients by places, and how those of parts change
        for step in reversed(steps):
            gradient, bent = step.link.curvature(slope[step.at], step.J)
            if turning is not None and step is steps[-1]:
                bent += step.J.T @ (turning @ step.J)
            second += step.change.T @ (bent @ step.change)
            slope += step.taken.T @ gradient
            spread.append((step.link.takes, gradient))
        vectors = self.of_vectors @ along
        second += vectors.T @ (self.between(spread) @ vectors)
        found = [moved, slope[:n], second]
        for link in reversed(self.links):
            found = substitute(found, [link.unknown], [link.value])
        return Curved(*found)

    def between(self, spread: Sequence[tuple[Sequence[SX], SX]]) -> SX:
        """The second derivative by vectors of what parts take and of results, each with its gradient as weights."""
        total, constants = SX(0), list[SX]()
        for expressions, gradient in spread:
            constants.append(SX.sym("w", gradient.size1()))
            top = 0
            for x in expressions:
                at = self.configuration(x)
                own, top = top, top + (x.size1() if at is None else len(at))
                total += dot(constants[-1][own:top], x) if at is None else 0
        found = hessian(total, self.vectors)[0]
        return substitute(found, vertcat(*constants), densify(vertcat(*[gradient for _, gradient in spread])))


@dataclass(frozen=True, slots=True)
class Rooted:
    """A composition whose results depend on the root w of an equation, which an iteration finds.

    Of the `chain`, w is the last argument, and what the equation lacks is the last result. So many steps of Newton's
    method lead from the `guess` to what is `reached`, which is made of parts, and of loops over columns if they pay.
    """

    chain: Chain
    guess: SX
    steps: int
    reached: Callable[[Parts, bool], SX]

    def __str__(self) -> str:
        return f"root of {self.chain}"

    def of(self, links: tuple[Link, ...]) -> Rooted:
        """The same of these links."""
        return replace(self, chain=self.chain.of(links))

    @property
    def root(self) -> SX:
        """The symbols of w."""
        return self.chain.arguments[-1].symbol

    @property
    def lacking(self) -> Chain:
        """What the equation is made of, as a chain."""
        ends = self.chain.results[-1:]
        return replace(self.chain, links=needed(self.chain.links, ends), results=ends)

    @property
    def arguments(self) -> tuple[Place, ...]:
        """Those of the composition."""
        return self.chain.arguments[:-1]

    @property
    def results(self) -> tuple[SX, ...]:
        """The results of the composition."""
        return self.chain.results[:-1]

    def curved(self, weights: SX, turning: SX | None = None) -> Curved:
        """The same as of a chain: of weights' y - u' lack, with multipliers u by which its gradient by w vanishes."""
        root, u = self.root, SX.sym("u", self.root.size1())
        J, slope, second = self.chain.curved(vertcat(weights, -u), turning)
        n, m = J.size2() - u.size1(), J.size1() - u.size1()
        K, ends = J[m:, n:], J[:m, n:]
        moved = -eliminated(K, J[m:, :n])
        along = vertcat(SX.eye(n), moved)
        found = [J[:m, :n] + ends @ moved, slope[:n], along.T @ second @ along]
        (pulled,) = substitute([slope[n:]], [u], [SX.zeros(u.size1())])
        found = substitute(found, [u], [densify(eliminated(K.T, pulled))])
        return Curved(*substitute(found, [root], [densify(self.reached(INLINE, False))]))


def _block(part: Task, made: Port, taken: Port) -> str:
    """What recursions call how a result changes with an argument."""
    pair = made.name, taken.name
    return JACOBIANS.get(part.algorithm, {}).get(pair, "d{}_d{}".format(*pair))


def is_same(symbol: SX, x: SX) -> bool:
    """Whether an expression is a column of symbols itself."""
    return bool(symbol.shape == x.shape and is_equal(symbol, x))


def is_raw(task: Task) -> bool:
    """Whether derivatives are by raw positions, where loops allow fewer tangents than the function has arguments."""
    return not all(loop.explicit for loop in task.model.loops)


def places_of(task: Task, ports: Sequence[Port], symbols: Sequence[SX]) -> tuple[Place, ...]:
    """Those of ports with these symbols."""
    return tuple(Place(port, x, is_raw(task)) for port, x in zip(ports, symbols, strict=True))


def is_chain(task: Task) -> bool:
    """Whether a task's function is a composition of parts whose derivatives are along tangents."""
    return isinstance(task.entry.run, Composition) and not is_raw(task)


def chain(task: Task, symbols: list[SX]) -> Chain | Rooted:
    """A composition, of these symbols of its arguments."""
    links = list[Link]()

    def recorded(task: Task, name: str, given: Mapping[str, SX]) -> Called:
        """A part that is noted among links when it is called.

        Derivatives that come with dynamics, made otherwise here, are symbols that nobody knows.
        """
        whole, part = part_of(task, name), part_of(task, name.removesuffix(LINEARISED))

        def call(parts: Parts = INLINE, **arguments: SX) -> tuple[SX, ...]:
            """Symbols of the results."""
            ports, made = part.signature
            takes = [vec(SX(arguments[p.name]).T) if p.name in arguments else given[p.name] for p in ports]
            gives = places_of(part, made, [SX.sym(port.name, port.size) for port in made])
            links.append(Link(part, tuple(takes), gives))
            known = {place.port.name: place.symbol for place in links[-1].gives}
            columns = (known.get(port.name, SX.sym(port.name, port.size)) for port in whole.signature[1])
            return tuple(shaped(x, port.shape) for x, port in zip(columns, whole.signature[1], strict=True))

        return call

    places = places_of(task, task.signature[0], symbols)
    results = composed(task, symbols, recorded)
    if not isinstance(results, Iteration):
        return Chain(task.model.nv, places, needed(links, results), results)
    assert results.equation is not None, f"{task.algorithm} iterates for a root"
    size, steps = results.state.size1(), task.iterations or 1
    root = Place(Port("root", (size,)), SX.sym("root", size))

    def reached(parts: Parts, loops: bool) -> SX:
        found: Iteration = composed(task, symbols, partial(called, loops=loops, parts=parts), parts)
        return SX(found.reached(steps)[0])

    links.clear()  # of the start
    _, lack = results.equation(root.symbol)
    ends = (*results.finish(root.symbol), lack)
    assert results.guess is not None, "it begins somewhere"
    return Rooted(Chain(task.model.nv, (*places, root), needed(links, ends), ends), results.guess, steps, reached)


def needed(links: Sequence[Link], results: Sequence[SX], *, bent: bool = True) -> tuple[Link, ...]:
    """Links that results depend on, without what nobody takes of theirs.

    Multipliers stay where second derivatives are wanted (`bent`): they bend accelerations.
    """
    kept, wanted = list[Link](), {x.element_hash() for x in symvar(veccat(*results))}
    for link in reversed(links):
        gives = tuple(place for place in link.gives if place.symbol[0].element_hash() in wanted)
        if gives:
            held = bent and link.part.entry.group == "constrained"
            kept.append(link if held else replace(link, gives=gives))
            wanted |= {x.element_hash() for x in symvar(veccat(*link.takes))}
    return tuple(reversed(kept))
