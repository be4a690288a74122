"""Pinocchio's C++: its headers from the installed wheel, compiled here; the robot is ours, written as numbers."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from opcount.bench.calls import pointer
from opcount.bench.contest import Contestant
from opcount.bench.workshop import HERE, Absent

if TYPE_CHECKING:
    from codegen.model import Body, Model
    from opcount.bench.contest import Scenario
    from opcount.bench.workshop import Compiler, Workshop

FLAGS = ("-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w")
VARIANTS = {"aba": ("aba", "aba_world"), "crba": ("crba", "crba_world")}
SYMMETRIC = ("crba", "minverse")


@lru_cache(maxsize=1)
def includes() -> tuple[Path, Path]:
    """The folders of Pinocchio's and Eigen's headers; Absent if either is not installed."""
    prefix = _prefix("libpinocchio", "pin")
    if prefix is None or not (prefix / "include/pinocchio/algorithm/aba.hpp").is_file():
        raise Absent("Pinocchio is not installed with its headers; pip install rigidc[bench]")
    own, casadi = prefix / "include/eigen3", Path(str(distribution("casadi").locate_file("casadi/include/eigen3")))
    for eigen in (own, casadi, Path("/usr/include/eigen3")):
        if (eigen / "Eigen/Core").is_file():
            return prefix / "include", eigen
    raise Absent("Eigen's headers were not found; pip install cmeel-eigen")


def _prefix(*packages: str) -> Path | None:
    for package in packages:
        try:
            folder = Path(str(distribution(package).locate_file("cmeel.prefix")))
        except PackageNotFoundError:
            continue
        if folder.is_dir():
            return folder
    return None


def contestants(scenario: Scenario, compiler: Compiler, workshop: Workshop) -> tuple[Contestant, ...]:
    """Pinocchio on the scenario, built by one compiler; in both of its conventions where it has two."""
    if not compiler.cxx:
        raise Absent(f"Pinocchio needs a C++ compiler beside {compiler.c}")
    text = numbers(scenario.model)
    library = ctypes.CDLL(str(build(compiler, workshop)))
    path = workshop.folder / f"{scenario.model.name}.txt"
    path.write_text(text, encoding="utf-8")
    library.peer_open.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(library.peer_open(str(path).encode()))
    if not handle:
        raise Absent(f"Pinocchio does not take {scenario.model.name}")
    nv, states = scenario.model.nv, scenario.states
    given = dict(zip(scenario.names, scenario.inputs, strict=True))
    zeros = np.zeros((states, nv))
    q, v = np.ascontiguousarray(given["q"]), np.ascontiguousarray(given.get("v", zeros))
    x = np.ascontiguousarray(given.get("a", given.get("tau", zeros)))
    library.peer_states(handle, ctypes.c_size_t(states), pointer(q), pointer(v), pointer(x))
    width = nv * nv if scenario.algorithm in SYMMETRIC else nv
    found = []
    for name in VARIANTS.get(scenario.algorithm, (scenario.algorithm,)):
        function = getattr(library, f"peer_{name}")
        function.restype = ctypes.c_double

        def run(rounds: int, function: ctypes._NamedFuncPointer = function) -> float:
            return float(function(handle, ctypes.c_size_t(rounds), None))

        out = np.empty((states, width))
        function(handle, ctypes.c_size_t(0), pointer(out))
        world = ", world axes" if name.endswith("_world") else ""
        found.append(Contestant(f"Pinocchio {compiler.family}{world}", run, states, out))
    return tuple(found)


def build(compiler: Compiler, workshop: Workshop) -> Path:
    """The shared object with Pinocchio's algorithms; minutes the first time."""
    headers, eigen = includes()
    command = [compiler.cxx, *FLAGS, f"-isystem{headers}", f"-isystem{eigen}"]
    text = (HERE / "pinocchio_peer.cpp").read_text(encoding="utf-8")
    return workshop.shared(f"pinocchio_{compiler.family}", command, {"pinocchio_peer.cpp": text}, about=version("pin"))


def numbers(model: Model) -> str:
    """A robot as the numbers that pinocchio_peer.cpp reads; Absent for what Pinocchio cannot take."""
    if model.loops:
        raise Absent(f"Pinocchio takes no robot with closed loops, and {model.name} has some")
    if model.convention != "pinocchio":
        raise Absent(f"{model.name} has MuJoCo's convention; load it with Pinocchio's")
    strange = {body.joint.type for body in model.bodies} - {"revolute", "prismatic", "spherical", "floating"}
    if strange:
        raise Absent(f"the bench hands Pinocchio no {' or '.join(sorted(strange))} joint, and {model.name} has one")
    lines = [f"{len(model.bodies)} {_text(model.gravity)}", *map(_line, model.bodies)]
    return "\n".join(lines) + "\n"


def _line(body: Body) -> str:
    I = np.array(body.inertia.moment)  # noqa: E741
    moment = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    place = (*body.placement.R.ravel(), *body.placement.translation)
    inertia = (body.inertia.mass, *body.inertia.com, *moment)
    kind = f"{body.parent + 1} {body.joint.type}"
    return f"{kind} {_text((*body.joint.axis, *place, *inertia, body.joint.armature))}"


def _text(values: tuple[float, ...]) -> str:
    return " ".join(repr(float(value)) for value in values)
