"""Contacts as users state them, in Python and as a text.

FRAME[:ROWS][:axis=X,Y,Z][:in=AXES][:kp=NUMBER][:kd=NUMBER][:friction=NUMBER][:spatial] (kp and kd: one number, or one
per row, with commas between), where ROWS is one of
  6            the whole frame (the default), 3 its origin
  hinge-x      all but turns about the x axis (or y, z), or `hinge` about any other, which axis=X,Y,Z gives
  foot-LxW     the four corners of a sole, L long (m, along x) and W wide (along y), about the frame's origin
  x,y,rz       rows by name: x, y, z of the origin, rx, ry, rz of the angular acceleration
and AXES those that the rows, and so the multipliers, are along: `world`, or another frame's; by default the
frame's own.
A foot may be held in part, x,y,z of its corners by default: foot-LxW,z holds them vertically.
With friction the forces at every point (rows x,y,z) push along z and are within a cone about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.errors import RobotError
from codegen.geometry import ZERO, Vec3, vec3

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.model.model import Frame, Model

    Array = NDArray[np.float64]

NAMES = ("rx", "ry", "rz", "x", "y", "z")
FOOT = re.compile(r"foot-(\d*\.?\d+)x(\d*\.?\d+)((?:,\w+)*)")
KINDS = "3, 6, hinge-x, foot-0.2x0.1, or rows such as x,y,rz"


@dataclass(frozen=True, slots=True)
class Contact:
    """Rows of the acceleration of a frame that a constraint holds.

    `rows` is m x 6, acting on [angular; linear] acceleration along `axes`: the frame's own (""), "world", or those of
    another frame. `points` (m, in the frame's own axes) are where each row takes the linear part; none: all at the
    frame's origin. `kp` and `kd` are gains on errors of position and velocity (m each, or none). With `spatial`, the
    linear part is that of the spatial acceleration, otherwise the classical one. With `friction`, forces at a point
    obey Coulomb's law, its coefficient times the force along the last row being the most across; without, rows hold.
    """

    frame: Frame
    rows: tuple[tuple[float, ...], ...]
    points: tuple[Vec3, ...] = ()
    axes: str = ""
    kp: tuple[float, ...] = ()
    kd: tuple[float, ...] = ()
    spatial: bool = False
    friction: float | None = None

    def __str__(self) -> str:
        return text_of(self)

    @property
    def parts(self) -> tuple[tuple[Vec3, slice], ...]:
        """The points, each with its run of rows."""
        points = self.points or (ZERO,) * len(self.rows)
        starts = [n for n, point in enumerate(points) if n == 0 or point != points[n - 1]]
        ends = [*starts[1:], len(points)]
        return tuple((points[start], slice(start, end)) for start, end in zip(starts, ends, strict=True))

    @property
    def turns(self) -> bool:
        """Whether it matters how the frame is turned: some row is angular, or takes another point than the origin."""
        return any(map(any, self.points)) or any(any(row[:3]) for row in self.rows)


def contact_on(
    model: Model,
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
    """See `Robot.contact`."""
    held, name = model.frame(frame), f"contact on {frame!r}"
    if np.size(axis) and not (isinstance(rows, str) and rows == "hinge"):
        raise RobotError(f"{name}: only rows 'hinge' take an axis; leave it out")
    matrix, corners = _matrix(name, rows, axis)
    if corners is not None and len(points):
        raise RobotError(f"{name}: a foot has its corners; leave out the points, or write 3 for {rows!r}")
    at = _places(name, points) if corners is None else corners
    if axes and axes != "world":
        model.frame(axes)
    if friction is not None:
        _check_friction(name, friction, matrix)
    matrix = np.tile(matrix, (max(len(at), 1), 1))
    return Contact(
        held,
        tuple(tuple(float(x) for x in row) for row in matrix),
        tuple(vec3(point) for point in np.repeat(at, len(matrix) // max(len(at), 1), axis=0)) if at.any() else (),
        axes if axes != frame else "",
        _gains(name, "kp", kp, len(matrix)),
        _gains(name, "kd", kd, len(matrix)),
        spatial,
        None if friction is None else float(friction),
    )


def _check_friction(name: str, friction: Any, rows: Array) -> None:
    """RobotError unless forces on these rows of a point can be within a cone of this coefficient."""
    if not np.array_equal(rows, np.eye(6)[3:]):
        raise RobotError(f"{name}: friction needs the rows x,y,z of points; write 3, or a foot such as foot-0.2x0.1")
    number = _numeric(friction)
    if number is None or number.ndim or not 0 <= number < np.inf:
        raise RobotError(f"{name}: friction must be a number of at least zero, not {friction!r}")


def _places(name: str, points: Sequence[Sequence[float]]) -> Array:
    """Points as a matrix (n x 3)."""
    at = _numeric(points)
    if at is None or (at.size and (at.ndim != 2 or at.shape[1] != 3 or not np.isfinite(at).all())):
        raise RobotError(f"{name}: points must be a finite n x 3 matrix")
    return at


def whole_tips(model: Model) -> tuple[Contact, ...]:
    """All six rows of every tip: the contacts of whoever names none."""
    return tuple(contact_on(model, tip) for tip in model.tips)


def contact_of(model: Model, text: str) -> Contact:
    """The contact that a text states; RobotError if it states none."""
    frame, rest = _named(model, text)
    found: dict[str, Any] = {}
    while rest:
        if rest.startswith("in="):
            word = rest
            said, rest = ("world", rest[9:]) if re.match(r"in=world(:|$)", rest) else _named(model, rest[3:])
            own: dict[str, Any] = {"axes": said}
        else:
            word, _, rest = rest.partition(":")
            own = _option(text, word)
        if not word or own.keys() & found.keys():
            raise RobotError(
                f"contact {text!r}: {word!r} is one too many; "
                "write FRAME:ROWS:axis=X,Y,Z:in=AXES:kp=NUMBER:kd=NUMBER:friction=NUMBER:spatial"
            )
        found |= own
    return contact_on(model, frame, found.pop("rows", 6), **found)


def _option(text: str, word: str) -> dict[str, Any]:
    """What one word between colons says."""
    if word == "spatial":
        return {"spatial": True}
    if word[:3] in ("kp=", "kd="):
        gains = _numbers(text, word, "100")
        return {word[:2]: gains if len(gains) > 1 else gains[0]}
    if word.startswith("friction="):
        return {"friction": _numbers(text, word, "0.7")[0]}
    if word.startswith("axis="):
        return {"axis": _numbers(text, word, "0,1,-1")}
    return {"rows": word}


def _named(model: Model, text: str) -> tuple[str, str]:
    """The longest frame name with which a text begins, as colons may be part of it, and what follows."""
    ends = [n for n in range(len(text), 0, -1) if n == len(text) or text[n] == ":"]
    names = {frame.name for frame in model.frames}
    end = next((n for n in ends if text[:n] in names), ends[-1] if ends else 0)
    return model.frame(text[:end]).name, text[end + 1 :]


def _numbers(text: str, word: str, example: str) -> tuple[float, ...]:
    """The numbers behind a word's equals sign; as many as in the example, if that has several."""
    name, _, given = word.partition("=")
    wanted = example.count(",")
    try:
        if wanted and given.count(",") != wanted:
            raise ValueError
        return tuple(float(number) for number in given.split(","))
    except ValueError:
        kind = "three numbers" if wanted else "number"
        raise RobotError(f"contact {text!r}: {word!r} holds no {kind}; write {name}={example}, say") from None


def _numeric(values: Any) -> Array | None:
    """An array of numbers, or None if these are none."""
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError, OverflowError):
        return None


