"""The child process in which MuJoCo weighs meshes, within limits of memory and time."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from codegen.description.mjcf_compile import lightened
from codegen.description.mjcf_weigh import meshes_of
from codegen.limits import CHILD_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable


def answer(path: str, memory: int, write: Callable[[str], Any] = print) -> None:
    """The child's part: write the weights of all bodies of a file, or why there are none, as a line of JSON."""
    _limit(memory)
    import mujoco

    mujoco.set_mju_user_warning(lambda message: None)
    spec = mujoco.MjSpec.from_file(path)
    unread = any(mesh.file.lower().endswith(".obj") for mesh in spec.meshes)
    try:
        needed = {geom.meshname for geom, _ in meshes_of(mujoco, spec)}
        lightened(mujoco, spec, needed)
        model = spec.compile()
    except (ValueError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        # The reader of OBJ files repeats what it finds in them, which may be any file.
        write(json.dumps({"refused": "a mesh cannot be read or weighed" if unread else str(error)}))
        return
    fields = ("mass", "ipos", "iquat", "inertia")
    rows = [{key: getattr(model, f"body_{key}")[body.id].tolist() for key in fields} for body in spec.bodies]
    write(json.dumps({"bodies": rows}))


def _limit(memory: int) -> None:
    """Bound this process's memory and processor time, where the system can; elsewhere the parent's clock must do."""
    try:
        import resource
    except ImportError:
        return
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, CHILD_SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(ValueError, OSError):  # systems that know a limit but do not keep it
            resource.setrlimit(kind, (most, most))
