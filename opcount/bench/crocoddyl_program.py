"""`crocoddyl_program.cpp`, built for a robot with its contacts: our action in C++ beside Crocoddyl's own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import casadi
import crocoddyl
import numpy as np

import codegen
from codegen.interfaces.crocoddyl_module import DEFINED
from opcount.bench.build_dir import Absent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.model import Contact
    from codegen.robot import Robot

SOURCE = Path(__file__).with_suffix(".cpp")
DAMPING = 5.0  # the gain on velocities of all contacts


def measured(robot: Robot, frames: Sequence[str], rows: int, folder: Path, *, compiler: str = "gcc") -> list[float]:
    """The largest relative error, and microseconds of calc and calcDiff of our action and of Crocoddyl's own.

    `compiler` is that of our C; g++ compiles the program. Absent if Crocoddyl's headers are not here.
    """
    prefix = Path(crocoddyl.__file__).parents[4]
    places = (prefix, Path(casadi.__file__).parent)
    eigen = next((path for path in places if (path / "include" / "eigen3").is_dir()), None)
    if eigen is None or not (prefix / "include" / "crocoddyl").is_dir():
        raise Absent("the headers of Crocoddyl and Eigen are not here")
    codegen.generate(robot, ("pv",), folder, contacts=held(robot, frames, rows), interfaces=("crocoddyl",))
    name = robot.name
    (folder / "action.hpp").write_text(f'#include "{name}_pv_crocoddyl.hpp"\n#define ACTION {name}::pv_action\n')
    (folder / "robot.txt").write_text(in_numbers(robot))
    _run(folder, compiler, "-O2", "-march=native", "-c", *(path.name for path in folder.glob(f"{name}_*.c")))
    own = prefix / "include"
    headers = [f"-isystem{path}" for path in (own, own / "pinocchio" / "deprecated", eigen / "include" / "eigen3")]
    libraries = (f"-L{prefix / 'lib'}", f"-Wl,-rpath-link,{prefix / 'lib'}", "-lcrocoddyl", "-lpinocchio_default")
    sources = (str(SOURCE), *(path.name for path in folder.glob("*.o")))
    flags = ("-std=c++17", "-O2", "-I.", *(f"-D{name}" for name in DEFINED), *headers)
    _run(folder, "g++", *flags, *sources, *libraries, "-lm", "-o", "program")
    command = (str(folder / "program"), "robot.txt", str(rows), *frames)
    done = _run(folder, *command, environment={**os.environ, "LD_LIBRARY_PATH": str(prefix / "lib")})
    return [float(word) for word in done.split()]


def held(robot: Robot, frames: Sequence[str], rows: int) -> list[Contact]:
    """Contacts as Crocoddyl means them: classical accelerations of points, spatial ones of welds, forces first."""
    if rows == 3:
        return [robot.contact(frame, 3, kd=DAMPING) for frame in frames]
    return [robot.contact(frame, "x,y,z,rx,ry,rz", kd=DAMPING, spatial=True) for frame in frames]


def in_numbers(robot: Robot) -> str:
    """A robot as the program reads it."""
    lines: list[list[object]] = [[len(robot.bodies), len(robot.frames)]]
    for body in robot.bodies:
        name = "root_joint" if body.joint.free else body.joint.name
        inertia = (body.inertia.mass, body.inertia.com, body.inertia.moment)
        parts = (body.joint.axis, body.placement.R, body.placement.p, *inertia)
        lines.append([name, body.parent + 1, int(body.joint.free), *(x for part in parts for x in np.ravel(part))])
    places = ((frame, np.append(frame.placement.R, frame.placement.p)) for frame in robot.frames)
    lines += [[frame.name, frame.body + 1, *place] for frame, place in places]
    return "\n".join(" ".join(str(word) for word in line) for line in lines)


def _run(folder: Path, *command: str, environment: dict[str, str] | None = None) -> str:
    """What a command says; Absent, with its first error, if it fails."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    except FileNotFoundError as error:
        raise Absent(f"there is no {command[0]}") from error
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr[-200:]]
        raise Absent(f"{command[0]}: {errors[0].strip()[:200]}")
    return done.stdout
