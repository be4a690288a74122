"""Pinocchio's C++: its headers from the installed wheel, compiled here; the robot is ours, written as numbers."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution, version
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from codegen.algorithms import ALGORITHMS, OPTIONAL, SOLUTION
from opcount.bench.build_dir import HERE, Absent
from opcount.bench.calls import PLACES, pointer
from opcount.bench.race import Contestant

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from codegen.model import Body, Model
    from opcount.bench.build_dir import BuildDir, Compiler
    from opcount.bench.race import Scenario

FLAGS = ("-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w")
# without damping, in one iteration, and without constrainedABA, which needs damping
DIRECT = tuple(name for name, entry in ALGORITHMS.items() if entry.independent == "rows" and entry.outputs == SOLUTION)
VARIANTS = {
    "aba": ("aba", "aba_world"),
    "crba": ("crba", "crba_world"),
    "caba_osim": ("damped_pv", "damped_efpa", "damped_ltl"),
    **dict.fromkeys(DIRECT, ("prox_pv", "prox_ltl")),
    **dict.fromkeys((name for name, entry in ALGORITHMS.items() if "dlam_dq" in entry.outputs), ("derivatives",)),
}
HELD_VARIANTS = {
    "constrained": ("constrained_aba", "prox_pv", "prox_ltl"),
    "delassus": ("delassus_pv", "delassus_efpa"),
}
CALLED = {
    **dict.fromkeys(("aba_world", "crba_world"), "world axes"),
    **dict.fromkeys(("damped_pv", "delassus_pv"), "PV"),
    **dict.fromkeys(("damped_efpa", "delassus_efpa"), "EFPA"),
    "damped_ltl": "LTL",
    "damped_factors": "LTL, factors alone",
    "constrained_aba": "cABA",
    "prox_pv": "proxPV",
    "prox_ltl": "proxLTL",
}
SQUARE = tuple(name for name, entry in ALGORITHMS.items() if {"M", "Minv", "da_dq"} & {*entry.outputs})
"""Whose first result is a matrix of nv x nv."""
EXCHANGED = (3, 4, 5, 0, 1, 2)  # the rows of a weld: Pinocchio's are [linear; angular]


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


def contestants(
    scenario: Scenario, compiler: Compiler, build_dir: BuildDir, more: tuple[str, ...] = ()
) -> tuple[Contestant, ...]:
    """Pinocchio on the scenario, built by one compiler; in both of its conventions where it has two.

    `more` are further functions of the shared object that give the same.
    """
    if not compiler.cxx:
        raise Absent(f"Pinocchio needs a C++ compiler beside {compiler.c}")
    variants = (*_variants(scenario), *more)
    text, held = numbers(scenario.model), _contacts(scenario)
    library = ctypes.CDLL(str(build(compiler, build_dir, bool(scenario.contacts))))
    path = build_dir.folder / f"{scenario.model.name}.txt"
    path.write_text(text, encoding="utf-8")
    handles = [_opened(library, path, scenario, held) for _ in range(PLACES)]
    states = scenario.states
    width, order = _layout(scenario)
    found = []
    for name in variants:
        function = getattr(library, f"peer_{name}")
        function.restype = ctypes.c_double

        out = np.empty((states, width))
        function(handles[0], ctypes.c_size_t(0), pointer(out))
        called = f", {CALLED[name]}" if name in CALLED else ""
        found.append(
            Contestant(f"Pinocchio {compiler.family}{called}", _timed(function, handles), states, out[:, order])
        )
    return tuple(found)


def _timed(function: ctypes._NamedFuncPointer, handles: list[ctypes.c_void_p]) -> Callable[[int], float]:
    """A function's own timing, on equal robots in turn."""
    turn = cycle(handles)
    return lambda rounds: float(function(next(turn), ctypes.c_size_t(rounds), None))


