"""Untrusted files and the words for them: guarded reading, printable names, finite numbers, safe XML."""

from __future__ import annotations

import itertools
import math
import stat
from typing import TYPE_CHECKING

from lxml import etree

from codegen.errors import RobotError
from codegen.errors import shown as shown
from codegen.limits import DEEPEST, LARGEST, LARGEST_FILE

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path
    from typing import TypeAlias

    Element: TypeAlias = etree._Element

XACRO = "expand the file first: xacro FILE > FILE.urdf"


def shortened(text: str, longest: int = 200) -> str:
    """The words of another library on one line, without their middle if they are long."""
    words = " ".join("".join(c if c.isprintable() or c.isspace() else "?" for c in text).split())
    return words if len(words) <= longest else f"{words[: longest - 83]}...{words[-80:]}"


def fresh(taken: Container[str], *wishes: str) -> str:
    """The first wish that is not taken, or the last one with a number behind it."""
    numbered = (f"{wishes[-1]}_{count}" for count in itertools.count(2))
    return next(name for name in itertools.chain(wishes, numbered) if name and name not in taken)


def label(path: Path) -> str:
    """What error messages call a file."""
    text = str(path)
    return text if text.isprintable() else repr(text)


def read_text(path: Path) -> str:
    """The text of a regular UTF-8 file of at most 32 MiB; RobotError otherwise."""
    where = label(path)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise RobotError(f"{where}: this is not a regular file; give the path of a robot file")
        if status.st_size > LARGEST_FILE:
            raise RobotError(f"{where}: the file is larger than 32 MiB; a robot file holds no meshes")
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise RobotError(f"{where}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise RobotError(f"{where}: byte {error.start} is not valid UTF-8; save the file with UTF-8 encoding") from None
    except (OSError, ValueError) as error:
        if isinstance(error, RobotError):
            raise
        raise RobotError(f"{where}: the file cannot be read ({_reason(error)})") from None


def parse_xml(text: str, where: str) -> Element:
    """The root element; document types (and so entities) are refused, nothing is fetched."""
    if _prolog_has_doctype(text):
        raise RobotError(f"{where}: a DOCTYPE is not accepted in a robot file; remove it")
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(_without_declaration(text).encode(), parser)
    except etree.XMLSyntaxError as error:
        line, _ = error.position
        reason = " ".join(str(error.msg).split())
        if "Excessive depth" in reason:
            raise RobotError(
                f"{where}: line {line}: elements are nested more than {DEEPEST} deep; flatten them"
            ) from None
        mend = f"; {XACRO}" if "prefix xacro" in reason else ""
        raise RobotError(f"{where}: line {line}: the XML is malformed ({shortened(reason)}){mend}") from None


def number(text: str, what: str, *, infinite: bool = False) -> float:
    """A number written in a file; `what` names file, element and attribute in the RobotError.

    One that may be `infinite` is so beyond what numbers may be: Gazebo's files say 1e16 of a joint without limits.
    """
    try:
        value = float(text.replace("_", "?"))
    except ValueError:
        raise RobotError(f"{what}: {shown(text)} is not a number") from None
    if math.isnan(value) or (math.isinf(value) and not infinite):
        raise RobotError(f"{what}: {shown(text)} is not a finite number")
    if abs(value) > LARGEST:
        if not infinite:
            raise RobotError(f"{what}: {shown(text)} is beyond {LARGEST:g}; correct it")
        value = math.copysign(math.inf, value)
    return value + 0.0  # minus zero is zero


def numbers(text: str, count: int, what: str) -> tuple[float, ...]:
    """So many numbers separated by white space."""
    words = text.split()
    if len(words) != count:
        raise RobotError(f"{what}: {shown(text)} must be {count} numbers")
    return tuple(number(word, what) for word in words)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or " ".join(str(error).split())


def _prolog_has_doctype(text: str) -> bool:
    """Whether a DOCTYPE stands before the root element, the only place where XML allows one."""
    at = 0
    while True:
        at += len(text[at : at + 4096]) - len(text[at : at + 4096].lstrip())
        if text[at : at + 1].isspace():
            continue
        if text.startswith("<!--", at):
            end, skip = text.find("-->", at + 4), 3
        elif text.startswith("<?", at):
            end, skip = text.find("?>", at + 2), 2
        else:
            return text.startswith("<!", at)
        if end < 0:
            return False
        at = end + skip


def _without_declaration(text: str) -> str:
    """The text with its XML declaration blanked out: its encoding is settled, its lines must still count.

    Blank lines before the declaration, which XML forbids and editors leave, do no harm.
    """
    end = text.find("?>")
    if end < 0 or not text.lstrip().startswith("<?xml"):
        return text
    return "\n" * text.count("\n", 0, end) + text[end + 2 :]
