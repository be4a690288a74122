"""One mutant tried: it is refused in one short sentence, or it loads and everything that follows works."""

from __future__ import annotations

import math
import os
import time
import traceback
import warnings
import zlib
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np

import codegen
from codegen.description import json_format, read, write_json
from codegen.errors import RobotError, UnsuitedError
from codegen.ir.interpreter import interpret
from codegen.robot import Robot
from fuzz.files import Mutant, written
from fuzz.mutants import mutant

if TYPE_CHECKING:
    from pathlib import Path

    from codegen.model import Model

MOST_BODIES = 5  # of robots whose inverse dynamics is traced and evaluated
LONGEST = 500  # characters of a refusal, the path not counted
SLOW = 10.0  # s of processor time


def outcome(number: int, given: Mutant | None, folder: Path) -> tuple[str, str]:
    """What comes of a mutant, given itself or by its number, in a folder for its files."""
    return finding(written(given or mutant(number), folder))


def finding(path: Path) -> tuple[str, str]:
    """What is wrong with how a file was treated, in a few words that are alike for like faults, and the details.

    ("", "refused") or ("", "loaded") if nothing is.
    """
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            what, details = _tried(path)
        except MemoryError:
            what, details = "memory", traceback.format_exc()
        except Exception as error:
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "codegen" in frame.filename]
            place = f"{os.path.basename(frames[-1].filename)}:{frames[-1].name}" if frames else ""
            what, details = f"{type(error).__name__} in {place}", traceback.format_exc()
    took = time.process_time() - start
    return (f"slow ({details})", f"{took:.0f} s") if not what and took > SLOW else (what, details)


def _tried(path: Path) -> tuple[str, str]:
    try:
        description = read(path)
        model = Robot.assembled(description)
    except RobotError as error:
        return _refusal(str(error), path)
    if (odd := next((x for x in _numbers(astuple(model)) if math.isnan(x)), None)) is not None:
        return f"the model holds {odd}", ""
    q0 = model.neutral()
    state = model.random(0)
    if not all(np.isfinite(part).all() for part in (q0, *state)):
        return "a state is not finite", repr((q0, state))
    text = write_json(description)
    # Every fourth text is held against the schema, which takes its time.
    again = json_format.read(text, path, trusted=bool(zlib.crc32(text.encode("utf-8", "replace")) % 4))
    if again != description and Robot.assembled(again).digest != model.digest:
        return "the JSON reads back to another robot", text
    return _used(model, state)


def _refusal(message: str, path: Path) -> tuple[str, str]:
    rest = message.replace(str(path), path.name).replace(str(path.parent), "")
    if not rest.isprintable():
        return "a refusal of several lines", message
    if len(rest) > LONGEST:
        return "a refusal too long", message
    if not any(file in message for file in (path.name, *os.listdir(path.parent))):
        return "a refusal without the file's name", message
    return "", "refused"


def _used(model: Model, state: Any) -> tuple[str, str]:
    """Inverse dynamics traced, simplified and evaluated."""
    if not model.nv or len(model.bodies) > MOST_BODIES:
        return "", "loaded"
    try:
        _, graph = codegen.graphs(model, "rnea")
    except UnsuitedError:
        return "", "loaded"
    except RobotError as error:
        return "a refusal after loading", str(error)
    q, v, tau = state
    (forces, *_) = interpret(graph, q, v, tau)
    return ("", "loaded") if np.isfinite(forces).all() else ("inverse dynamics is not finite", repr(forces))


def _numbers(value: Any) -> list[float]:
    found, stack = [], [value]
    while stack:
        at = stack.pop()
        if isinstance(at, float):
            found.append(at)
        elif isinstance(at, tuple | list):
            stack += at
    return found
