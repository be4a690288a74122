"""What the tests of the command line share: the type of the fixture `rigidc`, and a URDF to bend and break."""

from __future__ import annotations

from collections.abc import Callable

Run = Callable[..., str]

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
    <inertia ixx="0.03" iyy="0.04" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="3"/></joint>
</robot>
"""
