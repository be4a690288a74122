"""Polynomials in symbols, sines and cosines as expressions that are short to read.

Two forms compete: products of sines and cosines, and sines and cosines of sums of angles, as textbooks write them.
What multiplies the same sine or cosine is gathered, and factored where it is short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Add, Mul, Rational, S, cos, count_ops, expand_mul, factor, factor_terms, sin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Powers = tuple[int, ...]
    Angles = Mapping[int, tuple[int, Any]]
    Wave = tuple[bool, tuple[tuple[int, int], ...]]  # whether it is a sine, and how often it counts each angle

ROUNDING = 1e-14  # what is left of terms that cancel, as part of the largest coefficient
MOST_FACTORED = 40  # terms of a sum that is factored
MOST_GATHERED = 60  # terms of a sum of which common factors are gathered


def expression(polynomial: Mapping[Powers, Any], meaning: Mapping[int, Any], angles: Angles) -> Any:
    """The shortest expression of a polynomial, which is given as coefficients by powers of generators."""
    terms = _rounded({powers: Rational(str(coefficient)) for powers, coefficient in polynomial.items()})
    turning = {place for sine, (cosine, _) in angles.items() for place in (sine, cosine)}
    if not any(powers[place] for powers in terms for place in turning):
        return shortest(Add(*(c * _product(powers, meaning, ()) for powers, c in terms.items())))
    sums = (_products(terms, meaning, turning), _waves(terms, meaning, angles))
    if forms := [_gathered(factors) for factors in sums if _terms(factors) <= MOST_GATHERED]:
        return min(forms, key=_length)
    return Add(*(c * trig for trig, c in min(sums, key=_terms).items()))


def _rounded(terms: dict[Any, Any]) -> dict[Any, Any]:
    """Without terms that rounding has left."""
    least = ROUNDING * max((abs(c) for c in terms.values()), default=0.0)
    return {key: c for key, c in terms.items() if abs(c) > least}


def _product(powers: Powers, meaning: Mapping[int, Any], without: Iterable[int]) -> Any:
    """The product of generators to their powers, some left out."""
    out = set(without)
    return Mul(*(meaning[place] ** power for place, power in enumerate(powers) if power and place not in out))


def _products(terms: Mapping[Powers, Any], meaning: Mapping[int, Any], turning: set[int]) -> dict[Any, Any]:
    """What multiplies every product of sines and cosines."""
    found: dict[Any, list[Any]] = {}
    for powers, c in terms.items():
        trig = Mul(*(meaning[place] ** powers[place] for place in sorted(turning) if powers[place]))
        found.setdefault(trig, []).append(c * _product(powers, meaning, turning))
    return {trig: Add(*parts) for trig, parts in found.items()}


def _waves(terms: Mapping[Powers, Any], meaning: Mapping[int, Any], angles: Angles) -> dict[Any, Any]:
    """What multiplies the sine or cosine of every sum of angles."""
    turning = {place for sine, (cosine, _) in angles.items() for place in (sine, cosine)}
    found: dict[Wave, dict[Any, Any]] = {}
    for powers, c in terms.items():
        rest = tuple(0 if place in turning else power for place, power in enumerate(powers))
        for wave, part in _spectrum(powers, angles).items():
            factors = found.setdefault(wave, {})
            factors[rest] = factors.get(rest, S.Zero) + part * c
    least = ROUNDING * max((abs(c) for factors in found.values() for c in factors.values()), default=0.0)
    sums = {
        wave: Add(*(c * _product(rest, meaning, ()) for rest, c in factors.items() if abs(c) > least))
        for wave, factors in found.items()
    }
    return {_wave(wave, angles): total for wave, total in sums.items() if total != 0}


def _spectrum(powers: Powers, angles: Angles) -> dict[Wave, Any]:
    """A product of powers of sines and cosines as a sum of sines and cosines."""
    waves: dict[Wave, Any] = {(False, ()): S.One}
    for sine, (cosine, _) in angles.items():
        for _ in range(powers[sine]):
            waves = _times(waves, True, sine)
        for _ in range(powers[cosine]):
            waves = _times(waves, False, sine)
    return waves


def _times(waves: Mapping[Wave, Any], odd: bool, angle: int) -> dict[Wave, Any]:
    """Sines and cosines times that of one angle: halves of those of sums and differences."""
    found: dict[Wave, Any] = {}
    for (is_sine, counts), c in waves.items():
        for step in (1, -1):
            # sin A sin B = (cos(A-B) - cos(A+B)) / 2, cos A sin B = (sin(A+B) - sin(A-B)) / 2, ...
            sign = -step if is_sine and odd else step if odd else 1
            wave, flip = _forwards(is_sine != odd, _sum(counts, angle, step))
            if flip:
                found[wave] = found.get(wave, S.Zero) + flip * sign * c / 2
    return found


def _terms(factors: Mapping[Any, Any]) -> int:
    """How many terms a sum of products has."""
    return sum(len(Add.make_args(c)) for c in factors.values())


def _sum(counts: tuple[tuple[int, int], ...], angle: int, step: int) -> tuple[tuple[int, int], ...]:
    whole = dict(counts)
    whole[angle] = whole.get(angle, 0) + step
    return tuple(sorted((key, n) for key, n in whole.items() if n))


def _forwards(is_sine: bool, counts: tuple[tuple[int, int], ...]) -> tuple[Wave, int]:
    """A wave whose first angle counts forwards, and its sign; 0 for the sine of nothing."""
    if not counts:
        return (is_sine, counts), 0 if is_sine else 1
    if counts[0][1] > 0:
        return (is_sine, counts), 1
    return (is_sine, tuple((key, -n) for key, n in counts)), -1 if is_sine else 1


def _wave(wave: Wave, angles: Angles) -> Any:
    is_sine, counts = wave
    whole = Add(*(n * angles[sine][1] for sine, n in counts))
    return (sin if is_sine else cos)(whole)


def _gathered(factors: Mapping[Any, Any]) -> Any:
    """The sum of products of sines or cosines and what multiplies them, or this factored, whichever is shorter."""
    total = Add(*(shortest(c) * wave for wave, c in factors.items()))
    spread = Add(*(expand_mul(c * wave) for wave, c in factors.items()))
    forms = [total, factor_terms(total), factor_terms(spread, clear=False)]
    return min(forms, key=_length)


def shortest(total: Any) -> Any:
    """A sum as it is or factored, whichever is shorter."""
    forms = [total, factor_terms(total, clear=False)]
    if len(Add.make_args(total)) <= MOST_FACTORED:
        forms.append(factor(total))
    return min(forms, key=_length)


def _length(form: Any) -> tuple[int, int]:
    """Operations first, then characters."""
    return int(count_ops(form)), len(str(form))
