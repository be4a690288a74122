"""Several functions at once: what is not in the build cache is built by other processes, which leave it there.

Python's threads would take turns at writing C, as only one of them runs at a time.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from codegen.compilation.cache import NotBuiltError, nothing_built
from codegen.errors import RobotError
from codegen.progress import doing

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_PROGRAM = """
import pickle, sys
given, said, sys.stdout = sys.stdin.buffer, sys.stdout, sys.stderr
sys.path[:] = pickle.load(given)
while call := pickle.load(given):
    try:
        call()
    except Exception:
        pass  # the one that asked finds nothing in the cache, and meets the same error
    print(file=said, flush=True)
"""


def in_parallel(*calls: Callable[[], T]) -> tuple[T, ...]:
    """What these calls give that build a function each: `functools.partial` of `build`, `to_casadi` and their like.

    Those that have to be built are built at the same time, one by each processor, by processes that leave them in the
    build cache; what these cannot do is done here. Calls are pickled: RobotError for one that cannot be, such as a
    lambda. Errors are those of the calls; one that needs no build is raised before anything is built.
    """
    found = [_found(call) for call in calls]
    absent = [(number, call) for number, call in enumerate(calls, 1) if not found[number - 1]]
    together = min(len(absent), processors())
    if together > 1 and sys.executable:
        waiting = deque(_pickled(number, call) for number, call in absent)
        with doing(f"{len(absent)} functions, {together} at a time"), ThreadPoolExecutor(together) as pool:
            for at_work in [pool.submit(_work_off, waiting) for _ in range(together)]:
                at_work.result()
    return tuple([made[0] if made else call() for made, call in zip(found, calls, strict=True)])


def _found(call: Callable[[], T]) -> tuple[T, ...]:
    """What a call gives that finds all that it needs in the cache; nothing for another one."""
    try:
        with nothing_built():
            return (call(),)
    except NotBuiltError:
        return ()


def _pickled(number: int, call: Callable[[], object]) -> bytes:
    try:
        return pickle.dumps(call)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        mend = "pass functools.partial of a function that a module has"
        raise RobotError(f"in_parallel: call {number} cannot be pickled ({error}); {mend}") from error


def _work_off(waiting: deque[bytes]) -> None:
    """Another process makes the calls that wait, one after the other, for what they leave in the cache."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "RIGIDC_PROGRESS": "0"}
    with suppress(OSError), subprocess.Popen([sys.executable, "-c", _PROGRAM], env=environment, **pipes) as process:
        assert process.stdin
        assert process.stdout
        said = pickle.dumps(sys.path)
        with suppress(IndexError):
            while True:
                process.stdin.write(said + waiting.popleft())
                process.stdin.flush()
                process.stdout.readline()
                said = b""
        process.stdin.write(said + pickle.dumps(None))


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