def _hinge(name: str, axis: Sequence[float]) -> Array:
    """Rows across an axis, which the shortest turn takes there from the frame's own, and those of the origin."""
    along = _numeric(axis)
    length = np.linalg.norm(along) if along is not None and along.shape == (3,) else 0.0
    if along is None or not 0 < length < np.inf:
        raise RobotError(f"{name}: a hinge needs an axis of three finite numbers, not all zero; or write hinge-x")
    k = int(np.abs(along).argmax())
    along = along / np.copysign(length, along[k])
    rows = np.eye(6)
    rows[:3, :3] -= np.outer(along, along + rows[k, :3]) / (1 + along[k])
    return np.delete(rows, k, axis=0)


def _matrix(
    name: str, rows: int | str | Sequence[Sequence[float]], axis: Sequence[float]
) -> tuple[Array, Array | None]:
    """Rows (m x 6) of a kind, a hinge about its axis, and the corners of a foot."""
    eye = np.eye(6)
    if isinstance(rows, Integral) or (isinstance(rows, str) and re.fullmatch("[0-9]{1,3}", rows)):
        if int(rows) not in (3, 6):
            raise RobotError(f"{name}: rows must be {KINDS}, or an m x 6 matrix, not {rows}")
        return eye[6 - int(rows) :], None
    if not isinstance(rows, str):
        return _numbered(name, rows), None
    if rows in ("hinge", "hinge-x", "hinge-y", "hinge-z"):
        return _hinge(name, axis if rows == "hinge" else [float(rows[-1] == letter) for letter in "xyz"]), None
    if foot := FOOT.fullmatch(rows):
        half = np.array([float(foot[1]), float(foot[2])]) / 2
        corners = np.array([[*(half * signs), 0.0] for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1))])
        return _selected(name, rows, foot[3][1:] or "x,y,z"), corners
    return _selected(name, rows, rows), None


