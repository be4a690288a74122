"""Random mechanisms with loops: modules of joints that tie each other, hung anywhere on what is there already.

Nothing is aligned with anything: axes, placements, closing frames and inertias are generic. Modules hang on any
body, rotors and couplers of earlier modules too, so clusters branch; `_tie_gears` merges clusters of two modules.
`anything` is less kind: joints of every type in loops, several loops in a node, bodies along each other's axes, bodies
without mass, gravity along no axis.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from mechanisms_cases import inertia, pose, unit

from codegen.description.description import DescribedFrame, DescribedJoint, DescribedLoop, Description, Link
from codegen.description.loops import canonical
from codegen.geometry import Inertia, Pose, mat3, vec3
from codegen.model import Convention, Model
from codegen.robot import Robot


class Builder:
    """A description that grows; `at` is where each link stands while all joints are at neutral.

    `armature` is the probability that a joint has any, `along` that a body is placed along axes of the one before.
    """

    def __init__(self, seed: int | list[int], armature: float = 0.0, along: float = 0.0) -> None:
        self.rng, self.rotors = np.random.default_rng(seed), np.random.default_rng([*np.atleast_1d(seed), 1])
        self.armature, self.along = armature, along
        self.links = [Link("base", inertia(self.rng))]
        self.joints: list[DescribedJoint] = []
        self.loops: list[DescribedLoop] = []
        self.at = {"base": Pose()}

    def body(self, parent: str, kind: str = "revolute", axis: object = None, placement: Pose | None = None) -> str:
        """A link more, called bI like its joint jI is; its name."""
        aligned = placement is None and self.rotors.random() < self.along
        name = f"b{len(self.joints)}"
        placed = along_axes(self.rng) if aligned else placement or pose(self.rng)
        self.links.append(Link(name, plain_inertia(self.rng) if aligned else inertia(self.rng)))
        if aligned and axis is None:
            axis = self.rng.choice([-1.0, 1.0]) * np.eye(3)[self.rng.integers(3)]
        direction = vec3(unit(self.rng) if axis is None else axis)
        rotor = float(self.rotors.uniform(0.02, 0.3)) if self.rotors.random() < self.armature else 0.0
        joint = DescribedJoint(f"j{len(self.joints)}", kind, parent, name, placed, direction, armature=rotor)
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

    def description(self, name: str, base: str) -> Description:
        """All that is there, with one frame off each body's origin."""
        frames = tuple(DescribedFrame(f"tool{n}", link.name, pose(self.rng)) for n, link in enumerate(self.links))
        return Description(name, tuple(self.links), tuple(self.joints), frames, tuple(self.loops), base=base)  # type: ignore[arg-type]

    def model(self, name: str, base: str, convention: Convention) -> Model:
        """The finished model."""
        return Robot.assembled(self.description(name, base), convention=convention)


def along_axes(rng: np.random.Generator) -> Pose:
    """A placement that is turned by right angles, some of its offsets nothing."""
    turn = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)
    turn[0] *= np.linalg.det(turn)
    return Pose(mat3(turn), vec3(rng.uniform(-0.5, 0.5, 3) * (rng.random(3) < 0.4)))


def plain_inertia(rng: np.random.Generator) -> Inertia:
    """Principal axes that are the body's, the centre of mass on one of them; now and then a body without mass."""
    if rng.random() < 0.1:
        return Inertia()
    masses, com = rng.uniform(0.02, 0.1, 3), rng.uniform(-0.2, 0.2) * np.eye(3)[rng.integers(3)]
    return Inertia(float(rng.uniform(0.5, 3.0)), vec3(com), mat3(np.diag(masses.sum() - masses)))


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


FREEDOMS = {"revolute": 1, "prismatic": 1, "spherical": 3, "planar": 3}


