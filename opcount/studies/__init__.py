"""Published tables and figures, reproduced, and what goes beyond them: one file each.

`rigidc study NAME` (`python -m opcount.studies NAME`) prints one. Operations stand in three tiers, always labelled: of
the papers' listings, of our algorithms, and of the C; beside them, where known, those of the authors' programs.
"""

from __future__ import annotations

from opcount.studies import (
    ablation,
    accuracy,
    builds,
    casadi_directions,
    chains,
    cheapest,
    constrained,
    convergence,
    crossovers,
    damped,
    damped_timings,
    delassus,
    derivative_timings,
    direct,
    growth,
    growth_timings,
    hands,
    kkt,
    kkt_timings,
    links,
    loop_growth,
    loop_growth_timings,
    loop_timings,
    loops,
    pareto,
    stems,
    timings,
    torque_errors,
    torques,
)
from opcount.studies.study import Study

__all__ = ["STUDIES", "Study"]

STUDIES: dict[str, Study] = {
    "constrained": constrained.STUDY,
    "direct": direct.STUDY,
    "growth": growth.STUDY,
    "growth_timings": growth_timings.STUDY,
    "convergence": convergence.STUDY,
    "damped": damped.STUDY,
    "delassus": delassus.STUDY,
    "hands": hands.STUDY,
    "stems": stems.STUDY,
    "links": links.STUDY,
    "chains": chains.STUDY,
    "crossovers": crossovers.STUDY,
    "kkt": kkt.STUDY,
    "loops": loops.STUDY,
    "loop_growth": loop_growth.STUDY,
    "torques": torques.STUDY,
    "torque_errors": torque_errors.STUDY,
    "timings": timings.STUDY,
    "damped_timings": damped_timings.STUDY,
    "kkt_timings": kkt_timings.STUDY,
    "loop_timings": loop_timings.STUDY,
    "loop_growth_timings": loop_growth_timings.STUDY,
    "pareto": pareto.STUDY,
    "cheapest": cheapest.STUDY,
    "accuracy": accuracy.STUDY,
    "builds": builds.STUDY,
    "adjoints": derivative_timings.ADJOINTS,
    "column_loops": derivative_timings.LOOPS,
    "casadi_directions": casadi_directions.STUDY,
    "ablation": ablation.STUDY,
}
"""The papers' figures first; the long ones, for which one has to ask, last."""
