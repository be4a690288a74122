"""Where operations come from: while an algorithm is traced, every operator notes the statement and the body it is for.

That is what debug locations are to compilers, and name stacks to JAX: algorithms stay mathematics, and know nothing of
it. The call stack tells the phase (`codegen.tracing.phases`), and the innermost loop over nodes, bodies or contacts the
body. What CasADi computes by itself (dot products, sines) belongs to what uses it first.

Nothing else would do: which operations are for M cannot be told from a graph that passes have changed, and M kept as a
result would keep passes from changing them. Labels change neither graph nor counts.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from threading import get_ident
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from casadi import OP_ADD, OP_DIV, OP_MUL, OP_SUB, SX

from codegen.recursions.tree import Tree
from codegen.tracing.phases import ROBOT, Place, phase_of
from codegen.tracing.statements import Statement, statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BINARY = {"__add__": OP_ADD, "__sub__": OP_SUB, "__mul__": OP_MUL, "__truediv__": OP_DIV}
OTHERS = ("__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__matmul__", "__neg__", "__pow__")
ORDERS = ("inwards", "outwards", "support", "path(", "parts", "contacts", "held", "nodes", "carriers")
"""What loops over nodes, bodies or contacts go through."""
END = "codegen.tracing."
"""The modules that call algorithms."""
WITHIN = ("codegen.spatial.", "codegen.joints.")
"""The modules whose symbols and loops are those of one node or matrix."""


Call = tuple[str, CodeType, int]
"""Where a call on the stack is: module, function and line."""


class Origin(NamedTuple):
    """The phase of an algorithm and the body that an operation is for."""

    phase: str
    body: str


@dataclass(slots=True)
class Record:
    """Results of operators, in order, and the numbers of their origins in `origins`."""

    results: list[SX] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    origins: dict[Origin, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Record of {len(self.results)} results from {len(self.origins)} places>"

    def note(self, result: Any, frame: FrameType | None) -> None:
        """Note what an operator gave, called from a frame."""
        if isinstance(result, SX):
            self.results.append(result)
            self.labels.append(self.origins.setdefault(_origin(frame), len(self.origins)))


@contextmanager
def recorded() -> Iterator[Record]:
    """Meanwhile the operators of SX that this thread calls are noted in a record."""
    record, thread = Record(), get_ident()

    def noting(operator: Callable[..., Any], code: int | None) -> Callable[..., Any]:
        binary = SX.binary

        def operate(x: SX, *others: Any) -> Any:
            if code is not None and type(others[0]) in (SX, float, int):
                result = binary(code, x, others[0])
            else:
                result = operator(x, *others)
            if get_ident() == thread:
                record.note(result, sys._getframe(1))
            return result

        return operate

    before = {name: vars(SX).get(name) for name in (*BINARY, *OTHERS)}
    for name in before:
        setattr(SX, name, noting(getattr(SX, name), BINARY.get(name)))
    try:
        yield record
    finally:
        for name, operator in before.items():
            if operator is None:
                delattr(SX, name)
            else:
                setattr(SX, name, operator)


def _origin(frame: FrameType | None) -> Origin:
    """The origin of an operation that is called from a frame."""
    frames, calls = list[FrameType](), list[Call]()
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(END):
            break
        if module.startswith("codegen."):
            frames.append(frame)
            calls.append((module, frame.f_code, frame.f_lineno))
        frame = frame.f_back
    phase, loops = _known(tuple(calls))
    bodies = (_body(frames[depth], name, order) for depth, name, order in loops)
    return Origin(phase, next(filter(None, bodies), ROBOT))


@cache
def _known(calls: tuple[Call, ...]) -> tuple[str, tuple[tuple[int, str, str], ...]]:
    """Of calls, inner ones first: the phase, and the loops over bodies or contacts, as (depth, variable, iterable)."""
    places, loops = list[Place](), list[tuple[int, str, str]]()
    for depth, (module, code, line) in enumerate(calls):
        at = Statement() if module.startswith(WITHIN) else statement(code.co_filename, line)
        places.append(Place(module.rpartition(".")[2], code.co_name, at.names))
        loops += [(depth, name, order) for name, order in at.loops if any(word in order for word in ORDERS)]
    return phase_of(tuple(places[::-1])), tuple(loops)


def _body(frame: FrameType, name: str, order: str) -> str:
    """The body that a loop is at, if it is one over nodes, bodies or contacts of a tree."""
    at = frame.f_locals.get(name)
    at, tree = getattr(at, "node", at), _tree(frame)
    if tree is None or not isinstance(at, int) or not 0 <= at < len(tree.parts):
        return ""
    node = tree.parts[at].node if "parts" in order and name == "b" else at
    return named(tree, node) if node < len(tree) else ""


def _tree(frame: FrameType | None) -> Tree | None:
    """The tree among the variables of a function, or of the one that calls it; or part of one of them."""
    while frame is not None and frame.f_globals.get("__name__", "").startswith("codegen."):
        for value in frame.f_locals.values():
            value = getattr(value, "robot", value)
            if isinstance(value, Tree):
                return value
            if isinstance(tree := getattr(value, "tree", None), Tree):
                return tree
        frame = frame.f_back
    return None


def named(tree: Tree, i: int) -> str:
    """The bodies of a node, by name."""
    return " + ".join(tree.model.bodies[b].name for b in tree.model.nodes[i].bodies)
