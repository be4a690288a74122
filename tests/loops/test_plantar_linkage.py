"""Cassie's plantar linkages beside two circles that meet, in NumPy: parallelograms but for 10 micrometres.

Crank and rod are nearly in line at neutral, and 17 mrad below it on the left they are: 3 mrad of the foot's angle are
out of reach, since the rod is short. The right rod is long: there is no gap, and a foot that turns down from neutral
goes on as an antiparallelogram. A foot has two configurations, on two sides of where K_d is singular. As feet of Cassie
turn, from -140 to -30 degrees, they are parallelograms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import interpreted
import numpy as np
import pytest

import codegen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

CLOSE = 1e-12
ROBOT = codegen.load("cassie")
SIDES = ("left", "right")
GAP = (-0.0185, -0.0156)  # angles of the foot that no rod reaches


class Plantar:
    """A linkage in the plane of its foot, in the frame of the tarsus, by the robot's numbers."""

    def __init__(self, side: str) -> None:
        self.side = side
        bodies = {body.joint.name: n for n, body in enumerate(ROBOT.bodies)}
        crank, rod, foot = (bodies[f"{side}-{name}"] for name in ("tarsus-crank-joint", "crank-rod-joint", "foot-op"))
        self.places = [ROBOT.q_slices[b].start for b in (crank, rod, foot)]
        self.rate = ROBOT.v_slices[foot].start
        placed = [ROBOT.bodies[b].placement for b in (crank, rod, foot)]
        self.crank_at, rod_at, self.foot_at = (np.array(place.translation[:2]) for place in placed)
        crank_turn, rod_turn, foot_turn = (np.array(place.rotation)[:2, :2] for place in placed)
        ends = next(loop.stated for loop in ROBOT.loops if loop.name == f"{side}-plantar-foot")
        rod_end, foot_end = (np.array(ends[end]["translation"][:2]) for end in ("predecessor", "successor"))
        self.crank, self.rod, self.foot = crank_turn @ rod_at, crank_turn @ rod_turn @ rod_end, foot_turn @ foot_end

    def gap(self, crank: float, rod: float, foot: float) -> Array:
        """What the loop leaves open."""
        reached = self.crank_at + _turned(crank, self.crank + _turned(rod, self.rod))
        return reached - self.foot_at - _turned(foot, self.foot)

    def solutions(self, foot: float) -> list[Array]:
        """Crank and rod: where the circle of the crank's end meets that about the foot's end; none, or two."""
        span = self.foot_at + _turned(foot, self.foot) - self.crank_at
        distance, crank, rod = (np.linalg.norm(arm) for arm in (span, self.crank, self.rod))
        along = (distance**2 + crank**2 - rod**2) / (2 * distance)
        found = []
        for across in np.array([1, -1]) * np.sqrt(crank**2 - along**2) if along < crank else ():
            joint = (along * span + across * _turned(np.pi / 2, span)) / distance
            turned = _angle(joint) - _angle(self.crank)
            rest = _angle(_turned(-turned, span) - self.crank) - _angle(self.rod)
            found.append((np.array([turned, rest]) + np.pi) % (2 * np.pi) - np.pi)
        return found

    def placed(self, crank: float, rod: float, foot: float) -> Array:
        """The robot at neutral but for this linkage."""
        q = ROBOT.neutral()
        q[self.places] = crank, rod, foot
        return q

    def turned_by(self, foot: float) -> Array:
        """The robot's velocity that turns the foot so far in unit time."""
        dv = np.zeros(ROBOT.nv)
        dv[self.rate] = foot
        return dv


def _turned(angle: float, arm: Array) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * arm[0] - s * arm[1], s * arm[0] + c * arm[1]])


def _angle(arm: Array) -> float:
    return float(np.arctan2(arm[1], arm[0]))


@pytest.fixture(scope="module", params=SIDES)
def linkage(request: pytest.FixtureRequest) -> Plantar:
    return Plantar(request.param)


@pytest.fixture(scope="module")
def project() -> interpreted.Interpreted:
    return interpreted.build(ROBOT, "project")


