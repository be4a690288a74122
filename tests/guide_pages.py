"""README.md and the guide as tests see them: pages, the blocks of code on them, and the links between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import codegen

ROOT = Path(__file__).parents[1]
GUIDE = Path(codegen.__file__).parent / "guide"
FILES = {"README": ROOT / "README.md", **{path.stem: path for path in sorted(GUIDE.glob("*.md"))}}
PAGES = {name: path.read_text(encoding="utf-8") for name, path in FILES.items()}

_FENCES = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """One block of code, and what stands right after it as its output, if anything does."""

    language: str
    code: str
    output: str | None


def blocks(page: str, language: str) -> list[Block]:
    """The blocks of a page in one language, in order."""
    fences = list(_FENCES.finditer(PAGES[page]))
    follows = [*fences[1:], None][: len(fences)]
    return [
        Block(language, fence[2], after[2] if after and is_output(PAGES[page], fence, after) else None)
        for fence, after in zip(fences, follows, strict=True)
        if fence[1] == language
    ]


def is_output(text: str, fence: re.Match[str], after: re.Match[str]) -> bool:
    """Whether a block of text stands right behind a block of code."""
    return after[1] == "text" and not text[fence.end() : after.start()].strip()


def prose(page: str) -> str:
    """A page without its blocks."""
    return _FENCES.sub("", PAGES[page])


def spans(page: str) -> list[str]:
    """What stands between single backticks in the prose, on one line each."""
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose(page))]


def links(page: str) -> list[str]:
    """The targets of links and pictures."""
    return re.findall(r"\]\(([^)\s]+)\)", prose(page))


def anchors(page: str) -> set[str]:
    """What GitHub calls the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
