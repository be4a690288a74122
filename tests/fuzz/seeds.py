"""The files that mutants are made of: small robots of every format that use all that the readers know."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from functools import cache

from robot_texts import mjcf, rare_urdf, urdf

from codegen.description import read, write_json


@dataclass(frozen=True, slots=True)
class Seed:
    """A robot file: its format by suffix, its text, and the files beside it."""

    name: str
    suffix: str
    text: str
    beside: dict[str, bytes] = field(default_factory=dict)
    share: float = 1.0  # how often it is taken, compared with others


def tetrahedron() -> bytes:
    """A binary STL file of four faces, 0.1 m wide."""
    corners = [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    parts = [struct.pack("<80xI", len(faces))]
    parts += [struct.pack("<12fH", 0.0, 0.0, 0.0, *(x for n in face for x in corners[n]), 0) for face in faces]
    return b"".join(parts)


PLUS = """<robot name="plus">
 <link name="base"/>
 <link name="crank"><inertial><mass value="1"/><origin xyz="0 0 .1"/>
  <inertia ixx=".02" iyy=".02" izz=".01"/></inertial></link>
 <link name="coupler"><inertial><mass value="1"/><inertia ixx=".02" iyy=".02" izz=".01"/></inertial></link>
 <link name="rocker"><inertial><mass value="1"/><inertia ixx=".02" iyy=".02" izz=".01" ixy="0.001"/></inertial></link>
 <link name="motor"><inertial><mass value=".2"/><inertia ixx=".001" iyy=".001" izz=".001"/></inertial></link>
 <joint name="q1" type="continuous"><parent link="base"/><child link="crank"/><axis xyz="0 1 0"/></joint>
 <joint name="q2" type="continuous" independent="false"><parent link="crank"/><child link="coupler"/>
  <origin xyz="0 0 .3"/><axis xyz="0 1 0"/></joint>
 <joint name="q3" type="continuous" independent="false"><parent link="base"/><child link="rocker"/>
  <origin xyz=".5 0 0" quat_xyzw="0 0 0 1"/><axis xyz="0 1 0"/></joint>
 <joint name="m" type="continuous" independent="false"><parent link="base"/><child link="motor"/>
  <axis xyz="0 1 0"/></joint>
 <loop name="close" type="revolute"><predecessor link="coupler"><origin xyz=".5 0 .1"/></predecessor>
  <successor link="rocker"><origin xyz="0 0 .4"/></successor><axis xyz="0 1 0"/></loop>
 <coupling name="gear"><predecessor link="crank"/><successor link="motor"/><ratio value="6"/></coupling>
</robot>
"""

MIMIC = """<?xml version="1.0"?>
<robot name="gripper" xmlns:xacro="http://www.ros.org/wiki/xacro">
 <material name="grey"><color rgba="1 1 1 1"/></material>
 <link name="palm"/><link name="left"><visual><geometry><box size="1 1 1"/></geometry></visual>
  <inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <link name="right"><inertial><origin xyz="0 0.01 0" rpy="0.1 0 0"/><mass value="0.1"/>
  <inertia ixx="1e-4" iyy="1e-4" izz="1e-4"/></inertial></link>
 <link name="tip"/>
 <joint name="slide" type="prismatic"><parent link="palm"/><child link="left"/><axis xyz="0 1 0"/>
  <limit lower="0" upper="0.04" effort="20" velocity="1"/><dynamics damping="0.1" friction="0"/></joint>
 <joint name="follow" type="prismatic"><parent link="palm"/><child link="right"/><axis xyz="0 -1 0"/>
  <limit lower="0" upper="0.04" effort="20" velocity="1"/><mimic joint="slide" multiplier="1.0" offset="0.01"/></joint>
 <joint name="weld" type="fixed"><parent link="right"/><child link="tip"/><origin xyz="0 0 0.1"/></joint>
 <transmission name="t"><joint name="slide"/></transmission>
