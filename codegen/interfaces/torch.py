"""PyTorch: rigidc's C as a differentiable function of tensors on the CPU, and as operators that torch.compile knows.

(PyTorch documentation, "Custom operators".) Two operators, the value and the adjoint product, take states as rows of
tensors, which C reads and writes in place, in SIMD lanes. Matrices cross the border column by column.
"""

from __future__ import annotations

import ctypes
import json
from functools import cache
from importlib import import_module
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen.compilation.compiler import toolchain
from codegen.compilation.pickling import named_results
from codegen.errors import RobotError
from codegen.interfaces.adjoint import ADJOINT, VALUE, library_of, value_and_adjoint, written
from codegen.task.options import style_of, task_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codegen.emission.spec import Header
    from codegen.ir.graph import Port
    from codegen.model import Contact, Model
    from codegen.pipeline import Wrapped
    from codegen.tracing.task import Task

NEEDED = (2, 5)


def to_torch(
    robot: Model,
    algorithm: str,
    *,
    frames: Sequence[str] = (),
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] | None = None,
    iterations: int = 3,
    target: str = "native",
    trig: str = "fast",
    compiler: str | None = None,
    without: Sequence[str] = (),
) -> Callable[..., Any]:
    """An algorithm (or `auto`) on one robot as a function of float64 tensors on the CPU.

    Arguments and results are those of `build`, with any batch shape in front; batch shapes broadcast. Gradients are
    those of reverse mode, by the raw numbers of q; quaternions are normalised. `torch.compile` and `torch.vmap`
    work on it. Where a status is not 0, results are finite all the same. Options are `build`'s.
    RobotError for a name that does not exist or where PyTorch is missing or too old; BuildError if no compiler works.
    """
    torch = _torch()
    task = task_of(robot, algorithm, frames, external, parameters, contacts, iterations, without=without)
    tools = toolchain(target, compiler=compiler)
    style = style_of("float64", trig, tools)
    binary, facts = library_of(task, "PyTorch", interface, style, tools)
    return _function(torch, facts, _operators(torch, binary, json.dumps(facts)))


def interface(top: Header, task: Task, *, facts: dict[str, Any]) -> Wrapped:
    """Kernels of the value and the adjoint, and the C that PyTorch calls; `facts` learn what Python has to know."""
    if task.iterations is None:
        raise RobotError(f"{task.algorithm}: for PyTorch the number of iterations is fixed; give a number of them")
    return written("torch", top, task, value_and_adjoint(task, "PyTorch"), _slots, facts)


def folder(top: Header, task: Task, *, derivatives: int) -> Wrapped:
    """What a folder has for PyTorch: functions of the value, and with derivatives of the adjoint product."""
    if task.iterations is None:
        raise RobotError(f"{task.algorithm}: for PyTorch the number of iterations is fixed; give a number of them")
    value, adjoint = value_and_adjoint(task, "PyTorch")
    return written("torch", top, task, (value, adjoint) if derivatives else (value,), _slots, {})


def _slots(inputs: Sequence[Port], outputs: Sequence[Port]) -> dict[str, Any]:
    """What the template says of a function."""
    given = [f"in[{k}], steps[{k}]" for k in range(len(inputs))]
    return {"passed": [*given, *(f"out[{k}], {port.size}" for k, port in enumerate(outputs))]}


def _function(torch: Any, facts: Mapping[str, Any], operator: Callable[..., Any]) -> Callable[..., Any]:
    """The function of tensors of any batch shape, by an operator on rows."""
    name, inputs, outputs = facts["symbol"], facts["inputs"], facts["outputs"]
    several = named_results(f"{name}_results", tuple(port for port, _ in outputs)) if len(outputs) > 1 else None
    shown = f"({', '.join(port for port, _ in inputs)}) -> ({', '.join(port for port, _ in outputs)})"

    def call(*arguments: Any) -> Any:
        if len(arguments) != len(inputs):
            raise TypeError(f"{name} takes {len(inputs)} arguments: {shown}")
        given = [_tensor(torch, f"{name}: {port}", of, x) for (port, of), x in zip(inputs, arguments, strict=True)]
        leads = [x.shape[: x.ndim - len(of)] for (_, of), x in zip(inputs, given, strict=True)]
        batch = torch.broadcast_shapes(*leads)
        rows = [_rows(x.expand(*batch, *of), of) for (_, of), x in zip(inputs, given, strict=True) if prod(of)]
        found = operator(*rows)
        parts = found if several else (found,)
        results = [_shaped(y, batch, of) for (_, of), y in zip(outputs, parts, strict=True)]
        return several(*results) if several else results[0]

    call.__name__ = call.__qualname__ = name
    call.__doc__ = shown
    return call


