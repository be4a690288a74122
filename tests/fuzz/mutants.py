"""Mutants: files that differ from a seed by what people and editors break, and by what attackers try.

A mutant is a function of its number alone (and of the seeds).
"""

from __future__ import annotations

import copy
import json
import random
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from lxml import etree

from fuzz.files import Mutant
from fuzz.seeds import Seed, seeds

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS = (
    *("0", "-0", "1", "-1", "2", "0.5", "-1e-3", "3.141592653589793", "1.5708", "1e-5", "1e-12", "1e-20", "1e-160"),
    *("1e-300", "1e-310", "5e-324", "1e5", "1e9", "1e12", "1.1e12", "1e15", "1e16", "1e60", "1e150", "1e300", "1e308"),
    *("-1e308", "1.8e308", "1e999", "nan", "NaN", "-nan", "inf", "-inf", "Infinity", "9" * 400, "0." + "1" * 400),
    *("100000000", "2147483648", "4294967297", "9223372036854775808", "-2147483649", "1000", "257", "0x10", "1_0"),
    *("1,5", "1e", "--1", "", " ", "٣", "1 2 3 4 5 6 7 8 9 10", "0 0 0", "1 0 0 0", "1e308 0 0.707 0", "true"),
)
WORDS = (
    *("", " ", "a", "base", "world", "x" * 300, "x" * 5000, "a\nb", "a\tb", "\u202e", "名前", "é", "\U0001f916"),
    *("${m}", "$(arg x)", "../../etc/passwd", "/etc/passwd", "/dev/zero", "*/ x /*", "%s%n", "'", '"', "&amp;", "\\"),
    *("revolute", "fixed", "floating", "planar", "spherical", "prismatic", "continuous", "hinge", "ball", "slide"),
    *("free", "mesh", "box", "sphere", "hfield", "sdf", "true", "false", "nan", "part.xml", "arm.xml", "mutant.xml"),
    *("q1", "q2", "j", "pi", "sin(q)", "q^2", "1/0", "q*1e300*1e300", "exp(800)", "(" * 200, "sqrt(-1)", "2^q^q^9"),
    *("q" + "+q" * 2000, "a" * 9999, "sin(" * 90 + "q" + ")" * 90, "1e200*q", "exp(exp(q))", "0*q", "q/(q-q)", "class"),
)
TAGS = (
    *("robot", "link", "joint", "inertial", "mass", "inertia", "origin", "axis", "limit", "mimic", "parent", "child"),
    *("loop", "coupling", "predecessor", "successor", "ratio", "mujoco", "worldbody", "body", "geom", "site", "frame"),
    *("freejoint", "replicate", "attach", "include", "model", "asset", "mesh", "hfield", "texture", "material", "size"),
    *("option", "flag", "compiler", "default", "equality", "connect", "weld", "tendon", "fixed", "spatial", "actuator"),
    *("motor", "general", "sensor", "keyframe", "key", "contact", "exclude", "pair", "custom", "numeric", "tuple"),
    *("flexcomp", "composite", "plugin", "extension", "deformable", "skin", "flex", "visual", "x", "xacro"),
)
ATTRIBUTES = (
    *("name", "type", "pos", "quat", "euler", "axisangle", "xyaxes", "zaxis", "size", "fromto", "mass", "density"),
    *("diaginertia", "fullinertia", "armature", "ref", "range", "axis", "class", "childclass", "file", "mesh"),
    *("hfield", "count", "offset", "sep", "nkey", "nuserdata", "nuser_body", "nuser_geom", "memory", "njmax", "nrow"),
    *("ncol", "width", "height", "gridsize", "builtin", "angle", "coordinate", "eulerseq", "meshdir", "assetdir"),
    *("settotalmass", "boundmass", "boundinertia", "balanceinertia", "inertiafromgeom", "inertiagrouprange", "gravity"),
    *("polycoef", "anchor", "relpose", "joint1", "joint2", "body1", "body2", "site1", "site2", "active", "limited"),
    *("xyz", "rpy", "quat_xyzw", "value", "ixx", "iyy", "izz", "ixy", "link", "joint", "multiplier", "lower", "upper"),
    *("effort", "velocity", "independent", "group", "shellinertia", "fitscale", "gravcomp", "mocap", "springref"),
    *("params", "inertia", "exactmeshinertia", "fusestatic", "discardvisual", "strippath", "autolimits", "alignfree"),
)
KEYS = (
    *("format", "name", "links", "joints", "frames", "loops", "source", "base", "gravity", "notes", "mass", "com"),
    *("inertia", "type", "parent", "child", "placement", "attachment", "axis", "limits", "lower", "upper", "velocity"),
    *("effort", "armature", "home", "link", "kind", "independent", "dependent", "matrix", "offset", "predecessor"),
    *("successor", "ratio", "components", "variables", "explicit", "implicit", "scale", "translation", "rotation"),
    *("rpy", "$schema", "x", "", "__class__"),
)


