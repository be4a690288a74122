"""Crocoddyl in C++ from Python: the action of a generated header as a module, compiled here or out of the cache.

Crocoddyl's solvers call it without Python between. Its C++ is compiled for any processor of the kind, as Crocoddyl's
wheels are: Eigen aligns numbers differently where it knows more, and the two would not understand each other.
"""

from __future__ import annotations

import hashlib
import sys
import sysconfig
from functools import partial
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import TYPE_CHECKING

import casadi
import numpy as np

from codegen import pipeline
from codegen.backends import BACKENDS
from codegen.compilation.cache import Build, kept
from codegen.compilation.shared_library import compile_library
from codegen.emission.text import render
from codegen.errors import BuildError
from codegen.interfaces.crocoddyl_header import interface
from codegen.ir.names import identifier
from codegen.progress import doing
from codegen.task.auto_select import resolved

if TYPE_CHECKING:
    from types import ModuleType

    from codegen.compilation.compiler import Toolchain
    from codegen.emission.spec import Style
    from codegen.tracing.task import Task

DEFINED = (  # as Pinocchio's CMake package defines them
    *("BOOST_MPL_LIMIT_LIST_SIZE=30", "BOOST_MPL_LIMIT_VECTOR_SIZE=30", "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS"),
    *("BOOST_FUSION_INVOKE_MAX_ARITY=12", "PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION", "PINOCCHIO_WITH_COLLISION"),
    *("PINOCCHIO_WITH_HPP_FCL", "NDEBUG"),
)


def module_of(task: Task, style: Style, tools: Toolchain, place: Path) -> ModuleType:
    """A module whose `action` makes actions of a task (`aba`, `pv`, ...), for the Crocoddyl that is at `place`.

    BuildError where its headers or its libraries are not, or where no compiler takes them.
    """
    request = f"crocoddyl {task.request} {style} {place}"
    # two of one name in one process would be one to Boost.Python
    name = f"{identifier(task.model.name)}_{hashlib.sha256(request.encode()).hexdigest()[:12]}"
    headers, libraries = _headers(place), _libraries(place)

    def build(work: Path) -> Build:
        chosen = resolved(task)
        write = partial(interface, derivatives=1)
        files = pipeline.files_of(task.model, (chosen,), name, style, BACKENDS["c"], [write])
        sources = {path: text for path, text in files.items() if path.startswith(name)}
        algorithm = identifier(chosen.algorithm)
        held = any(port.name == "lam" for port in chosen.signature[1])
        sources[f"{name}.cpp"] = render(
            "crocoddyl_module.cpp.jinja",
            name=name,
            prefix=name,
            action=f"{algorithm}_action",
            header=f"{name}_{algorithm}_crocoddyl.hpp",
            parameters=", std::shared_ptr<Action::Contacts> contacts, bool enable_force" * held,
            arguments=", contacts, enable_force" * held,
        )
        return Build(compile_library(name, sources, work, tools, headers, libraries), tuple(sources), {"symbol": name})

    with doing(f"{task.algorithm} of {task.model.name} for Crocoddyl in C++"):
        folder, made, _ = kept(request, build, tools)
    return _loaded(name, folder / made.binary)


def _headers(place: Path) -> tuple[str, ...]:
    """Flags for C++ with Crocoddyl's headers."""
    include = place / "include"
    eigen = (path / "include" / "eigen3" for path in (place, Path(casadi.__file__).parent))
    found = next((path for path in eigen if path.is_dir()), Path("/usr/include/eigen3"))
    python = Path(sysconfig.get_path("include"))
    for needed in (include / "crocoddyl", include / "boost" / "python.hpp", found / "Eigen", python / "Python.h"):
        if not needed.exists():
            raise BuildError(f"for an action in C++ {needed} is needed, which is not there; leave out cplusplus=True")
    folders = (include, include / "pinocchio" / "deprecated", found, python, Path(np.get_include()))
    return ("-march=x86-64",) * (sysconfig.get_platform().endswith("x86_64")) + (
        *(f"-D{name}" for name in DEFINED),
        *(f"-isystem{folder}" for folder in folders),
    )


def _libraries(place: Path) -> tuple[str, ...]:
    """Crocoddyl's libraries, and Python's of Boost."""
    major, minor = sys.version_info[:2]
    names = ("crocoddyl", "pinocchio_default", "eigenpy", f"boost_python{major}{minor}")
    return tuple(str(place / "lib" / f"lib{name}.so") for name in names)


def _loaded(name: str, path: Path) -> ModuleType:
    """The module at a path, once a process."""
    if name not in sys.modules:
        loader = ExtensionFileLoader(name, str(path))
        spec = spec_from_loader(name, loader)
        assert spec
        module = module_from_spec(spec)
        loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]
