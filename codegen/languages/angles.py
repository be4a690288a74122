"""The numbers of the generated sine and cosine.

An angle is reduced to |r| <= pi/4 by subtracting m pi/2 in three parts, the first two short enough for exact
products with m < 2^16 (37 and 36 bits). Then sin r = r + r z P(z) and cos r = 1 - z/2 + z^2 Q(z) with z = r^2; P and
Q are minimax polynomials for the relative error of the result: below 2^-57 in double; for floats, where all of this
is done in doubles and rounded once, below 2^-37. Their terms are taken in pairs, which shortens the way to the result.
"""

from __future__ import annotations

from typing import Any

INCLUDES = ("float.h", "stdint.h", "string.h")

_PIO2 = (1.5707963267923333, 2.5633441514780767e-12, 1.1644211747377496e-22)
_SINE = {
    "float64": (
        -0.1666666666666663,
        0.008333333333322108,
        -0.0001984126982958018,
        2.7557313618029185e-06,
        -2.5050747220770088e-08,
        1.5896197814307756e-10,
    ),
    "float32": (-0.16666666640775354, 0.008333329302352222, -0.00019839311470439122, 2.71811400717195e-06),
}
_COSINE = {
    "float64": (
        0.041666666666666595,
        -0.001388888888887304,
        2.4801587288841424e-05,
        -2.755731417624637e-07,
        2.0875700416867704e-09,
        -1.1358513987529083e-11,
    ),
    "float32": (0.041666666619453195, -0.0013888883496818826, 2.479945930041423e-05, -2.72056839051718e-07),
}
# r = high + low, sin r and cos r. In doubles that are rounded to floats high alone is close enough.
_SUMS = {
    "float64": (
        (f"((near - high) - m*{_PIO2[1]!r}) - m*{_PIO2[2]!r}",),
        "high + (high*z*odd + low*most)",
        "most + (zz*even + (((1.0 - most) - 0.5*z) - high*low))",
    ),
    "float32": ((), "high + high*z*odd", "most + zz*even"),
}
# Where it is the C library's altogether: arithmetic that is not IEEE's; for floats, units that know no doubles. Method
# 16 is that of GCC where the processor has half precision (AVX512-FP16): each type is computed in itself, as by 0.
_METHOD = "(FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16)"
_FOREIGN = {
    "float64": ("defined(__FAST_MATH__)", _METHOD),
    "float32": (
        "defined(__FAST_MATH__)",
        _METHOD,
        "(defined(__ARM_FP) && !(__ARM_FP & 8))",
        "(defined(__riscv_flen) && __riscv_flen < 64)",
    ),
}
_WITHIN = {"float64": "fabs((double)x[k]) <= 1e5", "float32": "fabsf(x[k]) <= 1e5f"}


def _polynomial(coefficients: tuple[float, ...]) -> str:
    """In pairs of terms: Horner's rule in the square of z, `zz`."""
    pairs = [f"{low!r} + z*{high!r}" for low, high in zip(coefficients[::2], coefficients[1::2], strict=True)]
    text = pairs.pop()
    while pairs:
        text = f"({pairs.pop()}) + zz*({text})"
    return text


def angle_slots(dtype: str) -> dict[str, Any]:
    """What the template of the sine and cosine is filled with: `lows` is what is left of the angle, if that counts."""
    low, sine, cosine = _SUMS[dtype]
    return {
        "pio2": [repr(part) for part in _PIO2[:2]],
        "two_over_pi": "0.6366197723675814",
        # 3 * 2^51: added and taken away again, it rounds to the nearest integer.
        "magic": "6755399441055744.0",
        "foreign": _FOREIGN[dtype],
        "within": _WITHIN[dtype],
        "odd": _polynomial(_SINE[dtype]),
        "even": _polynomial(_COSINE[dtype]),
        "lows": low,
        "sine": sine,
        "cosine": cosine,
        "least": "UINT64_C(0x4337ffffffff8000)",  # the bits of magic - 2^15
    }
