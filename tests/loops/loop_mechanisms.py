"""Random mechanisms with loops: modules of joints that tie each other, hung anywhere on what is there already.

Nothing is aligned with anything: axes, placements, closing frames and inertias are generic. Modules hang on any
body, rotors and couplers of earlier modules too, so clusters branch; `_tie_gears` merges clusters of two modules.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
from mechanisms_cases import inertia, pose, unit

from codegen.description.assemble import assemble
from codegen.description.description import DescribedFrame, DescribedJoint, DescribedLoop, Description, Link
from codegen.description.loops import canonical
from codegen.geometry import Pose, vec3
from codegen.model import Convention, Model


class Builder:
    """A description that grows; `at` is where each link stands while all joints are at neutral."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.links = [Link("base", inertia(self.rng))]
        self.joints: list[DescribedJoint] = []
        self.loops: list[DescribedLoop] = []
        self.at = {"base": Pose()}

    def body(self, parent: str, kind: str = "revolute", axis: object = None, placement: Pose | None = None) -> str:
        """A link more, called bI like its joint jI is; its name."""
        name, placed = f"b{len(self.joints)}", placement or pose(self.rng)
        self.links.append(Link(name, inertia(self.rng)))
        direction = vec3(unit(self.rng) if axis is None else axis)
        joint = DescribedJoint(f"j{len(self.joints)}", kind, parent, name, placed, direction)
        self.joints.append(joint)
        self.at[name] = self.at[parent] @ placed
        return name

    def joint(self, link: str) -> str:
        """The joint that carries a link."""
        return link.replace("b", "j")

    def anywhere(self) -> str:
        """Some link."""
        return self.links[int(self.rng.integers(len(self.links)))].name

    def loop(self, kind: str, **data: object) -> None:
        """A loop more."""
        self.loops.append(DescribedLoop(f"loop{len(self.loops)}", kind, canonical(data)))

    def close(self, first: str, second: str, kind: str, **data: object) -> None:
        """A closure of two links, at a random place where both now are."""
        end = pose(self.rng)
        ends = {}
        for side, link, frame in (
            ("predecessor", first, end),
            ("successor", second, self.at[second].inverse() @ self.at[first] @ end),
        ):
            ends[side] = {"link": link, "translation": frame.translation, "rotation": frame.rotation}
        self.loop("closure", type=kind, **ends, **data)

    def model(self, name: str, base: str, convention: Convention) -> Model:
        """The finished model, with one frame off each body's origin."""
        frames = tuple(DescribedFrame(f"tool{n}", link.name, pose(self.rng)) for n, link in enumerate(self.links))
        stated = Description(name, tuple(self.links), tuple(self.joints), frames, tuple(self.loops), base=base)  # type: ignore[arg-type]
        return assemble(stated, convention=convention)


def gear(made: Builder) -> None:
    """A link and its rotor."""
    hub = made.anywhere()
    link, rotor = made.body(hub), made.body(hub)
    data = {"independent": [made.joint(link)], "dependent": [made.joint(rotor)], "matrix": [[6.0]], "offset": [0.3]}
    made.loop("linear", **data)


def belt(made: Builder) -> None:
    """Two links in a row, two rotors beside the first."""
    hub = made.anywhere()
    first, rotor1, rotor2 = made.body(hub), made.body(hub), made.body(hub)
    second = made.body(first)
    names = [made.joint(link) for link in (first, second, rotor1, rotor2)]
    made.loop("linear", independent=names[:2], dependent=names[2:], matrix=[[5.0, 0.0], [2.5, -5.0]])


def mimics(made: Builder) -> None:
    """Three joints in a row; the third follows the second, which follows the first, a slide."""
    first = made.body(made.anywhere(), "prismatic")
    second = made.body(first)
    third = made.body(second)
    names = [made.joint(link) for link in (first, second, third)]
    made.loop("linear", independent=[names[1]], dependent=[names[2]], matrix=[[-1.5]], offset=[0.2])
    made.loop("linear", independent=[names[0]], dependent=[names[1]], matrix=[[2.0]])


def coupling(made: Builder) -> None:
    """Two branches of two joints, the sums of whose angles are in proportion."""
    hub = made.anywhere()
    left = made.body(made.body(hub))
    right = made.body(made.body(hub))
    made.loop("coupling", predecessor=left, successor=right, ratio=-0.7)


