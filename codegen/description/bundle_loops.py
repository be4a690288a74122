"""The constraints of the clusters in the bundled robots' facts, as loops of a Description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codegen.description.description import DescribedLoop
from codegen.description.loops import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

# The constants of Tello's differentials (m); r1, r2 are rotor angles before a gearbox of ratio 6.
_HIP = (
    "0.0228*sin({y}) - 0.0098*cos(q3) {m} 0.01995*sin(q3) - 0.0128*cos({y})*cos(q4) - 0.0228*cos(q3)*sin(q4)"
    " {m} 0.0112*sin({y})*sin(q3) {p} 0.0112*sin(q3)*sin(q4) - 0.0128*cos(q3)*sin({y})*sin(q4) + 0.01888125"
)
HIP = (_HIP.format(y="r1/6", m="-", p="+"), _HIP.format(y="r2/6", m="+", p="-"))
KNEE_ANKLE = (
    "0.00336*cos((r1 - r2)/12 + 1979*pi/4500) - 0.0208*cos((r1 - r2)/12 + 493*pi/1500) - 0.02184*cos(pi/9)"
    " - 0.0028*sin((r1 - r2)/12 + q4 + 231*pi/500) + 0.0182*sin(q4 + 2*pi/15) - 0.00294*sin(q4 + pi/45)"
    " + 0.02613584",
    "q3 - (r1 + r2)/12",
)


def loops(bodies: Sequence[dict[str, Any]], clusters: Sequence[dict[str, Any]]) -> tuple[DescribedLoop, ...]:
    """One loop for each closure or coupling, and one for each of the other constraints."""
    names = [body["name"] for body in bodies]
    found: list[DescribedLoop] = []
    for cluster in clusters:
        stated = cluster["constraint"]
        if stated["kind"] != "none":
            members = [names[body] for body in cluster["bodies"]]
            found += _MAKERS[stated["kind"]](cluster["name"], members, stated)
    return tuple(found)


def _independent(members: Sequence[str], stated: dict[str, Any]) -> list[str]:
    return [members[i] for i in stated["independent"]]


def _gear(name: str, members: Sequence[str], stated: dict[str, Any]) -> list[DescribedLoop]:
    link, rotor, ratio = stated["link_body"], stated["rotor_body"], stated["gear_ratio"]
    data = {"independent": [link], "dependent": [rotor], "matrix": [[ratio]], "offset": [0.0]}
    return [DescribedLoop(name, "linear", canonical(data))]


def _belt(name: str, members: Sequence[str], stated: dict[str, Any]) -> list[DescribedLoop]:
    data = {
        "independent": [stated["link1_body"], stated["link2_body"]],
        "dependent": [stated["rotor1_body"], stated["rotor2_body"]],
        "matrix": [[stated["a11"], 0.0], [stated["a21"], stated["a22"]]],
        "offset": [0.0, 0.0],
    }
    return [DescribedLoop(name, "linear", canonical(data))]


def _coupling(name: str, members: Sequence[str], stated: dict[str, Any]) -> list[DescribedLoop]:
    return [
        DescribedLoop(
            f"{name}-{i}" if i else name,
            "coupling",
            canonical(
                {
                    "predecessor": item["predecessor_body"],
                    "successor": item["successor_body"],
                    "ratio": item["ratio"],
                    "independent": _independent(members, stated),
                }
            ),
        )
        for i, item in enumerate(stated["couplings"])
    ]


def _closure(name: str, members: Sequence[str], stated: dict[str, Any]) -> list[DescribedLoop]:
    return [
        DescribedLoop(
            f"{name}-{i}" if i else name,
            "closure",
            canonical(
                {
                    "type": "point",
                    "components": item["axes"],
                    "predecessor": {
                        "link": item["predecessor_body"],
                        "translation": item["predecessor_offset"],
                    },
                    "successor": {"link": item["successor_body"], "translation": item["successor_offset"]},
                    "independent": _independent(members, stated),
                }
            ),
        )
        for i, item in enumerate(stated["loops"])
    ]


def _differential(name: str, members: Sequence[str], stated: dict[str, Any]) -> list[DescribedLoop]:
    sides = {"r1": "rotor1_body", "r2": "rotor2_body", "q3": "link1_body", "q4": "link2_body"}
    data = {
        "variables": {variable: stated[body] for variable, body in sides.items()},
        "implicit": list(HIP if stated["kind"] == "tello_hip_differential" else KNEE_ANKLE),
        "independent": _independent(members, stated),
        "scale": stated["independent_scale"],
    }
    return [DescribedLoop(name, "expression", canonical(data))]


_MAKERS = {
    "gear": _gear,
    "belt_pair": _belt,
    "coupling": _coupling,
    "loop_closure": _closure,
    "tello_hip_differential": _differential,
    "tello_knee_ankle_differential": _differential,
}
