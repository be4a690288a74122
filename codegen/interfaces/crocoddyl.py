"""Crocoddyl: differential actions whose dynamics and derivatives are rigidc's C, beside Crocoddyl's own costs.

(Mastalli et al., Crocoddyl, ICRA 2020; its contact-fwddyn.hxx and contact-3d.hxx say what it computes.) Where the two
libraries' conventions differ, this file translates: the order of joints, and the rows of contacts.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen import pipeline
from codegen.algorithms import ALGORITHMS
from codegen.compilation.compiler import toolchain
from codegen.errors import RobotError
from codegen.interfaces.crocoddyl_dynamics import Dynamics, Order
from codegen.interfaces.crocoddyl_module import module_of
from codegen.model.contacts import contact_on
from codegen.task.options import style_of, task_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from numpy.typing import NDArray

    from codegen.model import Contact, Model

    Array = NDArray[np.float64]

NEEDED = "3.2"
"""The version of Crocoddyl on which this was checked."""

PINOCCHIO = "4.0"
"""That of Pinocchio for which its wheels were compiled."""

ROWS = {"ContactModel3D": np.eye(6)[3:].tolist(), "ContactModel6D": np.eye(6)[[3, 4, 5, 0, 1, 2]].tolist()}
"""The rows of [angular; linear] acceleration that Crocoddyl's contacts hold, in their order."""

NEAR = 1e-5
"""How far the two libraries' dynamics may differ, relative to forces: far above round-off, below another robot's."""


def to_crocoddyl(
    robot: Model,
    state: Any,
    actuation: Any,
    costs: Any,
    contacts: Any = None,
    *,
    algorithm: str | None = None,
    enable_force: bool = False,
    cplusplus: bool = False,
    target: str = "native",
    trig: str = "fast",
    compiler: str | None = None,
    without: Sequence[str] = (),
) -> Any:
    """A differential action model of Crocoddyl's, with the robot's dynamics and their derivatives as C.

    `state` (StateMultibody), `actuation`, `costs` and `contacts` (ContactModelMultiple, or None) are those of its own
    DifferentialActionModelFreeFwdDynamics and DifferentialActionModelContactFwdDynamics, and so are the results:
    `xout` (nv), `Fx` (nv x 2 nv), `Fu` (nv x nu), costs, and with `enable_force` the derivatives of contact forces.
    With `cplusplus` the action itself is C++, too, compiled once (half a minute): solvers call it without Python
    between. Joints are in the same order then, and contacts have no gains on positions.
    Contacts are those that are active now. `algorithm` is forward dynamics that has derivatives: by default `aba`, with
    contacts `pv`, whose rows must be independent; `prox_pv` takes any rows. Where a status is not 0, results are
    finite all the same. Other options are those of `build`.
    RobotError if Crocoddyl is missing or too old, if the robot is not that of `state`, or for another kind of contact;
    BuildError if no compiler works, or Crocoddyl's headers are missing that C++ needs.
    """
    crocoddyl, pin = _crocoddyl()
    order = _order(robot, state.pinocchio)
    active = [item.contact for _, item in sorted(contacts.contacts.todict().items()) if item.active] if contacts else []
    stated = [_contact(robot, state.pinocchio, one, pin.ReferenceFrame.LOCAL) for one in active]
    name = algorithm or ("pv" if active else "aba")
    tools = toolchain(target, compiler=compiler)
    made, style = [], style_of("float64", trig, tools)
    for each in (name, f"{name}_derivatives"):
        if name in ALGORITHMS and each not in ALGORITHMS:
            raise RobotError(f"{name} has no derivatives to give to Crocoddyl; take aba, pv or prox_pv")
        task = task_of(robot, each, (), (), (), stated or None, 3, without=without)
        made.append(pipeline.callable_of(task, style, tools).with_status())
    dynamics = Dynamics(made[0], made[1], robot.nq, order, tuple(one for one in active if one.gains[0]))
    action = crocoddyl.Action(dynamics, state, actuation, costs, contacts, enable_force)
    _verified(robot, action, pin)
    if not cplusplus:
        return action
    if order or dynamics.targets:
        raise RobotError(f"{robot.name}: cplusplus=True takes joints in Pinocchio's order and no gains on positions")
    task = task_of(robot, name, (), (), (), stated or None, 3, without=without)
    short = replace(style.short, lanes=1, small_vectors=tools.small_vectors)
    make = module_of(task, short, tools, Path(crocoddyl.crocoddyl.__file__).parents[4]).action
    return make(state, actuation, costs, *((contacts, enable_force) if active else ()))


