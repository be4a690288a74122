"""The files of a bench."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from opcount.bench.report import Report


def write(report: Report, folder: Path) -> list[str]:
    """bench.md, bench.json and, with matplotlib, bench.png in `folder`; sentences on what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench.md").write_text(report.markdown(), encoding="utf-8")
    (folder / "bench.json").write_text(report.json(), encoding="utf-8")
    said = [f"wrote {folder / 'bench.md'}", f"wrote {folder / 'bench.json'}"]
    try:
        from opcount.bench.figure import draw
    except ImportError:
        return [*said, "no figure: matplotlib is not installed; pip install rigidc[figures]"]
    draw(report, folder / "bench.png")
    return [*said, f"wrote {folder / 'bench.png'}"]
