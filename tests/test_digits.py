"""Digits that a robot's numbers keep on their way into a function, against arithmetic of fifty digits."""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata

import mpmath
import numpy as np
import pytest

import codegen
from codegen.geometry import Inertia, axis_rotation, axis_turns, mat3, vec3
from codegen.ir.interpreter import interpret
from codegen.lowering.regroup_inertias import LEAST, regrouped
from codegen.model.canonical_frames import canonical
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

PRECISION = 50


def matrix(values):
    return mpmath.matrix(np.asarray(values, float).tolist())


def cross(v):
    return mpmath.matrix([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def rotation(R):
    """The rotation nearest to a matrix of doubles."""
    for _ in range(4):
        R = R - R * (R.T * R - mpmath.eye(3)) / 2
    return R


def accelerations(model, q, v, tau):
    """Joint accelerations of a fixed robot on hinges: M a = tau - bias by Jacobians in world axes, solved densely."""
    n = model.nv
    M, right = mpmath.zeros(n), matrix(tau)
    still, none = mpmath.zeros(3, 1), mpmath.zeros(3, n)
    motion = {-1: (mpmath.eye(3), still, still, -matrix(model.gravity), none, none)}
    for b, body in enumerate(model.bodies):
        R, w, wdot, acceleration, J, turns = motion[body.parent]
        step = R * matrix(body.placement.p)
        acceleration = acceleration + cross(wdot) * step + cross(w) * (cross(w) * step)
        J, turns = J - cross(step) * turns, turns.copy()
        axis = matrix(body.joint.axis)
        K = cross(axis / mpmath.norm(axis))
        R = R * rotation(matrix(body.placement.R))
        along = R * axis / mpmath.norm(axis)
        R = R * (mpmath.eye(3) + mpmath.sin(q[b]) * K + (1 - mpmath.cos(q[b])) * K * K)
        wdot, w, turns[:, b] = wdot + cross(w) * along * mpmath.mpf(v[b]), w + along * mpmath.mpf(v[b]), along
        motion[b] = R, w, wdot, acceleration, J, turns
        com, m = R * matrix(body.inertia.com), mpmath.mpf(body.inertia.mass)
        moment, linear = R * matrix(body.inertia.moment) * R.T, J - cross(com) * turns
        M += m * linear.T * linear + turns.T * moment * turns
        force = m * (acceleration + cross(wdot) * com + cross(w) * (cross(w) * com))
        right -= linear.T * force + turns.T * (moment * wdot + cross(w) * (moment * w))
    return mpmath.lu_solve(M, right)


def lost(model, algorithm, states=6):
    """The median relative error of forward dynamics over random states."""
    graph, errors = trace(Task(model, algorithm)), []
    with mpmath.workdps(PRECISION):
        for seed in range(states):
            q, v, tau = model.random(seed)
            (found,) = interpret(graph, q, v, tau)
            exact = accelerations(model, q, v, tau)
            worst = max(abs(mpmath.mpf(float(x)) - y) for x, y in zip(found, exact, strict=True))
            errors.append(float(worst / max(abs(y) for y in exact)))
    return float(np.median(errors))


def uneven(seed, decades, links):
    """A chain of hinges along any axes, whose links' masses and moments of inertia spread over so many decades."""
    rng, chain = np.random.default_rng(seed), codegen.load(f"chain:{links},alternate,{seed}")
    bodies = []
    for body in chain.bodies:
        part, axis = 10.0 ** (-decades * rng.random()), rng.normal(size=3)
        moment = np.array(body.inertia.moment) * part * 10.0 ** (-3.0 * rng.random())
        inertia = Inertia(body.inertia.mass * part, body.inertia.com, mat3(moment))
        joint = replace(body.joint, axis=vec3(axis / np.linalg.norm(axis)))
        bodies.append(replace(body, joint=joint, inertia=inertia))
    return replace(chain, bodies=tuple(bodies))


@pytest.mark.parametrize(("seed", "decades", "most"), [(2, 8.0, 1.2e-15), (3, 5.0, 4e-14), (4, 5.0, 6e-14)])
def test_links_of_very_different_inertia(seed, decades, most):
    """Ten times as much, and more, was lost by regrouping in doubles, and by frames that were not quite square."""
    assert lost(uneven(seed, decades, links=6), "aba", states=4) < most


def test_an_arm_loses_nothing():
    assert lost(codegen.load("iiwa"), "aba") < 4e-16


def test_inertia_does_not_move_to_next_to_nothing():
    """The second of three links has no inertia of its own against its hinge: what the third has stays there."""
    chain = codegen.load("chain:3,alternate")
    for part, stays in ((1.0, False), (10.0 * LEAST, False), (1e-3 * LEAST, True), (0.0, True)):
        first, second, third = chain.bodies
        own = second.inertia
        light = Inertia(part * own.mass, own.com, mat3(part * np.array(own.moment)))
        model = canonical(replace(chain, bodies=(first, replace(second, inertia=light), third))).model
        assert (regrouped(model)[2].m != 0.0) is stays
    held = replace(second, inertia=light, joint=replace(second.joint, armature=0.1))
    assert regrouped(canonical(replace(chain, bodies=(first, held, third))).model)[2].m == 0.0


def test_small_constant_turns_stay_where_they_are():
    """A cosine near one is too coarse to make up for what its sine lacks: nothing is won by another angle."""
    for angle in (1e-9, 3.7e-6, 1e-5):
        ((_, c, s),) = axis_turns(np.array(axis_rotation(2, np.cos(angle), np.sin(angle))))
        assert (c, s) == (np.cos(angle), np.sin(angle))


def test_canonical_frames_are_square():
    """To the last digit, whatever the axes are."""
    for body in canonical(uneven(4, 8.0, links=6)).model.bodies:
        assert np.abs(body.placement.R.T @ body.placement.R - np.eye(3)).max() < 1.5e-15


def icub():
    """The file of the iCub in the package example-robot-data, if that is installed."""
    try:
        files = metadata.files("example-robot-data") or ()
    except metadata.PackageNotFoundError:
        return None
    return next((str(file.locate()) for file in files if file.name == "icub.urdf"), None)


@pytest.mark.skipif(icub() is None, reason="example-robot-data is not installed")
@pytest.mark.parametrize("algorithm", ["aba", "ltl"])
def test_icub(algorithm):
    """Links with next to no inertia: 2e-11 was lost; Pinocchio's ABA loses 8e-13."""
    assert lost(codegen.load(icub()), algorithm, states=10) < 3e-12