def chain(made: Builder, hub: str, joints: int) -> tuple[str, int]:
    """So many joints of any types in a row; the last link, and the freedoms of all."""
    kinds = [str(made.rng.choice(list(FREEDOMS), p=(0.6, 0.2, 0.1, 0.1))) for _ in range(joints)]
    for kind in kinds:
        hub = made.body(hub, kind)
    return hub, sum(FREEDOMS[kind] for kind in kinds)


def ring(made: Builder) -> None:
    """Two branches of any joints, or one branch and what carries it, closed in any way that leaves freedoms."""
    hub = made.anywhere()
    left, freedoms = chain(made, hub, int(made.rng.integers(2, 5)))
    right, others = chain(made, hub, int(made.rng.integers(0, 3)))
    _closed_somehow(made, left, right, freedoms + others)


def chorded(made: Builder) -> None:
    """A ring across which another branch is tied: two closures in one node."""
    hub = made.anywhere()
    middle, inner = chain(made, hub, 2)
    left, outer = chain(made, middle, 2)
    right, across = chain(made, hub, 3)
    _closed_somehow(made, middle, right, inner + across - 1)
    other, more = chain(made, hub, 2)
    _closed_somehow(made, left, other, outer + more)


def pinned(made: Builder) -> None:
    """A body that floats, and a leg of it that is pinned to what it floats in."""
    hub = made.anywhere()
    root = made.body(hub, "floating")
    foot, _ = chain(made, root, 3)
    made.close(foot, hub, "point", components=sorted(made.rng.permutation(3)[:2].tolist()))


def loose(made: Builder) -> None:
    """A joint of any type that nothing ties, with another beyond."""
    first = made.body(made.anywhere(), str(made.rng.choice([*FREEDOMS, "floating"])))
    made.body(first, str(made.rng.choice([*FREEDOMS])))


def parallel(made: Builder) -> None:
    """Three hinges whose axes are parallel."""
    link = made.body(made.anywhere(), axis=(0, 0, 1))
    for _ in range(2):
        link = made.body(link, axis=(0, 0, 1), placement=Pose(translation=vec3(made.rng.uniform(-0.5, 0.5, 3))))


def _closed_somehow(made: Builder, left: str, right: str, freedoms: int) -> None:
    """A closure that leaves at least one of so many freedoms."""
    choices = [("hinge", 5), ("weld", 6), ("point", 3), ("point", 3), ("point", 2), ("point", 1)]
    choices = [choice for choice in choices if choice[1] < freedoms]
    kind, rows = choices[int(made.rng.integers(len(choices)))]
    data = {"components": sorted(made.rng.permutation(3)[:rows].tolist())} if rows < 3 else {}
    made.close(left, right, kind, **data, **({"axis": vec3(unit(made.rng))} if kind == "hinge" else {}))


WIDE = (*MODULES, ring, ring, chorded, pinned, loose, parallel)


def anything(seed: int, modules: int, trial: int = 0) -> tuple[Description, Convention]:
    """A random mechanism of so many modules from a much wider family, and a convention; `trial` draws another one.

    It may be one that nobody can use, as loops that leave nothing to move are: `assemble` then refuses it.
    """
    made = Builder([seed, trial], armature=0.5)
    made.along = float(made.rng.choice([0.0, 0.0, 0.5, 1.0]))
    for _ in range(modules):
        WIDE[int(made.rng.integers(len(WIDE)))](made)
    _tie_gears(made)
    stated = made.description(f"soak_{seed}", str(made.rng.choice(["fixed", "floating"])))
    gravity = vec3(made.rng.uniform(-10.0, 10.0, 3)) if made.rng.random() < 0.5 else stated.gravity
    return replace(stated, gravity=gravity), "pinocchio" if made.rng.random() < 0.5 else "mujoco"


def mechanism(seed: int, modules: int = 5, *, base: str = "fixed", convention: Convention = "pinocchio") -> Model:
    """A random mechanism of so many modules, every other joint with armature."""
    made = Builder(seed, armature=0.5)
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