@pytest.fixture(scope="module")
def integrate() -> interpreted.Interpreted:
    return interpreted.build(ROBOT, "integrate").with_status()


def test_neutral_is_closed_and_only_the_left_foot_has_a_gap(linkage: Plantar) -> None:
    q = ROBOT.neutral()[linkage.places]
    assert np.abs(linkage.gap(*q)).max() < CLOSE
    assert min(np.abs(q[:2] - found).max() for found in linkage.solutions(q[2])) < 1e-9
    for foot in np.linspace(*GAP, 9)[1:-1]:
        assert len(linkage.solutions(foot)) == (0 if linkage.side == "left" else 2)
    for foot in (GAP[0] - 1e-3, GAP[1] + 1e-3):
        assert len(linkage.solutions(foot)) == 2


@pytest.mark.parametrize("number", [0, 1])
def test_both_configurations_of_a_foot_are_reached_from_guesses_on_their_side(
    linkage: Plantar, project: interpreted.Interpreted, number: int
) -> None:
    rng = np.random.default_rng(number)
    for foot in np.concatenate([np.linspace(-2.4, -0.1, 24), np.linspace(0.1, 2.4, 24)]):
        solutions = linkage.solutions(foot)
        apart = np.abs(solutions[0] - solutions[1]).max()
        guess = linkage.placed(*solutions[number] + rng.uniform(-0.1, 0.1, 2) * apart, foot)
        closed, residual = project(guess)
        assert residual < CLOSE
        np.testing.assert_allclose(closed[linkage.places[:2]], solutions[number], rtol=0, atol=1e-10)


@pytest.mark.parametrize(("start", "end"), [(0.0, 2.4), (-0.1, -2.4), (-2.4, -0.1), (1.0, -0.01)])
def test_steps_follow_the_configuration_that_they_start_from(
    linkage: Plantar, integrate: interpreted.Interpreted, start: float, end: float
) -> None:
    feet = np.linspace(start, end, 121)
    at = min(linkage.solutions(start), key=lambda found: abs(found[0] - start))
    q = linkage.placed(*at, start)
    for foot in feet[1:]:
        at = min(linkage.solutions(foot), key=lambda found: np.abs(found - at).max())
        q, status = integrate(q, linkage.turned_by(foot - q[linkage.places[2]]))
        assert status == 0
        np.testing.assert_allclose(q[linkage.places], [*at, foot], rtol=0, atol=1e-9)
        assert abs(at[0] - foot) < 0.025  # a parallelogram


def test_steps_into_the_gap_are_told_and_steps_over_it_stay_parallelograms(
    integrate: interpreted.Interpreted,
) -> None:
    linkage = Plantar("left")
    q = ROBOT.neutral()
    end, status = integrate(q, linkage.turned_by(float(np.mean(GAP))))
    assert status == 1
    assert np.isfinite(end).all()
    end, status = integrate(q, linkage.turned_by(-0.3))
    assert status == 0
    np.testing.assert_allclose(end[linkage.places], [-0.3, 0.3, -0.3], rtol=0, atol=1e-3)
    assert np.abs(linkage.gap(*end[linkage.places])).max() < CLOSE


def test_the_right_foot_turns_down_from_neutral_as_an_antiparallelogram(integrate: interpreted.Interpreted) -> None:
    linkage, q = Plantar("right"), ROBOT.neutral()
    at = q[linkage.places[:2]]
    for foot in np.linspace(0.0, -0.5, 501)[1:]:
        at = min(linkage.solutions(foot), key=lambda found: np.abs(found - at).max())
        q, status = integrate(q, linkage.turned_by(foot - q[linkage.places[2]]))
        assert status == 0
        np.testing.assert_allclose(q[linkage.places], [*at, foot], rtol=0, atol=1e-9)
    assert at[0] > 0.3


def test_random_configurations_move_the_feet_away_from_the_gap() -> None:
    """The rods are long beside the cranks, so that joints follow well nowhere by the measure of other linkages."""
    found = [ROBOT.random(seed)[0][Plantar(side).places[2]] for seed in range(8) for side in SIDES]
    assert min(found) < -0.3
    assert max(found) > 0.3
    assert np.abs(found).min() > 0.1
