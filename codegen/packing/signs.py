"""Linear equations over GF(2) between signs that are free to choose.

A form is an int: bit 0 the constant one, bit k the unknown k; adding forms is `^`.
"""

from __future__ import annotations


class Signs:
    """Unknown signs, and the equations found so far in echelon form, by their leading unknowns."""

    def __init__(self) -> None:
        self.count = 0
        self.rows: dict[int, int] = {}

    def __repr__(self) -> str:
        return f"<Signs: {self.count} unknowns, {len(self.rows)} equations>"

    def unknown(self) -> int:
        """The form of one more unknown."""
        self.count += 1
        return 1 << self.count

    def vanish(self, form: int) -> bool:
        """Ask that a form be zero; False, and nothing happens, if the equations before it do not let it."""
        while form > 1:
            lead = form.bit_length() - 1
            row = self.rows.get(lead)
            if row is None:
                self.rows[lead] = form
                return True
            form ^= row
        return not form

    def solution(self) -> int:
        """One solution, as bits; unknowns left free are zero."""
        solution = 1
        for lead in range(1, self.count + 1):
            row = self.rows.get(lead)
            if row is not None and value(row ^ (1 << lead), solution):
                solution |= 1 << lead
        return solution


def value(form: int, solution: int) -> int:
    """A form, 0 or 1, on a solution."""
    return (form & solution).bit_count() & 1
