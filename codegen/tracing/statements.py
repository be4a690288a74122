"""Which statement of a source file a line belongs to: the names that it assigns, and the loops that it stands in."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Statement:
    """A simple statement: the names that it makes, and of the loops around it, inner ones first, targets and iterables.

    Of `IA[parent[i]] += ...` the name is `IA`, of `for i in tree.inwards:` the pair `("i", "tree.inwards")`.
    """

    names: tuple[str, ...] = ()
    loops: tuple[tuple[str, str], ...] = ()


@cache
def statement(file: str, line: int) -> Statement:
    """The statement at a line of a file; an empty one where the source text is not there."""
    return _statements(file).get(line, Statement())


@cache
def _statements(file: str) -> dict[int, Statement]:
    """The statements of a file by lines."""
    found: dict[int, Statement] = {}
    _enter(ast.parse("".join(linecache.getlines(file))), (), found)
    return found


def _enter(node: ast.AST, loops: tuple[tuple[str, str], ...], found: dict[int, Statement]) -> None:
    """Put the statements below a node in their places; inner ones come after what they are part of."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            around = (_loop(child), *loops) if isinstance(child, ast.For) else loops
            inner = (
                [] if hasattr(child, "body") else [one for one in ast.walk(child) if isinstance(one, ast.comprehension)]
            )
            own = Statement(_made(child), (*map(_loop, inner), *around))
            found.update(dict.fromkeys(range(child.lineno, (child.end_lineno or child.lineno) + 1), own))
            _enter(child, around, found)


def _loop(child: ast.For | ast.comprehension) -> tuple[str, str]:
    """The first variable of a loop, and what it goes through."""
    return next(iter(_names(child.target)), ""), ast.unparse(child.iter)


def _made(child: ast.stmt) -> tuple[str, ...]:
    """The names that a statement assigns."""
    targets = child.targets if isinstance(child, ast.Assign) else [getattr(child, "target", None)]
    if isinstance(child, ast.For):
        targets = []
    return tuple(dict.fromkeys(name for target in targets if target is not None for name in _names(target)))


def _names(target: ast.expr) -> list[str]:
    """The variables that an assignment to a target changes."""
    if isinstance(target, ast.Tuple | ast.List):
        return [name for element in target.elts for name in _names(element)]
    while isinstance(target, ast.Subscript | ast.Attribute | ast.Starred):
        target = target.value
    return [target.id] if isinstance(target, ast.Name) else []