def expression(made: Builder) -> None:
    """A joint that two others drive by a formula."""
    hub = made.anywhere()
    first, second = made.body(hub), made.body(hub, "prismatic")
    third = made.body(first)
    a, b, c = (made.joint(link) for link in (first, second, third))
    texts = {c: "-0.4*sin(2*x)^2 + y*cos(x)/(2 + x^2) - sqrt(1 + y^2)*atan2(y, 3) + exp(-x)*tan(0.1*pi)"}
    made.loop("expression", variables={"x": a, "y": b}, explicit=texts)


def four_bar(made: Builder) -> None:
    """Planar, in a skew plane: a hinge closes it, which holds more than it needs to."""
    hub, plane = made.anywhere(), pose(made.rng)
    crank = made.body(hub, axis=(0, 0, 1), placement=plane)
    coupler = made.body(crank, axis=(0, 0, 1), placement=Pose(translation=(0.1, 0.3, 0.05)))
    rocker = made.body(hub, axis=(0, 0, 1), placement=plane @ Pose(translation=(0.5, 0.0, 0.1)))
    end = Pose(translation=(0.4, 0.1, 0.0))
    other = made.at[rocker].inverse() @ made.at[coupler] @ end
    sides = {
        "predecessor": {"link": coupler, "translation": end.translation},
        "successor": {"link": rocker, "translation": other.translation},
    }
    made.loop("closure", type="hinge", axis=(0, 0, 1), **sides)


def spatial(made: Builder) -> None:
    """A weld that closes a ring with a ball joint, a slide and four hinges: one freedom is left, or two."""
    hub = made.anywhere()
    left = made.body(made.body(made.body(hub)), "spherical")
    right = made.body(made.body(hub, "prismatic"))
    if made.rng.random() < 0.5:
        right = made.body(right)
    made.close(left, right, "weld")


def point(made: Builder) -> None:
    """A point of a branch with four freedoms stays on one with two."""
    hub = made.anywhere()
    left = made.body(made.body(made.body(hub), "prismatic"))
    right = made.body(made.body(hub), "planar") if made.rng.random() < 0.5 else made.body(made.body(hub))
    made.close(left, right, "point")


def formula(made: Builder) -> None:
    """An implicit formula between three joints of two branches."""
    hub = made.anywhere()
    first, second = made.body(hub), made.body(hub)
    third = made.body(second)
    names = {v: made.joint(link) for v, link in zip("xyz", (first, second, third), strict=True)}
    made.loop(
        "expression",
        variables=names,
        implicit=["sin(x) + 0.3*cos(y)*z + 2*z - 0.1"],
        independent=[names["x"], names["y"]],
        scale=[3.0, -0.5],
    )


def _dependent(loop: DescribedLoop) -> list[str]:
    data = json.loads(loop.data)
    if loop.kind == "closure":
        return []
    return [*data.get("dependent", ()), *data.get("explicit", ()), *data.get("variables", {}).values()]


def plain(made: Builder) -> None:
    """A joint of any type that nothing ties."""
    made.body(made.anywhere(), str(made.rng.choice(["revolute", "prismatic", "spherical", "planar"])))


MODULES: tuple[Callable[[Builder], None], ...] = (
    gear,
    belt,
    mimics,
    coupling,
    expression,
    four_bar,
    spatial,
    point,
    formula,
    plain,
)


def mechanism(seed: int, modules: int = 5, *, base: str = "fixed", convention: Convention = "pinocchio") -> Model:
    """A random mechanism of so many modules."""
    made = Builder(seed)
    for n in range(modules):
        MODULES[int(made.rng.integers(len(MODULES)))](made)
        if n == modules // 2:
            _tie_gears(made)
    return made.model(f"loops_{seed}", base, convention)


def _tie_gears(made: Builder) -> None:
    """Tie the leaders of two gears or belts to each other, so that their clusters nest."""
    leaders = [json.loads(loop.data)["independent"][0] for loop in made.loops if loop.kind == "linear"]
    leaders = [name for name in dict.fromkeys(leaders) if not any(name in _dependent(loop) for loop in made.loops)]
    if len(leaders) >= 2:
        made.loop("linear", independent=[leaders[0]], dependent=[leaders[1]], matrix=[[0.8]], offset=[0.1])