def _opened(library: ctypes.CDLL, path: Path, scenario: Scenario, held: tuple[object, ...]) -> ctypes.c_void_p:
    """A robot of Pinocchio's with the states of the scenario and its contacts, in memory of its own."""
    library.peer_open.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(library.peer_open(str(path).encode()))
    if not handle:
        raise Absent(f"Pinocchio does not take {scenario.model.name}")
    given = dict(zip(scenario.names, scenario.inputs, strict=True))
    zeros = np.zeros((scenario.states, scenario.model.nv))
    q, v = np.ascontiguousarray(given["q"]), np.ascontiguousarray(given.get("v", zeros))
    x = np.ascontiguousarray(given.get("a", given.get("tau", zeros)))
    library.peer_states(handle, ctypes.c_size_t(scenario.states), pointer(q), pointer(v), pointer(x))
    if not scenario.contacts:
        return handle
    library.peer_hold.restype = ctypes.c_void_p
    return ctypes.c_void_p(library.peer_hold(handle, *held))


def _variants(scenario: Scenario) -> tuple[str, ...]:
    """The functions of the shared object that do what the scenario's algorithm does."""
    name = scenario.algorithm
    if scenario.group == "damped" and name not in VARIANTS:
        raise Absent(f"Pinocchio has nothing like {name}")
    return VARIANTS.get(name) or HELD_VARIANTS.get(scenario.group) or (name,)


def _layout(scenario: Scenario) -> tuple[int, NDArray[np.int_]]:
    """Reals per state of Pinocchio's result, and where ours stand in it."""
    nv, rows = scenario.model.nv, scenario.rows
    if scenario.group in ("delassus", "damped"):
        order: list[int] = []
        for contact in scenario.contacts:
            own = EXCHANGED if len(contact.rows) == 6 else range(3)
            order += [len(order) + k for k in own]
        return rows * rows, np.arange(rows * rows).reshape(rows, rows)[np.ix_(order, order)].ravel()
    width = nv * nv if scenario.algorithm in SQUARE else nv
    return width, np.arange(width)


def _contacts(scenario: Scenario) -> tuple[object, ...]:
    """The further arguments of peer_hold; Absent for contacts that Pinocchio does not have."""
    contacts = scenario.contacts
    strange = [contact for contact in contacts if not np.array_equal(contact.rows, np.eye(6)[6 - len(contact.rows) :])]
    if strange or any(len(contact.rows) not in (3, 6) for contact in contacts):
        raise Absent("Pinocchio holds points (3 rows) and frames (6 rows) only")
    poses = [(*c.frame.placement.R.ravel(), *c.frame.placement.translation) for c in contacts]
    sizes = ctypes.c_size_t * len(contacts)
    derived = tuple(f"{name}_derivatives" for name in DIRECT)
    direct = scenario.algorithm in (*DIRECT, *derived) or scenario.group == "delassus"
    once = direct or scenario.algorithm == "pv_soft"
    return (
        ctypes.c_size_t(len(contacts)),
        sizes(*(contact.frame.body + 1 for contact in contacts)),
        sizes(*(len(contact.rows) for contact in contacts)),
        (ctypes.c_double * (12 * len(contacts)))(*np.ravel(poses)),
        ctypes.c_double(0.0 if direct else 1 / OPTIONAL["mu"]),
        ctypes.c_int(1 if once else scenario.iterations),
    )


def build(compiler: Compiler, build_dir: BuildDir, held: bool = False) -> Path:
    """The shared object with Pinocchio's algorithms, of one kind or the other; minutes the first time."""
    headers, eigen = includes()
    source = "pinocchio_held.cpp" if held else "pinocchio_peer.cpp"
    files = {name: (HERE / name).read_text(encoding="utf-8") for name in (source, "pinocchio_robot.hpp")}
    if held:
        files.update(_mended(headers))
    command = [compiler.cxx, *FLAGS, "-I.", f"-isystem{headers}", f"-isystem{eigen}"]
    name = f"pinocchio_{'held_' if held else ''}{compiler.family}"
    return build_dir.shared(name, command, files, source, about=version("pin"))


def _mended(headers: Path) -> dict[str, str]:
    """Headers of the installed Pinocchio with one sign put right, which shadow the installed ones.

    In 4.1 the inertia sweep of its PV Delassus matrix overwrites a parent's inertia instead of adding to it. Mended,
    the fastest of Pinocchio's functions takes part; it does one matrix addition more per link.
    """
    name = "pinocchio/src/algorithm/delassus.hxx"
    text = (headers / name).read_text(encoding="utf-8")
    return {name: text.replace("data.oYaba[parent].noalias() = Ia -", "data.oYaba[parent].noalias() += Ia -")}


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