def mutant(number: int) -> Mutant:
    """The mutant of this number."""
    draw = random.Random(number)
    (seed,) = draw.choices(seeds(), [one.share for one in seeds()])
    other = draw.choice([one for one in seeds() if one.suffix == seed.suffix])
    beside = dict(seed.beside)
    text = seed.text
    if draw.random() < 0.88:
        text = (_json_mutated if seed.suffix == "json" else _xml_mutated)(draw, seed, other)
    content = text.encode("utf-8", "surrogatepass")
    if text == seed.text or draw.random() < 0.1:
        content = _bytes_mutated(draw, content, other.text.encode())
    if beside and draw.random() < 0.3:
        name = draw.choice(sorted(beside))
        beside[name] = _bytes_mutated(draw, beside[name], content)
    suffix = draw.choice(("urdf", "xml", "json")) if draw.random() < 0.01 else seed.suffix
    return Mutant(suffix, content, beside, seed.name)


def _number(draw: random.Random, old: str = "1") -> str:
    if draw.random() < 0.35:
        return draw.choice(NUMBERS)
    try:
        return repr(float(old) * draw.choice((-1.0, 0.5, 2.0, 1.5, 1.0 + 1e-12, 1e-7, 1e7, 1e40, 1e-40)))
    except ValueError:
        return repr(draw.uniform(-3, 3))


def _value(draw: random.Random, old: str) -> str:
    """Another value of an attribute: a number in it changed, or something else altogether."""
    words = old.split()
    if words and draw.random() < 0.65:
        at = draw.randrange(len(words))
        words[at] = _number(draw, words[at])
        return " ".join(words)
    return draw.choice((draw.choice(NUMBERS), draw.choice(WORDS), old + old, old[:-1], old.upper(), f" {old}\n"))


# XML


def _xml_mutated(draw: random.Random, seed: Seed, other: Seed) -> str:
    root, foreign = copy.deepcopy(_tree(seed.text)), _tree(other.text)
    for _ in range(draw.choice((1, 1, 1, 1, 2, 2, 4))):
        draw.choices([change for change, _ in XML], [weight for _, weight in XML])[0](draw, root, foreign)
    text = etree.tostring(root, encoding="unicode")
    if draw.random() < 0.05:
        text = draw.choice(("\n\n", "\ufeff\n", " ", "<!-- x -->\n", "x")) + '<?xml version="1.0"?>' + text
    return text


@cache
def _tree(text: str) -> Any:
    return etree.fromstring(text.encode(), etree.XMLParser(remove_comments=True))


def _any(draw: random.Random, root: Any) -> Any:
    return draw.choice(list(root.iter("*")))


def _inner(draw: random.Random, root: Any) -> Any:
    """Any element but the root, if there is one."""
    return draw.choice(list(root.iter("*"))[1:] or [root])


def _set_value(draw: random.Random, root: Any, foreign: Any) -> None:
    stated = [(element, name) for element in root.iter("*") for name in element.attrib]
    if stated:
        element, name = draw.choice(stated)
        element.set(name, _clean(_value(draw, element.get(name))))


def _drop_attribute(draw: random.Random, root: Any, foreign: Any) -> None:
    stated = [(element, name) for element in root.iter("*") for name in element.attrib]
    if stated:
        element, name = draw.choice(stated)
        del element.attrib[name]


def _add_attribute(draw: random.Random, root: Any, foreign: Any) -> None:
    """An attribute that such elements have elsewhere, or any."""
    element = _any(draw, root)
    known = _attributes(root.tag).get(element.tag)
    if known and draw.random() < 0.7:
        name, value = draw.choice(known)
        element.set(name, draw.choice((value, _clean(_value(draw, value)))))
    else:
        element.set(draw.choice(ATTRIBUTES), _clean(draw.choice((draw.choice(NUMBERS), draw.choice(WORDS)))))


@cache
def _attributes(format_tag: str) -> dict[str, list[tuple[str, str]]]:
    """By tag, the attributes and values that elements of all seeds of a format have."""
    known: dict[str, list[tuple[str, str]]] = {}
    for seed in seeds():
        if seed.suffix != "json" and _tree(seed.text).tag == format_tag:
            for element in _tree(seed.text).iter("*"):
                known.setdefault(element.tag, []).extend(element.items())
    return known


