"""rigidc's own JSON: what a Description holds, one line per link, joint, frame and loop.

The layout is published as `robot.schema.json`, next to this file. Floats are written so that they read back
exactly; what equals its default is left out.
"""

from __future__ import annotations

import json
import math
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen.description.description import (
    GRAVITY,
    DescribedFrame,
    DescribedJoint,
    DescribedLoop,
    Description,
    Link,
)
from codegen.description.files import label, shortened, shown
from codegen.description.loops import canonical
from codegen.description.rotations import from_rpy
from codegen.errors import RobotError
from codegen.geometry import Inertia, Pose, mat3, vec3
from codegen.limits import DEEPEST, MOST_FRAMES, MOST_LINKS, MOST_LOOPS
from codegen.model import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMAT = "rigidc-robot-1"
SCHEMA = Path(__file__).with_name("robot.schema.json")
MOST_ERRORS = 100  # in which the one to be told is looked for
_BOUNDS = ("lower", "upper", "velocity", "effort")


def read(text: str, path: Path, *, trusted: bool = False) -> Description:
    """The description in a JSON text; `trusted` skips the schema. RobotError names the place in the file."""
    where = label(path)
    data = _parsed(text, where)
    if not trusted:
        _check_schema(data, where)
    return _description(data, path.stem if trusted else where)


def write_json(description: Description) -> str:
    """The JSON text of a description, which reads back to an equal one."""
    head: dict[str, Any] = {"format": FORMAT, "name": description.name}
    source = {
        key: getattr(description.source, key)
        for key in ("origin", "version", "licence")
        if getattr(description.source, key)
    }
    if source:
        head["source"] = source
    head["base"] = description.base
    head["gravity"] = list(description.gravity)
    if description.notes:
        head["notes"] = list(description.notes)
    blocks = [f'"{key}": {_text(value)}' for key, value in head.items()]
    blocks.append(_lines("links", map(_link_out, description.links)))
    blocks.append(_lines("joints", map(_joint_out, description.joints)))
    if description.frames:
        blocks.append(_lines("frames", map(_frame_out, description.frames)))
    if description.loops:
        loops = ({"name": x.name, "kind": x.kind} | json.loads(x.data) for x in description.loops)
        blocks.append(_lines("loops", loops))
    return "{\n " + ",\n ".join(blocks) + "\n}\n"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _lines(key: str, items: Iterable[dict[str, Any]]) -> str:
    rows = [f"  {_text(item)}" for item in items]
    return f'"{key}": [\n' + ",\n".join(rows) + "\n ]" if rows else f'"{key}": []'


def _link_out(link: Link) -> dict[str, Any]:
    inertia, out = link.inertia, {"name": link.name}
    if inertia == Inertia():
        return out
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.moment
    return out | {"mass": inertia.mass, "com": list(inertia.com), "inertia": [xx, xy, xz, yy, yz, zz]}


def _joint_out(joint: DescribedJoint) -> dict[str, Any]:
    out: dict[str, Any] = {
        "name": joint.name,
        "type": joint.type,
        "parent": joint.parent,
        "child": joint.child,
    }
    out |= _pose_out("placement", joint.placement)
    if joint.type not in ("fixed", "floating", "spherical"):
        out["axis"] = list(joint.axis)
    out |= {key: text for key, text in (("turn", joint.turn), ("slide", joint.slide)) if text}
    out |= _pose_out("attachment", joint.attachment)
    bounds = {key: getattr(joint, key) for key in _BOUNDS if math.isfinite(getattr(joint, key))}
    if bounds:
        out["limits"] = bounds
    out |= {"armature": joint.armature} if joint.armature else {}
    return out | _pose_out("home", joint.home)


def _frame_out(frame: DescribedFrame) -> dict[str, Any]:
    return {"name": frame.name, "link": frame.link} | _pose_out("placement", frame.placement)


def _pose_out(key: str, pose: Pose) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if pose.translation != Pose().translation:
        out["translation"] = list(pose.translation)
    if pose.rotation != Pose().rotation:
        out["rotation"] = [list(row) for row in pose.rotation]
    return {key: out} if out else {}


