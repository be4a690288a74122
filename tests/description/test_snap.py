"""Snapping: noise goes, rotations stay rotations, and generic values stay as they are."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from codegen.description import rotations, snap
from codegen.geometry import Inertia, Pose, mat3


@pytest.mark.parametrize("turn", range(24))
def test_noisy_right_angles_become_exact(turn: int) -> None:
    roll, pitch = divmod(turn, 6)
    noise = np.random.default_rng(turn).uniform(-5e-12, 5e-12, 3)  # two of them meet in one entry
    angles = np.array([roll, pitch % 4, turn % 3]) * (math.pi / 2) + noise
    exact = snap.rotation(rotations.from_rpy(*angles), 1e-11)
    assert {abs(x) for row in exact for x in row} == {0.0, 1.0}
    np.testing.assert_allclose(exact, rotations.from_rpy(*angles), atol=1e-11)
    assert np.linalg.det(exact) == 1.0


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("flip", [False, True])
def test_turns_about_one_axis_hold_one_cosine_and_one_sine(axis: int, flip: bool) -> None:
    angles = [4e-12, -3e-12, 2e-12]
    angles[axis] = 0.7
    R = np.array(rotations.from_rpy(*angles)) @ (np.diag([-1.0, -1.0, 1.0]) if flip else np.eye(3))
    got = np.array(snap.rotation(mat3(R), 1e-11))
    np.testing.assert_allclose(got, R, atol=1e-11)
    assert sum(abs(x) == 1.0 for x in got.ravel()) == 1
    assert len({abs(x) for x in got.ravel()}) == 4
    np.testing.assert_allclose(got.T @ got, np.eye(3), atol=3e-16)
    assert np.linalg.det(got) == pytest.approx(1.0)


def test_one_negligible_entry_leaves_a_rotation() -> None:
    R = np.array(rotations.from_rpy(0.4, 5e-12, 0.6))
    got = np.array(snap.rotation(mat3(R), 1e-11))
    assert got[2, 0] == 0.0
    np.testing.assert_allclose(got.T @ got, np.eye(3), atol=5e-16)
    np.testing.assert_allclose(got, R, atol=2e-11)


def test_generic_values_and_tolerance_zero_change_nothing() -> None:
    generic = rotations.from_wxyz(np.random.default_rng(5).standard_normal(4))
    assert snap.rotation(generic, 1e-11) == generic
    noisy = Pose(rotations.from_rpy(1e-12, 0.0, 0.0), (1e-13, 0.0, 1.0))
    assert snap.pose(noisy, 0.0) == noisy
    assert snap.pose(noisy, 1e-11) == Pose(translation=(0.0, 0.0, 1.0))


def test_axes_are_unit_and_snapped() -> None:
    assert snap.axis((1e-13, -2.0, 0.0), 1e-11) == (0.0, -1.0, 0.0)
    assert math.hypot(*snap.axis((1.0, 2.0, 3.0), 1e-11)) == pytest.approx(1.0, abs=2e-16)
    assert snap.axis((1e-13, 1.0, 0.0), 0.0)[0] == 1e-13


def test_inertia_entries_are_judged_by_the_trace() -> None:
    value = Inertia(1e-3, (1e-13, 0.1, 0.0), mat3([1e-6, 1e-17, 2e-19, 1e-17, 1e-6, 0.0, 2e-19, 0.0, 1e-6]))
    got = snap.inertia(value, 1e-11)
    assert got.com == (0.0, 0.1, 0.0)
    assert got.moment[0] == (1e-6, 1e-17, 0.0)
    assert snap.inertia(value, 0.0) == value


@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (0.6, 0.0, 0.8), (1e-8, 2e-8, -1.0)])
def test_the_smallest_rotation_from_z(axis: tuple[float, float, float]) -> None:
    unit = np.array(axis) / np.linalg.norm(axis)
    R = np.array(rotations.from_z(tuple(unit)))
    np.testing.assert_allclose(R[:, 2], unit, atol=1e-15)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-15)
    # The angle of the rotation is the angle between the two directions: no smaller one does it.
    assert (np.trace(R) - 1.0) / 2.0 == pytest.approx(unit[2], abs=1e-15)


@pytest.mark.parametrize("tolerance", [0.0, 1e-11, 1e-5, 1e-3])
def test_what_comes_out_is_a_rotation_and_stays_as_it_is(tolerance: float) -> None:
    draw = random.Random(7)
    stated = [0.0, math.pi / 2, 1.5708, -1.57, 3.1416, 3.14159265, 0.3, 1e-11, 3e-6, 8e-4]
    for _ in range(400):
        R = np.array(rotations.from_rpy(*draw.choices(stated, k=3)))
        digits = draw.choice([17, 7])
        got = snap.rotation(mat3(R.round(digits)), tolerance)
        np.testing.assert_allclose(np.array(got).T @ np.array(got), np.eye(3), atol=1e-14)
        np.testing.assert_allclose(got, R, atol=4 * tolerance + 10.0 ** (1 - digits) + 1e-15)
        again = np.array(snap.rotation(got, tolerance))
        np.testing.assert_allclose(again, got, rtol=1e-15, atol=0.0)  # zeros stay, and none come


def test_zeros_that_few_digits_state_are_kept() -> None:
    """Making a rotation orthonormal moves its zeros by what the digits miss."""
    R = np.array(rotations.from_rpy(0.0, 0.0, 0.3)) @ rotations.from_rpy(math.pi / 2, 0.0, 0.0)
    R = (R @ rotations.from_rpy(0.0, 0.0, 0.7)).round(7)
    assert R[2, 2] == 0.0
    got = np.array(snap.rotation(mat3(R), 1e-11))
    assert got[2, 2] == 0.0
    np.testing.assert_allclose(got, R, atol=2e-7)
    np.testing.assert_allclose(got.T @ got, np.eye(3), atol=1e-14)


def test_the_tolerance_is_an_angle() -> None:
    """Entries near one tell little: 1.5708 is 4e-6 rad off, though its sine is one within 7e-12."""
    stated = rotations.from_rpy(1.5708, 0.0, 1.5708)
    np.testing.assert_allclose(snap.rotation(stated, 1e-11), stated, atol=1e-15)
    assert {abs(x) for row in snap.rotation(stated, 1e-5) for x in row} == {0.0, 1.0}
    assert snap.axis((3e-6, 1.0, 0.0), 1e-11)[0] == pytest.approx(3e-6, rel=1e-9)
    assert snap.axis((3e-6, 1.0, 0.0), 1e-5) == (0.0, 1.0, 0.0)