def _swap_values(draw: random.Random, root: Any, foreign: Any) -> None:
    stated = [(element, name) for element in root.iter("*") for name in element.attrib]
    if stated:
        (one, a), (two, b) = draw.choice(stated), draw.choice(stated)
        first, second = one.get(a), two.get(b)
        one.set(a, second)
        two.set(b, first)


def _drop_element(draw: random.Random, root: Any, foreign: Any) -> None:
    element = _inner(draw, root)
    if element is not root:
        element.getparent().remove(element)


def _double_element(draw: random.Random, root: Any, foreign: Any) -> None:
    element = _inner(draw, root)
    if element is not root:
        for _ in range(draw.choice((1, 1, 1, 2, 30))):
            element.addnext(copy.deepcopy(element))


def _move_element(draw: random.Random, root: Any, foreign: Any) -> None:
    element = _inner(draw, root)
    above = element.getparent()
    fitting = [one for one in root.iter("*") if above is not None and one.tag == above.tag]
    target = draw.choice(fitting) if fitting and draw.random() < 0.7 else _any(draw, root)
    if element is not root and element not in (target, *target.iterancestors()):
        target.insert(draw.randrange(len(target) + 1), element)


def _rename(draw: random.Random, root: Any, foreign: Any) -> None:
    _any(draw, root).tag = draw.choice(TAGS)


def _new_element(draw: random.Random, root: Any, foreign: Any) -> None:
    target = _any(draw, root)
    made = etree.SubElement(target, draw.choice(TAGS))
    for _ in range(draw.randrange(4)):
        made.set(draw.choice(ATTRIBUTES), _clean(draw.choice((draw.choice(NUMBERS), draw.choice(WORDS)))))
    for child in list(target)[: draw.choice((0, 0, 1, 3))]:
        if child is not made:
            made.append(child)


def _cross(draw: random.Random, root: Any, foreign: Any) -> None:
    """A branch of another file, mostly where such a branch may stand."""
    branch = _inner(draw, foreign)
    above = branch.getparent()
    fitting = [element for element in root.iter("*") if above is not None and element.tag == above.tag]
    target = draw.choice(fitting) if fitting and draw.random() < 0.8 else _any(draw, root)
    target.insert(draw.randrange(len(target) + 1), copy.deepcopy(branch))


def _nest(draw: random.Random, root: Any, foreign: Any) -> None:
    element = _inner(draw, root)
    for _ in range(draw.choice((3, 50, 200, 240, 300, 600))):
        element = etree.SubElement(element, draw.choice((element.tag, "body", "frame", "replicate")))
        if element.tag == "replicate":
            element.set("count", draw.choice(("2", "2", "10", "1000")))


def _huge_count(draw: random.Random, root: Any, foreign: Any) -> None:
    tag, names = draw.choice(
        (
            ("size", ("nkey", "nuserdata", "nuser_body", "nuser_geom", "nuser_jnt", "memory", "njmax", "nconmax")),
            ("hfield", ("nrow", "ncol")),
            ("texture", ("width", "height", "gridsize")),
            ("replicate", ("count",)),
            ("mesh", ("params", "builtin")),
        )
    )
    places = list(root.iter(tag)) or [etree.SubElement(_any(draw, root), tag)]
    for name in draw.sample(names, draw.randint(1, len(names))):
        draw.choice(places).set(name, draw.choice(("100000000", "2147483647", "30000", "1000", "12", "-1", "1T")))


def _white_space(draw: random.Random, root: Any, foreign: Any) -> None:
    _any(draw, root).text = draw.choice(("\n" * 500, "text", "\u00a0", "]]>", "&"))


def _copy_subtree_names(draw: random.Random, root: Any, foreign: Any) -> None:
    """A second branch like one that is there, its names made new: a larger robot that may well load."""
    element = _inner(draw, root)
    if element is root:
        return
    twin = copy.deepcopy(element)
    for part in twin.iter("*"):
        if part.get("name") is not None:
            part.set("name", part.get("name") + "_2")
    element.addnext(twin)


XML: tuple[tuple[Callable[[random.Random, Any, Any], None], int], ...] = (
    (_set_value, 12),
    (_drop_attribute, 3),
    (_add_attribute, 5),
    (_swap_values, 3),
    (_drop_element, 4),
    (_double_element, 3),
    (_move_element, 4),
    (_rename, 2),
    (_new_element, 2),
    (_cross, 4),
    (_nest, 1),
    (_huge_count, 2),
    (_white_space, 1),
    (_copy_subtree_names, 2),
)


