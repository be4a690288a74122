"""The algorithms: one file each, one line each in `ALGORITHMS`; below, the notation of their arguments.

  q, v, a, tau    configuration (nq), velocity, acceleration, joint forces (nv): the coordinates of the model
  f_ext           external wrenches on chosen frames, one row [force; moment] each, in the frame's own axes
  S, X, I         motion subspace, motion transform from parent to node, rigid inertia
  IA, pA, U, D, u articulated inertia, bias force, IA S, S' U, tau - S' pA
  Ic, F           composite inertia, force of a unit joint motion
  M, J            joint-space inertia matrix, frame Jacobian
Every algorithm is a function of a `Tree` (the model at configuration q) and its other inputs, all SX.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from codegen.algorithms.aba import aba
from codegen.algorithms.aba_derivatives import aba_derivatives, aba_linearised
from codegen.algorithms.aba_osim import aba_osim
from codegen.algorithms.aba_prox import aba_prox
from codegen.algorithms.aba_prox_stiff import aba_prox_stiff
from codegen.algorithms.arguments import QUANTITIES as QUANTITIES
from codegen.algorithms.arguments import Quantity as Quantity
from codegen.algorithms.bias import bias
from codegen.algorithms.by_arguments import rnea_by_arguments
from codegen.algorithms.caba_osim import caba_osim
from codegen.algorithms.caba_osim_swept import caba_osim_swept
from codegen.algorithms.caba_osimf import caba_osimf
from codegen.algorithms.centroidal import centroidal
from codegen.algorithms.centroidal_bias import centroidal_bias
from codegen.algorithms.centroidal_derivatives import centroidal_derivatives
from codegen.algorithms.com import com
from codegen.algorithms.com_derivatives import com_derivatives
from codegen.algorithms.com_hessian import com_hessian
from codegen.algorithms.com_jacobian import com_jacobian
from codegen.algorithms.constrained_aba import constrained_aba
from codegen.algorithms.constrained_derivatives import (
    Recursions,
    direct_derivatives,
    direct_linearised,
    proximal_derivatives,
    proximal_linearised,
    soft_derivatives,
    soft_linearised,
)
from codegen.algorithms.contact_changes_by_columns import contact_changes_by_columns, contact_jacobian_by_columns
from codegen.algorithms.coriolis import coriolis
from codegen.algorithms.crba import crba
from codegen.algorithms.dexpinv import dexpinv
from codegen.algorithms.difference import difference
from codegen.algorithms.difference_derivatives import difference_derivatives
from codegen.algorithms.efpa import efpa
from codegen.algorithms.energy import energy
from codegen.algorithms.entry import BEHIND as BEHIND
from codegen.algorithms.entry import EARLY, LIMBS, WHOLE, WITH_CONTACTS, WITH_MU
from codegen.algorithms.entry import MASSES as MASSES
from codegen.algorithms.entry import MOST_MASSES as MOST_MASSES
from codegen.algorithms.entry import OPTIONAL as OPTIONAL
from codegen.algorithms.entry import Algorithm as Algorithm
from codegen.algorithms.entry import Tolerance as Tolerance
from codegen.algorithms.entry import optional as optional
from codegen.algorithms.fk import fk
from codegen.algorithms.fk_derivatives import fk_derivatives
from codegen.algorithms.fk_hessian import fk_hessian
from codegen.algorithms.frame_acceleration_derivatives import frame_acceleration_derivatives
from codegen.algorithms.frame_accelerations import frame_accelerations
from codegen.algorithms.gravity import gravity
from codegen.algorithms.integrate import integrate
from codegen.algorithms.integrate_derivatives import integrate_derivatives
from codegen.algorithms.jacobian import jacobian
from codegen.algorithms.jdot_v import jdot_v
from codegen.algorithms.kjr import kjr
from codegen.algorithms.kkt_inverse import kkt_inverse
from codegen.algorithms.lagrange_fd import lagrange_fd
from codegen.algorithms.ltl import ltl
from codegen.algorithms.ltl_osim import ltl_osim
from codegen.algorithms.minverse import minverse
from codegen.algorithms.nsgs import nsgs
from codegen.algorithms.nsgs_derivatives import nsgs_derivatives, nsgs_linearised
from codegen.algorithms.project import project
from codegen.algorithms.projected_osim import projected_osim
from codegen.algorithms.projected_rnea import projected_rnea
from codegen.algorithms.projection_fd import projection_fd
from codegen.algorithms.prox_kkt import prox_kkt
from codegen.algorithms.prox_ltl import prox_ltl
from codegen.algorithms.prox_ltls import prox_ltls
from codegen.algorithms.prox_pv import prox_pv
from codegen.algorithms.pv import pv
from codegen.algorithms.pv_early import pv_early
from codegen.algorithms.pv_osim import pv_osim
from codegen.algorithms.pv_osimf import pv_osimf
from codegen.algorithms.pv_osimr import pv_osimr
from codegen.algorithms.pv_soft import pv_soft
from codegen.algorithms.regressor import regressor
from codegen.algorithms.regressor_by_columns import regressor_by_columns
from codegen.algorithms.rnea import rnea
from codegen.algorithms.rnea_derivatives_by_columns import rnea_derivatives_by_columns
from codegen.algorithms.rnea_derivatives_ltl import rnea_derivatives_ltl, rnea_derivatives_ltl_by_columns
from codegen.algorithms.rnea_hessian import constrained_hessian, rnea_hessian
from codegen.algorithms.rnea_hessian_by_columns import constrained_hessian_by_columns, rnea_hessian_by_columns
from codegen.algorithms.stepped import INTEGRATORS as INTEGRATORS
from codegen.algorithms.stepped import stepped
from codegen.algorithms.tree_kkt import tree_kkt
from codegen.lowering.problem import Needs

Q, STATE_AND_MOTION, STATE_AND_FORCE = ("q",), ("q", "v", "a", "f_ext"), ("q", "v", "tau", "f_ext")
STATE, MOTION, MOMENTUM = ("q", "v"), ("q", "v", "a"), ("h", "A_g")
HELD, SOLUTION = (*STATE_AND_FORCE, "k"), ("a", "lam")
PROXIMAL, FRICTIONAL = (*HELD, "mu", "lam0"), (*HELD, "lam0")

BY_STATE = ("da_dq", "da_dv", "da_dtau", "dlam_dq", "dlam_dv", "dlam_dtau")
FORCES, BOTH = Needs(swept="forces"), Needs(swept="both")
CLOSES = Needs(closes=True)
IN_JOINT_SPACE, STIFFENED = Needs(joint_space=True), Needs(held="in steps", stiffened=True)
PAIRS, JOINTS, BRANCHES = (Needs(contact_traffic=traffic) for traffic in ("pairs", "joints", "branches"))

direct = partial(
    Algorithm,
    group="constrained",
    declares=Needs(held="exactly"),
    tolerance=WITH_CONTACTS,
    competes=True,
    independent="rows",
)
proximal = partial(Algorithm, group="constrained", declares=Needs(held="in steps"), tolerance=WITH_MU, competes=True)
published = partial(Algorithm, group="constrained", declares=IN_JOINT_SPACE, tolerance=WHOLE)
delassus = partial(Algorithm, group="delassus", tolerance=WITH_CONTACTS)
damped = partial(Algorithm, group="damped", tolerance=WHOLE)
quantities = partial(Algorithm, group="quantities")
derivatives = partial(Algorithm, group="derivatives", tolerance=WITH_CONTACTS)
loops = partial(Algorithm, group="loops")
approximate = partial(loops, declares=Needs(rotors="armature"))

looped = partial(partial, inverse_dynamics=rnea_derivatives_by_columns)
held_looped = partial(
    partial,
    recursions=Recursions(rnea_derivatives_by_columns, contact_jacobian_by_columns, contact_changes_by_columns),
)

HELD_STEPS: dict[str, tuple[str, ...]] = {
    "pv": HELD,
    "prox_pv": PROXIMAL,
    "constrained_aba": PROXIMAL,
    "pv_soft": (*HELD, "R"),
}
"""Constrained dynamics that steps are made of, and what these take."""


ALGORITHMS: dict[str, Algorithm] = {
    entry.name: entry
    for entry in (
        Algorithm("fk", fk, ("q", "v"), ("position", "rotation", "velocity"), "poses and velocities of frames"),
        Algorithm("jacobian", jacobian, Q, ("J",), "geometric Jacobians of frames"),
        Algorithm("rnea", rnea, STATE_AND_MOTION, ("tau",), "inverse dynamics"),
        Algorithm("crba", crba, Q, ("M",), "joint-space inertia matrix"),
        Algorithm("aba", aba, STATE_AND_FORCE, ("a",), "forward dynamics, O(n)", competes=True),
        Algorithm(
            "ltl",
            ltl,
            STATE_AND_FORCE,
            ("a",),
            "forward dynamics by CRBA and LTL",
            declares=IN_JOINT_SPACE,
            competes=True,
        ),
        Algorithm("minverse", minverse, Q, ("Minv",), "inverse inertia matrix"),
        Algorithm("integrate", integrate, ("q", "dv"), ("q1",), "step on the configuration manifold", declares=CLOSES),
        Algorithm("difference", difference, ("q0", "q1"), ("dv",), "difference of two configurations"),
        quantities("com", com, STATE, ("com", "vcom"), "centre of mass and its velocity", declares=BOTH),
        quantities("com_jacobian", com_jacobian, Q, ("J_com",), "Jacobian of the centre of mass", declares=BOTH),
        quantities("centroidal", centroidal, STATE, ("h", "A_g"), "centroidal momentum and its matrix", declares=BOTH),
        quantities(
            "centroidal_bias",
            centroidal_bias,
            STATE,
            ("hdot",),
            "rate of centroidal momentum at a = 0",
            declares=FORCES,
        ),
        quantities("energy", energy, STATE, ("kinetic", "potential"), "kinetic and potential energy"),
        quantities(
            "bias", bias, (*STATE, "f_ext"), ("bias",), "Coriolis, centrifugal and gravity forces", declares=FORCES
        ),
        quantities("gravity", gravity, Q, ("g",), "gravity forces"),
        quantities("coriolis", coriolis, STATE, ("C",), "Coriolis matrix", declares=BOTH, tolerance=WITH_CONTACTS),
        quantities("jdot_v", jdot_v, STATE, ("jdot_v",), "frame accelerations at zero joint acceleration"),
        quantities("frame_accelerations", frame_accelerations, MOTION, ("acceleration",), "frame accelerations"),
        quantities(
            "regressor",
            regressor,
            MOTION,
            ("Y",),
            "regressor of inverse dynamics",
            by_columns=regressor_by_columns,
        ),
        direct("pv", pv, HELD, SOLUTION, "constrained dynamics, Popov-Vereshchagin"),
        direct("pv_early", pv_early, HELD, SOLUTION, "constrained dynamics, O(n + m), direct", tolerance=EARLY),
        Algorithm(
            "pv_soft",
            pv_soft,
            (*HELD, "R"),
            SOLUTION,
            "softly constrained dynamics, O(n + m)",
            "constrained",
            Needs(held="softly", stiffened=True),
            WITH_MU,
        ),
        proximal("prox_pv", prox_pv, PROXIMAL, SOLUTION, "constrained dynamics, proximal PV"),
        proximal("constrained_aba", constrained_aba, PROXIMAL, SOLUTION, "proximal, O(n + m)", declares=STIFFENED),
        published("prox_ltl", prox_ltl, PROXIMAL, SOLUTION, "proximal dual by LTL"),
        published("prox_ltls", prox_ltls, PROXIMAL, SOLUTION, "proximal by stiffened LTL"),
        published("prox_kkt", prox_kkt, PROXIMAL, SOLUTION, "proximal sparse KKT Cholesky"),
        proximal("aba_prox", aba_prox, PROXIMAL, SOLUTION, "proximal dual, ABA's factors"),
        proximal(
            "aba_prox_stiff", aba_prox_stiff, PROXIMAL, SOLUTION, "proximal, stiffened factors", declares=STIFFENED
        ),
        proximal("tree_kkt", tree_kkt, PROXIMAL, SOLUTION, "proximal KKT factors by sweeps"),
        Algorithm(
            "nsgs",
            nsgs,
            FRICTIONAL,
            SOLUTION,
            "contacts that break, stick and slip",
            "frictional",
            Needs(held="softly"),  # no joint follows from rows that may break
            WITH_CONTACTS,
            divides=True,
            breaks=True,
        ),
        delassus("ltl_osim", ltl_osim, Q, ("W",), "Delassus matrix by LTL", declares=replace(PAIRS, joint_space=True)),
        delassus("aba_osim", aba_osim, Q, ("W",), "Delassus matrix by ABA's factors", declares=PAIRS, competes=True),
        delassus("kjr", kjr, Q, ("W",), "Delassus matrix by links' inverse inertias", declares=JOINTS, competes=True),
        delassus("efpa", efpa, Q, ("W",), "Delassus matrix by extended force propagators", competes=True),
        delassus("pv_osim", pv_osim, Q, ("W",), "Delassus matrix by the PV sweep", competes=True),
        delassus("pv_osimr", pv_osimr, Q, ("W",), "Delassus matrix over branching links", competes=True),
        damped(
            "pv_osimf",
            pv_osimf,
            ("q", "b"),
            ("x",),
            "W x = b by branches and base",
            declares=BRANCHES,
            tolerance=LIMBS,
            independent="rows of limbs",
            divides=True,
        ),
        damped("caba_osim_swept", caba_osim_swept, ("q", "b", "mu"), ("x",), "(W + 1/mu) x = b", declares=JOINTS),
        damped("caba_osimf", caba_osimf, ("q", "b", "mu"), ("x",), "(W + 1/mu) x = b, branches and base"),
        damped("caba_osim", caba_osim, ("q", "mu"), ("Winv",), "inverse of W + 1/mu"),
        damped(
            "kkt_inverse",
            kkt_inverse,
            ("q", "mu"),
            ("Winv", "WinvJMinv"),
            "inverse of W + 1/mu and its J M^-1",
            declares=replace(PAIRS, joint_space=True),
            divides=True,
        ),
        derivatives(
            "rnea_derivatives",
            rnea_by_arguments,
            STATE_AND_MOTION,
            ("dtau_dq", "dtau_dv", "M"),
            "derivatives of inverse dynamics",
            differentiates=("tau",),
            by_columns=rnea_derivatives_by_columns,
        ),
        derivatives(
            "rnea_derivatives_ltl",
            rnea_derivatives_ltl,
            STATE_AND_MOTION,
            ("dtau_dq", "dtau_dv", "L", "D"),
            "derivatives of inverse dynamics, with factors of M",
            by_columns=rnea_derivatives_ltl_by_columns,
        ),
        derivatives(
            "aba_derivatives",
            aba_derivatives,
            STATE_AND_FORCE,
            ("da_dq", "da_dv", "Minv"),
            "derivatives of forward dynamics",
            declares=IN_JOINT_SPACE,
            differentiates=("a",),
            by_columns=looped(aba_derivatives),
        ),
        derivatives("fk_derivatives", fk_derivatives, STATE, ("dvelocity_dq", "J"), "derivatives of frame velocities"),
        derivatives(
            "frame_acceleration_derivatives",
            frame_acceleration_derivatives,
            MOTION,
            ("dacceleration_dq", "dacceleration_dv", "J"),
            "derivatives of frame accelerations",
        ),
        derivatives(
            "centroidal_derivatives",
            centroidal_derivatives,
            MOTION,
            ("hdot", "dh_dq", "dhdot_dq", "dhdot_dv", "A_g"),
            "rate of centroidal momentum and derivatives",
        ),
        *(
            derivatives(
                f"{name}_derivatives",
                direct_derivatives,
                HELD,
                BY_STATE,
                f"derivatives of {name}",
                independent="rows",
                differentiates=SOLUTION,
                by_columns=held_looped(direct_derivatives),
                divides=True,
            )
            for name in ("pv", "pv_early")
        ),
        *(
            derivatives(
                f"{name}_derivatives",
                proximal_derivatives,
                PROXIMAL,
                BY_STATE,
                f"derivatives of {name}",
                differentiates=SOLUTION,
                by_columns=held_looped(proximal_derivatives),
                divides=True,
            )
            for name in (
                *("prox_pv", "constrained_aba", "aba_prox", "aba_prox_stiff", "tree_kkt"),
                *("prox_ltl", "prox_ltls", "prox_kkt"),
            )
        ),
        derivatives(
            "pv_soft_derivatives",
            soft_derivatives,
            (*HELD, "R"),
            BY_STATE,
            "derivatives of pv_soft",
            tolerance=WITH_MU,
            differentiates=SOLUTION,
            by_columns=held_looped(soft_derivatives),
            divides=True,
        ),
        derivatives(
            "nsgs_derivatives",
            nsgs_derivatives,
            FRICTIONAL,
            BY_STATE,
            "derivatives of nsgs",
            differentiates=SOLUTION,
            by_columns=held_looped(nsgs_derivatives),
            divides=True,
            breaks=True,
        ),
        derivatives(
            "integrate_derivatives", integrate_derivatives, ("q", "dv"), ("dq1_dq", "dq1_ddv"), "derivatives of steps"
        ),
        derivatives(
            "difference_derivatives",
            difference_derivatives,
            ("q0", "q1"),
            ("ddv_dq0", "ddv_dq1"),
            "derivatives of differences",
        ),
        *stepped("aba", STATE_AND_FORCE),
        *(entry for name, inputs in HELD_STEPS.items() for entry in stepped(name, inputs)),
        *stepped("nsgs", FRICTIONAL, ["semi_implicit_euler"], breaks=True),
        loops("project", project, ("guess",), ("closed", "residual"), "closing of loops", declares=CLOSES),
        loops("projected_rnea", projected_rnea, STATE_AND_MOTION, ("tau",), "RNEA, projected"),
        loops("projection_fd", projection_fd, STATE_AND_FORCE, ("a",), "projection method"),
        loops("lagrange_fd", lagrange_fd, STATE_AND_FORCE, ("a",), "Lagrange multipliers"),
        loops("projected_osim", projected_osim, Q, ("W",), "Delassus matrix, projected"),
        approximate("approximate_rnea", rnea, STATE_AND_MOTION, ("tau",), "RNEA, approximate"),
        approximate("approximate_aba", aba, STATE_AND_FORCE, ("a",), "ABA, approximate"),
        approximate("approximate_efpa", efpa, Q, ("W",), "Delassus matrix, approximate"),
        loops(
            "unconstrained_rnea",
            rnea,
            STATE_AND_MOTION,
            ("tau",),
            "RNEA without what loops drive",
            declares=Needs(rotors="left out"),
        ),
    )
}

PARTS: dict[str, Algorithm] = {
    entry.name: entry
    for entry in (
        Algorithm(
            "dexpinv",
            dexpinv,
            ("q", "dv", "v"),
            ("rate", "drate_ddv", "drate_dv"),
            "rates of steps whose ends move",
        ),
        derivatives(
            "rnea_hessian",
            rnea_hessian,
            (*STATE_AND_MOTION, "weights"),
            ("H_q", "H_qq", "H_qv", "H_qa", "H_vv"),
            "second derivatives of weighted joint forces",
            by_columns=rnea_hessian_by_columns,
        ),
        derivatives(
            "constrained_hessian",
            constrained_hessian,
            (*STATE_AND_MOTION, "lam", "weights", "weights_lam"),
            ("H_q", "H_qq", "H_qv", "H_qa", "H_vv", "H_lamq"),
            "second derivatives of weighted equations of constrained dynamics",
            by_columns=constrained_hessian_by_columns,
        ),
        derivatives(
            "fk_hessian",
            fk_hessian,
            (*STATE, "weights_position", "weights_rotation", "weights_velocity"),
            ("H_q", "H_qq", "H_qv"),
            "second derivatives of weighted poses and velocities of frames",
        ),
        derivatives(
            "com_derivatives",
            com_derivatives,
            STATE,
            ("dvcom_dq", "J_com"),
            "derivatives of the centre of mass",
        ),
        derivatives(
            "com_hessian",
            com_hessian,
            (*STATE, "weights_com", "weights_vcom"),
            ("H_q", "H_qq", "H_qv"),
            "second derivatives of the weighted centre of mass and its velocity",
        ),
        *(
            Algorithm(
                f"{name}_linearised",
                run,
                inputs,
                ("a", "da_dq", "da_dv", "Minv" if name == "aba" else "da_dtau"),
                f"{name} and its derivatives",
                declares=IN_JOINT_SPACE if name == "aba" else Needs(),
                by_columns=(looped if name == "aba" else held_looped)(run),
                divides=name != "aba",
                breaks=name == "nsgs",
            )
            for name, run, inputs in (
                ("aba", aba_linearised, STATE_AND_FORCE),
                ("pv", direct_linearised, HELD),
                ("prox_pv", proximal_linearised, PROXIMAL),
                ("constrained_aba", proximal_linearised, PROXIMAL),
                ("pv_soft", soft_linearised, (*HELD, "R")),
                ("nsgs", nsgs_linearised, FRICTIONAL),
            )
        ),
    )
}
"""Algorithms that only others are made of."""

KNOWN = ChainMap(ALGORITHMS, PARTS)


def concerning(name: str, others: Iterable[str], parameters: Iterable[str]) -> tuple[str, ...]:
    """Of parameters for several algorithms those that concern one: not those that only `others` take."""
    inputs = {other: {*KNOWN[other].inputs} if other in KNOWN else {*OPTIONAL} for other in (name, *others)}
    places = {spec: BEHIND.get(spec, spec) for spec in parameters if spec in {*OPTIONAL, *BEHIND}}
    elsewhere = {spec for spec, place in places.items() if any(place in own for own in inputs.values())}
    return tuple(spec for spec in parameters if spec not in elsewhere or places[spec] in inputs[name])
