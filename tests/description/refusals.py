"""How a test looks at a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codegen.errors import RobotError
from codegen.robot import load

if TYPE_CHECKING:
    from pathlib import Path


def sentence(path: Path) -> str:
    """The error of a file, checked to be one sentence that names the file."""
    with pytest.raises(RobotError) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    assert len(message) < 500
    return message
