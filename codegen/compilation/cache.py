"""The build cache: one folder per content key, made whole or not at all, checked before anything is loaded.

The key is the SHA-256 of a request (the caller's text, the compiler and its flags, and the generator itself),
so a hit runs neither CasADi nor a compiler. A folder holds the extension, the C, and meta.json with a
checksum of every file; one that fails its checks is built again.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import shutil
import sys
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen.compilation.build_lock import UNFINISHED, begun, sweep
from codegen.compilation.compiler import Toolchain, compile_extension, toolchain
from codegen.compilation.runtime import Function, load
from codegen.compilation.storage import BESIDE, folder, remove, secured
from codegen.emission.artifact import Artifact, from_facts
from codegen.emission.text import template_folder
from codegen.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_META = "meta.json"
PACKAGE = Path(__file__).resolve().parents[1]
_only_found = ContextVar("_only_found", default=False)


class NotBuiltError(Exception):
    """There is no sound build, and none may be made."""


@contextmanager
def nothing_built() -> Iterator[None]:
    """Meanwhile what is not in the cache is not built: NotBuiltError."""
    before = _only_found.set(True)
    try:
        yield
    finally:
        _only_found.reset(before)


@dataclass(frozen=True, slots=True)
class Entry:
    """One cached build: its key, the function's name, what was asked, and its size on disk in bytes."""

    key: str
    name: str
    request: str
    size: int

    def __str__(self) -> str:
        return f"{self.key[:12]} {self.name} ({self.size / 1024:.0f} KiB)"


@dataclass(frozen=True, slots=True)
class Build:
    """What a build leaves in its folder: the binary, its sources, and facts about it (with its `symbol`), for JSON."""

    binary: str
    sources: tuple[str, ...]
    facts: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.binary} of {len(self.sources)} sources"


def sources() -> list[Path]:
    """The generator's Python, in order: every module of `codegen`, whatever room it is in."""
    return sorted(PACKAGE.rglob("*.py"))


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """SHA-256 over the generator: its Python, its templates, and the versions of what it stands on."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    for template in sorted(template_folder().iterdir(), key=lambda item: item.name):
        if template.is_file():
            digest.update(template.name.encode() + b"\0" + template.read_bytes() + b"\0")
    for package_name in ("casadi", "cffi"):
        digest.update(f"{package_name} {importlib.metadata.version(package_name)}\0".encode())
    digest.update(f"{sys.implementation.cache_tag} {sys.abiflags if os.name == 'posix' else ''}".encode())
    return digest.hexdigest()


def cached(request: str, make: Callable[[], Iterable[Artifact]], tools: Toolchain | None = None) -> Function:
    """The callable for a request; `make` traces and emits only if no sound build of it is cached.

    It makes drafts, of which the last is whole (see `codegen.compilation.compiler.compile_extension`).
    `request` must name everything that the artifact depends on besides compiler and generator. BuildError if
    the cache folder cannot be used or the compiler fails.
    """
    tools = tools or toolchain()

    def build(work: Path) -> Build:
        artifact, extension = compile_extension(make(), work, tools)
        return Build(extension, tuple(name for name, _ in artifact.files), artifact.facts())

    place, build_found, texts = kept(request, build, tools)
    return load(from_facts(build_found.facts, texts), place / build_found.binary)


def kept(
    request: str, build: Callable[[Path], Build], tools: Toolchain | None
) -> tuple[Path, Build, tuple[tuple[str, str], ...]]:
    """The folder of a sound build for a request, what it is, and its sources; `build` makes one where there is none.

    Without `tools` it compiles nothing.
    """
    identity = tools.identity if tools else ""
    key = hashlib.sha256("\0".join((request, identity, fingerprint())).encode()).hexdigest()
    root = secured()
    place = root / key
    found = _checked(place)
    # More than once only where another process repairs or clears the cache at the same moment.
    for _ in range(3):
        if found is None:
            if _only_found.get():
                raise NotBuiltError(request)
            _build(root, place, request, build, tools)
            found = _checked(place)
    if found is None:
        raise BuildError(f"the cache folder {root} loses what is written to it; set RIGIDC_CACHE to another one")
    return place, *found


def _build(root: Path, place: Path, request: str, build: Callable[[Path], Build], tools: Toolchain | None) -> None:
    sweep(root)
    with begun(root) as work:
        made = build(work)
        names = [made.binary, *made.sources]
        for path in work.iterdir():
            if path.name not in names:
                path.unlink()
        body = {
            "request": request,
            "compiler": str(tools or ""),
            "extension": made.binary,
            "files": {name: _sha(work / name) for name in names},
            "sources": list(made.sources),
            "facts": made.facts,
        }
        (work / _META).write_text(json.dumps({"seal": _seal(body), "body": body}, indent=1), encoding="utf-8")
        _publish(work, place)


def _publish(work: Path, place: Path) -> None:
    """Move a finished build into place; if another process was faster and its build is sound, keep that."""
    for _ in range(8):
        if _moved(work, place) or _checked(place) is not None:
            return
        _discard(place)


def _moved(work: Path, place: Path) -> bool:
    """Whether the folder could take its place, which it cannot while another one is there."""
    try:
        work.rename(place)
    except OSError:
        return False
    return True


def _discard(place: Path) -> None:
    """Take a folder out of the way in one step, then delete it."""
    with begun(place.parent) as grave, suppress(OSError):  # another process may have taken it away
        place.rename(grave / place.name)


def _checked(place: Path) -> tuple[Build, tuple[tuple[str, str], ...]] | None:
    """A cached build and its sources (name, text), or None if any of its files is not what was written."""
    body = _body(place)
    if body is None:
        return None
    try:
        contents = {name: (place / name).read_bytes() for name in body["files"]}
    except OSError:
        return None
    if any(hashlib.sha256(data).hexdigest() != body["files"][name] for name, data in contents.items()):
        return None
    texts = tuple((name, contents[name].decode()) for name in body["sources"])
    return Build(body["extension"], tuple(body["sources"]), body["facts"]), texts


def _body(place: Path) -> dict[str, Any] | None:
    try:
        meta = json.loads((place / _META).read_text(encoding="utf-8"))
        body: dict[str, Any] = meta["body"]
        return body if meta["seal"] == _seal(body) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _seal(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def entries() -> tuple[Entry, ...]:
    """What is cached, by name; unfinished and damaged builds are left out."""
    found = []
    for place in folder().iterdir() if folder().is_dir() else ():
        body = None if place.name.startswith(UNFINISHED) else _body(place)
        if body is not None:
            size = sum(path.stat().st_size for path in place.iterdir())
            found.append(Entry(place.name, body["facts"]["symbol"], body["request"], size))
    return tuple(sorted(found, key=lambda entry: (entry.name, entry.key)))


def clear() -> int:
    """Delete every build, unfinished ones too, and what is kept beside them; how many builds there were."""
    for name in BESIDE:
        remove(name)
    number = 0
    for place in folder().iterdir() if folder().is_dir() else ():
        unfinished = place.name.startswith(UNFINISHED)
        if place.is_dir() and (unfinished or len(place.name) == 64):
            shutil.rmtree(place, ignore_errors=True)
            number += not unfinished
    return number
