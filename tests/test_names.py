"""Names from robot files: what C gets to see of them."""

from __future__ import annotations

import keyword
import re
from typing import TYPE_CHECKING

import pytest
from compilers import COMPILERS, compiled
from hypothesis import given
from hypothesis import strategies as st

from codegen.errors import RobotError
from codegen.ir.names import RESERVED, comment, identifier, identifiers, string

if TYPE_CHECKING:
    from pathlib import Path

# Any characters, without the tables of Unicode that `st.text` makes when it runs first.
POINTS = st.integers(0, 127) | st.integers(0, 0xD7FF) | st.integers(0xE000, 0x10FFFF)
TEXTS = st.lists(POINTS.map(chr)).map("".join)


@pytest.mark.parametrize("name", ["talos", "left_knee", "x1", "LF_HAA", "a"])
def test_plain_names_stay(name: str) -> None:
    assert identifier(name) == name


@pytest.mark.parametrize(
    "name", ["int", "class", "NULL", "errno", "main", "I", "linux", "_x", "__x", "a__b", "sin", "cosf", "",
             "1a", "a b", "a-b", "é", "名", "x" * 80, "a\n", "a_0123abcd", "*/", "template"]
)  # fmt: skip
def test_other_names_get_a_suffix(name: str) -> None:
    made = identifier(name)
    assert made != name
    assert re.fullmatch(r"[A-Za-z]\w*_[0-9a-f]{8}", made)
    assert len(made) < 64


def test_names_that_differ_stay_different() -> None:
    names = ["a b", "a-b", "a/b", "a_b", "ä b", identifier("a b"), identifier(identifier("a b"))]
    assert len(set(identifiers(names))) == len(names)


def test_collisions_are_refused() -> None:
    with pytest.raises(RobotError, match="'Knee' and 'knee'"):
        identifiers(["Knee", "hip", "knee"])
    with pytest.raises(RobotError):
        identifiers(["hip", "hip"])


@given(TEXTS)
def test_identifiers_are_always_identifiers(text: str) -> None:
    made = identifier(text)
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", made)
    assert "__" not in made
    assert made not in RESERVED
    assert identifier(text) == made


@given(st.text(alphabet=st.sampled_from("*/\\?'\"\n\r\t ab/*é\x00\u2028\U0001f916")) | TEXTS)
def test_comments_stay_comments(text: str) -> None:
    made = comment(text)
    assert made.isascii()
    assert made.isprintable()
    assert not re.search(r"\*/|/\*|//|\?\?|\\$|\\\s", f"{made}")


@given(TEXTS | st.text(alphabet=st.sampled_from('\\"?/\n0123é\x00')))
def test_strings_hold_exactly_the_text(text: str) -> None:
    made = string(text)
    assert re.fullmatch(r'"(?:[^"\\?\n]|\\[0-3][0-7][0-7])*"', made)
    raw = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), made[1:-1])
    assert raw.encode("latin-1").decode("utf-8", "surrogatepass") == text


@pytest.mark.parametrize("compiler", COMPILERS)
def test_compilers_agree_that_they_are_free(tmp_path: Path, compiler: str) -> None:
    """Every reserved word, and every Python keyword, becomes a name that C and C++ can declare."""
    names = sorted({identifier(word) for word in (*RESERVED, *keyword.kwlist, "a b", "_Bool", "__LINE__")})
    literal = string('a??/b\n"')
    text = "#include <math.h>\n#include <complex.h>\n#include <errno.h>\n"
    text += "".join(f"int {name};\n" for name in names) + f"const char *text = {literal};\n"
    (tmp_path / "names.c").write_text(text)
    compiled(compiler, tmp_path, "-std=gnu99", "-Werror", "-fsyntax-only", "names.c")
    (tmp_path / "names.cpp").write_text(text.replace("#include <complex.h>\n", ""))
    compiled(compiler, tmp_path, "-x", "c++", "-std=c++17", "-Werror", "-fsyntax-only", "names.cpp")