</robot>
"""

GAITS = """<mujoco model="features">
 <compiler angle="radian" autolimits="true"/>
 <size nkey="1" nuserdata="2"/>
 <option gravity="0 0 -9.81" timestep="0.001"><flag contact="disable"/></option>
 <default><joint damping="0.1" armature="0.01"/><geom density="500"/>
  <default class="leg"><joint axis="0 1 0" range="-1 1"/><geom type="capsule" size="0.02"/></default></default>
 <asset><texture name="t" type="2d" builtin="flat" width="4" height="4"/><material name="k" texture="t"/>
  <hfield name="h" nrow="3" ncol="3" size="1 1 1 1"/></asset>
 <worldbody><light pos="0 0 3"/><geom type="plane" size="5 5 .1"/><geom type="hfield" hfield="h"/>
  <body name="trunk" pos="0 0 0.5"><freejoint name="root"/>
   <inertial pos="0 0 0.01" mass="5" fullinertia="0.2 0.25 0.3 0.01 0.02 0.03"/><site name="imu" pos="0.1 0 0"/>
   <body name="hip" pos="0.2 0 0" childclass="leg"><joint name="swing" type="ball" range="0 1"/>
    <geom fromto="0 0 0 0 0 -0.2"/>
    <body name="shank" pos="0 0 -0.2" axisangle="1 0 0 0.3"><joint name="knee" ref="0.1"/>
     <joint name="pole" type="slide" axis="0 0 1"/><geom fromto="0 0 0 0 0 -0.2" mass="0.3" material="k"/></body></body>
   <frame pos="0 0 0.1" euler="0.1 0.2 0.3"><body name="rod"><joint name="spin" axis="1 0 0"/>
    <geom type="box" size="0.1 0.02 0.03" quat="1 0.1 0 0"/></body></frame></body>
  <replicate count="3" offset="0 0.3 0" euler="0 0 0.1"><body name="post" zaxis="0 1 1"><joint/>
   <geom type="ellipsoid" size="0.1 0.2 0.3"/></body></replicate></worldbody>
 <actuator><motor joint="knee" gear="10"/></actuator><sensor><gyro site="imu"/></sensor>
 <keyframe><key name="stand" qpos="0"/></keyframe>
</mujoco>
"""

_LINKAGE = """<mujoco model="linkage"><compiler angle="radian"/><worldbody>
 <body name="crank"><joint name="q1" axis="0 1 0"/><geom type="capsule" size="0.02" fromto="0 0 0 0 0 0.3"/>
  <body name="coupler" pos="0 0 0.3"><joint name="q2" axis="0 1 0"/><site name="s" pos="0.5 0 0.1"/>
   <geom type="capsule" size="0.02" fromto="0 0 0 0.5 0 0.1"/></body></body>
 <body name="rocker" pos="0.5 0 0"><joint name="q3" axis="0 1 0"/><geom type="cylinder" size="0.02 0.2"/>
  <body name="tip" pos="0 0 0.4"><joint name="q4" axis="0 1 0" armature="0.02"/><geom size="0.01"/><site name="e"/>
  </body></body>
 <body name="fan"><joint name="f"/><geom size="0.1"/></body>
 <body name="cam"><joint name="c" ref="0.2"/><geom size="0.1"/></body>
 </worldbody><equality>{}<joint name="gear" joint1="f" joint2="c" polycoef="0.1 2 {} 0 0"/></equality></mujoco>
"""
CONNECT = _LINKAGE.format('<connect body1="coupler" body2="rocker" anchor="0.5 0 0.1"/>', "0")
WELD = _LINKAGE.format('<weld name="w" body1="coupler" body2="tip" relpose="0.5 0 0.1 1 0 0 0" anchor="0 0 0"/>', "0.5")
SITES = _LINKAGE.format('<weld site1="s" site2="e"/>', "0.1")

PARTS = """<mujoco model="parts"><compiler meshdir="meshes"/><asset><model name="m" file="arm.xml"/>
 <mesh name="t" file="t.stl" scale="1 1 2"/></asset><worldbody><include file="part.xml"/>
 <attach model="m" body="arm" prefix="left_"/>
 <body name="cover" pos="0 0 1"><joint name="lid" axis="0 1 0"/>
 <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="mesh" mesh="t"/></body></worldbody></mujoco>
