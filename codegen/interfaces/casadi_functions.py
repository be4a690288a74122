"""CasADi's interface: the value of a function and its derivatives, as sparse functions of nonzeros and their kernels.

CasADi (user guide, "Calling external functions") wants directional derivatives and adjoints of one direction, and takes
them of several at once, whose columns stand side by side: those are elements of one SIMD register (`codegen.packing`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from casadi import SX, horzcat, jacobian_sparsity, reshape, vec

from codegen import pipeline
from codegen.algorithms import QUANTITIES
from codegen.costs import LOOPED_NONZEROS
from codegen.emission.spec import kernel_of
from codegen.errors import RobotError
from codegen.garbage import undisturbed
from codegen.ir.pattern import Pattern
from codegen.limits import MOST_SLOPES
from codegen.progress import doing, each
from codegen.task.header_notes import folded
from codegen.task.limb_symmetry import limbs
from codegen.tracing.blocks import Block, plain
from codegen.tracing.differentiated import differentiated
from codegen.tracing.expressed import column
from codegen.tracing.sharing import for_solvers
from codegen.tracing.sparse_graph import SparseGraph, pattern_of, sparse_graph
from codegen.tracing.trace import trace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from codegen.emission.spec import Kernel, ProductKernel
    from codegen.packing import Roles
    from codegen.recursions.composition import Parts
    from codegen.tracing.blocks import Blocks
    from codegen.tracing.differentiated import Derivatives
    from codegen.tracing.expressed import Expressions
    from codegen.tracing.stages import Opened
    from codegen.tracing.task import Task

DIRECTIONS = 4
"""How many directions or adjoints are taken at once: what one SIMD register of AVX2 holds."""

ORDERS = {"": 0, "jac_": 1, "fwd1_": 1, "adj1_": 1, "fwd4_": 1, "adj4_": 1, "jac_adj1_": 2}
"""What is exported, by what its name begins with, and the order of the derivatives that it gives."""

KERNELS = {
    "": "value",
    "jac_": "jacobian",
    "fwd1_": "forward",
    "adj1_": "adjoint",
    "fwd4_": "forward_4",
    "adj4_": "adjoint_4",
    "jac_adj1_": "hessian",
}
"""What kernels of these are called, after their algorithm."""

SEVERAL = ("fwd4_", "adj4_")
"""Products of several directions at once."""

BY_ONE = tuple(start for start in ORDERS if start not in SEVERAL)
"""All others."""

LEAN = {0: ("",), 1: ("", "jac_"), 2: ("", "jac_adj1_")}
"""What stages of `codegen.ocp` call with derivatives up to an order: with Hessians come Jacobians."""


@dataclass(frozen=True, slots=True)
class Exported:
    """One function of CasADi's interface: what its name begins with, its arguments and results, and its kernel."""

    start: str
    sparse: SparseGraph
    kernel: Kernel | ProductKernel

    def __str__(self) -> str:
        return f"{self.start}{self.sparse}"


def exported(
    task: Task, derivatives: int, only: Collection[str] = BY_ONE, *, half: bool = False, constant: Sequence[str] = ()
) -> tuple[Exported, ...]:
    """The functions up to derivatives of this order, or `only` those among them, by what their names begin with.

    Of Hessians only blocks by an argument and itself or a later one with `half` of them, and no derivatives by
    arguments that are `constant`: the other ones have no nonzeros.
    """
    if task.iterations is None:
        raise RobotError(f"{task.algorithm}: for CasADi the number of iterations is fixed; give a number of them")
    if derivatives > 1:
        task.check_second()
    with undisturbed(), doing(f"{task.algorithm} of {task.model.name} for CasADi"):
        (own, found), made = differentiated(task), list[Exported]()
        if derivatives > 1:
            found.check_second()
        whole = {f"adj_{name}": pattern_of(x) for name, x in own.inputs.items()}
        starts = [start for start, order in ORDERS.items() if order <= derivatives and start in only]
        if any("jac_" in start for start in starts):
            _check_slopes(task, own)
        try:
            felt = _read(own)
            for start in each(starts, KERNELS.__getitem__):
                parts = for_solvers(ORDERS[start])
                inputs, outputs = _expressions(start, own, found, parts)
                outputs = _within(outputs, felt) if start == "jac_adj1_" else outputs
                outputs = _without(outputs, own, half=half, constant=constant)
                times = DIRECTIONS if start in SEVERAL else 1
                fixed = {name: _beside(whole[name], times) for name in whole.keys() & outputs.keys()}
                made.append(_exported(task, start, inputs, outputs, fixed, parts.opened))
                whole |= {f"fwd_{name}": pattern for name, pattern in made[0].sparse.outputs.items()}
                felt = _felt(made[-1].sparse, own) if start == "jac_" else felt
        except RobotError:
            trace(task)  # what it refuses, it refuses in better words
            raise
        return tuple(made)