def _parsed(text: str, where: str) -> Any:
    def constant(name: str) -> float:
        raise RobotError(f"{where}: {name} is not a finite number; correct it")

    def finite(digits: str) -> float:
        value = float(digits)
        return value + 0.0 if math.isfinite(value) else constant(shown(digits))

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [key for key, _ in pairs]
            twice = next(key for key in names if names.count(key) > 1)
            raise RobotError(f"{where}: the key {shown(twice)} stands twice in one object; keep one")
        return found

    try:
        return json.loads(text, parse_constant=constant, object_pairs_hook=once, parse_int=finite, parse_float=finite)
    except RobotError:
        raise
    except RecursionError:
        raise RobotError(f"{where}: the JSON is nested too deeply to be a robot") from None
    except json.JSONDecodeError as error:
        raise RobotError(f"{where}: line {error.lineno}: the JSON is malformed ({error.msg})") from None


def _check_schema(data: Any, where: str) -> None:
    # Loading the validator takes longer than reading a bundled robot, which needs none.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    _check_size(data, where)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    error = best_match(islice(Draft202012Validator(schema).iter_errors(data), MOST_ERRORS))
    if error is not None:
        raise RobotError(f"{where}: {shortened(error.json_path)}: {shortened(error.message)}")


def _check_size(data: Any, where: str) -> None:
    """RobotError on what is too large or too deep to be looked at closely."""
    if isinstance(data, dict):
        for key, most in (
            ("links", MOST_LINKS),
            ("joints", MOST_LINKS),
            ("frames", MOST_FRAMES),
            ("loops", MOST_LOOPS),
        ):
            if isinstance(data.get(key), list) and len(data[key]) > most:
                raise RobotError(f"{where}: {len(data[key])} {key} are more than the {most} that rigidc takes")
    level = [data] if isinstance(data, dict | list) else []
    for _ in range(DEEPEST):
        inner = (part.values() if isinstance(part, dict) else part for part in level)
        level = [item for parts in inner for item in parts if isinstance(item, dict | list)]
        if not level:
            return
    raise RobotError(f"{where}: the JSON is nested more than {DEEPEST} deep; flatten it")


def _description(data: dict[str, Any], where: str) -> Description:
    return Description(
        name=data["name"],
        links=tuple(map(_link, data["links"])),
        joints=tuple(map(_joint, data.get("joints", ()))),
        frames=tuple(
            DescribedFrame(item["name"], item["link"], _pose(item.get("placement"))) for item in data.get("frames", ())
        ),
        loops=tuple(map(_loop, data.get("loops", ()))),
        base=data.get("base", "fixed"),
        gravity=vec3(data.get("gravity", GRAVITY)),
        source=Source(**data.get("source", {})),
        notes=tuple(data.get("notes", ())),
        where=where,
    )


def _link(item: dict[str, Any]) -> Link:
    xx, xy, xz, yy, yz, zz = item.get("inertia", (0.0,) * 6)
    moment = mat3((xx, xy, xz, xy, yy, yz, xz, yz, zz))
    return Link(item["name"], Inertia(float(item.get("mass", 0.0)), vec3(item.get("com", (0, 0, 0))), moment))


def _joint(item: dict[str, Any]) -> DescribedJoint:
    bounds = {key: float(value) for key, value in item.get("limits", {}).items()}
    return DescribedJoint(
        name=item["name"],
        type=item["type"],
        parent=item["parent"],
        child=item["child"],
        placement=_pose(item.get("placement")),
        axis=vec3(item.get("axis", (0.0, 0.0, 1.0))),
        turn=item.get("turn", ""),
        slide=item.get("slide", ""),
        attachment=_pose(item.get("attachment")),
        armature=float(item.get("armature", 0.0)),
        home=_pose(item.get("home")),
        **bounds,
    )


def _pose(item: dict[str, Any] | None) -> Pose:
    if not item:
        return Pose()
    translation = vec3(item.get("translation", (0.0, 0.0, 0.0)))
    if "rpy" in item:
        return Pose(from_rpy(*item["rpy"]), translation)
    return Pose(mat3(item.get("rotation", Pose().rotation)), translation)


def _loop(item: dict[str, Any]) -> DescribedLoop:
    data = {key: value for key, value in item.items() if key not in ("name", "kind")}
    return DescribedLoop(item["name"], item["kind"], canonical(data))