def _clean(text: str) -> str:
    """What XML can hold of a text."""
    return "".join(c for c in text if c in "\t\n\r" or (c >= " " and not "\ud800" <= c <= "\udfff"))


# JSON


def _json_mutated(draw: random.Random, seed: Seed, other: Seed) -> str:
    data, foreign = json.loads(seed.text), json.loads(other.text)
    for _ in range(draw.choice((1, 1, 1, 1, 2, 2, 4))):
        data = _json_changed(draw, data, foreign)
    text = json.dumps(data, ensure_ascii=draw.random() < 0.5, indent=draw.choice((None, 1)))
    for mark in re.findall(r'"@([^"@]*)@"', text):
        text = text.replace(f'"@{mark}@"', mark or "null", 1)
    return text


def _json_places(value: Any) -> list[tuple[Any, Any]]:
    """All places (container, key) in a JSON value."""
    places, stack = [], [value]
    while stack:
        at = stack.pop()
        inner = at.items() if isinstance(at, dict) else enumerate(at) if isinstance(at, list) else ()
        for key, item in inner:
            places.append((at, key))
            stack.append(item)
    return places


def _json_changed(draw: random.Random, data: Any, foreign: Any) -> Any:
    places = _json_places(data)
    if not places:
        return [data]
    at, key = draw.choice(places)
    old, kind = at[key], draw.randrange(12)
    if kind <= 3:
        at[key] = _json_value(draw, old)
    elif kind == 4:
        del at[key]
    elif kind == 5 and isinstance(at, list):
        for _ in range(draw.choice((1, 1, 2, 40))):
            at.insert(key, copy.deepcopy(old))
    elif kind == 6 and isinstance(at, dict):
        at[draw.choice(KEYS)] = at.pop(key)
    elif kind == 7 and isinstance(at, dict):
        at[draw.choice(KEYS)] = _json_value(draw, old)
    elif kind == 8:
        there, name = draw.choice(places)
        at[key], there[name] = there[name], old
        if _round(data):
            at[key], there[name] = None, None
    elif kind == 9:
        there, name = draw.choice(_json_places(foreign))
        at[key] = copy.deepcopy(there[name])
    elif kind == 10:
        for _ in range(draw.choice((1, 2, 60, 300))):
            old = [old] if draw.random() < 0.5 else {"x": old}
        at[key] = old
    else:
        numbers = [(a, k) for a, k in places if isinstance(a[k], int | float)] or [(at, key)]
        at, key = draw.choice(numbers)
        at[key] = _json_value(draw, at[key])
    return data


def _round(data: Any) -> bool:
    """Whether a value holds itself."""
    try:
        json.dumps(data)
    except (ValueError, RecursionError):
        return True
    return False


def _json_value(draw: random.Random, old: Any) -> Any:
    if isinstance(old, int | float) and draw.random() < 0.8:
        return f"@{_number(draw, str(old))}@"
    if isinstance(old, str) and draw.random() < 0.5:
        return draw.choice((draw.choice(WORDS), _value(draw, old), old + old))
    literal = (None, True, [], {}, [old], 0, -1.0, "x", [0.0, 0.0, 1.0], "\ud800")
    return draw.choice((*literal, draw.choice(WORDS), f"@{draw.choice(NUMBERS)}@"))


# bytes

MARKS = (b"<", b">", b'"', b"/", b"&", b"\0", b"\n", b"{", b"]", b"<!--", b"<![CDATA[")


def _bytes_mutated(draw: random.Random, content: bytes, other: bytes) -> bytes:
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.randrange(len(content) + 1)
        end = min(len(content), at + draw.choice((1, 1, 2, 8, 60, 400)))
        start = draw.randrange(len(other) + 1)
        content = draw.choice(
            (
                content[:at] + content[end:],
                content[:at] + bytes(draw.randrange(256) for _ in range(draw.randint(1, 4))) + content[at:],
                content[:at] + content[at:end] * draw.choice((2, 2, 50)) + content[end:],
                content[:at],
                content[at:],
                content[:at] + other[start : start + draw.choice((3, 40, 400))] + content[end:],
                content[:at] + draw.choice(NUMBERS).encode() + content[end:],
                content[:at] + draw.choice(MARKS) + content[at:],
                content[:at] + content[at : at + 1].swapcase() + content[at + 1 :],
            )
        )
    return content
