"""Choices by cost: the estimates of operations that decide them. None is mathematics, all ways give one result.

Products, sums and quotients count one each. Zeros differ from robot to robot, so a number is derived for joints along
coordinate axes and offsets along one of them, or is a mean of what graphs of robots show, as its comment says. An error
costs operations only; `rigidc count --stages` shows what a step of the lowering saves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from casadi import SX

TRANSMITTED = 5  # forces that a hinge transmits: six, less the moment about its axis
LIKE_LIMBS = 2  # limbs that are alike and computed in step although their offsets differ; more of them are not

# A unit force on its way to the base (`reroot`, `bundling`)
SHIFT = 4  # by an offset along one axis: two products and two sums of its moment
TURN = 12  # about one axis: of moment and force four products and two sums each
PROJECTION = 2 * TRANSMITTED  # F - U (y / D): a product and a sum in each row that a hinge transmits
HINGE = 1 + PROJECTION + TURN + SHIFT  # over one hinge, its quotient y / D with it
SLIDE = HINGE - TURN  # over one slide: no turn
TIP = 8  # at the joint of the link where it acts: a mean, as there it has few entries, and these are constants
FIRST = HINGE // 3  # what zeros of a force save of its first joint on a longer way: a mean
PAIR = 6  # for two joints on its way: a product and a sum in six rows, and half as many pairs as joints squared
FACTOR = 22  # of a factor of two joints (`aba_osim`, `ltl_osim`): a turn and shifts along one axis or more, a mean
REROOTING = 30  # to win at least by another base, for what these numbers leave out: about one force over one hinge

# An offset between a base and what it carries (`base_frame`): what it takes along one axis
INERTIA = 25 + 2 * SHIFT  # of an articulated inertia (11 products, 14 sums), and of bias forces and accelerations
BASE_MOTION = 20  # of the base's own velocity, force and acceleration: three times SHIFT, and what robots show beyond

# A unit of length of a body's own (`length_units`): what it saves and costs
UNIT_SHIFT = 2  # products that a force saves where the offset is the unit
UNIT_INERTIA = 7  # products that an inertia saves there, a mean: of eleven, some of which have common factors
OTHER_UNIT = 11  # a hinge to another unit: nine products of the inertia and two of a force

# Axes of a link (`link_axes`)
FREE_AXES = 3  # about which a body turns before its motion has no zeros, which would turn cheaply
WELDED = 6  # rows of a contact that save more along axes that stay than zeros of the tip's inertia do
MOMENTS = {"inertias": 0, "both": 2, "forces": 3}  # first moments, of two, from which a carrier's turn by itself saves

# Accelerations (`reduced`, `efpa`)
ROW = 2 * TRANSMITTED - 1  # one along a force that a hinge transmits: five products, four sums
NEAR = 12  # freedoms from a meeting to the root, of which y' D^-1 y costs less than accelerations out and back

LOOPED = 1500  # multiplications of matrices from which loops are faster than straight-line code (`products`)

IN_ROWS = 500  # the same of few columns, and of small vectors along rows in place of loops

LOOPED_NONZEROS = 8000  # the same of second derivatives and of steps for solvers, which want nonzeros only

PAIRED = 600  # pairs of freedoms, one carrying the other, from which loops over columns are faster (`column_loops`)

PAIRED_VECTORS = 300  # the same in C with small vectors, of which loops take eight columns at a time
"""Numbers one at a time, or lanes, take as long as operations do, of which straight-line code has half as many."""

CALLED = (12000, 16500)  # operations of a part of steps from which C calls it, as copies of shorter ones are faster
"""The second number is that of parts without matrices (`sharing`): limbs go in step in copies of those."""

CALLED_IN_JACOBIANS = (20000, 20000)  # the same of steps' Jacobians for solvers, and of steps without derivatives

CALLED_IN_HESSIANS = (3000, 3000)  # the same of their Hessians, too long for limbs to go in step beside calls

CALLED_ALONE = (10**9, 10**9)  # the same where all is one part: never, as its Jacobian and what bends share much

LINKED = 32  # degrees of freedom from which vectors go through explicit steps link by link (`link_products`)
"""Of robots with fewer, limbs go in step in what AD makes, which is faster."""

STAGED = 5  # degrees of freedom from which products make whole Hessians of steps of several stages (`whole_hessians`)
PLACED = 64  # degrees of freedom from which loops make whole Hessians of inverse dynamics; of 50 they take longer

BENT = 500  # operations from which C calls second derivatives of dynamics at multipliers that are known

PULLED = 25000  # operations from which C calls what takes weights back through a link (`link_products`)
"""Copies share with the dynamics before them what a function has to compute again."""

IMPROVED = 8000  # operations from which C calls a step of contacts with friction (`nsgs`), in which no limbs go in step

SWEPT = range(50, 400)
"""Such pairs, of which `aba_derivatives` sweep columns: fewer go faster by products, more are long."""

SOLVED = 24  # rows of a system from which loops solve it as fast as straight-line code with limbs in step (`systems`)

FACTORED = 30  # rows of a symmetric system from which loops make and factorise it (`sharing`): of 24 they take longer
"""With them come loops over columns (`column_loops`), which take less time at so many rows, and much less code."""

FRICTIONAL = 2  # rows for each row with friction: their equations are not symmetric, and take twice the operations

AWAITED = 40  # the same where straight-line code waits for solutions (`pv_osimf`)
"""Of 30 rows a call then takes a seventh longer, of 66 a third less."""

ITERATIONS = 3  # of a proximal algorithm, as many as there are by default


def looped_by_columns(pairs: int, rows: int = 0, small_vectors: bool = False) -> bool:
    """Whether loops over columns are faster than straight-line code that takes some thirty operations a pair.

    So many rows of contacts that loops make their system take as many operations again.
    """
    return pairs >= (PAIRED_VECTORS if small_vectors else PAIRED) or rows >= FACTORED


def looped_in_vectors(pairs: int) -> bool:
    """Whether only C with small vectors has such loops, if rows of contacts are few."""
    return looped_by_columns(pairs, small_vectors=True) and not looped_by_columns(pairs)


def in_sweep(pairs: int) -> bool:
    """Whether L is applied joint by joint within a recursion: products of few columns are faster by small vectors.

    Of many columns, products are loops, and the recursion would be more than 2 MB of C.
    """
    return pairs in SWEPT


def first_row(columns: int, m: int) -> int:
    """What zeros in the first row save of so many of m unit forces on a base: of their own, and in pairs."""
    return (12 + 2 * m - columns) * columns


def second_row(columns: int) -> int:
    """What zeros in the second row save, whose factors are then multiples of those of the first."""
    return (9 + columns) * columns


def last_row(freedoms: int) -> int:
    """What zeros in the last row of a base save in the factors of the joint-space inertia matrix beyond."""
    return 2 * freedoms**2


def reading(F: SX) -> int:
    """To read off what one column of accelerations means for the forces F (6 k x c)."""
    return int(2 * F.nnz() - F.size2())


def over_joints(read: int, steps: int) -> int:
    """To tell one column of accelerations over so many joints to what then is `read` off."""
    return HINGE * steps + read


def couplings(freedoms: int, forces: int) -> int:
    """Y' D^-1 Y of one joint and so many forces: half of a symmetric matrix."""
    return freedoms * forces * (forces + 1)


def joint_by_joint(freedoms: int) -> bool:
    """Whether two forces meet at each joint on to the root, of so many freedoms, rather than by one acceleration."""
    return freedoms <= NEAR


def in_one_block(rows: int, freedoms: int) -> bool:
    """Whether to factorise rows of several branches at once, beside a root of so many freedoms: no more than parts."""
    return rows <= 2 * freedoms


def factors_and_solutions(n: int) -> int:
    """To factorise a symmetric matrix of n rows, and to solve with it in every iteration."""
    return n**3 // 3 + ITERATIONS * 2 * n * n


def bordered(rows: int, border: int) -> int:
    """The same of a block of rows beside unknowns that border it, and what these lose to it."""
    return factors_and_solutions(rows) + rows * rows * border + rows * border * border + ITERATIONS * 4 * rows * border


def within(freedoms: int, rows: int) -> int:
    """A joint's part of a block, of what its rows lack, and what multipliers exert on it."""
    return factors_and_solutions(freedoms) + freedoms * rows * (rows + 4)