def _check_slopes(task: Task, own: Expressions) -> None:
    """RobotError where Jacobians would be larger than any solver takes, as those of matrices that are derivatives."""
    results, arguments = sum(y.nnz() for y in own.outputs.values()), sum(x.numel() for x in own.inputs.values())
    if results * arguments > MOST_SLOPES:
        raise RobotError(
            f"{task.model.name}: {task.algorithm} has {results} results of {arguments} arguments, and its Jacobian up "
            f"to {results * arguments:,} elements; ask solvers' functions for a derivative order of 0, or for "
            "derivatives of what it is computed from"
        )


def _exported(
    task: Task,
    start: str,
    inputs: dict[str, SX],
    outputs: Mapping[str, SX | Block],
    whole: dict[str, Pattern],
    opened: Opened,
) -> Exported:
    """One function, of expressions of its arguments; CasADi wants adjoints and directional derivatives `whole`."""
    name, passes = f"{task.algorithm}_{KERNELS[start]}", partial(pipeline.passed, task)
    least = None if start == "jac_" and task.entry.group != "steps" else LOOPED_NONZEROS
    sparse = sparse_graph(name, inputs, outputs, passes, whole, least, opened)
    names = [port.name for port in sparse.function.inputs]
    known = {name: name.removeprefix("fwd_").removeprefix("adj_") for name in names}
    like = limbs(task, {port: name for port, name in known.items() if len(_shape(name)) == 1})
    ways: tuple[Roles, ...] = (_directions(sparse),) if start in SEVERAL else like
    about = f"{task.entry.title}: {KERNELS[start]} for CasADi"
    return Exported(start, sparse, kernel_of(sparse.function, about, sparse.written, ways, folded(task)))


def _shape(name: str) -> tuple[str | int, ...]:
    return QUANTITIES[name].shape if name in QUANTITIES else ()


def _expressions(
    start: str, own: Expressions, found: Derivatives, parts: Parts
) -> tuple[dict[str, SX], Mapping[str, SX | Block]]:
    """The arguments and results of an exported function; nominal results, which none needs, have no nonzeros."""
    x, y = own.inputs, own.outputs
    nominal = {f"out_{name}": SX(*part.shape) for name, part in y.items()}
    if start == "":
        return x, found.value(parts)
    if start == "jac_":
        return {**x, **nominal}, _blocks("jac_", found.jacobian(loops=True, parts=parts), y, x)
    times = DIRECTIONS if start in SEVERAL else 1
    if start.startswith("fwd"):
        ways = _seeds("fwd_", x, times)
        return {**x, **nominal, **ways}, _products("fwd_", found.reaching(parts).forward, ways, y, times)
    seeds = _seeds("adj_", y, times)
    if start.startswith("adj"):
        return {**x, **nominal, **seeds}, _products("adj_", found.reaching(parts).adjoint, seeds, x, times)
    _, first, second = found.curved(column(seeds.values()), loops=True, parts=parts)
    second |= {(name, f"adj_{row}"): block.T for (row, name), block in first.items()}
    columns = {**x, **nominal, **seeds}
    adjoints = {f"out_adj_{name}": SX(*part.shape) for name, part in x.items()}
    return {**columns, **adjoints}, _blocks("jac_adj_", second, x, columns)


def _read(own: Expressions) -> dict[str, list[int]]:
    """By inputs, the elements that expressions of results contain."""
    return {name: sorted({*jacobian_sparsity(own.y, vec(x)).get_triplet()[1]}) for name, x in own.inputs.items()}


