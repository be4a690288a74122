"""The committed verdicts: what tests hold today's to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from opcount.claims import CLAIMS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.tracing.task import Tier
    from opcount.claims.claim import Verdict

    Verdicts = Mapping[str, Mapping[Tier, Verdict]]

FILE = Path(__file__).with_name("expected.json")


def read(file: Path = FILE) -> dict[str, dict[Tier, Verdict]]:
    """The verdicts on each tier, by claims; none if there is no file."""
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}


def written(verdicts: Verdicts) -> str:
    """The text of the file: one line per claim that there is, in their order."""
    lines = (f"  {json.dumps(id)}: {json.dumps(verdicts[id])}" for id in CLAIMS if id in verdicts)
    return "{\n" + ",\n".join(lines) + "\n}\n"