def _tensor(torch: Any, name: str, shape: Sequence[int], given: Any) -> Any:
    """An argument of this name as a tensor of float64 on the CPU that ends in its shape."""
    x = given if isinstance(given, torch.Tensor) else torch.as_tensor(given, dtype=torch.float64)
    if x.dtype != torch.float64:
        raise TypeError(f"{name} is {x.dtype}; functions compute in torch.float64: hand over x.double()")
    if x.device.type != "cpu":
        raise TypeError(f"{name} is on {x.device}; functions run on the CPU: hand over x.cpu()")
    if tuple(x.shape[x.ndim - len(shape) :]) != tuple(shape) or x.ndim < len(shape):
        raise ValueError(f"{name} must end in shape {tuple(shape)}, not be of {tuple(x.shape)}")
    return x


def _rows(x: Any, shape: Sequence[int]) -> Any:
    """States as rows; an array, as a matrix with its last axis along rows, column by column."""
    if len(shape) > 1:
        x = x.reshape(-1, prod(shape[:-1]), shape[-1]).transpose(1, 2)
    return x.reshape(-1, prod(shape))


def _shaped(rows: Any, batch: Sequence[int], shape: Sequence[int]) -> Any:
    """The way back."""
    if len(shape) > 1:
        rows = rows.reshape(-1, shape[-1], prod(shape[:-1])).transpose(1, 2)
    return rows.reshape(*batch, *shape)


@cache
def _operators(torch: Any, path: str, key: str) -> Any:
    """The operator of the value, differentiable by that of the adjoint; they are registered once per build."""
    facts = json.loads(key)
    symbol, inputs, outputs = facts["symbol"], *([prod(of) for _, of in facts[kind]] for kind in ("inputs", "outputs"))
    given = [size for size in inputs if size]
    made = f"{symbol}_{Path(path).parent.name[:16]}"
    library = ctypes.CDLL(path)
    value = _operator(torch, getattr(library, f"{symbol}_{VALUE}"), f"{made}_{VALUE}", len(given), outputs)
    adjoint = _operator(
        torch, getattr(library, f"{symbol}_{ADJOINT}"), f"{made}_{ADJOINT}", len(given) + len(outputs), given
    )

    def kept_for_later(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs)

    def backward(ctx: Any, *seeds: Any) -> Any:
        return adjoint(*ctx.saved_tensors, *seeds)

    value.register_autograd(backward, setup_context=kept_for_later)
    return value


def _operator(torch: Any, function: Any, name: str, arguments: int, sizes: Sequence[int]) -> Any:
    """A function of the library as an operator on rows of tensors, with results of these sizes."""
    function.restype = ctypes.c_int

    def run(*rows: Any) -> Any:
        states = rows[0].shape[0]
        given = [x if x.shape[1] == 1 or x.stride(1) == 1 else x.contiguous() for x in rows]
        found = [x.new_empty((states, size)) for x, size in zip(rows[:1] * len(sizes), sizes, strict=True)]
        addresses = ((ctypes.c_void_p * len(row))(*(x.data_ptr() for x in row)) for row in (given, found))
        steps = (ctypes.c_ssize_t * len(given))(*(x.stride(0) for x in given))
        taken, made = addresses
        if function(ctypes.c_size_t(states), taken, steps, made):
            raise MemoryError(name)
        return tuple(found) if len(found) > 1 else found[0]

    def shapes(*rows: Any) -> Any:
        found = tuple(rows[0].new_empty((rows[0].shape[0], size)) for size in sizes)
        return found if len(found) > 1 else found[0]

    def mapped(info: Any, in_dims: Sequence[int | None], *rows: Any) -> Any:
        size = info.batch_size
        moved = [
            x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0) for x, dim in zip(rows, in_dims, strict=True)
        ]
        found = operator(*(x.reshape(-1, x.shape[-1]) for x in moved))
        parts = found if isinstance(found, tuple) else (found,)
        split = tuple(y.reshape(size, -1, y.shape[-1]) for y in parts)
        return (split, (0,) * len(split)) if len(split) > 1 else (split[0], 0)

    takes = ", ".join(f"Tensor x{k}" for k in range(arguments))
    gives = ", ".join(["Tensor"] * len(sizes))
    schema = f"({takes}) -> {f'({gives})' if len(sizes) > 1 else gives}"
    operator = torch.library.custom_op(f"rigidc::{name}", run, mutates_args=(), device_types="cpu", schema=schema)
    operator.register_fake(shapes)
    operator.register_vmap(mapped)
    return operator


def _torch() -> Any:
    """PyTorch; RobotError if it is missing or too old."""
    needed = ".".join(map(str, NEEDED))
    try:
        torch = import_module("torch")
    except ImportError as error:
        raise RobotError(f"PyTorch {needed} or newer is needed ({error}); pip install rigidc[torch]") from error
    if tuple(map(int, torch.__version__.split(".")[:2])) < NEEDED:
        raise RobotError(f"PyTorch {torch.__version__} is too old; pip install rigidc[torch] brings {needed} or newer")
    return torch
