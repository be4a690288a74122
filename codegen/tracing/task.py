"""What to generate: a robot, an algorithm and its options, with its inputs and outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from codegen.algorithms import ALGORITHMS, BEHIND, KNOWN, OPTIONAL, QUANTITIES, Algorithm, optional
from codegen.algorithms.published import PUBLISHED
from codegen.algorithms.regressor import NUMBERS
from codegen.errors import RobotError
from codegen.ir.graph import Port
from codegen.ir.names import identifier
from codegen.model.contacts import placed, whole_tips
from codegen.tracing.form import Form

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codegen.model import Contact, Model

Tier = Literal["published", "written", "emitted"]
TIERS: tuple[Tier, ...] = ("published", "written", "emitted")

PARAMETERS = {"gravity": 3, "payload": 10, "inertia": 10, "offset": 3}
TARGETS = ("target_position", "target_rotation")
"""Arguments wherever gains need them."""

ALWAYS = ("q", "v", "a", "tau")
"""Arguments that functions of derivatives differentiate by in any case."""

ABOUT = {
    "gravity": "acceleration of free fall in world axes (m/s^2)",
    "payload": "payload [mass, com (3), Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the com] in frame {}",
    "inertia": "[mass, com (3), Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the com] of body {}, in its joint's frame",
    "offset": "origin of joint {} in its parent body (m)",
}


@dataclass(frozen=True, slots=True)
class Task:
    """One function to generate.

    `frames` are those of fk, jacobian and the like (default: the tips of the tree), `external` the frames that carry
    external wrenches, `parameters` the numbers left symbolic: `gravity`, `payload:FRAME`, `inertia:BODY`,
    `offset:JOINT`. `contacts` are the held frames (default: all six rows of every tip); what works on contacts refuses
    an empty tuple.
    `dtype` is the type of the numbers that it is going to be computed in, which decides how stiff contacts may be.
    `without` names the steps of the lowering (`codegen.lowering`) that are left out. `tier` says what becomes of the
    algorithm: `published` is the paper's listing over matrices, `written` ours after lowering, `emitted` with passes.
    `form` says what is given of its results. With `small_vectors` loops over columns are those of C that has such.
    """

    model: Model
    algorithm: str
    frames: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    contacts: tuple[Contact, ...] | None = None
    iterations: int | None = 3
    dtype: str = "float64"
    without: tuple[str, ...] = ()
    tier: Tier = "emitted"
    form: Form = field(default_factory=Form)
    small_vectors: bool = False

    def __str__(self) -> str:
        return f"{self.name} of {self.model.name}"

    @property
    def name(self) -> str:
        """What the generated function is called."""
        return f"{self.algorithm}_{self.form.derivative}" if self.form.derivative else self.algorithm

    @property
    def request(self) -> str:
        """Everything that the generated text depends on, as text; but for its style, of which the type is part."""
        options = (self.algorithm, self.frames, self.external, self.parameters, self.contacts, self.iterations)
        which = f"{options!r} {self.without!r} {self.tier} {self.form}"
        return f"{self.model.name} {self.model.digest} {self.model.notes!r} {which}"

    @property
    def entry(self) -> Algorithm:
        """The algorithm's registry entry; RobotError if there is none of that name."""
        if self.algorithm not in KNOWN:
            known = ", ".join(ALGORITHMS)
            raise RobotError(f"there is no algorithm {self.algorithm!r}; the algorithms are {known}")
        return KNOWN[self.algorithm]

    @property
    def listing(self) -> Callable[..., Any]:
        """The paper's listing of the algorithm; RobotError if none states it."""
        if self.algorithm not in PUBLISHED:
            raise RobotError(f"no paper lists {self.algorithm!r}; as published there are {', '.join(PUBLISHED)}")
        return PUBLISHED[self.algorithm]

    @property
    def signature(self) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """The inputs and outputs of the algorithm."""
        entry = self.entry
        if self.form.derivative not in ("", "jvp", "vjp"):
            self.check_second()
        for name in self.parameters:
            if name in {*OPTIONAL, *BEHIND} and BEHIND.get(name, name) not in entry.inputs:
                raise RobotError(f"parameter {name!r}: {self.algorithm} has no such input; leave it out")
        if "target_velocity" in self.parameters and not self._gained("kd"):
            raise RobotError("parameter 'target_velocity': no contact has a gain kd; give one, or leave it out")
        behind = [name for name, changed in BEHIND.items() if changed in entry.inputs]
        inputs = [self._port(name) for name in (*entry.inputs, *behind) if self._is_argument(name)]
        others = [name for name in (*OPTIONAL, *BEHIND) if BEHIND.get(name, name) in entry.inputs]
        inputs += [parameter_port(self.model, spec, others) for spec in self.numbers]
        more = [self._derivative(y, x) for x in self._wrt(inputs) for y in entry.differentiates]
        return tuple(inputs), (*(self._port(name) for name in entry.outputs), *more)

    def check_second(self) -> None:
        """RobotError if there are no second derivatives."""
        if self.entry.breaks:
            raise RobotError(
                f"{self.algorithm} has no second derivatives, as contacts may begin to slip; ask for first ones (jvp, "
                "vjp, derivatives=1), or take prox_pv, which holds contacts"
            )

    def _wrt(self, inputs: Sequence[Port]) -> list[Port]:
        """The arguments of `form.wrt`, of these; RobotError for others."""
        if self.form.wrt and not self.entry.differentiates:
            raise RobotError(
                f"wrt: {self.algorithm} gives no derivatives by arguments; take rnea_derivatives, aba_derivatives or "
                "those of an algorithm on contacts"
            )
        known = {port.name: port for port in inputs if port.name not in ALWAYS}
        for spec in self.form.wrt:
            if parameter_name(spec) not in known:
                others = f"others are {', '.join(known)}" if known else "there are no others"
                raise RobotError(f"wrt {spec!r}: this is no argument of {self.algorithm} besides the state; {others}")
        return [known[parameter_name(spec)] for spec in self.form.wrt]

    def _derivative(self, result: str, by: Port) -> Port:
        """What the derivative of a result by an argument is."""
        about = QUANTITIES[result].about.partition(":")[0]
        return Port(f"d{result}_d{by.name}", (*self._port(result).shape, *by.shape), f"{about} by {by.name}")

    def chosen_frames(self) -> tuple[str, ...]:
        """The frames asked for, or the tips of the tree."""
        return self.frames or self.model.tips

    def chosen_contacts(self) -> tuple[Contact, ...]:
        """The contacts asked for, or all six rows of every tip; RobotError for an empty list of them."""
        if self.contacts is None:
            return whole_tips(self.model)
        if not self.contacts:
            raise RobotError(
                f"{self.model.name}: {self.algorithm} works on contacts, and the list of them is empty; take aba, "
                "which holds nothing, or leave contacts out, which holds every tip"
            )
        slippery = next((contact for contact in self.contacts if contact.friction is not None), None)
        if slippery and not self.entry.breaks:
            able = ", ".join(name for name, other in ALGORITHMS.items() if other.breaks)
            raise RobotError(
                f"{self.model.name}: {self.algorithm} holds the contact {slippery} whatever force that takes; "
                f"take {able}, or leave out friction"
            )
        return self.contacts

    def _is_argument(self, name: str) -> bool:
        if name == "f_ext":
            return bool(self.external)
        if name in TARGETS:
            drawn = self._gained("kp")
            return any(contact.turns or name == "target_position" for contact in drawn)
        return name not in {*OPTIONAL, *BEHIND} or name in self.parameters

    def _gained(self, gain: str) -> tuple[Contact, ...]:
        """The contacts that have a gain `kp` or `kd`."""
        given = gain in self.parameters
        return tuple(contact for contact in self.chosen_contacts() if given or getattr(contact, gain))

    @property
    def optional(self) -> dict[str, float]:
        """The numbers that stand for inputs that are no arguments."""
        return optional(self.model, self.dtype)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The parameters that are numbers of the model, not optional inputs of the algorithm."""
        return tuple(spec for spec in self.parameters if spec not in {*OPTIONAL, *BEHIND})

    def _port(self, name: str) -> Port:
        quantity = QUANTITIES[name]
        shape = tuple(self._size(width) if isinstance(width, str) else width for width in quantity.shape)
        along = next((names for width in quantity.shape if (names := self._names(width))), ())
        return Port(name, shape, f"{quantity.about}; {', '.join(along)}" if along else quantity.about)

    def _size(self, width: str) -> int:
        """How long an argument is along an axis of this name."""
        sizes = {"nq": self.model.nq, "nv": self.model.nv, "nx": 2 * self.model.nv}
        if width in sizes:
            return sizes[width]
        if width == "contacts":
            return sum(len(contact.rows) for contact in self.chosen_contacts())
        return (NUMBERS if width == "parameters" else 1) * len(self._names(width))

    def _names(self, width: str | int) -> tuple[str, ...]:
        """The frames or contacts along an axis of an argument."""
        if width == "contacts":
            return tuple(f"{contact.frame.name} {place}" for place, contact in placed(self.chosen_contacts()))
        if width == "held":
            return tuple(contact.frame.name for contact in self.chosen_contacts())
        bodies = tuple(body.name for body in self.model.bodies)
        along = {"frames": self.chosen_frames(), "external": self.external, "parameters": bodies}
        return along.get(str(width), ())


def parameter_port(model: Model, spec: str, others: Sequence[str] = ()) -> Port:
    """The argument of one symbolic parameter; RobotError if it names nothing in the model, nor one of `others`."""
    kind, colon, target = spec.partition(":")
    if kind not in PARAMETERS or (kind == "gravity") == bool(colon):
        more = (name for name in others if name not in TARGETS)
        *names, last = ("gravity", "payload:FRAME", "inertia:BODY", "offset:JOINT", *more)
        raise RobotError(f"parameter {spec!r}: write {', '.join(names)} or {last}")
    if kind == "payload":
        model.frame(target)
    if kind == "inertia" and target not in {body.name for body in model.bodies}:
        raise RobotError(f"parameter {spec!r}: {model.name} has no moving body {target!r}")
    if kind == "offset" and target not in model.joint_names:
        raise RobotError(f"parameter {spec!r}: {model.name} has no joint {target!r}")
    return Port(parameter_name(spec), (PARAMETERS[kind],), ABOUT[kind].format(repr(target)))


def parameter_name(spec: str) -> str:
    """What the argument of a parameter is called."""
    kind, _, target = spec.partition(":")
    return f"{kind}_{identifier(target)}" if target else kind
