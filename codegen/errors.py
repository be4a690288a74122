"""The ways in which rigidc says no, each with one sentence that names the mend."""

from __future__ import annotations

from typing import Any

from codegen.limits import LONGEST_SHOWN


def shown(text: str) -> str:
    """A name or a value as error messages show it: quoted, on one line, without its middle if it is long."""
    quoted = repr(text)
    half = (LONGEST_SHOWN - 3) // 2
    return quoted if len(quoted) <= LONGEST_SHOWN else f"{quoted[:half]}...{quoted[-half:]}"


class RobotError(ValueError):
    """A robot description, or a name asked of a robot, that cannot be used."""


class UnsuitedError(RobotError):
    """An algorithm that the robot at hand does not admit."""


class UntoldError(RobotError):
    """A derivative that differences do not tell, as close to singular states."""


class SingularError(ArithmeticError):
    """States at which a loop, or a set of contact rows, is singular, or a loop cannot be closed.

    `status` says where (by state; not 0 there) and `results` holds what came out; both are right everywhere else.
    """

    def __init__(self, message: str, status: Any, results: Any) -> None:
        super().__init__(message)
        self.status, self.results = status, results

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.status, self.results)


class BuildError(RuntimeError):
    """A generated source that no compiler on this machine would turn into an extension."""
