"""Contacts as texts and in Python: the same ones, and one sentence where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import codegen
from codegen.algorithms import ALGORITHMS
from codegen.errors import RobotError
from codegen.ir.interpreter import interpret
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

EYE = np.eye(6)
ON_CONTACTS = [name for name, entry in ALGORITHMS.items() if {"lam", "x", "W", "Winv"} & {*entry.outputs}]


def test_texts_and_python_say_the_same():
    robot = codegen.load("iiwa").with_frame("odd:3", "lbr_iiwa_link_7").with_frame("odd", "lbr_iiwa_link_6")
    for text, contact in {
        "odd:3": robot.contact("odd:3", 6),
        "odd:3:3": robot.contact("odd:3", 3),
        "odd:6": robot.contact("odd"),
        "odd:hinge-z:in=odd:3": robot.contact("odd", EYE[[0, 1, 3, 4, 5]], axes="odd:3"),
        "odd:hinge:axis=0,-2e-1,0": robot.contact("odd", "hinge-y"),
        "odd:hinge:axis=3,0,-4:in=world": robot.contact("odd", "hinge", axis=(3, 0, -4), axes="world"),
        "odd:x,rz:in=world:kp=100:kd=2e1": robot.contact("odd", EYE[[3, 2]], axes="world", kp=100, kd=(20, 20)),
        "odd:x,rz:kp=1,2": robot.contact("odd", EYE[[3, 2]], kp=(1, 2)),
        "odd:3:3:spatial": robot.contact("odd:3", "3", spatial=True),
        "odd:in=world:spatial": robot.contact("odd", 6, axes="world", spatial=True),
        "odd:6:in=odd": robot.contact("odd", 6),
    }.items():
        assert contact_of(robot, text) == contact
        assert contact_of(robot, str(contact)) == contact


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("link", "link:6"),
        ("link:x,y,z:in=world", "link:3:in=world"),
        ("link:hinge:axis=1,0,0", "link:hinge-x"),
        ("link:hinge:axis=0,2,-2:kp=100", "link:hinge:axis=0,1,-1:kp=100"),
        ("link:foot-0.20x.1,z:spatial", "link:foot-0.2x0.1,z:spatial"),
        ("link:foot-0.00001x3:kd=1,2,3,4,5,6,7,8,9,1,2,3", "link:foot-0.00001x3:kd=1,2,3,4,5,6,7,8,9,1,2,3"),
        ("link:rz,x:kd=1e-7,0.1", "link:rz,x:kd=1e-07,0.1"),
    ],
)
def test_contacts_print_as_the_texts_that_state_them(text, said):
    robot = codegen.load("iiwa").with_frame("link", "lbr_iiwa_link_7")
    assert str(contact_of(robot, text)) == said
    assert contact_of(robot, said) == contact_of(robot, text)


def test_contacts_that_no_text_states_print_their_rows():
    robot = codegen.load("iiwa").with_frame("link", "lbr_iiwa_link_7")
    skew = [(0.0, 0.0, 1.0, 0.0, 0.5, 0.0), EYE[5]]
    assert str(robot.contact("link", skew)) == "link:[0,0,1,0,0.5,0], z"
    assert str(robot.contact("link", EYE[[5, 5]], axes="world")) == "link:z, z:in=world"
    corners = robot.contact("link", skew, points=[(0, 0, 0), (0.1, 0, 0)], kd=2.0)
    assert str(corners) == "link:[0,0,1,0,0.5,0], z at (0,0,0); [0,0,1,0,0.5,0], z at (0.1,0,0):kd=2"
    assert str(robot.contact("link", 3, points=[(0.1, 0, 0)])) == "link:x, y, z at (0.1,0,0)"


def test_the_header_says_what_every_row_holds(tmp_path):
    hostile = "a*/b"
    robot = codegen.load("iiwa").with_frame(hostile, "lbr_iiwa_link_7")
    held = [
        "lbr_iiwa_link_7:3:kp=100:kd=20,1,2.5",
        "lbr_iiwa_link_4:foot-0.2x0.1,z:in=world:spatial",
        robot.contact(hostile, [(0.0, 0.0, 1.0, 0.0, 0.5, 0.0)], axes="lbr_iiwa_link_3"),
    ]

    def header(*algorithms, **options):
        paths = codegen.generate(robot, algorithms, tmp_path / "out", contacts=held, **options)
        return paths[0].read_text(encoding="utf-8")

    text = header("constrained_aba", "pv_soft", "efpa", iterations=4, parameters=["mu"])
    begin = text.index(" * Contacts")
    lines = text[begin : text.index(" *\n", begin)].splitlines()
    said = " ".join(line[2:].strip() for line in lines)
    for sentence in (
        "Contacts, whose rows are those of lam, W in this order.",
        "rows 0..2, lbr_iiwa_link_7, along its own axes, classical acceleration, kp 100 1/s^2, kd 20,1,2.5 1/s: "
        "x, y, z rows 3..6",
        "rows 3..6, lbr_iiwa_link_4, along world axes, spatial acceleration: z at (0.1,0.05,0); z at (0.1,-0.05,0); "
        "z at (-0.1,0.05,0); z at (-0.1,-0.05,0)",
        "row 7, a*\\x2fb, along the axes of lbr_iiwa_link_3, classical acceleration: [0,0,1,0,0.5,0]",
    ):
        assert sentence in said
    assert max(map(len, lines)) <= 120
    assert hostile not in text
    assert " * Not arguments: k = 0, lam0 = 0. Proximal steps: 4.\n" in text
    assert " * Not arguments: k = 0, R = 1e-05.\n" in text
    assert "along their rows; lbr_iiwa_link_7 0..2, lbr_iiwa_link_4 3..6, a*\\x2fb 7\n" in text
    text = header("constrained_aba", iterations=None, parameters=["kp"])
    assert "Proximal steps: until the residual is at most tol, max_iter at most.\n" in text
    assert "classical acceleration, kd 20,1,2.5 1/s" in text
    assert "Contacts" not in header("rnea")
    assert "kd 20" not in header("efpa")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nose:3", "no frame 'nose'"),
        ("lbr_iiwa_link_7:5", "rows must be 3, 6, hinge-x"),
        ("lbr_iiwa_link_7:hinge", "a hinge needs an axis of three finite numbers"),
        ("lbr_iiwa_link_7:hinge:axis=0,0,0", "not all zero"),
        ("lbr_iiwa_link_7:hinge:axis=0,1", "'axis=0,1' holds no three numbers; write axis=0,1,-1, say"),
        ("lbr_iiwa_link_7:hinge-y:axis=0,1,0", "only rows 'hinge' take an axis"),
        ("lbr_iiwa_link_7:hinges", "'hinges' are not known"),
        ("lbr_iiwa_link_7:x,x", "row 'x' is named twice in 'x,x'; name it once"),
        ("lbr_iiwa_link_7:3:6", "'6' is one too many; write FRAME:ROWS:.*:kd=NUMBER:friction=NUMBER:spatial$"),
        ("lbr_iiwa_link_7::3", "'' is one too many"),
        ("lbr_iiwa_link_7:3:in=sky", "no frame 'sky'"),
        ("lbr_iiwa_link_7:3:in=world:in=world", "'in=world' is one too many"),
        ("lbr_iiwa_link_7:3:kp=1:kp=2", "'kp=2' is one too many"),
        ("lbr_iiwa_link_7:3:kp=1,2", "kp must be a number of at least zero, or 3 of them"),
        ("lbr_iiwa_link_7:\N{SUPERSCRIPT THREE}", "are not known"),
        (f"lbr_iiwa_link_7:{'3' * 5000}", "are not known"),
        ("lbr_iiwa_link_7:3:kp=much", "holds no number"),
        ("lbr_iiwa_link_7:3:kp=-1", "kp must be a number of at least zero, or 3 of them"),
        ("lbr_iiwa_link_7:3:kd=nan", "kd must be"),
    ],
)
def test_refusals(text, said):
    with pytest.raises(RobotError, match=said):
        contact_of(codegen.load("iiwa"), text)


@pytest.mark.parametrize(
    "axis", [(0.0, 0.0, 1.0), (-1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (1e-9, -2.0, 0.0), (0.3, -0.5, -0.4)]
)
def test_a_hinge_about_any_axis(axis):
    """Five orthonormal rows: the origin's, and two across the axis; of the frame's own axes where it is one."""
    rows = np.array(codegen.load("iiwa").contact("lbr_iiwa_link_7", "hinge", axis=axis).rows)
    assert np.allclose(rows @ rows.T, np.eye(5), atol=1e-15)
    assert np.allclose(rows[:, :3] @ axis, 0.0, atol=1e-15)
    assert np.array_equal(rows[2:], EYE[3:])
    if np.count_nonzero(axis) == 1:
        assert np.array_equal(rows, np.delete(EYE, np.flatnonzero(axis), axis=0))


def test_refusals_in_python():
    robot, tool = codegen.load("iiwa"), "lbr_iiwa_link_7"
    for given, said in (
        ({"points": [(0, 0)]}, "n x 3"),
        ({"points": [(0, 0, np.inf)]}, "n x 3"),
        ({"rows": "foot-0.1x0.1", "points": [(0, 0, 0)]}, "leave out the points"),
        ({"kp": (1.0, 2.0)}, "or 6 of them"),
        ({"rows": []}, "m x 6"),
        ({"rows": 3.0}, "rows must be 3, 6, hinge-x, .*, or a finite m x 6 matrix, not 3.0$"),
        ({"rows": None}, "rows must be 3, 6, hinge-x, .*, or a finite m x 6 matrix, not None$"),
        ({"rows": "hinge", "axis": (1.0, np.nan, 0.0)}, "axis of three finite"),
        ({"rows": EYE, "axis": (1.0, 0.0, 0.0)}, "only rows 'hinge'"),
        ({"axes": "sky"}, "no frame 'sky'"),
        ({"points": "abc"}, "n x 3"),
        ({"points": [(0, 0, 0), (1,)]}, "n x 3"),
        ({"rows": [[1], [1, 2]]}, "m x 6"),
        ({"rows": {}}, "m x 6"),
        ({"kp": "a"}, "or 6 of them"),
        ({"kp": 10**400}, "or 6 of them"),
        ({"rows": "hinge", "axis": "y"}, "axis of three finite"),
        ({"rows": "hinge", "axis": None}, "axis of three finite"),
    ):
        with pytest.raises(RobotError, match=said):
            robot.contact(tool, **given)
    for algorithm, parameters, said in (
        ("pv", ("weight",), "pv has no such input"),
        ("efpa", ("kp",), "efpa has no such input"),
        ("pv", ("target_velocity",), "no contact has a gain kd"),
        ("pv", ("mus",), "write gravity, payload:FRAME, inertia:BODY, offset:JOINT, k, kp, kd or target_velocity$"),
        ("caba_osim", ("mus",), "write gravity, payload:FRAME, inertia:BODY, offset:JOINT, mu or weight$"),
        ("efpa", ("mus",), "write gravity, payload:FRAME, inertia:BODY or offset:JOINT$"),
    ):
        with pytest.raises(RobotError, match=said):
            trace(Task(robot, algorithm, contacts=(robot.contact(tool),), parameters=parameters))


def test_whole_numbers_of_numpy_are_rows():
    robot = codegen.load("iiwa")
    assert robot.contact("lbr_iiwa_link_7", np.int64(3)) == robot.contact("lbr_iiwa_link_7", 3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"contacts": "lbr_iiwa_link_7:3"}, "contacts must be a list"),
        ({"contacts": [("lbr_iiwa_link_7", 3)]}, "contacts must be a list"),
        ({"frames": "lbr_iiwa_link_7"}, "frames must be a list of names, not 'lbr_iiwa_link_7'"),
        ({"frames": [3]}, "frames must be a list of names"),
        ({"frames": 3}, "frames must be a list of names, not 3"),
        ({"contacts": 3}, "contacts must be a list"),
        ({"external": "lbr_iiwa_link_7"}, "external must be a list"),
        ({"parameters": "gravity"}, "parameters must be a list"),
        ({"parameters": ["gravity", "k", "gravity"]}, "parameter 'gravity' is named twice"),
        ({"parameters": ["k", "k"]}, "parameter 'k' is named twice"),
        ({"iterations": 2.5}, "iterations must be a whole number of at least one, not 2.5"),
        ({"iterations": 0}, "iterations must be a whole number of at least one, not 0"),
    ],
)
def test_options_that_are_none(options, said):
    with pytest.raises(RobotError, match=said):
        codegen.graphs(codegen.load("iiwa"), "constrained_aba", **options)


@pytest.mark.parametrize("algorithm", ON_CONTACTS)
def test_no_contacts_are_not_every_tip(algorithm):
    """Where nothing is held, an algorithm on contacts has nothing to do: it says so, and welds nothing."""
    robot = codegen.load("iiwa")
    for work in (codegen.build, codegen.graphs):
        with pytest.raises(RobotError, match=f"{algorithm} works on contacts, and the list of them is empty; take aba"):
            work(robot, algorithm, contacts=[])


def test_every_tip_is_held_where_contacts_are_left_out():
    robot = codegen.load("iiwa")
    written, _ = codegen.graphs(robot, "constrained_aba")
    assert written == codegen.graphs(robot, "constrained_aba", contacts=[f"{tip}:6" for tip in robot.tips])[0]
    q, v, tau = robot.random(0)
    held = ORACLE["constrained_aba"](robot, q, v, tau)[0]
    free, none = ORACLE["constrained_aba"](robot, q, v, tau, contacts=())
    assert not none.size
    np.testing.assert_allclose(free, ORACLE["aba"](robot, q, v, tau), rtol=1e-12)
    assert np.abs(free - held).max() > 1e-3


def test_options_that_are_read_once():
    robot = codegen.load("iiwa")
    texts = (text for text in ("lbr_iiwa_link_7:3",))
    names = (name for name in ("gravity",))
    written, _ = codegen.graphs(robot, "pv", contacts=texts, parameters=names)
    assert [(port.name, port.size) for port in written.inputs][-1] == ("gravity", 3)
    assert written.outputs[1].size == 3


def test_rows_of_zeros_hold_nothing():
    robot = codegen.load("iiwa")
    q, v, tau = robot.random(0)
    nothing = robot.contact("lbr_iiwa_link_7", np.zeros((1, 6)), points=[(0.1, 0.0, 0.0)])
    free = interpret(codegen.graphs(robot, "aba")[1], q, v, tau)[0]
    for algorithm in ("constrained_aba", "pv_early", "aba_prox"):
        graph, _ = codegen.graphs(robot, algorithm, contacts=[nothing])
        np.testing.assert_allclose(interpret(graph, q, v, tau)[0], free, rtol=1e-11)


def test_a_robot_in_which_nothing_moves(tmp_path):
    (tmp_path / "rock.urdf").write_text('<robot name="rock"><link name="rock"/></robot>', encoding="utf-8")
    rock = codegen.load(tmp_path / "rock.urdf")
    for work in (codegen.build, codegen.graphs):
        with pytest.raises(RobotError, match="rock: nothing moves; let a joint move, or the base float"):
            work(rock, "rnea")
