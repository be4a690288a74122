"""Results that are products of matrices, stated as such: C computes large ones by loops, not entry by entry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from casadi import DM, SX, Sparsity, densify, diag, sparsify, substitute, triu

from codegen.recursions.block_matrix import BlockMatrix, columns_of
from codegen.recursions.calls import Call, Output
from codegen.recursions.panels import Map, Panel
from codegen.recursions.systems import Factored, Solved, Substituted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

MANY = 20_000
"""Multiplications from which loops compute the product of matrices that straight-line code makes."""


@dataclass(frozen=True, slots=True)
class Product:
    """plus + left @ right (left' if `transposed`). All may be sparse, or products themselves.

    Of a `symmetric` one, only the upper triangle is computed.
    """

    left: Result
    right: Result
    plus: Result | None = None
    transposed: bool = False
    symmetric: bool = False

    def __str__(self) -> str:
        inner = self.right.shape[0]
        added = "" if self.plus is None else "a matrix + "
        return f"{added}({self.shape[0]} x {inner}) @ ({inner} x {self.shape[1]})"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        return (self.left.shape[1 if self.transposed else 0], self.right.shape[1])

    @property
    def factors(self) -> tuple[Result, ...]:
        """The matrices that it takes: left, right and what is added, if anything is."""
        return (self.left, self.right) if self.plus is None else (self.left, self.right, self.plus)

    def of(self, factors: Sequence[Result]) -> Product:
        """The same of other matrices."""
        left, right, *plus = factors
        return replace(self, left=left, right=right, plus=next(iter(plus), None))


@dataclass(frozen=True, slots=True)
class Masked:
    """left @ right (left' if `transposed`) where a mask has entries."""

    left: Result
    right: Result
    mask: Sparsity
    transposed: bool = False

    @property
    def T(self) -> Masked:
        """The transpose."""
        right = self.left if self.transposed else transposed(self.left)
        return Masked(self.right, right, self.mask.T, transposed=True)

    def columns(self, places: list[int]) -> Masked:
        """These columns."""
        mask, _ = self.mask.sub(list(range(self.mask.size1())), places)
        return replace(self, right=some_columns(self.right, places), mask=mask)


@dataclass(frozen=True, slots=True)
class MaskedProduct:
    """Entry by entry the product of the part whose mask has it, or zero: in GraphBLAS' terms, C<M> = A B for each part.

    Masks have no entry in common. Those of a `symmetric` result are of the upper triangle.
    """

    parts: tuple[Masked, ...]
    symmetric: bool = False

    def __str__(self) -> str:
        return f"{self.shape[0]} x {self.shape[1]}, {sum(part.mask.nnz() for part in self.parts)} entries of products"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        return self.parts[0].mask.shape

    @property
    def factors(self) -> tuple[Result, ...]:
        """The matrices that it takes: left and right of every part."""
        return tuple(factor for part in self.parts for factor in (part.left, part.right))

    def of(self, factors: Sequence[Result]) -> MaskedProduct:
        """The same of other matrices."""
        pairs = zip(self.parts, factors[::2], factors[1::2], strict=True)
        return replace(self, parts=tuple(replace(part, left=left, right=right) for part, left, right in pairs))

    @property
    def pattern(self) -> Sparsity:
        """Where it may differ from zero."""
        found = self.parts[0].mask
        for part in self.both_triangles().parts[1:]:
            found = found + part.mask
        return found

    @property
    def T(self) -> MaskedProduct:
        """The transpose."""
        return self if self.symmetric else replace(self, parts=tuple(part.T for part in self.parts))

    def both_triangles(self) -> MaskedProduct:
        """The same without copies."""
        if not self.symmetric:
            return self
        below = [part.T for part in self.parts]
        below = [replace(part, mask=triu(part.mask.T, False).T) for part in below]
        return MaskedProduct((*self.parts, *below))


Result = SX | Product | MaskedProduct | Panel | BlockMatrix | Solved | Factored | Substituted | Output
Made = Product | MaskedProduct | Panel | BlockMatrix | Solved | Factored | Substituted | Output


def once(results: Sequence[Result], make: Callable[[Result, Callable[[Result], Result]], Result]) -> tuple[Result, ...]:
    """What `make` makes of results, and by the function that it is given of what they take; of each of these once."""
    known: dict[int, Result] = {}

    def of(matrix: Result) -> Result:
        if id(matrix) not in known:
            known[id(matrix)] = make(matrix, of)
        return known[id(matrix)]

    return tuple(map(of, results))


def _at_the_right(results: Sequence[Result], make: Callable[[Result], Result]) -> tuple[Result, ...]:
    """Results with what is made of their last factors on the right in the place of these."""

    def made(matrix: Result, of: Callable[[Result], Result]) -> Result:
        if not isinstance(matrix, Product):
            return make(matrix)
        plus = None if matrix.plus is None else of(matrix.plus)
        return replace(matrix, right=of(matrix.right), plus=plus, symmetric=False)

    return once(results, made)


def times(matrix: Result, right: SX) -> Result:
    """A result times a matrix, which goes to the factors on the right."""
    return all_times((matrix,), right)[0]


def all_times(results: Sequence[Result], right: SX) -> tuple[Result, ...]:
    """Results times one matrix: what several take is multiplied once."""
    return _at_the_right(results, lambda x: x @ right if isinstance(x, SX) else Product(x, right))


def times_left(left: SX, matrix: Result) -> Result:
    """A matrix times a result."""
    return left @ matrix if isinstance(matrix, SX) else Product(left, matrix)


def times_within(left: SX, matrix: Result) -> Result:
    """A matrix times a result; of a product it goes to the left factor and to what is added, if these are plain."""
    if not isinstance(matrix, Product) or matrix.transposed or matrix.symmetric:
        return times_left(left, matrix)
    if not (isinstance(matrix.left, SX) and isinstance(matrix.plus, SX | None)):
        return times_left(left, matrix)
    return replace(matrix, left=left @ matrix.left, plus=None if matrix.plus is None else left @ matrix.plus)


class Pulled(NamedTuple):
    """J' B as R' Y, for the last factor R of a product J."""

    R: Result
    Y: Result


def pulled(J: Result, B: Result, known: dict[tuple[int, int, bool], Result]) -> Pulled:
    """J' B by J's factors from the left, one after the other; `known` has what was made of the same ones before."""
    Y = B
    while isinstance(J, Product) and J.plus is None:
        key = id(J.left), id(Y), J.transposed
        Y = known.setdefault(key, Product(J.left, Y, transposed=not J.transposed))
        J = J.right
    return Pulled(J, Y)


def transposed(matrix: Result) -> Result:
    """The transpose of a result, of the same factors."""
    return transposes((matrix,))[0]


def transposes(results: tuple[Result, ...]) -> tuple[Result, ...]:
    """The transposes of results: what several take is transposed once, and what is symmetric not at all."""
    summands, some = _summands(results), dict[tuple[int, frozenset[int]], Result]()

    def made(matrix: Result, of: Callable[[Result], Result]) -> Result:
        if isinstance(matrix, SX | MaskedProduct):
            return matrix.T
        if not isinstance(matrix, Product):
            return Product(matrix, SX.eye(matrix.shape[0]), transposed=True)
        if matrix.symmetric:
            return matrix
        left = matrix.left if matrix.transposed else of(met(matrix))
        plus = None if matrix.plus is None else of(matrix.plus)
        if there(matrix.right):
            return Product(of(matrix.right), left, plus)
        return Product(matrix.right, left, plus, transposed=True)

    def met(matrix: Product) -> Result:
        """A left factor, if it is a product without columns that meet rows of zeros."""
        rows, inner = _rows(matrix.right), matrix.right.shape[0]
        if not isinstance(matrix.left, Product) or matrix.left.symmetric or len(rows) == inner:
            return matrix.left
        if (id(matrix.left), rows) not in some:
            held = sparsify(diag(SX(DM([float(k in rows) for k in range(inner)]))))
            some[id(matrix.left), rows] = times(matrix.left, held)
        return some[id(matrix.left), rows]

    def there(matrix: Result) -> bool:
        """Whether a factor's transpose is made of one that is made anyway, and would not be narrow."""
        narrow = 2 * matrix.shape[0] < matrix.shape[1]
        return isinstance(matrix, Product) and not narrow and (id(matrix) in summands or there(matrix.right))

    return once(results, made)


def _rows(matrix: Result) -> frozenset[int]:
    """The rows of a result that may differ from zero."""
    if isinstance(matrix, SX):
        return frozenset(matrix.sparsity().row())
    if not isinstance(matrix, Product):
        return frozenset(range(matrix.shape[0]))
    plus = frozenset[int]() if matrix.plus is None else _rows(matrix.plus)
    if isinstance(matrix.left, SX):
        return plus | _rows(matrix.left.T if matrix.transposed else matrix.left)
    return plus | (frozenset(range(matrix.shape[0])) if matrix.transposed else _rows(matrix.left))


def _summands(results: Sequence[Result]) -> set[int]:
    """What products among results add, and what products among these add."""
    found, waiting = set[int](), [*results]
    while waiting:
        own = waiting.pop()
        if isinstance(own, Product) and own.plus is not None and id(own.plus) not in found:
            found.add(id(own.plus))
            waiting.append(own.plus)
    return found


def added(matrix: Result, term: SX) -> Result:
    """A matrix and a term."""
    if isinstance(matrix, SX):
        return matrix + term
    if isinstance(matrix, Product):
        plus = term if matrix.plus is None else added(matrix.plus, term)
        return replace(matrix, plus=plus)
    return Product(matrix, SX.eye(matrix.shape[1]), term)


def summed(matrix: Result, term: Result) -> Result:
    """The sum of two matrices, of which one is plain."""
    if not isinstance(term, SX):
        matrix, term = term, matrix
    assert isinstance(term, SX), "one of them is plain"
    return added(matrix, term) if term.nnz() else matrix


def combined(pairs: Sequence[tuple[Result, Result]]) -> Result:
    """The sum of A X for all pairs; products A of one left factor are multiplied by it once.

    So is what such a product takes as a left factor itself.
    """
    shared = next((x for x, _ in pairs if isinstance(x, Product)), None)
    if shared is not None and all(_shares(x, shared) for x, _ in pairs):
        inner, plus = list[tuple[Result, Result]](), list[tuple[Result, Result]]()
        for x, right in pairs:
            if not isinstance(x, Product) or x is shared.left:
                inner.append((SX.eye(x.shape[1]), right))
                continue
            inner.append((x.right, right))
            plus += [] if x.plus is None else [(x.plus, right)]
        return replace(shared, right=combined(inner), plus=combined(plus) if plus else None, symmetric=False)
    total: Result | None = None
    for x, right in pairs:
        if isinstance(x, SX) and isinstance(right, SX) and is_small(x, right):
            total = x @ right if total is None else added(total, x @ right)
    for x, right in pairs:
        if not (isinstance(x, SX) and isinstance(right, SX) and is_small(x, right)):
            total = Product(x, right, total)
    assert total is not None, "there are pairs"
    return total


def is_small(left: SX, right: SX) -> bool:
    """Whether the product of two matrices takes few multiplications."""
    columns, rows = left.sparsity().colind(), right.sparsity().row()
    return bool(sum(columns[row + 1] - columns[row] for row in rows) < MANY)


def _shares(matrix: Result, other: Product) -> bool:
    """Whether a matrix is a product of the other's left factor, or that itself."""
    if matrix is other.left:
        return not other.transposed
    same = isinstance(matrix, Product) and matrix.left is other.left and matrix.transposed is other.transposed
    return same and not (isinstance(matrix, Product) and matrix.symmetric and matrix.plus is not None)


def some_rows(matrix: Result, places: list[int]) -> Result:
    """These rows of a result."""
    if isinstance(matrix, SX):
        return matrix[places, :]
    if not isinstance(matrix, Product):
        return Product(SX.eye(matrix.shape[0])[places, :], matrix)
    left = matrix.left
    if matrix.transposed:
        left = left.T if isinstance(left, SX) else transposed(left)
    plus = None if matrix.plus is None else some_rows(matrix.plus, places)
    return Product(some_rows(left, places), matrix.right, plus)


def some_columns(matrix: Result, places: list[int]) -> Result:
    """These columns of a result."""
    return some_columns_of((matrix,), places)[0]


def some_columns_of(results: Sequence[Result], places: list[int]) -> tuple[Result, ...]:
    """These columns of results: of what several take they are chosen once."""

    def chosen(matrix: Result) -> Result:
        if isinstance(matrix, SX):
            return matrix[:, places]
        if isinstance(matrix, MaskedProduct):
            return MaskedProduct(tuple(part.columns(places) for part in matrix.both_triangles().parts))
        return Product(matrix, SX.eye(matrix.shape[1])[:, places])

    return _at_the_right(results, chosen)


def blocks_of(matrix: BlockMatrix, n: int) -> list[list[Result]]:
    """Its parts of n rows and n columns, by rows: each is one of its blocks, or columns of one."""
    rows, columns = (range(0, size, n) for size in matrix.shape)
    found = [_rows_of(columns_of(matrix, column, n), rows) for column in columns]
    return [list(own) for own in zip(*found, strict=True)]


def _rows_of(matrix: BlockMatrix, rows: Iterable[int]) -> tuple[Result, ...]:
    """Its blocks that begin in these rows, each as wide as the matrix; of what several take columns are chosen once."""
    own, n = [next(block for block in matrix.blocks if block.row == row) for row in rows], matrix.shape[1]
    ((first, width),) = {(block.first, block.columns) for block in own}
    assert width == n, "parts are not made of several blocks"
    matrices = tuple(block.matrix for block in own)
    return matrices if all(x.shape[1] == n for x in matrices) else some_columns_of(matrices, [*range(first, first + n)])


def last_factor(matrix: Result) -> Result:
    """The right factor of a product's right factors, or a result that is none."""
    while isinstance(matrix, Product):
        matrix = matrix.right
    return matrix


def substituted(results: tuple[Result, ...], old: Sequence[SX], new: Sequence[SX]) -> tuple[Result, ...]:
    """The results with expressions in the place of symbols, all at once."""
    plain = {id(leaf): leaf for leaf in leaves(results)}
    moved = substitute([*plain.values()], [*old], [*map(densify, new)])
    return rebuilt(results, dict(zip(plain, moved, strict=True)))


def leaves(results: tuple[Result, ...]) -> list[SX]:
    """The matrices that results are, or are made of, each once."""
    parts = [*results, *(factor for own in made_in(results) for factor in own.factors)]
    return list({id(part): part for part in parts if isinstance(part, SX)}.values())


def rebuilt(results: tuple[Result, ...], leaves: Mapping[int, Result]) -> tuple[Result, ...]:
    """The same results of others in the place of these matrices, by identity."""
    known, maps, calls = {**leaves}, dict[int, Map](), dict[int, Call]()
    for own in made_in(results):
        factors = [known[id(factor)] for factor in own.factors]
        if isinstance(own, Output):
            columns = tuple(x for x in factors if isinstance(x, SX))
            call = calls.setdefault(id(own.call), replace(own.call, takes=columns))
            known[id(own)] = replace(own, call=call)
        elif isinstance(own, Panel):
            known[id(own)] = Panel(maps.setdefault(id(own.map), own.map.of(factors)), own.number)
        else:
            known[id(own)] = own.of(factors)
    return tuple(known[id(result)] for result in results)


def made_in(results: tuple[Result, ...]) -> list[Made]:
    """The products and panels among results and those that these take, each once and after what it takes."""
    found: dict[int, Made] = {}

    def visit(matrix: Result) -> None:
        if not isinstance(matrix, SX) and id(matrix) not in found:
            for factor in matrix.factors:
                visit(factor)
            found[id(matrix)] = matrix

    for result in results:
        visit(result)
    return list(found.values())


def products_in(results: tuple[Result, ...]) -> list[Product | MaskedProduct]:
    """The products among results and those that these take, each once and after what it takes."""
    return [own for own in made_in(results) if isinstance(own, Product | MaskedProduct)]
