"""The ways in which C has a function of one state: by single numbers, with limbs in step, or by loops over columns.

The preprocessor chooses among them by what registers hold: `PACKS` are two or four reals, `P8` eight, `EIGHTS` eight
of processors that store so many as fast wherever they begin. Functions that multiply what loops make, in rows that
begin where lines of memory do, have loops where there are `P8`. So do others, whose results these are, if single
numbers are so many that fetching their code takes longer than storing such rows; the rest for `EIGHTS` alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codegen.emission.spec import REGISTERS, ProductKernel
from codegen.ir.counting import count
from codegen.ir.sparse import with_results_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from codegen.emission.functions import Call, Function
    from codegen.emission.spec import Kernel, Registers
    from codegen.packing import Packed

PLAIN = "/* ---- Scalars: one number at a time (and what lanes take, each number a vector) ---- */"
IN_STEP = "/* ---- SIMD: limbs of one shape in step, as small vectors ---- */"
SHARED = "/* ---- Loops that take what either of the ways below computes ---- */"
COLUMNS = "/* ---- SIMD: loops over columns of matrices, several at a time ---- */"

FETCHED = 18_000
"""Values, beside those that are elements of results, from which fetching the code of single numbers takes the time."""

MOST_TEXT = 1_960_000
"""Characters of functions beyond which limbs do not go in step, as the C would be more than 2 MB."""


@dataclass(frozen=True, slots=True)
class Body:
    """The functions of a kernel, the last of them the public one; what it calls, and the length of its workspace.

    Of that, `memory` are arrays that may be the caller's.
    """

    functions: tuple[Function, ...]
    calls: tuple[Call, ...]
    workspace: int
    memory: int = 0

    @property
    def called(self) -> tuple[Function, ...]:
        """The functions but those that call them: the public one and, if it has memory of the caller's, another."""
        return self.functions[: -2 if self.memory else -1]


@dataclass(frozen=True, slots=True)
class Variant:
    """Functions of a kernel, the last of them the public one, between two lines for the preprocessor.

    `workspace` is what they keep between them, in reals, and `memory` what of that may be the caller's.
    """

    functions: tuple[Function, ...] = ()
    workspace: int = 0
    memory: int = 0
    before: str = ""
    after: str = ""

    @property
    def statements(self) -> tuple[tuple[str, ...], ...]:
        """Those of each function."""
        return tuple(function.statements for function in self.functions)


@dataclass(frozen=True, slots=True)
class Alternative:
    """Where registers hold so many reals, this kernel in the place of one without small vectors, with these packs."""

    registers: Registers
    kernel: Kernel | ProductKernel
    program: Packed

    def __str__(self) -> str:
        return f"{self.kernel} where there are {self.registers}"


def least(kernel: Kernel | ProductKernel) -> Registers:
    """The registers for which a function has loops over columns in the place of limbs in step."""
    if isinstance(kernel, ProductKernel):
        return "P8"
    stored = sum(port.size for port in kernel.outputs)
    return "P8" if len(kernel.graph.values) - stored >= FETCHED else "EIGHTS"


def alternatives(
    kernel: Kernel | ProductKernel, known: Registers | None, in_step: bool = True
) -> Iterator[Alternative]:
    """Those to a kernel without small vectors, at most one for each kind of registers, and the longest last.

    Where registers are `known`, there are none for others. Limbs go `in_step` if that is worth it, or not at all.
    """
    wanted = least(kernel)
    eights = REGISTERS.index(known) >= REGISTERS.index(wanted) if known else None
    loops = None if eights is False else _loops(kernel)
    packed = None
    if not (loops and eights):
        packed = kernel.packed(beside=count(loops[1].graph).total if loops else 0) if in_step else None
        if packed:
            yield Alternative("PACKS", kernel, packed)
        elif eights is False:
            loops = _loops(kernel)
    if loops:
        yield Alternative(wanted if packed or eights else "PACKS", *loops)


def _loops(kernel: Kernel | ProductKernel) -> tuple[Kernel | ProductKernel, Packed] | None:
    """The same function by loops over columns, if it has them, with the same nonzeros of sparse results."""
    own, program = kernel.in_vectors() if kernel.in_vectors else (None, None)
    if not (program and isinstance(own, ProductKernel) and own.function.maps):
        return None
    function = with_results_of(own.function, kernel.outputs)
    return (replace(own, function=function), program) if function else None


def variants(
    kernel: Kernel | ProductKernel, first: Body, others: Sequence[tuple[Alternative, Body]], macro: str
) -> tuple[Variant, tuple[Variant, ...]]:
    """The functions that a kernel without small vectors and with limbs in step shares, and all variants of it."""
    in_step = next((body.functions for own, body in others if own.kernel is kernel), ())
    shared = tuple(function for function in first.called if function in in_step)
    names = [f"{macro}_{own.registers}" for own, _ in others]
    found = [_variant(first, shared, PLAIN, f"!{names[0]}")]
    for k, (own, body) in enumerate(others):
        where = " && !".join(names[k:])
        if own.kernel is kernel:
            found.append(_variant(body, shared, IN_STEP, where))
        else:
            found.append(_variant(body, (), COLUMNS, where))
    if not shared:
        return Variant(), tuple(found)
    if not names[1:]:
        return Variant(shared, before=f"\n{SHARED}\n"), tuple(found)
    return Variant(shared, before=f"\n{SHARED}\n#if !{names[1]}\n", after="#endif\n"), tuple(found)


def length(made: Iterable[Variant]) -> int:
    """The characters of variants' functions."""
    return sum(len(f"    {line}\n") for own in made for function in own.functions for line in function.lines)


def _variant(body: Body, shared: Sequence[Function], says: str, where: str) -> Variant:
    own = tuple(function for function in body.functions if function not in shared)
    return Variant(own, body.workspace, body.memory, f"\n{says}\n#if {where}", "#endif")
