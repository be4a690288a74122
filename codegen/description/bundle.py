"""Makes the bundled robots from a folder of facts: `python -m codegen.description.bundle SOURCE_DIR`.

The folder holds `trees/*.urdf` (tree-structured robots) and one JSON file for each robot with loops, laid out
by bodies and clusters. Each robot is written to `robots/NAME.json` with its source, version and licence.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen.description import bundle_loops, urdf
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
    """A tree-structured robot: its URDF file in the source folder, its base, and where it comes from."""

    file: str
    base: Base
    source: Source


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
    path = folder / "trees" / f"{stated.file}.urdf"
    found = urdf.read(read_text(path), path)
    notes = found.notes
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
