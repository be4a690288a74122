"""A call that another process makes meanwhile, where there is a processor for it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from codegen.compilation.in_parallel import processors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

_PROGRAM = """
import pickle, sys
given, said, sys.stdout = sys.stdin.buffer, sys.stdout.buffer, sys.stderr
sys.path[:] = pickle.load(given)
pickle.dump(pickle.load(given)(), said)
"""


@contextmanager
def beside(call: Callable[[], T]) -> Iterator[Callable[[], T]]:
    """What gives what a call gives, which can be pickled and is made once: another process begins with it at once.

    What that cannot do is done here, so that errors are those of the call.
    """
    python = "python" in Path(sys.executable).name.lower()  # else it is a program that Python is a part of
    process = _begun(call) if python and processors() > 1 else None
    try:
        yield cache(lambda: _given(process, call) if process else call())
    finally:
        if process:
            process.kill()
            with process:  # which waits, and closes pipes
                pass


def _begun(call: Callable[[], object]) -> subprocess.Popen[bytes] | None:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    environment, asked = {**os.environ, "RIGIDC_PROGRESS": "0"}, pickle.dumps(sys.path) + pickle.dumps(call)
    with suppress(OSError):
        process = subprocess.Popen([sys.executable, "-c", _PROGRAM], env=environment, **pipes)
        assert process.stdin
        with suppress(BrokenPipeError):
            process.stdin.write(asked)
            process.stdin.close()
        return process
    return None


def _given(process: subprocess.Popen[bytes], call: Callable[[], T]) -> T:
    assert process.stdout
    made = process.stdout.read()
    return cast("T", pickle.loads(made)) if process.wait() == 0 else call()
