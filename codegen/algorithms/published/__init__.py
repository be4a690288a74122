"""The algorithms as the papers publish them, over matrices, and the names by which they are known.

Each works on a `codegen.recursions.plain_tree.PlainTree` and takes and gives what the algorithm of the same name does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codegen.algorithms.published.aba import aba
from codegen.algorithms.published.caba_osim import caba_osim
from codegen.algorithms.published.caba_osimf import caba_osimf
from codegen.algorithms.published.constrained_aba import constrained_aba
from codegen.algorithms.published.crba import crba
from codegen.algorithms.published.efpa import efpa
from codegen.algorithms.published.kjr import kjr
from codegen.algorithms.published.kkt_inverse import kkt_inverse
from codegen.algorithms.published.lagrange_fd import lagrange_fd
from codegen.algorithms.published.ltl import ltl
from codegen.algorithms.published.ltl_osim import ltl_osim
from codegen.algorithms.published.minverse import minverse
from codegen.algorithms.published.projected_osim import projected_osim
from codegen.algorithms.published.projected_rnea import projected_rnea
from codegen.algorithms.published.projection_fd import projection_fd
from codegen.algorithms.published.prox_kkt import prox_kkt
from codegen.algorithms.published.prox_ltl import prox_ltl
from codegen.algorithms.published.prox_ltls import prox_ltls
from codegen.algorithms.published.prox_pv import prox_pv
from codegen.algorithms.published.pv import pv
from codegen.algorithms.published.pv_early import pv_early
from codegen.algorithms.published.pv_osim import pv_osim
from codegen.algorithms.published.pv_osimf import pv_osimf
from codegen.algorithms.published.pv_osimr import pv_osimr
from codegen.algorithms.published.pv_soft import pv_soft
from codegen.algorithms.published.rnea import rnea

PUBLISHED: dict[str, Callable[..., Any]] = {
    "rnea": rnea,
    "crba": crba,
    "aba": aba,
    "ltl": ltl,
    "minverse": minverse,
    "pv": pv,
    "pv_early": pv_early,
    "pv_soft": pv_soft,
    "prox_pv": prox_pv,
    "constrained_aba": constrained_aba,
    "prox_ltl": prox_ltl,
    "prox_ltls": prox_ltls,
    "prox_kkt": prox_kkt,
    "ltl_osim": ltl_osim,
    "kjr": kjr,
    "efpa": efpa,
    "pv_osim": pv_osim,
    "pv_osimr": pv_osimr,
    "pv_osimf": pv_osimf,
    "caba_osim": caba_osim,
    "caba_osimf": caba_osimf,
    "kkt_inverse": kkt_inverse,
    "projected_rnea": projected_rnea,
    "projection_fd": projection_fd,
    "lagrange_fd": lagrange_fd,
    "projected_osim": projected_osim,
    "approximate_rnea": rnea,
    "approximate_aba": aba,
    "approximate_efpa": efpa,
    "unconstrained_rnea": rnea,
}
