"""The files of an MJCF robot, checked before MuJoCo sees them: what they name, their numbers, and what they grow to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from lxml import etree

from codegen.description.files import label, parse_xml, read_text, shown
from codegen.errors import RobotError
from codegen.limits import DEEPEST, LARGEST, MOST_CELLS, MOST_COPIES, MOST_ELEMENTS, MOST_FILES, MOST_JOINTS, MOST_LINKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.description.files import Element

_REFUSED = ("extension", "plugin", "flexcomp", "composite")
_BOUNDED = {
    *("mass", "density", "diaginertia", "fullinertia", "armature", "size", "fromto", "gravity", "polycoef", "anchor"),
    *("pos", "quat", "euler", "axisangle", "xyaxes", "zaxis", "relpose", "axis", "ref", "scale", "offset", "refpos"),
    *("settotalmass", "boundmass", "boundinertia", "inertiagrouprange", "refquat", "vertex"),
}
"""Attributes of which the dynamics is made."""
_NUMBERS = _BOUNDED | {"range"}
_SECTIONS = ("default", "equality", "tendon", "actuator", "sensor", "contact", "keyframe")
"""In these a <joint> is not a joint of the tree."""


_Key = tuple[Path, Path]
"""A file, and the folder of the model that it belongs to, where MuJoCo looks for what it names."""


@dataclass(frozen=True, slots=True)
class _File:
    """A parsed file, and the files that it names, by tag (include, model) and reference."""

    where: str
    root: Element
    names: dict[tuple[str, str], tuple[_Key, Path]]


@dataclass(frozen=True, slots=True)
class _Extent:
    """What a file grows to: elements, those that replicates make, bodies, joints, and how deep they are nested."""

    elements: int = 0
    copies: int = 0
    bodies: int = 0
    joints: int = 0
    depth: int = 0


def check_files(text: str, path: Path) -> tuple[Path, ...]:
    """The folders of an MJCF file, and of all files that it includes and attaches.

    RobotError on a file that is not there, generates or runs things, or grows too large once it is written out.
    """
    top = (path.resolve(), path.parent)
    files: dict[_Key, _File] = {}
    queue = [(top, path, text)]
    while queue:
        key, file, content = queue.pop()
        files[key] = _checked(content, file, key[1])
        named = {inner: target for inner, target in files[key].names.values() if inner not in files}
        fresh = {inner: target for inner, target in named.items() if inner not in {other for other, *_ in queue}}
        if len(files) + len(queue) + len(fresh) > MOST_FILES:
            raise RobotError(f"{label(path)}: it includes more than {MOST_FILES} files; include fewer")
        queue += [(inner, target, read_text(target)) for inner, target in fresh.items()]
    _check_extent(label(path), _extent(files, top, _scope(files, top), (), {}))
    return tuple(dict.fromkeys((path.parent, *(t.parent for file in files.values() for _, t in file.names.values()))))


def _checked(content: str, file: Path, folder: Path) -> _File:
    """A file with what it names; RobotError on elements and numbers that are refused."""
    where = label(file)
    root = parse_xml(content, where)
    for element in root.iter("*"):
        if "{" in element.tag:  # MuJoCo, which knows no namespaces, would read what stands behind the brace
            words = f"{where}: line {element.sourceline}: <{shown(etree.QName(element).localname)[1:-1]}>"
            raise RobotError(f"{words} is in a namespace, which MJCF does not know; remove xmlns")
    _check_numbers(root, where)
    for tag in _REFUSED:
        if root.find(f".//{tag}") is not None or root.tag == tag:
            raise RobotError(f"{where}: the element <{tag}> is not supported; remove it")
    for field in root.iter("hfield"):
        cells = _count(field, "nrow") * _count(field, "ncol")
        if cells > MOST_CELLS:
            words = f"{where}: line {field.sourceline}: a height field of {_told(cells)} cells"
            raise RobotError(f"{words} is larger than the {MOST_CELLS} that rigidc takes; state fewer rows and columns")
    names: dict[tuple[str, str], tuple[_Key, Path]] = {}
    for element in root.iter("include", "model"):
        if (reference := element.get("file")) is not None:
            target = _target(reference, file, folder)
            home = folder if element.tag == "include" else target.parent
            names[element.tag, reference] = ((target.resolve(), home), target)
    return _File(where, root, names)


def _check_numbers(root: Element, where: str) -> None:
    """RobotError on what is no number or too large: MuJoCo takes a mass of NaN for none that is stated."""
    for element in root.iter("*"):
        for name in _NUMBERS.intersection(element.keys()):
            for text in element.get(name, "").split():
                if _refused(text, bounded=name in _BOUNDED):
                    words = f"{where}: line {element.sourceline}: <{shown(element.tag)[1:-1]}>, {name}"
                    raise RobotError(
                        f"{words}: {shown(text)} is not a finite number, or beyond {LARGEST:g}; correct it"
                    )


def _refused(text: str, *, bounded: bool) -> bool:
    """Whether a word is NaN, or a number beyond bounds; MuJoCo says what is wrong with other words."""
    try:
        value = float(text)
    except ValueError:
        return "nan" in text.lower() or "inf" in text.lower()
    return math.isnan(value) or (bounded and not abs(value) <= LARGEST)


def _count(element: Element, name: str) -> int:
    """A whole number as MuJoCo reads it; zero where there is none."""
    try:
        return max(int(element.get(name, "0")), 0)
    except ValueError:
        return 0


def _target(reference: str, file: Path, folder: Path) -> Path:
    words = f"{label(file)}: the included file {shown(reference)}"
    if PurePosixPath(reference).is_absolute() or PureWindowsPath(reference).is_absolute():
        raise RobotError(f"{words} has an absolute path; include files by relative paths")
    try:
        for candidate in (folder / reference, file.parent / reference):
            if candidate.is_file():
                return candidate
    except (OSError, ValueError):  # a name that is too long, or holds a NUL
        pass
    raise RobotError(f"{words} is not there or not a regular file; correct the path")


@dataclass(frozen=True, slots=True)
class _Scope:
    """A model: its file, with what it includes, and the models that it attaches, by each name they may go by."""

    top: _Key
    models: dict[str, set[_Key]]


def _scope(files: Mapping[_Key, _File], top: _Key) -> _Scope:
    models: dict[str, set[_Key]] = {}
    queue, seen = [top], {top}
    while queue:
        file = files[queue.pop()]
        for element in file.root.iter("include", "model"):
            for inner in _named(file, element):
                if element.tag == "model":
                    for name in (element.get("name"), files[inner].root.get("model"), inner[0].stem):
                        models.setdefault(name or "", set()).add(inner)
                elif inner not in seen:
                    seen.add(inner)
                    queue.append(inner)
    return _Scope(top, models)


def _named(file: _File, element: Element) -> set[_Key]:
    """The file that an <include> or a <model> names, if it names one."""
    found = file.names.get((element.tag, element.get("file", "")))
    return set() if found is None else {found[0]}


def _extent(
    files: Mapping[_Key, _File],
    path: _Key,
    scope: _Scope,
    above: tuple[_Key, ...],
    known: dict[tuple[_Key, _Key], _Extent],
) -> _Extent:
    """What a file grows to; `above` are the files on the way to it, `known` those that are measured, by their scope."""
    file = files[path]
    if path in above:
        raise RobotError(f"{file.where}: the file includes or attaches itself; remove the circle")
    if (path, scope.top) in known:
        return known[path, scope.top]
    elements = copies = bodies = joints = deepest = 0
    stack = [(file.root, 1, 1, True)]
    while stack:
        element, times, depth, in_tree = stack.pop()
        in_tree = in_tree and element.tag not in _SECTIONS
        elements += times
        times *= max(_count(element, "count"), 1) if element.tag == "replicate" else 1  # which itself may be empty
        copies += times if times > 1 else 0
        bodies += times * (element.tag == "body")
        joints += times * (in_tree and element.tag in ("joint", "freejoint"))
        deepest = max(deepest, depth)
        for inner in _inner(file, scope, element):
            own = scope if element.tag == "include" else _scope(files, inner)
            part = _extent(files, inner, own, (*above, path), known)
            elements, copies = elements + times * part.elements, copies + times * part.copies
            bodies, joints = bodies + times * part.bodies, joints + times * part.joints
            deepest = max(deepest, depth + part.depth)
        stack += [(child, times, depth + 1, in_tree) for child in element.iterchildren("*")]
    known[path, scope.top] = found = _Extent(elements, copies, bodies, joints, deepest)
    return found


def _inner(file: _File, scope: _Scope, element: Element) -> set[_Key]:
    """The files whose content stands in the place of an element."""
    if element.tag in ("include", "model"):
        return _named(file, element)
    return scope.models.get(element.get("model", ""), set()) if element.tag == "attach" else set()


def _told(count: int) -> str:
    """A count in words or figures of bounded length."""
    return str(count) if count < 10**9 else "over a billion"


def _check_extent(where: str, extent: _Extent) -> None:
    for count, most, kind in (
        (extent.depth, DEEPEST, "levels of elements"),
        (extent.joints, MOST_JOINTS, "moving joints"),
        (extent.bodies, MOST_LINKS, "bodies"),
        (extent.copies, MOST_COPIES, "elements made by <replicate>"),
        (extent.elements, MOST_ELEMENTS, "elements"),
    ):
        if count > most:
            raise RobotError(f"{where}: {_told(count)} {kind} are more than the {most} that rigidc takes")
