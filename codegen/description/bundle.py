"""Makes the bundled robots from a folder of facts: `python -m codegen.description.bundle SOURCE_DIR`.

The folder holds `trees/*.urdf` (tree-structured robots; rigidc JSON of robots that were put together or converted) and
one JSON file for each other robot with loops, laid out by bodies and clusters. Each robot is written to
`robots/NAME.json` with its source, version and licence.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen.description import bundle_loops, json_format, urdf
from codegen.description.description import DescribedFrame, DescribedJoint, Description, Link
from codegen.description.files import read_text
from codegen.description.json_format import write_json
from codegen.geometry import Inertia, Pose, mat3, vec3
from codegen.model import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.description.description import Base

ROBOTS = Path(__file__).with_name("robots")


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree-structured robot: its file in the source folder, its base, where it comes from, and notes.

    Joints that a URDF ties move by themselves here; loops of rigidc JSON stay.
    """

    file: str
    base: Base
    source: Source
    notes: tuple[str, ...] = ()


_DATA = "PyPI example-robot-data, "
TREES = {
    "iiwa": Tree("iiwa7_r820", "fixed", Source("PyPI pybullet, kuka_iiwa/model.urdf", "3.2.7", "BSD-2-Clause")),
    "panda": Tree("panda", "fixed", Source(_DATA + "panda_description", "6.0.0", "Apache-2.0")),
    "solo12": Tree("solo12", "floating", Source(_DATA + "solo_description", "6.0.0", "BSD-3-Clause")),
    "go1": Tree("go1", "floating", Source(_DATA + "go1_description", "6.0.0", "MPL-2.0")),
    "talos": Tree("talos_full_v2", "floating", Source(_DATA + "talos_data", "6.0.0", "Apache-2.0")),
    "talos_reduced": Tree("talos_reduced", "floating", Source(_DATA + "talos_data", "6.0.0", "Apache-2.0")),
    "atlas": Tree("atlas_v4", "floating", Source("openai/roboschool, atlas_description", "", "MIT")),
    "atlas_shadow": Tree(
        "atlas_shadow",
        "floating",
        Source(
            "openai/roboschool, atlas_description, with a hand of PyPI gymnasium-robotics on each wrist "
            "(the left one mirrored)",
            "gymnasium-robotics 1.4.2",
            "MIT and Apache-2.0",
        ),
    ),
    "atlas_one_hand": Tree(
        "atlas_one_hand.json",
        "floating",
        Source(
            "openai/roboschool, atlas_description, with a hand of PyPI gymnasium-robotics, mirrored, on the left wrist",
            "gymnasium-robotics 1.4.2",
            "MIT and Apache-2.0",
        ),
    ),
    "shadow_hand": Tree(
        "shadow_hand.json",
        "fixed",
        Source("PyPI gymnasium-robotics, assets/hand", "1.4.2", "Apache-2.0"),
        ("The forearm is fixed to the world.",),
    ),
    "solo8": Tree("solo8", "floating", Source(_DATA + "solo_description", "6.0.0", "BSD-3-Clause")),
    "anymal_b": Tree("anymal_b", "floating", Source(_DATA + "anymal_b_simple_description", "6.0.0", "BSD-3-Clause")),
    "icub": Tree(
        "icub",
        "floating",
        Source(_DATA + "icub_description", "6.0.0", "CC-BY-SA-4.0"),
        ("Moments of inertia below 1e-30 kg m^2 are zeros here.",),
    ),
    "cassie": Tree(
        "cassie.json",
        "floating",
        Source(_DATA + "cassie_description, cassie_v2.sdf", "6.0.0", "ISC"),
        (
            "Springs are joints without stiffness or damping.",
            "Achilles rods turn about two axes at the hip and are held by points at the heel springs, plantar rods by "
            "points on the feet.",
            "Angles within 1e-4 rad of multiples of 45 degrees are these.",
        ),
    ),
}
LINKED = (
    "chain12_belt",
    "chain12_geared",
    "four_bar",
    "four_bar_branch_2_5",
    "jvrc1",
    "mini_cheetah",
    "mit_humanoid",
    "parallel_chain_explicit_d10_l8",
    "parallel_chain_implicit_d5_l7",
    "planar_leg_linkage",
    "six_bar",
    "tello_humanoid",
)


def tree(folder: Path, name: str) -> Description:
    """A tree-structured robot; joints that mimic others in the file move by themselves here, with a note."""
    stated = TREES[name]
    if stated.file.endswith(".json"):
        path = folder / "trees" / stated.file
        made = json_format.read(read_text(path), path)
        return replace(made, name=name, base=stated.base, source=stated.source, notes=stated.notes)
    path = folder / "trees" / f"{stated.file}.urdf"
    found = urdf.read(read_text(path), path)
    notes = (*found.notes, *stated.notes)
    if found.loops:
        names = ", ".join(loop.name for loop in found.loops)
        notes = (*notes, f"Joints that mimic others in the source move by themselves here: {names}.")
    return replace(found, name=name, base=stated.base, source=stated.source, loops=(), notes=notes)


def linked(folder: Path, name: str) -> Description:
    """A robot with loops, from its bodies, clusters and contact points."""
    data = json.loads(read_text(folder / f"{name}.json"))
    bodies: list[dict[str, Any]] = data["bodies"]
    floating = data["floating_base"]
    links = [] if floating else [Link("ground")]
    source = data["source"]
    tips = [point["name"] for point in data["contact_points"] if point["benchmark_end_effector"]]
    return Description(
        name=name,
        links=(*links, *map(_link, bodies)),
        joints=tuple(_joint(body) for body in bodies if body["joint"]["type"] != "free"),
        frames=tuple(
            DescribedFrame(point["name"], point["body"], Pose(translation=vec3(point["offset"])))
            for point in data["contact_points"]
        ),
        loops=bundle_loops.loops(bodies, data["clusters"]),
        base="floating" if floating else "fixed",
        gravity=vec3(data["gravity"]),
        source=Source(f"{source['repository']}, {source['files']}", source["commit"], source["licence"].split(" (")[0]),
        notes=(data["description"], f"Benchmark end effectors of the source: {', '.join(tips)}.")
        if tips
        else (data["description"],),
    )


def _link(body: dict[str, Any]) -> Link:
    return Link(body["name"], Inertia(float(body["mass"]), vec3(body["com"]), mat3(body["inertia"])))


def _joint(body: dict[str, Any]) -> DescribedJoint:
    place = body["placement"]
    return DescribedJoint(
        name=body["name"],
        type=body["joint"]["type"],
        parent=body["parent"],
        child=body["name"],
        placement=Pose(mat3(place["rotation"]), vec3(place["translation"])),
        axis=vec3(body["joint"]["axis"]),
    )


def texts(folder: Path) -> dict[str, str]:
    """The JSON text of every bundled robot, by name."""
    found = {name: write_json(tree(folder, name)) for name in TREES}
    return found | {name: write_json(linked(folder, name)) for name in LINKED}


def main(arguments: Sequence[str]) -> int:
    """Write all bundled robots; 2 if the folder is not named."""
    if len(arguments) != 1:
        print("usage: python -m codegen.description.bundle SOURCE_DIR", file=sys.stderr)
        return 2
    for name, text in texts(Path(arguments[0])).items():
        (ROBOTS / f"{name}.json").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
