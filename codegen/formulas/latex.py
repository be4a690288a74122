r"""Outputs as equations of LaTeX: names of joints upright, sines and cosines short where asked for."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from sympy import ImmutableDenseMatrix, cos, sin
from sympy.printing.latex import LatexPrinter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codegen.ir.graph import Port

_GREEK = ("tau", "lam", "mu")
_SPECIAL = {"lam": r"\lambda"}
_TURNS = {sin: "s", cos: "c"}


class _Printer(LatexPrinter):  # type: ignore[misc]
    """SymPy's printer with our names, and with sines and cosines of sums of numbered angles as s_{12} and c_{12}."""

    def __init__(self, angles: Sequence[Any]) -> None:
        super().__init__({"inv_trig_style": "full"})
        self.numbers = {angle: n for n, angle in enumerate(angles, 1)}

    def _print_Symbol(self, expr: Any, style: str = "plain") -> str:
        return named(str(expr))

    _print_Dummy = _print_Symbol

    def _print_sin(self, expr: Any, exp: Any = None) -> str:
        return self._turn(expr, exp)

    def _print_cos(self, expr: Any, exp: Any = None) -> str:
        return self._turn(expr, exp)

    def _turn(self, expr: Any, exp: Any) -> str:
        """A sine or cosine, with an exponent if there is one."""
        word = numbered(expr.args[0], self.numbers) if self.numbers else ""
        power = f"^{{{exp}}}" if exp is not None else ""
        if word:
            return f"{_TURNS[expr.func]}_{{{word}}}{power}"
        inside = self._print(expr.args[0])
        return rf"\{expr.func.__name__}{power}{{\left({inside} \right)}}"


def numbered(angle: Any, numbers: dict[Any, int]) -> str:
    """The numbers of the angles in a sum, as 12, 1-2 or 2,2,11; nothing for what is no such sum."""
    counts = angle.as_coefficients_dict()
    if not all(symbol in numbers and c.is_Integer for symbol, c in counts.items()):
        return ""
    places = sorted((numbers[symbol], int(c)) for symbol, c in counts.items())
    words = [("-" if c < 0 else "", str(n)) for n, c in places for _ in range(abs(c))]
    between = "," if any(len(word) > 1 for _, word in words) else ""
    text = words[0][0] + words[0][1]
    for sign, word in words[1:]:
        text += f"{sign or between}{word}"
    return text


def named(name: str) -> str:
    """A name such as q_left_knee: its first part in italics or Greek, what follows as an upright index."""
    stem, _, index = name.partition("_")
    digits = re.fullmatch(r"([A-Za-z]+)(\d+)", stem)
    if digits and not index:
        stem, index = digits[1], digits[2]
    head = _SPECIAL.get(stem) or (f"\\{stem}" if stem in _GREEK else stem if len(stem) == 1 else rf"\mathrm{{{stem}}}")
    if not index:
        return head
    return f"{head}_{{{index}}}" if index.isdigit() else rf"{head}_{{\mathrm{{{escaped(index)}}}}}"


def escaped(text: str) -> str:
    """A word as LaTeX sets it."""
    return text.replace("_", r"\_")


def equations(port: Port, entries: Sequence[Any], angles: Sequence[Any]) -> Iterator[str]:
    """The equations of one output: one, or of an array of three axes one for each matrix in it."""
    printer = _Printer(angles)
    head = named(port.name)
    if not port.shape:
        yield f"{head} = {printer.doprint(entries[0])}"
        return
    rows, columns = port.shape[-2:] if len(port.shape) > 1 else (*port.shape, 1)
    size = rows * columns
    for n in range(math.prod(port.shape) // size if size else 0):
        matrix = ImmutableDenseMatrix(rows, columns, entries[n * size : (n + 1) * size])
        index = f"^{{({n + 1})}}" if len(port.shape) > 2 else ""
        yield f"{head}{index} = {printer.doprint(matrix)}"
