"""Stages of whole-body control: unknowns are increments of q, v and forces, and a is the difference of velocities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.compilation.in_parallel import in_parallel
from codegen.interfaces.casadi import to_casadi

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from casadi import SX
    from numpy.typing import ArrayLike

    from codegen.model import Model
    from codegen.ocp.stage import Stage


@dataclass(frozen=True, slots=True)
class Node:
    """Expressions of a node: state, velocity and acceleration of its step, forces, and what the gait says of feet."""

    q: SX
    v: SX
    v_next: SX
    a: SX
    f: SX
    held: SX
    height: SX
    rate: SX

    def __str__(self) -> str:
        return f"a node of {self.v.numel()} velocities and {self.f.numel()} forces"


class WholeBody:
    """Stages of a robot, whose nodes are `step` seconds apart; functions are expanded, or compiled one by one.

    Compiled ones have second derivatives, too, if Hessians are to be `exact`.
    """

    __slots__ = ("_exact", "_expand", "_own", "_robot", "_step")

    def __init__(self, robot: Model, step: float, *, expand: bool = True, exact: bool = False) -> None:
        self._robot, self._step, self._expand, self._exact = robot, step, expand, exact
        self._own: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"WholeBody({self._robot.name}, {self._step:g} s)"

    def function(self, name: str, **options: Any) -> Any:
        """A function of the robot for `Stage.call`; options are those of `codegen.to_casadi`."""
        return self._call(name, options)()

    def functions(self, **asked: Mapping[str, Any]) -> tuple[Any, ...]:
        """Several such functions, by name with their options, as `fk={"frames": feet}, com={}`.

        They are built at the same time (`codegen.in_parallel`), along with those that stages need besides.
        """
        own = () if self._own else self._calls
        made = in_parallel(*(self._call(name, options) for name, options in asked.items()), *own)
        self._own = self._own or made[len(asked) :]
        return made[: len(asked)]

    @property
    def _calls(self) -> tuple[Callable[[], Any], ...]:
        """What make the functions that stages need."""
        fixed = {} if self._expand else {"constant": ("q0",)}  # distances are from numbers
        return self._call("integrate", {}), self._call("difference", fixed)

    def _call(self, name: str, options: Mapping[str, Any]) -> Callable[[], Any]:
        order, lean = 2 if self._exact else 1, not self._expand
        return partial(to_casadi, self._robot, name, derivatives=order, expand=self._expand, lean=lean, **options)

    def _moved(self, stage: Stage, q: SX, dq: SX) -> SX:
        """q after an increment."""
        self.functions()
        moved: SX = stage.call(self._own[0], q, dq)
        return moved

    def _difference(self, stage: Stage, q0: SX, q1: SX) -> SX:
        """The increment from q0 to q1."""
        self.functions()
        increment: SX = stage.call(self._own[1], q0, q1)
        return increment

    def state(self, stage: Stage) -> tuple[SX, SX, SX]:
        """q and v at a node, and the increment of v at the next one."""
        nq, nv = self._robot.nq, self._robot.nv
        (dq, _), (dv, dv_next) = stage.unknown("dq", nv), stage.unknown("dv", nv)
        return self._moved(stage, stage.parameter("q", nq), dq), stage.parameter("v", nv) + dv, dv_next

    def node(self, stage: Stage, feet: int, forces: int) -> Node:
        """A node with so many numbers of forces; q moves to the next one at the mean velocity."""
        nq, nv, h = self._robot.nq, self._robot.nv, self._step
        q, v, dv_next = self.state(stage)
        q_next, v_next = stage.parameter("q_next", nq), stage.parameter("v_next", nv) + dv_next
        f = stage.parameter("f", forces) + stage.unknown("df", forces)[0]
        stage.moves("dq", self._difference(stage, q_next, self._moved(stage, q, h * (v + v_next) / 2)))
        held, height, rate = (stage.parameter(name, feet) for name in ("held", "height", "rate"))
        return Node(q, v, v_next, (v_next - v) / h, f, held, height, rate)

    def follow(self, stage: Stage, q: SX, v: SX, q_weights: ArrayLike, v_weights: ArrayLike) -> tuple[SX, SX]:
        """Costs of the distance from a wanted state, which is given back."""
        q_wanted, v_wanted = stage.parameter("q_wanted", self._robot.nq), stage.parameter("v_wanted", self._robot.nv)
        stage.cost(np.asarray(q_weights), self._difference(stage, q_wanted, q))
        stage.cost(np.asarray(v_weights), v - v_wanted)
        return q_wanted, v_wanted
