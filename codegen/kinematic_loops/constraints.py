"""Loop constraints of a node: its own coordinates, and how they move all joints of its bodies.

A node's position coordinates x are the joints that no explicit constraint (linear, coupling, explicit expression)
gives; its velocity coordinates y are those that no constraint gives. With the implicit ones, phi(x) = 0,
  xdot = T(x) r,   K r = 0,   r = Gx ydot,   rdot = Gx yddot + gx,
and for all joints qdot = G ydot, qddot = G yddot + g (Chignoli et al., Recursive Rigid-Body Dynamics Algorithms for
Systems with Kinematic Loops, sec. III). Everything is symbolic; `codegen.kinematic_loops.closure` finds positions that
satisfy phi.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from casadi import SX, densify, diagcat, jacobian, jtimes, sparsify, substitute, vertcat

from codegen.errors import RobotError
from codegen.expressions.derivatives import stated
from codegen.kinematic_loops.frame_closures import closure, path
from codegen.spatial import Square, constant, zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.expressions.derivatives import Derive
    from codegen.geometry import Pose
    from codegen.joints import JointType
    from codegen.kinematic_loops.angle_equations import ClosedForm
    from codegen.kinematic_loops.frame_closures import TransformOf
    from codegen.model import Loop, Model

Formula = tuple[int, str, dict[str, int]]  # the body whose position it gives, its text, and bodies by variables


class Moving(NamedTuple):
    """Values that move with a node's coordinates, at `rates` @ r; at constant r these change by `drift`."""

    value: SX
    rates: SX
    drift: SX

    def rows(self, chosen: Sequence[int]) -> Moving:
        """Some of the values."""
        rows = list(chosen)
        return Moving(self.value[rows], self.rates[rows, :], self.drift[rows])

    @staticmethod
    def stacked(parts: Sequence[Moving]) -> Moving:
        """All values of several."""
        return Moving(
            vertcat(*[part.value for part in parts]),
            vertcat(*[part.rates for part in parts]),
            vertcat(*[part.drift for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class Constraints:
    """A node's joints in terms of its position coordinates x and rates r, before anything is solved.

    `positions` by body; `phi` what must vanish, with `facing` one (axes that agree); T (xdot = T r), E (rates of all
    joints from r), `drift` (how these change at constant r) and `places` (where r stands among them), `own` the places
    in r of the velocity coordinates, `scale` the factors from these to r.
    """

    x: SX
    r: SX
    positions: tuple[SX, ...]
    phi: Moving
    facing: SX
    T: SX
    E: SX
    drift: SX
    places: tuple[int, ...]
    own: tuple[int, ...]
    scale: SX

    @property
    def K(self) -> SX:
        """The Jacobian of phi with respect to r."""
        return self.phi.rates

    @property
    def dependent(self) -> tuple[int, ...]:
        """The places in r that the implicit constraints give."""
        return tuple(c for c in range(self.T.size2()) if c not in self.own)


@dataclass(frozen=True, slots=True)
class Spanning:
    """The joints of a node's bodies: `positions` by body, `G`, and `g` at any velocity.

    `phi` are the implicit constraints that count: as many as joints depend on them; `Kd` are the columns of `K` of the
    dependent joints. `form` gives these joints' positions, where it is known and asked for.
    """

    positions: tuple[SX, ...]
    G: SX
    Gx: SX
    phi: Moving
    Kd: Square
    constraints: Constraints
    form: ClosedForm | None = None

    @property
    def K(self) -> SX:
        """The Jacobian of phi with respect to r."""
        return self.phi.rates

    @property
    def full_K(self) -> SX:
        """All constraints on the rates of all joints: explicit ones first, then the implicit ones."""
        E, size = self.constraints.E, self.constraints.T.size2()
        given = [row for row in range(E.size1()) if row not in self.places]
        explicit = zeros(len(given), E.size1())
        for row, place in enumerate(given):
            explicit[row, place] = 1
            for column, own in enumerate(self.places):
                explicit[row, own] = -E[place, column]
        implicit = zeros(self.K.size1(), E.size1())
        for column, own in enumerate(self.places):
            implicit[:, own] = self.K[:, column]
        assert len(self.places) == size
        return sparsify(vertcat(explicit, implicit))

    @property
    def places(self) -> tuple[int, ...]:
        """Where in the rates of all joints those of the position coordinates stand."""
        return self.constraints.places

    @property
    def selection(self) -> SX:
        """The node's velocity coordinates from the rates of all joints."""
        own = self.constraints
        P = zeros(len(own.own), own.E.size1())
        for row, place in enumerate(own.own):
            P[row, own.places[place]] = 1 / own.scale[row, row]
        return P

    def g(self, v: SX) -> SX:
        """g: accelerations of all joints at joint velocity v (n) and zero joint acceleration."""
        own = self.constraints
        if not own.dependent and own.E.is_constant():
            return zeros(own.E.size1())
        gx = zeros(self.Gx.size1())
        bend, drift = substitute([self.phi.drift, own.drift], [own.r], [densify(self.Gx @ v)])
        if own.dependent:
            gx[list(own.dependent)] = -self.Kd.solve(bend)
        return own.E @ gx + drift


def free(joint: JointType, q: SX) -> Spanning:
    """A body that nothing ties: its joint's own coordinates."""
    one, every, none = SX.eye(joint.nv), tuple(range(joint.nv)), zeros(joint.nv)
    still = Moving(zeros(0), zeros(0, joint.nv), zeros(0))
    loose = Constraints(q, none, (q,), still, zeros(0), zeros(joint.nq, joint.nv), one, none, every, every, one)
    return Spanning((q,), one, one, still, Square(zeros(0, 0), ()), loose)


def spanning(constraints: Constraints, rows: Sequence[int], lengths: Sequence[float]) -> Spanning:
    """Solve the constraints for the dependent joints; `rows` of phi are independent and as many as these.

    `lengths` are those of the rows of K at generic configurations.
    """
    phi, own, dependent = constraints.phi.rows(rows), list(constraints.own), list(constraints.dependent)
    K = phi.rates
    Gx = zeros(K.size2(), len(own))
    Gx[own, :] = constraints.scale
    Kd = Square(K[:, dependent], tuple(lengths[row] for row in rows))
    if dependent:
        Gx[dependent, :] = -Kd.solve(K[:, own] @ constraints.scale)
    return Spanning(constraints.positions, constraints.E @ Gx, Gx, phi, Kd, constraints)


def constraints(
    model: Model, i: int, x: SX, transform: TransformOf, moves: Sequence[Pose], derive: Derive = stated
) -> Constraints:
    """The constraints of node i at its position coordinates x (symbols).

    `model` is in canonical frames, `moves` say where these sit in the original ones, and `transform(b, q)` is the
    transform of body b at joint positions q; `derive` differentiates formulas. RobotError if the loops do not determine
    their joints.
    """
    node, joints = model.nodes[i], model.joints
    loops = [model.loops[n] for n in node.loops]
    free_bodies = model.position_bodies[i]
    given = {b: x[run.start : run.stop] for b, run in _runs(free_bodies, [joint.nq for joint in joints]).items()}
    T = diagcat(*[rate_map(joints[b], given[b]) for b in free_bodies])
    r, one, widths = SX.sym("r", T.size2()), SX.eye(T.size2()), [joint.nv for joint in joints]
    within, among_all = _runs(free_bodies, widths), _runs(node.bodies, widths)
    own = {b: Moving(given[b], one[list(within[b]), :], zeros(widths[b])) for b in free_bodies}
    moving = _explicit(model, node.bodies, own, [loop for loop in loops if loop.explicit], r, derive)
    position = {b: one.value for b, one in moving.items()}
    phi, facing = [Moving(zeros(0), zeros(0, r.size1()), zeros(0))], [zeros(0)]
    for loop in (loop for loop in loops if not loop.explicit):
        if loop.kind == "expression":
            phi.append(_expressions(model, moving, loop.stated, r, derive))
            continue
        gap, agree = closure(model, position, loop, transform, moves)
        K = jacobian(gap, x) @ T
        phi.append(Moving(gap, K, jtimes(K @ r, x, T @ r)))
        facing.append(agree)
    return Constraints(
        x=x,
        r=r,
        positions=tuple(moving[b].value for b in node.bodies),
        phi=Moving.stacked(phi),
        facing=vertcat(*facing),
        T=T,
        E=vertcat(*[moving[b].rates for b in node.bodies]),
        drift=vertcat(*[moving[b].drift for b in node.bodies]),
        places=tuple(c for b in free_bodies for c in among_all[b]),
        own=tuple(c for b in model.velocity_bodies[i] for c in within[b]),
        scale=constant(np.diag(velocity_scales(model, i))),
    )


def _runs(bodies: Sequence[int], widths: Sequence[int]) -> dict[int, range]:
    """By these bodies, where the coordinates of each stand in a row of theirs; `widths` by all bodies."""
    found, start = dict[int, range](), 0
    for b in bodies:
        found[b] = range(start, start + widths[b])
        start += widths[b]
    return found


def rate_map(joint: JointType, q: SX) -> SX:
    """T of one joint: the rates of its position coordinates from its velocity."""
    if joint.nq == joint.nv == 1:
        return SX.eye(1)
    dv = SX.sym("dv", joint.nv)
    return substitute(jacobian(joint.integrate(q, dv), dv), dv, SX.zeros(joint.nv))


def velocity_scales(model: Model, i: int) -> list[float]:
    """For each velocity coordinate the factor from it to its joint's rate (a gear ratio, mostly 1)."""
    factor = {
        name: scale
        for n in model.nodes[i].loops
        for name, scale in zip(model.loops[n].independent, model.loops[n].stated.get("scale", ()), strict=False)
    }
    return [
        factor.get(model.bodies[b].joint.name, 1.0) for b in model.velocity_bodies[i] for _ in range(model.joints[b].nv)
    ]


def _explicit(
    model: Model, bodies: Sequence[int], own: Mapping[int, Moving], loops: Sequence[Loop], r: SX, derive: Derive
) -> dict[int, Moving]:
    """The positions of all bodies of a node, from its own: linear rows together, expressions one by one."""
    number = {model.bodies[b].joint.name: b for b in bodies}
    moving = dict(own)
    rows = [row for loop in loops for row in linear_rows(model, number, loop)]
    texts = [item for loop in loops if loop.kind == "expression" for item in _texts(number, loop)]
    while rows or texts:
        before, texts = len(texts), _evaluated(moving, texts, r, derive)
        later = {body for body, _, _ in texts}
        unknown = sorted({b for row, _ in rows for b in row} - set(moving))
        if rows and not later.intersection(unknown):
            moving |= _solved(model, rows, unknown, moving)
            rows = []
        elif len(texts) == before:
            raise RobotError(
                f"{model.name}: joint {model.bodies[min(later)].joint.name!r} follows itself round a circle"
            )
    return moving


def _evaluated(moving: dict[int, Moving], texts: Sequence[Formula], r: SX, derive: Derive) -> list[Formula]:
    """The formulas that wait for other positions, once those of known ones have given theirs."""
    ready = [item for item in texts if all(b in moving for b in item[2].values())]
    for body, text, variables in ready:
        moving[body] = _formulas([text], {name: moving[b] for name, b in variables.items()}, r, derive)
    return [item for item in texts if item not in ready]


def _formulas(texts: Sequence[str], variables: Mapping[str, Moving], r: SX, derive: Derive) -> Moving:
    """The values of formulas, by the chain rule."""
    own = Moving.stacked([Moving(zeros(0), zeros(0, r.size1()), zeros(0)), *variables.values()])
    value, slope, bend = derive(texts, {name: one.value for name, one in variables.items()}, own.rates @ r)
    return Moving(value, slope @ own.rates, bend + slope @ own.drift)


def linear_rows(model: Model, number: Mapping[str, int], loop: Loop) -> list[tuple[dict[int, float], float]]:
    """Rows (coefficients by body, right-hand side) of a linear loop or a coupling."""
    data = loop.stated
    if loop.kind == "coupling":
        coefficient: dict[int, float] = {}
        for side, sign in (("predecessor", data["ratio"]), ("successor", -1.0)):
            for b in path(model, model.frame(data[side]).body):
                coefficient[b] = coefficient.get(b, 0.0) + sign
        tied = {number[name] for name in loop.joints}
        return [({b: value for b, value in coefficient.items() if b in tied}, 0.0)]
    if loop.kind != "linear":
        return []
    offsets = data.get("offset", [0.0] * len(data["dependent"]))
    return [
        (
            {
                number[name]: 1.0,
                **{number[other]: -m for other, m in zip(data["independent"], row, strict=True)},
            },
            offset,
        )
        for name, row, offset in zip(data["dependent"], data["matrix"], offsets, strict=True)
    ]


def _texts(number: Mapping[str, int], loop: Loop) -> list[Formula]:
    data = loop.stated
    variables = {name: number[joint] for name, joint in data["variables"].items()}
    given = {number[joint] for joint in data["explicit"]}
    known = {name: b for name, b in variables.items() if b not in given}
    return [(number[joint], text, known) for joint, text in data["explicit"].items()]


def _solved(
    model: Model,
    rows: Sequence[tuple[dict[int, float], float]],
    unknown: Sequence[int],
    moving: Mapping[int, Moving],
) -> dict[int, Moving]:
    """The unknown positions from linear rows; RobotError if these do not determine them."""
    known = sorted({b for row, _ in rows for b in row} - set(unknown))
    A = [[row.get(b, 0.0) for b in unknown] for row, _ in rows]
    B = [[-row.get(b, 0.0) for b in known] + [side] for row, side in rows]
    C = eliminated(A, B) if len(rows) == len(unknown) else None
    if C is None:
        raise _undetermined(model, rows, unknown)
    still = [model.bodies[b].joint.name for b, row in zip(unknown, C, strict=True) if not row[:-1].any()]
    if still:
        raise RobotError(
            f"{model.name}: joint {still[0]!r} follows no joint that moves by itself; make it fixed, or name "
            "another leader"
        )
    ratios, leaders = constant(C[:, :-1]), Moving.stacked([moving[b] for b in known])
    followers = Moving(ratios @ leaders.value + constant(C[:, -1:]), ratios @ leaders.rates, ratios @ leaders.drift)
    return {b: followers.rows([k]) for k, b in enumerate(unknown)}


def _undetermined(model: Model, rows: Sequence[tuple[dict[int, float], float]], unknown: Sequence[int]) -> RobotError:
    """What is wrong with linear rows that do not determine the unknown positions."""
    given = [repr(model.bodies[b].joint.name) for b in unknown]
    names = ", ".join((*given[:5], f"and {len(given) - 5} more") if len(given) > 5 else given) or "no joint"
    first = model.bodies[min(b for row, _ in rows for b in row)].joint.name
    return RobotError(
        f"{model.name}: {len(rows)} couplings must give just as many dependent joints, independently, but "
        f"they give {names}; name other independent joints ({independence(first)}) or remove a coupling"
    )


def independence(joint: str) -> str:
    """How files say which joints of a loop are independent, shown by the name of one."""
    return (
        f'in URDF+ <joint name={joint!r} independent="true">, and independent="false" on all that follow; in JSON '
        '"independent": [...] of the loop'
    )


def eliminated(A: Sequence[Sequence[float]], B: Sequence[Sequence[float]]) -> NDArray[np.float64] | None:
    """A^-1 B by elimination, rounded alike on every machine; None if A is singular."""
    rows = [np.array([*a, *b], float) for a, b in zip(A, B, strict=True)]
    for k in range(len(rows)):
        pivot = max(range(k, len(rows)), key=lambda r: abs(rows[r][k]))
        if abs(rows[pivot][k]) < 1e-12:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = rows[k] / rows[k][k]
        rows = [row if r == k else row - row[k] * rows[k] for r, row in enumerate(rows)]
    C = np.array([row[len(rows) :] for row in rows])
    C[np.abs(C) < 1e-13 * np.abs(C).max(initial=0.0)] = 0.0
    return C


def _expressions(model: Model, moving: Mapping[int, Moving], data: Mapping[str, Any], r: SX, derive: Derive) -> Moving:
    """The values of a loop's implicit expressions."""
    number = {body.joint.name: b for b, body in enumerate(model.bodies)}
    variables = {name: moving[number[joint]] for name, joint in data["variables"].items()}
    return _formulas(data["implicit"], variables, r, derive)