def _felt(jacobian: SparseGraph, own: Expressions) -> dict[str, list[int]]:
    """By inputs, the elements that a result depends on, as the Jacobian's nonzeros are after the passes."""
    return {
        name: sorted({c for y in own.outputs for c in jacobian.outputs[f"jac_{y}_{name}"].columns})
        for name in own.inputs
    }


def _within(second: Mapping[str, SX | Block], felt: Mapping[str, list[int]]) -> dict[str, SX | Block]:
    """Second derivatives without those by elements that no result depends on, which a recursion may not know."""
    found = dict(second)
    for row, rows in felt.items():
        for name, columns in felt.items():
            key = f"jac_adj_{row}_{name}"
            given = found[key]
            block = plain(given) if isinstance(given, SX) else given
            some = SX(*block.entries.shape)
            some[rows, columns] = 1
            found[key] = replace(block, entries=block.entries * some.sparsity())
    return found


def _without(
    outputs: Mapping[str, SX | Block], own: Expressions, *, half: bool, constant: Sequence[str]
) -> Mapping[str, SX | Block]:
    """Results without half of the second derivatives, which are the other half's, and without those by constants."""
    inputs, seeds = [*own.inputs], [f"adj_{y}" for y in own.outputs]
    left_out = {f"jac_adj_{x}_{y}" for k, x in enumerate(inputs) for y in inputs[: k * half]}
    for x in constant:
        left_out |= {f"jac_adj_{pair}" for y in inputs for pair in (f"{x}_{y}", f"{y}_{x}")}
        left_out |= {f"jac_adj_{x}_{seed}" for seed in seeds} | {f"jac_{y}_{x}" for y in own.outputs}
    return {key: SX(*y.shape) if key in left_out else y for key, y in outputs.items()}


def _blocks(start: str, known: Blocks, rows: Mapping[str, SX], columns: Mapping[str, SX]) -> dict[str, SX | Block]:
    """The blocks of a Jacobian, row of blocks by row; what rows do not depend on has no nonzeros."""
    return {
        f"{start}{row}_{name}": known.get((row, name), SX(y.numel(), x.numel()))
        for row, y in rows.items()
        for name, x in columns.items()
    }


def _seeds(start: str, parts: Mapping[str, SX], times: int) -> dict[str, SX]:
    """Symbols for changes or weights of these, those of several directions side by side."""
    return {start + name: SX.sym(start + name, part.size1(), part.size2() * times) for name, part in parts.items()}


def _products(
    start: str, product: Callable[[SX], SX], seeds: Mapping[str, SX], like: Mapping[str, SX], times: int
) -> dict[str, SX]:
    """A product of derivatives by each direction of seeds, as matrices of these shapes side by side."""
    found = product(horzcat(*[column(_one(seeds, k, times)) for k in range(times)]))
    made = [_parts(start, found[:, k], like) for k in range(times)]
    return {name: horzcat(*(parts[name] for parts in made)) for name in made[0]}


def _one(seeds: Mapping[str, SX], k: int, times: int) -> list[SX]:
    """The columns of direction k."""
    widths = [x.size2() // times for x in seeds.values()]
    return [x[:, k * width : (k + 1) * width] for x, width in zip(seeds.values(), widths, strict=True)]


def _directions(sparse: SparseGraph) -> Roles:
    """Directions as limbs of one group: the same place in each has the same role."""
    sizes = {port.name: port.size // DIRECTIONS for port in sparse.function.inputs}
    seeds = [name for name in sizes if name.startswith(("fwd_", "adj_"))]
    return {
        (name, k * sizes[name] + place): (0, k, (name, place))
        for name in seeds
        for k in range(DIRECTIONS)
        for place in range(sizes[name])
    }


def _beside(pattern: Pattern, times: int) -> Pattern:
    """A pattern several times, side by side."""
    rows, columns = pattern.shape
    places = list(zip(pattern.indices, pattern.columns, strict=True))
    return Pattern.of((rows, columns * times), [(i, c + k * columns) for k in range(times) for i, c in places])


def _parts(start: str, all_parts: SX, like: Mapping[str, SX]) -> dict[str, SX]:
    """What one column holds, as matrices of these shapes."""
    found, top = dict[str, SX](), 0
    for name, part in like.items():
        found[start + name] = reshape(all_parts[top : top + part.numel()], *part.shape)
        top += part.numel()
    return found
