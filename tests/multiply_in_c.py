"""The function `multiply` of an arm, compiled from its emitted C and called: on one state, and on many in lanes."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np
from compilers import SANITIZED, WARNINGS, compiled, output, written
from graph_cases import header

from codegen.emission.emit import Style, emit_folder
from codegen.emission.kernels import emit_kernel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from codegen.emission.spec import ProductKernel

    Array = np.ndarray


def of_one_state(
    files: dict[str, str],
    source: str,
    folder: Path,
    compiler: str,
    flags: Sequence[str],
    x: Array,
    sizes: Sequence[int],
) -> Array:
    """All results, of these sizes, one after the other, under sanitizers, which also guard the ends of arrays."""
    names = [f"y{k}" for k in range(len(sizes))]
    files["main.c"] = "\n".join(
        [
            '#include <stdio.h>\n#include <stdlib.h>\n#include "arm.h"\nint main(void) {',
            f"double x[] = {{{', '.join(map(repr, x.tolist()))}}};",
            *(f"double *{y} = malloc({size}*sizeof(double));" for y, size in zip(names, sizes, strict=True)),
            f"arm_multiply(x, {', '.join(names)});",
            *(
                f'for (int k = 0; k < {size}; ++k) printf("%.17g\\n", {y}[k]);\nfree({y});'
                for y, size in zip(names, sizes, strict=True)
            ),
            "return 0; }\n",
        ]
    )
    written(files, folder)
    compiled(compiler, folder, "-std=c99", *WARNINGS, *flags, "-O2", *SANITIZED, "main.c", source, "-lm", "-o", "main")
    return np.array([float(line) for line in output(folder / "main").split()])


def of_many_states(made: ProductKernel, folder: Path, compiler: str, dtype: str, states: Array) -> list[Array]:
    """The results of states in rows, four at a time in lanes."""
    style = Style(dtype, lanes=4)
    room = emit_kernel(header(), made, style).work(4)
    written(emit_folder(header(), (made,), style), folder)
    flags = ["-std=c99", "-O2", *WARNINGS, "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
    sources = ["arm_multiply.c", "arm_multiply_lanes.c"]
    compiled(compiler, folder, *flags, "-shared", "-fPIC", *sources, "-lm", "-o", "arm.so")
    given, work = states.astype(dtype), np.empty(room, dtype)
    out = [np.empty((len(states), *port.shape), dtype) for port in made.outputs]
    pairs = [(ctypes.c_void_p(array.ctypes.data), ctypes.c_ssize_t(array[0].size)) for array in (given, *out)]
    library = ctypes.CDLL(str(folder / "arm.so"))
    arguments = [word for pair in pairs for word in pair]
    library.arm_multiply_aos(ctypes.c_size_t(len(states)), *arguments, ctypes.c_void_p(work.ctypes.data))
    return out
