"""The robot that users hold: its model, and how to state contacts on it and make further robots of it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from codegen.description import SNAP, assemble, bundled, read
from codegen.description.rotations import from_rpy
from codegen.errors import RobotError
from codegen.geometry import Pose, clean, mat3, vec3
from codegen.kinematic_loops import states
from codegen.model import Frame, Model
from codegen.model.contacts import Contact, contact_on
from codegen.progress import doing

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from codegen.description import Base, Description, Order
    from codegen.model import Convention


@dataclass(frozen=True, slots=True, repr=False)
class Robot(Model):
    """A model (`codegen.model`) with what users do with it; immutable like this, and equal to robots of equal content.

    `dataclasses.replace(robot, gravity=(0, 0, -1.62))` changes its data.
    """

    @classmethod
    def of(cls, model: Model) -> Robot:
        """The robot of a model."""
        if isinstance(model, cls):
            return model
        return cls(**{field.name: getattr(model, field.name) for field in fields(Model)})

    @classmethod
    def assembled(cls, description: Description, *options: Any, **named: Any) -> Robot:
        """The robot of a description; the options are those of `codegen.description.assemble`."""
        return cls.of(assemble(description, *options, **named))

    def contact(
        self,
        frame: str,
        rows: int | str | Sequence[Sequence[float]] = 6,
        *,
        axis: Sequence[float] = (),
        points: Sequence[Sequence[float]] = (),
        axes: str = "",
        kp: float | Sequence[float] = 0.0,
        kd: float | Sequence[float] = 0.0,
        spatial: bool = False,
        friction: float | None = None,
    ) -> Contact:
        """A contact on a frame: 3 (its origin), 6 (all), `hinge-x`, `foot-0.2x0.1`, rows such as `x,y,rz`, or m x 6.

        A matrix acts on [angular; classical linear] acceleration (of the spatial one with `spatial`), along the frame's
        own axes, the world's (`axes="world"`) or those of another frame. So does `hinge`, which leaves turns about
        `axis` free. `points` (n x 3, in the frame's own axes) hold these rows each; a foot holds its four corners, of a
        length along x and a width along y. `kp` and `kd` are gains of all rows or of each: the rows' k becomes
        k - kp error - kd (rate of it). With `friction`, a coefficient, points break, stick and slip, z being the
        normal. RobotError if it does not fit.
        """
        return contact_on(
            self,
            frame,
            rows,
            axis=axis,
            points=points,
            axes=axes,
            kp=kp,
            kd=kd,
            spatial=spatial,
            friction=friction,
        )

    def with_frame(
        self, name: str, on: str, xyz: Sequence[float] = (0.0, 0.0, 0.0), rpy: Sequence[float] = (0.0, 0.0, 0.0)
    ) -> Robot:
        """This robot with one more named frame: `xyz` (m) away from frame `on`, in its axes, turned by `rpy` (rad).

        The turns are about the fixed x, y and z axes, in this order, as in URDF. RobotError if the name is taken.
        """
        if not name or not name.isprintable() or name in {frame.name for frame in self.frames}:
            raise RobotError(f"{self.name}: a frame cannot be called {name!r}; choose a new printable name")
        if not np.isfinite([*xyz, *rpy]).all() or (len(xyz), len(rpy)) != (3, 3):
            raise RobotError(f"{self.name}: frame {name!r}: xyz and rpy must be three finite numbers each")
        base = self.frame(on)
        placement = base.placement @ Pose(mat3(clean(np.array(from_rpy(*rpy)))), vec3(xyz))
        return replace(self, frames=(*self.frames, Frame(name, base.body, placement)))

    def with_loop(
        self,
        name: str,
        *,
        explicit: Mapping[str, Any] | None = None,
        implicit: Sequence[Any] = (),
        independent: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
        scale: Sequence[float] = (),
    ) -> Robot:
        """This robot with one more constraint between joints that have one coordinate each.

        `explicit` maps dependent joints to formulas of other joints; `implicit` lists formulas that stay zero, and
        `independent` the joints that are driven then (chosen if left out). A formula is a text such as
        "6*motor + 0.1", a SymPy expression or a CasADi SX; an implicit one may be a SymPy equation. Its variables are
        the joints' names (symbols may have any), or what `variables` maps to these. `scale` has one factor per
        independent joint, from v to the joint's rate. Bodies that the constraint ties form one cluster, which may
        change the order of the coordinates. RobotError if it does not fit.
        """
        from codegen.description.adding import with_loop  # symbolic, and so slow to import

        whole = with_loop(
            self,
            name,
            explicit=explicit,
            implicit=implicit,
            independent=independent,
            variables=variables,
            scale=scale,
        )
        return Robot.of(whole)

    def with_screw(self, joint: str, *, turn: Any = "q", slide: Any = "0") -> Robot:
        """This robot with a screw in the place of a joint of one coordinate q, on the same axis.

        It turns about the axis by `turn` (rad, linear in q) and slides along it by `slide` (m), formulas of q: a text
        such as "0.01*q", a SymPy expression of one symbol, or a CasADi SX called q. RobotError if they do not fit.
        """
        from codegen.description.adding import with_screw  # symbolic, and so slow to import

        return Robot.of(with_screw(self, joint, turn, slide))

    def with_inertial_parameters(self, pi: ArrayLike) -> Robot:
        """This robot with other inertial parameters pi (10 n) of its bodies, such as identified ones.

        Their order, frames and units are those of `codegen.inertial_parameters`. RobotError if the shape is another, or
        a body has a negative mass or principal moment of inertia.
        """
        from codegen.identification import bodies_with  # traces, and so slow to import

        return replace(self, bodies=bodies_with(self, pi))

    def lock(
        self, joints: Mapping[str, float | Sequence[float] | None] | Sequence[str], q: ArrayLike | None = None
    ) -> Robot:
        """This robot with some joints locked: at their positions (rad, m; as in q), or at those of q (nq; neutral).

        Locked bodies become part of those that carry them: inertias are merged, frames kept, armature is gone. What
        follows locked joints is locked too, and what one other joint leads takes this along. The others keep their
        names, by which the slices of the whole robot say where they stand in its q and v. RobotError if a loop forbids
        it, or is left without freedom (all joints of an implicit loop may be locked where they close it).
        """
        from codegen.description.locking import lock  # symbolic, and so slow to import

        return Robot.of(lock(self, joints, q))

    def lock_all_but(self, *joints: str, q: ArrayLike | None = None) -> Robot:
        """This robot with all joints locked but these and those that follow them, at q (nq, neutral by default).

        A floating base is a joint like others: name it to keep it. See `lock`.
        """
        from codegen.description.locking import lock_all_but  # symbolic, and so slow to import

        return Robot.of(lock_all_but(self, joints, q))

    def subtree(self, at: str, base: Literal["fixed", "floating"] = "fixed") -> Robot:
        """The robot that hangs on a link (any frame), which is the new world or floats; or, of a joint's name, this one
        and what hangs on it, the joint's frame being the new world.

        Frames and loops inside are kept; gravity is what it is, in the new world's axes. RobotError for loops that
        reach outside, and unknown names (a frame goes before a joint of the same name).
        """
        from codegen.description.subtree import subtree  # symbolic, and so slow to import

        return Robot.of(subtree(self, at, base))

    def neutral(self) -> NDArray[np.float64]:
        """The configuration with every coordinate zero and every quaternion one, loops closed from there: q (nq)."""
        return states.neutral(self)

    def random(
        self, rng: np.random.Generator | int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """A valid random state: q (nq) within the joint limits, v and tau (nv) of order one."""
        return states.random(self, rng)


def load(
    name_or_path: str | os.PathLike[str],
    base: Base | None = None,
    convention: Convention = "pinocchio",
    order: Order = "file",
    snap: float = SNAP,
    gravity: Sequence[float] | None = None,
) -> Robot:
    """A bundled robot ("talos"), a mechanism ("chain:20") or a file (.urdf, .xml, .mjcf, .json).

    `base` None keeps what the file says; "floating" lets the root link move freely, "fixed" welds to the world what
    floats. `convention` is that of quaternions and base velocities ("pinocchio" or "mujoco"). `order` "file" keeps the
    order of the joints in the file, "name" sorts those that one body carries. Entries of rotations and axes below
    `snap` (rad) become zeros. `gravity` (m/s^2, three numbers) replaces that of the file. Raises RobotError, in one
    sentence, on anything that cannot be used.
    """
    options = (base, convention, order, snap)
    with doing(f"reading {name_or_path}"):
        if name_or_path in bundled() and gravity is None and all(isinstance(x, Hashable) for x in options):
            return _bundled(str(name_or_path), *options)
        return Robot.assembled(read(name_or_path), *options, gravity)


@lru_cache(maxsize=64)
def _bundled(name: str, *options: Any) -> Robot:
    """A bundled robot, assembled once: it is immutable, and so is its file."""
    return Robot.assembled(read(name), *options)
