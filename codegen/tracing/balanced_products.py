"""Hessian-vector products of dynamics with contacts by their Jacobian J, if that is there: nothing is solved again.

Solutions y of R(x, y) = 0 move by J dx. Weights w have multipliers u = (dR/dy)^-1 w, of which J knows all by forces: as
dR/dy is symmetric, these are the blocks by tau of accelerations' J, transposed, and of multipliers' J. The gradient is
g = -(dR/dx)' u, and changes by -d((dR/dx)' u) at constant u, and by J' z, z = dw - d((dR/dy)' u).
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from casadi import SX, gradient, jtimes, substitute, vertcat, vertsplit

from codegen.costs import PLACED
from codegen.recursions.products import Product, Result, transposed
from codegen.tracing.blocks import plain_of
from codegen.tracing.link_products import Way
from codegen.tracing.linked import once_of
from codegen.tracing.solutions import contracted
from codegen.tracing.trace import symbols_of

if TYPE_CHECKING:
    from codegen.recursions.composition import OfColumns, Parts
    from codegen.tracing.chained import Chain, Link
    from codegen.tracing.linked import Linked


def by_jacobian(chain: Chain, link: Link) -> bool:
    """Whether this is shorter, of dynamics of which accelerations alone are taken: of others it takes longer."""
    if link.part.model.nv < PLACED or link.part.entry.group != "constrained" or any(map(chain.takes, link.gives[1:])):
        return False
    program = link.differential(symbols_of(link.part.signature[0])).program
    return program.inverts and program.is_solution


def through(own: Linked, balance: OfColumns, parts: Parts) -> Way:
    """The way through such a link."""
    by_tau = [port.name for port in own.link.part.signature[0]].index("tau")
    given_ends = [0, *accumulate(row[0].shape[0] for row in own.slopes)]
    taken_ends = [0, *accumulate(x.size1() for x in own.taken)]

    def moving(*columns: SX) -> tuple[Result, ...]:
        changes = vertsplit(columns[-1], taken_ends)
        moved = [sum((times(A, x, parts) for A, x in zip(row, changes, strict=True)), SX(0)) for row in own.slopes]
        return own.value, vertcat(*moved)

    def curving(*columns: SX) -> tuple[Result, ...]:
        *given, dy, w, dw = columns
        of_a, *of_lam = (row[by_tau] for row in own.slopes)
        w = w[: given_ends[1]]
        u = vertcat(pulled(w, of_a, parts), *(pulled(w, transposed(x), parts) for x in of_lam))
        slope, bend, turned = map(plain_of, balance(*given, u, own.value, dy))
        z = vertsplit(dw + turned, given_ends)
        back = [
            sum((pulled(x, A, parts) for A, x in zip(column, z, strict=True)), SX(0))
            for column in zip(*own.slopes, strict=True)
        ]
        return slope, bend + vertcat(*back)

    return Way(moving, curving)


def balanced(link: Link, parts: Parts) -> OfColumns:
    """Of columns that dynamics take, how they change, multipliers u, what solves the equations, and how that changes:
    the gradient of -u' R by what they take, how it changes, and how that by what solves them does.
    """
    symbols = symbols_of(link.part.signature[0])
    own = link.differential(symbols)
    x, (solution,) = own.program.x, own.program.solutions
    n, m, dx = x.size1(), solution.unknown.size1(), SX.sym("dx", own.inwards.size2())
    u, y, dy = (SX.sym(name, m) for name in ("u", "y", "dy"))
    moved, raw = vertcat(x, solution.unknown), own.inwards @ dx
    slope = gradient(-contracted(solution, u), moved)
    change = jtimes(slope, moved, vertcat(raw, dy))
    made = [own.inwards.T @ slope[:n], own.inwards.T @ change[:n] + own.turning(slope[:n], raw), change[n:]]
    return once_of(tuple(substitute(made, [solution.unknown], [y])), [*symbols, dx, u, y, dy], parts)


def times(A: Result, x: SX, parts: Parts) -> SX:
    """A x, by loops if they have made A."""
    return A @ x if isinstance(A, SX) else parts.numbers(Product(A, x))


def pulled(w: SX, A: Result, parts: Parts) -> SX:
    """A' w, as a row w' A: loops make those of matrices that loops have made."""
    return A.T @ w if isinstance(A, SX) else parts.numbers(Product(w.T, A)).T
