"""Pinocchio through CasADi: expressions of its algorithms over SX, as its Python module `pinocchio.casadi` has them.

The wheels on PyPI lack this module, but have the headers that it is made of: they are compiled here, with CasADi's.
"""

from __future__ import annotations

import ctypes
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import casadi

from opcount.bench.build_dir import HERE, Absent
from opcount.bench.pinocchio_peer import includes, numbers

if TYPE_CHECKING:
    from codegen.model import Model
    from opcount.bench.build_dir import BuildDir, Compiler

SOURCES = ("pinocchio_casadi.cpp", "pinocchio_robot.hpp")
KNOWN = ("rnea", "aba")
FLAGS = ("-std=c++17", "-DNDEBUG", "-w", "-I.")  # it runs once for a robot: optimising would take longer


def expressions(model: Model, algorithm: str, compiler: Compiler, build_dir: BuildDir) -> casadi.Function:
    """An algorithm on a robot, of q, v and a or tau; Absent without Pinocchio's headers, and for other algorithms."""
    if algorithm not in KNOWN:
        raise Absent(f"{algorithm}: {' and '.join(KNOWN)} alone are taken from Pinocchio through CasADi")
    text, library = numbers(model), ctypes.CDLL(str(_library(compiler, build_dir)))
    with tempfile.TemporaryDirectory() as folder:
        robot, saved = Path(folder) / "robot.txt", Path(folder) / "saved.casadi"
        robot.write_text(text, encoding="utf-8")
        if library.peer_expressions(str(robot).encode(), algorithm.encode(), str(saved).encode()):
            raise Absent(f"Pinocchio does not take {model.name}")
        return casadi.Function.load(str(saved))


def _library(compiler: Compiler, build_dir: BuildDir) -> Path:
    """What writes the expressions; minutes the first time."""
    if not compiler.cxx:
        raise Absent(f"Pinocchio needs a C++ compiler beside {compiler.c}")
    (headers, eigen), wheel = includes(), Path(casadi.__file__).parent
    found = [f"-isystem{path}" for path in (headers, wheel / "include", eigen)]
    linked = ["-Wl,--no-as-needed", f"-L{wheel}", f"-Wl,-rpath,{wheel}", "-lcasadi"]
    files = {name: (HERE / name).read_text(encoding="utf-8") for name in SOURCES}
    about = f"{version('pin')} {version('casadi')}"
    return build_dir.shared("pinocchio_casadi", [compiler.cxx, *FLAGS, *found, *linked], files, SOURCES[0], about=about)
