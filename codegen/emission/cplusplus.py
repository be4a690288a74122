"""A header for C++17 over the C functions: views whose sizes are checked in place of pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codegen.emission.text import render
from codegen.ir.graph import STATUS
from codegen.ir.names import identifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.emission.emitted import Emitted
    from codegen.emission.functions import Argument
    from codegen.emission.spec import Header


def emit_cplusplus(header: Header, emitted: Sequence[Emitted]) -> str:
    """The text of PREFIX.hpp."""
    return render("wrapper.hpp.jinja", **header.names, functions=[_slots(kernel) for kernel in emitted])


def _slots(kernel: Emitted) -> dict[str, Any]:
    """What the template says of a function; its status is what it returns."""
    shown = [argument for argument in kernel.arguments if argument.port != STATUS]
    return {
        "name": identifier(kernel.algorithm),
        "about": kernel.summary,
        "attribute": "[[nodiscard]] " if kernel.can_fail else "",
        "result": kernel.result,
        "returning": "return " if kernel.can_fail else "",
        "symbol": kernel.symbol,
        "parameters": [_parameter(argument) for argument in shown],
        "unseen": [argument.name for argument in kernel.arguments if argument.port == STATUS],
        "passed": [_passed(argument) for argument in kernel.arguments],
    }


def _parameter(argument: Argument) -> str:
    port, kind = argument.port, "real" if argument.written else "const real"
    if not port.shape:
        return f"real &{argument.name}" if argument.written else f"real {argument.name}"
    columns = f", {port.shape[-1]}" if len(port.shape) > 1 else ""
    return f"view<{kind}, {port.size}{columns}> {argument.name}"


def _passed(argument: Argument) -> str:
    return f"{argument.name}.data()" if argument.port.shape else f"&{argument.name}"
