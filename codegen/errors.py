"""The ways in which rigidc says no, each with one sentence that names the mend."""

from __future__ import annotations


class RobotError(ValueError):
    """A robot description, or a name asked of a robot, that cannot be used."""


class UnsuitedError(RobotError):
    """An algorithm that the robot at hand does not admit."""


class BuildError(RuntimeError):
    """A generated source that no compiler on this machine would turn into an extension."""