"""
PART = b'<mujocoinclude><body name="stand"><joint name="turn"/><geom size="0.1"/></body></mujocoinclude>'
ARM = (
    b'<mujoco model="arm"><worldbody><body name="arm"><joint name="elbow"/><geom size="0.1" mass="2"/></body>'
    b"</worldbody></mujoco>"
)

EXPRESSIONS = """{
 "format": "rigidc-robot-1", "name": "formulas", "source": {"origin": "here", "licence": "MIT"}, "base": "fixed",
 "gravity": [0, 0, -9.81], "notes": ["A note."],
 "links": [{"name": "a"}, {"name": "b", "mass": 1, "com": [0.1, 0, 0], "inertia": [1, 0, 0, 1, 0, 1]},
  {"name": "c", "mass": 1, "inertia": [1, 0, 0, 1, 0, 1]}, {"name": "d", "mass": 1, "inertia": [1, 0, 0, 1, 0, 1]}],
 "joints": [{"name": "i", "type": "revolute", "parent": "a", "child": "b", "placement": {"rpy": [0.1, 0, 0]},
   "limits": {"lower": -1, "upper": 1, "velocity": 2, "effort": 3}, "armature": 0.1},
  {"name": "j", "type": "prismatic", "parent": "b", "child": "c", "axis": [0, 3, 4],
   "placement": {"rotation": [[0, -1, 0], [1, 0, 0], [0, 0, 1]], "translation": [0, 0, 1]}},
  {"name": "k", "type": "revolute", "parent": "a", "child": "d", "attachment": {"translation": [0, 0.1, 0]}}],
 "frames": [{"name": "tool", "link": "c", "placement": {"translation": [0, 0, 0.1]}}],
 "loops": [{"name": "x", "kind": "expression", "variables": {"p": "i", "q": "j"}, "explicit": {"j": "0.1*sin(p)^2"}},
  {"name": "y", "kind": "expression", "variables": {"p": "i", "r": "k"},
   "implicit": ["sin(r) - 0.3*cos(p) + atan2(p, 2)/9"], "independent": ["i"], "scale": [2]}]
}
"""
FREE = """{
 "format": "rigidc-robot-1", "name": "free", "base": "floating",
 "links": [{"name": "a", "mass": 2, "inertia": [1, 0.1, 0, 1, 0, 1]},
  {"name": "b", "mass": 1, "inertia": [1, 0, 0, 1, 0, 1]},
  {"name": "c", "mass": 1, "inertia": [1, 0, 0, 1, 0, 1]}, {"name": "d", "mass": 1, "inertia": [1, 0, 0, 1, 0, 1]}],
 "joints": [{"name": "p", "type": "planar", "parent": "a", "child": "b", "axis": [0, 1, 1]},
  {"name": "s", "type": "spherical", "parent": "b", "child": "c", "armature": 0.1},
  {"name": "f", "type": "floating", "parent": "a", "child": "d", "home": {"translation": [0, 0, 1]}}]
}
"""
_WRITTEN = (
    *("chain:2", "chain:3,alternate", "geared_chain:2", "belt_chain:2", "binary_tree:1", "random_tree:1,4"),
    *("random_tree:2,5", "four_bar", "six_bar", "planar_leg_linkage", "parallel_chain_explicit_d10_l8", "iiwa"),
)


@cache
def seeds() -> tuple[Seed, ...]:
    """All seeds, in an order that the numbers of mutants rely on."""
    beside = {"part.xml": PART, "arm.xml": ARM, "meshes/t.stl": tetrahedron()}
    texts = {
        "urdf": {"limbs": urdf(), "rare": rare_urdf(), "plus": PLUS, "mimic": MIMIC},
        "xml": {
            "fixed": mjcf(False),
            "floating": mjcf(True),
            "features": GAITS,
            "connect": CONNECT,
            "weld": WELD,
            "sites": SITES,
        },
        "json": {"expressions": EXPRESSIONS, "free": FREE} | {name: write_json(read(name)) for name in _WRITTEN},
    }
    written = [Seed(name, suffix, text) for suffix, group in texts.items() for name, text in group.items()]
    heavy = PARTS.replace('<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>', "")
    # Weighing meshes takes a process of its own, and so some time.
    return (*written, Seed("parts", "xml", PARTS, beside), Seed("heavy", "xml", heavy, beside, share=0.1))
