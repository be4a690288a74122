"""Names and texts from robot files made safe for C: identifiers, comments and string literals.

Nothing from a file reaches C except through these functions.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from textwrap import TextWrapper
from typing import TYPE_CHECKING

from codegen.errors import RobotError

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST = 48

_KEYWORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int
    long register restrict return short signed sizeof static struct switch typedef union unsigned void
    volatile while alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept bitand
    bitor bool catch char8_t char16_t char32_t class compl concept consteval constexpr constinit
    const_cast co_await co_return co_yield decltype delete dynamic_cast explicit export false friend
    module mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
    reflexpr requires reinterpret_cast static_assert static_cast synchronized template this thread_local
    throw true try typeid typename typeof typeof_unqual using virtual wchar_t xor xor_eq final override
    import fortran near far
"""
_MACROS = """
    NULL EOF I errno main linux unix i386 vax sun assert complex imaginary offsetof stdin stdout stderr
    NAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL M_PI M_E M_LN2 min max small interface DOMAIN OVERFLOW
    UNDERFLOW size_t ptrdiff_t float_t double_t div_t signgam va_arg va_start va_end va_copy setjmp
    isnan isinf isfinite isnormal signbit fpclassify isgreater isless isunordered math_errhandling
"""
_MATH = """
    acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp
    log log10 log1p log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil
    floor nearbyint rint lrint llrint round lround llround trunc fmod remainder remquo copysign nan
    nextafter nexttoward fdim fmax fmin fma abs labs gamma j0 j1 jn y0 y1 yn drem significand exp10
    pow10 sincos
"""
RESERVED = frozenset(_KEYWORDS.split() + _MACROS.split() + [f + end for f in _MATH.split() for end in ("", "f", "l")])

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*_?")
_HASHED = re.compile(r".*_[0-9a-f]{8}")


def identifier(text: str) -> str:
    """A C identifier for any text: itself if it is one that C, C++ and their libraries leave free.

    Anything else is transliterated and ends in eight hex digits of its SHA-256; so does a name that already
    looks like that, so that no name can pose as another's replacement.
    """
    free = _PLAIN.fullmatch(text) and not _HASHED.fullmatch(text) and text not in RESERVED
    if free and len(text) <= _LONGEST:
        return text
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = "_".join(re.findall(r"[A-Za-z0-9]+", ascii_text))[:_LONGEST].strip("_")
    stem = words if words[:1].isalpha() else f"x_{words}".rstrip("_")
    return f"{stem}_{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def identifiers(names: Sequence[str]) -> tuple[str, ...]:
    """An identifier for each name; RobotError if two would be the same but for their case."""
    made: dict[str, str] = {}
    for name in names:
        key = identifier(name).lower()
        if key in made:
            raise RobotError(f"the names {made[key]!r} and {name!r} cannot be told apart in C; rename one of them")
        made[key] = name
    return tuple(identifier(name) for name in names)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def comment(text: str) -> str:
    """The text on one line, in ASCII, with nothing that could end, open or continue a C comment."""
    text = "".join(c if " " <= c <= "~" and c != "\\" else _escaped(c) for c in text)
    for opening, last in (("*/", "/"), ("/*", "*"), ("//", "/"), ("??", "?")):
        while opening in text:
            text = text.replace(opening, opening[0] + _escaped(last))
    return text


def wrapped(text: str, indent: str = "", further: str = "") -> list[str]:
    """The text as lines of a C comment, within 120 columns where words let it; indented, after the first `further`."""
    lines = TextWrapper(116, indent, indent + further, break_long_words=False, break_on_hyphens=False)
    return lines.wrap(comment(text))


def string(text: str) -> str:
    """A C string literal, quotes included, for the UTF-8 bytes of the text."""
    plain = set(range(32, 127)) - set(b'"\\?')
    raw = text.encode("utf-8", "surrogatepass")
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in raw) + '"'
