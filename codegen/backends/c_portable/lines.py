"""Lines of C that are not too long: comments go on in the next line, and so do statements, where a word ends."""

from __future__ import annotations

import re
from textwrap import TextWrapper
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WIDTH = 100

_COMMENT = re.compile(r"( *)(/\*| \*(?=\s))( *)")
_GOES_ON = re.compile(r" \* +(?!(?:in |out) \w+\[)[a-z]")  # not with the next argument
_WORD = re.compile(r'(?:"(?:\\.|[^"\\])*"|\S)+')  # a string is one


def fitted(text: str) -> str:
    """The text in lines of 100 columns, but where one word is longer; lines for the preprocessor stay as they are.

    What is left of a line of a comment begins the next one, where that goes on with the sentence.
    """
    lines: list[str] = []
    waiting = text.split("\n")[::-1]
    while waiting:
        *whole, last = _pieces(waiting.pop())
        lines += whole
        after = _GOES_ON.match(waiting[-1]) if whole and waiting and last.startswith(" * ") else None
        if after:
            start = after.end() - 1
            waiting[-1] = f"{waiting[-1][:start]}{last[2:].lstrip()} {waiting[-1][start:]}"
        else:
            lines.append(last)
    return "\n".join(lines)


def _pieces(line: str) -> Iterable[str]:
    """The lines that a line becomes."""
    if len(line) <= WIDTH or line.startswith("#"):
        return [line]
    comment = _COMMENT.match(line)
    if comment is None:
        return _statement(line)
    indent, opening, space = comment.groups()
    alone = opening == "/*" and line.endswith("*/")
    further = f"{indent}   " if alone else f"{indent} *{space}" + "  " * (len(space) > 1)
    lines = TextWrapper(WIDTH, comment[0], further, break_long_words=False, break_on_hyphens=False)
    return lines.wrap(line[comment.end() :])


def _statement(line: str) -> Iterator[str]:
    """A statement goes on after commas, or anywhere if it has none."""
    words = _WORD.findall(line)
    commas = any(word.endswith(",") for word in words)
    now, chunk = line[: len(line) - len(line.lstrip())], ""
    further = f"{now}    "
    for place, word in enumerate(words, start=1):
        chunk = f"{chunk} {word}" if chunk else word
        if commas and place < len(words) and not word.endswith(","):
            continue
        if now.strip() and len(now) + 1 + len(chunk) > WIDTH:
            yield now
            now = f"{further}{chunk}"
        else:
            now = f"{now} {chunk}" if now.strip() else now + chunk
        chunk = ""
    yield now
