"""MuJoCo's equality constraints between joints and bodies, as loops of a Description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codegen.description.description import DescribedLoop
from codegen.description.files import fresh
from codegen.description.loops import canonical
from codegen.description.rotations import from_wxyz
from codegen.geometry import Pose, vec3

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONNECT, _WELD, _JOINT = 0, 1, 2
_SITE = 6
"""MuJoCo's object type of a site."""
_KINDS = ("connect", "weld", "equality", "equality")
_TIED = ("body", "body", "joint", "tendon")
"""What equalities of MuJoCo's first types are called, and what they tie; the others tie the parts of a flex."""


def described(kind: int, objects: int, names: Sequence[str]) -> str:
    """An equality by what it ties, of MuJoCo's types by number."""
    word, thing = (_KINDS[kind], _TIED[kind]) if kind < len(_KINDS) else ("equality", "flex")
    thing = "site" if objects == _SITE else thing
    several = {"body": "bodies", "flex": "flexes"}.get(thing, f"{thing}s")
    return f"{word} of {several if len(names) > 1 else thing} {' and '.join(names)}"


def loops(model: Any, bodies: Sequence[str], joints: Sequence[str]) -> tuple[DescribedLoop, ...]:
    """Joint equalities as linear loops (or expressions), connect and weld as closures."""
    found: list[DescribedLoop] = []
    taken = {model.equality(i).name for i in range(model.neq)}
    for i in range(model.neq):
        name = model.equality(i).name or fresh(taken, _by_what_it_ties(model, i, bodies, joints))
        taken.add(name)
        if int(model.eq_type[i]) in (_CONNECT, _WELD):
            found.append(DescribedLoop(name, "closure", canonical(_closure(model, i, bodies))))
        else:
            found.append(_joint_equality(model, i, name, joints))
    return tuple(found)


def _by_what_it_ties(model: Any, i: int, bodies: Sequence[str], joints: Sequence[str]) -> str:
    """A name for a compiled equality that has none."""
    kind, objects = int(model.eq_type[i]), int(model.eq_objtype[i])
    names = joints if kind == _JOINT else bodies
    if objects == _SITE:
        names = [model.site(site).name for site in range(model.nsite)]
    ids = (int(model.eq_obj1id[i]), int(model.eq_obj2id[i]))
    return described(kind, objects, [names[number] for number in ids if number >= 0])


def _joint_equality(model: Any, i: int, name: str, joints: Sequence[str]) -> DescribedLoop:
    """q1 - ref1 = polynomial in (q2 - ref2), in MuJoCo's coordinates."""
    first, second = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    terms = [float(x) for x in model.eq_data[i][:5]]
    ref1 = float(model.qpos0[model.jnt_qposadr[first]])
    if second < 0:
        data = {"independent": [], "dependent": [joints[first]], "matrix": [[]], "offset": [ref1 + terms[0]]}
        return DescribedLoop(name, "linear", canonical(data))
    ref2 = float(model.qpos0[model.jnt_qposadr[second]])
    if any(terms[2:]):
        powers = " + ".join(f"({term!r})*(q2 - ({ref2!r}))^{k}" for k, term in enumerate(terms) if term)
        expression = {
            "variables": {"q1": joints[first], "q2": joints[second]},
            "explicit": {joints[first]: f"({ref1!r}) + {powers}"},
            "independent": [joints[second]],
        }
        return DescribedLoop(name, "expression", canonical(expression))
    data = {
        "independent": [joints[second]],
        "dependent": [joints[first]],
        "matrix": [[terms[1]]],
        "offset": [ref1 + terms[0] - terms[1] * ref2],
    }
    return DescribedLoop(name, "linear", canonical(data))


def _closure(model: Any, i: int, bodies: Sequence[str]) -> dict[str, Any]:
    ids = (int(model.eq_obj1id[i]), int(model.eq_obj2id[i]))
    welded = int(model.eq_type[i]) == _WELD
    kind = {"type": "weld" if welded else "point"}
    if int(model.eq_objtype[i]) == _SITE:
        links = [bodies[model.site_bodyid[site]] for site in ids]
        poses = [Pose(from_wxyz(model.site_quat[site]), vec3(model.site_pos[site])) for site in ids]
    else:
        links = [bodies[body] for body in ids]
        poses = _weld_frames(model.eq_data[i]) if welded else _points(model.eq_data[i])
    sides = ("predecessor", "successor")
    return kind | {side: _end(link, pose, turned=welded) for side, link, pose in zip(sides, links, poses, strict=True)}


def _points(data: Any) -> list[Pose]:
    return [Pose(translation=vec3(data[:3])), Pose(translation=vec3(data[3:6]))]


def _weld_frames(data: Any) -> list[Pose]:
    """The anchor on the second body, and the same place as the relative pose puts it on the first."""
    relative = Pose(from_wxyz(data[6:10]), vec3(data[3:6]))
    anchor = Pose(translation=vec3(data[:3]))
    return [relative @ anchor, anchor]


def _end(link: str, pose: Pose, *, turned: bool) -> dict[str, Any]:
    out: dict[str, Any] = {"link": link, "translation": list(pose.translation)}
    if turned and pose.rotation != Pose().rotation:
        out["rotation"] = [list(row) for row in pose.rotation]
    return out
