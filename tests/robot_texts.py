"""One robot as URDF and as MJCF, written by hand, and a URDF with the joints that MJCF has no word for."""

from __future__ import annotations

LINKS = {
    # name: mass, centre of mass, principal moments, roll pitch yaw of the principal axes
    "base": (4.0, (0.02, -0.01, 0.05), (0.05, 0.06, 0.07), (0.1, -0.2, 0.3)),
    "upper": (2.5, (0.1, 0.02, -0.03), (0.02, 0.03, 0.04), (0.4, 0.5, -0.6)),
    "fore": (1.5, (-0.05, 0.1, 0.2), (0.012, 0.011, 0.01), (0.0, 0.7, 0.2)),
    "slider": (0.7, (0.0, 0.0, 0.1), (0.004, 0.005, 0.006), (0.0, 0.0, 0.0)),
    "gripper": (0.4, (0.03, 0.01, 0.02), (0.001, 0.0012, 0.0014), (-0.3, 0.2, 0.1)),
    "wing": (1.1, (0.2, -0.1, 0.05), (0.01, 0.02, 0.025), (1.0, 0.3, -0.8)),
}
JOINTS = (
    # name, URDF type, parent, child, origin, roll pitch yaw, axis
    ("zeta_shoulder", "revolute", "base", "upper", (0.1, 0.2, 0.3), (0.3, -0.4, 0.5), (0.6, 0.0, 0.8)),
    ("alpha_elbow", "continuous", "upper", "fore", (0.4, 0.0, -0.1), (0.0, 1.2, 0.0), (0.0, -1.0, 0.0)),
    ("middle_slide", "prismatic", "fore", "slider", (0.0, 0.3, 0.0), (1.5, 0.0, -0.7), (0.48, 0.6, 0.64)),
    ("grip_weld", "fixed", "slider", "gripper", (0.05, -0.02, 0.1), (-0.5, 0.6, 0.7), None),
    ("aft_wing", "revolute", "base", "wing", (-0.2, 0.0, 0.1), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
)
TOOL = ("tip", "gripper", (0.01, 0.02, 0.12), (0.2, 0.3, -0.4))


def numbers(values: tuple[float, ...]) -> str:
    return " ".join(map(repr, values))


def urdf() -> str:
    """The robot as URDF; its root link is `base`, and `tip` is a massless link at the tool."""
    links = "".join(_urdf_link(name, *values) for name, values in LINKS.items())
    joints = "".join(_urdf_joint(*values) for values in JOINTS)
    name, carrier, place, turn = TOOL
    return (
        f'<robot name="two_limbs">{links}{joints}<link name="{name}"/>'
        + _urdf_joint("tip_weld", "fixed", carrier, name, place, turn, None)
        + "</robot>"
    )


def _urdf_link(name, mass, com, moments, turn) -> str:
    xx, yy, zz = moments
    return (
        f'<link name="{name}"><inertial><origin xyz="{numbers(com)}" rpy="{numbers(turn)}"/>'
        f'<mass value="{mass}"/>'
        f'<inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/></inertial></link>'
    )


def _urdf_joint(name, kind, parent, child, place, turn, axis) -> str:
    limits = '<limit lower="-2" upper="2" effort="50" velocity="5"/>' if kind in ("revolute", "prismatic") else ""
    axis = f'<axis xyz="{numbers(axis)}"/>' if axis else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{numbers(place)}" rpy="{numbers(turn)}"/>{axis}{limits}</joint>'
    )


def mjcf(floating: bool) -> str:
    """The same robot as MJCF, with MuJoCo's degrees, defaults and fixed-axis Euler angles in use."""
    root = '<freejoint name="root"/>' if floating else ""
    return (
        '<mujoco model="two_limbs"><compiler angle="radian" eulerseq="XYZ"/>'
        '<default><joint type="hinge"/><default class="rail"><joint type="slide"/></default></default>'
        f"<worldbody>{_mjcf_body('base', root)}</worldbody></mujoco>"
    )


def _mjcf_body(name: str, joint: str, place: str = "") -> str:
    mass, com, moments, turn = LINKS[name]
    placement = f'pos="{numbers(com)}" euler="{numbers(turn)}"'
    inertial = f'<inertial {placement} mass="{mass}" diaginertia="{numbers(moments)}"/>'
    children = "".join(_mjcf_child(*values) for values in JOINTS if values[2] == name)
    tool, carrier, at, about = TOOL
    site = f'<site name="{tool}" pos="{numbers(at)}" euler="{numbers(about)}"/>' if carrier == name else ""
    return f'<body name="{name}" {place}>{inertial}{joint}{site}{children}</body>'


def _mjcf_child(name, kind, parent, child, place, turn, axis) -> str:
    joint = ""
    if kind != "fixed":
        rail = 'class="rail"' if kind == "prismatic" else ""
        limits = "" if kind == "continuous" else 'range="-2 2"'
        joint = f'<joint name="{name}" {rail} axis="{numbers(axis)}" {limits}/>'
    return _mjcf_body(child, joint, f'pos="{numbers(place)}" euler="{numbers(turn)}"')


def rare_urdf() -> str:
    """A URDF with a planar and a floating joint inside the tree, a link without inertia, missing origins."""
    base, drifting, gliding = (_urdf_link(name, *LINKS[name]) for name in ("base", "upper", "fore"))
    return (
        f'<robot name="rare">{base}{drifting}{gliding}<link name="hub"/>{_urdf_link("hand", *LINKS["wing"])}'
        + _urdf_joint("plane", "planar", "base", "fore", (0.1, 0.2, 0.3), (0.3, 0.2, 0.1), (0.0, 0.0, 1.0))
        + '<joint name="plain" type="continuous"><parent link="fore"/><child link="hub"/></joint>'
        + _urdf_joint("wrist", "revolute", "hub", "hand", (0.0, 0.0, 0.3), (0.0, 0.9, 0.0), (0.0, 0.6, -0.8))
        + _urdf_joint("free", "floating", "hub", "upper", (0.4, 0.1, 0.0), (0.0, 0.4, 0.2), None)
        + "</robot>"
    )
