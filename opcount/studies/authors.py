"""Operations of the authors' own CasADi programs, by robot and algorithm, measured as those stand.

Programs of Sathya, Bruyninckx, Decre, Pipeleers 2023 and of Sathya and Carpentier 2024, on numeric models.
"""

from __future__ import annotations

MATRICES: dict[str, dict[str, int]] = {
    "iiwa H3": {"ltl_osim": 1415, "kjr": 2089, "efpa": 1593, "pv_osim": 1182, "pv_osimr": 1182},
    "iiwa H6": {"ltl_osim": 1708, "kjr": 2038, "efpa": 2008, "pv_osim": 1452, "pv_osimr": 1452},
    "go1 F3 x1": {"ltl_osim": 3453, "kjr": 3860, "efpa": 3463, "pv_osim": 3220, "pv_osimr": 3220},
    "go1 F3 x4": {"ltl_osim": 5091, "kjr": 12485, "efpa": 6193, "pv_osim": 5221, "pv_osimr": 5221},
    "talos F6^2": {"ltl_osim": 22354, "kjr": 13665, "efpa": 12651, "pv_osim": 11491, "pv_osimr": 11491},
    "talos F6^2 H6^2": {"ltl_osim": 29428, "kjr": 28138, "efpa": 21227, "pv_osim": 17811, "pv_osimr": 18988},
    "atlas F6^2": {"ltl_osim": 14129, "kjr": 11309, "efpa": 10380, "pv_osim": 9082, "pv_osimr": 9082},
    "atlas F6^2 H6^2": {"ltl_osim": 21011, "kjr": 26462, "efpa": 18361, "pv_osim": 14765, "pv_osimr": 15230},
    "atlas 4x3D per foot": {"ltl_osim": 20399, "kjr": 13341, "efpa": 17476, "pv_osim": 15584, "pv_osimr": 11114},
}
"""The Delassus matrix (2023)."""

DYNAMICS: dict[str, dict[str, int]] = {
    "iiwa H3": {"pv": 2539, "pv_soft": 2047, "prox_ltl": 2583},
    "iiwa H6": {"pv": 2999, "pv_soft": 1806, "pv_early": 3192, "prox_ltl": 3057},
    "go1 F3 x1": {"pv": 6282, "pv_soft": 5691, "pv_early": 6018, "prox_ltl": 6618},
    "go1 F3 x4": {"pv": 8262, "pv_soft": 5898, "pv_early": 7326, "prox_ltl": 9528},
    "talos F6^2": {"pv": 22056, "pv_soft": 17444, "pv_early": 19901, "prox_ltl": 35545},
    "talos F6^2 H6^2": {"pv": 29854, "pv_soft": 17586, "pv_early": 22495, "prox_ltl": 48437},
    "atlas F6^2": {"pv": 16033, "pv_soft": 11321, "pv_early": 13858, "prox_ltl": 22194},
    "atlas F6^2 H6^2": {"pv": 22921, "pv_soft": 11467, "pv_early": 16136, "prox_ltl": 34944},
    "atlas 4x3D per foot": {"pv_soft": 11879, "prox_ltl": 34344},
}
"""Direct and soft constrained dynamics (2023); those by LTL take no proximal step."""

PROXIMAL: dict[str, dict[str, int]] = {
    "iiwa H6": {"constrained_aba": 2590, "prox_pv": 3101, "prox_ltls": 2874, "prox_ltl": 3191},
    "go1 F3 x4": {"constrained_aba": 7274, "prox_pv": 9255, "prox_ltls": 8216, "prox_ltl": 9968},
    "talos F6^2": {"constrained_aba": 18613, "prox_pv": 22355, "prox_ltls": 34273, "prox_ltl": 35163},
    "talos F6^2 H6^2": {"constrained_aba": 21099, "prox_pv": 36791, "prox_ltls": 38399, "prox_ltl": 49897},
    "atlas F6^2 H6^2": {"constrained_aba": 15090, "prox_pv": 28305, "prox_ltls": 24226, "prox_ltl": 36830},
}
"""Proximal constrained dynamics, three steps (2024)."""

DAMPED: dict[str, dict[str, int]] = {
    "go1 F3 x4": {"caba_osim": 5499, "caba_osimf": 3226},
    "talos F6^2": {"caba_osim": 11661, "caba_osimf": 9387},
    "talos F6^2 H6^2": {"caba_osim": 19420, "caba_osimf": 12879},
    "atlas F6^2 H6^2": {"caba_osim": 15577, "caba_osimf": 10125},
}
"""The damped inverse of the Delassus matrix (2024)."""

SIZES: dict[str, dict[str, int]] = {
    "chain 10": {"ltl_osim": 6576, "kjr": 6723, "efpa": 6978, "pv_osim": 4851},
    "chain 50": {"ltl_osim": 127849, "kjr": 41323, "efpa": 43058, "pv_osim": 30211},
    "chain 100": {"ltl_osim": 634524, "kjr": 84573, "efpa": 88158, "pv_osim": 61911},
    "stem, 1 branch 50": {"efpa": 37413, "pv_osim": 24677, "pv_osimr": 24677},
    "stem, 2 branches 50": {"efpa": 65259, "pv_osim": 41371, "pv_osimr": 29703},
    "stem, 4 branches 50": {"efpa": 124263, "pv_osim": 82823, "pv_osimr": 46591},
    "chain, every link held 20": {"pv_osimr": 117000},
}
"""The Delassus matrix of mechanisms by their sizes (2023)."""

NEAR = 10.0
"""Percent up to which a listing counts as the same as the authors' program."""

REASONS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("", ("caba_osimf",), "Their program ends with the factors, the listing with the solution for a vector."),
    ("", ("kjr",), "Their program multiplies whole propagators; here SX leaves out products with zeros."),
    (
        "go1",
        ("prox_pv",),
        "Theirs eliminates multipliers at the base, as the paper says; Algorithm 4 factors the dual of all rows.",
    ),
    (
        "go1",
        ("pv",),
        "It is the multipliers: without them both are PV-soft's sweeps, which are below theirs. Branches and base are "
        "solved by L D L' and inversion lemma here.",
    ),
    ("iiwa", (), "Their programs for fixed bases compute both triangles of inertias; here one is computed."),
    (
        "go1",
        (),
        "Their inverse of the base's inertia is CasADi's general one: some 600 operations, up to 18 percent of it.",
    ),
)
"""Why listings differ from the authors' programs: robot ("": any), algorithms (none: any), and a sentence."""


def reason(scenario: str, algorithm: str) -> str:
    """Why the count of a listing differs from that of the authors' program; nothing where it does not by much."""
    robot = scenario.split()[0]
    fitting = (
        words
        for own, algorithms, words in REASONS
        if own in ("", robot) and (not algorithms or algorithm in algorithms)
    )
    return next(fitting, "")
