"""Broken and hostile files: each gives one sentence that names the file, or loads; never anything else."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from refusals import sentence
from thorough import besides
from work import calls

from codegen.errors import RobotError
from codegen.robot import load

if TYPE_CHECKING:
    from pathlib import Path

GOOD = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def robot(inner: str) -> str:
    return f'<robot name="r">{inner}</robot>'


def link(name: str, inner: str = "") -> str:
    return f'<link name="{name}">{inner}</link>'


def joint(name: str = "j", parent: str = "a", child: str = "b", inner: str = "", kind: str = "revolute") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>'


XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
AB = link("a") + link("b", GOOD)


def inertial(mass: str, ixx: str = "1", ixy: str = "0") -> str:
    return (
        f'<inertial><mass value="{mass}"/><inertia ixx="{ixx}" iyy="1" izz="1" ixy="{ixy}" ixz="0" iyz="0"/></inertial>'
    )


BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>' + robot(link("a") + "&c;")
)
BAD_URDF = {
    # case: the text, and what the sentence must say
    "empty": ("", "malformed"),
    "blank": ("  \n ", "malformed"),
    "truncated": (robot(AB)[:-9], "line 1"),
    "truncated late": ("<robot>\n<link name='a'/>\n<link", "line 3"),
    "not xml": ("robot: r", "malformed"),
    "other root": ("<sdf/>", "neither <robot>"),
    "entity bomb": (BOMB, "DOCTYPE"),
    "doctype after a comment": (f"<!-- x -->\n{BOMB}", "DOCTYPE"),
    "external entity": (f'<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>{robot("&e;")}', "DOCTYPE"),
    "undefined entity": (robot("&nothing;"), "malformed"),
    "no links": (robot(""), "no links"),
    "macro of xacro": (
        f'<robot name="r" {XACRO}>\n{link("a")}<link name="b"><xacro:box m="1"/></link></robot>',
        "line 2: <xacro:box> is a macro of xacro; expand the file first: xacro FILE > FILE.urdf",
    ),
    "macro under another prefix": (
        f'<robot {XACRO.replace(":xacro", ":x")}>{link("a")}<x:if value="1"/></robot>',
        "<x:if>",
    ),
    "macro without its namespace": (robot(link("a") + "<xacro:box/>"), "malformed .*expand the file first"),
    "substituted link": (robot(link("${side}_arm")), r"<link> has '\${side}_arm', a substitution of xacro; expand"),
    "substituted parent": (robot(AB + joint(parent="$(arg root)")), r"<parent> has '\$\(arg root\)'"),
    "substituted mass": (robot(link("a", inertial("${m}"))), r"<mass> has '\${m}'"),
    "two roots": (robot(AB), "2 root links, 'a', 'b'"),
    "cycle": (robot(AB + link("c") + joint() + joint("k", "b", "c") + joint("l", "c", "b")), "child of two"),
    "closed cycle": (robot(AB + link("c") + joint() + joint("k", "b", "a")), "cycle"),
    "self": (robot(AB + joint() + joint("k", "a", "a")), "no links|cycle|root"),
    "unknown parent": (robot(AB + joint(parent="zz")), "unknown parent link 'zz'"),
    "unknown child": (robot(AB + joint(child="zz")), "unknown child link 'zz'"),
    "two parents": (
        robot(AB + link("c") + joint() + joint("k", "c", "b")),
        "child of two joints, 'j' and 'k'",
    ),
    "same links": (robot(AB + link("b")), "2 links are called 'b'"),
    "same joints": (robot(AB + link("c") + joint() + joint(child="c")), "2 joints are called 'j'"),
    "nameless link": (robot("<link/>"), "<link> has no name"),
    "empty name": (robot(link("")), "empty name"),
    "newline in a name": (robot(link("a&#10;b")), r"'a\\nb' has unprintable"),
    "bell in a robot's name": ('<robot name="a&#9;b"><link name="a"/></robot>', "unprintable"),
    "unknown type": (robot(AB + joint(kind="screw")), "unknown type 'screw'"),
    "no type": (robot(AB + '<joint name="j"><parent link="a"/><child link="b"/></joint>'), "'type'"),
    "no parent": (robot(AB + '<joint name="j" type="fixed"><child link="b"/></joint>'), "no <parent>"),
    "two origins": (robot(AB + joint(inner="<origin/><origin/>")), "2 <origin>"),
    "two rotations": (robot(AB + joint(inner='<origin rpy="1 0 0" quat_xyzw="0 0 0 1"/>')), "both rpy and quat_xyzw"),
    "short quaternion": (robot(AB + joint(inner='<origin quat_xyzw="0 0 1"/>')), "must be 4 numbers"),
    "zero quaternion": (robot(AB + joint(inner='<origin quat_xyzw="0 0 0 0"/>')), "has the length 0; make it one"),
    "zero axis": (robot(AB + joint(inner='<axis xyz="0 0 0"/>')), "zero axis"),
    "two axes": (
        robot(AB + joint(inner='<axis xyz="1 0 0"/>\n<axis xyz="0 1 0"/>')),
        "joint 'j' has 2 <axis> elements; keep one: line 1 has xyz='1 0 0', line 2 has xyz='0 1 0'",
    ),
    "huge inertial that is turned": (
        robot(link("a", inertial("1").replace("<mass", '<origin rpy="1 0 0" xyz="1e308 0 0"/><mass'))),
        "'1e308' is beyond 1e.12; correct it",
    ),
    "deep": (robot(link("a") + "<x>" * 300 + "</x>" * 300), "nested more than 256 deep"),
    "long name": (robot(link("a" * 3000)), "link name 'aaa.*aaa' is longer than 256 characters"),
    "long value": (robot(AB + joint(inner=f'<origin xyz="{"1 " * 3000}"/>')), r"'1 1 .*\.\.\..*1 ' must be 3 numbers"),
    "long tag": (f"<{'x' * 3000}", "malformed"),
    "denormal mass": (robot(link("a", inertial("1e-310"))), "mass: 1e-310 is neither zero nor at least 1e-30"),
    "tiny moments": (
        robot(link("a", inertial("0", ixx="0").replace('"1"', '"1e-200"'))),
        "moments of inertia: 1e-200 is neither zero",
    ),
    "huge limit": (robot(AB + joint(inner='<limit lower="1e308" upper="1e308"/>')), "limits from inf to inf, with"),
    "huge multiplier": (
        robot(AB + link("c") + joint(inner='<mimic joint="k" multiplier="1e200"/>') + joint("k", "a", "c")),
        "joint 'j', <mimic>, multiplier: '1e200' is beyond",
    ),
    "multipliers whose product is huge": (
        robot(
            AB
            + "".join(link(f"c{i}") for i in range(9))
            + joint(inner='<mimic joint="k0" multiplier="1e10"/>')
            + "".join(joint(f"k{i}", "a", f"c{i}", f'<mimic joint="k{i + 1}" multiplier="1e10"/>') for i in range(8))
            + joint("k8", "a", "c8")
        ),
        r"loop 'j': the number 1\.0*1?e.90",
    ),
    "a loop's zero axis": (
        robot(
            AB
            + joint()
            + '<loop name="x" type="revolute"><predecessor link="a"/><successor link="b"/><axis xyz="0 0 0"/></loop>'
        ),
        "loop 'x' has a zero axis",
    ),
    "two numbers": (robot(AB + joint(inner='<axis xyz="0 1"/>')), "must be 3 numbers"),
    "text axis": (robot(AB + joint(inner='<axis xyz="x y z"/>')), "'x' is not a number"),
    "underscored number": (robot(AB + joint(inner='<origin xyz="1_0 0 0"/>')), "not a number"),
    "nan origin": (robot(AB + joint(inner='<origin xyz="nan 0 0"/>')), "not a finite"),
    "infinite origin": (robot(AB + joint(inner='<origin xyz="0 -inf 0"/>')), "not a finite"),
    "huge exponent": (robot(AB + joint(inner='<origin xyz="1e999 0 0"/>')), "not a finite"),
    "huge origin": (robot(AB + joint(inner='<origin xyz="1e300 0 0"/>')), "beyond 1e"),
    "infinite angle": (robot(AB + joint(inner='<origin rpy="inf 0 0"/>')), "not a finite"),
    "nan limit": (robot(AB + joint(inner='<limit lower="nan"/>')), "not a finite"),
    "crossed limits": (robot(AB + joint(inner='<limit lower="2" upper="1"/>')), "above its upper"),
    "negative mass": (robot(link("a", inertial("-1"))), "link 'a' has the negative mass -1.0"),
    "nan mass": (robot(link("a", inertial("nan"))), "not a finite"),
    "huge mass": (robot(link("a", inertial("1e200"))), "beyond 1e"),
    "no mass": (robot(link("a", "<inertial/>")), "no <mass>"),
    "no ixx": (robot(link("a", '<inertial><mass value="1"/><inertia/></inertial>')), "'ixx'"),
    "indefinite inertia": (
        robot(link("a", inertial("1", ixy="2"))),
        "link 'a' has an inertia with the negative",
    ),
    "negative inertia": (robot(link("a", inertial("1", ixx="-1e-3"))), "negative principal moment"),
    "mimic of itself": (robot(AB + joint(inner='<mimic joint="j"/>')), "joint 'j' mimics itself; remove"),
    "mimic of nothing": (robot(AB + joint(inner='<mimic joint="zz"/>')), "unknown joint 'zz'"),
    "mimic without a joint": (robot(AB + joint(inner="<mimic/>")), "unknown joint ''"),
    "mimic cycle": (
        robot(AB + link("c") + joint(inner='<mimic joint="k"/>') + joint("k", "a", "c", '<mimic joint="j"/>')),
        "joint 'j' mimics itself through 'k'",
    ),
    "mimic of a cycle": (
        robot(
            AB
            + link("c")
            + link("d")
            + joint("i", "a", "d", '<mimic joint="j"/>')
            + joint(inner='<mimic joint="k"/>')
            + joint("k", "a", "c", '<mimic joint="j"/>')
        ),
        "joint 'j' mimics itself through 'k'",
    ),
    "two mimics": (
        robot(AB + link("c") + joint(inner='<mimic joint="k"/><mimic joint="k"/>') + joint("k", "a", "c")),
        "joint 'j' has 2 <mimic> elements; keep one",
    ),
    "floating mimic": (
        robot(AB + link("c") + joint(kind="floating", inner='<mimic joint="k"/>') + joint("k", "a", "c")),
        "'j' is floating",
    ),
    "loop to nowhere": (
        robot(AB + joint() + '<coupling name="x"><predecessor link="a"/><successor link="zz"/></coupling>'),
        "unknown link 'zz'",
    ),
    "two ends": (
        robot(AB + joint() + '<coupling name="x"><predecessor link="a"/><predecessor link="b"/></coupling>'),
        "coupling 'x' has 2 <predecessor> elements; keep one",
    ),
    "loop without ends": (robot(AB + joint() + '<loop name="x" type="revolute"/>'), "no <predecessor"),
    "loop of one link": (
        robot(AB + joint() + '<coupling name="x"><predecessor link="b"/><successor link="b"/></coupling>'),
        "do not move against each other",
    ),
    "nameless loop": (
        robot(AB + joint() + '<coupling><predecessor link="a"/><successor link="b"/></coupling>'),
        "empty name",
    ),
}


@pytest.mark.parametrize("case", BAD_URDF)
def test_bad_urdf_gets_one_sentence(tmp_path: Path, case: str) -> None:
    text, says = BAD_URDF[case]
    path = tmp_path / "bad.urdf"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RobotError, match=says):
        load(path)
    sentence(path)


STRANGE = [
    'a"b',
    "it's",
    "a/b",
    "../../etc/passwd",
    "*/ int x; /*",
    "int",
    "__import__('os')",
    "名前",
    "a b",
    "%s{}",
    "\\",
]


@pytest.mark.parametrize("name", STRANGE)
def test_strange_but_printable_names_are_kept(tmp_path: Path, name: str) -> None:
    from xml.sax.saxutils import escape

    quoted = escape(name, {'"': "&quot;"})
    path = tmp_path / "strange.urdf"
    path.write_text(robot(link("root") + link(quoted, GOOD) + joint(quoted, "root", quoted)), encoding="utf-8")
    model = load(path)
    assert model.joint_names == (name,)
    assert model.frame(name).body == 0


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".json"])
def test_no_regular_file(tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    assert "not a regular file" in sentence(folder)
    assert "no such file" in sentence(tmp_path / f"missing{suffix}")
    device = tmp_path / f"device{suffix}"
    device.symlink_to("/dev/zero")
    assert "not a regular file" in sentence(device)


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".json"])
def test_not_utf8_and_nul(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bytes{suffix}"
    path.write_bytes(b'<robot name="\xff\xfe"/>')
    assert "not valid UTF-8" in sentence(path)
    path.write_bytes(b"\0" * 100)
    assert "malformed" in sentence(path)
    path.write_bytes('<?xml version="1.0" encoding="utf-16"?><robot/>'.encode("utf-16"))
    assert "UTF-8" in sentence(path)


def test_too_large_a_file(tmp_path: Path) -> None:
    path = tmp_path / "large.urdf"
    with path.open("wb") as file:
        file.truncate(33 * 2**20)
    assert "32 MiB" in sentence(path)


def test_unknown_suffix_and_path_with_a_newline(tmp_path: Path) -> None:
    with pytest.raises(RobotError, match="suffix"):
        load(tmp_path / "robot.sdf")
    with pytest.raises(RobotError) as caught:
        load(tmp_path / "a\nb.urdf")
    assert "\n" not in str(caught.value)
    with pytest.raises(RobotError):
        load("a\0b.urdf")


def chain(folder: Path, count: int, kind: str = "revolute") -> Path:
    links = "".join(link(f"l{i}", GOOD) for i in range(count))
    joints = "".join(joint(f"j{i}", f"l{i}", f"l{i + 1}", kind=kind) for i in range(count - 1))
    path = folder / f"long{count}.urdf"
    path.write_text(robot(links + joints), encoding="utf-8")
    return path


@pytest.mark.parametrize(("kind", "loads"), besides([("revolute", False)], [("fixed", True), ("revolute", False)]))
def test_a_chain_of_ten_thousand_links(tmp_path: Path, kind: str, loads: bool) -> None:
    count = 10_000
    path = chain(tmp_path, count, kind)
    if loads:
        assert len(load(path, base="floating").frames) == count
    else:
        assert "9999 moving joints" in sentence(path)


def test_a_chain_at_the_limit_loads(tmp_path: Path) -> None:
    assert load(chain(tmp_path, 1001)).nv == 1000


@pytest.mark.parametrize("kind", besides(["fixed"], ["fixed", "revolute"]))
def test_twice_as_long_a_chain_takes_twice_the_work(tmp_path: Path, kind: str) -> None:
    files = [chain(tmp_path, count, kind) for count in (200, 400)]
    short, long = (calls(partial(load, file)) for file in files)
    assert long < 2.1 * short


def test_too_many_loops_are_refused_before_they_are_followed(tmp_path: Path) -> None:
    links = "".join(link(f"l{i}") for i in range(1201))
    mimics = "".join(
        joint(f"j{i}", f"l{i}", f"l{i + 1}", f'<mimic joint="j{i + 1}"/>' if i < 1199 else "") for i in range(1200)
    )
    path = tmp_path / "loops.urdf"
    path.write_text(robot(links + mimics), encoding="utf-8")
    assert "1199 mimic joints" in sentence(path)
    gear = '<coupling name="x"><predecessor link="l0"/><successor link="l1"/></coupling>'
    path.write_text(robot(links + gear * 1001), encoding="utf-8")
    assert "1001 loops" in sentence(path)


ODD = {
    "a blank line": "\n",
    "blanks after a byte order mark": "\ufeff \n\n",
}
MJCF = '<mujoco><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>'


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("suffix", ["urdf", "xml"])
def test_what_stands_before_the_declaration(tmp_path: Path, suffix: str, case: str) -> None:
    text = robot(AB + joint()) if suffix == "urdf" else MJCF
    path = tmp_path / f"odd.{suffix}"
    path.write_text(ODD[case] + '<?xml version="1.0" encoding="latin-1"?>\n' + text, encoding="utf-8")
    assert load(path).nv == 1
    path.write_text(ODD[case] + '<?xml version="1.0"?>\n<robot>\n<link', encoding="utf-8")
    assert f"line {3 + ODD[case].count(chr(10))}" in sentence(path)


def test_random_states_are_within_limits_far_from_zero(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    far = joint(inner='<limit lower="5" upper="6"/>') + joint(
        "k", "a", "c", '<limit lower="-9" upper="-8"/>', "prismatic"
    )
    path.write_text(robot(AB + link("c", GOOD) + far), encoding="utf-8")
    for seed in range(5):
        q = load(path).random(seed)[0]
        assert 5 <= q[0] <= 6
        assert -9 <= q[1] <= -8
