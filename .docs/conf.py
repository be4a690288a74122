"""The guide as HTML, with an API reference: Sphinx reads `codegen/guide` with this file (`make docs`).

Pages of the guide stay plain Markdown, as GitHub shows them. What only Sphinx needs is added here as it reads them: the
order of the pages (that of the links in `index.md`), and the docstrings below `api.md`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "rigidc"
author = "The rigidc authors"
copyright = author
extensions = ["myst_parser", "sphinx.ext.autodoc"]

myst_heading_anchors = 3  # links to headings, as on GitHub
default_role = "code"  # docstrings mark code by single backticks
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True}
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"  # its fonts are the reader's own, and it loads nothing from elsewhere
html_title = "rigidc"
html_copy_source = False
html_show_sphinx = False

FUNCTIONS = ("load", "bundled", "build", "auto", "generate", "graphs", "symbolic", "contact_wrenches")
CLASSES = ("Robot", "Model", "Frame", "Contact", "RobotError", "BuildError", "SingularError")
OCP = ("Stage", "Problem", "Quadratic", "Piqp", "Solution", "Gait", "States")
REFERENCE = (
    "## codegen",
    *(f".. autofunction:: codegen.{name}" for name in FUNCTIONS),
    *(f".. autoclass:: codegen.{name}" for name in CLASSES),
    "### What the functions return",
    ".. autoclass:: codegen.formulas.Expressions",
    ".. autoclass:: codegen.compilation.runtime.Function\n   :special-members: __call__",
    ".. autoclass:: codegen.task.auto_select.Choice",
    ".. autoclass:: codegen.ir.graph.Graph",
    ".. autoclass:: codegen.ir.graph.Port",
    "## codegen.ocp",
    *(f".. autoclass:: codegen.ocp.{name}" for name in OCP),
    "## opcount",
    ".. autofunction:: opcount.count",
    ".. autofunction:: opcount.breakdown",
    ".. autoclass:: opcount.Count",
)


def add(app: Sphinx, page: str, source: list[str]) -> None:
    """What a page gets for Sphinx beside its text."""
    if page == "index":
        order = "\n".join(re.findall(r"\((.+?)\.md\)", source[0]))
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{order}\n```\n"
    if page == "api":
        parts = (line if line.startswith("#") else f"```{{eval-rst}}\n{line}\n```" for line in REFERENCE)
        source[0] += "\n" + "\n\n".join(parts) + "\n"


def unsigned(
    app: Sphinx, kind: str, name: str, found: object, options: object, signature: str | None, returns: str | None
) -> tuple[str, str] | None:
    """No signatures of classes: users do not call their constructors, and docstrings say what they hold."""
    return ("", "") if kind == "class" and signature else None


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add)
    app.connect("autodoc-process-signature", unsigned)