def _order(robot: Model, peer: Any) -> Order | None:
    """Where our coordinates are in those of a Pinocchio model, if elsewhere; joints but the base are found by name."""
    if robot.convention != "pinocchio":
        raise RobotError(
            f"{robot.name}: Crocoddyl takes Pinocchio's base velocities; load it by convention='pinocchio'"
        )
    q, v = list[int](), list[int]()
    for body, own_q, own_v in zip(robot.bodies, robot.q_slices, robot.v_slices, strict=True):
        name, base = body.joint.name, body.joint.free and body.parent < 0
        if not base and not peer.existJointName(name):
            raise RobotError(f"{robot.name}: the Pinocchio model of the state has no joint {name!r}")
        theirs = peer.joints[1 if base else peer.getJointId(name)]
        if (theirs.nq, theirs.nv) != (own_q.stop - own_q.start, own_v.stop - own_v.start):
            raise RobotError(
                f"{robot.name}: joint {name!r} has {own_q.stop - own_q.start} coordinates here and {theirs.nq} in "
                "Pinocchio; make it a joint with limits"
            )
        q += range(theirs.idx_q, theirs.idx_q + theirs.nq)
        v += range(theirs.idx_v, theirs.idx_v + theirs.nv)
    if len(v) != peer.nv:
        raise RobotError(f"{robot.name} has {len(v)} degrees of freedom, the Pinocchio model of the state {peer.nv}")
    moved = [*q, *v] != [*range(peer.nq), *range(peer.nv)]
    return Order(np.array(q), np.array(v), np.argsort(v)) if moved else None


def _contact(robot: Model, peer: Any, given: Any, local: Any) -> Contact:
    """A contact as Crocoddyl means it.

    Its 3D contacts hold classical accelerations, its 6D contacts spatial ones; forces come before moments. Gains of 6D
    contacts multiply the logarithm of a pose, which is none of our errors.
    """
    kind, frame = type(given).__name__, peer.frames[given.id].name
    if kind not in ROWS:
        raise RobotError(f"{kind} on {frame!r}: of Crocoddyl's contacts ContactModel3D and ContactModel6D are known")
    kp, kd = (float(gain) for gain in given.gains)
    if kp and kind == "ContactModel6D":
        raise RobotError(f"{kind} on {frame!r}: its gain on positions must be zero, gains=[0, kd]")
    axes = "" if given.type == local else "world"
    return contact_on(robot, frame, ROWS[kind], axes=axes, kp=kp, kd=kd, spatial=kind == "ContactModel6D")


def _verified(robot: Model, action: Any, pin: ModuleType) -> None:
    """RobotError if the solution at a random state does not solve Pinocchio's and Crocoddyl's equations."""
    state, data, peer = action.state, action.createData(), action.state.pinocchio
    rng = np.random.default_rng(0)
    q, v = pin.integrate(peer, pin.neutral(peer), rng.standard_normal(state.nv)), rng.standard_normal(state.nv)
    x, u = np.concatenate([q, v]), rng.standard_normal(action.nu)
    action.actuation.calc(data.actuation, x, u)
    a, lam = action.dynamics.solution(action.dynamics.arguments(x, data.actuation.tau))
    pull, lack = np.zeros(state.nv), np.zeros(1)
    if lam is not None:
        pin.computeAllTerms(peer, data.pinocchio, q, v)
        action.contacts.calc(data.contacts, x)
        J = data.contacts.Jc[: lam.size]
        pull, lack = J.T @ lam, J @ a + data.contacts.a0[: lam.size]
    needed = pin.rnea(peer, data.pinocchio, q, v, a)
    apart = needed - data.actuation.tau - pull
    error = max(np.abs(apart).max() / np.abs(needed).max(initial=1), np.abs(lack).max() / np.abs(a).max(initial=1))
    if not error < NEAR:
        raise RobotError(
            f"{robot.name} does not move as the Pinocchio model of the state does (they differ by {error:.1g}); load "
            "both from the same file, with the same base, locked joints and gravity"
        )


def _paired() -> None:
    """RobotError for wheels of Crocoddyl and Pinocchio that do not fit: a call would crash."""
    try:
        own, peer = version("libcrocoddyl"), version("libpinocchio")
    except PackageNotFoundError:
        return
    if own.startswith(f"{NEEDED}.") and not peer.startswith(f"{PINOCCHIO}."):
        raise RobotError(
            f"Crocoddyl {own} crashes with Pinocchio {peer}; pip install rigidc[crocoddyl] brings {PINOCCHIO}, "
            "in an environment of its own"
        )


def _crocoddyl() -> tuple[ModuleType, ModuleType]:
    """The module of actions, and Pinocchio; RobotError if Crocoddyl is missing, too old or with another Pinocchio."""
    _paired()
    try:
        found = import_module("crocoddyl")
        pin = import_module("pinocchio")
    except ImportError as error:
        raise RobotError(
            f"Crocoddyl {NEEDED} is needed ({error}); pip install rigidc[crocoddyl], in an environment of its own"
        ) from error
    if tuple(map(int, found.__version__.split(".")[:2])) < tuple(map(int, NEEDED.split("."))):
        raise RobotError(f"Crocoddyl {found.__version__} is too old; pip install rigidc[crocoddyl]")
    return import_module("codegen.interfaces.crocoddyl_action"), pin