def _numbered(name: str, rows: Any) -> Array:
    """Rows that are stated in numbers (m x 6)."""
    found = _numeric(rows)
    matrix = np.zeros((0, 0)) if found is None else np.atleast_2d(found)
    if matrix.ndim != 2 or matrix.shape[1] != 6 or not len(matrix) or not np.isfinite(matrix).all():
        given = "" if isinstance(rows, Sequence | np.ndarray) else f", not {rows!r}"
        raise RobotError(f"{name}: rows must be {KINDS}, or a finite m x 6 matrix{given}")
    return matrix


def _selected(name: str, text: str, rows: str) -> Array:
    """Rows by their names, in the order given."""
    words = rows.split(",")
    if not set(words) <= set(NAMES):
        raise RobotError(f"{name}: rows {text!r} are not known; write {KINDS}")
    for word in words:
        if words.count(word) > 1:
            raise RobotError(f"{name}: row {word!r} is named twice in {text!r}; name it once")
    return np.eye(6)[[NAMES.index(word) for word in words]]


def _gains(name: str, gain: str, values: float | Sequence[float], rows: int) -> tuple[float, ...]:
    """One gain per row; none if all are zero."""
    found = _numeric(values)
    if found is None or found.shape not in ((), (rows,)) or not np.isfinite(found).all() or (found < 0).any():
        raise RobotError(f"{name}: {gain} must be a number of at least zero, or {rows} of them")
    return tuple(float(x) for x in np.broadcast_to(found, rows)) if found.any() else ()


def text_of(contact: Contact) -> str:
    """The text that states a contact; its rows as `rows_of` has them where no text does."""
    words = [contact.frame.name, _kind(contact)]
    words += [f"in={contact.axes}"] * bool(contact.axes)
    words += [f"{name}={gains}" for name in ("kp", "kd") if (gains := gain_of(contact, name))]
    words += [f"friction={number(contact.friction)}"] if contact.friction is not None else []
    return ":".join(words + ["spatial"] * contact.spatial)


def placed(contacts: Sequence[Contact]) -> Iterator[tuple[str, Contact]]:
    """The contacts, each behind the places of its rows among those of all."""
    start = 0
    for contact in contacts:
        last = start + len(contact.rows) - 1
        yield (f"{start}..{last}" if last > start else f"{start}"), contact
        start = last + 1


def rows_of(contact: Contact) -> str:
    """The rows of a contact in order, by names or else in numbers, each run of them with its point."""
    runs = []
    for point, rows in contact.parts:
        at = f" at ({','.join(map(number, point))})" if contact.points else ""
        runs.append(", ".join(map(_row, contact.rows[rows])) + at)
    return "; ".join(runs)


def gain_of(contact: Contact, name: str) -> str:
    """The gains kp or kd of a contact: the one of all rows, or those of each; nothing if there are none."""
    gains = getattr(contact, name)
    return ",".join(map(number, gains[:1] if len(set(gains)) == 1 else gains))


def number(x: float) -> str:
    """A number that reads back exactly, as short as that may be."""
    return repr(float(x)).removesuffix(".0")


def _row(row: Sequence[float]) -> str:
    """The name of a unit row, the numbers of another."""
    units = np.eye(6).tolist()
    return NAMES[units.index(list(row))] if list(row) in units else f"[{','.join(map(number, row))}]"


def _kind(contact: Contact) -> str:
    """ROWS of the text that states a contact, with its axis, else the rows themselves."""
    own = contact.rows[: len(contact.rows) // 4] if contact.points else contact.rows
    named = ",".join(map(_row, own))
    kinds = ["6", "3", "hinge-x", "hinge-y", "hinge-z", named]
    if contact.points:
        sole = "x".join(np.format_float_positional(2 * x, trim="-") for x in contact.points[0][:2])
        kinds = [f"foot-{sole}", f"foot-{sole},{named}"]
    found = next((kind for kind in kinds if _gives(contact, kind)), "")
    if found or len(contact.rows) != 5:
        return found or rows_of(contact)
    along = np.cross(*np.array(contact.rows)[:2, :3])
    axes = [np.round(along / x, 12) + 0.0 for x in along if abs(x) > 1e-6]  # one that users would write, if it is exact
    axis = next((axis for axis in axes if _gives(contact, "hinge", axis.tolist())), ())
    return f"hinge:axis={','.join(map(number, axis))}" if len(axis) else rows_of(contact)


def _gives(contact: Contact, rows: str, axis: Sequence[float] = ()) -> bool:
    """Whether this kind of rows is exactly those of a contact, at its points."""
    try:
        matrix, corners = _matrix("", rows, axis)
    except RobotError:
        return False
    at = np.zeros((1, 3)) if corners is None else corners
    points = contact.points or (ZERO,) * len(contact.rows)
    repeated = np.tile(matrix, (len(at), 1)), np.repeat(at, len(matrix), axis=0)
    return all(map(np.array_equal, repeated, (contact.rows, points)))
