"""Studies shown: printed in one form, or written to a folder in all forms with their figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.cli.study import FORMS
from codegen.cli.table import Table
from codegen.errors import RobotError
from codegen.progress import doing, note
from opcount.studies import STUDIES
from opcount.studies.drawing import canvas, saved

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from opcount.studies.study import Study

ALL = "all"
ENDINGS = {"text": "txt", "markdown": "md", "latex": "tex", "csv": "csv", "json": "json"}


def show(
    names: Sequence[str],
    form: str = "text",
    quick: bool = False,
    folder: Path | None = None,
    by: Executor | None = None,
) -> int:
    """Print studies; with a folder, write their tables and figures there. Without names, list what there is.

    RobotError for a name that no study has.
    """
    chosen = named(names)
    if not chosen:
        sys.stdout.write(listed().text())
        return 0
    if folder:
        canvas(1.0, 1.0)  # before the work: whether there is something to draw with
        folder.mkdir(parents=True, exist_ok=True)
    for n, name in enumerate(chosen):
        study = STUDIES[name]
        with doing(f"study {name}", n + 1, len(chosen)):
            table = study.table(quick, by)
        sys.stdout.write(printed(study, table, form) + "\n")
        sys.stdout.flush()
        if folder:
            for path in written(name, study, table, folder):
                note(f"wrote {path}")
    return 0


def named(names: Sequence[str]) -> tuple[str, ...]:
    """The studies meant by these names, each once."""
    for name in names:
        if name != ALL and name not in STUDIES:
            raise RobotError(f"there is no study {name!r}; the studies are {', '.join(STUDIES)}")
    usual = [name for name, study in STUDIES.items() if not study.long]
    return tuple(dict.fromkeys(one for name in names for one in (usual if name == ALL else [name])))


def listed() -> Table:
    """All studies."""
    rows = ((name, study.title, study.place, "yes" if study.long else "") for name, study in STUDIES.items())
    return Table(("study", "shows", "reproduces", "long"), tuple(rows))


def printed(study: Study, table: Table, form: str) -> str:
    """A table under its title; those for programs are the table alone."""
    body: str = getattr(table, form)()
    if form in ("csv", "json"):
        return body
    title = {"text": "", "markdown": "## ", "latex": "% "}[form] + str(study)
    remark = f"\n{'% ' if form == 'latex' else ''}{study.note}\n" if study.note else ""
    return f"{title}\n\n{body}{remark}"


def written(name: str, study: Study, table: Table, folder: Path) -> list[Path]:
    """The files of a study: its table in all forms, and its figure."""
    paths = []
    for form in ("text", *FORMS):
        path = folder / f"{name}.{ENDINGS[form]}"
        path.write_text(printed(study, table, form), encoding="utf-8")
        paths.append(path)
    return paths + (saved(study.figure(table), folder / name) if study.figure else [])
